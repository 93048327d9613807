"""ClusterParameters, the base class, and those of single columns: normal, and tables of frequencies."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport sqrt
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, padded, simd_void
from sklearn_subanneal._core._random cimport log_standard_gamma, standard_normal
from sklearn_subanneal.columns._categorical cimport CategoricalData, code_at
from sklearn_subanneal.columns._normal cimport NormalData

from sklearn_subanneal.columns._frequencies import drawn_frequencies

cdef double LOG_TWO_PI = 1.83787706640934548356


cdef simd_void add_normal(
    const float* cells, const int32_t* rows, Py_ssize_t n_rows, const float* mean, const float* half_precision,
    const float* constant, float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef float x, d
    for i in range(n_rows):
        x = cells[rows[i]]
        if x == x:
            for k in range(n):
                d = x - mean[k]
                scores[k] += constant[k] - half_precision[k] * d * d
        scores += n


cdef simd_void add_row(const float* row, float* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += row[k]


cdef simd_void add_codes(
    const void* cells, int itemsize, const int32_t* rows, Py_ssize_t n_rows, const float* table, float* scores,
    Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef int32_t v
    cdef const float* own
    for i in range(n_rows):
        v = code_at(cells, itemsize, rows[i])
        if v >= 0:
            own = table + v * n
            for k in range(n):
                scores[k] += own[k]
        scores += n


cdef class ClusterParameters:
    """Parameters of every cluster of one column over the rows of one block of a table.

    Parameters
    ----------
    data : ColumnData
    arrays : dict of ndarray
        As of :meth:`drawn`; clusters are the last axis.
    filled : ndarray or None, default=None
        The cells with those filled that are part of the state; :meth:`complete` draws these in place.
    """

    def __init__(self, data, arrays, filled=None):
        self.arrays = arrays
        self.n_clusters = n_columns(next(iter(arrays.values())))
        self.stride = padded(self.n_clusters)
        self.prepare()
        self.place(data, filled)

    def prepare(self):
        """Coefficients of the clusters."""
        raise TypeError(f"{type(self).__name__} must say how it scores")

    def place(self, data, filled):
        """Take the cells of a block, the first or another one."""
        raise TypeError(f"{type(self).__name__} must say which cells it scores")

    @classmethod
    def drawn(cls, statistics, Py_ssize_t n_clusters, generator):
        """Parameters of the first clusters, drawn from their posterior given the statistics, as arrays.

        Parameters
        ----------
        statistics : ColumnStatistics
        n_clusters : int
        generator : numpy.random.Generator
        """
        raise TypeError(f"{cls.__name__} must say how parameters are drawn")

    cdef void score(self, Py_ssize_t row, float* scores) noexcept nogil:
        pass

    cdef void score_rows(self, const int32_t* rows, Py_ssize_t n_rows, float* scores) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n_rows):
            self.score(rows[i], scores + i * self.stride)

    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil:
        return False

    cdef void complete(self, Py_ssize_t row, Py_ssize_t k, bitgen_t* bits) noexcept nogil:
        pass

    def scores(self, Py_ssize_t row):
        """The scores of a row, for tests."""
        cdef float[::1] out = np.zeros(self.stride, np.float32)
        self.score(row, &out[0])
        return np.asarray(out)[:self.n_clusters]


def padded_rows(array, dtype):
    """Coefficients whose last axis, over clusters, is padded by those of the last one, contiguous."""
    array = np.asarray(array)
    cdef Py_ssize_t n = n_columns(array)
    return np.pad(array, [*(array.ndim - 1) * [(0, 0)], (0, padded(n) - n)], mode="edge").astype(dtype)


cdef Py_ssize_t n_columns(array) except -1:
    return array.shape[array.ndim - 1]


cdef bitgen_t* bits_of(generator) except NULL:
    return <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")


cdef class NormalParameters(ClusterParameters):
    """Mean and precision of a real column in every cluster."""

    cdef const float[::1] cells
    cdef float[:, ::1] coefficients

    def place(self, NormalData data, filled):
        self.cells = data.cells

    def prepare(self):
        mean, precision = self.arrays["mean"], self.arrays["precision"]
        constant = np.array([0.5 * (log_double(value) - LOG_TWO_PI) for value in precision.tolist()])
        self.coefficients = padded_rows([mean, 0.5 * precision, constant], np.float32)

    @classmethod
    def drawn(cls, statistics, Py_ssize_t n_clusters, generator):
        state = statistics.get_state(n_clusters)
        prior = state["parameters"]
        count, total, square = state["count"], state["total"], state["square"]
        kappa = prior["kappa"] + count
        location = (prior["kappa"] * prior["mu"] + total) / kappa
        least = prior["nu"] * prior["sigma2"]
        spread = np.maximum(least + square + prior["kappa"] * prior["mu"] ** 2 - kappa * location**2, least)
        mean, precision = np.empty((2, n_clusters))
        draw_normals(location, kappa, spread, prior["nu"] + count, mean, precision, generator)
        return {"mean": mean, "precision": precision}

    cdef void score(self, Py_ssize_t row, float* scores) noexcept nogil:
        cdef int32_t number = <int32_t> row
        self.score_rows(&number, 1, scores)

    cdef void score_rows(self, const int32_t* rows, Py_ssize_t n_rows, float* scores) noexcept nogil:
        add_normal(&self.cells[0], rows, n_rows, &self.coefficients[0, 0], &self.coefficients[1, 0],
                   &self.coefficients[2, 0], scores, self.stride)


def draw_normals(
    const double[::1] location, const double[::1] kappa, const double[::1] spread, const double[::1] nu,
    double[::1] mean, double[::1] precision, generator
):
    """Draw precisions Gamma(nu / 2) 2 / spread, and means N(location, 1 / (kappa precision))."""
    cdef bitgen_t* bits = bits_of(generator)
    cdef Py_ssize_t k
    with generator.bit_generator.lock, nogil:
        for k in range(mean.shape[0]):
            precision[k] = 2.0 * exp_double(log_standard_gamma(0.5 * nu[k], bits)) / spread[k]
            mean[k] = location[k] + standard_normal(bits) / sqrt(kappa[k] * precision[k])


cdef class FrequencyParameters(ClusterParameters):
    """Log probabilities of the values of a discrete column in every cluster."""

    cdef CategoricalData data
    cdef float[:, ::1] log_p                # (n_values, stride)

    def place(self, CategoricalData data, filled):
        self.data = data

    def prepare(self):
        self.log_p = padded_rows(self.arrays["log_p"], np.float32)

    @classmethod
    def drawn(cls, statistics, Py_ssize_t n_clusters, generator):
        state, prior = statistics.get_state(n_clusters), statistics.parameters
        alpha = np.append(prior["alpha"], prior["unseen"]) if "unseen" in prior else prior["alpha"]
        # After the counts of the values comes their sum.
        return {"log_p": drawn_frequencies(alpha[:, None] + state["counts"][:len(alpha)], generator)}

    cdef void score(self, Py_ssize_t row, float* scores) noexcept nogil:
        cdef int32_t number = <int32_t> row
        self.score_rows(&number, 1, scores)

    cdef void score_rows(self, const int32_t* rows, Py_ssize_t n_rows, float* scores) noexcept nogil:
        add_codes(self.data.cells, self.data.itemsize, rows, n_rows, &self.log_p[0, 0], scores, self.stride)


cdef class OrdinalParameters(FrequencyParameters):
    """Log probabilities of ordered levels in every cluster: those of a shape, or without an order."""

    @classmethod
    def drawn(cls, statistics, Py_ssize_t n_clusters, generator):
        return {"log_p": statistics.drawn_levels(n_clusters, generator)}


cdef class SemicontinuousParameters(ClusterParameters):
    """Log probabilities of the rest and of each atom, and the normal distribution of the rest, in every cluster."""

    cdef const int32_t[::1] codes
    cdef float[:, ::1] log_p
    cdef NormalParameters rest

    def place(self, data, filled):
        self.codes = data.codes
        if self.rest is None:
            self.rest = NormalParameters(data.rest, {name: self.arrays[name] for name in ("mean", "precision")})
        else:
            self.rest.place(data.rest, None)

    def prepare(self):
        self.log_p = padded_rows(self.arrays["log_p"], np.float32)

    @classmethod
    def drawn(cls, statistics, Py_ssize_t n_clusters, generator):
        counts = statistics.get_state(n_clusters)["counts"]
        log_p = drawn_frequencies(statistics.parameters["alpha"] + counts[:len(counts) - 1], generator)
        # Of the rest the statistics are under the names that a real column has.
        return {"log_p": log_p, **NormalParameters.drawn(statistics, n_clusters, generator)}

    cdef void score(self, Py_ssize_t row, float* scores) noexcept nogil:
        cdef int32_t v = self.codes[row]
        if v >= 0:
            add_row(&self.log_p[v, 0], scores, self.stride)
            if v == 0:
                self.rest.score(row, scores)
