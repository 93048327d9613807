"""Counts: Poisson or negative binomial given the cluster, with a prior of its mean such that all sums are closed.

With the dispersion 0 a count is Poisson, and its mean has a gamma distribution with the given shape and rate. With a
dispersion, a count x is negative binomial with the size r = 1 / dispersion: its density is C(x) b^x (1 + b)^-(x + r),
where C(x) = Gamma(x + r) / (Gamma(r) x!), and the mean is r b. The odds b have a beta prime distribution with the
parameters shape and 2 + rate r, so that the mean and variance of a new count are finite; as the dispersion falls to 0,
the prior of the mean becomes the gamma distribution. Given n cells with the sum t, the parameters are shape + t and
2 + rate r + n r.
"""
from functools import lru_cache

from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma
from sklearn_subanneal._core._random cimport log_standard_gamma, poisson
from sklearn_subanneal.columns._additive cimport AdditiveStatistics, Sums
from sklearn_subanneal.columns._base cimport MAX_GRID, ColumnData, LogQueue
from sklearn_subanneal.columns._count_loops cimport (
    add_negative_binomial,
    add_negative_binomial_double,
    add_poisson,
    add_poisson_double,
    add_volumes,
    log_coefficient,
    other_parameter,
    size_of,
    take_beta_evidence,
    take_poisson_evidence,
)

# Coefficients of counts below this are in a table; others are computed when they are needed.
cdef enum:
    N_TABLE = 512


@lru_cache(maxsize=64)
def table_of(tuple dispersions):
    """Coefficients of the counts below N_TABLE, (N_TABLE, MAX_DISPERSIONS): shared, since statistics are made often."""
    cdef double[:, ::1] table = np.zeros((N_TABLE, MAX_DISPERSIONS))
    cdef Py_ssize_t g, x
    cdef double dispersion
    for g, dispersion in enumerate(dispersions):
        for x in range(N_TABLE):
            table[x, g] = log_coefficient(x, dispersion)
    return np.asarray(table)


cdef class CountData(ColumnData):
    """One column of counts, int32; -1 is a missing cell."""

    def __init__(self, cells):
        self.cells = self.keep(np.ascontiguousarray(cells, np.int32))


