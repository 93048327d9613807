"""Learning the hyperparameters of the normal-inverse-chi-square prior."""
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._normal cimport NormalStatistics


cdef bint resample_normal_prior(
    NormalStatistics self, Py_ssize_t n_clusters, double power, bitgen_t* bits
) noexcept nogil
