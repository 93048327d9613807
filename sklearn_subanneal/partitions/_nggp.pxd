"""The prior of a partition by a normalized generalized gamma process, given its auxiliary variable u."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior


cdef struct Integral:
    # Log of the integral of the density of v; means of u / (1 + u), and of that times alpha sigma (1 + u)^sigma.
    double log_mass, join, open


cdef class NGGPPrior(PartitionPrior):
    cdef readonly double mass, sigma, log_u
    cdef readonly tuple mass_prior, sigma_prior
    cdef double mass_shape, mass_rate, sigma_a, sigma_b
    cdef bint learns_mass, learns_sigma
    cdef void set_parameters(self, double mass, double sigma, double log_u) noexcept nogil
    cdef double log_sizes(self, double sigma, const int32_t* counts, Py_ssize_t n_clusters) noexcept nogil
    cdef double target(self, double mass, double sigma, Py_ssize_t n, Py_ssize_t n_clusters) noexcept nogil
    cdef double log_mass_density(self, double log_mass, Py_ssize_t n, Py_ssize_t n_clusters) noexcept nogil
    cdef double log_sigma_density(
        self, double sigma, const int32_t* counts, Py_ssize_t n, Py_ssize_t n_clusters) noexcept nogil
    cdef double slice_mass(self, Py_ssize_t n, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil
    cdef double slice_sigma(
        self, const int32_t* counts, Py_ssize_t n, Py_ssize_t n_clusters, bitgen_t* bits) noexcept nogil