cdef class CountStatistics(AdditiveStatistics):
    """Statistics of a column of counts, as :class:`AdditiveStatistics`.

    The parameters are "shape", "rate" and "dispersion", which is 0 where it is not given. The grid of the dispersion
    has at most 8 values.
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.prior = <CountPrior*> self.hyperparameter
        parameters = {"dispersion": 0.0} | dict(parameters)
        grid = np.asarray((grids or {}).get("dispersion", [])).tolist()
        if len(grid) >= MAX_DISPERSIONS:
            raise ValueError(f"a grid of dispersions has at most {MAX_DISPERSIONS - 1} values, got {len(grid)}")
        self.n_on_grid = len(grid)
        self.know(grid)
        super().__init__(data, parameters, grids, capacity, hyperparameters=("shape", "rate", "dispersion"),
                         sums=("count", "total", *(f"coefficients_{g}" for g in range(MAX_DISPERSIONS))), n_doubles=4)

    @property
    def known(self):
        """The values of the dispersion for which there are sums."""
        return [self.dispersions[g] for g in range(self.n_dispersions)]

    def know(self, list dispersions):
        """Keep sums for these values of the dispersion. Of rows that are in already there would be none."""
        cdef Py_ssize_t g
        if dispersions == self.known:
            return
        if self.capacity and self.memory[0][:, 0].any():
            raise ValueError(f"there are sums for the dispersions {self.known}, and not for {dispersions}")
        self.n_dispersions = len(dispersions)
        for g in range(self.n_dispersions):
            self.dispersions[g] = dispersions[g]
        self.table = table_of(tuple(dispersions))

    @property
    def parameters(self):
        return {name: self.hyperparameter[i] for i, name in enumerate(self.hyperparameter_names)}

    @parameters.setter
    def parameters(self, values):
        if values["dispersion"] not in self.known:
            # After those of the grid.
            self.know([*self.known[:self.n_on_grid], values["dispersion"]])
        for i, name in enumerate(self.hyperparameter_names):
            self.hyperparameter[i] = values[name]
        self.refresh_all()

    def adopt(self, AdditiveStatistics source not None):
        self.know((<CountStatistics> source).known)
        self.n_on_grid = (<CountStatistics> source).n_on_grid
        AdditiveStatistics.adopt(self, source)

    def twin(self):
        """Empty statistics over the same data, with the same hyperparameters and sums."""
        cdef CountStatistics twin = CountStatistics(self.data, self.parameters)
        twin.n_on_grid = self.n_on_grid
        twin.know(self.known)
        twin.parameters = self.parameters
        return twin

    def set_state(self, state):
        # The sums of the state replace those of the object, which may be for another dispersion.
        self.memory[0][:] = 0.0
        self.parameters = state["parameters"]
        AdditiveStatistics.set_state(self, state)

    cdef int place(self) except -1:
        cdef CountData data = self.data
        self.cells = &data.cells[0] if data is not None and data.n_rows else NULL
        self.tally = <Tally*> self.own.record
        self.posterior_shape, self.slope = self.doubles, self.doubles + self.capacity
        self.constant, self.weight = self.doubles + 2 * self.capacity, self.doubles + 3 * self.capacity
        return 0

    cdef void refresh_prior(self) noexcept nogil:
        self.size = size_of(self.prior.dispersion)
        self.other = other_parameter(self.prior.rate, self.size)
        self.present = self.place_of(self.prior.dispersion)

    cdef Py_ssize_t place_of(self, double dispersion) noexcept nogil:
        cdef Py_ssize_t g
        for g in range(self.n_dispersions):
            if self.dispersions[g] == dispersion:
                return g
        return 0

    cdef double coefficient(self, double x, Py_ssize_t g) noexcept nogil:
        return self.table[<Py_ssize_t> x, g] if x < N_TABLE else log_coefficient(x, self.dispersions[g])

    cdef void add_coefficients(self, int32_t x, double sign, Tally* cluster) noexcept nogil:
        cdef Py_ssize_t g
        if x < N_TABLE:
            for g in range(MAX_DISPERSIONS):
                cluster.coefficients[g] += sign * self.table[x, g]
        else:
            for g in range(self.n_dispersions):
                cluster.coefficients[g] += sign * log_coefficient(x, self.dispersions[g])

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double a = self.prior.shape + self.tally[k].total, b
        self.posterior_shape[k] = a
        if self.size == 0.0:
            b = self.prior.rate + self.tally[k].count
            self.slope[k] = log_double(b + 1.0)
            self.constant[k] = a * log_double(b / (b + 1.0)) - log_gamma(a)
        else:
            b = self.other + self.size * self.tally[k].count
            self.weight[k] = a + b + self.size
            self.constant[k] = log_gamma(b + self.size) - log_gamma(a) - log_gamma(b) + log_gamma(a + b)

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef int32_t x = self.cells[row]
        if x < 0:
            return
        if self.size == 0.0:
            add_poisson(x, self.coefficient(x, self.present), self.posterior_shape, self.slope, self.constant,
                        scores, n)
        else:
            add_negative_binomial(x, self.coefficient(x, self.present), self.posterior_shape, self.weight,
                                  self.constant, scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef int32_t x = self.cells[row]
        cdef double a = self.posterior_shape[k] - x, b
        if x < 0:
            return 0.0
        if self.size == 0.0:
            b = self.prior.rate + self.tally[k].count - 1.0
            return <float> (log_gamma(a + x) - log_gamma(a) + self.coefficient(x, self.present)
                            + a * log_double(b / (b + 1.0)) - x * log_double(b + 1.0))
        b = self.other + self.size * (self.tally[k].count - 1.0)
        return <float> (log_gamma(a + x) - log_gamma(a) + log_gamma(b + self.size) - log_gamma(b) + log_gamma(a + b)
                        - log_gamma(a + b + x + self.size) + self.coefficient(x, self.present))

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        cdef int32_t x = self.cells[row]
        if x >= 0:
            self.tally[k].count += sign
            self.tally[k].total += sign * x
            self.add_coefficients(x, sign, &self.tally[k])
            self.refresh(k)

    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil:
        cdef Py_ssize_t i
        cdef int32_t x
        cdef double out = 0.0
        cdef Tally* cluster
        for i in range(n):
            x = self.cells[rows[i]]
            if x >= 0:
                cluster = <Tally*> sums.record + slots[i]
                cluster.count += 1.0
                cluster.total += x
                self.add_coefficients(x, 1.0, cluster)
                out += self.coefficient(x, self.present)
        return out

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef double out = self.tally[k].coefficients[self.present]
        add_volumes(&self.prior.shape, &self.other, self.size, self.tally[k].count, self.tally[k].total, &out, 1)
        return out

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef double out = 0.0
        cdef double x = self.cells[row]
        if x >= 0.0:
            self.add_scores(x, k, 1, &out)
        return out

    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil:
        cdef double* count = self.room
        cdef double* total = self.room + self.capacity
        cdef double* parts = self.room + self.n_sums * self.capacity
        cdef double empty
        cdef Py_ssize_t k
        if self.size == 0.0:
            take_poisson_evidence(count, total, self.prior.shape, self.other, parts, n_clusters)
            empty = log_gamma(self.prior.shape) - self.prior.shape * log_double(self.other)
        else:
            take_beta_evidence(count, total, self.prior.shape, self.other, self.size, parts, n_clusters)
            empty = (log_gamma(self.prior.shape) + log_gamma(self.other)
                     - log_gamma(self.prior.shape + self.other))
        for k in range(n_clusters):
            constant += parts[k] - empty
        return constant

    cdef void add_over_grid(
        self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t k, g
        cdef double size
        cdef double[MAX_GRID] shape, other
        for g in range(n_grid):
            size = size_of(grid[g]) if axis == 2 else self.size
            shape[g] = grid[g] if axis == 0 else self.prior.shape
            other[g] = other_parameter(grid[g] if axis == 1 else self.prior.rate, size)
            if axis == 2:
                for k in range(n_clusters):
                    add_volumes(&shape[g], &other[g], size, self.tally[k].count, self.tally[k].total,
                                &out[g], 1)
                    out[g] += self.tally[k].coefficients[self.place_of(grid[g])]
        if axis < 2:
            for k in range(n_clusters):
                if self.tally[k].count > 0.0:
                    add_volumes(shape, other, self.size, self.tally[k].count, self.tally[k].total, out, n_grid)

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n_rows):
            if values[i] >= 0.0:
                self.add_scores(values[i], 0, n_clusters, out + i * n_clusters)

    cdef void add_scores(self, double x, Py_ssize_t first, Py_ssize_t n, double* out) noexcept nogil:
        cdef double coefficient = self.coefficient(x, self.present)
        if self.size == 0.0:
            add_poisson_double(x, coefficient, self.posterior_shape + first, self.slope + first, self.constant + first,
                               out, n)
        else:
            add_negative_binomial_double(x, coefficient, self.posterior_shape + first, self.weight + first,
                                         self.constant + first, out, n)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double log_mean, n = self.tally[k].count
        if values[0] == values[0]:
            return
        log_mean = log_standard_gamma(self.posterior_shape[k], bits)
        if self.size == 0.0:
            log_mean -= log_double(self.prior.rate + n)
        else:
            log_mean += (log_standard_gamma(self.size, bits)
                         - log_standard_gamma(self.other + self.size * n, bits))
        values[0] = poisson(exp_double(log_mean), bits)

    def conditional_moments(self, values, Py_ssize_t n_clusters):
        """Predictive means and variances (n_rows, n_clusters, 1)."""
        state, shape = self.get_state(n_clusters), (len(values), n_clusters, 1)
        a = self.prior.shape + state["total"]
        if self.size == 0.0:
            b = self.prior.rate + state["count"]
            mean, variance = a / b, a * (b + 1.0) / b**2
        else:
            b = self.other + self.size * state["count"]
            mean = self.size * a / (b - 1.0)
            square = mean * self.size * (a + 1.0) / (b - 2.0)
            variance = mean + square * (1.0 + 1.0 / self.size) - mean**2
        return np.broadcast_to(mean[:, None], shape), np.broadcast_to(variance[:, None], shape)
