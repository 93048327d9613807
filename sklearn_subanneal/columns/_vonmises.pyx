"""Von Mises likelihood of angles with a von Mises prior of the direction; the concentration is a hyperparameter.

x ~ vM(m, kappa) in a cluster, m ~ vM(mu, r). With the vector v = r e(mu) + kappa sum e(x), e(x) = (cos x, sin x), a
cluster of n cells has the marginal likelihood (2 pi I0(kappa))^-n I0(|v|) / I0(r), and m is vM(angle of v, |v|) given
them.
"""
cimport cython
from libc.math cimport sqrt
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np
from scipy.special import i0e, i1e

from sklearn_subanneal._core._circle cimport (
    cosine_and_sine, direction, log_bessel, log_bessel_scaled, von_mises, wrapped
)
from sklearn_subanneal._core._math cimport simd_void
from sklearn_subanneal.columns._additive cimport AdditiveStatistics, Sums
from sklearn_subanneal.columns._base cimport MAX_GRID, ColumnData, LogQueue

cdef double LOG_TWO_PI = 1.83787706640934548356


cdef inline double log_gain(double c, double s, double x, double y, double length, double kappa) noexcept nogil:
    # log I0(|v + kappa e|) - |v| for the vector v = (x, y) of this length: lengths may be huge, and are not subtracted.
    cdef double longer = sqrt((x + kappa * c) * (x + kappa * c) + (y + kappa * s) * (y + kappa * s))
    return kappa * (2.0 * (x * c + y * s) + kappa) / (longer + length) + log_bessel_scaled(longer)


