"""Binary trees over rows with sufficient statistics at each node, declared for forests and moves."""
from libc.stdint cimport int32_t

from sklearn_subanneal._core._math cimport softplus
from sklearn_subanneal.columns._base cimport LogQueue
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior


# Log dissimilarities that differ by less are equal: with duplicated rows and with categories they often are, and the
# order of sums must not decide.
cdef extern from *:
    """
    #define SUBANNEAL_TIE 1e-8
    """
    const double TIE "SUBANNEAL_TIE"


cdef class Trees:
    cdef readonly list columns              # statistics with one slot for each node; the last slot stays empty
    cdef void** column
    cdef readonly Py_ssize_t n_columns, capacity, n_leaves
    cdef LogQueue logs
    # h(c) = exp(log_new) Gamma(|c| + offset) / Gamma(1 + offset) p(cells of c)^inverse_temperature
    cdef readonly double log_new, offset, inverse_temperature
    cdef int32_t[::1] left, right, parent   # -1: none
    cdef int32_t[::1] size, first           # rows below, and the smallest of them: that of a leaf
    cdef double[::1] log_h, log_d, log_phi
    cdef int32_t[::1] free                  # nodes that are not in use
    cdef Py_ssize_t n_free
    cdef int32_t[::1] stack
    cdef public Py_ssize_t max_depth        # levels that an insertion goes down at most
    cdef void weigh(self, PartitionPrior prior, Py_ssize_t n_clusters, double inverse_temperature) noexcept nogil
    cdef void reset(self) noexcept nogil
    cdef double log_size(self, double n) noexcept nogil
    cdef Py_ssize_t leaf(self, Py_ssize_t row) noexcept nogil
    cdef double log_union(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil
    cdef double log_distance(self, Py_ssize_t a, Py_ssize_t b, double log_union) noexcept nogil
    cdef void absorb(self, Py_ssize_t node, Py_ssize_t x) noexcept nogil
    cdef void value(self, Py_ssize_t node) noexcept nogil
    cdef void order(self, Py_ssize_t node) noexcept nogil
    cdef Py_ssize_t join(self, Py_ssize_t a, Py_ssize_t b, double log_union) noexcept nogil
    cdef Py_ssize_t attach(self, Py_ssize_t root, Py_ssize_t x) noexcept nogil
    cdef Py_ssize_t insert(self, Py_ssize_t root, Py_ssize_t x) noexcept nogil
    cdef void release(self, Py_ssize_t node) noexcept nogil
    cdef Py_ssize_t sibling(self, Py_ssize_t node) noexcept nogil
    cdef Py_ssize_t internal_nodes(self, Py_ssize_t root) noexcept nogil
    cdef Py_ssize_t leaves(self, Py_ssize_t root, int32_t* out) noexcept nogil
    cdef void rebuild_statistics(self, Py_ssize_t root) noexcept nogil


cdef inline double log_sum(double a, double b) noexcept nogil:
    """log(exp(a) + exp(b))"""
    return (a if a > b else b) + softplus(-(a - b if a > b else b - a))
