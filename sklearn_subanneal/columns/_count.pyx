"""Poisson likelihood with a gamma prior: the predictive distribution is negative binomial."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma, simd_void
from sklearn_subanneal._core._random cimport log_standard_gamma, poisson
from sklearn_subanneal.columns._additive cimport AdditiveStatistics, Sums
from sklearn_subanneal.columns._base cimport ColumnData, LogQueue


cdef simd_void add_negative_binomial(
    double x, double log_factorial, const double* a, const double* slope, const double* constant,
    float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += <float> (log_gamma(a[k] + x) + constant[k] - x * slope[k] - log_factorial)


cdef simd_void add_negative_binomial_double(
    double x, double log_factorial, const double* a, const double* slope, const double* constant,
    double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_gamma(a[k] + x) + constant[k] - x * slope[k] - log_factorial


cdef simd_void add_over_shape(
    const double* shape, double n, double total, double rate, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    cdef double log_share = log_double(rate / (rate + n))
    for g in range(n_grid):
        out[g] += log_gamma(shape[g] + total) - log_gamma(shape[g]) + shape[g] * log_share


cdef simd_void add_over_rate(
    const double* rate, double n, double total, double shape, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(n_grid):
        out[g] += shape * log_double(rate[g]) - (shape + total) * log_double(rate[g] + n)


cdef simd_void take_evidence(
    const double* count, const double* total, double shape, double rate, double* out, Py_ssize_t n
) noexcept nogil:
    # Of each cluster, but for the constant of the prior and the factorials of its cells.
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = log_gamma(shape + total[k]) - (shape + total[k]) * log_double(rate + count[k])


cdef class CountData(ColumnData):
    """One column of counts, int32; -1 is a missing cell."""

    def __init__(self, cells):
        self.cells = self.keep(np.ascontiguousarray(cells, np.int32))


cdef class CountStatistics(AdditiveStatistics):
    """Statistics of a column of counts, as :class:`AdditiveStatistics`; the parameters are "shape" and "rate"."""

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.prior = <GammaPrior*> self.hyperparameter
        super().__init__(data, parameters, grids, capacity, hyperparameters=("shape", "rate"),
                         sums=("count", "total", "log_factorials"), n_doubles=3)

    cdef int place(self) except -1:
        cdef CountData data = self.data
        self.cells = &data.cells[0] if data is not None and data.n_rows else NULL
        self.tally = <Tally*> self.own.record
        self.posterior_shape, self.slope = self.doubles, self.doubles + self.capacity
        self.constant = self.doubles + 2 * self.capacity
        return 0

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double a = self.prior.shape + self.tally[k].total, b = self.prior.rate + self.tally[k].count
        self.posterior_shape[k] = a
        self.slope[k] = log_double(b + 1.0)
        self.constant[k] = a * log_double(b / (b + 1.0)) - log_gamma(a)

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef int32_t x = self.cells[row]
        if x >= 0:
            add_negative_binomial(x, log_gamma(x + 1.0), self.posterior_shape, self.slope, self.constant, scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef int32_t x = self.cells[row]
        cdef double a = self.posterior_shape[k] - x, b = self.prior.rate + self.tally[k].count - 1.0
        if x < 0:
            return 0.0
        return <float> (log_gamma(a + x) - log_gamma(a) - log_gamma(x + 1.0)
                        + a * log_double(b / (b + 1.0)) - x * log_double(b + 1.0))

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        cdef int32_t x = self.cells[row]
        if x >= 0:
            self.tally[k].count += sign
            self.tally[k].total += sign * x
            self.tally[k].log_factorials += sign * log_gamma(x + 1.0)
            self.refresh(k)

    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil:
        cdef Py_ssize_t i
        cdef int32_t x
        cdef double log_factorial, out = 0.0
        cdef Tally* cluster
        for i in range(n):
            x = self.cells[rows[i]]
            if x >= 0:
                cluster = <Tally*> sums.record + slots[i]
                log_factorial = log_gamma(x + 1.0)
                cluster.count += 1.0
                cluster.total += x
                cluster.log_factorials += log_factorial
                out -= log_factorial
        return out

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef double shape = self.prior.shape, rate = self.prior.rate
        cdef double a = shape + self.tally[k].total, b = rate + self.tally[k].count
        return (shape * log_double(rate) - log_gamma(shape) + log_gamma(a) - a * log_double(b)
                - self.tally[k].log_factorials)

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef int32_t x = self.cells[row]
        cdef double a = self.posterior_shape[k]
        if x < 0:
            return 0.0
        return log_gamma(a + x) - log_gamma(x + 1.0) + self.constant[k] - x * self.slope[k]

    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil:
        cdef double empty = log_gamma(self.prior.shape) - self.prior.shape * log_double(self.prior.rate)
        cdef double* parts = self.room + 3 * self.capacity
        cdef Py_ssize_t k
        take_evidence(self.room, self.room + self.capacity, self.prior.shape, self.prior.rate, parts, n_clusters)
        for k in range(n_clusters):
            constant += parts[k] - empty
        return constant

    cdef void add_over_grid(
        self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double n, total
        for k in range(n_clusters):
            n, total = self.tally[k].count, self.tally[k].total
            if n > 0.0 and axis == 0:
                add_over_shape(grid, n, total, self.prior.rate, out, n_grid)
            elif n > 0.0:
                add_over_rate(grid, n, total, self.prior.shape, out, n_grid)

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double x
        for i in range(n_rows):
            x = values[i]
            if x >= 0.0:
                add_negative_binomial_double(x, log_gamma(x + 1.0), self.posterior_shape, self.slope, self.constant,
                                             out + i * n_clusters, n_clusters)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double b = self.prior.rate + self.tally[k].count
        if values[0] != values[0]:
            values[0] = poisson(exp_double(log_standard_gamma(self.posterior_shape[k], bits)) / b, bits)

    def conditional_moments(self, values, Py_ssize_t n_clusters):
        """Predictive means and variances (n_rows, n_clusters, 1)."""
        state, shape = self.get_state(n_clusters), (len(values), n_clusters, 1)
        a, b = self.prior.shape + state["total"], self.prior.rate + state["count"]
        return (np.broadcast_to((a / b)[:, None], shape), np.broadcast_to((a * (b + 1) / b**2)[:, None], shape))
