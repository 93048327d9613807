"""PartitionPrior, the interface between a mixture and the prior of its partition.

All priors of Gibbs type have the same predictive weights: a cluster of n_k rows has n_k + offset, a new one has
new_base + new_slope * n_clusters (up to one factor). A mixture reads these three numbers; nothing is called per row.
"""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t


cdef class PartitionPrior:
    cdef readonly double offset, new_base, new_slope

    # log probability of a partition with these cluster sizes
    cdef double log_probability(self, const int32_t* counts, Py_ssize_t n_clusters) noexcept nogil
    # Some priors have these weights only given an auxiliary variable: it is drawn here, given a partition of n rows.
    cdef void redraw_auxiliary(self, Py_ssize_t n, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil
    # the prior's own parameters, drawn from their prior
    cdef void draw_parameters(self, bitgen_t* bits) noexcept nogil
    # The same for a partition of n rows that is yet to be made, few clusters preferred; returns the log of prior over
    # proposal probability ...
    cdef double propose_parameters(self, Py_ssize_t n, bitgen_t* bits) noexcept nogil
    # ... which this is for the present parameters.
    cdef double proposal_weight(self, Py_ssize_t n) noexcept nogil
    # the prior's own parameters, and an auxiliary variable, given the partition
    cdef void resample(self, const int32_t* counts, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil


cdef class PitmanYorPrior(PartitionPrior):
    cdef readonly double concentration, discount
    cdef const double[::1] grid_concentration, grid_discount, log_prior
    cdef double[::1] logs, work
    cdef double[::1] proposal               # log probability of each point of the grid for partitions of
    cdef Py_ssize_t proposal_rows           # so many rows, and
    cdef double proposal_constant           # log of prior over proposal probability, but for the clusters expected
    cdef void prepare_proposals(self, Py_ssize_t n) noexcept nogil
    cdef void set_point(self, Py_ssize_t point) noexcept nogil
