"""The words of every cluster."""
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._base cimport ColumnStatistics


cdef class WordCounts(ColumnStatistics):
    cdef double beta, beta_total
    cdef double repetition                  # finite: only the first occurrence of a word in a bag is the cluster's
    cdef const double[::1] base             # relative weight of each word in the prior; the mean is 1
    cdef double[::1] weight                 # beta * base
    cdef double[::1] empty                  # log Gamma(weight)
    cdef float[::1] fresh                   # log(weight)
    # 0 if the word is not in the cluster's list, else 1 + its count in the cluster
    cdef int32_t[:, ::1] cell               # (n_words, capacity)
    cdef float[:, ::1] log_count            # log(weight + count), contiguous over slots
    # Words that the cluster has, or had
    cdef int32_t[:, ::1] listed             # (capacity, n_words), never touched beyond ``n_listed``
    cdef int32_t[::1] n_listed
    cdef double[::1] total                  # words of the cluster, with repetition
    cdef double[::1] log_gamma_total        # log Gamma(beta_total + total)
    cdef double[::1] sums                   # room for a number of each slot
    cdef double[:, ::1] pairs               # room for a number and its logarithm for each word
    cdef double rising(self, Py_ssize_t word, Py_ssize_t count) noexcept nogil
    cdef double sum_rising(self, Py_ssize_t k, double factor) noexcept nogil
    cdef void bump(self, Py_ssize_t word, Py_ssize_t k, int32_t by) noexcept nogil
    cdef void count_total(self, Py_ssize_t k, double by) noexcept nogil
    cdef void refresh_all(self) noexcept nogil
