"""Launch states of tree-guided split-merge proposals, declared for the moves that use them."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.mixtures._halves cimport Halves
from sklearn_subanneal.trees._trees cimport Trees


cdef class Launch(Halves):
    cdef readonly Trees trees
    cdef readonly Py_ssize_t subset_size    # rows that a tree is made of at most
    cdef bint random_anchors                       # whether the tree of this proposal has two rows, if not all
    cdef readonly bint by_evidence          # how a node is drawn
    cdef int32_t[::1] tree_rows, reached      # rows of the tree as inserted; room for the leaves of a node
    cdef int32_t[::1] part, leaf_of         # of each row of the tree
    cdef double[::1] chance                 # of each node, to be drawn
    cdef Py_ssize_t n_tree_rows, root
    cdef double log_launch                  # log h of the parts of the launch over that of the tree
    cdef Py_ssize_t collect_rows(self, int32_t name_a, int32_t name_b, bitgen_t* bits) noexcept nogil
    cdef Py_ssize_t n_of_some(self, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t n_rows_of_tree(self, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t row_of(self, int32_t name, Py_ssize_t which, Py_ssize_t n) noexcept nogil
    cdef void build_tree(self, double beta) noexcept nogil
    cdef double weigh_nodes(self) noexcept nogil
    cdef Py_ssize_t draw_node(self, bitgen_t* bits) noexcept nogil
    cdef double launch(self, int32_t name_a, int32_t name_b, double beta, bitgen_t* bits) noexcept nogil
    cdef Py_ssize_t separating_node(self) noexcept nogil
    cdef void launch_from(self, Py_ssize_t node, double beta, bitgen_t* bits) noexcept nogil
    cdef double log_new(self, Py_ssize_t n_clusters) noexcept nogil
    cdef double log_sizes(self, double a, double b) noexcept nogil
    cdef double log_similarity(self, Py_ssize_t a, Py_ssize_t b, double beta) noexcept nogil
    cdef bint decide(self, double log_ratio, bint splits, bitgen_t* bits) except -1 nogil
