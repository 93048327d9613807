"""The Gaussian blocks of the views of a cross-categorization."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics
from sklearn_subanneal.columns._reals cimport RealTable, Rows
from sklearn_subanneal.mixtures._mixture cimport Mixture


cdef class ViewBlocks:
    cdef readonly RealTable reals
    cdef readonly list blocks               # of each mixture: GaussianStatistics, or None
    cdef list built                         # members, kappa and nu of each block; None: it is not to be kept
    # Of each mixture: kappa and nu, and whether its block is not that of its present columns.
    cdef readonly double[::1] kappa, nu
    cdef int32_t[::1] stale
    cdef int32_t[::1] home                  # of each joint real: the number of its mixture
    cdef int32_t[::1] joined, group         # room for columns
    # Of each mixture: its joint reals, the sums of these in its clusters, and whether they are of the present state.
    cdef int32_t[:, ::1] members
    cdef int32_t[::1] n_members
    cdef double** sums
    cdef Py_ssize_t* n_sums
    cdef int32_t[::1] known
    cdef Py_ssize_t n_mixtures
    cdef int reserve(self, Py_ssize_t n_mixtures) except -1
    cdef void forget(self, Py_ssize_t number) noexcept nogil
    cdef void draw_prior(self, Py_ssize_t number, bitgen_t* bits) noexcept nogil
    cdef void move(self, Py_ssize_t j, Py_ssize_t number) noexcept nogil
    cdef Py_ssize_t list_members(self, Py_ssize_t number) noexcept nogil
    cdef void take_fillings(self, Py_ssize_t number, GaussianStatistics block) noexcept nogil
    cdef void give_fillings(self, Py_ssize_t number, GaussianStatistics block) noexcept nogil
    cdef int add_up(self, Py_ssize_t number, Rows* of) except -1 nogil
    cdef double log_evidence(self, Py_ssize_t j, Py_ssize_t number, bint alone, Rows* of) except? -1.0 nogil
    cdef double log_evidence_of_group(
        self, const int32_t* group, Py_ssize_t n_group, Py_ssize_t number, bint alone, Rows* of) except? -1.0 nogil
    cdef Py_ssize_t rank(self, Py_ssize_t founder, Py_ssize_t number, Py_ssize_t other) noexcept nogil
    cdef int weigh_splits(self, Py_ssize_t n, Py_ssize_t number, Rows* of, double* out) except -1 nogil
    cdef int fill(self, Py_ssize_t j, Py_ssize_t number, Rows* of, bitgen_t* bits) except -1 nogil
