"""The digamma function without branches, in float32 and float64.

Both shift the argument by psi(x) = psi(x + n) - 1/x - ... - 1/(x + n - 1) and expand at x + n. The n reciprocals, taken
in pairs from both ends, are fractions of u = x (x + n - 1) alone. In float32 exp(psi) is expanded, in powers of
1 / (x + n - 1/2)^2, so that exp(psi) is computed without a logarithm.
Errors are stated and tested in ``tests/topics/test_topics_local.py``.
"""
from sklearn_subanneal._core._math cimport log_double


cdef inline float reciprocals_float(float x) noexcept nogil:
    """1/x + 1/(x + 1) + 1/(x + 2) + 1/(x + 3), for 0 < x < 1e12."""
    cdef float u = x * (x + <float> 3.0)
    return ((<float> 2.0 * x + <float> 3.0) * (<float> 2.0 * u + <float> 2.0)) / (u * (u + <float> 2.0))


cdef inline float shifted_float(float x) noexcept nogil:
    """exp(psi(x + 4)) for x >= 0."""
    cdef float z = x + <float> 3.5
    cdef float r = <float> 1.0 / z
    cdef float q = r * r
    return z + r * (<float> 4.1666667e-2 - q * (<float> 6.4236111e-3 - q * (<float> 3.5524588e-3
                    - q * <float> 3.9535574e-3)))


cdef inline double digamma_double(double x) noexcept nogil:
    """psi(x) for x > 0: an error of 2e-15 plus 4 ulp of the largest term, log(x + 8) or 1 / x."""
    cdef double u = x * (x + 7.0)
    cdef double y = x + 8.0
    cdef double r = 1.0 / y
    cdef double q = r * r
    cdef double near = (2.0 * u + 6.0) / (u * (u + 6.0)) + (2.0 * u + 22.0) / ((u + 10.0) * (u + 12.0))
    cdef double series = q * (8.33333333333333333e-02 - q * (8.33333333333333333e-03 - q * (3.96825396825396825e-03
                         - q * (4.16666666666666667e-03 - q * (7.57575757575757576e-03 - q * (2.10927960927960928e-02
                         - q * (8.33333333333333333e-02 - q * 4.43259803921568627e-01)))))))
    return log_double(y) - 0.5 * r - series - (2.0 * x + 7.0) * near
