"""Functions of angles, the Bessel function I0 and von Mises variates, without libm (sqrt and floor are exact).

Errors are in ``tests/core/test_core.py``.
"""
from libc.math cimport floor, sqrt
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal._core._random cimport open_uniform, standard_normal, uniform


cdef inline void cosine_and_sine(double angle, double* cosine, double* sine) noexcept nogil:
    """Of an angle in radians, for |angle| < 1e6: Taylor's series within an eighth of a turn."""
    cdef double turns = angle * 0.15915494309189533577
    cdef double quarter = floor(4.0 * turns + 0.5)
    cdef double x = (turns - 0.25 * quarter) * 6.28318530717958647693, q = x * x, c, s
    cdef int which = <int> (quarter - 4.0 * floor(0.25 * quarter))
    s = x * (1.0 - q * (1.66666666666666667e-01 - q * (8.33333333333333333e-03 - q * (1.98412698412698413e-04
             - q * (2.75573192239858907e-06 - q * (2.50521083854417188e-08 - q * (1.60590438368216146e-10
             - q * 7.64716373181981648e-13)))))))
    c = 1.0 - q * (0.5 - q * (4.16666666666666667e-02 - q * (1.38888888888888889e-03 - q * (2.48015873015873016e-05
               - q * (2.75573192239858907e-07 - q * (2.08767569878680990e-09 - q * (1.14707455977297247e-11
               - q * 4.77947733238738530e-14)))))))
    if which == 1:
        c, s = -s, c
    elif which == 2:
        c, s = -c, -s
    elif which == 3:
        c, s = s, -c
    cosine[0] = c
    sine[0] = s


cdef inline double wrapped(double angle) noexcept nogil:
    """The same angle in [0, 2 pi)."""
    cdef double out = angle - 6.28318530717958647693 * floor(angle * 0.15915494309189533577)
    return out if 0.0 <= out < 6.28318530717958647693 else 0.0


cdef inline double direction(double x, double y) noexcept nogil:
    """Angle of the vector (x, y) in [0, 2 pi); 0 where it has none."""
    cdef double a = x if x >= 0.0 else -x, b = y if y >= 0.0 else -y, t, out, c, s
    cdef int _
    if a == 0.0 and b == 0.0:
        return 0.0
    t = min(a, b) / max(a, b)
    # Good to 4e-3; two of Newton's steps, of third order here, make 1e-25 of it.
    out = t * (1.0584 - 0.273 * t)
    if b > a:
        out = 1.57079632679489661923 - out
    if x < 0.0:
        out = 3.14159265358979323846 - out
    if y < 0.0:
        out = -out
    for _ in range(2):
        cosine_and_sine(out, &c, &s)
        out += (y * c - x * s) / (x * c + y * s)
    return wrapped(out)


cdef inline double log_bessel_part(double x) noexcept nogil:
    # log I0(x) below the seam, log I0(x) - x above it: the series in powers of (x / 2)^2, whose terms are positive, and
    # the asymptotic one in powers of 1 / x. Neither has terms left out above 4e-17.
    cdef double low = x if x < 20.0 else 20.0, high = x if x > 20.0 else 20.0
    cdef double t = 0.25 * low * low, q = 1.0 / high, small, large
    small = 1.42128067214249748e-65 + t * (1.47896011669354576e-68 + t * (1.44429698895854078e-71 + t * (
        1.32625986130260861e-74 + t * (1.14728361704377908e-77 + t * 9.36558054729615574e-81))))
    small = 2.59769799808281515e-48 + t * (4.15631679693250424e-51 + t * (6.14839762859837905e-54 + t * (
        8.4340159514381057e-57 + t * (1.07576734074465634e-59 + t * (1.27915260492824773e-62 + t * small)))))
    small = 2.43959626327532538e-32 + t * (6.75788438580422543e-35 + t * (1.68947109645105636e-37 + t * (
        3.83100021870987836e-40 + t * (7.91528970807826107e-43 + t * (1.49627404689570153e-45 + t * small)))))
    small = 4.35838982330499501e-18 + t * (2.57892888952958285e-20 + t * (1.3157800456783586e-22 + t * (
        5.8479113141260382e-25 + t * (2.28434035708048367e-27 + t * (7.90429189301205423e-30 + t * small)))))
    small = 1.92901234567901235e-06 + t * (3.93675988914084152e-08 + t * (6.15118732678256488e-10 + t * (
        7.59405842812662331e-12 + t * (7.59405842812662331e-14 + t * (6.27608134555919281e-16 + t * small)))))
    small = 1.0 + t * (1.0 + t * (2.5e-01 + t * (2.77777777777777778e-02 + t * (
        1.73611111111111111e-03 + t * (6.94444444444444444e-05 + t * small)))))
    large = 4.8540146868529006e+14 + q * 5.82724463156690717e+15
    large = 4.25939216504766905e+08 + q * (3.83625518023043351e+09 + q * (3.64684008070655585e+10 + q * (
        3.64901081884983357e+11 + q * (3.83353466139394447e+12 + q * (4.21897157028409649e+13 + q * large)))))
    large = 3.03809051092238427e+03 + q * (1.82577554742931747e+04 + q * (1.18838426256783253e+05 + q * (
        8.32859304016289299e+05 + q * (6.252951493434797e+06 + q * (5.0069589531988926e+07 + q * large)))))
    large = 5.72501420974731445e-01 + q * (1.7277275025844574 + q * (6.07404200127348304 + q * (
        2.43805296995560639e+01 + q * (1.10017140269246738e+02 + q * (5.51335896122020586e+02 + q * large)))))
    large = 1.0 + q * (1.25e-01 + q * (7.03125e-02 + q * (7.32421875e-02 + q * (1.12152099609375e-01 + q * (
        2.27108001708984375e-01 + q * large)))))
    # 1 / sqrt(2 pi x)
    large *= 0.39894228040143267794 * sqrt(q)
    return log_double(small if x < 20.0 else large)


cdef inline double log_bessel(double x) noexcept nogil:
    """log I0(x) for 0 <= x < 1e300."""
    return log_bessel_part(x) + (0.0 if x < 20.0 else x)


cdef inline double log_bessel_scaled(double x) noexcept nogil:
    """log I0(x) - x for 0 <= x < 1e300."""
    return log_bessel_part(x) - (x if x < 20.0 else 0.0)


cdef inline double von_mises(double concentration, bitgen_t* bits) noexcept nogil:
    """An angle in (-pi, pi] with density proportional to exp(concentration cos(angle)), by rejection.

    From a uniform where the concentration is low; else from the normal that 1 - cos z >= 2 (z / pi)^2 makes an
    envelope of, of which some 60 % are taken.
    """
    cdef double z, c, s, bound
    while True:
        if concentration < 0.7:
            z = 3.14159265358979323846 * (2.0 * uniform(bits) - 1.0)
            bound = 0.0
        else:
            z = 1.57079632679489661923 / sqrt(concentration) * standard_normal(bits)
            if z > 3.14159265358979323846 or z < -3.14159265358979323846:
                continue
            bound = 0.10132118364233777144 * z * z
        cosine_and_sine(0.5 * z, &c, &s)
        if log_double(open_uniform(bits)) < 2.0 * concentration * (bound - s * s):
            return z
