"""A column of ordered levels: a normal variable between cut points, or frequencies without an order."""
cimport cython
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._additive cimport AdditiveStatistics


cdef struct OrdinalPrior:
    double location, spread, free, mass


cdef struct Parts:
    # The marginal likelihood of a cluster as the sum of that of its shapes and that without an order, both divided by
    # exp(log_unit), and the number of changes since this was computed from the counts.
    double shaped, free, log_unit, n_changes


@cython.final
cdef class OrdinalStatistics(AdditiveStatistics):
    cdef const void* cells
    cdef int itemsize
    cdef readonly Py_ssize_t n_levels
    cdef OrdinalPrior* prior
    cdef object cuts
    cdef Py_ssize_t n_means, n_scales, n_shapes
    cdef double log_n_scales
    cdef const double[::1] mean             # (n_means,)
    # Probabilities of the levels: of each shape, and averages over the scales of each mean
    cdef const double[:, ::1] shape         # (n_levels, n_shapes)
    cdef const double[:, ::1] inverse       # the same, 1 / probability
    cdef const double[:, ::1] log_shape     # the same, logarithms
    cdef const double[:, ::1] mean_shape    # (n_levels, n_means)
    # Of the prior: weights of the means, the Dirichlet's parameters, and log gamma of these
    cdef double[::1] log_weight             # (n_means,)
    cdef double[::1] log_prior              # the same for each shape, (n_shapes,)
    cdef double[::1] weight
    cdef double[::1] alpha
    cdef double[::1] log_gamma_alpha
    cdef double alpha_total, log_gamma_total
    # Room for the computations of one cluster
    cdef double[::1] likelihood             # (n_shapes,)
    cdef double[::1] level                  # (n_levels,)
    cdef int32_t[::1] last_stale            # (n_levels,): no slot after this one has a stale probability, or -1
    cdef int32_t* count                     # (n_levels, capacity), cells of each slot
    cdef int32_t* total                     # (capacity,)
    cdef double* log_p                      # (n_levels, capacity): log predictive probabilities
    cdef float* log_p_float                 # the same, for scores; STALE where both are to be computed

    cdef int set_shapes(self, cuts) except -1
    cdef void take_prior(self, double location, double spread, double mass) noexcept nogil
    cdef void take_log_likelihoods(self, const int32_t* count, Py_ssize_t k, double* out) noexcept nogil
    cdef double log_shaped(self, Py_ssize_t k) noexcept nogil
    cdef Parts* parts(self, Py_ssize_t k) noexcept nogil
    cdef void take_weights(self, Py_ssize_t k) noexcept nogil
    cdef void take_probability(self, Py_ssize_t v, Py_ssize_t k) noexcept nogil
    cdef double settled(self, Py_ssize_t v, Py_ssize_t k) noexcept nogil
    cdef double log_free(self, const int32_t* count, Py_ssize_t k) noexcept nogil
