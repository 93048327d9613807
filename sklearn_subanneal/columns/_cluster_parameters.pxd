"""Parameters of the clusters of one column, drawn given the statistics, and the scores of rows given them.

Statistics integrate the parameters of clusters out, and so each row depends on all others. Given parameters the rows
are independent: they may be scored in any order, in many threads and on many machines.
"""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t


cdef class ClusterParameters:
    cdef readonly dict arrays               # of all clusters, as they are sent to where the rows are
    cdef readonly Py_ssize_t n_clusters
    cdef Py_ssize_t stride                  # clusters, padded; coefficients are contiguous over them
    # scores[k] += log p(row | parameters of cluster k) for all k < stride; a term of the row alone may be left out
    cdef void score(self, Py_ssize_t row, float* scores) noexcept nogil
    # The same for n_rows rows, whose scores follow one another
    cdef void score_rows(self, const int32_t* rows, Py_ssize_t n_rows, float* scores) noexcept nogil
    # The missing cells of a row that are part of a chain's state, drawn given its cluster
    cdef void complete(self, Py_ssize_t row, Py_ssize_t k, bitgen_t* bits) noexcept nogil
    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil


# The random bits of a generator
cdef bitgen_t* bits_of(generator) except NULL
