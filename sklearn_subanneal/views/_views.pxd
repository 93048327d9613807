"""The state of a cross-categorization, declared for its moves: a partition of the columns, a mixture per view."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._reals cimport Rows
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior
from sklearn_subanneal.views._view_blocks cimport ViewBlocks


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
    # The blocks of joint reals, or None; of each column, its place among these, or -1.
    cdef readonly ViewBlocks blocks
    cdef int32_t[::1] real_of

    cdef Mixture mixture_at(self, Py_ssize_t place)
    cdef int32_t view_of(self, Py_ssize_t j) noexcept nogil
    cdef double evidence_of(self, Py_ssize_t j, Py_ssize_t number) except? -1.0 nogil
    cdef double log_weight(self, Py_ssize_t n_columns, Py_ssize_t n_views) noexcept nogil
    cdef Rows rows_in(self, Py_ssize_t number) noexcept nogil
    cdef double evidence_alone(self, Py_ssize_t j, Py_ssize_t number) except? -1.0 nogil
    cdef double evidence_of_group(self, Py_ssize_t n_group, Py_ssize_t number) except? -1.0 nogil
    cdef Py_ssize_t find_reals(self, const int32_t* members, Py_ssize_t n_members) noexcept nogil
    cdef int settle(self, Py_ssize_t j, bitgen_t* bits) except -1 nogil
    cdef double allocate(
        self, Py_ssize_t number, const int32_t* members, Py_ssize_t n_members, Py_ssize_t like, bitgen_t* bits
    ) except? -1.0 nogil
    cdef double allocate_group(
        self, Py_ssize_t number, const int32_t* members, Py_ssize_t n_members, Py_ssize_t like, Py_ssize_t prior_of,
        bitgen_t* bits
    ) except? -1.0 nogil
    cdef int take_prior_of_block(self, Py_ssize_t number, Py_ssize_t prior_of, bitgen_t* bits) except -1 nogil
    cdef double allocate_in(
        self, Py_ssize_t number, Py_ssize_t n_members, Py_ssize_t like, bitgen_t* bits
    ) except? -1.0 nogil
    cdef double log_share(self, Py_ssize_t j, double difference) noexcept nogil
    cdef int move(self, Py_ssize_t j, Py_ssize_t number) except -1 nogil
    cdef int open_view(self, Py_ssize_t number) except -1 nogil
    cdef int close_view(self, Py_ssize_t number) except -1 nogil
    cdef void swap_spares(self, Py_ssize_t place, Py_ssize_t other) noexcept nogil
