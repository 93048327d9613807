"""Bags of words: sparse counts."""
from libc.stdint cimport int32_t, int64_t

from sklearn_subanneal.columns._base cimport ColumnData, ColumnStatistics


cdef class MultinomialData(ColumnData):
    cdef const int64_t[::1] start           # where each row's words begin, and the last row's end
    cdef const int32_t[::1] word, times
    cdef const int64_t[::1] length          # words of each row, with repetition
    cdef const int32_t[::1] occurrences     # of each word in all rows together
    cdef const double[::1] reference        # subtracted from the scores of a row, see ``score``


# Where no word is frequent, log Gamma is tabulated for all counts; else for as many as there are nonzero counts in the
# data, and for this many at least.
cdef enum:
    TABLE = 65536


# Bags of more words than this are long: their log densities have too many digits for float32.
cdef enum:
    LONG = 16384


# Bags of more words than this are not drawn word by word.
cdef enum:
    MOST_DRAWN = 1048576


cdef class MultinomialStatistics(ColumnStatistics):
    cdef readonly MultinomialData data
    cdef double beta, beta_total
    # What a cluster has of a word: 0 if the word is not in its list, else 1 + its count.
    cdef int32_t[:, ::1] cell               # (n_words, capacity)
    cdef float[:, ::1] log_count            # log(beta + count), contiguous over slots
    # Words that the cluster has, or had: all that is done to a cluster goes through its list, not the vocabulary.
    cdef int32_t[:, ::1] listed             # (capacity, n_words), never touched beyond
    cdef int32_t[::1] n_listed
    cdef double[::1] total                  # words of the cluster, with repetition
    cdef double[::1] log_gamma_total        # log Gamma(beta_total + total)
    cdef double[::1] sums
    cdef double[::1] table                  # log Gamma(beta + count) for the counts below ``n_tabulated``
    cdef readonly Py_ssize_t n_tabulated
    cdef double[::1] grid
    cdef int32_t[::1] histogram             # pairs of cluster and word that have a count below ``n_tabulated``
    cdef double rising(self, Py_ssize_t count) noexcept nogil
    cdef void bump(self, Py_ssize_t word, Py_ssize_t k, int32_t by) noexcept nogil
    cdef void count_total(self, Py_ssize_t k, double by) noexcept nogil
    cdef void change(self, Py_ssize_t row, Py_ssize_t k, int32_t sign) noexcept nogil
    cdef void refresh_all(self) noexcept nogil
    cdef double log_rising_beyond(self, Py_ssize_t n_clusters, double beta) noexcept nogil
    cdef void add_log_densities(
        self, const int32_t* words, const int32_t* times, Py_ssize_t n_words, Py_ssize_t n_clusters, double* out
    ) noexcept nogil
    cdef void draw_bag(self, Py_ssize_t k, Py_ssize_t length, int32_t* drawn, void* bits) noexcept nogil
