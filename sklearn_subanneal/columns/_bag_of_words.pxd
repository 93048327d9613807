"""Statistics of bags of words."""
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._bag_data cimport BagOfWordsData
from sklearn_subanneal.columns._word_counts cimport WordCounts

# Values of the grid among which beta is drawn at once.
cdef enum:
    NEIGHBOURS = 3


# Weights of words that are multiplied.
cdef enum:
    FACTORS = 8


# Bags of more words than this are not drawn word by word.
cdef enum:
    MOST_DRAWN = 1048576


cdef class BagOfWordsStatistics(WordCounts):
    cdef readonly BagOfWordsData data
    cdef double[::1] grid
    cdef double[::1] cumulative             # sums of ``base``, for draws
    cdef void change(self, Py_ssize_t row, Py_ssize_t k, int32_t sign) noexcept nogil
    cdef void add_log_densities(
        self, const int32_t* words, const int32_t* times, Py_ssize_t n_words, Py_ssize_t n_clusters, double* out
    ) noexcept nogil
    cdef void draw_bag(self, Py_ssize_t k, Py_ssize_t length, int32_t* drawn, int32_t* new, void* bits) noexcept nogil
    cdef Py_ssize_t word_of_prior(self, double u) noexcept nogil
