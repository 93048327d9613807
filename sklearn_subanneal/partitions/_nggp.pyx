"""NGGPPrior: the prior of a partition by a normalized generalized gamma process, with sampling of its parameters.

The Levy intensity is alpha sigma / Gamma(1 - sigma) w^(-1 - sigma) e^(-w), with mass alpha and 0 < sigma < 1. Given an
auxiliary variable u the weights are n_k - sigma for a cluster and alpha sigma (1 + u)^sigma for a new one. The state is
v = log u, which may be in the thousands for small sigma and alpha; given K clusters of n rows its log density is

    n v - alpha ((1 + u)^sigma - 1) - (n - K sigma) log(1 + u),

concave in v. Its integral is found by quadrature, so that alpha and sigma are learned with u integrated out, which
mixes far better than given u, and v is then drawn independently of its previous value.
"""
from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma
from sklearn_subanneal._core._random cimport log_standard_gamma, open_uniform, uniform
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior

# Half of the nodes and weights of Gauss and Legendre's rule with 16 points.
cdef double[8] NODE = [
    0.09501250983763744, 0.2816035507792589, 0.45801677765722737, 0.6178762444026438,
    0.755404408355003, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499]
cdef double[8] WEIGHT = [
    0.18945061045506864, 0.18260341504492364, 0.16915651939500265, 0.1495959888165767,
    0.12462897125553407, 0.0951585116824926, 0.062253523938647456, 0.027152459411754176]
# The log density is integrated down to this far below its maximum; the rest is below rounding error.
cdef double DEPTH = 45.0
# Masses and values of sigma between which nothing overflows, and integrals are as exact as elsewhere.
LOWEST, HIGHEST = 1e-100, 1e100
cdef double LOWEST_ALLOWED = LOWEST, HIGHEST_ALLOWED = HIGHEST


cdef inline double softplus(double v) noexcept nogil:
    """log(1 + e^v)."""
    return v + log_double(1.0 + exp_double(-v)) if v > 0.0 else log_double(1.0 + exp_double(v))


cdef inline double log1p_of_exp(double v) noexcept nogil:
    """log(1 + e^v) with small relative error: where u = e^v is small, a large mass multiplies the rounding of 1 + u."""
    cdef double u
    if v > -10.0:
        return softplus(v)
    u = exp_double(v)
    return u * (1.0 - u * (0.5 - u * (1.0 / 3 - 0.25 * u)))


cdef inline double expm1_double(double x) noexcept nogil:
    """e^x - 1 for x >= 0; e^700 stands for all that is larger."""
    if x < 0.05:
        return x * (1.0 + x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x * (1.0 / 720 + x / 5040))))))
    return exp_double(x if x < 700.0 else 700.0) - 1.0


cdef struct Curve:
    # The log density of v at one place, up to a constant, and its derivatives.
    double value, slope, bend
    double share                            # u / (1 + u)
    double tilt                             # (1 + u)^sigma


cdef struct Law:
    double mass, sigma, n, n_clusters


cdef void trace_curve(const Law* law, double v, Curve* out) noexcept nogil:
    cdef double length = log1p_of_exp(v), power = law.sigma * length, growth = expm1_double(power), rest, pull
    # u / (1 + u) and 1 / (1 + u), each without cancellation
    out.share = exp_double(v - length)
    rest = exp_double(-length)
    out.tilt = 1.0 + growth
    pull = law.n_clusters - law.mass * out.tilt
    # n (v - log(1 + u)) would cancel
    out.value = law.n_clusters * power - law.mass * growth - law.n * softplus(-v)
    out.slope = law.sigma * out.share * pull + law.n * rest
    out.bend = (law.sigma * out.share * rest * pull - law.n * out.share * rest
                - law.mass * law.sigma * law.sigma * out.share * out.share * out.tilt)


