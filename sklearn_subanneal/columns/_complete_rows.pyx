"""Densities under a multivariate t of rows without missing cells, side by side: whitening, and one logarithm a row."""
from sklearn_subanneal._core._math cimport LANES, inlined_void, log_double, simd_void


cdef inlined_void log_densities_of(
    const double* w, const double* mean, const double* x, double* e, double constant, double power, double shrink,
    double* out, Py_ssize_t d, int n
) noexcept nogil:
    # n is known at compile time.
    cdef Py_ssize_t i, c, lane
    cdef double[ROWS] u, q
    cdef double factor
    for c in range(d):
        for lane in range(n):
            e[c * ROWS + lane] = x[c * ROWS + lane] - mean[c]
    for lane in range(n):
        q[lane] = 0.0
    for i in range(d):
        for lane in range(n):
            u[lane] = 0.0
        for c in range(i + 1):
            factor = w[i * d + c]
            for lane in range(n):
                u[lane] += factor * e[c * ROWS + lane]
        for lane in range(n):
            q[lane] += u[lane] * u[lane]
    for lane in range(n):
        out[lane] = constant - power * log_double(1.0 + q[lane] * shrink)


cdef simd_void score_many(
    const double* w, const double* mean, const double* x, double* e, double constant, double power, double shrink,
    double* out, Py_ssize_t d
) noexcept nogil:
    log_densities_of(w, mean, x, e, constant, power, shrink, out, d, ROWS)


cdef simd_void score_few(
    const double* w, const double* mean, const double* x, double* e, double constant, double power, double shrink,
    double* out, Py_ssize_t d
) noexcept nogil:
    log_densities_of(w, mean, x, e, constant, power, shrink, out, d, LANES)


cdef void score_complete_rows(
    const double* w, const double* mean, const double* x, double* e, double constant, double power, double shrink,
    double* out, Py_ssize_t d, Py_ssize_t n_rows
) noexcept nogil:
    if n_rows > LANES:
        score_many(w, mean, x, e, constant, power, shrink, out, d)
    else:
        score_few(w, mean, x, e, constant, power, shrink, out, d)