cdef simd_void add_scores(
    double c, double s, const double* x, const double* y, const double* length, const double* constant, double kappa,
    float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += <float> (log_gain(c, s, x[k], y[k], length[k], kappa) + constant[k])


cdef simd_void add_scores_double(
    double c, double s, const double* x, const double* y, const double* length, const double* constant, double kappa,
    double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_gain(c, s, x[k], y[k], length[k], kappa) + constant[k]


cdef simd_void add_log_bessel(const double* x, const double* y, double* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] += log_bessel(sqrt(x[i] * x[i] + y[i] * y[i]))


cdef struct Resultant:
    double count            # of the cells: a number without fraction
    double cosines, sines   # sums over the cells


cdef struct VonMisesPrior:
    double kappa, r, mu


cdef class VonMisesData(ColumnData):
    """One column of angles in radians, float64; NaN is a missing cell."""

    cdef const double[::1] cells

    def __init__(self, cells):
        self.cells = self.keep(np.ascontiguousarray(cells, np.float64))


@cython.final
cdef class VonMisesStatistics(AdditiveStatistics):
    """Statistics of a column of angles, as :class:`AdditiveStatistics`.

    The parameters are "mu" and "r", direction and concentration of the prior, and "kappa", the concentration within
    each cluster.
    """

    cdef const double* cells
    cdef Resultant* resultant
    cdef VonMisesPrior* prior
    cdef double prior_x, prior_y
    cdef double log_norm                    # log(2 pi I0(kappa))
    # (capacity,): the vector v, its length, and the constant of the log density of another cell
    cdef double* x
    cdef double* y
    cdef double* length
    cdef double* constant

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.prior = <VonMisesPrior*> self.hyperparameter
        super().__init__(data, parameters, grids, capacity, hyperparameters=("kappa", "r", "mu"),
                         sums=("count", "cosines", "sines"), n_doubles=4)

    cdef int place(self) except -1:
        cdef VonMisesData data = self.data
        self.cells = &data.cells[0] if data is not None and data.n_rows else NULL
        self.resultant = <Resultant*> self.own.record
        self.x, self.y = self.doubles, self.doubles + self.capacity
        self.length, self.constant = self.doubles + 2 * self.capacity, self.doubles + 3 * self.capacity
        return 0

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double x = self.prior_x + self.prior.kappa * self.resultant[k].cosines
        cdef double y = self.prior_y + self.prior.kappa * self.resultant[k].sines
        self.x[k] = x
        self.y[k] = y
        self.length[k] = sqrt(x * x + y * y)
        self.constant[k] = -log_bessel_scaled(self.length[k]) - self.log_norm

    cdef void refresh_prior(self) noexcept nogil:
        cosine_and_sine(self.prior.mu, &self.prior_x, &self.prior_y)
        self.prior_x *= self.prior.r
        self.prior_y *= self.prior.r
        self.log_norm = log_bessel(self.prior.kappa) + LOG_TWO_PI

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef double angle = self.cells[row], c, s
        if angle == angle:
            cosine_and_sine(angle, &c, &s)
            add_scores(c, s, self.x, self.y, self.length, self.constant, self.prior.kappa, scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef double angle = self.cells[row], c, s, x, y, length
        if angle != angle:
            return 0.0
        cosine_and_sine(angle, &c, &s)
        x = self.x[k] - self.prior.kappa * c
        y = self.y[k] - self.prior.kappa * s
        length = sqrt(x * x + y * y)
        return <float> (log_gain(c, s, x, y, length, self.prior.kappa) - log_bessel_scaled(length) - self.log_norm)

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        cdef double angle = self.cells[row], c, s
        cdef Resultant* cluster = &self.resultant[k]
        if angle == angle:
            cosine_and_sine(angle, &c, &s)
            cluster.count += sign
            cluster.cosines += sign * c
            cluster.sines += sign * s
            if cluster.count == 0.0:
                # Rounding may have left a rest.
                cluster.cosines = cluster.sines = 0.0
            self.refresh(k)

    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil:
        cdef Py_ssize_t i
        cdef double angle, c, s
        cdef Resultant* cluster
        for i in range(n):
            angle = self.cells[rows[i]]
            if angle == angle:
                cosine_and_sine(angle, &c, &s)
                cluster = <Resultant*> sums.record + slots[i]
                cluster.count += 1.0
                cluster.cosines += c
                cluster.sines += s
        return 0.0

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        return log_bessel(self.length[k]) - log_bessel(self.prior.r) - self.resultant[k].count * self.log_norm

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef double angle = self.cells[row], c, s
        if angle != angle:
            return 0.0
        cosine_and_sine(angle, &c, &s)
        return log_gain(c, s, self.x[k], self.y[k], self.length[k], self.prior.kappa) + self.constant[k]

    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        cdef double* count = self.room
        cdef double* x = self.room + self.capacity
        cdef double* y = self.room + 2 * self.capacity
        cdef double* parts = self.room + 3 * self.capacity
        cdef double out = 0.0, empty = log_bessel(self.prior.r), angle, c, s
        cdef Py_ssize_t i, k
        for k in range(n_clusters):
            count[k] = parts[k] = 0.0
            x[k] = self.prior_x
            y[k] = self.prior_y
        for i in range(n):
            angle = self.cells[rows[i]]
            if angle == angle:
                cosine_and_sine(angle, &c, &s)
                count[slots[i]] += 1.0
                x[slots[i]] += self.prior.kappa * c
                y[slots[i]] += self.prior.kappa * s
        add_log_bessel(x, y, parts, n_clusters)
        for k in range(n_clusters):
            out += parts[k] - empty - count[k] * self.log_norm
        return out

    cdef void add_over_grid(
        self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef double[MAX_GRID] kappa, prior_x, prior_y, each, empty, x, y
        cdef double r, mu
        cdef Py_ssize_t k, g
        for g in range(n_grid):
            kappa[g] = grid[g] if axis == 0 else self.prior.kappa
            r = grid[g] if axis == 1 else self.prior.r
            mu = grid[g] if axis == 2 else self.prior.mu
            cosine_and_sine(mu, &prior_x[g], &prior_y[g])
            prior_x[g] *= r
            prior_y[g] *= r
            each[g] = log_bessel(kappa[g])
            empty[g] = log_bessel(r)
        for k in range(n_clusters):
            if self.resultant[k].count > 0.0:
                for g in range(n_grid):
                    x[g] = prior_x[g] + kappa[g] * self.resultant[k].cosines
                    y[g] = prior_y[g] + kappa[g] * self.resultant[k].sines
                    out[g] -= self.resultant[k].count * each[g] + empty[g]
                add_log_bessel(x, y, out, n_grid)

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double c, s
        for i in range(n_rows):
            if values[i] == values[i]:
                cosine_and_sine(values[i], &c, &s)
                add_scores_double(c, s, self.x, self.y, self.length, self.constant, self.prior.kappa,
                                  out + i * n_clusters, n_clusters)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double center
        if values[0] != values[0]:
            center = direction(self.x[k], self.y[k]) + von_mises(self.length[k], bits)
            values[0] = wrapped(center + von_mises(self.prior.kappa, bits))

    def conditional_moments(self, values, Py_ssize_t n_clusters):
        """Predictive circular means (angles in [0, 2 pi)) and circular variances, (n_rows, n_clusters, 1).

        The circular variance is 1 - |E e(x)|, from 0 (one direction) to 1 (none).
        """
        cdef Py_ssize_t k
        mean = np.array([direction(self.x[k], self.y[k]) for k in range(n_clusters)])
        lengths = np.array([self.length[k] for k in range(n_clusters)])
        variance = 1.0 - i1e(lengths) / i0e(lengths) * (i1e(self.prior.kappa) / i0e(self.prior.kappa))
        shape = (len(values), n_clusters, 1)
        return np.broadcast_to(mean[:, None], shape), np.broadcast_to(variance[:, None], shape)
