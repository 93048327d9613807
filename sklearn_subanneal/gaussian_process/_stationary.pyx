"""Passes over pairs of rows for stationary kernels: their values and slopes, and the weights of their gradient.

A kernel is a function of half the squared distance q of two rows, in units of the length scales: exp(-q), or a Matern
function. Its slope here is minus its derivative with respect to q.

Symmetric matrices are stored in their upper triangle by rows, which is the lower one for LAPACK, by columns.
"""
from libc.math cimport sqrt

from sklearn_subanneal._core._math cimport exp_double, simd_void


cdef simd_void squared_exponential_row(
    double* products, double half, const double* halves, double scale, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j
    cdef double exponent
    for j in range(n):
        exponent = products[j] - half - halves[j]
        # Rounding may make the squared distance of nearly equal rows negative.
        exponent = exponent if exponent < 0.0 else 0.0
        products[j] = scale * exp_double(exponent)


cdef simd_void matern_32_row(
    double* products, double* slopes, double half, const double* halves, double scale, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j
    cdef double squared, distance, decayed
    for j in range(n):
        squared = half + halves[j] - products[j]
        squared = squared if squared > 0.0 else 0.0
        # The root of 3 times the distance.
        distance = sqrt(6.0 * squared)
        decayed = scale * exp_double(-distance)
        products[j] = decayed * (1.0 + distance)
        slopes[j] = 3.0 * decayed


cdef simd_void matern_52_row(
    double* products, double* slopes, double half, const double* halves, double scale, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j
    cdef double squared, distance, decayed
    for j in range(n):
        squared = half + halves[j] - products[j]
        squared = squared if squared > 0.0 else 0.0
        # The root of 5 times the distance.
        distance = sqrt(10.0 * squared)
        decayed = scale * exp_double(-distance)
        products[j] = decayed * (1.0 + distance + (10.0 / 3.0) * squared)
        slopes[j] = (5.0 / 3.0) * decayed * (1.0 + distance)


cdef simd_void weigh_row(
    double* values, double weight, const double* weights, const double* inverse, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        values[j] *= weight * weights[j] - inverse[j]


def evaluate_pairs(
    double[:, ::1] products,
    double[:, ::1] slopes,
    const double[::1] halves,
    const double[::1] other_halves,
    double scale,
    int smoothness,
    bint symmetric,
):
    """Replace inner products by ``scale`` times the kernel.

    Parameters
    ----------
    products : ndarray of shape (n, n_other)
        Of rows with other rows. With ``symmetric``, where these are the same, only what is right of the diagonal is
        read; it is replaced, as is the diagonal.
    slopes : ndarray of shape (n, n_other)
        Overwritten, in the same places, by ``scale`` times the slopes. The squared exponential, whose slopes are its
        values, does not use it; it may be ``products`` then.
    halves, other_halves : ndarray of shape (n,) and (n_other,)
        Half the squared norms of the rows. All must be finite.
    scale : float
    smoothness : {0, 3, 5}
        0: the squared exponential; else twice the smoothness of a Matern function.
    symmetric : bool
    """
    cdef Py_ssize_t i, start, n = products.shape[0], n_other = products.shape[1]
    if halves.shape[0] != n or other_halves.shape[0] != n_other or (symmetric and n != n_other):
        raise ValueError(f"{n} x {n_other} products do not fit {halves.shape[0]} and {other_halves.shape[0]} rows")
    if slopes.shape[0] != n or slopes.shape[1] != n_other:
        raise ValueError(f"slopes must have shape ({n}, {n_other})")
    if smoothness not in (0, 3, 5):
        raise ValueError(f"smoothness must be 0, 3 or 5, got {smoothness}")
    if n == 0 or n_other == 0:
        return
    with nogil:
        for i in range(n):
            start = i if symmetric else 0
            if symmetric:
                # Where rounding would leave a distance.
                products[i, i] = halves[i] + halves[i]
            if smoothness == 0:
                squared_exponential_row(
                    &products[i, 0] + start, halves[i], &other_halves[0] + start, scale, n_other - start
                )
            elif smoothness == 3:
                matern_32_row(
                    &products[i, 0] + start,
                    &slopes[i, 0] + start,
                    halves[i],
                    &other_halves[0] + start,
                    scale,
                    n_other - start,
                )
            else:
                matern_52_row(
                    &products[i, 0] + start,
                    &slopes[i, 0] + start,
                    halves[i],
                    &other_halves[0] + start,
                    scale,
                    n_other - start,
                )


def weigh(double[:, ::1] slopes, const double[::1] weights, const double[:, ::1] inverse):
    """Multiply the upper triangle of slopes by ``outer(weights, weights) - inverse``, of which that triangle is read.

    Half the sum of the result times the derivatives of half the squared distances is minus the derivative of the log
    likelihood.

    Parameters
    ----------
    slopes, inverse : ndarray of shape (n, n)
    weights : ndarray of shape (n,)
        The inverse times the targets.
    """
    cdef Py_ssize_t i, n = weights.shape[0]
    if not (slopes.shape[0] == slopes.shape[1] == inverse.shape[0] == inverse.shape[1] == n):
        raise ValueError(f"slopes and inverse must have shape ({n}, {n})")
    with nogil:
        for i in range(n):
            weigh_row(&slopes[i, i], weights[i], &weights[i], &inverse[i, i], n - i)
