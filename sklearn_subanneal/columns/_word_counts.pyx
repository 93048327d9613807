"""WordCounts, the base class of `_bag_of_words`: word counts of every cluster, their logarithms, copies and merges.

Nothing that is done to a cluster goes through the vocabulary: each cluster lists the words that it has.
"""
from libc.stdint cimport int32_t

import numpy as np
from scipy import sparse

from sklearn_subanneal._core._math cimport log_float, log_gamma, simd_void
from sklearn_subanneal.columns._base cimport ColumnStatistics

from sklearn_subanneal.columns._base import check_state
from sklearn_subanneal.tables.documents import MOST_OF_A_WORD, MOST_WORDS, REMEDY


def can_count(word, times):
    """Whether one cluster can count all of these occurrences of words: others may be merged into it."""
    occurrences = np.bincount(word, times, minlength=1)
    return bool(occurrences.max() <= MOST_OF_A_WORD and occurrences.sum() <= MOST_WORDS)


cdef simd_void take_rising(double* weights, double* counts, double factor, Py_ssize_t n) noexcept nogil:
    # counts[i] becomes log Gamma(factor * weight + count) - log Gamma(factor * weight).
    cdef Py_ssize_t i
    cdef double weight
    for i in range(n):
        weight = factor * weights[i]
        counts[i] = log_gamma(weight + counts[i]) - log_gamma(weight)


