"""Sampling of the vectors that determine the correlations of a block, and of their spread."""
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics


# The log evidence of the block is the sum of exponent_k log |psi + scatter_k|, (n_matrices, width, width); true if
# another state was accepted.
cdef bint move_vectors(
    GaussianStatistics self, const double* scatter, const double* exponent, Py_ssize_t n_matrices, double shrinkage,
    double power, bitgen_t* bits
) noexcept nogil
cdef void resample_spread(
    GaussianStatistics self, const double* grid, Py_ssize_t n_grid, bitgen_t* bits
) noexcept nogil
