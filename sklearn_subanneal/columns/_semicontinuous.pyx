"""Likelihood of semicontinuous columns: Dirichlet over {the rest, each atom}, times a normal likelihood of the rest.

A cell is an atom, a value that cells take exactly, or it is one of the rest, which are normal given the cluster. The
code of a cell is 0 if it is one of the rest, and 1 + v if it is atom v. Codes are counted here; the rest has
statistics of its own, to which the atoms are missing cells. The marginal likelihood is the product of the two.
"""
cimport cython
from libc.math cimport NAN
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double, log_float, log_gamma, simd_void
from sklearn_subanneal._core._random cimport uniform
from sklearn_subanneal.columns._additive cimport AdditiveStatistics, Sums
from sklearn_subanneal.columns._base cimport ColumnData, ColumnStatistics, LogQueue, push_log
from sklearn_subanneal.columns._normal cimport NormalData, NormalStatistics

# Values that are not in the data are scored in blocks of this many.
cdef enum:
    BLOCK = 256


cdef simd_void add_difference(
    const float* log_count, const float* log_total, float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_count[k] - log_total[k]


cdef simd_void take_logs(double alpha, const int32_t* count, float* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = log_float(<float> (alpha + count[k]))


cdef simd_void add_log_share(
    double alpha, const int32_t* count, double alpha_total, const int32_t* total, double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_double((alpha + count[k]) / (alpha_total + total[k]))


cdef simd_void add_log_gammas(
    double sign, double factor, const double* alpha, double n, double* out, Py_ssize_t n_grid
) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(n_grid):
        out[g] += sign * log_gamma(factor * alpha[g] + n)


cdef class SemicontinuousData(ColumnData):
    """One column of reals, some of whose values are atoms.

    Parameters
    ----------
    cells : ndarray of shape (n_rows,)
        In standard units, float64; NaN is a missing cell.
    atoms : ndarray of shape (n_atoms,)
        In standard units, different from one another.
    """

    cdef readonly NormalData rest           # atoms are NaN here
    cdef readonly object atoms
    cdef readonly const int32_t[::1] codes  # -1: missing

    def __init__(self, cells, atoms):
        array, self.atoms = self.keep(np.ascontiguousarray(cells, np.float64)), np.array(atoms, np.float64)
        codes = np.where(np.isnan(array), -1, 0).astype(np.int32)
        for v, atom in enumerate(self.atoms):
            codes[array == atom] = 1 + v
        self.codes = codes
        self.rest = NormalData(np.where(codes == 0, array, np.nan))

    def take(self, order):
        """The same column with its rows in another order."""
        return SemicontinuousData(self.array[order], self.atoms)

    def joined(self, others):
        """The same column with the rows of others of its kind after its own."""
        return SemicontinuousData(np.concatenate([self.array, *(other.array for other in others)]), self.atoms)

    def __reduce__(self):
        return SemicontinuousData, (self.array, self.atoms)


@cython.final
cdef class SemicontinuousStatistics(AdditiveStatistics):
    """Statistics of a semicontinuous column, as :class:`AdditiveStatistics`.

    The parameters are "alpha", the weight of the rest and of each atom in the Dirichlet, the "mu", "kappa", "sigma2"
    and "nu" of the rest, and "atoms", which are never learned. """

    cdef const int32_t* codes
    cdef NormalStatistics rest
    cdef double[::1] atoms
    cdef Py_ssize_t n_codes                 # the rest, and each atom
    cdef double alpha_total
    cdef int32_t* count                     # (n_codes, capacity), cells of each slot
    cdef int32_t* total                     # (capacity,)
    cdef float* log_count                   # (n_codes, capacity): log(alpha + count)
    cdef float* log_total                   # (capacity,): log(alpha_total + total)

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.atoms = np.array(parameters["atoms"], np.float64)
        self.n_codes = 1 + self.atoms.shape[0]
        self.rest = NormalStatistics(None if data is None else data.rest, parameters, grids, capacity)
        super().__init__(data, parameters, grids, capacity, hyperparameters=("alpha",), n_counts=self.n_codes + 1,
                         n_floats=self.n_codes + 1)

    def bind(self, data):
        self.rest.bind(data.rest)
        return AdditiveStatistics.bind(self, data)

    cdef int place(self) except -1:
        cdef SemicontinuousData data = self.data
        self.codes = &data.codes[0] if data is not None and data.n_rows else NULL
        self.count, self.log_count = self.own.count, self.floats
        self.total = self.count + self.n_codes * self.capacity
        self.log_total = self.log_count + self.n_codes * self.capacity
        return 0

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        if capacity > self.rest.capacity:
            self.rest.reserve(capacity)
        return AdditiveStatistics.reserve(self, capacity)

    @property
    def parameters(self):
        return {"alpha": self.hyperparameter[0], **self.rest.parameters, "atoms": np.array(self.atoms)}

    @parameters.setter
    def parameters(self, values):
        self.hyperparameter[0] = values["alpha"]
        self.rest.parameters = values
        self.refresh_all()

    def adopt(self, SemicontinuousStatistics source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        AdditiveStatistics.adopt(self, source)
        self.rest.adopt(source.rest)

    cdef void refresh_prior(self) noexcept nogil:
        self.alpha_total = self.n_codes * self.hyperparameter[0]

    cdef void refresh_slots(self) noexcept nogil:
        cdef Py_ssize_t v, first
        for v in range(self.n_codes):
            first = v * self.capacity
            take_logs(self.hyperparameter[0], self.count + first, self.log_count + first, self.capacity)
        take_logs(self.alpha_total, self.total, self.log_total, self.capacity)

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t v, at
        for v in range(self.n_codes):
            at = v * self.capacity + k
            self.log_count[at] = log_float(<float> (self.hyperparameter[0] + self.count[at]))
        self.log_total[k] = log_float(<float> (self.alpha_total + self.total[k]))

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef int32_t v = self.codes[row]
        if v >= 0:
            add_difference(self.log_count + v * self.capacity, self.log_total, scores, n)
            if v == 0:
                self.rest.score(row, scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef int32_t v = self.codes[row]
        if v < 0:
            return 0.0
        ratio[0] *= ((self.hyperparameter[0] + self.count[v * self.capacity + k] - 1)
                     / (self.alpha_total + self.total[k] - 1))
        return self.rest.score_without(row, k, ratio)

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        cdef int32_t v = self.codes[row], step = <int32_t> sign
        cdef Py_ssize_t at = v * self.capacity + k
        if v >= 0:
            self.count[at] += step
            self.total[k] += step
            push_log(logs, <float> (self.hyperparameter[0] + self.count[at]), 1.0, 0.0, &self.log_count[at])
            push_log(logs, <float> (self.alpha_total + self.total[k]), 1.0, 0.0, &self.log_total[k])
            self.rest.change(row, k, sign, logs)

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        AdditiveStatistics.copy(self, other, source, target)
        self.rest.copy((<SemicontinuousStatistics> other).rest, source, target)

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        AdditiveStatistics.clear(self, k)
        self.rest.clear(k)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        AdditiveStatistics.merge(self, source, target)
        self.rest.merge(source, target)

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        AdditiveStatistics.assign(self, rows, slots, n)
        self.rest.assign(rows, slots, n)

    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil:
        cdef Py_ssize_t i, v
        cdef int32_t* total = sums.count + self.n_codes * self.capacity
        for i in range(n):
            v = self.codes[rows[i]]
            if v >= 0:
                sums.count[v * self.capacity + slots[i]] += 1
                total[slots[i]] += 1
        return 0.0

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        return log_dirichlet(self, self.count + k, self.total[k]) + self.rest.log_marginal(k)

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef int32_t v = self.codes[row]
        if v < 0:
            return 0.0
        return (log_double((self.hyperparameter[0] + self.count[v * self.capacity + k])
                           / (self.alpha_total + self.total[k])) + self.rest.log_predictive(row, k))

    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        cdef double out = AdditiveStatistics.log_likelihood(self, rows, slots, n, n_clusters)
        return out + self.rest.log_likelihood(rows, slots, n, n_clusters)

    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil:
        cdef const int32_t* count = self.other.count
        cdef Py_ssize_t k
        for k in range(n_clusters):
            constant += log_dirichlet(self, count + k, count[self.n_codes * self.capacity + k])
        return constant

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        AdditiveStatistics.resample_prior(self, n_clusters, power, bits)
        self.rest.resample_prior(n_clusters, power, bits)

    cdef void add_over_grid(
        self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        # Of Gamma(alpha + n) / Gamma(alpha) the denominator is the same for all counts.
        cdef Py_ssize_t k, v
        cdef int32_t count
        cdef double n_total = 0.0, n_count = 0.0, n_codes = self.n_codes
        for k in range(n_clusters):
            if self.total[k]:
                add_log_gammas(-1.0, n_codes, grid, self.total[k], out, n_grid)
                n_total += 1.0
            for v in range(self.n_codes):
                count = self.count[v * self.capacity + k]
                if count:
                    add_log_gammas(1.0, 1.0, grid, count, out, n_grid)
                    n_count += 1.0
        add_log_gammas(n_total, n_codes, grid, 0.0, out, n_grid)
        add_log_gammas(-n_count, 1.0, grid, 0.0, out, n_grid)

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef double[BLOCK] rest
        cdef Py_ssize_t first = 0, n, i
        add_masses(self, values, n_rows, n_clusters, out)
        while first < n_rows:
            n = min(n_rows - first, <Py_ssize_t> BLOCK)
            for i in range(n):
                rest[i] = NAN if code_of(self, values[first + i]) else values[first + i]
            self.rest.score_values(rest, n, n_clusters, out + first * n_clusters)
            first += n

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double u
        cdef Py_ssize_t v = 0
        if values[0] != values[0]:
            u = uniform(bits) * (self.alpha_total + self.total[k])
            while v < self.n_codes - 1:
                u -= self.hyperparameter[0] + self.count[v * self.capacity + k]
                if u < 0.0:
                    break
                v += 1
            if v:
                values[0] = self.atoms[v - 1]
            else:
                self.rest.draw(k, bits, values)

    def log_masses(self, values, Py_ssize_t n_clusters):
        """Log probability (n_rows, n_clusters) that a cell is the atom that it is, or that it is one of the rest."""
        cdef const double[::1] cells = np.ascontiguousarray(values, np.float64).reshape(-1)
        cdef double[:, ::1] out = np.zeros((cells.shape[0], n_clusters))
        if cells.shape[0] and n_clusters:
            add_masses(self, &cells[0], cells.shape[0], n_clusters, &out[0, 0])
        return np.asarray(out)

    def shares(self, Py_ssize_t n_clusters):
        """Predictive probabilities (n_clusters, 1 + n_atoms) of the rest and of each atom."""
        weights = self.memory[1][:self.n_codes, :n_clusters].T + self.hyperparameter[0]
        return weights / weights.sum(axis=1, keepdims=True)

    def conditional_moments(self, values, Py_ssize_t n_clusters):
        """Predictive means and variances (n_rows, n_clusters, 1) of atoms and rest together; the variance of the rest
        is bounded as in ``variance_factor``."""
        mean, variance = self.rest.conditional_moments(values[:1], n_clusters)
        shares, atoms = self.shares(n_clusters), np.asarray(self.atoms)
        first = shares[:, :1] * mean[0] + shares[:, 1:] @ atoms[:, None]
        # Around the mean itself: a difference of squares would cancel.
        spread = shares[:, :1] * (variance[0] + (mean[0] - first) ** 2)
        spread += (shares[:, 1:] * (atoms - first) ** 2).sum(axis=1, keepdims=True)
        shape = (len(values), n_clusters, 1)
        return np.broadcast_to(first, shape), np.broadcast_to(spread, shape)

    def get_state(self, Py_ssize_t n_clusters):
        """Arrays from which ``set_state`` restores the first slots and the hyperparameters."""
        return self.rest.get_state(n_clusters) | AdditiveStatistics.get_state(self, n_clusters)

    def set_state(self, state):
        """Restore the arrays of ``get_state``; all other slots are empty."""
        AdditiveStatistics.set_state(self, state)
        self.rest.set_state(state)


cdef Py_ssize_t code_of(SemicontinuousStatistics self, double value) noexcept nogil:
    """The code of a value that is not in the data; 0 for NaN, too."""
    cdef Py_ssize_t v
    for v in range(self.n_codes - 1):
        if self.atoms[v] == value:
            return v + 1
    return 0


cdef void add_masses(
    SemicontinuousStatistics self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
) noexcept nogil:
    """out[i, k] += the log probability of the code of values[i] in cluster k."""
    cdef Py_ssize_t i
    for i in range(n_rows):
        if values[i] == values[i]:
            add_log_share(self.hyperparameter[0], self.count + code_of(self, values[i]) * self.capacity,
                          self.alpha_total, self.total, out + i * n_clusters, n_clusters)


cdef double log_dirichlet(SemicontinuousStatistics self, const int32_t* count, int32_t total) noexcept nogil:
    """The log marginal likelihood of one cluster's codes, whose counts are ``capacity`` apart."""
    cdef double alpha = self.hyperparameter[0], out = log_gamma(self.alpha_total) - log_gamma(self.alpha_total + total)
    cdef Py_ssize_t v
    for v in range(self.n_codes):
        if count[v * self.capacity]:
            out += log_gamma(alpha + count[v * self.capacity]) - log_gamma(alpha)
    return out
