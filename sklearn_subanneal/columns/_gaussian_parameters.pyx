"""GaussianParameters, mean and covariance of a block of reals in every cluster, drawn given the statistics."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport sqrt
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._linalg cimport cholesky, invert_lower
from sklearn_subanneal._core._math cimport exp_double, log_double, simd_void
from sklearn_subanneal._core._random cimport log_standard_gamma, standard_normal
from sklearn_subanneal.columns._cluster_parameters cimport ClusterParameters
from sklearn_subanneal.columns._mvnormal cimport GaussianData
from sklearn_subanneal.columns._wishart cimport pivot_floor

from sklearn_subanneal.columns._cluster_parameters import padded_rows

cdef double LOG_TWO_PI = 1.83787706640934548356


cdef simd_void add_gaussian(
    const double* x, const float* mean, const float* whiten, const float* constant, float* difference,
    float* projection, float* scores, Py_ssize_t d, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i, j, k
    cdef float xj
    cdef const float* row = whiten
    for j in range(d):
        xj = <float> x[j]
        for k in range(n):
            difference[j * n + k] = xj - mean[j * n + k]
    for i in range(d):
        for k in range(n):
            projection[k] = row[k] * difference[k]
        row += n
        for j in range(1, i + 1):
            for k in range(n):
                projection[k] += row[k] * difference[j * n + k]
            row += n
        for k in range(n):
            scores[k] -= <float> 0.5 * projection[k] * projection[k]
    for k in range(n):
        scores[k] += constant[k]


cdef class GaussianParameters(ClusterParameters):
    """Mean, and inverse Cholesky factor of the covariance, of a block of reals in every cluster.

    A row with missing cells is scored as it is filled; the missing cells are part of the state, and are drawn given the
    others once the row has a cluster.
    """

    cdef Py_ssize_t width
    cdef const double[:, ::1] cells         # as they are filled
    cdef const double[:, ::1] observed
    cdef GaussianData data
    cdef double[::1] before
    cdef float[:, ::1] mean                 # (width, stride)
    cdef float[:, ::1] whiten               # (width (width + 1) / 2, stride)
    cdef float[::1] constant, difference, projection
    cdef double[:, ::1] location            # (n_clusters, width)
    cdef double[:, :, ::1] factor           # (n_clusters, width, width)
    cdef double[:, ::1] precision
    cdef double[::1] residual
    cdef Py_ssize_t[::1] missing

    def place(self, data, filled):
        self.data, self.observed, self.cells = data, data.array, data.array if filled is None else filled

    def prepare(self):
        factor, location = np.moveaxis(self.arrays["factor"], 2, 0), self.arrays["mean"].T
        self.width = d = location.shape[1]
        self.location, self.factor = np.ascontiguousarray(location), np.ascontiguousarray(factor)
        self.mean = padded_rows(self.arrays["mean"], np.float32)
        rows, columns = np.tril_indices(d)
        self.whiten = padded_rows(self.arrays["factor"][rows, columns], np.float32)
        diagonals = np.diagonal(factor, axis1=1, axis2=2)
        constant = [sum(map(log_double, row)) - 0.5 * d * LOG_TWO_PI for row in diagonals.tolist()]
        self.constant = padded_rows(constant, np.float32)
        self.difference, self.projection = np.zeros(d * self.stride, np.float32), np.zeros(self.stride, np.float32)
        self.precision = np.zeros((d, d))
        self.residual, self.before = np.zeros((2, d))
        self.missing = np.zeros(d, np.intp)

    @classmethod
    def drawn(cls, statistics, Py_ssize_t n_clusters, generator):
        state = statistics.get_state(n_clusters)
        prior, count, total = state["parameters"], state["count"].astype(float), state["total"]
        kappa = prior["kappa"] + count
        location = (prior["kappa"] * prior["mu"] + total) / kappa[:, None]
        square = np.tril(state["square"]) + np.tril(state["square"], -1).transpose(0, 2, 1)
        spread = prior["psi"] + square + prior["kappa"] * np.outer(prior["mu"], prior["mu"])
        spread = spread - kappa[:, None, None] * location[:, :, None] * location[:, None, :]
        d = location.shape[1]
        mean, factor = np.empty((n_clusters, d)), np.zeros((n_clusters, d, d))
        draw_gaussians(location, kappa, np.ascontiguousarray(spread), prior["nu"] + count, mean, factor, generator)
        return {"mean": mean.T.copy(), "factor": np.moveaxis(factor, 0, 2).copy()}

    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.width):
            if self.observed[row, i] != self.observed[row, i]:
                return True
        return False

    cdef void score(self, Py_ssize_t row, float* scores) noexcept nogil:
        add_gaussian(&self.cells[row, 0], &self.mean[0, 0], &self.whiten[0, 0], &self.constant[0], &self.difference[0],
                     &self.projection[0], scores, self.width, self.stride)

    cdef void complete(self, Py_ssize_t row, Py_ssize_t k, bitgen_t* bits) noexcept nogil:
        # With P the precision, a missing cell given all others is normal with precision P_ii, and the missing ones
        # together have the precision P_mm: the last is drawn first, from the Cholesky factor of that block.
        cdef Py_ssize_t i, j, a, b, n = 0, d = self.width
        cdef double value
        cdef const double* w = &self.factor[k, 0, 0]
        cdef double* p = &self.precision[0, 0]
        cdef Py_ssize_t* which = &self.missing[0]
        for i in range(d):
            if self.observed[row, i] != self.observed[row, i]:
                which[n] = i
                n += 1
        for a in range(n):
            # Right-hand side: - P_mo (x_o - m_o)
            value = 0.0
            for j in range(d):
                if self.observed[row, j] == self.observed[row, j]:
                    value -= entry(w, which[a], j, d) * (self.cells[row, j] - self.location[k, j])
            self.residual[a] = value
            for b in range(a + 1):
                p[a * n + b] = entry(w, which[a], which[b], d)
        cholesky(p, n, n, pivot_floor())
        for a in range(n):
            for b in range(a):
                self.residual[a] -= p[a * n + b] * self.residual[b]
            self.residual[a] /= p[a * n + a]
        for a in range(n - 1, -1, -1):
            self.residual[a] += standard_normal(bits)
            for b in range(a + 1, n):
                self.residual[a] -= p[b * n + a] * self.residual[b]
            self.residual[a] /= p[a * n + a]
            self.before[a] = self.cells[row, which[a]]
            (<double*> &self.cells[row, which[a]])[0] = self.location[k, which[a]] + self.residual[a]
        if not self.data.within(row, &self.cells[row, 0]):
            # The draw is a proposal from the conditional without limits, which is rejected there.
            for a in range(n):
                (<double*> &self.cells[row, which[a]])[0] = self.before[a]


cdef inline double entry(const double* w, Py_ssize_t i, Py_ssize_t j, Py_ssize_t d) noexcept nogil:
    """An entry of the precision W'W, W lower triangular."""
    cdef Py_ssize_t r
    cdef double out = 0.0
    for r in range(max(i, j), d):
        out += w[r * d + i] * w[r * d + j]
    return out


