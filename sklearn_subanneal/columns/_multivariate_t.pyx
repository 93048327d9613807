"""MultivariateT: densities, draws and conditional moments of rows of a block of reals in each cluster."""
from libc.math cimport sqrt
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._linalg cimport cholesky, times_lower
from sklearn_subanneal._core._math cimport exp_double, log_double
from sklearn_subanneal._core._random cimport log_standard_gamma, standard_normal
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.columns._marginal_t cimport MarginalT
from sklearn_subanneal.columns._complete_rows cimport ROWS, score_complete_rows
from sklearn_subanneal.columns._normal cimport variance_factor
from sklearn_subanneal.columns._wishart cimport NormalWishart, pivot_floor, safe_downdate

cdef class MultivariateT(NormalWishart):
    """Predictive densities, draws and conditional moments of rows, given by their values; NaN is a missing cell."""

    def __init__(self, parameters, Py_ssize_t capacity=16):
        self.order = np.arange(len(parameters["mu"]), dtype=np.intp)
        self.lanes = np.zeros(2 * ROWS * len(parameters["mu"]))
        self.precision = np.zeros((len(parameters["mu"]), len(parameters["mu"])))
        super().__init__(parameters, capacity)

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        cdef bint follows = self.marginal is not None
        # Too small for the slots that are made now.
        self.marginal = None
        NormalWishart.reserve(self, capacity)
        if follows:
            self.follow_marginal()
        return 0

    cdef int follow_marginal(self) except -1:
        # From now on ``marginal`` has the present coefficients of all clusters.
        cdef MarginalT marginal = MarginalT(self.width)
        marginal.reserve(self.capacity)
        self.marginal = marginal
        return 0

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        NormalWishart.refresh(self, k)
        if self.marginal is not None:
            self.marginal.stale[k] = True

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        NormalWishart.copy(self, other, source, target)
        if self.marginal is not None:
            self.marginal.stale[target] = True

    cdef Py_ssize_t sort_missing(self, const double* x) noexcept nogil:
        # order = the observed coordinates, then the missing ones; returns the number of the first
        cdef Py_ssize_t i, n_observed = 0, tail
        for i in range(self.width):
            if x[i] == x[i]:
                self.order[n_observed] = i
                n_observed += 1
        tail = n_observed
        for i in range(self.width):
            if x[i] != x[i]:
                self.order[tail] = i
                tail += 1
        return n_observed

    cdef double condition(self, const double* x, Py_ssize_t k, Py_ssize_t n_observed, double* q) noexcept nogil:
        # In terms of the precision P = Psi_n^-1: with o the observed and m the missing coordinates and e = x - mu_n,
        #   Psi_mm.o = P_mm^-1,  m given o is at mu_m - P_mm^-1 P_mo e_o,  |Psi_oo| = |Psi_n| |P_mm|,
        # so that a row costs O(width^2) and the cube of its missing cells. ``order`` must stand for x.
        # ``matrix`` = the Cholesky factor L of P_mm, ``work2`` = L^-1 P_mo e_o, q = e_o' Psi_oo^-1 e_o.
        # Returns log |P_mm|.
        cdef Py_ssize_t i, a, b, first, second, d = self.width, n_missing = d - n_observed
        cdef const double* w = &self.factor[k, 0, 0]
        cdef double value
        for i in range(n_observed):
            self.work2[self.order[i]] = x[self.order[i]] - self.mean[k, self.order[i]]
        for i in range(n_observed, d):
            self.work2[self.order[i]] = 0.0
        times_lower(w, &self.work2[0], &self.work[0], d)
        q[0] = 0.0
        for i in range(d):
            q[0] += self.work[i] * self.work[i]
        # The coordinates in ``order`` increase, and column c of the lower triangle w begins at row c.
        for a in range(n_missing):
            first = self.order[n_observed + a]
            for b in range(a + 1):
                second = self.order[n_observed + b]
                value = 0.0
                for i in range(first, d):
                    value += w[i * d + first] * w[i * d + second]
                self.matrix[a, b] = value
            value = 0.0
            for i in range(first, d):
                value += w[i * d + first] * self.work[i]
            self.work2[a] = value
        return self.solve_missing(n_missing, q)

    cdef double solve_missing(self, Py_ssize_t n_missing, double* q) noexcept nogil:
        # ``matrix`` = P_mm becomes its factor L, ``work2`` = P_mo e_o becomes L^-1 of it, q loses what the missing
        # cells made; returns log |P_mm|.
        cdef Py_ssize_t a, b
        cdef double log_det = cholesky(&self.matrix[0, 0], self.width, n_missing, pivot_floor())
        for a in range(n_missing):
            for b in range(a):
                self.work2[a] -= self.matrix[a, b] * self.work2[b]
            self.work2[a] /= self.matrix[a, a]
            q[0] -= self.work2[a] * self.work2[a]
        if q[0] < 0.0:
            q[0] = 0.0
        return log_det

    cdef double log_density(self, const double* x, Py_ssize_t k, Py_ssize_t n_observed) noexcept nogil:
        # The marginal t of the observed cells; ``order`` must stand for x.
        cdef Py_ssize_t i, d = self.width
        cdef double log_det = self.log_det[k], q = 0.0
        if n_observed == 0:
            return 0.0
        if n_observed == d:
            for i in range(d):
                self.work2[i] = x[i] - self.mean[k, i]
            times_lower(&self.factor[k, 0, 0], &self.work2[0], &self.work[0], d)
            for i in range(d):
                q += self.work[i] * self.work[i]
        else:
            log_det += self.condition(x, k, n_observed, &q)
        return self.log_density_at(k, n_observed, log_det, q)

    cdef double log_density_at(self, Py_ssize_t k, Py_ssize_t n_observed, double log_det, double q) noexcept nogil:
        cdef double kappa = self.kappa + self.count[k]
        return (self.constant_of(k, n_observed) - 0.5 * log_det
                - 0.5 * (self.nu + self.count[k] - self.width + 1 + n_observed)
                * log_double(1.0 + q * kappa / (kappa + 1.0)))

    cdef double log_density_without(self, const double* x, Py_ssize_t k) noexcept nogil:
        # As for one column: with r the share of Psi_n that x makes, |Psi_(n-1)| = |Psi_n| (1 - r).
        cdef Py_ssize_t i, d = self.width
        cdef double r = 0.0, kappa = self.kappa + self.count[k], nu = self.nu + self.count[k], left
        for i in range(d):
            self.work2[i] = x[i] - self.mean[k, i]
        times_lower(&self.factor[k, 0, 0], &self.work2[0], &self.work[0], d)
        for i in range(d):
            r += self.work[i] * self.work[i]
        left = 1.0 - r * kappa / (kappa - 1.0)
        if left < safe_downdate():
            self.change(x, k, -1.0)
            left = self.log_density(x, k, d)
            self.change(x, k, 1.0)
            return left
        return (self.evidence_of(self.count[k]) - self.evidence_of(self.count[k] - 1)
                - 0.5 * self.log_det[k] + 0.5 * (nu - 1.0) * log_double(left))

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        # Missing given observed: t with nu_n - d + 1 + n_observed degrees of freedom.
        cdef Py_ssize_t a, b, d = self.width, n_observed = self.sort_missing(values), n_missing = d - n_observed
        cdef double q, kappa = self.kappa + self.count[k], scale
        if n_missing == 0:
            return
        self.condition(values, k, n_observed, &q)
        scale = 2.0 * exp_double(log_standard_gamma(0.5 * (self.nu + self.count[k] - d + 1 + n_observed), bits))
        # With hardly any degrees of freedom the gamma variate may be 0 in floating point.
        scale = min(sqrt((1.0 + q * kappa / (kappa + 1.0)) * (kappa + 1.0) / (kappa * scale)), 1e100)
        for a in range(n_missing):
            self.work2[a] = scale * standard_normal(bits) - self.work2[a]
        for a in range(n_missing - 1, -1, -1):
            for b in range(a + 1, n_missing):
                self.work2[a] -= self.matrix[b, a] * self.work2[b]
            self.work2[a] /= self.matrix[a, a]
            values[self.order[n_observed + a]] = self.mean[k, self.order[n_observed + a]] + self.work2[a]

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        # Complete rows are scored side by side; the others in all clusters side by side.
        cdef Py_ssize_t i, j, k, group, first, lane, n_lanes, n_complete, d = self.width
        cdef double constant, power, shrink
        cdef bint[ROWS] complete
        cdef double[ROWS] log_density
        cdef double* x = &self.lanes[0]
        cdef double* e = x + ROWS * d
        for group in range((n_rows + ROWS - 1) // ROWS):
            first = group * ROWS
            n_lanes, n_complete = min(n_rows - first, <Py_ssize_t> ROWS), 0
            for lane in range(n_lanes):
                i = first + lane
                complete[lane] = True
                for j in range(d):
                    x[j * ROWS + lane] = values[i * d + j]
                    complete[lane] &= values[i * d + j] == values[i * d + j]
                n_complete += complete[lane]
                if not complete[lane]:
                    self.add_marginal(values + i * d, n_clusters, out + i * n_clusters)
            if not n_complete:
                continue
            for k in range(n_clusters):
                constant = self.constant_of(k, d) - 0.5 * self.log_det[k]
                power = 0.5 * (self.nu + self.count[k] + 1.0)
                shrink = (self.kappa + self.count[k]) / (self.kappa + self.count[k] + 1.0)
                score_complete_rows(&self.factor[k, 0, 0], &self.mean[k, 0], x, e, constant, power, shrink, log_density,
                                    d, n_lanes)
                for lane in range(n_lanes):
                    if complete[lane]:
                        out[(first + lane) * n_clusters + k] += log_density[lane]

    cdef void add_marginal(self, const double* x, Py_ssize_t n_clusters, double* out) noexcept nogil:
        # The log densities of the observed cells of a row in all clusters are added.
        cdef Py_ssize_t k, n_observed = self.sort_missing(x)
        if n_observed == 0:
            return
        if self.marginal is None:
            with gil:
                try:
                    self.follow_marginal()
                except MemoryError:
                    # Cluster by cluster, below: nobody would hear of an error.
                    pass
        if self.marginal is None:
            for k in range(n_clusters):
                out[k] += self.log_density(x, k, n_observed)
            return
        self.marginal.score(self, x, &self.order[0], n_observed, n_clusters)
        for k in range(n_clusters):
            out[k] += self.marginal.log_densities[k]

    def predictive(self, Py_ssize_t n_clusters):
        """The multivariate t of a new row in each slot: locations, scale matrices and degrees of freedom.

        The t of some of the columns alone has their part of location and matrix, and the same degrees of freedom.

        Returns
        -------
        location : ndarray of shape (n_clusters, width)
        scale : ndarray of shape (n_clusters, width, width)
        free : ndarray of shape (n_clusters,)
        """
        cdef Py_ssize_t k
        cdef double[:, :, ::1] scale = np.empty((n_clusters, self.width, self.width))
        for k in range(n_clusters):
            self.posterior_scale(k, &scale[k, 0, 0])
        count = np.asarray(self.count)[:n_clusters]
        free, kappa = self.nu + count - self.width + 1, self.kappa + count
        lower = np.tril(np.asarray(scale))
        full = lower + np.tril(lower, -1).transpose(0, 2, 1)
        return np.asarray(self.mean)[:n_clusters].copy(), full * ((kappa + 1) / (kappa * free))[:, None, None], free

    def mixed_moments(self, const double[:, ::1] values, const double[:, ::1] weights):
        """First two moments (n_rows, width) of the cells of each row, its missing ones drawn from a mixture.

        ``weights`` (n_rows, n_clusters) are the probabilities of the clusters given the observed cells. Clusters with
        less than 1e-9 are left out.
        """
        cdef Py_ssize_t row, i, k, d = self.width, n_observed
        cdef double[:, ::1] first = np.zeros((values.shape[0], d)), second = np.zeros((values.shape[0], d))
        cdef double[::1] location = np.empty(d), square = np.empty(d)
        cdef double factor
        with nogil:
            for row in range(values.shape[0]):
                n_observed = self.sort_missing(&values[row, 0])
                for i in range(n_observed):
                    first[row, self.order[i]] = values[row, self.order[i]]
                    second[row, self.order[i]] = values[row, self.order[i]] ** 2
                if n_observed == d:
                    continue
                for k in range(weights.shape[1]):
                    if weights[row, k] < 1e-9:
                        continue
                    factor = variance_factor(self.t_given(&values[row, 0], k, n_observed, &location[0], &square[0]))
                    for i in range(n_observed, d):
                        first[row, self.order[i]] += weights[row, k] * location[self.order[i]]
                        second[row, self.order[i]] += weights[row, k] * (
                            factor * square[self.order[i]] + location[self.order[i]] ** 2)
        return np.asarray(first), np.asarray(second)

    cdef double t_given(
        self, const double* x, Py_ssize_t k, Py_ssize_t n_observed, double* location, double* square
    ) noexcept nogil:
        # Location and squared scale of the t of each missing cell, at its place; returns their degrees of freedom.
        cdef Py_ssize_t a, b, c, d = self.width, n_missing = d - n_observed
        cdef double q, scale, value, kappa = self.kappa + self.count[k]
        cdef double free = self.nu + self.count[k] - d + 1 + n_observed
        self.condition(x, k, n_observed, &q)
        scale = (1.0 + q * kappa / (kappa + 1.0)) * (kappa + 1.0) / kappa / free
        for a in range(n_missing - 1, -1, -1):
            for b in range(a + 1, n_missing):
                self.work2[a] -= self.matrix[b, a] * self.work2[b]
            self.work2[a] /= self.matrix[a, a]
            location[self.order[n_observed + a]] = self.mean[k, self.order[n_observed + a]] - self.work2[a]
        # The diagonal of P_mm^-1 = L^-T L^-1, by the columns of L^-1.
        for a in range(n_missing):
            value = 0.0
            for c in range(a, n_missing):
                self.work[c] = 1.0 if c == a else 0.0
                for b in range(a, c):
                    self.work[c] -= self.matrix[c, b] * self.work[b]
                self.work[c] /= self.matrix[c, c]
                value += self.work[c] * self.work[c]
            square[self.order[n_observed + a]] = scale * value
        return free

    def conditional_moments(self, const double[:, ::1] values, Py_ssize_t n_clusters):
        """Means and variances (n_rows, n_clusters, width) of the missing cells of each row, given its observed ones.

        The variance of a t with few degrees of freedom is bounded as in ``variance_factor``.
        """
        location, square, free = self.conditional_t(values, n_clusters)
        return location, square * np.array([[variance_factor(own) for own in row] for row in free])[:, :, None]

    def conditional_t(self, const double[:, ::1] values, Py_ssize_t n_clusters):
        """The t distributions of the missing cells of each row given its observed ones, one for each cluster.

        Returns
        -------
        location, square : ndarray of shape (n_rows, n_clusters, width)
            Locations and squared scales; of observed cells, the value and 0.
        free : ndarray of shape (n_rows, n_clusters)
            Degrees of freedom.
        """
        cdef Py_ssize_t row, k, n_observed
        cdef double[:, :, ::1] location = np.repeat(np.asarray(values)[:, None], n_clusters, axis=1)
        cdef double[:, :, ::1] square = np.zeros((values.shape[0], n_clusters, self.width))
        cdef double[:, ::1] free = np.ones((values.shape[0], n_clusters))
        for row in range(values.shape[0]):
            n_observed = self.sort_missing(&values[row, 0])
            if n_observed < self.width:
                for k in range(n_clusters):
                    free[row, k] = self.t_given(
                        &values[row, 0], k, n_observed, &location[row, k, 0], &square[row, k, 0])
        return np.asarray(location), np.asarray(square), np.asarray(free)
