"""Ordered levels: in each cluster a normal variable between cut points, or frequencies without an order.

The distribution of a cluster is one of finitely many *shapes* q_g, normals of several means and standard deviations
between the column's cut points, or has no order: then it is drawn from a Dirichlet. A cluster with n_l cells of
level l has the marginal likelihood

    (1 - free) sum_g w_g prod_l q_gl^n_l + free DirichletMultinomial(n; alpha),

w_g the normal density of the shape's mean (parameters location and spread, all standard deviations alike), and alpha
the mass times the mean of all shapes by these weights. All is a sum over shapes: exact, and a probability.
"""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma, simd_void
from sklearn_subanneal._core._random cimport uniform
from sklearn_subanneal._core._sums cimport (
    add_multiple, largest, log_add, log_sum, multiply, take_exponentials, take_log_gammas, take_log_rising,
    take_sums, take_weighted_sum
)
from sklearn_subanneal.columns._additive cimport AdditiveStatistics, Sums
from sklearn_subanneal.columns._base cimport ColumnStatistics, LogQueue
from sklearn_subanneal.columns._categorical cimport CategoricalData, code_at

from sklearn_subanneal.columns._base import check_state
from sklearn_subanneal.columns._frequencies import drawn_frequencies
from sklearn_subanneal.columns.ordinal_shapes import shapes_between

# The weights of the shapes are multiplied at every change of a cluster, and computed anew from its counts after so
# many. The least probability of a level is 1e-3 / n_levels (UNIFORM_SHARE), so that a factor is at most 1e6 for a
# thousand levels: what was too small for a double remains negligible, and nothing overflows.
cdef enum:
    MOST_CHANGES = 32
    N_PARTS = 4  # the doubles of Parts, which end the record of a slot after weights of shapes and what means need
# In place of a log probability that is computed when it is needed.
cdef float STALE = 1.0