def draw_gaussians(
    const double[:, ::1] location, const double[::1] kappa, double[:, :, ::1] spread, const double[::1] nu,
    double[:, ::1] mean, double[:, :, ::1] factor, generator
):
    """Draw from normal-inverse-Wishart distributions, by Bartlett's decomposition.

    ``factor`` becomes the lower triangular W for which W'W is the precision; ``spread`` is overwritten.
    """
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
    cdef Py_ssize_t k, i, j, r, d = location.shape[1]
    cdef double value
    cdef double[:, ::1] inverse = np.zeros((d, d)), bartlett = np.zeros((d, d))
    cdef double[::1] z = np.zeros(d)
    with generator.bit_generator.lock, nogil:
        for k in range(kappa.shape[0]):
            cholesky(&spread[k, 0, 0], d, d, pivot_floor())
            invert_lower(&spread[k, 0, 0], &inverse[0, 0], d)
            # With psi = L L', the precision is W'W, W = B L^-1, where B'B is Wishart with nu degrees of freedom and
            # identity scale: B lower triangular, its last diagonal entry with the most degrees of freedom.
            for i in range(d):
                bartlett[i, i] = sqrt(2.0 * exp_double(log_standard_gamma(0.5 * (nu[k] - (d - 1 - i)), bits)))
                for j in range(i):
                    bartlett[i, j] = standard_normal(bits)
            for i in range(d):
                for j in range(i + 1):
                    value = 0.0
                    for r in range(j, i + 1):
                        value += bartlett[i, r] * inverse[r, j]
                    factor[k, i, j] = value
            # The mean: location + W^-1 z / sqrt(kappa)
            for i in range(d):
                z[i] = standard_normal(bits) / sqrt(kappa[k])
                for j in range(i):
                    z[i] -= factor[k, i, j] * z[j]
                z[i] /= factor[k, i, i]
                mean[k, i] = location[k, i] + z[i]
