"""Scores of cells of a block of reals, each given the others of its row; leave-one-out scores and t distributions."""
from libc.stdint cimport int32_t

import numpy as np

from sklearn_subanneal._core._linalg cimport cholesky, symmetric_inverse
from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal.columns._multivariate_t cimport MultivariateT
from sklearn_subanneal.columns._normal cimport variance_factor
from sklearn_subanneal.columns._wishart cimport pivot_floor

from sklearn_subanneal.columns._base import check_slots


cdef void score_cells(
    MultivariateT block, const double* x, Py_ssize_t k, const double* precision, double* out, Py_ssize_t stride
) noexcept nogil:
    """out[j * stride] = log p(cell j | the other observed cells of x, cluster k); 0 where cell j is missing.

    ``precision`` P is the inverse of Psi_n. With o the observed and m the missing cells, Q = Psi_oo^-1 is
    P_oo - P_om P_mm^-1 P_mo. With e = x_o - mu_o, g = Q e and q = e'g, the observed cells but one, j, have

        q - g_j^2 / Q_jj   in place of q, and   |Psi_oo| Q_jj   in place of |Psi_oo|.
    """
    cdef Py_ssize_t a, b, i, j, d = block.width, n_observed = block.sort_missing(x), n_missing = d - n_observed
    cdef const Py_ssize_t* observed = &block.order[0]
    cdef const Py_ssize_t* missing = observed + n_observed
    cdef double kappa = block.kappa + block.count[k], free = block.nu + block.count[k] - d + 1
    cdef double shrink = kappa / (kappa + 1.0), q = 0.0, constant, own, value, part
    cdef double* e = &block.lanes[0]
    cdef double* v = e + d
    cdef double* g = &block.work[0]
    cdef double* h = &block.work2[0]
    for a in range(n_missing):
        out[missing[a] * stride] = 0.0
    if n_observed == 0:
        return
    for a in range(n_observed):
        e[a] = x[observed[a]] - block.mean[k, observed[a]]
    for i in range(d):
        g[i] = 0.0
        for a in range(n_observed):
            g[i] += precision[i * d + observed[a]] * e[a]
    for a in range(n_observed):
        q += e[a] * g[observed[a]]
    # The factor L of P_mm, and h = L^-1 P_mo e.
    for a in range(n_missing):
        for b in range(a + 1):
            block.matrix[a, b] = precision[missing[a] * d + missing[b]]
    cholesky(&block.matrix[0, 0], d, n_missing, pivot_floor())
    for a in range(n_missing):
        h[a] = g[missing[a]]
        for b in range(a):
            h[a] -= block.matrix[a, b] * h[b]
        h[a] /= block.matrix[a, a]
        q -= h[a] * h[a]
    q = q if q > 0.0 else 0.0
    constant = (block.constant_of(k, n_observed) - block.constant_of(k, n_observed - 1)
                - 0.5 * (free + n_observed) * log_double(1.0 + q * shrink))
    for i in range(n_observed):
        j = observed[i]
        value, own = g[j], precision[j * d + j]
        for a in range(n_missing):
            part = precision[missing[a] * d + j]
            for b in range(a):
                part -= block.matrix[a, b] * v[b]
            v[a] = part / block.matrix[a, a]
            value -= v[a] * h[a]
            own -= v[a] * v[a]
        if own < pivot_floor() * precision[j * d + j]:
            own = pivot_floor() * precision[j * d + j]
        value = q - value * value / own
        value = value if value > 0.0 else 0.0
        out[j * stride] = (constant + 0.5 * log_double(own)
                           + 0.5 * (free + n_observed - 1) * log_double(1.0 + value * shrink))


def cell_densities(MultivariateT block not None, const double[:, ::1] values, Py_ssize_t n_clusters):
    """Log density of each cell of each row given the other observed cells of the row and the cluster.

    Parameters
    ----------
    block : MultivariateT
    values : ndarray of shape (n_rows, width)
        NaN where missing.
    n_clusters : int

    Returns
    -------
    log_densities : ndarray of shape (width, n_rows, n_clusters)
        0 where the cell is missing.
    """
    cdef Py_ssize_t row, k, n_rows = values.shape[0]
    cdef double[:, :, ::1] out = np.zeros((block.width, n_rows, n_clusters))
    if n_clusters > block.capacity:
        raise ValueError(f"{n_clusters} slots asked for, capacity is {block.capacity}")
    with nogil:
        for k in range(n_clusters):
            symmetric_inverse(&block.factor[k, 0, 0], &block.precision[0, 0], block.width)
            for row in range(n_rows):
                score_cells(block, &values[row, 0], k, &block.precision[0, 0], &out[0, row, k], n_rows * n_clusters)
    return np.asarray(out)


