"""Sampling of one cluster from log weights, the last step of each assignment of a row."""
from sklearn_subanneal._core._math cimport LANES, exp_float, simd_void


cdef simd_void exponentiate(
    float inverse_temperature, float floor, const float* log_weight, float* scores, Py_ssize_t n, float* top,
    float* total
) noexcept nogil:
    """Turn scores into weights exp(score to the power + log weight - top), n a multiple of LANES; top: the largest."""
    # Eight maxima, and eight sums, side by side: one after the other, each would wait for the last.
    cdef Py_ssize_t at = LANES, lane
    cdef float[LANES] highest
    cdef float[LANES] sums
    cdef float x
    for lane in range(n):
        scores[lane] = inverse_temperature * scores[lane] + log_weight[lane]
    for lane in range(LANES):
        highest[lane] = scores[lane]
        sums[lane] = 0.0
    while at < n:
        for lane in range(LANES):
            highest[lane] = scores[at + lane] if scores[at + lane] > highest[lane] else highest[lane]
        at += LANES
    at = LANES // 2
    while at:
        for lane in range(at):
            highest[lane] = highest[lane + at] if highest[lane + at] > highest[lane] else highest[lane]
        at //= 2
    x = highest[0]
    at = 0
    while at < n:
        for lane in range(LANES):
            scores[at + lane] = exp_float(scores[at + lane] - x, floor)
            sums[lane] += scores[at + lane]
        at += LANES
    at = LANES // 2
    while at:
        for lane in range(at):
            sums[lane] += sums[lane + at]
        at //= 2
    top[0] = x
    total[0] = sums[0]


cdef Py_ssize_t draw_index(const float* weights, Py_ssize_t n, float u) noexcept nogil:
    """An index with probability proportional to the weights, whose largest is 1; u is uniform times their sum."""
    cdef Py_ssize_t k, best = 0
    while best < n - 1 and weights[best] < 1.0:
        best += 1
    # The interval of the best slot comes first: mostly the search ends there.
    u -= weights[best]
    if u < 0.0:
        return best
    for k in range(n):
        if k != best:
            u -= weights[k]
            if u < 0.0:
                return k
    return best


cdef Py_ssize_t choose(
    float inverse_temperature, const float* log_weight, float* scores, Py_ssize_t n, double u, float* top, float* total
) noexcept nogil:
    exponentiate(inverse_temperature, <float> -87.0, log_weight, scores, n, top, total)
    return draw_index(scores, n, <float> u * total[0])
