"""Split-merge moves: a cluster splits in two, or two merge, as no move of a single row could bring about."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport LANES, exp_double, log_double, log_gamma
from sklearn_subanneal._core._random cimport integer_below, open_uniform, uniform
from sklearn_subanneal.columns._base cimport LOGS_PER_CHANGE, ColumnStatistics, LogQueue, allocate_logs, flush_logs
from sklearn_subanneal.mixtures._mixture cimport Mixture


cdef class SplitMerge:
    """Sequentially allocated merge-split proposals, accepted by Metropolis and Hastings.

    A row is drawn, and a second one: with equal probabilities from its own cluster, or from all others. If they share a
    cluster, it is proposed to split it: each of the two founds a part, and the other rows join one of the parts in
    random order, by their conditional probabilities. If they do not, it is proposed to merge their clusters; the
    probability of the split that would undo this is that of the same allocation, forced. The ratio of both is exact in
    any order of the rows. (Were both rows drawn from all, most proposals would be merges, and hopeless ones.)

    Parameters
    ----------
    columns : list of ColumnStatistics
        Those of the mixtures that proposals will be made for.
    n_rows : int
    twins : dict or None, default=None
        Statistics of each column to try out partitions with, by the identity of the column, with hyperparameters that
        the caller keeps up to date; None: made and kept here.

    References
    ----------
    D. B. Dahl (2005), Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet process
    mixture models, technical report, Texas A&M University.
    """

    cdef readonly dict twins                # of each column, by identity: statistics of the two parts, in slots 0 and 1
    cdef Mixture mixture
    cdef bint keeps
    cdef void** twin                        # those of the mixture at hand
    cdef LogQueue logs
    cdef const int32_t[::1] assigned
    cdef int32_t[::1] members, side

    def __cinit__(self, list columns, Py_ssize_t n_rows, dict twins=None):
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

    def propose(self, Mixture mixture, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        """Make proposals for one mixture; returns how many were accepted.

        ``rows``: all that are assigned, int32; None: found here. The number of proposals must not depend on the
        partition, else the moves would not leave the posterior as it is.
        """
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t n, i, j, n_accepted = 0
        self.mixture = mixture
        self.assigned = mixture.assigned() if rows is None else rows
        n = self.assigned.shape[0]
        for j, column in enumerate(mixture.columns):
            twin = self.twins[id(column)]
            if self.keeps:
                twin.adopt(column)
            self.twin[j] = <void*> twin
        with generator.bit_generator.lock, nogil:
            if n > 1:
                for _ in range(n_proposals):
                    i = self.assigned[integer_below(bits, n)]
                    j = self.partner(i, n, uniform(bits) < 0.5, bits)
                    if j >= 0:
                        n_accepted += self.attempt(i, j, n, inverse_temperature, bits)
        return n_accepted

    cdef Py_ssize_t partner(self, Py_ssize_t row, Py_ssize_t n, bint fellow, bitgen_t* bits) noexcept nogil:
        # A random row of the same cluster, or of the others; -1 if there is none.
        cdef int32_t name = self.mixture.names[row]
        cdef Py_ssize_t size = self.mixture.counts[self.mixture.slot_of[name]], left, i
        left = size - 1 if fellow else n - size
        if left == 0:
            return -1
        left = integer_below(bits, left)
        for i in range(n):
            if self.assigned[i] != row and (self.mixture.names[self.assigned[i]] == name) == fellow:
                if left == 0:
                    return self.assigned[i]
                left -= 1
        return -1

    cdef void join(self, Py_ssize_t row, Py_ssize_t side) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(self.mixture.n_columns):
            (<ColumnStatistics> self.twin[j]).add(row, side, &self.logs)
        flush_logs(&self.logs)

    cdef Py_ssize_t gather(self, Py_ssize_t a, Py_ssize_t b, int32_t name_a, int32_t name_b, Py_ssize_t n,
                           bitgen_t* bits) noexcept nogil:
        # ``members`` = the rows of both clusters but a and b, in random order; returns their number.
        cdef Py_ssize_t i, row, n_members = 0, swap
        for i in range(n):
            row = self.assigned[i]
            if row != a and row != b and (self.mixture.names[row] == name_a or self.mixture.names[row] == name_b):
                self.members[n_members] = <int32_t> row
                n_members += 1
        for i in range(n_members - 1, 0, -1):
            swap = integer_below(bits, i + 1)
            row = self.members[i]
            self.members[i] = self.members[swap]
            self.members[swap] = <int32_t> row
        return n_members

    cdef bint attempt(self, Py_ssize_t a, Py_ssize_t b, Py_ssize_t n, double beta, bitgen_t* bits) except -1 nogil:
        cdef int32_t name_a = self.mixture.names[a], name_b = self.mixture.names[b]
        cdef bint splits = name_a == name_b
        cdef Py_ssize_t i, j, row, side, n_members = self.gather(a, b, name_a, name_b, n, bits)
        cdef float[LANES] scores
        cdef double log_q = 0.0, gain = 0.0, share, offset = self.mixture.prior.offset
        cdef double sizes[2]
        sizes[0] = sizes[1] = 1.0
        for j in range(self.mixture.n_columns):
            (<ColumnStatistics> self.twin[j]).clear(0)
            (<ColumnStatistics> self.twin[j]).clear(1)
        self.join(a, 0)
        self.join(b, 1)
        for i in range(n_members):
            row = self.members[i]
            for j in range(LANES):
                scores[j] = 0.0
            for j in range(self.mixture.n_columns):
                (<ColumnStatistics> self.twin[j]).score(row, scores, LANES)
            # probability of side 0
            share = scores[1] - scores[0] + log_double((sizes[1] + offset) / (sizes[0] + offset))
            share = 1.0 / (1.0 + exp_double(share if share < 700.0 else 700.0))
            side = (uniform(bits) >= share) if splits else (self.mixture.names[row] != name_a)
            share = 1.0 - share if side else share
            # A forced allocation may be all but impossible; the floor only keeps its logarithm finite.
            log_q += log_double(share if share > 1e-300 else 1e-300)
            self.side[i] = <int32_t> side
            sizes[side] += 1.0
            self.join(row, side)
        # log of p(apart) / p(together)
        for j in range(self.mixture.n_columns):
            gain += (<ColumnStatistics> self.twin[j]).log_marginal(0)
            gain += (<ColumnStatistics> self.twin[j]).log_marginal(1)
            (<ColumnStatistics> self.twin[j]).merge(1, 0)
            gain -= (<ColumnStatistics> self.twin[j]).log_marginal(0)
        i = self.mixture.n_clusters if splits else self.mixture.n_clusters - 1
        gain = (beta * gain + log_double(self.mixture.prior.new_base + self.mixture.prior.new_slope * i)
                + log_gamma(sizes[0] + offset) + log_gamma(sizes[1] + offset)
                - log_gamma(sizes[0] + sizes[1] + offset) - log_gamma(1.0 + offset))
        # How the second row was drawn: of the other clusters, to merge, or of the one cluster, to split.
        gain += log_double((sizes[0] + sizes[1] - 1.0) / (n - sizes[0])) - log_q
        if log_double(open_uniform(bits)) >= (gain if splits else -gain):
            return False
        # The second part goes to a new cluster, or the second cluster to the first.
        side = self.mixture.n_clusters
        self.mixture.take(b)
        self.mixture.settle(b, side if splits else self.mixture.slot_of[name_a])
        for i in range(n_members):
            if self.side[i]:
                row = self.members[i]
                self.mixture.take(row)
                self.mixture.settle(row, side if splits else self.mixture.slot_of[name_a])
        return True
