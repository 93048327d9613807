"""Densities of rows with missing cells in all clusters of a block of reals."""
from libc.stdint cimport int8_t

from sklearn_subanneal.columns._wishart cimport NormalWishart


cdef class MarginalT:
    cdef Py_ssize_t width, capacity, size
    cdef double[:, ::1] lanes               # (capacity / LANES, size * LANES), see ``take``
    cdef int8_t[::1] stale                  # (capacity,), whether a cluster has changed since it was taken
    cdef double[:, ::1] known               # (width, N_KNOWN) constants, by observed cells and rows; NaN: not known yet
    cdef double kappa, nu                   # for which they are known
    cdef double[::1] constant, log_densities, work
    cdef int reserve(self, Py_ssize_t capacity) except -1
    cdef void take(self, NormalWishart block, Py_ssize_t k) noexcept nogil
    cdef void score(
        self, NormalWishart block, const double* x, const Py_ssize_t* order, Py_ssize_t n_observed, Py_ssize_t n
    ) noexcept nogil
