"""Sequential allocation of rows to the clusters of a mixture, declared for the moves that use it."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.mixtures._mixture cimport Mixture

cdef double allocate_rows(
    Mixture mixture, const int32_t* rows, Py_ssize_t n, const int32_t* forced, int32_t* slots, Py_ssize_t most_clusters,
    float inverse_temperature, bitgen_t* bits) except? -1.0 nogil
