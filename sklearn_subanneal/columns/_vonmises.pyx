"""Von Mises likelihood of angles with a von Mises prior of the direction; the concentration is a hyperparameter.

x ~ vM(m, kappa) in a cluster, m ~ vM(mu, r). With the vector v = r e(mu) + kappa sum e(x), e(x) = (cos x, sin x), a
cluster of n cells has the marginal likelihood (2 pi I0(kappa))^-n I0(|v|) / I0(r), and m is vM(angle of v, |v|) given
them.
"""
from libc.math cimport sqrt
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np
from scipy.special import i0e, i1e

from sklearn_subanneal._core._circle cimport (
    cosine_and_sine, direction, log_bessel, log_bessel_scaled, von_mises, wrapped
)
from sklearn_subanneal._core._math cimport padded, simd_void
from sklearn_subanneal._core._random cimport categorical
from sklearn_subanneal.columns._base cimport MAX_GRID, ColumnData, ColumnStatistics, LogQueue

from sklearn_subanneal.columns._base import as_grid

cdef double LOG_TWO_PI = 1.83787706640934548356


cdef inline double log_gain(double c, double s, double x, double y, double length, double kappa) noexcept nogil:
    # log I0(|v + kappa e|) - |v| for the vector v = (x, y) of this length: lengths may be huge, and are not subtracted.
    cdef double longer = sqrt((x + kappa * c) * (x + kappa * c) + (y + kappa * s) * (y + kappa * s))
    return kappa * (2.0 * (x * c + y * s) + kappa) / (longer + length) + log_bessel_scaled(longer)


