"""Categorical likelihood with a Dirichlet prior that has one alpha for each value."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double, log_float, log_gamma, padded, simd_void
from sklearn_subanneal._core._random cimport categorical, uniform
from sklearn_subanneal.columns._base cimport MAX_GRID, ColumnData, ColumnStatistics, LogQueue, push_log

from sklearn_subanneal.columns._base import as_grid

# A column with many values has its alphas redrawn in turns: this many a sweep.
cdef enum:
    ALPHAS_PER_SWEEP = 16


cdef simd_void add_difference(
    const float* log_count, const float* log_total, float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_count[k] - log_total[k]


cdef simd_void take_logs(double alpha, const int32_t* count, float* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = log_float(<float> (alpha + count[k]))


cdef simd_void add_log_share(
    double alpha, const int32_t* count, double alpha_total, const int32_t* total, double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_double((alpha + count[k]) / (alpha_total + total[k]))


cdef simd_void add_log_gammas(
    double sign, const double* alpha, double others, double n, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(n_grid):
        out[g] += sign * log_gamma(others + alpha[g] + n)


cdef simd_void add_log_rising(double alpha, const double* count, double* out, Py_ssize_t n) noexcept nogil:
    # log of alpha (alpha + 1) ... (alpha + count - 1)
    cdef Py_ssize_t k
    cdef double start = log_gamma(alpha)
    for k in range(n):
        out[k] += log_gamma(alpha + count[k]) - start


cdef class CategoricalData(ColumnData):
    """One column of codes 0, 1, ... in int8, int16 or int32; -1 is a missing cell."""

    def __init__(self, codes):
        self.codes = np.ascontiguousarray(codes)
        self.itemsize = self.codes.dtype.itemsize
        self.n_rows = len(self.codes)
        self.width = 1
        if self.codes.dtype == np.int8:
            self.codes8 = self.codes
            self.cells = &self.codes8[0] if self.n_rows else NULL
        elif self.codes.dtype == np.int16:
            self.codes16 = self.codes
            self.cells = &self.codes16[0] if self.n_rows else NULL
        else:
            self.codes32 = self.codes.astype(np.int32, copy=False)
            self.itemsize = 4
            self.cells = &self.codes32[0] if self.n_rows else NULL

    def take(self, order):
        return CategoricalData(self.codes[order])


cdef class CategoricalStatistics(ColumnStatistics):
    """Statistics of a categorical or boolean column.

    Parameters
    ----------
    data : CategoricalData or None
        None where only the predictive densities are wanted.
    parameters : dict
        "alpha": one value a category.
    grids : dict
        "alpha": (n_categories, n_grid), the grid of each alpha, where they are to be learned.
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.width = 1
        self.data = data
        if data is not None:
            self.cells, self.itemsize = self.data.cells, self.data.itemsize
        self.n_categories = len(parameters["alpha"])
        self.grid = as_grid((grids or {}).get("alpha", np.empty((self.n_categories, 0))))

        self.reserve(padded(capacity))
        self.parameters = parameters

    @property
    def parameters(self):
        return {"alpha": np.array(self.alpha)}

    @parameters.setter
    def parameters(self, values):
        self.alpha = np.array(values["alpha"], np.float64)
        self.refresh_all()

    cdef void refresh_all(self) noexcept nogil:
        cdef Py_ssize_t v
        self.alpha_total = 0.0
        for v in range(self.n_categories):
            self.alpha_total += self.alpha[v]
            take_logs(self.alpha[v], &self.count[v, 0], &self.log_count[v, 0], self.capacity)
        take_logs(self.alpha_total, &self.total[0], &self.log_total[0], self.capacity)

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t k, present = self.capacity
        count = np.zeros((self.n_categories, capacity), np.int32)
        total = np.zeros(capacity, np.int32)
        log_count = np.zeros((self.n_categories, capacity), np.float32)
        log_total = np.zeros(capacity, np.float32)
        if present:
            count[:, :present] = self.count
            total[:present] = self.total
            log_count[:, :present] = self.log_count
            log_total[:present] = self.log_total
        self.count, self.total, self.log_count, self.log_total = count, total, log_count, log_total
        self.other = np.zeros((self.n_categories + 2, capacity))
        self.capacity = capacity
        if present:
            for k in range(present, capacity):
                self.refresh(k)
        return 0

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t v
        for v in range(self.n_categories):
            self.log_count[v, k] = log_float(<float> (self.alpha[v] + self.count[v, k]))
        self.log_total[k] = log_float(<float> (self.alpha_total + self.total[k]))

    cdef void bump(self, int32_t v, Py_ssize_t k, int32_t by, LogQueue* logs) noexcept nogil:
        self.count[v, k] += by
        self.total[k] += by
        push_log(logs, <float> (self.alpha[v] + self.count[v, k]), 1.0, 0.0, &self.log_count[v, k])
        push_log(logs, <float> (self.alpha_total + self.total[k]), 1.0, 0.0, &self.log_total[k])

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v >= 0:
            add_difference(&self.log_count[v, 0], &self.log_total[0], scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v < 0:
            return 0.0
        ratio[0] *= (self.alpha[v] + self.count[v, k] - 1) / (self.alpha_total + self.total[k] - 1)
        return 0.0

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v >= 0:
            self.bump(v, k, 1, logs)

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v >= 0:
            self.bump(v, k, -1, logs)

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        cdef Py_ssize_t v
        for v in range(self.n_categories):
            self.count[v, target] = (<CategoricalStatistics> other).count[v, source]
            self.log_count[v, target] = (<CategoricalStatistics> other).log_count[v, source]
        self.total[target] = (<CategoricalStatistics> other).total[source]
        self.log_total[target] = (<CategoricalStatistics> other).log_total[source]

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t v
        for v in range(self.n_categories):
            self.count[v, k] = 0
        self.total[k] = 0
        self.refresh(k)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        cdef Py_ssize_t v
        for v in range(self.n_categories):
            self.count[v, target] += self.count[v, source]
        self.total[target] += self.total[source]
        self.refresh(target)

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, k, v
        for k in range(self.capacity):
            self.total[k] = 0
        for v in range(self.n_categories):
            for k in range(self.capacity):
                self.count[v, k] = 0
        for i in range(n):
            v = code_at(self.cells, self.itemsize, rows[i])
            if v >= 0:
                self.count[v, slots[i]] += 1
                self.total[slots[i]] += 1
        self.refresh_all()

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef double out = log_gamma(self.alpha_total) - log_gamma(self.alpha_total + self.total[k])
        cdef Py_ssize_t v
        for v in range(self.n_categories):
            if self.count[v, k]:
                out += log_gamma(self.alpha[v] + self.count[v, k]) - log_gamma(self.alpha[v])
        return out

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v < 0:
            return 0.0
        return log_double((self.alpha[v] + self.count[v, k]) / (self.alpha_total + self.total[k]))

    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        cdef Py_ssize_t i, k, n_values = self.n_categories
        cdef int32_t v
        cdef double* total = &self.other[n_values, 0]
        cdef double* parts = &self.other[n_values + 1, 0]
        cdef double out = 0.0
        for v in range(n_values):
            for k in range(n_clusters):
                self.other[v, k] = 0.0
        for i in range(n):
            v = code_at(self.cells, self.itemsize, rows[i])
            if v >= 0:
                self.other[v, slots[i]] += 1.0
        for k in range(n_clusters):
            total[k] = parts[k] = 0.0
        for v in range(n_values):
            for k in range(n_clusters):
                total[k] += self.other[v, k]
            add_log_rising(self.alpha[v], &self.other[v, 0], parts, n_clusters)
        for k in range(n_clusters):
            out += parts[k]
            parts[k] = 0.0
        add_log_rising(self.alpha_total, total, parts, n_clusters)
        for k in range(n_clusters):
            out -= parts[k]
        return out

    def adopt(self, CategoricalStatistics source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        self.alpha[:] = source.alpha
        self.refresh_all()

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        cdef double[MAX_GRID] logs
        cdef double[MAX_GRID] work
        cdef Py_ssize_t n_grid = self.grid.shape[1], v, k, g
        cdef double others, n_total, n_count
        cdef const double* grid
        if n_grid == 0:
            return
        for _ in range(min(self.n_categories, <Py_ssize_t> ALPHAS_PER_SWEEP)):
            v = self.next_category
            self.next_category = (v + 1) % self.n_categories
            others = self.alpha_total - self.alpha[v]
            others = others if self.n_categories > 1 and others > 0.0 else 0.0
            grid = &self.grid[v, 0]
            for g in range(n_grid):
                logs[g] = 0.0
            # Of Gamma(alpha + n) / Gamma(alpha) the denominator is the same for all clusters.
            n_total = n_count = 0.0
            for k in range(n_clusters):
                if self.total[k]:
                    add_log_gammas(-1.0, grid, others, self.total[k], logs, n_grid)
                    n_total += 1.0
                if self.count[v, k]:
                    add_log_gammas(1.0, grid, 0.0, self.count[v, k], logs, n_grid)
                    n_count += 1.0
            add_log_gammas(n_total, grid, others, 0.0, logs, n_grid)
            add_log_gammas(-n_count, grid, 0.0, 0.0, logs, n_grid)
            self.alpha[v] = grid[categorical(logs, work, n_grid, power, bits)]
            self.alpha_total = 0.0
            for g in range(self.n_categories):
                self.alpha_total += self.alpha[g]
        self.refresh_all()

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        # A code that no category has (-1, NaN) is a missing cell.
        cdef Py_ssize_t i, v
        for i in range(n_rows):
            if values[i] >= 0.0 and values[i] < self.n_categories:
                v = <Py_ssize_t> values[i]
                add_log_share(self.alpha[v], &self.count[v, 0], self.alpha_total, &self.total[0],
                              out + i * n_clusters, n_clusters)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double u
        cdef Py_ssize_t v = 0
        if values[0] != values[0]:
            u = uniform(bits) * (self.alpha_total + self.total[k])
            while v < self.n_categories - 1:
                u -= self.alpha[v] + self.count[v, k]
                if u < 0.0:
                    break
                v += 1
            values[0] = <double> v

    def probabilities(self, Py_ssize_t n_clusters):
        """Predictive probabilities (n_clusters, n_categories)."""
        weights = np.asarray(self.count)[:, :n_clusters].T + np.asarray(self.alpha)
        return weights / weights.sum(axis=1, keepdims=True)

    def get_state(self, Py_ssize_t n_clusters):
        """Arrays from which ``set_state`` restores the first slots and the hyperparameters."""
        return {
            "count": np.asarray(self.count)[:, :n_clusters].copy(),
            "parameters": self.parameters,
        }

    def set_state(self, state):
        """Restore what ``get_state`` gave; all other slots are empty."""
        cdef Py_ssize_t n = state["count"].shape[1]
        self._make_room(n + 1)
        count, total = np.asarray(self.count), np.asarray(self.total)
        count[:] = 0
        count[:, :n] = state["count"]
        total[:] = count.sum(axis=0)
        self.parameters = state["parameters"]

    def get_prior_state(self):
        """The alphas, and whose turn it is."""
        return {"parameters": self.parameters, "next_category": self.next_category}

    def set_prior_state(self, state):
        """Restore what ``get_prior_state`` gave."""
        self.parameters = state["parameters"]
        self.next_category = state["next_category"]
