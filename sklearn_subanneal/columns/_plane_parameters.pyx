"""PlaneParameters, of columns whose log density is linear in functions of the cell: counts, and angles."""
from libc.math cimport sqrt
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._circle cimport cosine_and_sine, direction, von_mises
from sklearn_subanneal._core._math cimport LANES, exp_double, log_double, simd_void
from sklearn_subanneal._core._random cimport log_standard_gamma
from sklearn_subanneal.columns._cluster_parameters cimport ClusterParameters, bits_of
from sklearn_subanneal.columns._count cimport CountData

from sklearn_subanneal.columns._cluster_parameters import padded_rows

# Where the score of the best cluster may be farther from 0 than this, only what the others lack to it is added: what
# all have in common, x log x for a large count x, would leave no digits of single precision to the other columns.
cdef double MOST_IN_COMMON = 1000.0


cdef simd_void add_plane(
    double x, double y, const double* along, const double* across, float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += <float> (x * along[k] + y * across[k])


cdef simd_void add_below_best(
    double x, double y, const double* along, const double* across, float* scores, Py_ssize_t n
) noexcept nogil:
    """As ``add_plane``, less the score of the best cluster, n a multiple of LANES."""
    cdef Py_ssize_t at = LANES, lane, k
    cdef double[LANES] highest
    cdef double value
    for lane in range(LANES):
        highest[lane] = x * along[lane] + y * across[lane]
    while at < n:
        for lane in range(LANES):
            value = x * along[at + lane] + y * across[at + lane]
            highest[lane] = value if value > highest[lane] else highest[lane]
        at += LANES
    value = highest[0]
    for lane in range(1, LANES):
        value = highest[lane] if highest[lane] > value else value
    for k in range(n):
        scores[k] += <float> (x * along[k] + y * across[k] - value)


cdef class PlaneParameters(ClusterParameters):
    """Base of those whose log density is linear in two functions of the cell, but for a term of the cell alone."""

    cdef double[:, ::1] coefficients        # of the first function, of the second one
    cdef double most                        # with a first function up to here clusters have little in common
    # A first function, of a second one of 1, at which no score is above what clusters may have in common.
    SMALL = 1.0

    def prepare(self):
        self.coefficients = padded_rows(self.linear(), np.float64)
        # That of the best cluster is at least that of any other one.
        least = np.min(self.SMALL * np.abs(self.coefficients[0]) + np.abs(self.coefficients[1]))
        self.most = self.SMALL if least <= MOST_IN_COMMON else -1.0

    def linear(self):
        """The coefficients of both functions, each (n_clusters,)."""
        raise TypeError(f"{type(self).__name__} must say how it scores")

    cdef void add(self, double x, double y, float* scores) noexcept nogil:
        if abs(x) <= self.most:
            add_plane(x, y, &self.coefficients[0, 0], &self.coefficients[1, 0], scores, self.stride)
        else:
            add_below_best(x, y, &self.coefficients[0, 0], &self.coefficients[1, 0], scores, self.stride)


cdef class CountParameters(PlaneParameters):
    """Mean of a column of counts in every cluster: a count x adds x slope + intercept, but for its own coefficient."""

    cdef const int32_t[::1] cells
    # At most x log x - x
    SMALL = 200.0

    def place(self, CountData data, filled):
        self.cells = data.cells

    def linear(self):
        return self.arrays["slope"], self.arrays["intercept"]

    @classmethod
    def drawn(cls, statistics, Py_ssize_t n_clusters, generator):
        cdef bitgen_t* bits = bits_of(generator)
        state = statistics.get_state(n_clusters)
        prior = state["parameters"]
        cdef double dispersion = prior["dispersion"], size = 1.0 / dispersion if dispersion > 0.0 else 0.0
        cdef double log_odds, log_rest
        cdef const double[::1] shape = prior["shape"] + state["total"]
        cdef const double[::1] other = (
            2.0 + size * (prior["rate"] + state["count"]) if dispersion > 0.0 else prior["rate"] + state["count"]
        )
        cdef double[::1] slope = np.empty(n_clusters), intercept = np.empty(n_clusters)
        cdef Py_ssize_t k
        with generator.bit_generator.lock, nogil:
            for k in range(n_clusters):
                slope[k] = log_standard_gamma(shape[k], bits)
                if dispersion > 0.0:
                    # The odds b of x: slope log b - log(1 + b), intercept -size log(1 + b).
                    log_odds = slope[k] - log_standard_gamma(other[k], bits)
                    log_rest = max(log_odds, 0.0) + log_double(1.0 + exp_double(-abs(log_odds)))
                    slope[k] = log_odds - log_rest
                    intercept[k] = -size * log_rest
                else:
                    slope[k] -= log_double(other[k])
                    intercept[k] = -exp_double(slope[k])
        return {"slope": np.asarray(slope), "intercept": np.asarray(intercept)}

    cdef void score(self, Py_ssize_t row, float* scores) noexcept nogil:
        cdef int32_t x = self.cells[row]
        if x >= 0:
            self.add(x, 1.0, scores)


cdef class DirectionParameters(PlaneParameters):
    """Mean direction of a column of angles in every cluster, times their concentration."""

    cdef const double[::1] cells

    def place(self, data, filled):
        self.cells = data.array

    def linear(self):
        return self.arrays["x"], self.arrays["y"]

    @classmethod
    def drawn(cls, statistics, Py_ssize_t n_clusters, generator):
        cdef bitgen_t* bits = bits_of(generator)
        state = statistics.get_state(n_clusters)
        prior = state["parameters"]
        cdef double kappa = prior["kappa"], c, s
        cdef double[::1] x, y
        cdef Py_ssize_t k
        cosine_and_sine(prior["mu"], &c, &s)
        x = prior["r"] * c + kappa * state["cosines"]
        y = prior["r"] * s + kappa * state["sines"]
        with generator.bit_generator.lock, nogil:
            for k in range(n_clusters):
                cosine_and_sine(direction(x[k], y[k]) + von_mises(sqrt(x[k] * x[k] + y[k] * y[k]), bits), &c, &s)
                x[k] = kappa * c
                y[k] = kappa * s
        return {"x": np.asarray(x), "y": np.asarray(y)}

    cdef void score(self, Py_ssize_t row, float* scores) noexcept nogil:
        cdef double angle = self.cells[row], c, s
        if angle == angle:
            cosine_and_sine(angle, &c, &s)
            self.add(c, s, scores)
