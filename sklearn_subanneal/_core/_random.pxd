"""Random variates from a NumPy bit generator without the GIL; streams depend on the bits alone."""
from libc.math cimport sqrt, floor
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma


cdef inline double uniform(bitgen_t* bits) noexcept nogil:
    """Uniform on [0, 1)."""
    return bits.next_double(bits.state)


cdef inline double open_uniform(bitgen_t* bits) noexcept nogil:
    """Uniform on (0, 1)."""
    cdef double u = 0.0
    while u <= 0.0:
        u = bits.next_double(bits.state)
    return u


cdef inline Py_ssize_t integer_below(bitgen_t* bits, Py_ssize_t n) noexcept nogil:
    """Uniform on 0..n-1, for n < 2**53 / 1000 (the bias is below 1e-3 / n)."""
    return <Py_ssize_t> (bits.next_double(bits.state) * <double> n)


cdef inline double standard_normal(bitgen_t* bits) noexcept nogil:
    """Marsaglia's polar method; the second of each pair is dropped, so that no state is kept."""
    cdef double u = 0.0, v, s = 2.0
    while s >= 1.0 or s == 0.0:
        u = 2.0 * bits.next_double(bits.state) - 1.0
        v = 2.0 * bits.next_double(bits.state) - 1.0
        s = u * u + v * v
    return u * sqrt(-2.0 * log_double(s) / s)


cdef inline double log_standard_gamma(double shape, bitgen_t* bits) noexcept nogil:
    """Logarithm of a gamma variate, finite for all shapes (Marsaglia, Tsang 2000, doi:10.1145/358407.358414)."""
    cdef double boost = 0.0, d, c, x, v, u
    if shape < 1.0:
        boost = log_double(open_uniform(bits)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = standard_normal(bits)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = open_uniform(bits)
        if log_double(u) < 0.5 * x * x + d - d * v + d * log_double(v):
            return boost + log_double(d * v)


cdef inline Py_ssize_t categorical(
    const double* log_weights, double* work, Py_ssize_t n, double power, bitgen_t* bits
) noexcept nogil:
    """An index with probability proportional to exp(power * log_weights); ``work`` holds n values."""
    cdef double top = log_weights[0], total = 0.0, u
    cdef Py_ssize_t i, last = 0
    for i in range(1, n):
        top = max(top, log_weights[i])
    for i in range(n):
        work[i] = exp_double(power * (log_weights[i] - top))
        total += work[i]
    u = bits.next_double(bits.state) * total
    for i in range(n):
        if work[i] > 0.0:
            last = i
            u -= work[i]
            if u < 0.0:
                return i
    return last


cdef inline double poisson(double mean, bitgen_t* bits) noexcept nogil:
    """Poisson variate: products of uniforms below 10, transformed rejection above (Hoermann 1993, algorithm PTRS)."""
    cdef double product, bound, k, b, a, inverse_alpha, v_r, u, v, us
    if mean <= 0.0:
        return 0.0
    if mean < 10.0:
        bound = exp_double(-mean)
        product = open_uniform(bits)
        k = 0.0
        while product > bound:
            product *= open_uniform(bits)
            k += 1.0
        return k
    b = 0.931 + 2.53 * sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = uniform(bits) - 0.5
        v = open_uniform(bits)
        us = 0.5 - (u if u > 0.0 else -u)
        if us <= 0.0:
            continue
        k = floor((2.0 * a / us + b) * u + mean + 0.43)
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        if (log_double(v) + log_double(inverse_alpha) - log_double(a / (us * us) + b)
                <= -mean + k * log_double(mean) - log_gamma(k + 1.0)):
            return k
