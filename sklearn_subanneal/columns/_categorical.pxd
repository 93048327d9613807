"""A column of categories, with one more value for those that were never seen; a boolean column has no such value."""
cimport cython
from libc.stdint cimport int8_t, int16_t, int32_t

from sklearn_subanneal.columns._additive cimport AdditiveStatistics
from sklearn_subanneal.columns._base cimport ColumnData


cdef inline int32_t code_at(const void* cells, int itemsize, Py_ssize_t row) noexcept nogil:
    if itemsize == 1:
        return (<const int8_t*> cells)[row]
    if itemsize == 2:
        return (<const int16_t*> cells)[row]
    return (<const int32_t*> cells)[row]


cdef class CategoricalData(ColumnData):
    cdef const int8_t[::1] codes8
    cdef const int16_t[::1] codes16
    cdef const int32_t[::1] codes32
    cdef int itemsize
    cdef const void* cells


@cython.final
cdef class CategoricalStatistics(AdditiveStatistics):
    cdef const void* cells
    cdef int itemsize
    cdef readonly Py_ssize_t n_categories
    cdef readonly Py_ssize_t n_values       # the categories, and the unseen value if there is one
    cdef double[::1] alpha                  # (n_values,)
    cdef double alpha_total
    cdef int32_t* count                     # (n_values, capacity), cells of each slot
    cdef int32_t* total                     # (capacity,)
    cdef float* log_count                   # (n_values, capacity): log(alpha + count)
    cdef float* log_total                   # (capacity,): log(alpha_total + total)
    cdef const double[:, ::1] alpha_grid    # (n_categories, n_grid)
    cdef Py_ssize_t next_category           # where the next sweep over the alphas begins
