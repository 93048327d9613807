"""Loops over independent reals: Student's t of a row, or bounds of it, in one slot for all columns or in all slots."""
from libc.stdint cimport int32_t, uint32_t
from libc.string cimport memcpy

from sklearn_subanneal._core._math cimport (
    LANES, log1p_float, log_float, own_doubles, own_floats, simd_void,
)

cdef double HALF_OVER_PI = 0.15915494309189533577


cdef inline float least_log_float(float x) noexcept nogil:
    """At most log(x), by at most 0.013, for x >= 1: a parabola in place of log2 between powers of two."""
    cdef uint32_t bits
    cdef float mantissa, exponent
    memcpy(&bits, &x, 4)
    exponent = <float> (<int32_t> (bits >> 23) - 127)
    bits = (bits & <uint32_t> 0x007fffff) | <uint32_t> 0x3f800000
    memcpy(&mantissa, &bits, 4)
    mantissa -= <float> 1.0
    return (exponent + mantissa * (<float> 1.2786 - <float> 0.2786 * mantissa)) * <float> 0.6931471


cdef simd_void multiply_factors(
    float x, const float* location, const float* precision, float* product, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    cdef float d
    for k in range(n):
        d = x - location[k]
        product[k] *= <float> 1.0 + d * d * precision[k]


cdef simd_void multiply_four_factors(
    const float* x, const float* location, const float* precision, const float* location2, const float* precision2,
    const float* location3, const float* precision3, const float* location4, const float* precision4,
    own_floats product, Py_ssize_t n
) noexcept nogil:
    # Of four columns at once: a product in memory waits for the last one.
    cdef Py_ssize_t k
    cdef float d, d2, d3, d4
    for k in range(n):
        d, d2 = x[0] - location[k], x[1] - location2[k]
        d3, d4 = x[2] - location3[k], x[3] - location4[k]
        d, d2 = <float> 1.0 + d * d * precision[k], <float> 1.0 + d2 * d2 * precision2[k]
        d3, d4 = <float> 1.0 + d3 * d3 * precision3[k], <float> 1.0 + d4 * d4 * precision4[k]
        product[k] *= (d * d2) * (d3 * d4)


cdef simd_void finish_bounds(
    const float* constant, const float* least_power, const float* product, float slack, float* bounds, Py_ssize_t n
) noexcept nogil:
    # ``slack``: the rounding of the product and of its logarithm.
    cdef Py_ssize_t k
    for k in range(n):
        bounds[k] += constant[k] - least_power[k] * (least_log_float(product[k]) - slack)


cdef simd_void sum_student_t(
    const float* x, const float* location, const float* precision, const float* power, const float* constant,
    float* out, Py_ssize_t n
) noexcept nogil:
    # Of the observed cells of a row in one slot; n is a multiple of LANES.
    cdef Py_ssize_t at = 0, lane
    cdef float d
    cdef float[LANES] total
    for lane in range(LANES):
        total[lane] = 0.0
    while at < n:
        for lane in range(LANES):
            d = x[at + lane] - location[at + lane]
            d = constant[at + lane] - power[at + lane] * log1p_float(d * d * precision[at + lane])
            total[lane] += d if x[at + lane] == x[at + lane] else <float> 0.0
        at += LANES
    at = LANES // 2
    while at:
        for lane in range(at):
            total[lane] += total[lane + at]
        at //= 2
    out[0] = total[0]


cdef simd_void sum_left_out(
    const float* log_argument, const float* power, const float* constant, float* out, Py_ssize_t n
) noexcept nogil:
    # As ``sum_student_t``, of a row in its own slot, from which it is left out.
    cdef Py_ssize_t at = 0, lane
    cdef float[LANES] total
    for lane in range(LANES):
        total[lane] = 0.0
    while at < n:
        for lane in range(LANES):
            total[lane] += constant[at + lane] + power[at + lane] * log1p_float(log_argument[at + lane])
        at += LANES
    at = LANES // 2
    while at:
        for lane in range(at):
            total[lane] += total[lane + at]
        at //= 2
    out[0] = total[0]


cdef simd_void update_student_t(
    const double* kappa, const double* prior_total, const double* prior_square, const double* prior_spread,
    const double* nu, const double* count, const double* total, const double* square, own_doubles mean,
    own_doubles spread, own_floats location, own_floats precision, own_floats power, own_floats constant, Py_ssize_t n
) noexcept nogil:
    # Coefficients of one slot in all columns, as ``NormalStatistics.update`` computes those of one: the same bits. The
    # constant is that of many rows.
    cdef Py_ssize_t j
    cdef double kappa_n, weight, nu_n, sharpness, r
    for j in range(n):
        kappa_n = kappa[j] + count[j]
        weight = 1.0 / kappa_n
        mean[j] = (prior_total[j] + total[j]) * weight
        spread[j] = prior_spread[j] + square[j] + prior_square[j] - kappa_n * mean[j] * mean[j]
        spread[j] = spread[j] if spread[j] > prior_spread[j] else prior_spread[j]
        sharpness = 1.0 / (spread[j] * (1.0 + weight))
        nu_n = nu[j] + count[j]
        r = 1.0 / nu_n
        location[j] = <float> mean[j]
        precision[j] = <float> sharpness
        power[j] = <float> (0.5 * (nu_n + 1.0))
        constant[j] = (-<float> (r * (0.25 - r * r * 4.16666666666666667e-02))
                       + <float> 0.5 * log_float(<float> (HALF_OVER_PI * nu_n * sharpness)))
