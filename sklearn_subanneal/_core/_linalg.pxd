"""Linear algebra of small dense row-major matrices without the GIL, for sizes at which LAPACK calls do not pay."""
from libc.math cimport sqrt

from sklearn_subanneal._core._math cimport inlined_void, log_double, own_doubles, simd_void

cdef extern from "sklearn_subanneal/_core/lower_triangle.h":
    void subanneal_times_lower(const double* lower, const double* x, double* out, Py_ssize_t d) noexcept nogil


cdef inline simd_void subtract_products(
    own_doubles below, const double* row, Py_ssize_t j, Py_ssize_t d, Py_ssize_t n
) noexcept nogil:
    # From rows j + 1, ..., n - 1 of a lower triangle, without its diagonal: their entry j times those of ``row``.
    cdef Py_ssize_t i, c
    for i in range(j + 2, n):
        below += d
        for c in range(j + 1, i):
            below[c] -= below[j] * row[c]


cdef inline double cholesky(double* a, Py_ssize_t d, Py_ssize_t n, double floor) noexcept nogil:
    """Replace the lower triangle of ``a`` (leading dimension d) by the first n rows of its Cholesky factor.

    Returns the log determinant of the leading n x n block; the first n rows of the upper triangle are overwritten. A
    pivot below ``floor`` times its diagonal entry, which only rounding can make, is raised to that. Each column is
    copied to the upper triangle: the inner loop runs over neighbours in memory, and its subtractions need not wait for
    each other.
    """
    cdef Py_ssize_t i, j, c
    cdef double pivot, least, log_det = 0.0
    cdef double* row
    for j in range(n):
        row = a + j * d
        pivot = row[j]
        least = floor * pivot
        for c in range(j):
            pivot -= row[c] * row[c]
        pivot = pivot if pivot > least else least
        log_det += log_double(pivot)
        row[j] = sqrt(pivot)
        for i in range(j + 1, n):
            row[i] = a[i * d + j] = a[i * d + j] / row[j]
        subtract_products(row + d, row, j, d, n)
    return log_det


cdef inline double log_det_of_sum(
    const double* one, const double* other, double* work, Py_ssize_t d, double floor
) noexcept nogil:
    """log |one + other|; ``work``, of d * d values, becomes the Cholesky factor."""
    cdef Py_ssize_t i
    for i in range(d * d):
        work[i] = one[i] + other[i]
    return cholesky(work, d, d, floor)


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


# From this size on, sums in vectors pay.
cdef enum:
    WIDE = 16


cdef inline void times_lower(const double* lower, const double* x, double* out, Py_ssize_t d) noexcept nogil:
    """out = lower @ x; the upper triangle of ``lower`` must be 0."""
    if d >= WIDE:
        subanneal_times_lower(lower, x, out, d)
    else:
        times_narrow_lower(lower, x, out, d)


cdef inline void times_narrow_lower(const double* lower, const double* x, double* out, Py_ssize_t d) noexcept nogil:
    # Four sums side by side: the additions of one have to wait for each other.
    cdef Py_ssize_t i, c, n_fours = d // 4
    cdef const double* row
    cdef double one, two, three, four
    for i in range(0, 4 * n_fours, 4):
        row = lower + i * d
        one = two = three = four = 0.0
        for c in range(i + 1):
            one += row[c] * x[c]
            two += row[d + c] * x[c]
            three += row[2 * d + c] * x[c]
            four += row[3 * d + c] * x[c]
        out[i] = one
        out[i + 1] = two + row[d + i + 1] * x[i + 1]
        out[i + 2] = three + row[2 * d + i + 1] * x[i + 1] + row[2 * d + i + 2] * x[i + 2]
        out[i + 3] = (four + row[3 * d + i + 1] * x[i + 1] + row[3 * d + i + 2] * x[i + 2]
                      + row[3 * d + i + 3] * x[i + 3])
    for i in range(4 * n_fours, d):
        one = 0.0
        for c in range(i + 1):
            one += lower[i * d + c] * x[c]
        out[i] = one


cdef inline simd_void update_inverse_factor(
    own_doubles w, const double* u, double sign, own_doubles work, Py_ssize_t d
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


cdef inline inlined_void add_exactly(double value, double* total, double* rest) noexcept nogil:
    """Add to a sum that is kept in two numbers: ``total``, its nearest float64, and the ``rest``.

    Without the rest, the error of a sum of n numbers of size 1 grows like n sqrt(n). Knuth (1998), The art of computer
    programming 2, section 4.2.2; Dekker (1971), A floating-point technique for extending the available precision.
    """
    cdef double near = total[0] + value, part = near - total[0], lost
    lost = rest[0] + ((total[0] - (near - part)) + (value - part))
    total[0] = near + lost
    rest[0] = lost - (total[0] - near)


cdef inline simd_void add_outer_product(
    double sign, const double* x, own_doubles square, own_doubles rest, Py_ssize_t d
) noexcept nogil:
    """Add sign x x' to the lower triangle of a sum, which has a rest."""
    cdef Py_ssize_t i, j
    cdef double v
    for i in range(d):
        v = sign * x[i]
        for j in range(i + 1):
            add_exactly(v * x[j], &square[i * d + j], &rest[i * d + j])


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