cdef double find_top(const Law* law, Curve* curve) noexcept nogil:
    """The v at which the density is about the largest, and the curve there."""
    cdef double low = 0.0, high = 0.0, step = 1.0, middle
    trace_curve(law, 0.0, curve)
    while curve.slope > 0.0:
        low, high, step = high, high + step, 2.0 * step
        trace_curve(law, high, curve)
    if high == 0.0:
        while curve.slope <= 0.0:
            high, low, step = low, low - step, 2.0 * step
            trace_curve(law, low, curve)
    while True:
        middle = 0.5 * (low + high)
        trace_curve(law, middle, curve)
        # A thousandth of a standard deviation will do, but only where the curve is flat: far away it may be straight.
        if (high - low) * (high - low) * -curve.bend < 1e-6 and curve.slope * curve.slope <= 1e-4 * -curve.bend:
            return middle
        if middle == low or middle == high:
            return middle
        if curve.slope > 0.0:
            low = middle
        else:
            high = middle


cdef double fallen(const Law* law, double top, double height, double direction, double depth) noexcept nogil:
    """The v to the left or right of the top where the log density is lower by about ``depth``."""
    cdef Curve curve
    # Places, not distances: the top may be at 1e100, and the place at -1.
    cdef double step = direction, near = top, far = top + step, middle
    trace_curve(law, far, &curve)
    while height - curve.value < depth:
        near, step = far, 2.0 * step
        far = top + step
        trace_curve(law, far, &curve)
    while True:
        middle = 0.5 * (near + far)
        trace_curve(law, middle, &curve)
        if -0.1 * depth < height - curve.value - depth < 0.1 * depth or middle == near or middle == far:
            return middle
        if height - curve.value < depth:
            near = middle
        else:
            far = middle


cdef Integral integrate(const Law* law) noexcept nogil:
    """Integral of the density of v, over panels whose width follows its smoothness."""
    cdef Curve curve
    cdef Integral out
    cdef double top = find_top(law, &curve), height = curve.value, left, right, width, weight, total = 0.0
    cdef Py_ssize_t i, sign
    out.join = out.open = 0.0
    left = fallen(law, top, height, -1.0, DEPTH)
    right = fallen(law, top, height, 1.0, DEPTH)
    while left < right:
        trace_curve(law, left, &curve)
        # Rounding may leave 0 of a slope, or of a bend: there is no limit from it then.
        width = min(2.0 / sqrt(max(-curve.bend, 0.0)), 8.0 / fabs(curve.slope))
        width = min(min(width, 1.0 / law.sigma), right - left)
        for i in range(8):
            for sign in range(-1, 2, 2):
                trace_curve(law, left + 0.5 * width * (1.0 + sign * NODE[i]), &curve)
                weight = 0.5 * width * WEIGHT[i] * exp_double(curve.value - height)
                total += weight
                out.join += weight * curve.share
                out.open += weight * curve.share * curve.tilt
        if left + width == left:
            break
        left += width
    out.join /= total
    out.open *= law.mass * law.sigma / total
    out.log_mass = height + log_double(total)
    return out


cdef double draw_log_u(const Law* law, bitgen_t* bits) noexcept nogil:
    """An independent draw of v, by rejection from two tangents, which lie above a concave curve everywhere."""
    cdef Curve curve, one, two
    cdef double top = find_top(law, &curve), height = curve.value, left, right, ridge, peak, share, v, bound
    left = fallen(law, top, height, -1.0, 0.5)
    right = fallen(law, top, height, 1.0, 0.5)
    trace_curve(law, left, &one)
    trace_curve(law, right, &two)
    # where the tangents meet
    ridge = ((two.value - two.slope * right) - (one.value - one.slope * left)) / (one.slope - two.slope)
    peak = one.value + one.slope * (ridge - left)
    share = two.slope / (two.slope - one.slope)
    while True:
        if uniform(bits) < share:
            v = ridge + log_double(open_uniform(bits)) / one.slope
            bound = peak + one.slope * (v - ridge)
        else:
            v = ridge + log_double(open_uniform(bits)) / two.slope
            bound = peak + two.slope * (v - ridge)
        trace_curve(law, v, &curve)
        if log_double(open_uniform(bits)) < curve.value - bound:
            return v


