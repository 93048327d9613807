"""Normal likelihood with a normal-inverse-chi-square prior: m | s2 ~ N(mu, s2 / kappa), s2 ~ Inv-chi2(nu, sigma2)."""
from libc.math cimport NAN, sqrt
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np
from scipy.special import stdtr

from sklearn_subanneal._core._math cimport (
    exp_double, gamma_ratio, log1p_float, log_double, log_float, log_gamma, simd_void,
)
from sklearn_subanneal._core._random cimport log_standard_gamma, standard_normal
from sklearn_subanneal.columns._additive cimport AdditiveStatistics, Sums
from sklearn_subanneal.columns._base cimport REAL, ColumnData, LogQueue, push_log
from sklearn_subanneal.columns._normal_prior cimport add_over_normal_prior

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


cdef simd_void take_student_t(double* precision, double* power, double* constant, Py_ssize_t n) noexcept nogil:
    # From the squared reach, the degrees of freedom and the tabulated constant, if there is one, to what
    # ``add_student_t_double`` takes.
    cdef Py_ssize_t k
    cdef double ratio
    for k in range(n):
        ratio = constant[k] if constant[k] == constant[k] else gamma_ratio(power[k])
        constant[k] = ratio - 0.5 * (LOG_PI + log_double(precision[k]))
        precision[k] = 1.0 / precision[k]
        power[k] = 0.5 * (power[k] + 1.0)


