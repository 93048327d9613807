"""Log densities and log marginal likelihoods of counts, over clusters or over values of a hyperparameter."""
from sklearn_subanneal._core._math cimport simd_void


cdef simd_void add_poisson(
    double x, double coefficient, const double* a, const double* slope, const double* constant,
    float* scores, Py_ssize_t n
) noexcept nogil
cdef simd_void add_poisson_double(
    double x, double coefficient, const double* a, const double* slope, const double* constant,
    double* scores, Py_ssize_t n
) noexcept nogil
cdef simd_void add_negative_binomial(
    double x, double coefficient, const double* a, const double* weight, const double* constant,
    float* scores, Py_ssize_t n
) noexcept nogil
cdef simd_void add_negative_binomial_double(
    double x, double coefficient, const double* a, const double* weight, const double* constant,
    double* scores, Py_ssize_t n
) noexcept nogil
cdef simd_void add_poisson_volumes(
    const double* shape, const double* rate, double n, double total, double* out, Py_ssize_t n_grid
) noexcept nogil
cdef simd_void add_beta_volumes(
    const double* shape, const double* other, double cells, double total, double* out, Py_ssize_t n_grid
) noexcept nogil
cdef simd_void take_poisson_evidence(
    const double* count, const double* total, double shape, double rate, double* out, Py_ssize_t n
) noexcept nogil
cdef simd_void take_beta_evidence(
    const double* count, const double* total, double shape, double other, double size, double* out, Py_ssize_t n
) noexcept nogil
cdef double size_of(double dispersion) noexcept nogil
cdef double other_parameter(double rate, double size) noexcept nogil
cdef void add_volumes(
    const double* shape, const double* other, double size, double count, double total, double* out, Py_ssize_t n_grid
) noexcept nogil
cdef double log_coefficient(double x, double dispersion) noexcept nogil
