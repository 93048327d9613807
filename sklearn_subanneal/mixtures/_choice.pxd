"""Sampling of one cluster from log weights."""

# An index with probability proportional to exp(score to the power + log weight), for u uniform on [0, 1); n is a
# multiple of LANES. The scores become those weights, divided by exp(top), the largest; ``total`` is their sum.
cdef Py_ssize_t choose(
    float inverse_temperature, const float* log_weight, float* scores, Py_ssize_t n, double u, float* top,
    float* total) noexcept nogil
