"""A column of counts."""
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._base cimport ColumnData, ColumnStatistics


cdef class CountData(ColumnData):
    cdef const int32_t[::1] cells


cdef class CountStatistics(ColumnStatistics):
    cdef readonly CountData data
    cdef const int32_t* cells
    cdef double shape, rate
    cdef int32_t[::1] count                 # (capacity,)
    cdef double[::1] total                  # (capacity,), integers: exact
    cdef double[::1] log_factorials         # (capacity,), the sum of log x! over a cluster's cells
    # p(x | k) in float64 (counts may be large): log_gamma(x + a) + constant - x slope - log x!
    cdef double[::1] posterior_shape, slope, constant
    cdef double[:, ::1] other               # counts and sums under another partition
    cdef const double[::1] grid_shape, grid_rate
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
