"""Kernels that assign the rows of one block of a table, each on its own given the parameters of the clusters."""
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, padded
from sklearn_subanneal._core._random cimport open_uniform
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.columns._cluster_parameters cimport ClusterParameters
from sklearn_subanneal.mixtures._choice cimport choose
from sklearn_subanneal.shards._row_stream cimport RowStream, connect, start

from sklearn_subanneal.columns._cluster_parameters import padded_rows

# The log weight of a cluster that can't be chosen: far below every score, and still finite.
cdef float NEVER = -1e30
# Rows that are scored together, column by column: their scores, at most so many, and the coefficients of a column stay
# in the fastest cache, and the cells of a column are read one after the other.
cdef enum:
    TOGETHER = 256
    SCORES = 4096


cdef class RowSweep:
    """Assigns the rows of one block.

    Parameters
    ----------
    columns : list of ClusterParameters
        Of all columns, over the cells of the block.
    log_weights : array of shape (n_clusters,)
        Of the clusters; -inf: closed, neither left nor entered.
    first_row : int
        Number of the first row of the block in the table.
    key, sweep : int
        Of the random streams of the rows.
    """

    cdef list columns
    cdef void** column
    cdef Py_ssize_t n_columns, n_clusters, stride
    cdef float[::1] log_weight, scores
    cdef uint64_t first_row, key
    cdef uint32_t sweep
    cdef int32_t[::1] together
    cdef Py_ssize_t n_together, most_together

    def __cinit__(self, list columns, log_weights, first_row, key, sweep):
        cdef Py_ssize_t j
        self.columns, self.n_columns = columns, len(columns)
        self.column = <void**> malloc(max(self.n_columns, 1) * sizeof(void*))
        if self.column == NULL:
            raise MemoryError()
        for j in range(self.n_columns):
            self.column[j] = <void*> <ClusterParameters?> columns[j]
        self.n_clusters = len(log_weights)
        weights = np.maximum(np.asarray(log_weights, np.float64), NEVER)
        self.log_weight = padded_rows(weights, np.float32)
        self.stride = self.log_weight.shape[0]
        np.asarray(self.log_weight)[self.n_clusters:] = NEVER
        self.most_together = min(max(SCORES // self.stride, 1), TOGETHER)
        self.scores = np.zeros(self.most_together * self.stride, np.float32)
        self.together = np.zeros(self.most_together, np.int32)
        self.first_row, self.key, self.sweep = first_row, key, sweep

    def __dealloc__(self):
        free(self.column)

    cdef void score(self) noexcept nogil:
        """The scores of the rows that are together."""
        cdef Py_ssize_t i, j
        for i in range(self.n_together * self.stride):
            self.scores[i] = 0.0
        for j in range(self.n_columns):
            (<ClusterParameters> self.column[j]).score_rows(&self.together[0], self.n_together, &self.scores[0])

    cdef void complete(self, Py_ssize_t row, Py_ssize_t k, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(self.n_columns):
            if (<ClusterParameters> self.column[j]).incomplete(row):
                (<ClusterParameters> self.column[j]).complete(row, k, bits)

    def assign(self, int32_t[::1] labels, double anchor_share):
        """Draw the label of each row that is in an open cluster and is no anchor, in place; returns how many changed.

        The missing cells that are state of rows in open clusters are drawn as well.
        """
        cdef bitgen_t bits
        cdef RowStream stream
        cdef RowStream[TOGETHER] streams
        cdef Py_ssize_t row = 0, i, n_moved = 0, n_rows = labels.shape[0]
        connect(&bits, &stream, self.key, self.sweep)
        with nogil:
            while row < n_rows:
                self.n_together = 0
                while row < n_rows and self.n_together < self.most_together:
                    if self.log_weight[labels[row]] != NEVER:
                        start(&stream, self.first_row + row)
                        if bits.next_double(bits.state) >= anchor_share:
                            streams[self.n_together] = stream
                            self.together[self.n_together] = <int32_t> row
                            self.n_together += 1
                        else:
                            self.complete(row, labels[row], &bits)
                    row += 1
                self.score()
                for i in range(self.n_together):
                    stream = streams[i]
                    n_moved += self.draw(labels, i, &self.log_weight[0], &bits)
        return n_moved

    def slice(self, int32_t[::1] labels):
        """Draw the label of each row among the clusters whose weight is above its threshold, in place.

        Returns how many changed.
        """
        cdef bitgen_t bits
        cdef RowStream stream
        cdef float threshold
        cdef float[::1] allowed = np.empty(self.stride, np.float32)
        cdef Py_ssize_t first = 0, i, k, n_moved = 0, n_rows = labels.shape[0]
        connect(&bits, &stream, self.key, self.sweep)
        with nogil:
            while first < n_rows:
                self.n_together = min(n_rows - first, self.most_together)
                for i in range(self.n_together):
                    self.together[i] = <int32_t> (first + i)
                self.score()
                for i in range(self.n_together):
                    start(&stream, self.first_row + first + i)
                    threshold = log_threshold(&bits, self.log_weight[labels[first + i]])
                    for k in range(self.stride):
                        allowed[k] = <float> 0.0 if self.log_weight[k] >= threshold else NEVER
                    n_moved += self.draw(labels, i, &allowed[0], &bits)
                first += self.n_together
        return n_moved

    cdef bint draw(self, int32_t[::1] labels, Py_ssize_t i, const float* log_weight, bitgen_t* bits) noexcept nogil:
        """Draw the label of one of the rows that are together, and its missing cells; whether the label changed."""
        cdef float top, total
        cdef Py_ssize_t row = self.together[i]
        cdef Py_ssize_t k = choose(1.0, log_weight, &self.scores[i * self.stride], self.stride,
                                   bits.next_double(bits.state), &top, &total)
        k = min(k, self.n_clusters - 1)
        cdef bint moved = k != labels[row]
        labels[row] = <int32_t> k
        self.complete(row, k, bits)
        return moved

    def divide(self, const int32_t[::1] rows, int32_t[::1] sides, bint drawn):
        """Draw the side, 0 or 1, of each of these rows, or judge the given sides; returns their log probability.

        A side of -2 or -3 is that of an anchor, 0 or 1, which is not drawn, and has no part in the probability.
        """
        cdef bitgen_t bits
        cdef RowStream stream
        cdef double out = 0.0, difference, log_share
        cdef Py_ssize_t first = 0, i, n_rows = rows.shape[0]
        cdef const float* scores
        connect(&bits, &stream, self.key, self.sweep)
        with nogil:
            while first < n_rows:
                self.n_together = min(n_rows - first, self.most_together)
                for i in range(self.n_together):
                    self.together[i] = rows[first + i]
                self.score()
                for i in range(first, first + self.n_together):
                    if sides[i] <= -2:
                        sides[i] = -2 - sides[i]
                        continue
                    scores = &self.scores[(i - first) * self.stride]
                    difference = (scores[1] + self.log_weight[1]) - (scores[0] + self.log_weight[0])
                    if drawn:
                        start(&stream, self.first_row + rows[i])
                        sides[i] = bits.next_double(bits.state) * (1.0 + exp_double(min(-difference, 700.0))) < 1.0
                    # log 1 / (1 + e^-x), x positive for the more probable side
                    log_share = difference if sides[i] else -difference
                    out -= log1p_exp(-log_share)
                first += self.n_together
        return out


cdef inline double log1p_exp(double x) noexcept nogil:
    """log(1 + e^x), x of any size."""
    if x > 40.0:
        return x
    return log_double(1.0 + exp_double(x)) if x > -40.0 else 0.0


cdef inline float log_threshold(bitgen_t* bits, float log_weight) noexcept nogil:
    """The threshold of a row: uniform below the weight of its cluster, which is never below it."""
    return min(log_weight + <float> log_double(open_uniform(bits)), log_weight)


def rows_of_clusters(const int32_t[::1] labels, Py_ssize_t first, Py_ssize_t last):
    """The rows of two clusters, or of one if both are the same, and whether each is in the last one, both int32."""
    cdef Py_ssize_t row, n = 0, n_rows = labels.shape[0]
    cdef int32_t[:, ::1] found = np.empty((2, n_rows), np.int32)
    with nogil:
        for row in range(n_rows):
            found[0, n] = <int32_t> row
            found[1, n] = labels[row] == last
            n += labels[row] == first or labels[row] == last
    return np.array(found[0, :n]), np.array(found[1, :n])


def lowest_threshold(const int32_t[::1] labels, log_weights, first_row, key, sweep):
    """The logarithm of the lowest threshold of the rows of a block, as ``RowSweep.slice`` draws them."""
    cdef bitgen_t bits
    cdef RowStream stream
    cdef const float[::1] log_weight = np.ascontiguousarray(log_weights, np.float32)
    cdef uint64_t first = first_row
    cdef float lowest = 0.0
    cdef Py_ssize_t row
    connect(&bits, &stream, key, sweep)
    with nogil:
        for row in range(labels.shape[0]):
            start(&stream, first + row)
            lowest = min(lowest, log_threshold(&bits, log_weight[labels[row]]))
    return lowest


def probable_groups(list columns, log_weights, const int32_t[::1] groups, Py_ssize_t n_rows):
    """The most probable group of each row, and its probability, with parameters integrated out.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Over the cells of these rows, with the statistics of all clusters.
    log_weights : ndarray of shape (n_clusters,)
    groups : ndarray of int32, shape (n_clusters,)
        Group of each cluster; -1: none.
    n_rows : int

    Returns
    -------
    labels : ndarray of int32, shape (n_rows,)
    probabilities : ndarray of shape (n_rows,)
    """
    cdef Py_ssize_t n_clusters = len(log_weights), row, k, best, n_groups = max(int(np.max(groups)) + 1, 1)
    cdef double[::1] log_weight = np.ascontiguousarray(log_weights, np.float64)
    cdef float[::1] scores = np.zeros(padded(n_clusters), np.float32)
    cdef double[::1] total = np.zeros(n_groups), probability = np.zeros(n_rows)
    cdef int32_t[::1] labels = np.zeros(n_rows, np.int32)
    cdef double top, whole
    cdef ColumnStatistics column
    for row in range(n_rows):
        scores[:] = 0.0
        for column in columns:
            column.score(row, &scores[0], padded(n_clusters))
        top = NEVER
        for k in range(n_clusters):
            if groups[k] >= 0:
                top = max(top, scores[k] + log_weight[k])
        total[:] = 0.0
        whole = 0.0
        for k in range(n_clusters):
            if groups[k] >= 0:
                total[groups[k]] += exp_double(scores[k] + log_weight[k] - top)
                whole += exp_double(scores[k] + log_weight[k] - top)
        best = 0
        for k in range(1, n_groups):
            if total[k] > total[best]:
                best = k
        labels[row] = <int32_t> best
        probability[row] = total[best] / whole
    return np.asarray(labels), np.asarray(probability)


def first_uniforms(Py_ssize_t n_rows, first_row, key, sweep):
    """A number in [0, 1) for each row of a block, the first that it draws: below the share of anchors, it is one."""
    cdef bitgen_t bits
    cdef RowStream stream
    cdef uint64_t first = first_row
    cdef Py_ssize_t row
    cdef double[::1] out = np.empty(n_rows)
    connect(&bits, &stream, key, sweep)
    with nogil:
        for row in range(n_rows):
            start(&stream, first + row)
            out[row] = bits.next_double(bits.state)
    return np.asarray(out)
