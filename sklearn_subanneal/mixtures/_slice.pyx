"""SliceKernel, slice sampling: masses of clusters and of empty atoms are drawn, and rows are assigned to atoms."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from libc.string cimport memmove
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, log_float, log_gamma
from sklearn_subanneal._core._random cimport integer_below, log_standard_gamma, open_uniform, uniform
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel

cdef float NEVER = -1e30


cdef class SliceKernel(MoveKernel):
    """Sweeps over the rows given the masses of the atoms of the random measure.

    A cluster of n rows has mass Gamma(n + offset), and empty atoms are a Poisson process of intensity new_base /
    Gamma(1 + offset) w^(offset - 1) e^-w: this is the normalized random measure given u, in units of 1 / (1 + u). Each
    row draws a threshold below the mass of its cluster, and moves to a cluster or an empty atom above it, with
    probability proportional to the likelihood. An empty atom has only a mass: the parameters of clusters remain
    integrated out, so the sampler suits every column, and mixes better than with sampled parameters.

    Atoms below all thresholds can't be chosen. The number of others grows as the lowest threshold to the power
    ``offset``, without bound, so that there is a limit, beyond which the smallest atoms are left out.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Not used.
    n_rows : int
    max_atoms : int, default=1000000
        Bound for the number of empty atoms.

    References
    ----------
    J. E. Griffin, S. G. Walker (2011), Posterior simulation of normalized random measure mixtures, Journal of
    Computational and Graphical Statistics 20, 241-259. doi:10.1198/jcgs.2010.08176

    S. Favaro, Y. W. Teh (2013), MCMC for normalized random measure mixture models, Statistical Science 28, 335-359.
    doi:10.1214/13-STS422
    """

    cdef readonly Py_ssize_t max_atoms
    cdef double[::1] mass                   # of each cluster, by its name
    cdef double[::1] threshold              # of each row
    cdef double[::1] atoms                  # masses of the empty ones, ascending
    cdef Py_ssize_t n_atoms

    def __cinit__(self, list columns, Py_ssize_t n_rows, Py_ssize_t max_atoms=1_000_000):
        self.max_atoms = max_atoms
        self.threshold = np.zeros(max(n_rows, 1))
        self.atoms, self.mass = np.zeros(1024), np.zeros(0)

    def sweep(self, Mixture mixture, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef const int32_t[::1] assigned = mixture.assigned() if rows is None else rows
        cdef Py_ssize_t i, n_moved = 0
        if not assigned.shape[0]:
            return 0
        self.make_room(mixture)
        with generator.bit_generator.lock, nogil:
            self.draw_atoms(mixture, self.draw_thresholds(mixture, assigned, bits), bits)
            for i in range(assigned.shape[0]):
                n_moved += self.move_row(mixture, assigned[i], inverse_temperature, bits)
        mixture.reweigh()
        return n_moved

    cdef int make_room(self, Mixture mixture) except -1:
        mass = np.zeros(max(mixture.capacity, self.mass.shape[0]))
        mass[:self.mass.shape[0]] = self.mass
        self.mass = mass
        return 0

    cdef double draw_thresholds(self, Mixture mixture, const int32_t[::1] rows, bitgen_t* bits) noexcept nogil:
        # Masses of the clusters, thresholds of the rows; returns the lowest of these.
        cdef Py_ssize_t k, i
        cdef double lowest = 1e300
        for k in range(mixture.n_clusters):
            self.mass[mixture.name_of[k]] = exp_double(
                log_standard_gamma(mixture.counts[k] + mixture.prior.offset, bits))
        for i in range(rows.shape[0]):
            self.threshold[rows[i]] = uniform(bits) * self.mass[mixture.names[rows[i]]]
            lowest = min(lowest, self.threshold[rows[i]])
        return lowest

    cdef int draw_atoms(self, Mixture mixture, double lowest, bitgen_t* bits) except -1 nogil:
        # Atoms of the Poisson process above ``lowest``, in ascending order: beyond t the process is dominated by one
        # with exponential intensity, which is thinned.
        cdef double sigma = -mixture.prior.offset, t, following, gap, left
        cdef double rate = mixture.prior.new_base * exp_double(-log_gamma(1.0 - sigma))
        t = least_threshold(rate, sigma, 0.5 * self.max_atoms)
        self.n_overflows += lowest < t
        t = max(t, lowest)
        self.n_atoms = 0
        while True:
            left = rate * exp_double(-(1.0 + sigma) * log_double(t) - t)
            gap = -log_double(open_uniform(bits)) / left
            if gap >= 1.0:
                return 0
            following = t - log_double(1.0 - gap)
            if uniform(bits) < exp_double((1.0 + sigma) * log_double(t / following)):
                self.insert(following)
            t = following

    cdef int insert(self, double mass) except -1 nogil:
        cdef Py_ssize_t at = self.first_above(mass)
        if self.n_atoms == self.atoms.shape[0]:
            with gil:
                self.atoms = np.append(self.atoms, np.zeros(self.n_atoms))
        memmove(&self.atoms[0] + at + 1, &self.atoms[0] + at, (self.n_atoms - at) * sizeof(double))
        self.atoms[at] = mass
        self.n_atoms += 1
        return 0

    cdef Py_ssize_t first_above(self, double threshold) noexcept nogil:
        cdef Py_ssize_t low = 0, high = self.n_atoms, middle
        # Mostly atoms come in ascending order.
        if high and self.atoms[high - 1] < threshold:
            return high
        while low < high:
            middle = (low + high) // 2
            if self.atoms[middle] < threshold:
                low = middle + 1
            else:
                high = middle
        return low

    cdef Py_ssize_t move_row(self, Mixture mixture, Py_ssize_t row, float beta, bitgen_t* bits) except -1 nogil:
        cdef int32_t name = mixture.names[row]
        cdef Py_ssize_t old = mixture.slot_of[name], back = -1, k, new, first
        cdef double threshold = self.threshold[row]
        cdef float top, total
        cdef bint alone = mixture.counts[old] == 1
        if alone or mixture.incomplete(row):
            mixture.remove(row)
            old, back = -1, mixture.n_clusters if alone else mixture.slot_of[name]
            if alone:
                self.insert(self.mass[name])
        mixture.score(row)
        if old >= 0:
            mixture.score_own(row, old)
        for k in range(mixture.n_clusters):
            mixture.log_weight[k] = 0.0 if self.mass[mixture.name_of[k]] >= threshold else NEVER
        first = self.first_above(threshold)
        mixture.log_weight[mixture.n_clusters] = (
            log_float(<float> (self.n_atoms - first)) if first < self.n_atoms else NEVER)
        new = mixture.draw_slot(beta, bits, &top, &total)
        if new == old:
            return 0
        if new == mixture.n_clusters:
            # One of the empty atoms, whichever it is.
            first += integer_below(bits, self.n_atoms - first)
        if not mixture.complete(row, new, False, bits):
            # A missing cell is beyond its limits: the row goes back; if it was alone, its cluster has its atom again.
            new, first = back, self.first_above(self.mass[name]) if alone else first
        if new == mixture.n_clusters:
            if mixture.capacity > self.mass.shape[0]:
                with gil:
                    self.make_room(mixture)
            self.mass[mixture.name_of[new]] = self.atoms[first]
            self.n_atoms -= 1
            memmove(&self.atoms[0] + first, &self.atoms[0] + first + 1, (self.n_atoms - first) * sizeof(double))
        if old >= 0:
            mixture.remove(row)
        mixture.assign_as_filled(row, new)
        return 1


cdef double least_threshold(double rate, double sigma, double n_atoms) noexcept nogil:
    """The threshold above which there are about ``n_atoms`` atoms at most, by the integral without e^-w below 1."""
    if rate > n_atoms:
        # Above t >= 1 there are at most rate e^-t.
        return max(1.0, log_double(rate / n_atoms))
    cdef double ratio = max(n_atoms / rate - 1.0, 0.0)
    if sigma < 1e-9:
        return exp_double(-ratio)
    return exp_double(-log_double(1.0 + sigma * ratio) / sigma)
