"""A column of ordered levels: a normal variable between cut points, or frequencies without an order."""
cimport cython
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._additive cimport AdditiveStatistics


cdef struct OrdinalPrior:
    double location, spread, free, mass


@cython.final
cdef class OrdinalStatistics(AdditiveStatistics):
    cdef const void* cells
    cdef int itemsize
    cdef readonly Py_ssize_t n_levels
    cdef OrdinalPrior* prior
    cdef object cuts
    cdef Py_ssize_t n_means, n_scales, n_shapes, n_blocks
    cdef double log_n_scales
    cdef const double[::1] mean             # (n_means,)
    # Probabilities of the levels, in blocks of levels: of each shape, and averages over the scales of each mean
    cdef const double[:, :, ::1] shape      # (n_blocks, n_shapes, BLOCK)
    cdef const double[:, :, ::1] mean_shape     # (n_blocks, n_means, BLOCK)
    cdef const double[:, ::1] inverse       # (n_levels, n_shapes), 1 / probability
    cdef const double[:, ::1] log_shape     # (n_levels, n_shapes)
    # Of the prior: weights of the means, the Dirichlet's parameters, and log gamma of these
    cdef double[::1] log_weight             # (n_means,)
    cdef double[::1] log_prior              # the same for each shape, (n_shapes,)
    cdef double[::1] weight
    cdef double[::1] alpha
    cdef double[::1] log_gamma_alpha
    cdef double alpha_total, log_gamma_total
    # Room for the computations of one cluster
    cdef double[::1] likelihood             # (n_shapes,)
    cdef double[::1] posterior              # (n_shapes,)
    cdef int32_t[::1] kept                  # shapes that are not negligible
    cdef double[::1] level                  # (n_levels,)
    cdef double[::1] expected               # (n_blocks * BLOCK,)
    cdef double weight_total
    cdef int32_t* count                     # (n_levels, capacity), cells of each slot
    cdef int32_t* total                     # (capacity,)
    cdef double* log_p                      # (n_levels, capacity): log predictive probabilities
    cdef float* log_p_float                 # the same, for scores
    # (capacity,): log marginal likelihoods; the posterior probability of a shape in units of its weight; and that of a
    # distribution without an order. A slot's record has the log likelihoods of the shapes, these weights, and the log
    # likelihoods of the means.
    cdef double* log_evidence_of
    cdef double* share_of_weight
    cdef double* share_of_free

    cdef int set_shapes(self, cuts) except -1
    cdef void take_prior(self, double location, double spread, double mass) noexcept nogil
    cdef void take_log_likelihoods(self, const int32_t* count, Py_ssize_t k, double* out) noexcept nogil
    cdef double log_shaped(self, const double* likelihood, double* posterior, double* p) noexcept nogil
    cdef void take_coefficients(self, Py_ssize_t k) noexcept nogil
    cdef double log_free(self, const int32_t* count, Py_ssize_t k) noexcept nogil