cdef class NGGPPrior(PartitionPrior):
    """The normalized generalized gamma process.

    Parameters
    ----------
    mass, sigma : float
        1e-100 <= alpha <= 1e100, and 1e-100 <= sigma < 1.
    mass_prior : tuple of float or None, default=None
        Shape and rate of the gamma prior from which the mass is learned; None: it is fixed.
    sigma_prior : tuple of float or None, default=None
        The two parameters of the beta prior from which sigma is learned; None: it is fixed.
    """

    def __init__(self, double mass, double sigma, mass_prior=None, sigma_prior=None):
        self.mass_prior, self.sigma_prior = mass_prior, sigma_prior
        self.learns_mass, self.learns_sigma = mass_prior is not None, sigma_prior is not None
        if self.learns_mass:
            self.mass_shape, self.mass_rate = mass_prior
        if self.learns_sigma:
            self.sigma_a, self.sigma_b = sigma_prior
        self.set_parameters(mass, sigma, 0.0)

    @property
    def is_random_measure(self):
        return True

    @property
    def has_auxiliary(self):
        return True

    @property
    def parameters(self):
        return {"mass": self.mass, "sigma": self.sigma, "log_u": self.log_u}

    @parameters.setter
    def parameters(self, values):
        self.set_parameters(values["mass"], values["sigma"], values["log_u"])

    cdef void set_parameters(self, double mass, double sigma, double log_u) noexcept nogil:
        self.mass, self.sigma, self.log_u = mass, sigma, log_u
        self.offset = -sigma
        self.new_base = mass * sigma * exp_double(min(sigma * softplus(log_u), 700.0))
        self.new_slope = 0.0

    cdef void redraw_auxiliary(self, Py_ssize_t n, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil:
        cdef Law law
        if n:
            law = Law(self.mass, self.sigma, n, n_clusters)
            self.set_parameters(self.mass, self.sigma, draw_log_u(&law, bits))

    cdef double log_sizes(self, double sigma, const int32_t* counts, Py_ssize_t n_clusters) noexcept nogil:
        # The part of the log probability that depends on the sizes, not the mass.
        cdef Py_ssize_t k
        cdef double out = n_clusters * (log_double(sigma) - log_gamma(1.0 - sigma))
        for k in range(n_clusters):
            out += log_gamma(counts[k] - sigma)
        return out

    cdef double log_probability(self, const int32_t* counts, Py_ssize_t n_clusters) noexcept nogil:
        # u is integrated out, so that the reported value does not vary with it.
        cdef Py_ssize_t k, n = 0
        for k in range(n_clusters):
            n += counts[k]
        if not n:
            return 0.0
        return (self.log_sizes(self.sigma, counts, n_clusters) - log_gamma(n)
                + self.target(self.mass, self.sigma, n, n_clusters))

    cdef double target(self, double mass, double sigma, Py_ssize_t n, Py_ssize_t n_clusters) noexcept nogil:
        # The part that depends on the mass.
        cdef Law law = Law(mass, sigma, n, n_clusters)
        return n_clusters * log_double(mass) + integrate(&law).log_mass

    cdef double slice_mass(self, Py_ssize_t n, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil:
        # Slice sampling of the log of the mass (Neal 2003, doi:10.1214/aos/1056562461), stepping out.
        cdef double now = log_double(self.mass), left, right, x, level
        level = self.log_mass_density(now, n, n_clusters) + log_double(open_uniform(bits))
        left = now - uniform(bits)
        right = left + 1.0
        while self.log_mass_density(left, n, n_clusters) > level:
            left -= 1.0
        while self.log_mass_density(right, n, n_clusters) > level:
            right += 1.0
        while True:
            x = left + (right - left) * uniform(bits)
            if self.log_mass_density(x, n, n_clusters) > level:
                return exp_double(x)
            if x < now:
                left = x
            else:
                right = x

    cdef double log_mass_density(self, double log_mass, Py_ssize_t n, Py_ssize_t n_clusters) noexcept nogil:
        cdef double mass = exp_double(log_mass)
        if not LOWEST_ALLOWED <= mass <= HIGHEST_ALLOWED:
            return -INFINITY
        return self.mass_shape * log_mass - self.mass_rate * mass + self.target(mass, self.sigma, n, n_clusters)

    cdef double slice_sigma(
        self, const int32_t* counts, Py_ssize_t n, Py_ssize_t n_clusters, bitgen_t* bits
    ) noexcept nogil:
        # Slice sampling, the slice found by shrinkage of (0, 1).
        cdef double left = 0.0, right = 1.0, x, level
        level = self.log_sigma_density(self.sigma, counts, n, n_clusters) + log_double(open_uniform(bits))
        while True:
            x = left + (right - left) * open_uniform(bits)
            if self.log_sigma_density(x, counts, n, n_clusters) > level:
                return x
            if x < self.sigma:
                left = x
            else:
                right = x

    cdef double log_sigma_density(
        self, double sigma, const int32_t* counts, Py_ssize_t n, Py_ssize_t n_clusters
    ) noexcept nogil:
        if not LOWEST_ALLOWED <= sigma < 1.0:
            return -INFINITY
        return ((self.sigma_a - 1.0) * log_double(sigma) + (self.sigma_b - 1.0) * log_double(1.0 - sigma)
                + self.log_sizes(sigma, counts, n_clusters) + self.target(self.mass, sigma, n, n_clusters))

    cdef void resample(self, const int32_t* counts, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t k, n = 0
        for k in range(n_clusters):
            n += counts[k]
        if self.learns_mass:
            self.mass = self.slice_mass(n, n_clusters, bits)
        if self.learns_sigma:
            self.sigma = self.slice_sigma(counts, n, n_clusters, bits)
        self.redraw_auxiliary(n, n_clusters, bits)

    cdef void draw_parameters(self, bitgen_t* bits) noexcept nogil:
        cdef double mass = self.mass, sigma = self.sigma, other
        if self.learns_mass:
            mass = exp_double(log_standard_gamma(self.mass_shape, bits)) / self.mass_rate
        if self.learns_sigma:
            sigma = log_standard_gamma(self.sigma_a, bits)
            other = log_standard_gamma(self.sigma_b, bits) - sigma
            sigma = 1.0 / (1.0 + exp_double(min(other, 700.0)))
        self.set_parameters(mass, sigma, 0.0)

    def predictive_weights(self, const int32_t[::1] counts):
        # A cluster has the mean of u / (1 + u) times (n_k - sigma), a new one a mean of its own; averages of weights
        # that are normalised for each u would be biased.
        cdef Law law = Law(self.mass, self.sigma, np.sum(counts), counts.shape[0])
        cdef Integral means
        if not law.n:
            return self.offset, self.new_base, self.new_slope
        means = integrate(&law)
        return self.offset, means.open / means.join, 0.0

    def draw_partition(self, Py_ssize_t n_rows, generator):
        cdef Py_ssize_t row, n_clusters = 0
        labels, counts = np.zeros(n_rows, np.int32), np.zeros(n_rows, np.int32)
        for row in range(n_rows):
            weights = np.array([1.0])
            if row:
                offset, base, _ = self.predictive_weights(counts[:n_clusters])
                weights = np.append(counts[:n_clusters] + offset, base)
            labels[row] = np.searchsorted(np.cumsum(weights), generator.random() * weights.sum(), side="right")
            labels[row] = min(labels[row], n_clusters)
            counts[labels[row]] += 1
            n_clusters += labels[row] == n_clusters
        return labels

    def fresh(self):
        return NGGPPrior(self.mass, self.sigma, self.mass_prior, self.sigma_prior)