cdef simd_void take_evidence(
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
        self.cells = self.keep(np.ascontiguousarray(cells, np.float32))


cdef class NormalStatistics(AdditiveStatistics):
    """Statistics of a real column, as :class:`AdditiveStatistics`; the parameters are "mu", "kappa", "sigma2", "nu"."""

    def __init__(self, data, parameters, grids=None, Py_ssize_t capacity=16):
        self.prior, self.family = <NormalPrior*> self.hyperparameter, REAL
        super().__init__(data, parameters, grids, capacity, hyperparameters=("mu", "kappa", "sigma2", "nu"),
                         sums=("count", "total", "square"), n_derived=3, n_floats=4)

    cdef int place(self) except -1:
        cdef NormalData data = self.data
        self.cells = &data.cells[0] if data is not None and data.n_rows else NULL
        self.moments = <Moments*> self.own.record
        self.location, self.precision = self.floats, self.floats + self.capacity
        self.power, self.constant = self.floats + 2 * self.capacity, self.floats + 3 * self.capacity
        return 0

    cdef double ratio(self, double count) noexcept nogil:
        # log Gamma((nu_n + 1) / 2) - log Gamma(nu_n / 2)
        return self.gamma_ratios[<int> count] if count < TABLE else gamma_ratio(self.prior.nu + count)

    cdef void refresh_prior(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double half
        if self.tabulated_nu != self.prior.nu:
            self.tabulated_nu = self.prior.nu
            for k in range(TABLE):
                half = 0.5 * (self.prior.nu + k)
                self.gamma_ratios[k] = log_gamma(half + 0.5) - log_gamma(half)

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef float argument, offset
        argument = self.update(k, &offset)
        self.constant[k] = offset + <float> 0.5 * log_float(argument)

    cdef float update(self, Py_ssize_t k, float* offset) noexcept nogil:
        # All of a slot's coefficients but the constant, which is offset + log(returned value) / 2.
        cdef Moments* m = &self.moments[k]
        cdef NormalPrior* p = self.prior
        cdef double n = m.count, kappa = p.kappa + n, nu = p.nu + n, prior = p.nu * p.sigma2
        cdef double weight = 1.0 / kappa, precision, r
        m.mean = (p.kappa * p.mu + m.total) * weight
        m.spread = prior + m.square + p.kappa * p.mu * p.mu - kappa * m.mean * m.mean
        # The floor holds exactly in real numbers; sums of floats may fall below it by cancellation.
        m.spread = m.spread if m.spread > prior else prior
        precision = 1.0 / (m.spread * (1.0 + weight))
        self.location[k] = <float> m.mean
        self.precision[k] = <float> precision
        self.power[k] = <float> (0.5 * (nu + 1.0))
        m.own_scale = -1.0
        if m.count < TABLE:
            offset[0] = <float> (self.gamma_ratios[<int> m.count] - 0.5 * LOG_PI)
            return <float> precision
        r = 1.0 / nu
        offset[0] = -<float> (r * (0.25 - r * r * 4.16666666666666667e-02))
        return <float> (HALF_OVER_PI * nu * precision)

    cdef void score(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil:
        cdef float x = self.cells[row]
        if x == x:
            add_student_t(x, self.location, self.precision, self.power, self.constant, scores, n)

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
        # The spread cannot fall below the prior's.
        r = self.prior.kappa + m.count
        r = m.spread - d * d * r / (r - 1.0)
        prior = self.prior.nu * self.prior.sigma2
        r = (r if r > prior else prior) / m.spread
        return m.own_constant + <float> ((self.power[k] - 1.0) * log_double(r))

    cdef void prepare_own(self, Py_ssize_t k) noexcept nogil:
        # The constant differs from the cached one by the count alone.
        cdef Moments* m = &self.moments[k]
        cdef double n = m.count, kappa = self.prior.kappa + n, r = 1.0 / (kappa * kappa)
        m.own_scale = <float> (kappa / ((kappa - 1.0) * m.spread))
        m.own_constant = self.constant[k] + <float> (
            self.ratio(m.count - 1) - self.ratio(m.count) + 0.5 * log_double(1.0 - r))

    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil:
        cdef double x = self.cells[row]
        cdef float argument, offset
        if x == x:
            self.moments[k].count += sign
            self.moments[k].total += sign * x
            self.moments[k].square += sign * (x * x)
            argument = self.update(k, &offset)
            push_log(logs, argument, 0.5, offset, &self.constant[k])

    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil:
        cdef Py_ssize_t i
        cdef double x
        cdef Moments* m
        for i in range(n):
            x = self.cells[rows[i]]
            if x == x:
                m = <Moments*> sums.record + slots[i]
                m.count += 1.0
                m.total += x
                m.square += x * x
        return 0.0

    cdef double log_marginal(self, Py_ssize_t k) noexcept nogil:
        cdef Moments* m = &self.moments[k]
        cdef double n = m.count, nu = self.prior.nu + n
        return (log_gamma(0.5 * nu) - log_gamma(0.5 * self.prior.nu) - 0.5 * n * LOG_PI
                + 0.5 * log_double(self.prior.kappa / (self.prior.kappa + n))
                + 0.5 * self.prior.nu * log_double(self.prior.nu * self.prior.sigma2) - 0.5 * nu * log_double(m.spread))

    cdef double log_predictive(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil:
        cdef double x = self.cells[row], reach, off
        cdef Moments* m = &self.moments[k]
        if x != x:
            return 0.0
        reach = m.spread * (1.0 + 1.0 / (self.prior.kappa + m.count))
        off = x - m.mean
        return (self.ratio(m.count) - 0.5 * (LOG_PI + log_double(reach))
                - 0.5 * (self.prior.nu + m.count + 1.0) * log_double(1.0 + off * off / reach))

    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil:
        cdef const double* count = self.room
        cdef const double* total = count + self.capacity
        cdef const double* square = total + self.capacity
        cdef double* parts = self.room + 3 * self.capacity
        cdef NormalPrior* p = self.prior
        cdef double n_cells = 0.0, empty
        cdef Py_ssize_t k
        take_evidence(count, total, square, p.mu, p.kappa, p.sigma2, p.nu, parts, n_clusters)
        empty = log_gamma(0.5 * p.nu) - 0.5 * log_double(p.kappa) - 0.5 * p.nu * log_double(p.nu * p.sigma2)
        for k in range(n_clusters):
            if count[k] > 0.0:
                constant += parts[k] - empty
                n_cells += count[k]
        return constant - 0.5 * n_cells * LOG_PI

    cdef void add_over_grid(
        self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        add_over_normal_prior(self, axis, grid, n_grid, n_clusters, out)

    cdef void take_coefficients(
        self, Py_ssize_t n, double* location, double* precision, double* power, double* constant
    ) noexcept nogil:
        # Student's t of the first n slots in float64: constant - power * log(1 + precision * (x - location)^2)
        cdef Py_ssize_t k
        for k in range(n):
            location[k] = self.moments[k].mean
            precision[k] = self.moments[k].spread * (1.0 + 1.0 / (self.prior.kappa + self.moments[k].count))
            power[k] = self.prior.nu + self.moments[k].count
            constant[k] = self.gamma_ratios[<int> self.moments[k].count] if self.moments[k].count < TABLE else NAN
        take_student_t(precision, power, constant, n)

    cdef void score_values(
        self, const double* values, Py_ssize_t n_rows, Py_ssize_t n_clusters, double* out
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double* location = self.room
        cdef double* precision = self.room + self.capacity
        cdef double* power = self.room + 2 * self.capacity
        cdef double* constant = self.room + 3 * self.capacity
        self.take_coefficients(n_clusters, location, precision, power, constant)
        for i in range(n_rows):
            if values[i] == values[i]:
                add_student_t_double(values[i], location, precision, power, constant, out + i * n_clusters, n_clusters)

    cdef void draw(self, Py_ssize_t k, bitgen_t* bits, double* values) noexcept nogil:
        cdef Moments* m = &self.moments[k]
        cdef double n = m.count, half = 0.5 * (self.prior.nu + n), chi
        if values[0] != values[0]:
            # reach = nu_n * scale^2, so that nu_n cancels in t = z / sqrt(chi2 / nu_n)
            chi = 2.0 * exp_double(log_standard_gamma(half, bits))
            values[0] = m.mean + standard_normal(bits) * sqrt(m.spread * (1.0 + 1.0 / (self.prior.kappa + n)) / chi)

    def conditional_moments(self, values, Py_ssize_t n_clusters):
        """Predictive means and variances (n_rows, n_clusters, 1); variances bounded as in ``variance_factor``."""
        location, square, free = self.conditional_t(values, n_clusters)
        values, places = np.unique(free[0], return_inverse=True)
        return location, square * np.array([variance_factor(nu) for nu in values])[places, None]

    def conditional_t(self, values, Py_ssize_t n_clusters):
        """The t distribution of a new cell in each cluster, the same in all rows.

        Returns
        -------
        location, square : ndarray of shape (n_rows, n_clusters, 1)
            Locations and squared scales.
        free : ndarray of shape (n_rows, n_clusters)
            Degrees of freedom.
        """
        cdef Py_ssize_t k
        location, square, free = np.empty((3, n_clusters))
        for k in range(n_clusters):
            free[k] = self.prior.nu + self.moments[k].count
            location[k] = self.moments[k].mean
            square[k] = self.moments[k].spread * (1 + 1 / (self.prior.kappa + self.moments[k].count)) / free[k]
        shape = (len(values), n_clusters)
        return *(np.broadcast_to(a[:, None], (*shape, 1)) for a in (location, square)), np.broadcast_to(free, shape)

    def t_left_out(self, rows, slots):
        """The t distribution of the cell of each of these rows in its slot, from which it is left out.

        Parameters
        ----------
        rows, slots : ndarray of int, shape (n_rows,)
            Rows of the data whose cells are observed, and their slots.

        Returns
        -------
        location, square, free : ndarray of shape (n_rows,)
            As of ``conditional_t``.
        """
        cdef NormalData data = self.data
        cells = np.asarray(data.cells)[rows].astype(np.float64)
        location, square, free = (
            a.reshape(-1)[slots] for a in self.conditional_t(np.empty((1, 1)), max(slots, default=0) + 1))
        kappa = self.prior.kappa + free - self.prior.nu
        spread = square * free * kappa / (kappa + 1) - (cells - location) ** 2 * kappa / (kappa - 1)
        spread = np.maximum(spread, self.prior.nu * self.prior.sigma2)
        return location - (cells - location) / (kappa - 1), spread * kappa / (kappa - 1) / (free - 1), free - 1

    def cumulative(self, points, Py_ssize_t n_clusters):
        """Predictive probabilities (n_clusters, n_points) of a value at or below each point."""
        location, square, free = self.conditional_t(np.empty((1, 1)), n_clusters)
        return stdtr(free[0][:, None], (points - location[0]) / np.sqrt(square[0]))
