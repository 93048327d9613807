"""A block of real columns with full covariance within each cluster."""
from libc.stdint cimport int8_t

from sklearn_subanneal.columns._base cimport ColumnData
from sklearn_subanneal.columns._multivariate_t cimport MultivariateT


cdef class GaussianData(ColumnData):
    cdef const double[:, ::1] cells         # (n_rows, width), NaN is a missing cell
    cdef const int8_t[::1] missing          # (n_rows,), 1 where the row has a missing cell
    cdef readonly bint any_missing
    # Missing cells are between the first and the second of these, (2, width); without limits if ``limited`` is false.
    cdef const double[:, ::1] limits
    cdef readonly bint limited
    cdef bint within(self, Py_ssize_t row, const double* completed) noexcept nogil


cdef class GaussianStatistics(MultivariateT):
    cdef readonly GaussianData data
    # The rows with their missing cells filled by the chain; the data themselves where nothing is missing.
    cdef const double[:, ::1] cells
    cdef double[:, ::1] completed
    cdef double[::1] before                 # fillings of a row, while others are drawn
    cdef float[:, ::1] difference
    cdef float[::1] projection, quadratic
    cdef readonly dict grids
    # The prior correlation of two columns is the inner product of their directions: of the first n_shared coordinates
    # of these vectors, over the lengths of the vectors. 0: correlations are not learned.
    cdef double[:, ::1] vectors
    cdef Py_ssize_t n_shared
    cdef double spread                      # standard deviation of the other coordinates
    cdef public bint settled                # see `settle`
    cdef void score_few(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil
    cdef void bound(self, Py_ssize_t row, float* bounds, Py_ssize_t n) noexcept nogil
    cdef float score_in(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil
