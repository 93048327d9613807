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

    cdef double condition(
        self, const double* x, Py_ssize_t k, Py_ssize_t n_observed, Py_ssize_t n_factored
    ) noexcept nogil:
        # ``matrix`` = the first n_factored rows of the Cholesky factor of Psi_n, its coordinates in ``order``;
        # ``work`` = the whitened observed part. Returns the log determinant of the factored block.
        cdef Py_ssize_t i, j, a, b, d = self.width
        cdef double value, kappa = self.kappa + self.count[k]
        for i in range(n_factored):
            a = self.order[i]
            for j in range(i + 1):
                b = self.order[j]
                value = self.square[k, a, b] if a >= b else self.square[k, b, a]
                self.matrix[i, j] = (value + self.psi[a, b] + self.kappa * self.mu[a] * self.mu[b]
                                     - kappa * self.mean[k, a] * self.mean[k, b])
        value = cholesky(&self.matrix[0, 0], d, n_factored, pivot_floor())
        for i in range(n_observed):
            self.work[i] = x[self.order[i]] - self.mean[k, self.order[i]]
            for j in range(i):
                self.work[i] -= self.matrix[i, j] * self.work[j]
            self.work[i] /= self.matrix[i, i]
        return value

    cdef double log_density(self, const double* x, Py_ssize_t k, Py_ssize_t n_observed) noexcept nogil:
        # The marginal t of the observed cells; ``order`` must stand for x.
        cdef Py_ssize_t i, d = self.width
        cdef double log_det, q = 0.0, kappa = self.kappa + self.count[k]
        if n_observed == 0:
            return 0.0
        if n_observed == d:
            log_det = self.log_det[k]
            for i in range(d):
                self.work2[i] = x[i] - self.mean[k, i]
            times_lower(&self.factor[k, 0, 0], &self.work2[0], &self.work[0], d)
        else:
            log_det = self.condition(x, k, n_observed, n_observed)
        for i in range(n_observed):
            q += self.work[i] * self.work[i]
        return (self.constant_of(k, n_observed) - 0.5 * log_det
                - 0.5 * (self.nu + self.count[k] - d + 1 + n_observed) * log_double(1.0 + q * kappa / (kappa + 1.0)))

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
        cdef Py_ssize_t i, j, d = self.width, n_observed = self.sort_missing(values)
        cdef double q = 0.0, kappa = self.kappa + self.count[k], scale, x
        if n_observed == d:
            return
        self.condition(values, k, n_observed, d)
        for i in range(n_observed):
            q += self.work[i] * self.work[i]
        q *= kappa / (kappa + 1.0)
        scale = 2.0 * exp_double(log_standard_gamma(0.5 * (self.nu + self.count[k] - d + 1 + n_observed), bits))
        scale = sqrt((1.0 + q) * (kappa + 1.0) / (kappa * scale))
        for i in range(n_observed, d):
            self.work[i] = scale * standard_normal(bits)
        for i in range(n_observed, d):
            x = self.mean[k, self.order[i]]
            for j in range(i + 1):
                x += self.matrix[i, j] * self.work[j]
            values[self.order[i]] = x

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
        cdef Py_ssize_t row, k, i, j, d = self.width, n_observed
        cdef double q, kappa, free, scale
        cdef double[:, :, ::1] mean = np.empty((values.shape[0], n_clusters, d))
        cdef double[:, :, ::1] variance = np.zeros((values.shape[0], n_clusters, d))
        for row in range(values.shape[0]):
            n_observed = self.sort_missing(&values[row, 0])
            for k in range(n_clusters):
                for i in range(n_observed):
                    mean[row, k, self.order[i]] = values[row, self.order[i]]
                if n_observed == d:
                    continue
                self.condition(&values[row, 0], k, n_observed, d)
                q = 0.0
                for i in range(n_observed):
                    q += self.work[i] * self.work[i]
                kappa = self.kappa + self.count[k]
                free = self.nu + self.count[k] - d + 1 + n_observed
                scale = (1.0 + q * kappa / (kappa + 1.0)) * (kappa + 1.0) / kappa
                for i in range(n_observed, d):
                    mean[row, k, self.order[i]] = self.mean[k, self.order[i]]
                    for j in range(n_observed):
                        mean[row, k, self.order[i]] += self.matrix[i, j] * self.work[j]
                    for j in range(n_observed, i + 1):
                        variance[row, k, self.order[i]] += self.matrix[i, j] * self.matrix[i, j]
                    variance[row, k, self.order[i]] *= scale * variance_factor(free) / free
        return np.asarray(mean), np.asarray(variance)
