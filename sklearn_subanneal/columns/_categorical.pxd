"""A column of categories; a boolean column is one of two categories."""
from libc.stdint cimport int8_t, int16_t, int32_t

from sklearn_subanneal.columns._base cimport ColumnData, ColumnStatistics, LogQueue


cdef inline int32_t code_at(const void* cells, int itemsize, Py_ssize_t row) noexcept nogil:
    if itemsize == 1:
        return (<const int8_t*> cells)[row]
    if itemsize == 2:
        return (<const int16_t*> cells)[row]
    return (<const int32_t*> cells)[row]


cdef class CategoricalData(ColumnData):
    cdef object codes
    cdef const int8_t[::1] codes8
    cdef const int16_t[::1] codes16
    cdef const int32_t[::1] codes32
    cdef int itemsize
    cdef const void* cells


cdef class CategoricalStatistics(ColumnStatistics):
    cdef readonly CategoricalData data
    cdef const void* cells
    cdef int itemsize
    cdef readonly Py_ssize_t n_categories
    cdef double[::1] alpha
    cdef double alpha_total
    cdef int32_t[:, ::1] count              # (n_categories, capacity)
    cdef int32_t[::1] total                 # (capacity,)
    cdef float[:, ::1] log_count            # log(alpha_v + count), contiguous over slots
    cdef float[::1] log_total               # log(sum of alpha + total)
    cdef double[:, ::1] other               # (n_categories + 2, capacity), counts under another partition
    cdef const double[:, ::1] grid          # (n_categories, n_grid)
    cdef Py_ssize_t next_category           # where the next sweep over the alphas begins
    cdef void bump(self, int32_t v, Py_ssize_t k, int32_t by, LogQueue* logs) noexcept nogil
    cdef void refresh_all(self) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
