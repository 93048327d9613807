"""Passes over pairs of rows for the squared-exponential kernel: its values, and the weights of its gradient.

Symmetric matrices are stored in their upper triangle by rows, which is the lower one for LAPACK, by columns.
"""
from sklearn_subanneal._core._math cimport exp_double, simd_void


cdef simd_void exponentiate_row(
    double* products, double half, const double* halves, double scale, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j
    cdef double exponent
    for j in range(n):
        exponent = products[j] - half - halves[j]
        # Rounding may make the squared distance of nearly equal rows negative.
        exponent = exponent if exponent < 0.0 else 0.0
        products[j] = scale * exp_double(exponent)


cdef simd_void weigh_row(
    double* values, double weight, const double* weights, const double* inverse, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        values[j] *= weight * weights[j] - inverse[j]


def exponentiate(
    double[:, ::1] products, const double[::1] halves, const double[::1] other_halves, double scale, bint symmetric
):
    """Replace inner products by scale exp(-distance^2 / 2).

    Parameters
    ----------
    products : ndarray of shape (n, n_other)
        Of rows with other rows. With ``symmetric``, where these are the same, only what is right of the diagonal is
        read; it is replaced, as is the diagonal.
    halves, other_halves : ndarray of shape (n,) and (n_other,)
        Half the squared norms of the rows. All must be finite.
    scale : float
    symmetric : bool
    """
    cdef Py_ssize_t i, start, n = products.shape[0], n_other = products.shape[1]
    if halves.shape[0] != n or other_halves.shape[0] != n_other or (symmetric and n != n_other):
        raise ValueError(f"{n} x {n_other} products do not fit {halves.shape[0]} and {other_halves.shape[0]} rows")
    if n == 0 or n_other == 0:
        return
    with nogil:
        for i in range(n):
            start = i if symmetric else 0
            exponentiate_row(
                &products[i, 0] + start, halves[i], &other_halves[0] + start, scale, n_other - start
            )
            if symmetric:
                products[i, i] = scale


def weigh(double[:, ::1] covariance, const double[::1] weights, const double[:, ::1] inverse):
    """Multiply an upper triangle by ``outer(weights, weights) - inverse``, of which that triangle is read.

    Half the result's sum with the derivative of the logarithm of the covariance is that of the log likelihood.

    Parameters
    ----------
    covariance, inverse : ndarray of shape (n, n)
    weights : ndarray of shape (n,)
        The inverse times the targets.
    """
    cdef Py_ssize_t i, n = weights.shape[0]
    if not (covariance.shape[0] == covariance.shape[1] == inverse.shape[0] == inverse.shape[1] == n):
        raise ValueError(f"covariance and inverse must have shape ({n}, {n})")
    with nogil:
        for i in range(n):
            weigh_row(&covariance[i, i], weights[i], &weights[i], &inverse[i, i], n - i)
