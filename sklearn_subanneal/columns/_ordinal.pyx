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
    BLOCK, add_multiple, largest, log_add, log_sum, take_exponentials, take_log_gammas, take_log_rising, take_logs,
    take_sums, take_sums_of_rows, take_weighted_sums, weighted_sum
)
from sklearn_subanneal.columns._additive cimport AdditiveStatistics, Sums
from sklearn_subanneal.columns._base cimport LogQueue
from sklearn_subanneal.columns._categorical cimport CategoricalData, code_at

from sklearn_subanneal.columns._base import check_state
from sklearn_subanneal.columns._frequencies import drawn_frequencies
from sklearn_subanneal.columns.ordinal_shapes import shapes_between

# Shapes whose log probability is so far below that of the best have no part in expected probabilities of levels, to
# the precision of a double.
cdef double NEGLIGIBLE = 48.0
cdef double LEAST_WEIGHT = 1e-21


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
                         n_derived=2 * self.n_shapes + self.n_means, n_counts=self.n_levels + 1, n_floats=self.n_levels,
                         n_doubles=self.n_levels + 3)

    cdef int set_shapes(self, cuts) except -1:
        self.cuts = np.array(cuts, np.float64)
        self.mean, shapes = shapes_between(tuple(self.cuts.tolist()))
        self.n_means, self.n_scales, self.n_levels = shapes.shape
        self.n_shapes = self.n_means * self.n_scales
        self.n_blocks = (self.n_levels + BLOCK - 1) // BLOCK
        rows = shapes.reshape(self.n_shapes, self.n_levels)
        self.log_shape = np.ascontiguousarray(np.log(rows).T)
        self.shape, self.inverse = in_blocks(rows), np.ascontiguousarray((1.0 / rows).T)
        self.mean_shape = in_blocks(shapes.mean(axis=1))
        self.log_weight, self.weight = np.empty(self.n_means), np.empty(self.n_means)
        self.alpha, self.log_gamma_alpha = np.empty(self.n_blocks * BLOCK), np.empty(self.n_levels)
        self.log_prior, self.likelihood, self.posterior = np.empty((3, self.n_shapes))
        self.kept = np.empty(self.n_shapes + 1, np.int32)
        self.level, self.expected = np.empty(self.n_levels), np.empty(self.n_blocks * BLOCK)
        self.log_n_scales = np.log(self.n_scales)
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
        cdef Py_ssize_t size = self.n_levels * self.capacity
        if data is not None:
            self.cells, self.itemsize = data.cells, data.itemsize
        self.count, self.total = self.own.count, self.own.count + size
        self.log_p_float, self.log_p, self.log_evidence_of = self.floats, self.doubles, self.doubles + size
        self.share_of_weight = self.log_evidence_of + self.capacity
        self.share_of_free = self.share_of_weight + self.capacity
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
        take_weighted_sums(
            &self.weight[0], &self.mean_shape[0, 0, 0], self.n_means, self.n_means, self.n_blocks, &self.alpha[0])
        self.alpha_total = 0.0
        for v in range(self.n_levels):
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

    cdef double log_shaped(self, const double* likelihood, double* posterior, double* p) noexcept nogil:
        """Log marginal likelihood of a slot as one of the shapes, of which it has these log likelihoods.

        Leaves in ``posterior`` the probabilities of the shapes, up to a factor, and in ``p`` the sum of the shapes by
        their probabilities.
        """
        cdef Py_ssize_t g, v, first = 0, last = self.n_shapes - 1, n_kept = 0
        cdef double top, total = 0.0
        take_sums(likelihood, &self.log_prior[0], posterior, self.n_shapes)
        top = largest(posterior, self.n_shapes)
        # In a large cluster, few shapes close to one another have all of the probability.
        while posterior[first] < top - NEGLIGIBLE:
            posterior[first] = 0.0
            first += 1
        while posterior[last] < top - NEGLIGIBLE:
            posterior[last] = 0.0
            last -= 1
        take_exponentials(top, posterior + first, last + 1 - first)
        for g in range(first, last + 1):
            self.kept[n_kept] = <int32_t> g
            n_kept += posterior[g] > LEAST_WEIGHT
        take_sums_of_rows(
            posterior, &self.kept[0], n_kept, &self.shape[0, 0, 0], self.n_shapes, self.n_blocks, p)
        for v in range(self.n_levels):
            total += p[v]
        for v in range(self.n_levels):
            p[v] /= total
        self.weight_total = total
        return top + log_double(total) - self.log_n_scales

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

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        self.take_log_likelihoods(self.count, k, self.own.record + k * self.n_record)
        self.take_coefficients(k)

    cdef void take_coefficients(self, Py_ssize_t k) noexcept nogil:
        # Those of a slot with these log likelihoods of the shapes.
        cdef double* likelihood = self.own.record + k * self.n_record
        cdef double* p = &self.expected[0]
        cdef double shaped = (log_double(1.0 - self.prior.free)
                              + self.log_shaped(likelihood, likelihood + self.n_shapes, p))
        cdef double free = log_double(self.prior.free) + self.log_free(self.count, k)
        cdef double out = log_add(shaped, free), of_shapes = exp_double(shaped - out), of_free = exp_double(free - out)
        cdef Py_ssize_t v
        # Rounding may leave an empty cluster some evidence.
        self.log_evidence_of[k], self.share_of_free[k] = out if self.total[k] else 0.0, of_free
        self.share_of_weight[k] = of_shapes / self.weight_total
        for v in range(self.n_levels):
            p[v] = (of_shapes * p[v] + of_free * (self.alpha[v] + self.count[v * self.capacity + k])
                    / (self.alpha_total + self.total[k]))
        take_logs(p, self.n_levels)
        for v in range(self.n_levels):
            self.log_p[v * self.capacity + k] = p[v]
            self.log_p_float[v * self.capacity + k] = <float> p[v]

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        cdef double of_shapes, of_free
        if v < 0:
            return 0.0
        # The likelihood of the cluster without the cell, in units of that with it.
        of_shapes = weighted_sum(
            self.own.record + k * self.n_record + self.n_shapes, &self.inverse[v, 0], self.n_shapes)
        of_free = ((self.alpha_total + self.total[k] - 1.0)
                   / (self.alpha[v] + self.count[v * self.capacity + k] - 1.0))
        return <float> -log_double(self.share_of_weight[k] * of_shapes + self.share_of_free[k] * of_free)

    cdef void refresh_slots(self) noexcept nogil:
        # Most slots are empty, and alike.
        cdef Py_ssize_t k, empty = -1
        for k in range(self.capacity):
            if self.total[k] == 0 and empty >= 0:
                self.copy(self, empty, k)
                continue
            self.refresh(k)
            if self.total[k] == 0:
                empty = k

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        if v >= 0:
            add_scores(self.log_p_float + v * self.capacity, scores, n)

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row), step = <int32_t> sign
        if v >= 0:
            self.count[v * self.capacity + k] += step
            self.total[k] += step
            add_multiple(sign, &self.log_shape[v, 0], self.own.record + k * self.n_record, self.n_shapes)
            self.take_coefficients(k)

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
        return self.log_evidence_of[k]

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef int32_t v = code_at(self.cells, self.itemsize, row)
        return self.log_p[v * self.capacity + k] if v >= 0 else 0.0

    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil:
        cdef const int32_t* count = self.other.count
        cdef double log_rest = log_double(1.0 - self.prior.free), log_share = log_double(self.prior.free)
        cdef Py_ssize_t k
        for k in range(n_clusters):
            if count[self.n_levels * self.capacity + k]:
                self.take_log_likelihoods(count, k, &self.likelihood[0])
                constant += log_add(
                    log_rest + self.log_shaped(&self.likelihood[0], &self.posterior[0], &self.expected[0]),
                    log_share + self.log_free(count, k))
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
                of_means = self.own.record + k * self.n_record + 2 * self.n_shapes
                for m in range(self.n_means):
                    of_means[m] = log_sum(&self.likelihood[m * self.n_scales], self.n_scales) - self.log_n_scales
        for g in range(n_grid):
            (<double*> &prior)[axis] = grid[g]
            self.take_prior(prior.location, prior.spread, prior.mass)
            log_rest, log_share = log_double(1.0 - prior.free), log_double(prior.free)
            for k in range(n_clusters):
                if self.total[k]:
                    of_means = self.own.record + k * self.n_record + 2 * self.n_shapes
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
                    out[i * n_clusters + k] += self.log_p[v * self.capacity + k]

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double u
        cdef Py_ssize_t v = 0
        if values[0] != values[0]:
            u = uniform(bits)
            while v < self.n_levels - 1:
                u -= exp_double(self.log_p[v * self.capacity + k])
                if u < 0.0:
                    break
                v += 1
            values[0] = <double> v

    def drawn_levels(self, Py_ssize_t n_clusters, generator):
        """Log probabilities (n_levels, n_clusters) of the levels, drawn from their posterior in each cluster."""
        alpha = np.asarray(self.alpha)[:self.n_levels, None]
        out = drawn_frequencies(alpha + self.get_state(n_clusters)["counts"][:self.n_levels], generator)
        for k in range(n_clusters):
            if generator.random() >= self.share_of_free[k]:
                # One of the shapes, of which the record has the posterior weights.
                weights = self.memory[0][k, self.n_shapes:2 * self.n_shapes].cumsum()
                below = generator.random() * weights[self.n_shapes - 1]
                out[:, k] = np.asarray(self.log_shape)[:, min(np.searchsorted(weights, below, side="right"),
                                                              self.n_shapes - 1)]
        return out

    def probabilities(self, Py_ssize_t n_clusters):
        """Predictive probabilities (n_clusters, n_levels)."""
        weights = np.exp(self.log_densities(np.arange(self.n_levels), n_clusters)).T
        return weights / weights.sum(axis=1, keepdims=True)


def in_blocks(rows):
    """Rows (n, n_levels) as (n_blocks, n, BLOCK), padded by zeros."""
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % BLOCK)))
    return np.ascontiguousarray(rows.reshape(len(rows), -1, BLOCK).transpose(1, 0, 2))
