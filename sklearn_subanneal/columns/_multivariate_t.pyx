"""Multivariate t density of a block of reals in each cluster, and of missing cells given the observed ones."""
from libc.math cimport sqrt
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._linalg cimport cholesky, times_lower
from sklearn_subanneal._core._math cimport exp_double, log_double
from sklearn_subanneal._core._random cimport log_standard_gamma, standard_normal
from sklearn_subanneal.columns._normal cimport variance_factor
from sklearn_subanneal.columns._wishart cimport NormalWishart, pivot_floor, safe_downdate


cdef class MultivariateT(NormalWishart):
    """Predictive densities, draws and conditional moments of rows, given by their values; NaN is a missing cell."""

    def __init__(self, parameters, Py_ssize_t capacity=16):
        self.order = np.arange(len(parameters["mu"]), dtype=np.intp)
        super().__init__(parameters, capacity)

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
        cdef double log_det, value
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
        log_det = cholesky(&self.matrix[0, 0], d, n_missing, pivot_floor())
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
        scale = sqrt((1.0 + q * kappa / (kappa + 1.0)) * (kappa + 1.0) / (kappa * scale))
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
        cdef Py_ssize_t i, j, k, n_observed, d = self.width
        cdef double constant, power, shrink, q
        cdef const double* x
        for k in range(n_clusters):
            # The terms that all rows without missing cells share are computed once.
            constant = self.constant_of(k, d) - 0.5 * self.log_det[k]
            power = 0.5 * (self.nu + self.count[k] + 1.0)
            shrink = (self.kappa + self.count[k]) / (self.kappa + self.count[k] + 1.0)
            for i in range(n_rows):
                x = values + i * d
                q = 0.0
                for j in range(d):
                    self.work2[j] = x[j] - self.mean[k, j]
                times_lower(&self.factor[k, 0, 0], &self.work2[0], &self.work[0], d)
                for j in range(d):
                    q += self.work[j] * self.work[j]
                if q == q:
                    out[i * n_clusters + k] += constant - power * log_double(1.0 + q * shrink)
                else:
                    n_observed = self.sort_missing(x)
                    out[i * n_clusters + k] += self.log_density(x, k, n_observed)

    def conditional_moments(self, const double[:, ::1] values, Py_ssize_t n_clusters):
        """Means and variances (n_rows, n_clusters, width) of the missing cells of each row, given its observed ones.

        The variance of a t with few degrees of freedom is bounded as in ``variance_factor``.
        """
        cdef Py_ssize_t row, k, i, a, b, c, d = self.width, n_observed, n_missing
        cdef double q, kappa, free, scale, value
        cdef double[:, :, ::1] mean = np.empty((values.shape[0], n_clusters, d))
        cdef double[:, :, ::1] variance = np.zeros((values.shape[0], n_clusters, d))
        with nogil:
            for row in range(values.shape[0]):
                n_observed = self.sort_missing(&values[row, 0])
                n_missing = d - n_observed
                for k in range(n_clusters):
                    for i in range(n_observed):
                        mean[row, k, self.order[i]] = values[row, self.order[i]]
                    if n_missing == 0:
                        continue
                    self.condition(&values[row, 0], k, n_observed, &q)
                    kappa = self.kappa + self.count[k]
                    free = self.nu + self.count[k] - d + 1 + n_observed
                    scale = (1.0 + q * kappa / (kappa + 1.0)) * (kappa + 1.0) / kappa * variance_factor(free) / free
                    for a in range(n_missing - 1, -1, -1):
                        for b in range(a + 1, n_missing):
                            self.work2[a] -= self.matrix[b, a] * self.work2[b]
                        self.work2[a] /= self.matrix[a, a]
                        mean[row, k, self.order[n_observed + a]] = self.mean[k, self.order[n_observed + a]] - self.work2[a]
                    # The diagonal of P_mm^-1 = L^-T L^-1, by the columns of L^-1.
                    for a in range(n_missing):
                        value = 0.0
                        for c in range(a, n_missing):
                            self.work[c] = 1.0 if c == a else 0.0
                            for b in range(a, c):
                                self.work[c] -= self.matrix[c, b] * self.work[b]
                            self.work[c] /= self.matrix[c, c]
                            value += self.work[c] * self.work[c]
                        variance[row, k, self.order[n_observed + a]] = scale * value
        return np.asarray(mean), np.asarray(variance)
