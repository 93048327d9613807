"""A cluster for a row, drawn with few of the clusters scored.

The weights of all clusters are bounded from above, which takes a fraction of the time of computing them, and that of
the most probable one is computed. If the random number falls to this cluster whatever the others weigh within their
bounds, this is the draw: the same as by the weights themselves. Otherwise clusters are scored: those whose bound is at
least e^-32 of the weight of the most probable one. The others are less probable, together, than the rounding of the
weights, which are float32.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport LANES, exp_float, inlined_void, padded, simd_void
from sklearn_subanneal.mixtures._mixture cimport Mixture

cdef float MARGIN = 32.0
# The log weight of a slot that does not count.
cdef float NONE = -1e30
# Below this, exp is 0.
cdef float LEAST_LOG = -87.0
# More than the relative rounding of a sum of weights.
cdef double ROUNDED_UP = 1.00001

# Bounds are computed where there are so many slots: with fewer they take as long as weights.
cdef enum:
    FEWEST_SLOTS = 16


# If more slots than this share (1 / MOST) are left, all are scored. Where that is so for more than a quarter of the
# rows of a round, bounds cost more than they save, and the next rows go without.
cdef enum:
    MOST = 8
    ROUND = 32
    PAUSE = 224


cdef inlined_void find_largest(const float* bounds, float* largest, Py_ssize_t n) noexcept nogil:
    # The largest of the bounds, n of them, a multiple of LANES.
    cdef Py_ssize_t at = LANES, half, lane
    cdef float[LANES] highest
    for lane in range(LANES):
        highest[lane] = bounds[lane]
    while at < n:
        for lane in range(LANES):
            highest[lane] = bounds[at + lane] if bounds[at + lane] > highest[lane] else highest[lane]
        at += LANES
    half = LANES // 2
    while half:
        for lane in range(half):
            highest[lane] = highest[lane + half] if highest[lane + half] > highest[lane] else highest[lane]
        half //= 2
    largest[0] = highest[0]


cdef simd_void bound_weights(
    float beta, const float* scores, const float* log_weight, float* bounds, float* largest, Py_ssize_t n
) noexcept nogil:
    # From bounds of the scores to those of the log weights, and the largest of these.
    cdef Py_ssize_t k
    for k in range(n):
        bounds[k] = beta * (bounds[k] + scores[k]) + log_weight[k]
    find_largest(bounds, largest, n)


cdef simd_void add_exponentials(const float* logs, float top, float floor, float* out, Py_ssize_t n) noexcept nogil:
    # out = the sum of exp(logs - top); no log is larger than top.
    cdef Py_ssize_t at = 0, half, lane
    cdef float[LANES] sums
    for lane in range(LANES):
        sums[lane] = 0.0
    while at < n:
        for lane in range(LANES):
            sums[lane] += exp_float(logs[at + lane] - top, floor)
        at += LANES
    half = LANES // 2
    while half:
        for lane in range(half):
            sums[lane] += sums[lane + half]
        half //= 2
    out[0] = sums[0]


cdef bint pays(Mixture mixture, Rounds* rounds, Py_ssize_t row) noexcept nogil:
    """Whether to draw the cluster of the next row by :func:`draw_by_bounds`."""
    if not mixture.fused.has_bounds or mixture.n_clusters + 1 < FEWEST_SLOTS or mixture.incomplete(row):
        return False
    if rounds.n_skipped:
        rounds.n_skipped -= 1
        return False
    if rounds.n_tried == ROUND:
        rounds.n_skipped = PAUSE if 4 * rounds.n_crowded > ROUND else 0
        rounds.n_tried = rounds.n_crowded = 0
    rounds.n_tried += 1
    return True


cdef Py_ssize_t draw_by_bounds(
    Mixture mixture, Rounds* rounds, Py_ssize_t row, Py_ssize_t old, float beta, bitgen_t* bits
) noexcept nogil:
    """As ``Mixture.score``, ``score_own`` where ``old`` is the row's cluster and not -1, and ``draw_slot``."""
    cdef Py_ssize_t i, k, n_left, known = old, n = padded(mixture.n_clusters + 1)
    cdef float* scores = &mixture.scores[0]
    cdef float* bounds = &mixture.bounds[0]
    cdef int32_t* left = &mixture.renumbered[0]
    cdef float top, own, largest, others, total
    cdef double u = bits.next_double(bits.state)
    for k in range(n):
        scores[k] = bounds[k] = 0.0
    mixture.fused.read(row)
    mixture.fused.score_plain(row, scores, n)
    mixture.fused.bound_rest(row, bounds, n)
    if known >= 0:
        mixture.score_own(row, known)
        # This score is the whole one.
        bounds[known] = 0.0
    bound_weights(beta, scores, &mixture.log_weight[0], bounds, &largest, n)
    if known < 0:
        # The most probable slot by the bounds.
        known = 0
        while known < n - 1 and bounds[known] < largest:
            known += 1
        scores[known] += mixture.fused.score_rest_in(row, known)
    own = beta * scores[known] + mixture.log_weight[known]
    bounds[known] = NONE
    if old < 0:
        # The largest bound was that of this slot, which may weigh far less.
        find_largest(bounds, &largest, n)
    largest = own if own > largest else largest
    add_exponentials(bounds, largest, LEAST_LOG, &others, n)
    total = exp_float(own - largest, LEAST_LOG)
    # The interval of this cluster comes first. What is not a number decides nothing.
    if u * (total + others) * ROUNDED_UP < total:
        return known
    n_left = 0
    for k in range(n):
        if not bounds[k] < own - MARGIN:
            left[n_left] = <int32_t> k
            n_left += 1
    if n_left > n // MOST:
        rounds.n_crowded += 1
        top = scores[known]
        mixture.fused.score_rest(row, scores, n)
        scores[known] = top
        n_left = 0
        for k in range(mixture.n_clusters + 1):
            bounds[k] = beta * scores[k] + mixture.log_weight[k]
            if k != known:
                left[n_left] = <int32_t> k
                n_left += 1
    else:
        for i in range(n_left):
            k = left[i]
            bounds[k] = beta * (scores[k] + mixture.fused.score_rest_in(row, k)) + mixture.log_weight[k]
    top = own
    for i in range(n_left):
        top = bounds[left[i]] if bounds[left[i]] > top else top
    own = total = exp_float(own - top, LEAST_LOG)
    for i in range(n_left):
        bounds[left[i]] = exp_float(bounds[left[i]] - top, LEAST_LOG)
        total += bounds[left[i]]
    others = <float> (u * total) - own
    for i in range(n_left):
        if others < 0.0:
            break
        others -= bounds[left[i]]
        if others < 0.0:
            # A slot that is not there has no weight, unless others are not numbers.
            return min(left[i], mixture.n_clusters)
    return known


