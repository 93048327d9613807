"""Linear algebra of small dense row-major matrices without the GIL, for sizes at which LAPACK calls do not pay."""
from libc.math cimport sqrt

from sklearn_subanneal._core._math cimport log_double


cdef inline double cholesky(double* a, Py_ssize_t d, Py_ssize_t n, double floor) noexcept nogil:
    """Replace the lower triangle of ``a`` (leading dimension d) by the first n rows of its Cholesky factor.

    Returns the log determinant of the leading n x n block. A pivot below ``floor`` times its diagonal entry, which
    only rounding can make, is raised to that.
    """
    cdef Py_ssize_t i, j, c
    cdef double pivot, least, log_det = 0.0
    for i in range(n):
        least = floor * a[i * d + i]
        for j in range(i):
            pivot = a[i * d + j]
            for c in range(j):
                pivot -= a[i * d + c] * a[j * d + c]
            a[i * d + j] = pivot / a[j * d + j]
        pivot = a[i * d + i]
        for c in range(i):
            pivot -= a[i * d + c] * a[i * d + c]
        pivot = pivot if pivot > least else least
        log_det += log_double(pivot)
        a[i * d + i] = sqrt(pivot)
    return log_det


cdef inline void invert_lower(const double* lower, double* out, Py_ssize_t d) noexcept nogil:
    """out = the inverse of a lower triangular matrix; the upper triangle becomes 0."""
    cdef Py_ssize_t i, j, c
    cdef double scale, factor
    for i in range(d):
        scale = 1.0 / lower[i * d + i]
        for c in range(d):
            out[i * d + c] = 0.0
        for j in range(i):
            factor = -scale * lower[i * d + j]
            for c in range(j + 1):
                out[i * d + c] += factor * out[j * d + c]
        out[i * d + i] = scale


cdef inline void times_lower(const double* lower, const double* x, double* out, Py_ssize_t d) noexcept nogil:
    """out = lower @ x."""
    cdef Py_ssize_t i, c
    for i in range(d):
        out[i] = 0.0
        for c in range(i + 1):
            out[i] += lower[i * d + c] * x[c]


cdef inline void update_inverse_factor(
    double* w, const double* u, double sign, double* work, Py_ssize_t d
) noexcept nogil:
    """Given w = inverse Cholesky factor of S, make it that of S + sign v v', where u = w v.

    I + sign u u' has a Cholesky factor M with M_ii^2 = t_i / t_(i-1) and M_ij = sign u_i u_j / sqrt(t_(j-1) t_j),
    t_i = 1 + sign (u_1^2 + ... + u_i^2), so that the new w solves M w' = w, row by row, in O(d^2).
    ``work`` holds d values. All t_i must be positive.
    """
    cdef Py_ssize_t i, c
    cdef double before = 1.0, after, shrink, factor
    for c in range(d):
        work[c] = 0.0
    for i in range(d):
        after = before + sign * u[i] * u[i]
        shrink = sqrt(before / after)
        factor = -sign * u[i]
        for c in range(i + 1):
            w[i * d + c] = (w[i * d + c] + factor * work[c]) * shrink
        factor = u[i] / sqrt(before * after)
        for c in range(i + 1):
            work[c] += factor * w[i * d + c]
        before = after


cdef inline void symmetric_inverse(const double* w, double* out, Py_ssize_t d) noexcept nogil:
    """out = w' w, the inverse of S from its inverse Cholesky factor."""
    cdef Py_ssize_t i, j, c
    cdef double factor
    for i in range(d * d):
        out[i] = 0.0
    for c in range(d):
        for i in range(c + 1):
            factor = w[c * d + i]
            for j in range(c + 1):
                out[i * d + j] += factor * w[c * d + j]