def rows_left_out(
    MultivariateT block not None, const double[:, ::1] rows, const double[:, ::1] asked, const int32_t[::1] slots
):
    """Log predictive density of some cells of each row in its own slot, from which the row is left out.

    Parameters
    ----------
    block : MultivariateT
        The last slot must be empty.
    rows : ndarray of shape (n_rows, width)
        The cells that are in the statistics of the slots.
    asked : ndarray of shape (n_rows, width)
        The cells to score, together; NaN: not asked.
    slots : ndarray of int32, shape (n_rows,)

    Returns
    -------
    log_densities : ndarray of shape (n_rows,)
    """
    cdef Py_ssize_t i, last = block.capacity - 1
    cdef double[::1] out = np.empty(rows.shape[0])
    check_slots(slots, block.capacity)
    with nogil:
        for i in range(rows.shape[0]):
            copy_without(block, &rows[i, 0], slots[i], last)
            out[i] = block.log_density(&asked[i, 0], last, block.sort_missing(&asked[i, 0]))
        block.clear(last)
    return np.asarray(out)


def cells_left_out(
    MultivariateT block not None, const double[:, ::1] rows, const double[:, ::1] asked, const int32_t[::1] slots
):
    """As ``rows_left_out``, each cell given the others that are asked: (width, n_rows), 0 where it is not asked."""
    cdef Py_ssize_t i, last = block.capacity - 1, n_rows = rows.shape[0]
    cdef double[:, ::1] out = np.empty((block.width, n_rows))
    check_slots(slots, block.capacity)
    with nogil:
        for i in range(n_rows):
            copy_without(block, &rows[i, 0], slots[i], last)
            symmetric_inverse(&block.factor[last, 0, 0], &block.precision[0, 0], block.width)
            score_cells(block, &asked[i, 0], last, &block.precision[0, 0], &out[0, i], n_rows)
        block.clear(last)
    return np.asarray(out)


def t_left_out(
    MultivariateT block not None, const double[:, ::1] rows, const double[:, ::1] asked, const int32_t[::1] slots
):
    """The t distributions of the cells that are not asked given those that are, in slots without the row.

    Parameters
    ----------
    block, rows, asked, slots
        As of ``rows_left_out``.

    Returns
    -------
    location, square : ndarray of shape (n_rows, width)
        Locations and squared scales; of asked cells, the value and 0.
    free : ndarray of shape (n_rows,)
        Degrees of freedom.
    """
    cdef Py_ssize_t i, last = block.capacity - 1
    cdef double[:, ::1] location = np.array(asked), square = np.zeros((rows.shape[0], block.width))
    cdef double[::1] free = np.empty(rows.shape[0])
    check_slots(slots, block.capacity)
    with nogil:
        for i in range(rows.shape[0]):
            copy_without(block, &rows[i, 0], slots[i], last)
            free[i] = block.t_given(
                &asked[i, 0], last, block.sort_missing(&asked[i, 0]), &location[i, 0], &square[i, 0])
        block.clear(last)
    return np.asarray(location), np.asarray(square), np.asarray(free)


def moments_left_out(block, rows, asked, slots):
    """Means and variances (n_rows, width) of the cells that are not asked, as of ``t_left_out``.

    The variance of a t with few degrees of freedom is bounded as in ``variance_factor``.
    """
    location, square, free = t_left_out(block, rows, asked, slots)
    return location, square * np.array([variance_factor(own) for own in free])[:, None]


cdef void copy_without(MultivariateT block, const double* x, Py_ssize_t k, Py_ssize_t target) noexcept nogil:
    """A cluster without one of its rows, in another slot, so that rounding errors do not add up in its own."""
    block.copy(block, k, target)
    block.change(x, target, -1.0)
