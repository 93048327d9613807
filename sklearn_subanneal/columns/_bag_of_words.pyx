"""BagOfWordsStatistics: Dirichlet-multinomial likelihood of word counts, without the coefficient; draws of new rows.

A bag is its sparse counts. A word that is not in a bag occurs zero times: bags have no missing cells, and an empty bag
has probability 1 in every cluster. The multinomial coefficient, the number of orders that the words could have, is left
out, since it is the same for all partitions.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, int64_t
from numpy.random cimport bitgen_t

import numpy as np
from scipy import sparse

from sklearn_subanneal._core._math cimport log_double, log_gamma, padded, simd_void
from sklearn_subanneal._core._random cimport categorical, integer_below, uniform
from sklearn_subanneal.columns._bag_data cimport BagOfWordsData
from sklearn_subanneal.columns._base cimport MAX_GRID, LogQueue
from sklearn_subanneal.columns._word_counts cimport WordCounts

from sklearn_subanneal.columns._base import as_grid
from sklearn_subanneal.tables.documents import Documents


cdef simd_void add_logs(const float* logs, double* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] += logs[k]


cdef void add_rising(
    const double* table, const int32_t* cell, int32_t times, double* out, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    cdef int32_t count
    for k in range(n):
        count = cell[k] - (cell[k] > 0)
        out[k] += table[count + times] - table[count]


cdef simd_void add_rising_beyond(
    double beta, const int32_t* cell, int32_t times, double* out, Py_ssize_t n
) noexcept nogil:
    # As ``add_rising``, for counts that may be beyond the table.
    cdef Py_ssize_t k
    cdef int32_t count
    for k in range(n):
        count = cell[k] - (cell[k] > 0)
        out[k] += log_gamma(beta + (<double> count + times)) - log_gamma(beta + count)


cdef simd_void take_shares(
    const double* sums, const double* log_gamma_total, const double* total, double beta_total, double length,
    double reference, float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += <float> (sums[k] - log_gamma(beta_total + total[k] + length) + log_gamma_total[k] - reference)


cdef class BagOfWordsStatistics(WordCounts):
    """Statistics of bags of words.

    Parameters
    ----------
    data : BagOfWordsData or None
        None where only the predictive densities are wanted.
    parameters : dict
        "beta": of the symmetric Dirichlet prior; "n_words": the length of the vocabulary.
    grids : dict
        "beta": (n_grid,), where it is to be learned.
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.data = data
        self.width = parameters["n_words"]
        self.grid = as_grid((grids or {}).get("beta", ()))
        if data is not None:
            # A row may be scored in its own cluster, where its words are counted twice.
            self.n_tabulated = 2 * int(np.max(self.data.occurrences, initial=0)) + 1
            self.n_tabulated = min(self.n_tabulated, max(<Py_ssize_t> TABLE, len(self.data.times)))
        self.table = np.zeros(self.n_tabulated)
        self.histogram = np.zeros(self.n_tabulated if len(self.grid) else 0, np.int32)
        self.reserve(padded(capacity))
        self.parameters = parameters

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, int32_t sign) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.data.start[row], self.data.start[row + 1]):
            self.bump(self.data.word[i], k, sign * self.data.times[i])
        self.count_total(k, sign * <double> self.data.length[row])

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        # Summed in float64: a bag has thousands of nats, and clusters may differ by few. The scores of a long bag are
        # relative to its largest log probability, which is the same for all clusters: float32 has no digits for both.
        cdef Py_ssize_t i, v
        cdef double* sums = &self.sums[0]
        for i in range(n):
            sums[i] = 0.0
        for i in range(self.data.start[row], self.data.start[row + 1]):
            v = self.data.word[i]
            if self.data.times[i] == 1:
                add_logs(&self.log_count[v, 0], sums, n)
            elif <Py_ssize_t> self.data.occurrences[v] + self.data.times[i] < self.n_tabulated:
                add_rising(&self.table[0], &self.cell[v, 0], self.data.times[i], sums, n)
            else:
                add_rising_beyond(self.beta, &self.cell[v, 0], self.data.times[i], sums, n)
        take_shares(sums, &self.log_gamma_total[0], &self.total[0], self.beta_total, self.data.length[row],
                    self.data.reference[row], scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef Py_ssize_t i, count
        cdef double out = log_gamma(self.beta_total + self.total[k] - self.data.length[row]) - self.log_gamma_total[k]
        for i in range(self.data.start[row], self.data.start[row + 1]):
            count = self.cell[self.data.word[i], k] - 1
            out += self.rising(count) - self.rising(count - self.data.times[i])
        return <float> (out - self.data.reference[row])

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        self.change(row, k, 1)

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        self.change(row, k, -1)

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.capacity):
            self.clear(i)
        for i in range(n):
            self.change(rows[i], slots[i], 1)

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        cdef double out = log_gamma(self.beta_total) - self.log_gamma_total[k], empty = self.rising(0)
        for i in range(self.n_listed[k]):
            out += self.rising(self.cell[self.listed[k, i], k] - 1) - empty
        return out

    cdef double log_marginal_of_both(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef Py_ssize_t i, v
        cdef double out = self.log_marginal(a) + self.log_gamma_total[a]
        out -= log_gamma(self.beta_total + self.total[a] + self.total[b])
        for i in range(self.n_listed[b]):
            v = self.listed[b, i]
            out += (self.rising(max(self.cell[v, a] - 1, 0) + self.cell[v, b] - 1)
                    - self.rising(max(self.cell[v, a] - 1, 0)))
        return out

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, count
        cdef double out = self.log_gamma_total[k] - log_gamma(self.beta_total + self.total[k] + self.data.length[row])
        for i in range(self.data.start[row], self.data.start[row + 1]):
            count = max(self.cell[self.data.word[i], k] - 1, 0)
            out += self.rising(count + self.data.times[i]) - self.rising(count)
        return out

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        cdef double[MAX_GRID] logs
        cdef double[MAX_GRID] work
        cdef Py_ssize_t n_grid = self.grid.shape[0], most = 0, n_beyond = 0, k, i, g
        cdef double beta, empty
        if n_grid == 0:
            return
        # How many pairs of cluster and word have each count.
        for i in range(self.histogram.shape[0]):
            self.histogram[i] = 0
        for k in range(n_clusters):
            for i in range(self.n_listed[k]):
                g = self.cell[self.listed[k, i], k] - 1
                if g < self.n_tabulated:
                    self.histogram[g] += 1
                    most = max(most, g)
                else:
                    n_beyond += 1
        for g in range(n_grid):
            beta = self.grid[g]
            empty = log_gamma(beta)
            logs[g] = n_clusters * log_gamma(beta * self.width)
            for k in range(n_clusters):
                logs[g] -= log_gamma(beta * self.width + self.total[k])
            for i in range(1, most + 1):
                if self.histogram[i]:
                    logs[g] += self.histogram[i] * (log_gamma(beta + i) - empty)
            if n_beyond:
                logs[g] += self.log_rising_beyond(n_clusters, beta)
        beta = self.grid[categorical(logs, work, n_grid, power, bits)]
        if beta != self.beta:
            self.beta = beta
            self.refresh_all()

    cdef double log_rising_beyond(self, Py_ssize_t n_clusters, double beta) noexcept nogil:
        # The sum of log Gamma(beta + count) - log Gamma(beta) over the counts that have no place in the histogram.
        cdef Py_ssize_t k, i, count
        cdef double out = 0.0, empty = log_gamma(beta)
        for k in range(n_clusters):
            for i in range(self.n_listed[k]):
                count = self.cell[self.listed[k, i], k] - 1
                if count >= self.n_tabulated:
                    out += log_gamma(beta + count) - empty
        return out

    # The rest is for rows that are not in the data.

    cdef void add_log_densities(
        self, const int32_t* words, const int32_t* times, Py_ssize_t n_words, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t i, k, count, length = 0
        for i in range(n_words):
            length += times[i]
            for k in range(n_clusters):
                count = max(self.cell[words[i], k] - 1, 0)
                if times[i] == 1:
                    out[k] += log_double(self.beta + count)
                else:
                    out[k] += log_gamma(self.beta + count + times[i]) - log_gamma(self.beta + count)
        for k in range(n_clusters):
            out[k] -= log_gamma(self.beta_total + self.total[k] + length) - self.log_gamma_total[k]

    def log_densities(self, values, Py_ssize_t n_clusters):
        """Log predictive densities (n_rows, n_clusters), float64, of bags, sparse or dense; NaN counts as 0."""
        cdef BagOfWordsData bags
        cdef Py_ssize_t row, at, n_words
        cdef double[:, ::1] out
        if n_clusters > self.capacity:
            raise ValueError(f"{n_clusters} slots asked for, capacity is {self.capacity}")
        if isinstance(values, Documents):
            values = values.counts
        if not sparse.issparse(values):
            values = np.nan_to_num(np.asarray(values, np.float64).reshape(-1, self.width))
        bags = BagOfWordsData(values)
        out = np.zeros((bags.n_rows, n_clusters))
        with nogil:
            for row in range(bags.n_rows):
                at = bags.start[row]
                n_words = bags.start[row + 1] - at
                if n_words and n_clusters:
                    self.add_log_densities(&bags.word[at], &bags.times[at], n_words, n_clusters, &out[row, 0])
        return np.asarray(out)

    cdef void draw_bag(self, Py_ssize_t k, Py_ssize_t length, int32_t* drawn, void* bits) noexcept nogil:
        # Polya's urn: a new word from the prior, one that the cluster has, or one that was drawn before.
        cdef Py_ssize_t t, i
        cdef double u
        for t in range(length):
            u = uniform(<bitgen_t*> bits) * (self.beta_total + self.total[k] + t)
            if u < self.beta_total:
                drawn[t] = <int32_t> integer_below(<bitgen_t*> bits, self.width)
            elif u < self.beta_total + self.total[k]:
                u -= self.beta_total
                i = 0
                while i < self.n_listed[k] - 1:
                    u -= self.cell[self.listed[k, i], k] - 1
                    if u < 0.0:
                        break
                    i += 1
                drawn[t] = self.listed[k, i]
            else:
                drawn[t] = drawn[integer_below(<bitgen_t*> bits, t)]

    def draw_bags(self, const int32_t[::1] slots, lengths, generator):
        """Bags of these lengths from the posterior predictive of slots, as a CSR array (n_rows, n_words)."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t i, n = slots.shape[0]
        long_lengths = np.where(np.asarray(lengths) > MOST_DRAWN, lengths, 0).astype(np.int64)
        cdef const int64_t[::1] short_lengths = np.asarray(lengths, np.int64) - long_lengths
        cdef int64_t[::1] start = np.append(0, np.cumsum(short_lengths))
        cdef int32_t[::1] drawn = np.zeros(start[n] + 1, np.int32)
        with generator.bit_generator.lock, nogil:
            for i in range(n):
                self.draw_bag(slots[i], short_lengths[i], &drawn[start[i]], bits)
        words = np.asarray(drawn)[:start[n]]
        bags = sparse.csr_array((np.ones(len(words), np.int32), words, np.asarray(start)), (n, self.width))
        bags.sum_duplicates()
        if long_lengths.any():
            bags = bags + self.draw_long_bags(np.asarray(slots), long_lengths, generator)
        return bags

    def draw_long_bags(self, slots, lengths, generator):
        """The same, with time and memory by the number of words in the vocabulary; bags of length 0 are left empty."""
        rows = np.flatnonzero(lengths)
        counts = np.zeros((len(rows), self.width), np.int64)
        for bag, row in zip(counts, rows):
            weights = self.beta + np.maximum(np.asarray(self.cell)[:, slots[row]] - 1, 0)
            bag[:] = generator.multinomial(lengths[row], generator.dirichlet(weights))
        counts = sparse.coo_array(counts)
        return sparse.csr_array((counts.data, (rows[counts.row], counts.col)), (len(lengths), self.width))
