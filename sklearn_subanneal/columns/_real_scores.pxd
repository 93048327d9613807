"""Densities of rows in several independent columns of reals."""


cdef class RealScores:
    cdef readonly Py_ssize_t n_columns, n_slots
    cdef Py_ssize_t stride                  # n_columns, padded
    cdef double[:, :, ::1] near             # (n_columns, 3, n_slots): location, precision, constant
    cdef double[:, :, ::1] own              # (n_slots, 4, stride): location, precision, power, constant
    cdef double[::1] least_power, constant  # of each slot: the least power, and the sum of the constants
    cdef double[:, ::1] cells, joint, product, bound    # of some rows side by side
    cdef void add(self, const double** values, Py_ssize_t first, Py_ssize_t n_rows, double* joint) noexcept nogil
    cdef double log_density(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil
