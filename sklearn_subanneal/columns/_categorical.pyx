"""Categorical likelihood with a Dirichlet prior: one alpha for each category, and a fixed one for the unseen value."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double, log_float, log_gamma, simd_void
from sklearn_subanneal._core._random cimport categorical, uniform
from sklearn_subanneal.columns._additive cimport AdditiveStatistics, Sums
from sklearn_subanneal.columns._base cimport MAX_GRID, ColumnData, LogQueue, push_log

from sklearn_subanneal.columns._base import as_grid, check_state

# A column with many categories has its alphas redrawn in turns: this many a sweep.
cdef enum:
    ALPHAS_PER_SWEEP = 16


# Among the values of new rows, a cell that is one of the categories, but it is not known which of them.
cdef enum:
    ANY_CATEGORY = -1


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


cdef simd_void add_log_rest(
    double alpha, const int32_t* count, double alpha_total, const int32_t* total, double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_double((alpha_total - alpha + total[k] - count[k]) / (alpha_total + total[k]))


cdef simd_void add_log_gammas(
    double sign, const double* alpha, double others, double n, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(n_grid):
        out[g] += sign * log_gamma(others + alpha[g] + n)


cdef simd_void add_log_rising(double alpha, const int32_t* count, double* out, Py_ssize_t n) noexcept nogil:
    # log of alpha (alpha + 1) ... (alpha + count - 1)
    cdef Py_ssize_t k
    cdef double start = log_gamma(alpha)
    for k in range(n):
        out[k] += log_gamma(alpha + count[k]) - start


cdef bint any_counted(const int32_t* count, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        if count[k]:
            return True
    return False


cdef class CategoricalData(ColumnData):
    """One column of codes 0, 1, ... in int8, int16 or int32; -1 is a missing cell."""

    def __init__(self, codes):
        codes = self.keep(np.ascontiguousarray(codes))
        self.itemsize = codes.dtype.itemsize
        if codes.dtype == np.int8:
            self.codes8 = codes
            self.cells = &self.codes8[0] if self.n_rows else NULL
        elif codes.dtype == np.int16:
            self.codes16 = codes
            self.cells = &self.codes16[0] if self.n_rows else NULL
        else:
            self.codes32 = codes.astype(np.int32, copy=False)
            self.itemsize = 4
            self.cells = &self.codes32[0] if self.n_rows else NULL


cdef class CategoricalStatistics(AdditiveStatistics):
    """Statistics of a categorical or boolean column, as :class:`AdditiveStatistics`.

    The parameters are "alpha", one for each category, and "unseen", which is optional: the alpha of one more value, for
    categories that ``fit`` did not see. Its code is n_categories. Only "alpha" is learned; its grid has shape
    (n_categories, n_grid).
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.n_categories = len(parameters["alpha"])
        self.n_values = self.n_categories + ("unseen" in parameters)
        self.alpha_grid = as_grid((grids or {}).get("alpha", np.empty((self.n_categories, 0))))
        super().__init__(data, parameters, None, capacity, n_counts=self.n_values + 1, n_floats=self.n_values + 1)

    cdef int place(self) except -1:
        cdef CategoricalData data = self.data
        if data is not None:
            self.cells, self.itemsize = data.cells, data.itemsize
        self.count, self.log_count = self.own.count, self.floats
        self.total = self.count + self.n_values * self.capacity
        self.log_total = self.log_count + self.n_values * self.capacity
        return 0

    @property
    def parameters(self):
        alpha, n = np.array(self.alpha), self.n_categories
        return {"alpha": alpha} if n == self.n_values else {"alpha": alpha[:n], "unseen": float(alpha[n])}

    @parameters.setter
    def parameters(self, values):
        unseen = [] if self.n_categories == self.n_values else [values["unseen"]]
        check_state(len(values["alpha"]) == self.n_categories)
        self.alpha = np.array([*values["alpha"], *unseen], np.float64)
        self.refresh_all()

    def adopt(self, CategoricalStatistics source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        self.alpha[:] = source.alpha
        self.refresh_all()

    cdef void refresh_prior(self) noexcept nogil:
        cdef Py_ssize_t v
        self.alpha_total = 0.0
        for v in range(self.n_values):
            self.alpha_total += self.alpha[v]

    cdef void refresh_slots(self) noexcept nogil:
        cdef Py_ssize_t v, first
        for v in range(self.n_values):
            first = v * self.capacity
            take_logs(self.alpha[v], self.count + first, self.log_count + first, self.capacity)
        take_logs(self.alpha_total, self.total, self.log_total, self.capacity)

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t v, at
        for v in range(self.n_values):
            at = v * self.capacity + k
            self.log_count[at] = log_float(<float> (self.alpha[v] + self.count[at]))
        self.log_total[k] = log_float(<float> (self.alpha_total + self.total[k]))

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v >= 0:
            add_difference(self.log_count + v * self.capacity, self.log_total, scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v < 0:
            return 0.0
        ratio[0] *= (self.alpha[v] + self.count[v * self.capacity + k] - 1) / (self.alpha_total + self.total[k] - 1)
        return 0.0

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row), step = <int32_t> sign
        cdef Py_ssize_t at = v * self.capacity + k
        if v >= 0:
            self.count[at] += step
            self.total[k] += step
            push_log(logs, <float> (self.alpha[v] + self.count[at]), 1.0, 0.0, &self.log_count[at])
            push_log(logs, <float> (self.alpha_total + self.total[k]), 1.0, 0.0, &self.log_total[k])

    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil:
        cdef Py_ssize_t i, v
        cdef int32_t* total = sums.count + self.n_values * self.capacity
        for i in range(n):
            v = code_at(self.cells, self.itemsize, rows[i])
            if v >= 0:
                sums.count[v * self.capacity + slots[i]] += 1
                total[slots[i]] += 1
        return 0.0

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef double out = log_gamma(self.alpha_total) - log_gamma(self.alpha_total + self.total[k])
        cdef Py_ssize_t v
        cdef int32_t count
        for v in range(self.n_values):
            count = self.count[v * self.capacity + k]
            if count:
                out += log_gamma(self.alpha[v] + count) - log_gamma(self.alpha[v])
        return out

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v < 0:
            return 0.0
        return log_double((self.alpha[v] + self.count[v * self.capacity + k]) / (self.alpha_total + self.total[k]))

    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil:
        cdef const int32_t* count = self.other.count
        cdef double* parts = self.room
        cdef double* totals = self.room + self.capacity
        cdef Py_ssize_t k, v
        for k in range(n_clusters):
            parts[k] = totals[k] = 0.0
        for v in range(self.n_values):
            # A value that does not occur contributes nothing.
            if any_counted(count + v * self.capacity, n_clusters):
                add_log_rising(self.alpha[v], count + v * self.capacity, parts, n_clusters)
        add_log_rising(self.alpha_total, count + self.n_values * self.capacity, totals, n_clusters)
        for k in range(n_clusters):
            constant += parts[k]
        for k in range(n_clusters):
            constant -= totals[k]
        return constant

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        cdef double[MAX_GRID] logs
        cdef double[MAX_GRID] work
        cdef Py_ssize_t n_grid = self.alpha_grid.shape[1], v, k, g
        cdef double others, n_total, n_count
        cdef const double* grid
        cdef const int32_t* count
        if n_grid == 0:
            return
        for _ in range(min(self.n_categories, <Py_ssize_t> ALPHAS_PER_SWEEP)):
            v = self.next_category
            self.next_category = (v + 1) % self.n_categories
            others = self.alpha_total - self.alpha[v]
            others = others if self.n_values > 1 and others > 0.0 else 0.0
            grid = &self.alpha_grid[v, 0]
            count = self.count + v * self.capacity
            for g in range(n_grid):
                logs[g] = 0.0
            # Of Gamma(alpha + n) / Gamma(alpha) the denominator is the same for all clusters.
            n_total = n_count = 0.0
            for k in range(n_clusters):
                if self.total[k]:
                    add_log_gammas(-1.0, grid, others, self.total[k], logs, n_grid)
                    n_total += 1.0
                if count[k]:
                    add_log_gammas(1.0, grid, 0.0, count[k], logs, n_grid)
                    n_count += 1.0
            add_log_gammas(n_total, grid, others, 0.0, logs, n_grid)
            add_log_gammas(-n_count, grid, 0.0, 0.0, logs, n_grid)
            self.alpha[v] = grid[categorical(logs, work, n_grid, power, bits)]
            self.refresh_prior()
        self.refresh_all()

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        # NaN, or a code that no value has, is a missing cell.
        cdef Py_ssize_t i, v
        for i in range(n_rows):
            if values[i] >= 0.0 and values[i] < self.n_values:
                v = <Py_ssize_t> values[i]
                add_log_share(self.alpha[v], self.count + v * self.capacity, self.alpha_total, self.total,
                              out + i * n_clusters, n_clusters)
            elif values[i] == ANY_CATEGORY and self.n_categories < self.n_values:
                v = self.n_categories
                add_log_rest(self.alpha[v], self.count + v * self.capacity, self.alpha_total, self.total,
                             out + i * n_clusters, n_clusters)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double u, mass = self.alpha_total + self.total[k]
        cdef Py_ssize_t v = 0, n = self.n_values
        if values[0] >= 0.0:
            return
        if values[0] == ANY_CATEGORY and self.n_categories < n:
            n = self.n_categories
            mass -= self.alpha[n] + self.count[n * self.capacity + k]
        u = uniform(bits) * mass
        while v < n - 1:
            u -= self.alpha[v] + self.count[v * self.capacity + k]
            if u < 0.0:
                break
            v += 1
        values[0] = <double> v

    def probabilities(self, Py_ssize_t n_clusters):
        """Predictive probabilities (n_clusters, n_values); the unseen value, if there is one, is the last."""
        weights = self.get_state(n_clusters)["counts"][:self.n_values].T + np.asarray(self.alpha)
        return weights / weights.sum(axis=1, keepdims=True)

    def get_prior_state(self):
        """The alphas, and the category whose alpha is redrawn next."""
        return {"parameters": self.parameters, "next_category": self.next_category}

    def set_prior_state(self, state):
        """Restore the arrays of ``get_prior_state``."""
        self.parameters = state["parameters"]
        self.next_category = state["next_category"]
