"""Branch-free elementary functions that compilers can vectorise, with the same results on every machine.

libm is not used: its results differ in the last bit from one C library to the next, and its calls keep loops
from being vectorised. Errors: at most 2 ulp each (``tests/core/test_core.py``).
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "sklearn_subanneal/_core/multiversion.h":
    # A function of this "type" is compiled once for each level of the x86-64 instruction set and chosen at load time;
    # only once with CFLAGS=-DSUBANNEAL_BASELINE.
    ctypedef void simd_void "SUBANNEAL_MULTIVERSION void"
    # A part of such functions.
    ctypedef void inlined_void "SUBANNEAL_INLINED void"
    # An argument that no other one overlaps: compilers check a few pairs of arguments only.
    ctypedef double* own_doubles "double* SUBANNEAL_RESTRICT"
    ctypedef float* own_floats "float* SUBANNEAL_RESTRICT"

# Coefficients are padded to this many clusters, so that loops over clusters have no scalar remainder.
cdef enum:
    LANES = 8


cdef inline Py_ssize_t padded(Py_ssize_t n) noexcept nogil:
    return (n + LANES - 1) & ~(<Py_ssize_t> (LANES - 1))


cdef inline float log_float(float x) noexcept nogil:
    """Natural logarithm of a positive, normal float32."""
    cdef uint32_t bits
    cdef float mantissa, f, s, z, tail, half, e
    cdef int32_t exponent
    memcpy(&bits, &x, 4)
    exponent = <int32_t> (bits - <uint32_t> 0x3f3504f3) >> 23
    bits -= <uint32_t> exponent << 23
    memcpy(&mantissa, &bits, 4)
    e = <float> exponent
    f = mantissa - <float> 1.0
    s = f / (<float> 2.0 + f)
    z = s * s
    tail = z * (<float> 0.66666662693 + z * (<float> 0.40000972152
                + z * (<float> 0.28498786688 + z * <float> 0.24279078841)))
    half = <float> 0.5 * f * f
    return s * (half + tail) + e * <float> 9.0580006145e-06 - half + f + e * <float> 6.9313812256e-01


cdef inline float log1p_float(float x) noexcept nogil:
    """log(1 + x) for -1/2 < x < 1e38, with small *relative* error: it is multiplied by a cluster's size."""
    cdef float one_plus = <float> 1.0 + x, unit, f, s, z, tail, half, e
    cdef uint32_t bits, unit_bits
    cdef int32_t exponent
    memcpy(&bits, &one_plus, 4)
    exponent = <int32_t> (bits - <uint32_t> 0x3f3504f3) >> 23
    unit_bits = <uint32_t> (127 - exponent) << 23
    memcpy(&unit, &unit_bits, 4)
    e = <float> exponent
    f = x * unit + (unit - <float> 1.0)
    s = f / (<float> 2.0 + f)
    z = s * s
    tail = z * (<float> 0.66666662693 + z * (<float> 0.40000972152
                + z * (<float> 0.28498786688 + z * <float> 0.24279078841)))
    half = <float> 0.5 * f * f
    # One constant for log 2 will do: where e is not 0 the result is large, and the relative error is what counts.
    return s * (half + tail) - half + f + e * <float> 0.69314718056


cdef inline float exp_float(float x, float least) noexcept nogil:
    """exp(x) for x <= 0. ``least`` (about -87) is an argument: GCC does not vectorise a literal here."""
    cdef uint32_t bits, scale_bits
    cdef float k, kf, r, q, p, scale
    x = x if x > least else least
    k = x * <float> 1.44269504 + <float> 12582912.0
    memcpy(&bits, &k, 4)
    kf = k - <float> 12582912.0
    r = x - kf * <float> 0.693359375 + kf * <float> 2.12194440e-4
    # A minimax polynomial of |r| <= log(2) / 2, relative error 3e-9: Taylor's series of this length would cost 2 ulp.
    # Pairs of terms, which need not wait for one another.
    q = r * r
    p = (<float> 4.1668393e-2 + r * <float> 8.3687808e-3) + q * <float> 1.3814467e-3
    p = (<float> 0.49999994 + r * <float> 1.6666520e-1) + q * p
    # The 1 last: 1 + r first would cost an ulp.
    p = <float> 1.0 + (r + q * p)
    scale_bits = (bits + <uint32_t> 127) << 23
    memcpy(&scale, &scale_bits, 4)
    return p * scale


