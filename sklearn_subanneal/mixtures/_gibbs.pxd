"""The loop that removes and assigns rows, for callers without the GIL."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.mixtures._mixture cimport Mixture

cdef Py_ssize_t churn_rows(
    Mixture mixture, const int32_t[::1] leaving, const int32_t[::1] entering, float beta, bitgen_t* bits
) except -1 nogil
