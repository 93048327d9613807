"""Array versions, for tests, of the functions in ``_math.pxd``, ``_circle.pxd`` and ``_random.pxd``."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core cimport _circle, _math, _random


def log_float(const float[::1] x):
    """log of positive float32 values."""
    cdef float[::1] out = np.empty(x.shape[0], np.float32)
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        out[i] = _math.log_float(x[i])
    return np.asarray(out)


def log1p_float(const float[::1] x):
    """log(1 + x) of float32 values above -1/2."""
    cdef float[::1] out = np.empty(x.shape[0], np.float32)
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        out[i] = _math.log1p_float(x[i])
    return np.asarray(out)


def exp_float(const float[::1] x, float floor=-87.0):
    """exp of float32 values not above 0."""
    cdef float[::1] out = np.empty(x.shape[0], np.float32)
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        out[i] = _math.exp_float(x[i], floor)
    return np.asarray(out)


def evaluate(function, const double[::1] x):
    """One of the float64 functions that are named below over an array."""
    cdef double[::1] out = np.empty(x.shape[0])
    cdef Py_ssize_t i, which
    which = ("log", "exp", "log_gamma", "gamma_ratio", "softplus", "log_bessel", "log_bessel_scaled").index(function)
    for i in range(x.shape[0]):
        if which == 0:
            out[i] = _math.log_double(x[i])
        elif which == 1:
            out[i] = _math.exp_double(x[i])
        elif which == 2:
            out[i] = _math.log_gamma(x[i])
        elif which == 3:
            out[i] = _math.gamma_ratio(x[i])
        elif which == 4:
            out[i] = _math.softplus(x[i])
        elif which == 5:
            out[i] = _circle.log_bessel(x[i])
        else:
            out[i] = _circle.log_bessel_scaled(x[i])
    return np.asarray(out)


def unit_vectors(const double[::1] angles):
    """(cos, sin) of each angle."""
    cdef double[:, ::1] out = np.empty((angles.shape[0], 2))
    cdef Py_ssize_t i
    for i in range(angles.shape[0]):
        _circle.cosine_and_sine(angles[i], &out[i, 0], &out[i, 1])
    return np.asarray(out)


def directions(const double[:, ::1] vectors):
    """The angle of each vector (x, y)."""
    cdef double[::1] out = np.empty(vectors.shape[0])
    cdef Py_ssize_t i
    for i in range(vectors.shape[0]):
        out[i] = _circle.direction(vectors[i, 0], vectors[i, 1])
    return np.asarray(out)


def variates(distribution, double parameter, Py_ssize_t n, generator):
    """n draws: "normal", "log_gamma" (of the shape ``parameter``), "poisson" (of that mean), "von_mises"."""
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
    cdef double[::1] out = np.empty(n)
    cdef Py_ssize_t i, which
    which = ("normal", "log_gamma", "poisson", "von_mises").index(distribution)
    with generator.bit_generator.lock, nogil:
        for i in range(n):
            if which == 0:
                out[i] = parameter * _random.standard_normal(bits)
            elif which == 1:
                out[i] = _random.log_standard_gamma(parameter, bits)
            elif which == 2:
                out[i] = _random.poisson(parameter, bits)
            else:
                out[i] = _circle.von_mises(parameter, bits)
    return np.asarray(out)
