"""A forest consistent with a changing partition, declared for the sampler as printed in the paper."""
from libc.stdint cimport int32_t

from sklearn_subanneal.trees._ibhc cimport IBHC


cdef class RevisedForest(IBHC):
    cdef object parameters
    cdef int32_t[::1] made, old             # nodes that a proposal has made, and those of the tree it takes apart
    cdef int32_t[::1] fresh                 # of each node: whether this proposal has made it
    cdef Py_ssize_t n_made
    cdef void revalue(self, Py_ssize_t root) noexcept nogil
    cdef void weigh_node(self, Py_ssize_t node) noexcept nogil
    cdef Py_ssize_t copy_node(self, Py_ssize_t node) noexcept nogil
    cdef void record(self, Py_ssize_t node) noexcept nogil
    cdef void replace_child(self, Py_ssize_t above, Py_ssize_t old, Py_ssize_t new) noexcept nogil
    cdef Py_ssize_t graft(self, Py_ssize_t root, Py_ssize_t x) noexcept nogil
    cdef void finish(self, bint accepted, Py_ssize_t n_old, int32_t* roots, Py_ssize_t n_roots) noexcept nogil
    cdef void sort_roots(self) noexcept nogil
    cdef Py_ssize_t remove_leaf(self, Py_ssize_t leaf) noexcept nogil
