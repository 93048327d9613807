"""A column of reals."""
cimport cython
from sklearn_subanneal._core._math cimport simd_void
from sklearn_subanneal.columns._additive cimport AdditiveStatistics
from sklearn_subanneal.columns._base cimport ColumnData

# Constants of Student's t come from a table up to this count, from a series above.
cdef enum:
    TABLE = 33


cdef struct Moments:
    double count            # of the cells: a number without fraction
    double total            # their sum
    double square           # the sum of their squares
    double mean             # posterior location mu_n
    double spread           # nu_n sigma2_n, the posterior sum of squares
    # For a row in its own cluster, made when first asked for: c / spread (negative: not made), and the constant.
    float own_scale, own_constant


cdef struct NormalPrior:
    double mu, kappa, sigma2, nu


cdef simd_void add_student_t(
    float x, const float* location, const float* precision, const float* power, const float* constant,
    float* scores, Py_ssize_t n) noexcept nogil


cdef class NormalData(ColumnData):
    cdef const float[::1] cells


@cython.final
cdef class NormalStatistics(AdditiveStatistics):
    cdef const float* cells
    cdef Moments* moments
    cdef NormalPrior* prior
    # Student's t of each slot, contiguous over slots: constant - power * log(1 + precision * (x - location)^2)
    cdef float* location
    cdef float* precision
    cdef float* power
    cdef float* constant
    cdef double[TABLE] gamma_ratios
    cdef double tabulated_nu                # of the table above
    cdef float update(self, Py_ssize_t k, float* offset) noexcept nogil
    cdef void prepare_own(self, Py_ssize_t k) noexcept nogil
    cdef void take_coefficients(
        self, Py_ssize_t n, double* location, double* precision, double* power, double* constant
    ) noexcept nogil
    cdef double ratio(self, double count) noexcept nogil


cdef inline double variance_factor(double nu) noexcept nogil:
    """Variance of a t over its squared scale, nu / (nu - 2), held at its value for nu = 3 below: it has none at 2."""
    return nu / (nu - 2.0) if nu > 3.0 else 3.0
