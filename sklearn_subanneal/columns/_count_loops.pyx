"""Loops of the kernel of counts: see ``_count.pyx`` for the formulas."""
from sklearn_subanneal._core._math cimport log_double, log_gamma, simd_void


cdef simd_void add_poisson(
    double x, double coefficient, const double* a, const double* slope, const double* constant,
    float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += <float> (log_gamma(a[k] + x) + constant[k] - x * slope[k] + coefficient)


cdef simd_void add_poisson_double(
    double x, double coefficient, const double* a, const double* slope, const double* constant,
    double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_gamma(a[k] + x) + constant[k] - x * slope[k] + coefficient


cdef simd_void add_negative_binomial(
    double x, double coefficient, const double* a, const double* weight, const double* constant,
    float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += <float> (log_gamma(a[k] + x) - log_gamma(weight[k] + x) + constant[k] + coefficient)


cdef simd_void add_negative_binomial_double(
    double x, double coefficient, const double* a, const double* weight, const double* constant,
    double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_gamma(a[k] + x) - log_gamma(weight[k] + x) + constant[k] + coefficient


# Log volumes of the posterior of a cluster minus those of its prior, for several values of a hyperparameter.
cdef simd_void add_poisson_volumes(
    const double* shape, const double* rate, double n, double total, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(n_grid):
        out[g] += (log_gamma(shape[g] + total) - log_gamma(shape[g]) + shape[g] * log_double(rate[g])
                   - (shape[g] + total) * log_double(rate[g] + n))


cdef simd_void add_beta_volumes(
    const double* shape, const double* other, double cells, double total, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(n_grid):
        out[g] += (log_gamma(shape[g] + total) - log_gamma(shape[g]) + log_gamma(other[g] + cells)
                   - log_gamma(other[g]) + log_gamma(shape[g] + other[g])
                   - log_gamma(shape[g] + other[g] + total + cells))


cdef simd_void take_poisson_evidence(
    const double* count, const double* total, double shape, double rate, double* out, Py_ssize_t n
) noexcept nogil:
    # Of each cluster, but for the constant of the prior and the coefficients of its cells.
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = log_gamma(shape + total[k]) - (shape + total[k]) * log_double(rate + count[k])


cdef simd_void take_beta_evidence(
    const double* count, const double* total, double shape, double other, double size, double* out, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = (log_gamma(shape + total[k]) + log_gamma(other + size * count[k])
                  - log_gamma(shape + total[k] + other + size * count[k]))


cdef double size_of(double dispersion) noexcept nogil:
    return 1.0 / dispersion if dispersion > 0.0 else 0.0


cdef double other_parameter(double rate, double size) noexcept nogil:
    """The rate of the gamma prior, or the second parameter of the beta prime prior."""
    return 2.0 + rate * size if size > 0.0 else rate


cdef void add_volumes(
    const double* shape, const double* other, double size, double count, double total, double* out, Py_ssize_t n_grid
) noexcept nogil:
    """Add the log marginal likelihood of a cluster, but for the coefficients of its cells, for several priors."""
    if size == 0.0:
        add_poisson_volumes(shape, other, count, total, out, n_grid)
    else:
        add_beta_volumes(shape, other, size * count, total, out, n_grid)


cdef double log_coefficient(double x, double dispersion) noexcept nogil:
    """log Gamma(x + r) / (Gamma(r) x!), of a Poisson distribution -log x!."""
    if dispersion == 0.0:
        return -log_gamma(x + 1.0)
    return log_gamma(x + 1.0 / dispersion) - log_gamma(1.0 / dispersion) - log_gamma(x + 1.0)
