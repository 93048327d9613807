"""PartitionPrior, the base class of priors of a partition, and PitmanYorPrior, which includes the Dirichlet process."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma, simd_void
from sklearn_subanneal._core._random cimport categorical


cdef simd_void add_log_weight(
    const double* concentration, double shift, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(n_grid):
        out[g] += log_double(concentration[g] + shift)


cdef double log_expected_clusters(double concentration, double discount, Py_ssize_t n) noexcept nogil:
    """Log of the approximate number of clusters among n rows of a Pitman-Yor process, to which time is proportional."""
    cdef double a = concentration if concentration > 1e-3 else 1e-3, d = discount if discount > 1e-3 else 1e-3
    return log_double(
        a / d * (exp_double(log_gamma(a + d + n) - log_gamma(a + d) - log_gamma(a + n) + log_gamma(a)) - 1.0))


cdef class PartitionPrior:
    """Prior of a partition; its subclasses set offset, new_base and new_slope."""

    cdef double log_probability(self, const int32_t* counts, Py_ssize_t n_clusters) noexcept nogil:
        return 0.0

    cdef void resample(self, const int32_t* counts, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil:
        pass

    cdef void redraw_auxiliary(self, Py_ssize_t n, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil:
        pass

    cdef void draw_parameters(self, bitgen_t* bits) noexcept nogil:
        pass

    cdef double propose_parameters(self, Py_ssize_t n, bitgen_t* bits) noexcept nogil:
        self.draw_parameters(bits)
        return 0.0

    cdef double proposal_weight(self, Py_ssize_t n) noexcept nogil:
        return 0.0

    # For callers in Python.

    @property
    def is_random_measure(self):
        """Whether this is the partition of a normalized random measure, which slice sampling requires."""
        return False

    @property
    def has_auxiliary(self):
        """Whether the weights are those given an auxiliary variable, which is part of the state of a chain."""
        return False

    def fresh(self):
        """Another prior with the same parameters and grids."""
        raise TypeError(f"{type(self).__name__} can't be copied")

    def log_eppf(self, const int32_t[::1] counts):
        """Log probability of a partition with these cluster sizes."""
        return self.log_probability(&counts[0], counts.shape[0]) if counts.shape[0] else 0.0

    def predictive_weights(self, const int32_t[::1] counts):
        """Offset, new_base and new_slope for the row after a partition with these cluster sizes, nothing else given."""
        return self.offset, self.new_base, self.new_slope

    def draw_partition(self, Py_ssize_t n_rows, generator):
        """Labels of a partition of n_rows rows drawn from the prior, int32."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef int32_t[::1] labels = np.zeros(n_rows, np.int32)
        cdef int32_t[::1] counts = np.zeros(n_rows + 1, np.int32)
        cdef Py_ssize_t row, k, n_clusters = 0
        cdef double u
        with generator.bit_generator.lock, nogil:
            for row in range(n_rows):
                u = bits.next_double(bits.state) * (row + self.offset * n_clusters + self.new_base
                                                    + self.new_slope * n_clusters)
                k = 0
                while k < n_clusters:
                    u -= counts[k] + self.offset
                    if u < 0.0:
                        break
                    k += 1
                labels[row] = <int32_t> k
                counts[k] += 1
                n_clusters += k == n_clusters
        return np.asarray(labels)

    def draw(self, generator):
        """Redraw the parameters from their prior."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        with generator.bit_generator.lock, nogil:
            self.draw_parameters(bits)

    def learn(self, const int32_t[::1] counts, generator):
        """Redraw the parameters given the cluster sizes."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        with generator.bit_generator.lock, nogil:
            self.resample(&counts[0], counts.shape[0], bits)


