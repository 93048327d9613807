"""The state of a cross-categorization, declared for its moves: a partition of the columns, a mixture per view."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior


cdef class Views:
    cdef readonly list columns
    cdef readonly dict twins                # of each column, by identity: statistics to try out partitions with
    cdef readonly PartitionPrior prior, row_prior
    cdef readonly Py_ssize_t n_rows, n_columns, n_views
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

    cdef Mixture mixture_at(self, Py_ssize_t place)
    cdef int32_t view_of(self, Py_ssize_t j) noexcept nogil
    cdef double evidence_of(self, Py_ssize_t j, Py_ssize_t number) except? -1.0 nogil
    cdef double log_weight(self, Py_ssize_t n_columns, Py_ssize_t n_views) noexcept nogil
    cdef double allocate(
        self, Py_ssize_t number, const int32_t* members, Py_ssize_t n_members, Py_ssize_t like, bitgen_t* bits
    ) except? -1.0 nogil
    cdef int move(self, Py_ssize_t j, Py_ssize_t number) except -1 nogil
    cdef int open_view(self, Py_ssize_t number) except -1 nogil
    cdef int close_view(self, Py_ssize_t number) except -1 nogil
    cdef void swap_spares(self, Py_ssize_t place, Py_ssize_t other) noexcept nogil