cdef simd_void add_scores(const float* log_p, float* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_p[k]


cdef class OrdinalStatistics(AdditiveStatistics):
    """Statistics of a column of ordered levels over :class:`CategoricalData`, as :class:`AdditiveStatistics`.

    The parameters are "location" and "spread" of the means of shapes, in levels, "free", the share of clusters whose
    distribution has no order, "mass", that of their Dirichlet prior, and "cuts", the n_levels - 1 cut points, which
    are not learned.
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.prior = <OrdinalPrior*> self.hyperparameter
        self.set_shapes(parameters["cuts"])
        super().__init__(data, parameters, grids, capacity, hyperparameters=("location", "spread", "free", "mass"),
                         n_derived=self.n_shapes + self.n_means + N_PARTS, n_counts=self.n_levels + 1,
                         n_floats=self.n_levels, n_doubles=self.n_levels)

    cdef int set_shapes(self, cuts) except -1:
        self.cuts = np.array(cuts, np.float64)
        self.mean, shapes = shapes_between(tuple(self.cuts.tolist()))
        self.n_means, self.n_scales, self.n_levels = shapes.shape
        self.n_shapes, self.log_n_scales = self.n_means * self.n_scales, np.log(self.n_scales)
        rows = shapes.reshape(self.n_shapes, self.n_levels)
        self.shape = np.ascontiguousarray(rows.T)
        self.log_shape, self.inverse = np.log(self.shape), 1.0 / np.asarray(self.shape)
        self.mean_shape = np.ascontiguousarray(shapes.mean(axis=1).T)
        self.log_weight, self.weight = np.empty(self.n_means), np.empty(self.n_means)
        self.alpha, self.log_gamma_alpha = np.empty((2, self.n_levels))
        self.log_prior, self.likelihood = np.empty((2, self.n_shapes))
        self.level, self.last_stale = np.empty(self.n_levels), np.full(self.n_levels, -1, np.int32)
        return 0

    @property
    def parameters(self):
        return {name: self.hyperparameter[i] for i, name in enumerate(self.hyperparameter_names)} | {
            "cuts": self.cuts.copy()
        }

    @parameters.setter
    def parameters(self, values):
        cdef Py_ssize_t i
        if not np.array_equal(values["cuts"], self.cuts):
            check_state(np.shape(values["cuts"]) == np.shape(self.cuts))
            self.set_shapes(values["cuts"])
        for i in range(self.n_hyperparameters):
            self.hyperparameter[i] = values[self.hyperparameter_names[i]]
        self.refresh_all()

    cdef int place(self) except -1:
        cdef CategoricalData data = self.data
        if data is not None:
            self.cells, self.itemsize = data.cells, data.itemsize
        self.count, self.total = self.own.count, self.own.count + self.n_levels * self.capacity
        self.log_p_float, self.log_p = self.floats, self.doubles
        return 0

    cdef void take_prior(self, double location, double spread, double mass) noexcept nogil:
        """Weights of the means, and the parameters of the Dirichlet, for these hyperparameters."""
        cdef Py_ssize_t m, v
        cdef double distance, total
        for m in range(self.n_means):
            distance = (self.mean[m] - location) / spread
            self.log_weight[m] = self.weight[m] = -0.5 * distance * distance
        total = log_sum(&self.weight[0], self.n_means)
        for m in range(self.n_means):
            self.log_weight[m] -= total
            self.weight[m] = self.log_weight[m]
        take_exponentials(0.0, &self.weight[0], self.n_means)
        self.alpha_total = 0.0
        for v in range(self.n_levels):
            take_weighted_sum(&self.weight[0], &self.mean_shape[v, 0], self.n_means, &self.alpha[v])
            self.alpha[v] *= mass
            self.alpha_total += self.alpha[v]
        take_log_gammas(&self.alpha[0], &self.log_gamma_alpha[0], self.n_levels)
        self.log_gamma_total = log_gamma(self.alpha_total)

    cdef void refresh_prior(self) noexcept nogil:
        cdef Py_ssize_t m, s
        self.take_prior(self.prior.location, self.prior.spread, self.prior.mass)
        for m in range(self.n_means):
            for s in range(self.n_scales):
                self.log_prior[m * self.n_scales + s] = self.log_weight[m]

    cdef void take_log_likelihoods(self, const int32_t* count, Py_ssize_t k, double* out) noexcept nogil:
        """Of the counts of a slot, given each of the shapes."""
        cdef Py_ssize_t g, v
        for g in range(self.n_shapes):
            out[g] = 0.0
        for v in range(self.n_levels):
            if count[v * self.capacity + k]:
                add_multiple(count[v * self.capacity + k], &self.log_shape[v, 0], out, self.n_shapes)

    cdef double log_shaped(self, Py_ssize_t k) noexcept nogil:
        """Log marginal likelihood of a slot of ``other`` as one of the shapes."""
        self.take_log_likelihoods(self.other.count, k, &self.likelihood[0])
        take_sums(&self.likelihood[0], &self.log_prior[0], &self.likelihood[0], self.n_shapes)
        return log_sum(&self.likelihood[0], self.n_shapes) - self.log_n_scales

    cdef double log_free(self, const int32_t* count, Py_ssize_t k) noexcept nogil:
        """Log marginal likelihood of a slot without an order."""
        cdef Py_ssize_t v
        cdef double out = self.log_gamma_total - log_gamma(self.alpha_total + count[self.n_levels * self.capacity + k])
        for v in range(self.n_levels):
            self.level[v] = count[v * self.capacity + k]
        take_log_rising(&self.alpha[0], &self.log_gamma_alpha[0], &self.level[0], &self.level[0], self.n_levels)
        for v in range(self.n_levels):
            out += self.level[v]
        return out

    cdef Parts* parts(self, Py_ssize_t k) noexcept nogil:
        return <Parts*> (self.own.record + (k + 1) * self.n_record - N_PARTS)

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t v
        self.take_weights(k)
        for v in range(self.n_levels):
            self.take_probability(v, k)

    cdef void take_weights(self, Py_ssize_t k) noexcept nogil:
        """The weights of the shapes of a slot, from its counts."""
        cdef Parts* parts = self.parts(k)
        cdef double* weight = self.own.record + k * self.n_record
        cdef double rest = log_double(1.0 - self.prior.free) - self.log_n_scales
        cdef double free = log_double(self.prior.free) + self.log_free(self.count, k)
        cdef Py_ssize_t g
        self.take_log_likelihoods(self.count, k, weight)
        take_sums(weight, &self.log_prior[0], weight, self.n_shapes)
        parts.log_unit = max(largest(weight, self.n_shapes) + rest, free)
        take_exponentials(parts.log_unit - rest, weight, self.n_shapes)
        parts.free, parts.shaped, parts.n_changes = exp_double(free - parts.log_unit), 0.0, 0.0
        for g in range(self.n_shapes):
            parts.shaped += weight[g]

    cdef void take_probability(self, Py_ssize_t v, Py_ssize_t k) noexcept nogil:
        """The probability of a level in a slot."""
        cdef Parts* parts = self.parts(k)
        cdef Py_ssize_t at = v * self.capacity + k
        cdef double p
        take_weighted_sum(self.own.record + k * self.n_record, &self.shape[v, 0], self.n_shapes, &p)
        p += parts.free * (self.alpha[v] + self.count[at]) / (self.alpha_total + self.total[k])
        self.log_p[at] = log_double(p / (parts.shaped + parts.free))
        self.log_p_float[at] = <float> self.log_p[at]

    cdef double settled(self, Py_ssize_t v, Py_ssize_t k) noexcept nogil:
        """The log probability of a level in a slot, computed if it is stale."""
        if self.log_p_float[v * self.capacity + k] == STALE:
            self.take_probability(v, k)
        return self.log_p[v * self.capacity + k]

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        cdef Py_ssize_t v
        AdditiveStatistics.copy(self, other, source, target)
        for v in range(self.n_levels):
            if self.log_p_float[v * self.capacity + target] == STALE:
                self.last_stale[v] = max(self.last_stale[v], <int32_t> target)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        cdef Parts* parts = self.parts(k)
        cdef double without
        if v < 0:
            return 0.0
        # The likelihood of the cluster without the cell, in units of that with it.
        take_weighted_sum(self.own.record + k * self.n_record, &self.inverse[v, 0], self.n_shapes, &without)
        without += (parts.free * (self.alpha_total + self.total[k] - 1.0)
                    / (self.alpha[v] + self.count[v * self.capacity + k] - 1.0))
        return <float> log_double((parts.shaped + parts.free) / without)

    cdef void refresh_slots(self) noexcept nogil:
        # Most slots are empty, and alike.
        cdef Py_ssize_t k, empty = -1
        for k in range(self.capacity):
            if self.total[k] == 0 and empty >= 0:
                self.copy(self, empty, k)
            else:
                self.refresh(k)
                empty = k if self.total[k] == 0 else empty

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t k, v = code_at(self.cells, self.itemsize, row)
        if v >= 0:
            if self.last_stale[v] >= 0:
                for k in range(min(<Py_ssize_t> self.last_stale[v] + 1, n)):
                    self.settled(v, k)
                if self.last_stale[v] < n:
                    self.last_stale[v] = -1
            add_scores(self.log_p_float + v * self.capacity, scores, n)

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row), step = <int32_t> sign
        cdef Parts* parts = self.parts(k)
        cdef double of_level, of_all
        cdef Py_ssize_t i
        if v < 0:
            return
        self.count[v * self.capacity + k] += step
        self.total[k] += step
        for i in range(self.n_levels):
            self.log_p_float[i * self.capacity + k] = STALE
            self.last_stale[i] = max(self.last_stale[i], <int32_t> k)
        if parts.n_changes == MOST_CHANGES or self.total[k] == 0:
            self.take_weights(k)
            return
        parts.n_changes += 1.0
        of_level = self.alpha[v] + self.count[v * self.capacity + k]
        of_all = self.alpha_total + self.total[k]
        if step > 0:
            multiply(&self.shape[v, 0], self.own.record + k * self.n_record, self.n_shapes, &parts.shaped)
            parts.free *= (of_level - 1.0) / (of_all - 1.0)
        else:
            multiply(&self.inverse[v, 0], self.own.record + k * self.n_record, self.n_shapes, &parts.shaped)
            parts.free *= of_all / of_level

    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil:
        cdef Py_ssize_t i, v
        cdef int32_t* total = sums.count + self.n_levels * self.capacity
        for i in range(n):
            v = code_at(self.cells, self.itemsize, rows[i])
            if v >= 0:
                sums.count[v * self.capacity + slots[i]] += 1
                total[slots[i]] += 1
        return 0.0

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef Parts* parts = self.parts(k)
        return parts.log_unit + log_double(parts.shaped + parts.free) if self.total[k] else 0.0

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        return self.settled(v, k) if v >= 0 else 0.0

    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil:
        cdef double log_rest = log_double(1.0 - self.prior.free), log_share = log_double(self.prior.free)
        cdef Py_ssize_t k
        for k in range(n_clusters):
            if self.other.count[self.n_levels * self.capacity + k]:
                constant += log_add(log_rest + self.log_shaped(k), log_share + self.log_free(self.other.count, k))
        return constant

    cdef void add_over_grid(
        self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef OrdinalPrior prior = self.prior[0]
        cdef double* of_means
        cdef double log_rest, log_share
        cdef Py_ssize_t k, g, m
        for k in range(n_clusters):
            if self.total[k]:
                self.take_log_likelihoods(self.count, k, &self.likelihood[0])
                of_means = self.own.record + k * self.n_record + self.n_shapes
                for m in range(self.n_means):
                    of_means[m] = log_sum(&self.likelihood[m * self.n_scales], self.n_scales) - self.log_n_scales
        for g in range(n_grid):
            (<double*> &prior)[axis] = grid[g]
            self.take_prior(prior.location, prior.spread, prior.mass)
            log_rest, log_share = log_double(1.0 - prior.free), log_double(prior.free)
            for k in range(n_clusters):
                if self.total[k]:
                    of_means = self.own.record + k * self.n_record + self.n_shapes
                    take_sums(of_means, &self.log_weight[0], &self.likelihood[0], self.n_means)
                    out[g] += log_add(log_rest + log_sum(&self.likelihood[0], self.n_means),
                                      log_share + self.log_free(self.count, k))
        self.refresh_prior()

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        # A code that no level has (-1, NaN) is a missing cell.
        cdef Py_ssize_t i, k, v
        for i in range(n_rows):
            if values[i] >= 0.0 and values[i] < self.n_levels:
                v = <Py_ssize_t> values[i]
                for k in range(n_clusters):
                    out[i * n_clusters + k] += self.settled(v, k)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double u
        cdef Py_ssize_t v = 0
        if values[0] != values[0]:
            u = uniform(bits)
            while v < self.n_levels - 1:
                u -= exp_double(self.settled(v, k))
                if u < 0.0:
                    break
                v += 1
            values[0] = <double> v

    def drawn_levels(self, Py_ssize_t n_clusters, generator):
        """Log probabilities (n_levels, n_clusters) of the levels, drawn from their posterior in each cluster."""
        cdef Parts* parts
        alpha = np.asarray(self.alpha)[:self.n_levels, None]
        out = drawn_frequencies(alpha + self.get_state(n_clusters)["counts"][:self.n_levels], generator)
        for k in range(n_clusters):
            parts = self.parts(k)
            if generator.random() * (parts.shaped + parts.free) >= parts.free:
                # One of the shapes, of which the record has the posterior weights.
                weights = self.memory[0][k, :self.n_shapes].cumsum()
                g = np.searchsorted(weights, generator.random() * weights[self.n_shapes - 1], side="right")
                out[:, k] = np.asarray(self.log_shape)[:, min(g, self.n_shapes - 1)]
        return out

    def probabilities(self, Py_ssize_t n_clusters):
        """Predictive probabilities (n_clusters, n_levels)."""
        weights = np.exp(self.log_densities(np.arange(self.n_levels), n_clusters)).T
        return weights / weights.sum(axis=1, keepdims=True)
