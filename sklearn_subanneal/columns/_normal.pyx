"""Normal likelihood with a normal-inverse-chi-square prior: m | s2 ~ N(mu, s2 / kappa), s2 ~ Inv-chi2(nu, sigma2)."""
from libc.math cimport sqrt
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport (
    exp_double, gamma_ratio, log1p_float, log_double, log_float, log_gamma, padded, simd_void,
)
from sklearn_subanneal._core._random cimport log_standard_gamma, standard_normal
from sklearn_subanneal.columns._base cimport ColumnData, ColumnStatistics, LogQueue, push_log
from sklearn_subanneal.columns._normal_prior cimport resample_normal_prior

from sklearn_subanneal.columns._base import as_grid

MOMENTS = np.dtype(
    [("total", "f8"), ("square", "f8"), ("mean", "f8"), ("spread", "f8"), ("count", "i4"), ("own_scale", "f4"),
     ("own_constant", "f4")],
    align=True,
)
cdef double LOG_PI = 1.1447298858494001741
cdef double HALF_OVER_PI = 0.15915494309189533577


cdef simd_void add_student_t(
    float x, const float* location, const float* precision, const float* power, const float* constant,
    float* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    cdef float d
    for k in range(n):
        d = x - location[k]
        scores[k] += constant[k] - power[k] * log1p_float(d * d * precision[k])


cdef simd_void add_student_t_double(
    double x, const double* location, const double* precision, const double* power, const double* constant,
    double* scores, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    cdef double d
    for k in range(n):
        d = x - location[k]
        scores[k] += constant[k] - power[k] * log_double(1.0 + d * d * precision[k])


cdef simd_void log_evidence(
    const double* count, const double* total, const double* square, double mu, double kappa, double sigma2, double nu,
    double* out, Py_ssize_t n
) noexcept nogil:
    # The part of the log marginal likelihood that is not the same for all clusters, nor proportional to their size.
    cdef Py_ssize_t k
    cdef double kappa_n, mean, spread, prior = nu * sigma2
    for k in range(n):
        kappa_n = kappa + count[k]
        mean = (kappa * mu + total[k]) / kappa_n
        spread = prior + square[k] + kappa * mu * mu - kappa_n * mean * mean
        spread = spread if spread > prior else prior
        out[k] = (log_gamma(0.5 * (nu + count[k])) - 0.5 * log_double(kappa_n)
                  - 0.5 * (nu + count[k]) * log_double(spread))


cdef class NormalData(ColumnData):
    """One column of reals, float32; NaN is a missing cell."""

    def __init__(self, cells):
        self.cells = np.ascontiguousarray(cells, np.float32)
        self.n_rows = self.cells.shape[0]
        self.width = 1

    def take(self, order):
        return NormalData(np.asarray(self.cells)[order])


cdef class NormalStatistics(ColumnStatistics):
    """Statistics of a real column.

    Parameters
    ----------
    data : NormalData or None
        None where only the predictive densities are wanted.
    parameters : dict
        "mu", "kappa", "sigma2", "nu".
    grids : dict
        Grids of the hyperparameters to learn; those that are not named stay fixed.
    """

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.width = 1
        self.data = data
        self.cells = &self.data.cells[0] if data is not None and data.n_rows else NULL
        grids = grids or {}
        self.grid_mu, self.grid_kappa, self.grid_sigma2, self.grid_nu = [
            as_grid(grids.get(name, ())) for name in ("mu", "kappa", "sigma2", "nu")
        ]
        self.reserve(padded(capacity))
        self.parameters = parameters

    @property
    def parameters(self):
        return {"mu": self.mu, "kappa": self.kappa, "sigma2": self.sigma2, "nu": self.nu}

    @parameters.setter
    def parameters(self, values):
        self.mu, self.kappa, self.sigma2, self.nu = (values[name] for name in ("mu", "kappa", "sigma2", "nu"))
        self.refresh_all()

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t k, present = self.capacity
        moments = np.zeros(capacity, MOMENTS)
        old_moments, self.moments_array = self.moments_array, moments
        coefficients = np.zeros((4, capacity), np.float32)
        if present:
            moments[:present] = old_moments
            for row, old in zip(coefficients, (self.location, self.precision, self.power, self.constant), strict=True):
                row[:present] = old
        self.moments = moments
        self.location, self.precision, self.power, self.constant = coefficients
        self.exact = np.zeros((4, capacity))
        self.other = np.zeros((4, capacity))
        self.capacity = capacity
        if present:
            for k in range(present, capacity):
                self.refresh(k)
        return 0

    cdef double ratio(self, int32_t count) noexcept nogil:
        # log Gamma((nu_n + 1) / 2) - log Gamma(nu_n / 2)
        return self.gamma_ratios[count] if count < TABLE else gamma_ratio(self.nu + count)

    cdef void refresh_all(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double half
        for k in range(TABLE):
            half = 0.5 * (self.nu + k)
            self.gamma_ratios[k] = log_gamma(half + 0.5) - log_gamma(half)
        self.refresh_slots()

    cdef void refresh_slots(self) noexcept nogil:
        # Most slots are empty, and alike.
        cdef Py_ssize_t k, empty = -1
        for k in range(self.capacity):
            if self.moments[k].count == 0 and empty >= 0:
                self.move(empty, k)
                continue
            self.refresh(k)
            if self.moments[k].count == 0:
                empty = k

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef float argument, offset
        argument = self.update(k, &offset)
        self.constant[k] = offset + <float> 0.5 * log_float(argument)

    cdef float update(self, Py_ssize_t k, float* offset) noexcept nogil:
        # All of a slot's coefficients but the constant, which is offset + log(returned value) / 2.
        cdef Moments* m = &self.moments[k]
        cdef double n = m.count, kappa = self.kappa + n, nu = self.nu + n, prior = self.nu * self.sigma2
        cdef double weight = 1.0 / kappa, precision, r
        m.mean = (self.kappa * self.mu + m.total) * weight
        m.spread = prior + m.square + self.kappa * self.mu * self.mu - kappa * m.mean * m.mean
        # The floor holds exactly in real numbers; sums of floats may fall below it by cancellation.
        m.spread = m.spread if m.spread > prior else prior
        precision = 1.0 / (m.spread * (1.0 + weight))
        self.location[k] = <float> m.mean
        self.precision[k] = <float> precision
        self.power[k] = <float> (0.5 * (nu + 1.0))
        m.own_scale = -1.0
        if m.count < TABLE:
            offset[0] = <float> (self.gamma_ratios[m.count] - 0.5 * LOG_PI)
            return <float> precision
        r = 1.0 / nu
        offset[0] = -<float> (r * (0.25 - r * r * 4.16666666666666667e-02))
        return <float> (HALF_OVER_PI * nu * precision)

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef float x = self.cells[row]
        if x == x:
            add_student_t(x, &self.location[0], &self.precision[0], &self.power[0], &self.constant[0], scores, n)

    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil:
        # With c = kappa_n / (kappa_n - 1) and r = c (x - mu_n)^2 / spread_n, taking x out leaves spread_n (1 - r),
        # and 1 + the square in Student's t is 1 / (1 - r).
        cdef float x = self.cells[row]
        cdef Moments* m = &self.moments[k]
        cdef double d, r, prior
        if x != x:
            return 0.0
        if m.own_scale < 0.0:
            self.prepare_own(k)
        d = x - m.mean
        r = d * d * m.own_scale
        if r < 0.5:
            return m.own_constant + (self.power[k] - <float> 1.0) * log1p_float(<float> -r)
        # The floor is what the spread can fall to: the prior's own.
        r = self.kappa + m.count
        r = m.spread - d * d * r / (r - 1.0)
        prior = self.nu * self.sigma2
        r = (r if r > prior else prior) / m.spread
        return m.own_constant + <float> ((self.power[k] - 1.0) * log_double(r))

    cdef void prepare_own(self, Py_ssize_t k) noexcept nogil:
        # The constant differs from the cached one by the count alone.
        cdef Moments* m = &self.moments[k]
        cdef double n = m.count, kappa = self.kappa + n, r = 1.0 / (kappa * kappa)
        m.own_scale = <float> (kappa / ((kappa - 1.0) * m.spread))
        m.own_constant = self.constant[k] + <float> (
            self.ratio(m.count - 1) - self.ratio(m.count) + 0.5 * log_double(1.0 - r))

    cdef void add(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        cdef double x = self.cells[row]
        cdef float argument, offset
        if x == x:
            self.moments[k].count += 1
            self.moments[k].total += x
            self.moments[k].square += x * x
            argument = self.update(k, &offset)
            push_log(logs, argument, 0.5, offset, &self.constant[k])

    cdef void remove(self, Py_ssize_t row, Py_ssize_t k, LogQueue* logs) noexcept nogil:
        cdef double x = self.cells[row]
        cdef float argument, offset
        if x == x:
            self.moments[k].count -= 1
            self.moments[k].total -= x
            self.moments[k].square -= x * x
            argument = self.update(k, &offset)
            push_log(logs, argument, 0.5, offset, &self.constant[k])

    cdef void copy(self, ColumnStatistics other, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.moments[target] = (<NormalStatistics> other).moments[source]
        self.location[target] = (<NormalStatistics> other).location[source]
        self.precision[target] = (<NormalStatistics> other).precision[source]
        self.power[target] = (<NormalStatistics> other).power[source]
        self.constant[target] = (<NormalStatistics> other).constant[source]

    cdef void clear(self, Py_ssize_t k) noexcept nogil:
        self.moments[k].count = 0
        self.moments[k].total = self.moments[k].square = 0.0
        self.refresh(k)

    cdef void merge(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        self.moments[target].count += self.moments[source].count
        self.moments[target].total += self.moments[source].total
        self.moments[target].square += self.moments[source].square
        self.refresh(target)

    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double x
        cdef Moments* m
        for k in range(self.capacity):
            self.moments[k].count = 0
            self.moments[k].total = self.moments[k].square = 0.0
        for i in range(n):
            x = self.cells[rows[i]]
            if x == x:
                m = &self.moments[slots[i]]
                m.count += 1
                m.total += x
                m.square += x * x
        self.refresh_slots()

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef Moments* m = &self.moments[k]
        cdef double n = m.count, nu = self.nu + n
        return (log_gamma(0.5 * nu) - log_gamma(0.5 * self.nu) - 0.5 * n * LOG_PI
                + 0.5 * log_double(self.kappa / (self.kappa + n))
                + 0.5 * self.nu * log_double(self.nu * self.sigma2) - 0.5 * nu * log_double(m.spread))

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef double x = self.cells[row], reach, off
        cdef Moments* m = &self.moments[k]
        if x != x:
            return 0.0
        reach = m.spread * (1.0 + 1.0 / (self.kappa + m.count))
        off = x - m.mean
        return (self.ratio(m.count) - 0.5 * (LOG_PI + log_double(reach))
                - 0.5 * (self.nu + m.count + 1.0) * log_double(1.0 + off * off / reach))

    cdef double log_likelihood(
        self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        cdef double* count = &self.other[0, 0]
        cdef double* total = &self.other[1, 0]
        cdef double* square = &self.other[2, 0]
        cdef double* parts = &self.other[3, 0]
        cdef double x, out = 0.0, empty, n_cells = 0.0
        cdef Py_ssize_t i, k
        for k in range(n_clusters):
            count[k] = total[k] = square[k] = 0.0
        for i in range(n):
            x = self.cells[rows[i]]
            if x == x:
                k = slots[i]
                count[k] += 1.0
                total[k] += x
                square[k] += x * x
        log_evidence(count, total, square, self.mu, self.kappa, self.sigma2, self.nu, parts, n_clusters)
        empty = (log_gamma(0.5 * self.nu) - 0.5 * log_double(self.kappa)
                 - 0.5 * self.nu * log_double(self.nu * self.sigma2))
        for k in range(n_clusters):
            if count[k] > 0.0:
                out += parts[k] - empty
                n_cells += count[k]
        return out - 0.5 * n_cells * LOG_PI

    def adopt(self, NormalStatistics source not None):
        """Take over the hyperparameters of other statistics of the same column."""
        self.mu, self.kappa, self.sigma2, self.nu = source.mu, source.kappa, source.sigma2, source.nu
        self.gamma_ratios = source.gamma_ratios
        self.refresh_slots()

    cdef void resample_prior(self, Py_ssize_t n_clusters, double power, bitgen_t* bits) noexcept nogil:
        if resample_normal_prior(self, n_clusters, power, bits):
            self.refresh_all()

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double reach
        cdef double* location = &self.exact[0, 0]
        cdef double* precision = &self.exact[1, 0]
        cdef double* power = &self.exact[2, 0]
        cdef double* constant = &self.exact[3, 0]
        for k in range(n_clusters):
            reach = self.moments[k].spread * (1.0 + 1.0 / (self.kappa + self.moments[k].count))
            location[k] = self.moments[k].mean
            precision[k] = 1.0 / reach
            power[k] = 0.5 * (self.nu + self.moments[k].count + 1.0)
            constant[k] = self.ratio(self.moments[k].count) - 0.5 * (LOG_PI + log_double(reach))
        for i in range(n_rows):
            if values[i] == values[i]:
                add_student_t_double(values[i], location, precision, power, constant, out + i * n_clusters, n_clusters)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef Moments* m = &self.moments[k]
        cdef double n = m.count, half = 0.5 * (self.nu + n), chi
        if values[0] != values[0]:
            # reach = nu_n * scale^2, so that nu_n cancels in t = z / sqrt(chi2 / nu_n)
            chi = 2.0 * exp_double(log_standard_gamma(half, bits))
            values[0] = m.mean + standard_normal(bits) * sqrt(m.spread * (1.0 + 1.0 / (self.kappa + n)) / chi)

    def conditional_moments(self, values, Py_ssize_t n_clusters):
        """Predictive means and variances (n_rows, n_clusters, 1); variances bounded as in ``variance_factor``."""
        cdef Py_ssize_t k
        mean, variance = np.empty(n_clusters), np.empty(n_clusters)
        for k in range(n_clusters):
            n, nu = self.moments[k].count, self.nu + self.moments[k].count
            mean[k] = self.moments[k].mean
            variance[k] = self.moments[k].spread * (1 + 1 / (self.kappa + n)) / nu * variance_factor(nu)
        shape = (len(values), n_clusters, 1)
        return np.broadcast_to(mean[:, None], shape), np.broadcast_to(variance[:, None], shape)

    def get_state(self, Py_ssize_t n_clusters):
        """Arrays from which ``set_state`` restores the first slots and the hyperparameters."""
        moments = self.moments_array[:n_clusters]
        return {name: moments[name].copy() for name in ("count", "total", "square")} | {"parameters": self.parameters}

    def set_state(self, state):
        """Restore what ``get_state`` gave; all other slots are empty."""
        cdef Py_ssize_t n = len(state["count"])
        self._make_room(n + 1)
        moments = self.moments_array
        for name in ("count", "total", "square"):
            moments[name] = 0
            moments[name][:n] = state[name]
        self.parameters = state["parameters"]
