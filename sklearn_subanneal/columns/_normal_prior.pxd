"""Marginal likelihoods over grids of the hyperparameters of the normal-inverse-chi-square prior."""
from sklearn_subanneal.columns._normal cimport NormalStatistics


cdef void add_over_normal_prior(
    NormalStatistics self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
) noexcept nogil
