"""A column of counts."""
cimport cython
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._additive cimport AdditiveStatistics
from sklearn_subanneal.columns._base cimport ColumnData

# A grid of dispersions has at most 8 values; one more may be given.
cdef enum:
    MAX_DISPERSIONS = 9


cdef struct Tally:
    double count            # of the cells: a number without fraction, as their sum
    double total
    double[MAX_DISPERSIONS] coefficients    # log factors of the cells that no partition changes, for each dispersion


cdef struct CountPrior:
    double shape, rate, dispersion


cdef class CountData(ColumnData):
    cdef const int32_t[::1] cells


@cython.final
cdef class CountStatistics(AdditiveStatistics):
    cdef const int32_t* cells
    cdef Tally* tally
    cdef CountPrior* prior
    cdef Py_ssize_t n_dispersions, n_on_grid, present       # the last is the place of prior.dispersion
    cdef double[MAX_DISPERSIONS] dispersions
    cdef double[:, ::1] table               # the coefficients of small counts
    cdef double size                        # 1 / dispersion; 0: Poisson
    cdef double other                       # the rate, or the second parameter of the beta prime prior
    # p(x | k) in float64 (counts may be large): log_gamma(x + a) + constant - x slope, with a dispersion in place of
    # the slope - log_gamma(x + weight), plus the coefficient of x
    cdef double* posterior_shape
    cdef double* slope
    cdef double* constant
    cdef double* weight

    cdef double coefficient(self, double x, Py_ssize_t g) noexcept nogil
    cdef void add_coefficients(self, int32_t x, double sign, Tally* cluster) noexcept nogil
    cdef Py_ssize_t place_of(self, double dispersion) noexcept nogil
    cdef void add_scores(self, double x, Py_ssize_t first, Py_ssize_t n, double* out) noexcept nogil