cdef inline double log_double(double x) noexcept nogil:
    """Natural logarithm of a positive, normal float64."""
    cdef uint64_t bits, exponent_bits
    cdef double mantissa, exponent, f, s, z, tail, half
    memcpy(&bits, &x, 8)
    bits += <uint64_t> 0x3ff0000000000000 - <uint64_t> 0x3fe6a09e667f3bcd
    # The biased exponent becomes a float64 by way of 2^52, since AVX2 has no conversion from int64.
    exponent_bits = (bits >> 52) | <uint64_t> 0x4330000000000000
    memcpy(&exponent, &exponent_bits, 8)
    exponent -= 4503599627371519.0
    bits = (bits & <uint64_t> 0x000fffffffffffff) + <uint64_t> 0x3fe6a09e667f3bcd
    memcpy(&mantissa, &bits, 8)
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    tail = z * (6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * (2.857142874366239149e-01
           + z * (2.222219843214978396e-01 + z * (1.818357216161805012e-01 + z * (1.531383769920937332e-01
           + z * 1.479819860511658591e-01))))))
    half = 0.5 * f * f
    return s * (half + tail) + exponent * 1.90821492927058770002e-10 - half + f + exponent * 6.93147180369123816490e-01


cdef inline double log_gamma(double x) noexcept nogil:
    """Log gamma function for x > 0: Stirling's series at x + 8. Error 2e-14 + 7e-16 |result|."""
    cdef double z = x + 8.0
    cdef double shift = (x * (x + 7.0)) * ((x + 1.0) * (x + 6.0)) * ((x + 2.0) * (x + 5.0)) * ((x + 3.0) * (x + 4.0))
    cdef double r = 1.0 / z
    cdef double q = r * r
    cdef double series = r * (8.33333333333333333e-02 - q * (2.77777777777777778e-03 - q * (7.93650793650793651e-04
                         - q * (5.95238095238095238e-04 - q * (8.41750841750841751e-04
                         - q * 1.91752691752691753e-03)))))
    return (z - 0.5) * log_double(z) - z + 0.91893853320467274178 + series - log_double(shift)


cdef inline double gamma_ratio(double nu) noexcept nogil:
    """log Gamma((nu + 1) / 2) - log Gamma(nu / 2), the constant of Student's t, for nu >= 32 to 2e-10."""
    cdef double r = 1.0 / nu
    return 0.5 * log_double(0.5 * nu) - r * (0.25 - r * r * (4.16666666666666667e-02 - 0.05 * r * r))


cdef inline double exp_double(double x) noexcept nogil:
    """exp(x) for x < 700, 0 below -700: Taylor's series after reduction by powers of two, error 2 ulp."""
    cdef double k, r, p, scale
    cdef double bounded = x if x > -700.0 else -700.0
    cdef uint64_t bits
    # Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits.
    k = bounded * 1.4426950408889634074 + 6755399441055744.0
    memcpy(&bits, &k, 8)
    k -= 6755399441055744.0
    r = bounded - k * 6.93147180369123816490e-01 - k * 1.90821492927058770002e-10
    p = 1.6059043836821614599e-10
    p = 2.0876756987868098979e-09 + r * p
    p = 2.5052108385441718775e-08 + r * p
    p = 2.7557319223985890653e-07 + r * p
    p = 2.7557319223985892511e-06 + r * p
    p = 2.4801587301587301566e-05 + r * p
    p = 1.9841269841269841253e-04 + r * p
    p = 1.3888888888888889419e-03 + r * p
    p = 8.3333333333333332177e-03 + r * p
    p = 4.1666666666666664354e-02 + r * p
    p = 1.6666666666666665741e-01 + r * p
    p = 0.5 + r * p
    p = 1.0 + r * (1.0 + r * p)
    bits = (bits + 1023) << 52
    memcpy(&scale, &bits, 8)
    return p * scale if x >= -700.0 else 0.0


cdef inline double softplus(double x) noexcept nogil:
    """log(1 + exp(x))"""
    cdef double small = exp_double(-x if x > 0.0 else x)
    # log(1 + s) keeps its digits where s is small: by the rounding error of 1 + s.
    cdef double one_plus = 1.0 + small
    cdef double out = log_double(one_plus) + (small - (one_plus - 1.0)) / one_plus
    return out + x if x > 0.0 else out
