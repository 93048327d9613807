"""Poisson likelihood with a gamma prior: the predictive distribution is negative binomial."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma, padded, simd_void
from sklearn_subanneal._core._random cimport categorical, log_standard_gamma, poisson
from sklearn_subanneal.columns._base cimport MAX_GRID, ColumnData, ColumnStatistics, LogQueue

from sklearn_subanneal.columns._base import as_grid


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


cdef simd_void log_evidence(
    const double* count, const double* total, double shape, double rate, double* out, Py_ssize_t n
) noexcept nogil:
    # Of each cluster, but for the constant of the prior and the factorials of its cells.
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = log_gamma(shape + total[k]) - (shape + total[k]) * log_double(rate + count[k])


cdef class CountData(ColumnData):
    """One column of counts, int32; -1 is a missing cell."""

    def __init__(self, cells):
        self.cells = np.ascontiguousarray(cells, np.int32)
        self.n_rows = self.cells.shape[0]
        self.width = 1

    def take(self, order):
        return CountData(np.asarray(self.cells)[order])


cdef class CountStatistics(ColumnStatistics):
    """Statistics of a column of counts.

    Parameters
    ----------
    data : CountData or None
        None where only the predictive densities are wanted.
    parameters : dict
        "shape" and "rate" of the gamma prior.
    grids : dict
        Grids of the hyperparameters to learn; those that are not named stay fixed.
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        grids = grids or {}
        self.width = 1
        self.data = data
        self.cells = &self.data.cells[0] if data is not None and data.n_rows else NULL
        self.grid_shape, self.grid_rate = [as_grid(grids.get(name, ())) for name in ("shape", "rate")]
        self.reserve(padded(capacity))
        self.parameters = parameters

    @property
    def parameters(self):
        return {"shape": self.shape, "rate": self.rate}

    @parameters.setter
    def parameters(self, values):
        cdef Py_ssize_t k
        self.shape, self.rate = values["shape"], values["rate"]
        for k in range(self.capacity):
            self.refresh(k)

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t k, present = self.capacity
        count, sums = np.zeros(capacity, np.int32), np.zeros((5, capacity))
        if present:
            count[:present] = self.count
            sums[0, :present] = self.total
            sums[1, :present] = self.log_factorials
            sums[2, :present] = self.posterior_shape
            sums[3, :present] = self.slope
            sums[4, :present] = self.constant
        self.other = np.zeros((3, capacity))
        self.count = count
        self.total, self.log_factorials, self.posterior_shape, self.slope, self.constant = sums
        self.capacity = capacity
        if present:
            for k in range(present, capacity):
                self.refresh(k)
        return 0

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double a = self.shape + self.total[k], b = self.rate + self.count[k]
        self.posterior_shape[k] = a
        self.slope[k] = log_double(b + 1.0)
        self.constant[k] = a * log_double(b / (b + 1.0)) - log_gamma(a)

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef int32_t x = self.cells[row]
        if x >= 0:
            add_negative_binomial(x, log_gamma(x + 1.0), &self.posterior_shape[0], &self.slope[0], &self.constant[0],
                                  scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef int32_t x = self.cells[row]
        cdef double a = self.posterior_shape[k] - x, b = self.rate + self.count[k] - 1
        if x < 0:
            return 0.0
        return <float> (log_gamma(a + x) - log_gamma(a) - log_gamma(x + 1.0)
                        + a * log_double(b / (b + 1.0)) - x * log_double(b + 1.0))

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        cdef int32_t x = self.cells[row]
        if x >= 0:
            self.count[k] += 1
            self.total[k] += x
            self.log_factorials[k] += log_gamma(x + 1.0)
            self.refresh(k)

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        cdef int32_t x = self.cells[row]
        if x >= 0:
            self.count[k] -= 1
            self.total[k] -= x
            self.log_factorials[k] -= log_gamma(x + 1.0)
            self.refresh(k)

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.count[target] = (<CountStatistics> other).count[source]
        self.total[target] = (<CountStatistics> other).total[source]
        self.log_factorials[target] = (<CountStatistics> other).log_factorials[source]
        self.posterior_shape[target] = (<CountStatistics> other).posterior_shape[source]
        self.slope[target] = (<CountStatistics> other).slope[source]
        self.constant[target] = (<CountStatistics> other).constant[source]

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        self.count[k] = 0
        self.total[k] = self.log_factorials[k] = 0.0
        self.refresh(k)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.count[target] += self.count[source]
        self.total[target] += self.total[source]
        self.log_factorials[target] += self.log_factorials[source]
        self.refresh(target)

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef int32_t x
        for k in range(self.capacity):
            self.count[k] = 0
            self.total[k] = self.log_factorials[k] = 0.0
        for i in range(n):
            x = self.cells[rows[i]]
            if x >= 0:
                self.count[slots[i]] += 1
                self.total[slots[i]] += x
                self.log_factorials[slots[i]] += log_gamma(x + 1.0)
        for k in range(self.capacity):
            self.refresh(k)

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef double a = self.shape + self.total[k], b = self.rate + self.count[k]
        return (self.shape * log_double(self.rate) - log_gamma(self.shape) + log_gamma(a) - a * log_double(b)
                - self.log_factorials[k])

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef int32_t x = self.cells[row]
        cdef double a = self.posterior_shape[k]
        if x < 0:
            return 0.0
        return log_gamma(a + x) - log_gamma(x + 1.0) + self.constant[k] - x * self.slope[k]

    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        cdef double* count = &self.other[0, 0]
        cdef double* total = &self.other[1, 0]
        cdef double* parts = &self.other[2, 0]
        cdef double out = 0.0, empty = log_gamma(self.shape) - self.shape * log_double(self.rate)
        cdef Py_ssize_t i, k
        cdef int32_t x
        for k in range(n_clusters):
            count[k] = total[k] = 0.0
        for i in range(n):
            x = self.cells[rows[i]]
            if x >= 0:
                count[slots[i]] += 1.0
                total[slots[i]] += x
                out -= log_gamma(x + 1.0)
        log_evidence(count, total, self.shape, self.rate, parts, n_clusters)
        for k in range(n_clusters):
            out += parts[k] - empty
        return out

    def adopt(self, CountStatistics source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        cdef Py_ssize_t k
        self.shape, self.rate = source.shape, source.rate
        for k in range(self.capacity):
            self.refresh(k)

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        cdef double[MAX_GRID] logs
        cdef double[MAX_GRID] work
        cdef Py_ssize_t k, g, n_shape = self.grid_shape.shape[0], n_rate = self.grid_rate.shape[0]
        if n_shape:
            for g in range(n_shape):
                logs[g] = 0.0
            for k in range(n_clusters):
                if self.count[k]:
                    add_over_shape(&self.grid_shape[0], self.count[k], self.total[k], self.rate, logs, n_shape)
            self.shape = self.grid_shape[categorical(logs, work, n_shape, power, bits)]
        if n_rate:
            for g in range(n_rate):
                logs[g] = 0.0
            for k in range(n_clusters):
                if self.count[k]:
                    add_over_rate(&self.grid_rate[0], self.count[k], self.total[k], self.shape, logs, n_rate)
            self.rate = self.grid_rate[categorical(logs, work, n_rate, power, bits)]
        if n_shape or n_rate:
            for k in range(self.capacity):
                self.refresh(k)

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double x
        for i in range(n_rows):
            x = values[i]
            if x >= 0.0:
                add_negative_binomial_double(x, log_gamma(x + 1.0), &self.posterior_shape[0], &self.slope[0],
                                             &self.constant[0], out + i * n_clusters, n_clusters)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double b = self.rate + self.count[k]
        if values[0] != values[0]:
            values[0] = poisson(exp_double(log_standard_gamma(self.posterior_shape[k], bits)) / b, bits)

    def conditional_moments(self, values, Py_ssize_t n_clusters):
        """Predictive means and variances (n_rows, n_clusters, 1)."""
        a = np.array(self.posterior_shape)[:n_clusters]
        b = self.rate + np.array(self.count)[:n_clusters]
        shape = (len(values), n_clusters, 1)
        return (np.broadcast_to((a / b)[:, None], shape), np.broadcast_to((a * (b + 1) / b**2)[:, None], shape))

    def get_state(self, Py_ssize_t n_clusters):
        """Arrays from which ``set_state`` restores the first slots and the hyperparameters."""
        return {
            "count": np.asarray(self.count)[:n_clusters].copy(),
            "total": np.asarray(self.total)[:n_clusters].copy(),
            "log_factorials": np.asarray(self.log_factorials)[:n_clusters].copy(),
            "parameters": self.parameters,
        }

    def set_state(self, state):
        """Restore what ``get_state`` gave; all other slots are empty."""
        cdef Py_ssize_t n = len(state["count"])
        self._make_room(n + 1)
        for name, array in (("count", self.count), ("total", self.total), ("log_factorials", self.log_factorials)):
            np.asarray(array)[:] = 0
            np.asarray(array)[:n] = state[name]
        self.parameters = state["parameters"]