cdef class PitmanYorPrior(PartitionPrior):
    """The Pitman-Yor process.

    Parameters
    ----------
    concentration, discount : float
        alpha > -discount, and 0 <= discount < 1.
    grid_concentration, grid_discount : array-like
        Grids of the parameters to learn, jointly; of length one for a parameter that is fixed. Empty: both are.
    concentration_weights : array-like or None
        Prior probabilities of the values of ``grid_concentration``, up to one factor; None: they are equal, as those
        of the discounts always are.
    """

    def __init__(
        self,
        double concentration,
        double discount,
        grid_concentration=(),
        grid_discount=(),
        concentration_weights=None,
    ):
        self.grid_concentration = np.ascontiguousarray(grid_concentration, np.float64)
        self.grid_discount = np.ascontiguousarray(grid_discount, np.float64)
        n_grid = len(self.grid_concentration) * len(self.grid_discount)
        if concentration_weights is None:
            concentration_weights = np.ones(len(self.grid_concentration))
        weights = np.tile(np.asarray(concentration_weights, np.float64), len(self.grid_discount))
        self.log_prior = np.log(weights / weights.sum())
        self.logs, self.work, self.proposal = np.zeros((3, n_grid))
        self.proposal_rows = -1
        self.parameters = {"concentration": concentration, "discount": discount}

    @property
    def is_random_measure(self):
        return self.discount == 0.0 and not np.any(self.grid_discount)

    @property
    def parameters(self):
        return {"concentration": self.concentration, "discount": self.discount}

    @parameters.setter
    def parameters(self, values):
        self.concentration, self.discount = values["concentration"], values["discount"]
        self.offset = -self.discount
        self.new_base, self.new_slope = self.concentration, self.discount

    cdef double log_probability(self, const int32_t* counts, Py_ssize_t n_clusters) noexcept nogil:
        cdef double out = 0.0, n = 0.0, unit = log_gamma(1.0 - self.discount)
        cdef Py_ssize_t k
        for k in range(n_clusters):
            out += log_gamma(counts[k] - self.discount) - unit
            n += counts[k]
            if k:
                out += log_double(self.concentration + k * self.discount)
        if n > 0.0:
            out -= log_gamma(self.concentration + n) - log_gamma(self.concentration + 1.0)
        return out

    cdef void resample(self, const int32_t* counts, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t n_alpha = self.grid_concentration.shape[0], n_discount = self.grid_discount.shape[0], a, b, k
        cdef double n = 0.0, sizes, d
        cdef double* logs
        if n_alpha * n_discount == 0:
            return
        for k in range(n_clusters):
            n += counts[k]
        for b in range(n_discount):
            d = self.grid_discount[b]
            logs = &self.logs[b * n_alpha]
            sizes = -n_clusters * log_gamma(1.0 - d)
            for k in range(n_clusters):
                sizes += log_gamma(counts[k] - d)
            for a in range(n_alpha):
                logs[a] = (self.log_prior[a] + sizes - log_gamma(self.grid_concentration[a] + n)
                           + log_gamma(self.grid_concentration[a] + 1.0))
            for k in range(1, n_clusters):
                add_log_weight(&self.grid_concentration[0], k * d, logs, n_alpha)
        self.set_point(categorical(&self.logs[0], &self.work[0], n_alpha * n_discount, 1.0, bits))

    cdef void draw_parameters(self, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t n_grid = self.grid_concentration.shape[0] * self.grid_discount.shape[0]
        if n_grid:
            self.set_point(categorical(&self.log_prior[0], &self.work[0], n_grid, 1.0, bits))

    cdef void prepare_proposals(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t n_alpha = self.grid_concentration.shape[0], n_grid = self.proposal.shape[0], g
        cdef double total = 0.0
        if self.proposal_rows == n:
            return
        self.proposal_rows = n
        for g in range(n_grid):
            self.proposal[g] = self.log_prior[g] - log_expected_clusters(
                self.grid_concentration[g % n_alpha], self.grid_discount[g // n_alpha], n)
            total += exp_double(self.proposal[g])
        self.proposal_constant = log_double(total) if n_grid else 0.0

    cdef double propose_parameters(self, Py_ssize_t n, bitgen_t* bits) noexcept nogil:
        self.prepare_proposals(n)
        if self.proposal.shape[0]:
            self.set_point(categorical(&self.proposal[0], &self.work[0], self.proposal.shape[0], 1.0, bits))
        return self.proposal_weight(n)

    cdef double proposal_weight(self, Py_ssize_t n) noexcept nogil:
        self.prepare_proposals(n)
        if not self.proposal.shape[0]:
            return 0.0
        return self.proposal_constant + log_expected_clusters(self.concentration, self.discount, n)

    cdef void set_point(self, Py_ssize_t point) noexcept nogil:
        cdef Py_ssize_t n_alpha = self.grid_concentration.shape[0]
        self.concentration = self.grid_concentration[point % n_alpha]
        self.discount = self.grid_discount[point // n_alpha]
        self.offset = -self.discount
        self.new_base, self.new_slope = self.concentration, self.discount

    def fresh(self):
        return PitmanYorPrior(
            self.concentration,
            self.discount,
            np.asarray(self.grid_concentration),
            np.asarray(self.grid_discount),
            np.exp(self.log_prior[: self.grid_concentration.shape[0]]),
        )
