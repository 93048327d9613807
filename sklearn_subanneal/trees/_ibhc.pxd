"""Incremental Bayesian hierarchical clustering, declared for its subclasses: a forest of one tree per cluster."""
from libc.stdint cimport int32_t

from sklearn_subanneal.trees._trees cimport Trees


cdef class IBHC(Trees):
    cdef int32_t[::1] root, queue
    cdef readonly Py_ssize_t n_roots
    cdef readonly Py_ssize_t n_reinserted   # trees that were cut off and inserted anew, in all
    cdef readonly Py_ssize_t n_unsplit      # insertions that were let be, since a row has had too many
    cdef int32_t[::1] node_of               # leaf of each row; -1: not in the forest
    cdef Py_ssize_t nearest(self, Py_ssize_t x) noexcept nogil
    cdef void insert_into(self, Py_ssize_t x, Py_ssize_t which, bint splits, Py_ssize_t* n_queued) noexcept nogil
    cdef void cut(self, Py_ssize_t node, Py_ssize_t child, Py_ssize_t which, Py_ssize_t* n_queued) noexcept nogil
    cdef void insert_row(self, Py_ssize_t row) noexcept nogil
