"""BagOfWordsStatistics: Dirichlet-multinomial likelihood of word counts, without the coefficient; draws of new rows.

A bag is its sparse counts. A word that is not in a bag occurs zero times: bags have no missing cells, and an empty bag
has probability 1 in every cluster. The multinomial coefficient, the number of orders that the words could have, is left
out, since it is the same for all partitions.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from numpy.random cimport bitgen_t

import numpy as np
from scipy import sparse

from sklearn_subanneal._core._math cimport log_double, log_gamma, padded, simd_void
from sklearn_subanneal._core._random cimport categorical, integer_below, uniform
from sklearn_subanneal.columns._bag_data cimport BagOfWordsData
from sklearn_subanneal.columns._base cimport LogQueue
from sklearn_subanneal.columns._word_counts cimport WordCounts

from sklearn_subanneal.columns._base import as_grid
from sklearn_subanneal.tables.documents import Documents


cdef simd_void add_logs(const float* logs, double* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] += logs[k]


cdef simd_void add_rising(
    double weight, const int32_t* cell, int32_t times, double* out, Py_ssize_t n
) noexcept nogil:
    # log Gamma(weight + count + times) - log Gamma(weight + count), as the logarithm of a product if that is short.
    cdef Py_ssize_t k
    cdef double x, second = times > 1, third = times > 2
    if times <= 3:
        for k in range(n):
            x = weight + (cell[k] - (cell[k] > 0))
            out[k] += log_double(x * (x * second + 1.0) * (1.0 + third * (x + 1.0)))
    else:
        for k in range(n):
            x = weight + (cell[k] - (cell[k] > 0))
            out[k] += log_gamma(x + times) - log_gamma(x)


cdef simd_void take_weights(double weight, const int32_t* cell, double* product, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        product[k] *= weight + (cell[k] - (cell[k] > 0))


cdef simd_void take_product(double* product, double* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] += log_double(product[k])
        product[k] = 1.0


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
        "beta": of the Dirichlet prior, the mean weight of a word; "n_words": the length of the vocabulary. "base":
        weights of the words relative to their mean; without, they are equal. "repetition": if it is finite, a bag has
        each word once for its cluster, and repeats words by an urn of its own with this concentration, of which only
        draws of bags know; without, all occurrences are those of the cluster.
    grids : dict
        "beta": (n_grid,), where it is to be learned.
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.data = data
        self.take_vocabulary(parameters)
        self.grid = as_grid((grids or {}).get("beta", ()))
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
            else:
                add_rising(self.weight[v], &self.cell[v, 0], self.data.times[i], sums, n)
        take_shares(sums, &self.log_gamma_total[0], &self.total[0], self.beta_total, self.data.length[row],
                    self.data.reference[row], scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef Py_ssize_t i, v, count
        cdef double out = log_gamma(self.beta_total + self.total[k] - self.data.length[row]) - self.log_gamma_total[k]
        for i in range(self.data.start[row], self.data.start[row + 1]):
            v, count = self.data.word[i], self.cell[self.data.word[i], k] - 1
            if self.data.times[i] == 1:
                out += log_double(self.weight[v] + (count - 1))
            else:
                out += self.rising(v, count) - self.rising(v, count - self.data.times[i])
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
        return log_gamma(self.beta_total) - self.log_gamma_total[k] + self.sum_rising(k, 1.0)

    cdef double log_marginal_of_both(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef Py_ssize_t i, v, count
        cdef double out = self.log_marginal(a) + self.log_gamma_total[a]
        out -= log_gamma(self.beta_total + self.total[a] + self.total[b])
        for i in range(self.n_listed[b]):
            v = self.listed[b, i]
            count = max(self.cell[v, a] - 1, 0)
            if self.cell[v, b] == 2:
                out += log_double(self.weight[v] + count)
            else:
                out += self.rising(v, count + self.cell[v, b] - 1) - self.rising(v, count)
        return out

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, v, count
        cdef double out = self.log_gamma_total[k] - log_gamma(self.beta_total + self.total[k] + self.data.length[row])
        for i in range(self.data.start[row], self.data.start[row + 1]):
            v, count = self.data.word[i], max(self.cell[self.data.word[i], k] - 1, 0)
            if self.data.times[i] == 1:
                out += log_double(self.weight[v] + count)
            else:
                out += self.rising(v, count + self.data.times[i]) - self.rising(v, count)
        return out

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        # Among few neighbours on the grid: which ones does not depend on the present value within them, so that this is
        # a Gibbs step. The whole grid would take longer than the sweep over the rows.
        cdef double[NEIGHBOURS] logs
        cdef double[NEIGHBOURS] work
        cdef Py_ssize_t n_grid = self.grid.shape[0], place = 0, first, n, k, g
        cdef double beta
        if n_grid == 0:
            return
        for g in range(1, n_grid):
            if abs(self.grid[g] - self.beta) < abs(self.grid[place] - self.beta):
                place = g
        first = 0
        if n_grid > NEIGHBOURS:
            g = integer_below(bits, NEIGHBOURS)
            first = place - (place + g) % NEIGHBOURS
        n = min(first + NEIGHBOURS, n_grid)
        first = max(first, 0)
        n -= first
        for g in range(n):
            beta = self.grid[first + g]
            logs[g] = n_clusters * log_gamma(beta * self.width)
            for k in range(n_clusters):
                logs[g] += self.sum_rising(k, beta / self.beta) - log_gamma(beta * self.width + self.total[k])
        beta = self.grid[first + categorical(logs, work, n, power, bits)]
        if beta != self.beta:
            self.beta = beta
            self.refresh_all()

    # The rest is for rows that are not in the data.

    cdef void add_log_densities(
        self, const int32_t* words, const int32_t* times, Py_ssize_t n_words, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        # Words that occur once are multiplied before there is a logarithm: no weight is so small or so large that the
        # product of a few leaves the range of float64.
        cdef Py_ssize_t i, k, n_factors = 0, length = 0
        cdef double* product = &self.sums[0]
        for k in range(n_clusters):
            product[k] = 1.0
        for i in range(n_words):
            length += times[i]
            if times[i] > 1:
                add_rising(self.weight[words[i]], &self.cell[words[i], 0], times[i], out, n_clusters)
                continue
            take_weights(self.weight[words[i]], &self.cell[words[i], 0], product, n_clusters)
            n_factors += 1
            if n_factors % FACTORS == 0:
                take_product(product, out, n_clusters)
        take_product(product, out, n_clusters)
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
        if np.isfinite(self.repetition):
            bags = bags.once()
        out = np.zeros((bags.n_rows, n_clusters))
        with nogil:
            for row in range(bags.n_rows):
                at = bags.start[row]
                n_words = bags.start[row + 1] - at
                if n_words and n_clusters:
                    self.add_log_densities(&bags.word[at], &bags.times[at], n_words, n_clusters, &out[row, 0])
        return np.asarray(out)

    cdef void draw_bag(self, Py_ssize_t k, Py_ssize_t length, int32_t* drawn, int32_t* new, void* bits) noexcept nogil:
        # Polya's urns: a word of the bag is a copy of one before, or it is new, which is drawn from the cluster's urn:
        # a word of the prior, one that the cluster has, or a copy of a new one before.
        cdef Py_ssize_t t, i, n_new = 0
        cdef double u
        for t in range(length):
            if self.repetition < INFINITY and uniform(<bitgen_t*> bits) * (self.repetition + t) >= self.repetition:
                drawn[t] = drawn[integer_below(<bitgen_t*> bits, t)]
                continue
            u = uniform(<bitgen_t*> bits) * (self.beta_total + self.total[k] + n_new)
            if u < self.beta_total:
                drawn[t] = <int32_t> self.word_of_prior(u / self.beta)
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
                drawn[t] = new[integer_below(<bitgen_t*> bits, n_new)]
            new[n_new] = drawn[t]
            n_new += 1

    cdef Py_ssize_t word_of_prior(self, double u) noexcept nogil:
        # The word at u among the base weights laid side by side, by bisection.
        cdef Py_ssize_t low = 0, high = self.width - 1, middle
        while low < high:
            middle = (low + high) // 2
            if u < self.cumulative[middle]:
                high = middle
            else:
                low = middle + 1
        return low

    def draw_bags(self, const int32_t[::1] slots, lengths, generator):
        """Bags of these lengths from the posterior predictive of slots, as a CSR array (n_rows, n_words)."""
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t i, n = slots.shape[0]
        long_lengths = np.where(np.asarray(lengths) > MOST_DRAWN, lengths, 0).astype(np.int64)
        cdef const int64_t[::1] short_lengths = np.asarray(lengths, np.int64) - long_lengths
        cdef int64_t[::1] start = np.append(0, np.cumsum(short_lengths))
        cdef int32_t[:, ::1] room = np.zeros((2, start[n] + 1), np.int32)
        self.cumulative = np.cumsum(self.base)
        with generator.bit_generator.lock, nogil:
            for i in range(n):
                self.draw_bag(slots[i], short_lengths[i], &room[0, start[i]], &room[1, 0], bits)
        words = np.asarray(room)[0, :start[n]]
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
            weights = np.asarray(self.weight) + np.maximum(np.asarray(self.cell)[:, slots[row]] - 1, 0)
            shares = generator.dirichlet(weights)
            if np.isfinite(self.repetition):
                # Shares of words that underflow are not drawn in the bag's own urn either.
                shares[shares > 0] = generator.dirichlet(self.repetition * shares[shares > 0])
            bag[:] = generator.multinomial(lengths[row], shares)
        counts = sparse.coo_array(counts)
        return sparse.csr_array((counts.data, (rows[counts.row], counts.col)), (len(lengths), self.width))