def draws_by_bounds(
    Mixture mixture, Py_ssize_t row, Py_ssize_t n_draws, generator, double inverse_temperature=1.0, bint is_own=False
):
    """Slots drawn for a row, which stays where it is, and the number of draws for which all slots were scored.

    ``is_own``: the row is assigned, and left out of its own slot.
    """
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
    cdef Rounds rounds
    cdef Py_ssize_t i, old = mixture.slot_of[mixture.names[row]] if is_own else -1
    cdef int32_t[::1] out = np.empty(n_draws, np.int32)
    rounds.n_skipped = rounds.n_tried = rounds.n_crowded = 0
    mixture.fused.begin(mixture.column, mixture.n_columns, mixture.capacity)
    for i in range(n_draws):
        out[i] = <int32_t> draw_by_bounds(mixture, &rounds, row, old, inverse_temperature, bits)
    mixture.fused.end()
    mixture.weigh()
    return np.asarray(out), rounds.n_crowded


def score_bounds(Mixture mixture, Py_ssize_t row):
    """Upper bounds of the log predictive densities of a complete row in all clusters and in a new one."""
    cdef Py_ssize_t n = padded(mixture.n_clusters + 1)
    cdef float[::1] out = np.zeros(n, np.float32)
    mixture.fused.begin(mixture.column, mixture.n_columns, mixture.capacity)
    mixture.fused.read(row)
    mixture.fused.score_plain(row, &out[0], n)
    mixture.fused.bound_rest(row, &out[0], n)
    mixture.fused.end()
    return np.asarray(out)[:mixture.n_clusters + 1]
