"""The two parts of a split-merge proposal, declared for the moves that use them."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._base cimport LogQueue
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel


cdef class Halves(MoveKernel):
    cdef readonly dict twins                # of each column, by identity: statistics of the two parts, in slots 0 and 1
    cdef Mixture mixture
    cdef bint keeps
    cdef void** twin                        # those of the mixture at hand
    cdef LogQueue logs
    cdef const int32_t[::1] assigned        # all rows that are in the mixture, and their number
    cdef Py_ssize_t n_assigned
    cdef Py_ssize_t a, b                    # the rows that found the parts
    cdef int32_t name_a, name_b             # their clusters
    cdef Py_ssize_t n_members
    cdef int32_t[::1] members, side         # the other rows of these clusters, and their parts
    cdef double[2] sizes
    cdef Py_ssize_t collect_members(self, Py_ssize_t a, Py_ssize_t b, bitgen_t* bits) noexcept nogil
    cdef void collect(self, bitgen_t* bits) noexcept nogil
    cdef void start_parts(self) noexcept nogil
    cdef void start_from_clusters(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil
    cdef void add(self, Py_ssize_t row, Py_ssize_t side) noexcept nogil
    cdef void remove(self, Py_ssize_t row, Py_ssize_t side) noexcept nogil
    # Log odds of side 1 against side 0 for a row that is in neither, or, where side is not -1, in that one.
    cdef double log_odds(self, Py_ssize_t row, Py_ssize_t side, double beta) noexcept nogil
    # The side that a row with these log odds takes; the log probability of it is added to log_q.
    cdef Py_ssize_t choose(
        self, Py_ssize_t row, double log_odds, bint forced, double* log_q, bitgen_t* bits) noexcept nogil
    cdef double allocate(self, Py_ssize_t first, bint forced, double beta, bitgen_t* bits) noexcept nogil
    cdef double scan(self, bint forced, double beta, bitgen_t* bits) noexcept nogil
    cdef double log_gain(self, double beta) noexcept nogil
    cdef int split(self) except -1 nogil
    cdef int merge(self) except -1 nogil
