"""Statistics of bags of words."""
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._bag_data cimport BagOfWordsData
from sklearn_subanneal.columns._word_counts cimport WordCounts

# Where no word is frequent, log Gamma is tabulated for all counts; else for as many as there are nonzero counts in the
# data, and for this many at least.
cdef enum:
    TABLE = 65536


# Bags of more words than this are not drawn word by word.
cdef enum:
    MOST_DRAWN = 1048576


cdef class BagOfWordsStatistics(WordCounts):
    cdef readonly BagOfWordsData data
    cdef double[::1] grid
    cdef int32_t[::1] histogram             # pairs of cluster and word that have a count below ``n_tabulated``
    cdef void change(self, Py_ssize_t row, Py_ssize_t k, int32_t sign) noexcept nogil
    cdef double log_rising_beyond(self, Py_ssize_t n_clusters, double beta) noexcept nogil
    cdef void add_log_densities(
        self, const int32_t* words, const int32_t* times, Py_ssize_t n_words, Py_ssize_t n_clusters, double* out
    ) noexcept nogil
    cdef void draw_bag(self, Py_ssize_t k, Py_ssize_t length, int32_t* drawn, void* bits) noexcept nogil