cdef simd_void add_scores(
    double c, double s, const double* x, const double* y, const double* length, const double* constant, double kappa,
    float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += <float> (log_gain(c, s, x[k], y[k], length[k], kappa) + constant[k])


cdef simd_void add_scores_double(
    double c, double s, const double* x, const double* y, const double* length, const double* constant, double kappa,
    double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        scores[k] += log_gain(c, s, x[k], y[k], length[k], kappa) + constant[k]


cdef simd_void add_log_bessel(const double* x, const double* y, double* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] += log_bessel(sqrt(x[i] * x[i] + y[i] * y[i]))


cdef class VonMisesData(ColumnData):
    """One column of angles in radians, float64; NaN is a missing cell."""

    cdef const double[::1] cells

    def __init__(self, cells):
        self.cells = np.ascontiguousarray(cells, np.float64)
        self.n_rows = self.cells.shape[0]
        self.width = 1

    def take(self, order):
        return VonMisesData(np.asarray(self.cells)[order])


cdef class VonMisesStatistics(ColumnStatistics):
    """Statistics of a column of angles.

    Parameters
    ----------
    data : VonMisesData or None
        None where only the predictive densities are wanted.
    parameters : dict
        "mu" and "r", direction and concentration of the prior; "kappa", the concentration within each cluster.
    grids : dict
        Grids of the hyperparameters to learn; those that are not named stay fixed.
    """

    cdef readonly VonMisesData data
    cdef const double* cells
    cdef double mu, kappa, r, prior_x, prior_y
    cdef double log_norm                    # log(2 pi I0(kappa))
    cdef int32_t[::1] count                 # (capacity,)
    cdef double[::1] cosines, sines         # (capacity,), sums over the cells of a cluster
    cdef double[::1] x, y, length           # (capacity,), the vector v and its length
    cdef double[::1] constant               # (capacity,), of the log density of another cell
    cdef double[:, ::1] other               # counts, vectors and scores under another partition
    cdef const double[::1] grid_mu, grid_kappa, grid_r

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        grids = grids or {}
        self.width = 1
        self.data = data
        self.cells = &self.data.cells[0] if data is not None and data.n_rows else NULL
        self.grid_mu, self.grid_kappa, self.grid_r = [as_grid(grids.get(name, ())) for name in ("mu", "kappa", "r")]
        self.reserve(padded(capacity))
        self.parameters = parameters

    @property
    def parameters(self):
        return {"mu": self.mu, "kappa": self.kappa, "r": self.r}

    @parameters.setter
    def parameters(self, values):
        self.mu, self.kappa, self.r = values["mu"], values["kappa"], values["r"]
        self.refresh_all()

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t k, present = self.capacity
        count, sums = np.zeros(capacity, np.int32), np.zeros((6, capacity))
        if present:
            count[:present] = self.count
            for row, old in zip(sums, (self.cosines, self.sines, self.x, self.y, self.length, self.constant)):
                row[:present] = old
        self.other = np.zeros((4, capacity))
        self.count = count
        self.cosines, self.sines, self.x, self.y, self.length, self.constant = sums
        self.capacity = capacity
        if present:
            for k in range(present, capacity):
                self.refresh(k)
        return 0

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double x = self.prior_x + self.kappa * self.cosines[k], y = self.prior_y + self.kappa * self.sines[k]
        self.x[k] = x
        self.y[k] = y
        self.length[k] = sqrt(x * x + y * y)
        self.constant[k] = -log_bessel_scaled(self.length[k]) - self.log_norm

    cdef void refresh_all(self) noexcept nogil:
        cdef Py_ssize_t k
        cosine_and_sine(self.mu, &self.prior_x, &self.prior_y)
        self.prior_x *= self.r
        self.prior_y *= self.r
        self.log_norm = log_bessel(self.kappa) + LOG_TWO_PI
        for k in range(self.capacity):
            self.refresh(k)

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef double angle = self.cells[row], c, s
        if angle == angle:
            cosine_and_sine(angle, &c, &s)
            add_scores(c, s, &self.x[0], &self.y[0], &self.length[0], &self.constant[0], self.kappa, scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        cdef double angle = self.cells[row], c, s, x, y, length
        if angle != angle:
            return 0.0
        cosine_and_sine(angle, &c, &s)
        x = self.x[k] - self.kappa * c
        y = self.y[k] - self.kappa * s
        length = sqrt(x * x + y * y)
        return <float> (log_gain(c, s, x, y, length, self.kappa) - log_bessel_scaled(length) - self.log_norm)

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        cdef double angle = self.cells[row], c, s
        if angle == angle:
            cosine_and_sine(angle, &c, &s)
            self.count[k] += 1
            self.cosines[k] += c
            self.sines[k] += s
            self.refresh(k)

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        cdef double angle = self.cells[row], c, s
        if angle == angle:
            cosine_and_sine(angle, &c, &s)
            self.count[k] -= 1
            self.cosines[k] -= c
            self.sines[k] -= s
            if not self.count[k]:
                # What rounding has left.
                self.cosines[k] = self.sines[k] = 0.0
            self.refresh(k)

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.count[target] = (<VonMisesStatistics> other).count[source]
        self.cosines[target] = (<VonMisesStatistics> other).cosines[source]
        self.sines[target] = (<VonMisesStatistics> other).sines[source]
        self.x[target] = (<VonMisesStatistics> other).x[source]
        self.y[target] = (<VonMisesStatistics> other).y[source]
        self.length[target] = (<VonMisesStatistics> other).length[source]
        self.constant[target] = (<VonMisesStatistics> other).constant[source]

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        self.count[k] = 0
        self.cosines[k] = self.sines[k] = 0.0
        self.refresh(k)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.count[target] += self.count[source]
        self.cosines[target] += self.cosines[source]
        self.sines[target] += self.sines[source]
        self.refresh(target)

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double angle, c, s
        for k in range(self.capacity):
            self.count[k] = 0
            self.cosines[k] = self.sines[k] = 0.0
        for i in range(n):
            angle = self.cells[rows[i]]
            if angle == angle:
                cosine_and_sine(angle, &c, &s)
                self.count[slots[i]] += 1
                self.cosines[slots[i]] += c
                self.sines[slots[i]] += s
        for k in range(self.capacity):
            self.refresh(k)

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        return log_bessel(self.length[k]) - log_bessel(self.r) - self.count[k] * self.log_norm

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef double angle = self.cells[row], c, s
        if angle != angle:
            return 0.0
        cosine_and_sine(angle, &c, &s)
        return log_gain(c, s, self.x[k], self.y[k], self.length[k], self.kappa) + self.constant[k]

    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        cdef double* count = &self.other[0, 0]
        cdef double* x = &self.other[1, 0]
        cdef double* y = &self.other[2, 0]
        cdef double* parts = &self.other[3, 0]
        cdef double out = 0.0, empty = log_bessel(self.r), angle, c, s
        cdef Py_ssize_t i, k
        for k in range(n_clusters):
            count[k] = parts[k] = 0.0
            x[k] = self.prior_x
            y[k] = self.prior_y
        for i in range(n):
            angle = self.cells[rows[i]]
            if angle == angle:
                cosine_and_sine(angle, &c, &s)
                count[slots[i]] += 1.0
                x[slots[i]] += self.kappa * c
                y[slots[i]] += self.kappa * s
        add_log_bessel(x, y, parts, n_clusters)
        for k in range(n_clusters):
            out += parts[k] - empty - count[k] * self.log_norm
        return out

    def adopt(self, VonMisesStatistics source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        self.parameters = source.parameters

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        if self.grid_kappa.shape[0]:
            self.kappa = self.grid_kappa[self.resample(0, self.grid_kappa, n_clusters, power, bits)]
        if self.grid_r.shape[0]:
            self.r = self.grid_r[self.resample(1, self.grid_r, n_clusters, power, bits)]
        if self.grid_mu.shape[0]:
            self.mu = self.grid_mu[self.resample(2, self.grid_mu, n_clusters, power, bits)]
        if self.grid_kappa.shape[0] or self.grid_r.shape[0] or self.grid_mu.shape[0]:
            self.refresh_all()

    cdef Py_ssize_t resample(
        self, int which, const double[::1] grid, Py_ssize_t n_clusters, double power, bitgen_t* bits
    ) noexcept nogil:
        # A place on the grid of kappa, of r, or of mu, given the other two.
        cdef double[MAX_GRID] logs, work, kappa, prior_x, prior_y, each
        cdef double r, mu
        cdef Py_ssize_t k, g, n = grid.shape[0]
        for g in range(n):
            kappa[g] = grid[g] if which == 0 else self.kappa
            r = grid[g] if which == 1 else self.r
            mu = grid[g] if which == 2 else self.mu
            cosine_and_sine(mu, &prior_x[g], &prior_y[g])
            prior_x[g] *= r
            prior_y[g] *= r
            logs[g] = 0.0
            each[g] = log_bessel(kappa[g])
            work[g] = log_bessel(r)
        for k in range(n_clusters):
            if self.count[k]:
                self.add_over_grid(k, n, kappa, prior_x, prior_y, each, work, logs)
        return categorical(logs, work, n, power, bits)

    cdef void add_over_grid(
        self, Py_ssize_t k, Py_ssize_t n, const double* kappa, const double* prior_x, const double* prior_y,
        const double* each, const double* empty, double* logs
    ) noexcept nogil:
        cdef double[MAX_GRID] x, y
        cdef Py_ssize_t g
        for g in range(n):
            x[g] = prior_x[g] + kappa[g] * self.cosines[k]
            y[g] = prior_y[g] + kappa[g] * self.sines[k]
            logs[g] -= self.count[k] * each[g] + empty[g]
        add_log_bessel(x, y, logs, n)

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double c, s
        for i in range(n_rows):
            if values[i] == values[i]:
                cosine_and_sine(values[i], &c, &s)
                add_scores_double(c, s, &self.x[0], &self.y[0], &self.length[0], &self.constant[0], self.kappa,
                                  out + i * n_clusters, n_clusters)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef double center
        if values[0] != values[0]:
            center = direction(self.x[k], self.y[k]) + von_mises(self.length[k], bits)
            values[0] = wrapped(center + von_mises(self.kappa, bits))

    def conditional_moments(self, values, Py_ssize_t n_clusters):
        """Predictive circular means (angles in [0, 2 pi)) and circular variances, (n_rows, n_clusters, 1).

        The circular variance is 1 - |E e(x)|, from 0 (one direction) to 1 (none).
        """
        cdef Py_ssize_t k
        mean = np.array([direction(self.x[k], self.y[k]) for k in range(n_clusters)])
        lengths = np.array(self.length)[:n_clusters]
        variance = 1.0 - i1e(lengths) / i0e(lengths) * (i1e(self.kappa) / i0e(self.kappa))
        shape = (len(values), n_clusters, 1)
        return np.broadcast_to(mean[:, None], shape), np.broadcast_to(variance[:, None], shape)

    def get_state(self, Py_ssize_t n_clusters):
        """Arrays from which ``set_state`` restores the first slots and the hyperparameters."""
        return {
            "count": np.asarray(self.count)[:n_clusters].copy(),
            "cosines": np.asarray(self.cosines)[:n_clusters].copy(),
            "sines": np.asarray(self.sines)[:n_clusters].copy(),
            "parameters": self.parameters,
        }

    def set_state(self, state):
        """Restore what ``get_state`` gave; all other slots are empty."""
        cdef Py_ssize_t n = len(state["count"])
        self._make_room(n + 1)
        for name, array in (("count", self.count), ("cosines", self.cosines), ("sines", self.sines)):
            np.asarray(array)[:] = 0
            np.asarray(array)[:n] = state[name]
        self.parameters = state["parameters"]
