"""What a mixture may ask of the prior of its partition.

All priors of Gibbs type have the same predictive weights: a cluster of n_k rows has n_k + offset, a new one has
new_base + new_slope * n_clusters (up to one factor). A mixture reads these three numbers; nothing is called per row.
"""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t


cdef class PartitionPrior:
    cdef readonly double offset, new_base, new_slope

    # log probability of a partition with these cluster sizes
    cdef double log_probability(self, const int32_t* counts, Py_ssize_t n_clusters) noexcept nogil
    # the prior's own parameters given the partition
    cdef void resample(self, const int32_t* counts, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil


cdef class PitmanYorPrior(PartitionPrior):
    cdef readonly double concentration, discount
    cdef const double[::1] grid_concentration, grid_discount
    cdef double[::1] logs, work
