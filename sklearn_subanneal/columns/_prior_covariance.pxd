"""Learning the scale matrix of the normal-inverse-Wishart prior."""
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics


cdef bint resample_covariance(
    GaussianStatistics self, Py_ssize_t n_clusters, double power, bitgen_t* bits
) noexcept nogil
