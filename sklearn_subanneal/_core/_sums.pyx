"""Sums, logarithms and exponentials over arrays of float64, with vector instructions."""
from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma, simd_void


cdef simd_void add_multiple(double factor, const double* values, double* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] += factor * values[i]


cdef simd_void take_sums(const double* a, const double* b, double* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = a[i] + b[i]


cdef simd_void take_exponentials(double top, double* values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        values[i] = exp_double(values[i] - top)


cdef simd_void take_log_rising(
    const double* alpha, const double* log_gamma_alpha, const double* count, double* out, Py_ssize_t n
) noexcept nogil:
    # log of alpha (alpha + 1) ... (alpha + count - 1)
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = log_gamma(alpha[i] + count[i]) - log_gamma_alpha[i]


cdef simd_void take_log_gammas(const double* values, double* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = log_gamma(values[i])


cdef simd_void take_weighted_sum(const double* weight, const double* values, Py_ssize_t n, double* out) noexcept nogil:
    # In several running totals: the next addition need not wait for the last.
    cdef double[BLOCK] total
    cdef Py_ssize_t i, j, n_whole = n // BLOCK
    for j in range(BLOCK):
        total[j] = 0.0
    for i in range(n_whole):
        for j in range(BLOCK):
            total[j] += weight[i * BLOCK + j] * values[i * BLOCK + j]
    out[0] = 0.0
    for i in range(n_whole * BLOCK, n):
        out[0] += weight[i] * values[i]
    for j in range(BLOCK):
        out[0] += total[j]


cdef simd_void multiply(const double* factors, double* values, Py_ssize_t n, double* total) noexcept nogil:
    # values *= factors, and their sum.
    cdef double[BLOCK] sums
    cdef Py_ssize_t i, j, n_whole = n // BLOCK
    for j in range(BLOCK):
        sums[j] = 0.0
    for i in range(n_whole):
        for j in range(BLOCK):
            values[i * BLOCK + j] *= factors[i * BLOCK + j]
            sums[j] += values[i * BLOCK + j]
    total[0] = 0.0
    for i in range(n_whole * BLOCK, n):
        values[i] *= factors[i]
        total[0] += values[i]
    for j in range(BLOCK):
        total[0] += sums[j]


cdef double largest(const double* values, Py_ssize_t n) noexcept nogil:
    cdef double[BLOCK] top
    cdef Py_ssize_t i, j, n_whole = n // BLOCK
    for j in range(BLOCK):
        top[j] = values[0]
    for i in range(n_whole):
        for j in range(BLOCK):
            top[j] = values[i * BLOCK + j] if values[i * BLOCK + j] > top[j] else top[j]
    for i in range(n_whole * BLOCK, n):
        top[0] = max(top[0], values[i])
    for j in range(1, BLOCK):
        top[0] = max(top[0], top[j])
    return top[0]


cdef double log_sum(double* values, Py_ssize_t n) noexcept nogil:
    """log sum exp(values); the values become the exponentials of their differences from the largest one."""
    cdef double top = largest(values, n), total = 0.0
    cdef Py_ssize_t i
    take_exponentials(top, values, n)
    for i in range(n):
        total += values[i]
    return top + log_double(total)
