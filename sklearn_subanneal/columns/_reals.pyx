"""RealTable: the joint reals of a table, with fillings of missing cells, hyperparameters, and marginal likelihoods.

A block of the columns B has the prior of `_mvnormal` with psi_ij = nu sqrt(sigma2_i sigma2_j) R_ij and nu + |B| - 1
degrees of freedom, so that a part of a block has the prior of a smaller block. The cells of a column given those of B
are then, in each cluster, a conjugate Bayesian regression: its evidence is the ratio of the evidences of two blocks
over the rows in which the column is observed, and its missing cells are drawn from it.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free, realloc

import numpy as np

from sklearn_subanneal._core._linalg cimport cholesky
from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma
from sklearn_subanneal._core._random cimport log_standard_gamma, standard_normal
from sklearn_subanneal.columns._wishart cimport pivot_floor

from sklearn_subanneal.columns._base import as_grid
from sklearn_subanneal.columns.gaussian import correlation_of, observed_correlation
from sklearn_subanneal.columns.parameters import nearest_on_grid

cdef double LOG_PI = 1.1447298858494001741


cdef class RealTable:
    """The real columns of a table that may form blocks; a chain changes fillings and hyperparameters.

    Parameters
    ----------
    places : array of int, shape (width,)
        Places of these columns in the table.
    cells : ndarray of shape (n_rows, width)
        NaN is a missing cell.
    parameters : dict
        "mu", "sigma2" (width,), "vectors" (width, n_coordinates), "n_shared", "spread", and "kappa" and "nu" of a view
        before they are learned. With n_shared = 0 there are no correlations.
    grids : dict
        "mu", "sigma2" (width, n_grid), "kappa", "nu", "spread" (n_grid,); empty if nothing is learned.
    limits : ndarray of shape (2, width) or None, default=None
        The least and the largest value that a missing cell can have, see `_mvnormal`.
    """

    def __init__(self, places, cells, parameters, grids=None, limits=None):
        cells = np.ascontiguousarray(cells, np.float64)
        gaps = np.isnan(cells)
        self.places = np.asarray(places, np.int32)
        self.n_rows, self.width = cells.shape
        self.cells, self.gaps, self.has_gaps = cells, gaps.astype(np.int8), gaps.any(axis=0).astype(np.int8)
        self.grids = {name: as_grid(grid) for name, grid in (grids or {}).items()}
        self.kappa, self.nu = parameters["kappa"], parameters["nu"]
        self.parameters = parameters
        self.limits = None if limits is None else np.array(limits, np.float64)
        self.ends = np.tile([[-np.inf], [np.inf]], self.width) if limits is None else self.limits
        self.completed, self.before = np.where(gaps, np.clip(self.mu, *self.ends), cells), np.empty(self.n_rows)
        size = np.abs(observed_correlation(cells))
        np.fill_diagonal(size, 2.0)
        self.nearest = np.argsort(-size, axis=1, kind="stable").astype(np.int32)

    def __dealloc__(self):
        free(self.room)

    @property
    def parameters(self):
        """Hyperparameters of the columns."""
        return {
            "mu": np.array(self.mu), "sigma2": np.array(self.sigma2), "vectors": np.array(self.vectors),
            "n_shared": self.n_shared, "spread": self.spread,
        }

    @parameters.setter
    def parameters(self, values):
        self.mu, self.sigma2 = np.array(values["mu"], np.float64), np.array(values["sigma2"], np.float64)
        self.vectors = np.array(values["vectors"], np.float64)
        self.n_shared, self.spread = values["n_shared"], values["spread"]
        self.refresh()

    def refresh(self):
        """Recompute the scale matrix after variances or vectors have changed."""
        deviation = np.sqrt(self.sigma2)
        correlation = np.eye(self.width)
        if self.n_shared:
            correlation = correlation_of(np.asarray(self.vectors), self.n_shared)
        self.scale = np.ascontiguousarray(correlation * np.outer(deviation, deviation))

    @property
    def observed(self):
        """The cells, (n_rows, width); NaN where missing."""
        return np.asarray(self.cells)

    @property
    def filled(self):
        """The cells with the present fillings, (n_rows, width); writable."""
        return np.asarray(self.completed)

    @property
    def missing(self):
        """Which cells are missing, bool (n_rows, width)."""
        return np.asarray(self.gaps) > 0

    def block_parameters(self, members, kappa, nu):
        """Parameters of a block of some of the columns, for :class:`GaussianStatistics`."""
        d = len(members)
        out = {
            "mu": np.asarray(self.mu)[members], "kappa": kappa, "nu": nu + d - 1,
            "psi": nu * np.asarray(self.scale)[np.ix_(members, members)],
        }
        # With vectors, correlations are learned.
        if self.n_shared and "spread" in self.grids:
            out |= {"vectors": np.asarray(self.vectors)[members], "n_shared": self.n_shared, "spread": self.spread}
        return out

    def block_grids(self, members):
        """Grids of such a block; `spread` is learned from all columns, not from a block."""
        out = {name: grid for name, grid in self.grids.items() if name != "spread"}
        for name in ("mu", "sigma2"):
            if name in out:
                out[name] = out[name][members]
        if "nu" in out:
            out["nu"] = out["nu"] + len(members) - 1
        return out

    def take_parameters(self, members, parameters, vectors):
        """Hyperparameters of some columns, from those of their block; returns nu of its view. ``refresh`` is due.

        Those that are learned are values of their grids again, without the rounding of the block's arithmetic.
        """
        nu = parameters["nu"] - len(members) + 1
        if "nu" in self.grids:
            nu = nearest_on_grid(self.grids["nu"], nu)
        sigma2 = np.diagonal(parameters["psi"]) / nu
        if "sigma2" in self.grids:
            sigma2 = nearest_on_grid(self.grids["sigma2"][members], sigma2)
        np.asarray(self.mu)[members], np.asarray(self.sigma2)[members] = parameters["mu"], sigma2
        if vectors is not None:
            np.asarray(self.vectors)[members] = vectors
        return nu

    def learn_vectors(self, lone, generator):
        """Redraw the vectors of the columns ``lone``, which are alone in their blocks, and the spread of all."""
        if not self.n_shared or "spread" not in self.grids:
            return
        n, vectors = self.vectors.shape[1], np.asarray(self.vectors)
        vectors[lone] = generator.standard_normal((len(lone), n))
        vectors[lone, self.n_shared:] *= self.spread
        square, n_own = (vectors[:, self.n_shared:] ** 2).sum(), self.width * (n - self.n_shared)
        grid = self.grids["spread"]
        logs = -n_own * np.log(grid) - 0.5 * square / grid**2
        weights = np.exp(logs - logs.max())
        below = generator.random() * weights.sum()
        self.spread = grid[min(np.searchsorted(weights.cumsum(), below, side="right"), len(grid) - 1)]

    cdef double* work(self, Py_ssize_t n) except NULL nogil:
        # Room for so many numbers, until the next call.
        cdef double* grown
        if n > self.n_room:
            grown = <double*> realloc(self.room, n * sizeof(double))
            if grown == NULL:
                with gil:
                    raise MemoryError()
            self.room, self.n_room = grown, n
        return self.room

    cdef void add_up(self, const int32_t* order, Py_ssize_t d, Rows* of, double* out) noexcept nogil:
        """The sums of the columns ``order`` over the rows, with their fillings; products: the lower triangle."""
        cdef Py_ssize_t which, i, j, size = size_of_sums(d)
        cdef double x
        cdef double* sums
        cdef const double* cells
        for i in range(of.n_clusters * size):
            out[i] = 0.0
        for which in range(of.n):
            cells = &self.completed[of.row[which], 0]
            sums = out + of.slot[which] * size
            sums[0] += 1.0
            for i in range(d):
                x = cells[order[i]] - self.mu[order[i]]
                sums[1 + i] += x
                for j in range(i + 1):
                    sums[1 + d + i * d + j] += x * (cells[order[j]] - self.mu[order[j]])

    cdef Py_ssize_t join(
        self, const double* sums, const int32_t* order, Py_ssize_t b, int32_t j, Rows* of, int32_t* joined, double* out
    ) noexcept nogil:
        """The sums of the columns ``order`` and, at their end, j, over the rows in which j is observed.

        ``sums`` are those of the columns ``order``, of which j may be one. The new order is written to ``joined``;
        returns its length.
        """
        cdef Py_ssize_t which, i, c, k, d = 0, size, old = size_of_sums(b)
        cdef double x
        cdef double* to
        cdef const double* source
        cdef const double* cells
        for i in range(b):
            if order[i] != j:
                joined[d] = <int32_t> i
                d += 1
        d += 1
        size = size_of_sums(d)
        for k in range(of.n_clusters):
            to, source = out + k * size, sums + k * old
            to[0] = source[0] if b else 0.0
            for i in range(d - 1):
                to[1 + i] = source[1 + joined[i]]
                for c in range(i + 1):
                    to[1 + d + i * d + c] = source[1 + b + joined[i] * b + joined[c]]
            to[d] = 0.0
            for c in range(d):
                to[1 + d + (d - 1) * d + c] = 0.0
        for i in range(d - 1):
            joined[i] = order[joined[i]]
        joined[d - 1] = j
        for which in range(of.n):
            cells = &self.completed[of.row[which], 0]
            to = out + of.slot[which] * size
            if self.gaps[of.row[which], j]:
                if b:
                    to[0] -= 1.0
                for i in range(d - 1):
                    x = cells[joined[i]] - self.mu[joined[i]]
                    to[1 + i] -= x
                    for c in range(i + 1):
                        to[1 + d + i * d + c] -= x * (cells[joined[c]] - self.mu[joined[c]])
                continue
            x = cells[j] - self.mu[j]
            if not b:
                to[0] += 1.0
            to[d] += x
            to += 1 + d + (d - 1) * d
            for c in range(d):
                to[c] += x * (cells[joined[c]] - self.mu[joined[c]])
        return d

    cdef void scale_matrix(
        self, const double* sums, const int32_t* order, Py_ssize_t d, double kappa, double nu, double* out
    ) noexcept nogil:
        # Psi_n of one cluster, the lower triangle; ``sums`` may be NULL for psi.
        cdef Py_ssize_t i, j
        cdef double after = 0.0
        for i in range(d):
            for j in range(i + 1):
                out[i * d + j] = nu * self.scale[order[i], order[j]]
        if sums == NULL:
            return
        after = 1.0 / (kappa + sums[0])
        for i in range(d):
            for j in range(i + 1):
                out[i * d + j] += sums[1 + d + i * d + j] - sums[1 + i] * sums[1 + j] * after

    cdef double log_evidence(
        self, const double* sums, const int32_t* order, Py_ssize_t n_given, Py_ssize_t d, double kappa, double nu,
        Py_ssize_t n_clusters, double* room
    ) noexcept nogil:
        """Log marginal likelihood of the columns ``order`` from place ``n_given`` on, given those before them.

        ``room`` holds (d + 1) * (d + 1) values.
        """
        self.log_evidences(sums, order, d, kappa, nu, n_clusters, room + d + 1, room)
        return room[d] - room[n_given]

    cdef void log_evidences(
        self, const double* sums, const int32_t* order, Py_ssize_t d, double kappa, double nu, Py_ssize_t n_clusters,
        double* matrix, double* out
    ) noexcept nogil:
        """Log marginal likelihoods out[m] of the first m of the columns ``order``, m = 0..d, from one factorisation.

        ``matrix`` holds d * d values.
        """
        cdef Py_ssize_t i, k, size = size_of_sums(d)
        cdef double n, total, log_det
        # First, of psi alone: of each cluster, the part that does not depend on its rows.
        self.scale_matrix(NULL, order, d, kappa, nu, matrix)
        cholesky(matrix, d, d, pivot_floor())
        log_det, total, n = 0.0, 0.0, 0.0
        for k in range(n_clusters):
            n += sums[k * size] > 0.0
        out[0] = 0.0
        for i in range(d):
            log_det += 2.0 * log_double(matrix[i * d + i])
            total -= log_gamma(0.5 * (nu + i))
            out[i + 1] = n * (0.5 * (nu + i) * log_det + total)
        for k in range(n_clusters):
            n = sums[k * size]
            if n == 0.0:
                continue
            self.scale_matrix(sums + k * size, order, d, kappa, nu, matrix)
            cholesky(matrix, d, d, pivot_floor())
            log_det, total = 0.0, 0.0
            for i in range(d):
                log_det += 2.0 * log_double(matrix[i * d + i])
                total += log_gamma(0.5 * (nu + i + n)) + 0.5 * (log_double(kappa / (kappa + n)) - n * LOG_PI)
                out[i + 1] += total - 0.5 * (nu + i + n) * log_det

    cdef bint fill(
        self, const double* sums, const int32_t* order, Py_ssize_t d, double kappa, double nu, Rows* of,
        double* matrix, double* coefficients, bitgen_t* bits
    ) noexcept nogil:
        """Draw the missing cells of the last column of ``order`` given the others, from the regression of each cluster.

        False: one of them was beyond its limits, and all are as they were.

        ``sums`` are over the rows in which it is observed. ``matrix`` holds d * d values, ``coefficients`` d + 1 for
        each cluster: the intercept, the standard deviation, and the slopes.
        """
        cdef Py_ssize_t i, c, k, which, b = d - 1, size = size_of_sums(d)
        cdef int32_t j = order[b]
        cdef double x, n, deviation
        cdef bint within = True
        cdef double* own
        cdef double* slopes
        cdef const double* cells
        for k in range(of.n_clusters):
            n = sums[k * size]
            self.scale_matrix(sums + k * size, order, d, kappa, nu, matrix)
            cholesky(matrix, d, d, pivot_floor())
            deviation = matrix[b * d + b] / sqrt(2.0 * exp_double(log_standard_gamma(0.5 * (nu + b + n), bits)))
            own = coefficients + k * (d + 1)
            slopes = own + 2
            for i in range(b):
                slopes[i] = matrix[b * d + i] + deviation * standard_normal(bits)
            for i in range(b - 1, -1, -1):
                for c in range(i + 1, b):
                    slopes[i] -= matrix[c * d + i] * slopes[c]
                slopes[i] /= matrix[i * d + i]
            x = sums[k * size + d]
            for i in range(b):
                x -= slopes[i] * sums[k * size + 1 + i]
            own[0] = x / (kappa + n) + deviation * standard_normal(bits) / sqrt(kappa + n)
            own[1] = deviation
        for which in range(of.n):
            if self.gaps[of.row[which], j]:
                cells = &self.completed[of.row[which], 0]
                own = coefficients + of.slot[which] * (d + 1)
                x = self.mu[j] + own[0] + own[1] * standard_normal(bits)
                for i in range(b):
                    x += own[2 + i] * (cells[order[i]] - self.mu[order[i]])
                self.before[which], self.completed[of.row[which], j] = self.completed[of.row[which], j], x
                within = within and self.ends[0, j] <= x <= self.ends[1, j]
        if not within:
            for which in range(of.n):
                if self.gaps[of.row[which], j]:
                    self.completed[of.row[which], j] = self.before[which]
        return within