cdef class WordCounts(ColumnStatistics):
    """Counts of the words of every cluster, and the prior's weight of each word.

    A subclass calls ``take_vocabulary`` before ``reserve``.
    """

    def take_vocabulary(self, parameters):
        """The number of words, their relative weights, and what repeats them."""
        self.width = parameters["n_words"]
        self.base = np.ascontiguousarray(parameters.get("base", np.ones(self.width)), np.float64)
        check_state(self.base.shape[0] == self.width)
        self.repetition = parameters.get("repetition", np.inf)
        self.weight, self.empty = np.zeros((2, self.width))
        self.fresh = np.zeros(self.width, np.float32)
        self.pairs = np.zeros((2, self.width))

    @property
    def parameters(self):
        return {"beta": self.beta, "n_words": self.width, "base": self.base.base, "repetition": self.repetition}

    @parameters.setter
    def parameters(self, values):
        self.beta = values["beta"]
        self.refresh_all()

    cdef void refresh_all(self) noexcept nogil:
        cdef Py_ssize_t k, i, v
        self.beta_total = self.beta * self.width
        for v in range(self.width):
            self.weight[v] = self.beta * self.base[v]
            self.empty[v] = log_gamma(self.weight[v])
            self.fresh[v] = log_float(<float> self.weight[v])
            for k in range(self.capacity):
                self.log_count[v, k] = self.fresh[v]
        for k in range(self.capacity):
            self.count_total(k, 0)
            for i in range(self.n_listed[k]):
                self.bump(self.listed[k, i], k, 0)

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t present = self.capacity
        cell, logs = np.zeros((self.width, capacity), np.int32), np.zeros((self.width, capacity), np.float32)
        listed, n_listed = np.empty((capacity, self.width), np.int32), np.zeros(capacity, np.int32)
        total = np.zeros(capacity)
        if present:
            cell[:, :present] = self.cell
            logs[:] = np.asarray(self.fresh)[:, None]
            logs[:, :present] = self.log_count
            total[:present] = self.total
            n_listed[:present] = self.n_listed
            for k in range(present):
                listed[k, :n_listed[k]] = self.listed[k, :n_listed[k]]
        self.cell, self.log_count, self.listed, self.n_listed, self.total = cell, logs, listed, n_listed, total
        self.log_gamma_total, self.sums = np.zeros((2, capacity))
        self.capacity = capacity
        if present:
            for k in range(capacity):
                self.count_total(k, 0)
        return 0

    cdef double rising(self, Py_ssize_t word, Py_ssize_t count) noexcept nogil:
        # log Gamma(weight + count)
        return log_gamma(self.weight[word] + count) if count else self.empty[word]

    cdef double sum_rising(self, Py_ssize_t k, double factor) noexcept nogil:
        # The sum of log Gamma(w + count) - log Gamma(w) over the words of a cluster, where w = factor * weight.
        cdef Py_ssize_t i, n = self.n_listed[k]
        cdef double out = 0.0
        for i in range(n):
            self.pairs[0, i] = self.weight[self.listed[k, i]]
            self.pairs[1, i] = self.cell[self.listed[k, i], k] - 1
        take_rising(&self.pairs[0, 0], &self.pairs[1, 0], factor, n)
        for i in range(n):
            out += self.pairs[1, i]
        return out

    cdef void bump(self, Py_ssize_t word, Py_ssize_t k, int32_t by) noexcept nogil:
        if self.cell[word, k] == 0:
            self.listed[k, self.n_listed[k]] = <int32_t> word
            self.n_listed[k] += 1
            self.cell[word, k] = 1
        self.cell[word, k] += by
        self.log_count[word, k] = log_float(<float> (self.weight[word] + (self.cell[word, k] - 1)))

    cdef void count_total(self, Py_ssize_t k, double by) noexcept nogil:
        self.total[k] += by
        self.log_gamma_total[k] = log_gamma(self.beta_total + self.total[k])

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        if other is self and source == target:
            return
        self.clear(target)
        add_cluster(self, <WordCounts> other, source, target)

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, v
        for i in range(self.n_listed[k]):
            v = self.listed[k, i]
            self.cell[v, k] = 0
            self.log_count[v, k] = self.fresh[v]
        self.n_listed[k] = 0
        self.total[k] = 0
        self.count_total(k, 0)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        add_cluster(self, self, source, target)

    def adopt(self, WordCounts source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        if self.beta != source.beta:
            self.parameters = source.parameters

    def get_state(self, Py_ssize_t n_clusters):
        """Arrays from which ``set_state`` restores the first slots and the hyperparameters.

        Raises
        ------
        ValueError
            If there are more words than can be counted, in documents that came in batches, each of which had fewer.
        """
        counts = sparse.csr_array(np.maximum(np.asarray(self.cell)[:, :n_clusters].T - 1, 0))
        total = np.asarray(self.total)[:n_clusters]
        # Where the count of a word has overflowed, the words of its cluster are not as many as its counts say.
        is_lost = bool(np.any(counts.sum(axis=1, dtype=np.float64) != total))
        if is_lost or not can_count(counts.indices, counts.data):
            raise ValueError(
                f"X and the rows before it hold a word that occurs more than {MOST_OF_A_WORD} times, or more than "
                f"{MOST_WORDS} words: {REMEDY}."
            )
        return {"start": counts.indptr, "word": counts.indices, "times": counts.data, "parameters": self.parameters}

    def set_state(self, state):
        """Restore the arrays of ``get_state``; all other slots are empty."""
        cdef Py_ssize_t k, i, n = len(state["start"]) - 1
        start, word, times = (np.asarray(state[name]) for name in ("start", "word", "times"))
        check_state(n >= 0 and start[0] >= 0 and bool(np.all(np.diff(start) >= 0)) and start[n] <= len(word))
        check_state(len(word) == len(times) and np.min(word, initial=0) >= 0 and np.min(times, initial=0) >= 0)
        check_state(np.max(word, initial=-1) < self.width)
        check_state(can_count(word, times))
        self.make_room(n + 1)
        self.parameters = state["parameters"]
        for k in range(self.capacity):
            self.clear(k)
        for k in range(n):
            for i in range(state["start"][k], state["start"][k + 1]):
                self.bump(state["word"][i], k, state["times"][i])
                self.total[k] += state["times"][i]
            self.count_total(k, 0)


cdef void add_cluster(
    WordCounts here, WordCounts other, Py_ssize_t source, Py_ssize_t target
) noexcept nogil:
    """Add all words of a slot, perhaps of other statistics, to a slot."""
    cdef Py_ssize_t i, v
    for i in range(other.n_listed[source]):
        v = other.listed[source, i]
        here.bump(v, target, other.cell[v, source] - 1)
    here.count_total(target, other.total[source])
