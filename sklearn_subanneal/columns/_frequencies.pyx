"""Gamma and Dirichlet variates: weights of clusters, and frequencies of discrete values."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double
from sklearn_subanneal._core._random cimport log_standard_gamma

# Below the logarithm of every probability that is of use; still finite in single precision.
cdef double IMPOSSIBLE = -1e30


def drawn_frequencies(weights, generator):
    """Logarithms of Dirichlet variates, one for each column of ``weights`` (n_values, n_clusters)."""
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
    cdef const double[:, ::1] weight = np.ascontiguousarray(weights, np.float64)
    cdef double[:, ::1] out = np.empty((weight.shape[0], weight.shape[1]))
    cdef Py_ssize_t v, k
    cdef double top, total
    with generator.bit_generator.lock, nogil:
        for k in range(out.shape[1]):
            top = IMPOSSIBLE
            for v in range(out.shape[0]):
                out[v, k] = log_standard_gamma(weight[v, k], bits)
                top = max(top, out[v, k])
            total = 0.0
            for v in range(out.shape[0]):
                total += exp_double(out[v, k] - top)
            total = top + log_double(total)
            for v in range(out.shape[0]):
                out[v, k] = max(out[v, k] - total, IMPOSSIBLE)
    return np.asarray(out)


def log_gamma_variates(shapes, generator):
    """Logarithms of gamma variates of these shapes."""
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
    cdef const double[::1] shape = np.ascontiguousarray(shapes, np.float64)
    cdef double[::1] out = np.empty(shape.shape[0])
    cdef Py_ssize_t k
    with generator.bit_generator.lock, nogil:
        for k in range(out.shape[0]):
            out[k] = log_standard_gamma(shape[k], bits)
    return np.asarray(out)


def log_dirichlet_variates(shapes, generator):
    """Logarithms of a Dirichlet variate with these parameters."""
    return drawn_frequencies(np.asarray(shapes, np.float64)[:, None], generator)[:, 0]
