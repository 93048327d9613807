"""The contract of columns: the methods of ColumnData and ColumnStatistics that mixtures, trees and views call.

``ColumnData`` owns the cells of one column, or of one block of columns, and is read only.
``ColumnStatistics`` owns the statistics of such data under one partition: sufficient statistics of each cluster, the
cached coefficients that score a row, and the hyperparameters of the column's prior. A column may have statistics
under several partitions at once.

Clusters are *slots* 0, 1, ..., packed. Every slot that holds no cluster is cleared and scores like an empty cluster;
``score`` may therefore be asked for more slots than there are clusters. Slots come in multiples of ``LANES``.
"""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t


cdef struct LogQueue:
    # Logarithms that cached coefficients wait for: target = offset + scale * log(argument). A change to one cluster
    # needs one or two of them in every column; the mixture computes them all at once, in vectors.
    Py_ssize_t n
    float* argument
    float* scale
    float* offset
    float** target


cdef inline void push_log(LogQueue* logs, float argument, float scale, float offset, float* target) noexcept nogil:
    logs.argument[logs.n] = argument
    logs.scale[logs.n] = scale
    logs.offset[logs.n] = offset
    logs.target[logs.n] = target
    logs.n += 1


# Grids of hyperparameters have at most this many values an axis.
cdef enum:
    MAX_GRID = 256


# A column may push this many logarithms in one add or remove.
cdef enum:
    LOGS_PER_CHANGE = 3


# What FusedColumns knows of a column: an independent real, a block of reals, or neither.
cdef enum:
    OTHER = 0
    REAL = 1
    BLOCK = 2


cdef void allocate_logs(LogQueue* logs, Py_ssize_t capacity) noexcept nogil
cdef void flush_logs(LogQueue* logs) noexcept nogil


cdef class ColumnData:
    cdef readonly object array              # the cells as an array, one row of the table after the other
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t width          # number of the table's columns in the block


cdef class ColumnStatistics:
    cdef readonly Py_ssize_t capacity       # number of slots
    cdef readonly Py_ssize_t width
    cdef int family

    # scores[k] += log p(row | cluster k) for k < n, n a multiple of LANES. A term that depends on the row alone may be
    # left out, here and in ``score_without``.
    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil
    # The score of a row in its own cluster, without itself: the returned value, plus the logarithm of the factor
    # (between 1e-20 and 1) by which ``ratio`` is multiplied. Never called for a cluster of one.
    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil
    # Cached coefficients are complete once ``logs`` is flushed.
    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil
    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil
    cdef void move(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil
    cdef void clear(self, Py_ssize_t k) noexcept nogil
    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil
    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil
    # ``move`` from other statistics of the same column, whose hyperparameters must be the same
    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil
    # ``log_marginal`` of two clusters together, and its increase by a row (missing cells that are state count as they
    # are filled now). The last slot must be empty: it may be used for the computation.
    cdef double log_marginal_of_both(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil
    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil
    # The same of the observed cells of a row alone, whether it is assigned or not.
    cdef double log_observed(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil
    # Log marginal likelihood of the cells of rows[i] in slots[i], i < n, under another partition, of at most
    # ``capacity`` clusters; the statistics stay as they are. NaN where missing cells are part of the state.
    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil
    # Rebuild all statistics from rows[i] in slots[i], i < n: sums of floats drift otherwise.
    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil
    # The hyperparameters given the partition, coordinate by coordinate on their grids; the likelihood is raised to
    # ``power``.
    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil
    # out[i, k] += log p(values[i] | cluster k), float64, for rows that are not in the data; values (n_rows, width)
    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil
    # Fill the NaNs of one row by a draw from the posterior predictive of cluster k, given its other cells.
    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil
    # Some columns keep the missing cells of their rows as part of the chain's state: True if there are any ...
    cdef bint stateful(self) noexcept nogil
    # ... and whether this row has such cells,
    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil
    # which are drawn here, given that the row goes to cluster k, before it is added.
    cdef bint complete(self, Py_ssize_t row, Py_ssize_t k, bint enters, bitgen_t* bits) noexcept nogil
    # Slots beyond the present capacity; the only method that needs the GIL.
    cdef int reserve(self, Py_ssize_t capacity) except -1
    cdef void change_row(self, Py_ssize_t row, Py_ssize_t k, bint add) noexcept nogil
