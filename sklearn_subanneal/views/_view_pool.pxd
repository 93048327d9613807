"""The mixtures of views, and spare ones that may become views, declared for the moves of columns."""
from libc.stdint cimport int32_t

from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior
from sklearn_subanneal.views._view_blocks cimport ViewBlocks


cdef class ViewPool:
    cdef readonly list columns
    cdef readonly dict twins                # of each column, by identity: statistics to try out partitions with
    cdef readonly PartitionPrior prior, row_prior
    cdef readonly Py_ssize_t n_rows, n_columns, n_views
    # Partitions of more clusters are not proposed for new views.
    cdef public Py_ssize_t most_clusters
    cdef void** column                      # columns and twins, without reference counts
    cdef void** twin
    # Mixtures have a number that stays. ``order`` lists those of the views, then those of spare ones, which are
    # candidates for new views.
    cdef list pool
    cdef void** mixture
    cdef int32_t** slots                    # of each mixture: the slot of rows[i]
    cdef list slot_arrays
    cdef int32_t[::1] order, position
    cdef int32_t[::1] home                  # of each column: the number of its mixture
    cdef int32_t[::1] sizes                 # of each view, in order: its columns
    # Rows do not move while columns move: the subsample, in random order, and the log marginal likelihood of each
    # column under each partition (NaN: not computed yet).
    cdef int32_t[::1] rows
    cdef readonly Py_ssize_t n_assigned
    cdef double[:, ::1] evidence
    cdef float beta
    # room for one decision between views, and for a group of columns
    cdef double[::1] logs, work
    cdef int32_t[::1] group
    # The blocks of joint reals, or None; of each column, its place among these, or -1.
    cdef readonly ViewBlocks blocks
    cdef int32_t[::1] real_of

    cdef Mixture mixture_at(self, Py_ssize_t place)
    cdef int32_t view_of(self, Py_ssize_t j) noexcept nogil
    cdef int open_view(self, Py_ssize_t number) except -1 nogil
    cdef int close_view(self, Py_ssize_t number) except -1 nogil
    cdef void swap_spares(self, Py_ssize_t place, Py_ssize_t other) noexcept nogil
