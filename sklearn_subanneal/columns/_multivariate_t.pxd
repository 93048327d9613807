"""The predictive distribution of a block of reals in every cluster."""
from sklearn_subanneal.columns._marginal_t cimport MarginalT
from sklearn_subanneal.columns._wishart cimport NormalWishart


cdef class MultivariateT(NormalWishart):
    cdef Py_ssize_t[::1] order              # the observed coordinates of a row, then the missing ones
    cdef double[::1] lanes                  # some rows side by side, and their deviations from a mean
    cdef double[:, ::1] precision           # of one cluster
    cdef MarginalT marginal                 # of rows with missing cells; None until one is scored
    cdef int follow_marginal(self) except -1
    cdef void add_marginal(self, const double* x, Py_ssize_t n_clusters, double* out) noexcept nogil
    cdef Py_ssize_t sort_missing(self, const double* x) noexcept nogil
    cdef double condition(self, const double* x, Py_ssize_t k, Py_ssize_t n_observed, double* q) noexcept nogil
    cdef double log_density_at(self, Py_ssize_t k, Py_ssize_t n_observed, double log_det, double q) noexcept nogil
    cdef double log_density(self, const double* x, Py_ssize_t k, Py_ssize_t n_observed) noexcept nogil
    cdef double log_density_without(self, const double* x, Py_ssize_t k) noexcept nogil
    cdef double solve_missing(self, Py_ssize_t n_missing, double* q) noexcept nogil
    cdef double t_given(
        self, const double* x, Py_ssize_t k, Py_ssize_t n_observed, double* location, double* square
    ) noexcept nogil
