"""Halves, the base class of split-merge moves: the two parts of a proposal, the allocation of rows to them."""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport LANES, exp_double, log_double, log_gamma, softplus
from sklearn_subanneal._core._random cimport integer_below, uniform
from sklearn_subanneal.columns._base cimport LOGS_PER_CHANGE, ColumnStatistics, allocate_logs, flush_logs
from sklearn_subanneal.columns._fused_columns cimport score_each
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel


cdef class Halves(MoveKernel):
    """Two anchor rows start one part each; the other rows of their clusters, the members, join one of the parts.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Columns of the mixtures for which proposals are made.
    n_rows : int
    twins : dict or None, default=None
        Statistics of each column to try out partitions with, by the identity of the column, with hyperparameters that
        the caller keeps up to date; None: made and kept here.
    """

    def __cinit__(self, list columns, Py_ssize_t n_rows, dict twins=None, *args, **kwargs):
        self.keeps = twins is None
        self.twins = {id(column): column.twin() for column in columns} if twins is None else twins
        self.twin = <void**> malloc(max(len(columns), 1) * sizeof(void*))
        allocate_logs(&self.logs, LOGS_PER_CHANGE * len(columns))
        if self.twin == NULL or self.logs.argument == NULL or self.logs.target == NULL:
            raise MemoryError()
        self.members, self.side = np.zeros((2, max(n_rows, 1)), np.int32)

    def __dealloc__(self):
        free(self.twin)
        free(self.logs.argument)
        free(self.logs.target)

    def begin(self, Mixture mixture, rows=None):
        """Use the present state of this mixture for the next proposals; ``rows``: its assigned rows, or None."""
        self.mixture = mixture
        self.assigned = mixture.assigned() if rows is None else rows
        self.n_assigned = self.assigned.shape[0]
        for j, column in enumerate(mixture.columns):
            twin = self.twins[id(column)]
            if self.keeps:
                twin.adopt(column)
            self.twin[j] = <void*> twin

    cdef Py_ssize_t collect_members(self, Py_ssize_t a, Py_ssize_t b, bitgen_t* bits) noexcept nogil:
        # ``members`` = the rows of both clusters but a and b, in random order; returns their number.
        self.a, self.b = a, b
        self.name_a, self.name_b = self.mixture.names[a], self.mixture.names[b]
        self.collect(bits)
        return self.n_members

    cdef void collect(self, bitgen_t* bits) noexcept nogil:
        # The same, once rows and clusters are set.
        cdef Py_ssize_t i, row, swap
        self.n_members = 0
        for i in range(self.n_assigned):
            row = self.assigned[i]
            if row != self.a and row != self.b and (
                self.mixture.names[row] == self.name_a or self.mixture.names[row] == self.name_b
            ):
                self.members[self.n_members] = <int32_t> row
                self.n_members += 1
        for i in range(self.n_members - 1, 0, -1):
            swap = integer_below(bits, i + 1)
            row = self.members[i]
            self.members[i] = self.members[swap]
            self.members[swap] = <int32_t> row

    cdef void start_parts(self) noexcept nogil:
        # The two rows alone.
        cdef Py_ssize_t j
        self.sizes[0] = self.sizes[1] = 0.0
        for j in range(self.mixture.n_columns):
            (<ColumnStatistics> self.twin[j]).clear(0)
            (<ColumnStatistics> self.twin[j]).clear(1)
        self.add(self.a, 0)
        self.add(self.b, 1)

    cdef void start_from_clusters(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        # The whole clusters of the two rows.
        cdef Py_ssize_t j, side, k
        self.name_a, self.name_b = self.mixture.names[a], self.mixture.names[b]
        for side in range(2):
            k = self.mixture.slot_of[self.name_b if side else self.name_a]
            self.sizes[side] = self.mixture.counts[k]
            for j in range(self.mixture.n_columns):
                (<ColumnStatistics> self.twin[j]).copy(<ColumnStatistics> self.mixture.column[j], k, side)

    cdef void add(self, Py_ssize_t row, Py_ssize_t side) noexcept nogil:
        cdef Py_ssize_t j
        self.sizes[side] += 1.0
        for j in range(self.mixture.n_columns):
            (<ColumnStatistics> self.twin[j]).add(row, side, &self.logs)
        flush_logs(&self.logs)

    cdef void remove(self, Py_ssize_t row, Py_ssize_t side) noexcept nogil:
        cdef Py_ssize_t j
        self.sizes[side] -= 1.0
        for j in range(self.mixture.n_columns):
            (<ColumnStatistics> self.twin[j]).remove(row, side, &self.logs)
        flush_logs(&self.logs)

    cdef double log_odds(self, Py_ssize_t row, Py_ssize_t side, double beta) noexcept nogil:
        cdef float[LANES] scores, part
        cdef double sizes[2]
        cdef double ratio = 1.0, offset = self.mixture.prior.offset
        cdef Py_ssize_t j
        for j in range(LANES):
            scores[j] = 0.0
        score_each(self.twin, self.mixture.n_columns, row, scores, part, LANES)
        sizes[0], sizes[1] = self.sizes[0], self.sizes[1]
        if side >= 0:
            sizes[side] -= 1.0
            scores[side] = 0.0
            for j in range(self.mixture.n_columns):
                scores[side] += (<ColumnStatistics> self.twin[j]).score_without(row, side, &ratio)
                if ratio < 1e-250:
                    scores[side] += <float> log_double(ratio)
                    ratio = 1.0
            scores[side] += <float> log_double(ratio)
        return beta * (scores[1] - scores[0]) + log_double((sizes[1] + offset) / (sizes[0] + offset))

    cdef Py_ssize_t choose(
        self, Py_ssize_t row, double log_odds, bint forced, double* log_q, bitgen_t* bits
    ) noexcept nogil:
        cdef double share = 1.0 / (1.0 + exp_double(log_odds if log_odds < 700.0 else 700.0))
        cdef Py_ssize_t side = (self.mixture.names[row] != self.name_a) if forced else (uniform(bits) >= share)
        # Not the logarithm of the share: a forced allocation may be all but impossible.
        log_q[0] -= softplus(-log_odds if side else log_odds)
        return side

    cdef double allocate(self, Py_ssize_t first, bint forced, double beta, bitgen_t* bits) noexcept nogil:
        # The members from ``first`` on join one after the other, each by its conditional; returns the log probability.
        # ``forced``: each joins the side of its present cluster.
        cdef Py_ssize_t i, side
        cdef double log_q = 0.0
        for i in range(first, self.n_members):
            side = self.choose(self.members[i], self.log_odds(self.members[i], -1, beta), forced, &log_q, bits)
            self.side[i] = <int32_t> side
            self.add(self.members[i], side)
        return log_q

    cdef double scan(self, bint forced, double beta, bitgen_t* bits) noexcept nogil:
        # A scan of Gibbs sampling over the members, restricted to the two sides; returns the log probability.
        cdef Py_ssize_t i, row, old, side
        cdef double log_q = 0.0
        for i in range(self.n_members):
            row, old = self.members[i], self.side[i]
            if self.mixture.incomplete(row):
                self.remove(row, old)
                old = -1
            side = self.choose(row, self.log_odds(row, old, beta), forced, &log_q, bits)
            if side != old:
                if old >= 0:
                    self.remove(row, old)
                self.side[i] = <int32_t> side
                self.add(row, side)
        return log_q

    cdef double log_gain(self, double beta) noexcept nogil:
        # log of p(apart) / p(together), the likelihood to the power beta; afterwards side 0 holds both.
        cdef Py_ssize_t j, n_clusters = self.mixture.n_clusters
        cdef double gain = 0.0, offset = self.mixture.prior.offset
        for j in range(self.mixture.n_columns):
            gain += (<ColumnStatistics> self.twin[j]).log_marginal(0)
            gain += (<ColumnStatistics> self.twin[j]).log_marginal(1)
            (<ColumnStatistics> self.twin[j]).merge(1, 0)
            gain -= (<ColumnStatistics> self.twin[j]).log_marginal(0)
        if self.name_a != self.name_b:
            n_clusters -= 1
        return (beta * gain + log_double(self.mixture.prior.new_base + self.mixture.prior.new_slope * n_clusters)
                + log_gamma(self.sizes[0] + offset) + log_gamma(self.sizes[1] + offset)
                - log_gamma(self.sizes[0] + self.sizes[1] + offset) - log_gamma(1.0 + offset))

    cdef int split(self) except -1 nogil:
        # The second part becomes a new cluster.
        cdef Py_ssize_t i, new = self.mixture.n_clusters
        self.mixture.remove(self.b)
        self.mixture.assign_as_filled(self.b, new)
        for i in range(self.n_members):
            if self.side[i]:
                self.mixture.remove(self.members[i])
                self.mixture.assign_as_filled(self.members[i], new)
        return 0

    cdef int merge(self) except -1 nogil:
        # The second cluster joins the first, which may move to another slot when that one is gone.
        cdef Py_ssize_t i
        self.mixture.remove(self.b)
        self.mixture.assign_as_filled(self.b, self.mixture.slot_of[self.name_a])
        for i in range(self.n_members):
            if self.side[i]:
                self.mixture.remove(self.members[i])
                self.mixture.assign_as_filled(self.members[i], self.mixture.slot_of[self.name_a])
        return 0
