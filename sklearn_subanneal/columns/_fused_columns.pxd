"""All columns of a mixture while rows move: the independent reals in common loops, and upper bounds of scores."""
from sklearn_subanneal.columns._base cimport LogQueue


cdef void change_each(
    void** columns, Py_ssize_t n, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil
cdef void score_each(
    void** columns, Py_ssize_t n_columns, Py_ssize_t row, float* scores, float* part, Py_ssize_t n) noexcept nogil


cdef class FusedColumns:
    cdef readonly bint active               # between ``begin`` and ``end``
    cdef readonly bint has_bounds           # whether there are columns for which bounds pay
    cdef Py_ssize_t n_slots, room, stride   # of the arrays below
    cdef Py_ssize_t n_plain, n_blocks, n_reals
    # The columns: those that have no bound, blocks of reals, and independent reals.
    cdef void** plain
    cdef void** block
    cdef void** real
    cdef object memory                      # the arrays that own all this
    # Of the row that was read: the reals that are observed, and those that are not.
    cdef Py_ssize_t n_seen, n_unseen
    cdef void** seen
    cdef void** unseen
    # Of each independent real (stride): its prior, its statistics in one slot; a row's cells, coefficients in a slot.
    cdef double* doubles
    cdef float* floats
    # Of each slot: the sum of the constants of these columns, their least power, and room for a product or a sum.
    cdef float* constant
    cdef float* least_power
    cdef float* product
    cdef int reserve(self, Py_ssize_t n_columns, Py_ssize_t n_slots) except -1
    cdef int begin(self, void** columns, Py_ssize_t n_columns, Py_ssize_t n_slots) except -1 nogil
    cdef void end(self) noexcept nogil
    cdef void sum_slot(self, Py_ssize_t k) noexcept nogil
    cdef void read(self, Py_ssize_t row) noexcept nogil
    cdef void clear(self, Py_ssize_t j) noexcept nogil
    cdef void score_plain(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil
    cdef void score_rest(self, Py_ssize_t row, float* scores, Py_ssize_t n) noexcept nogil
    cdef void bound_rest(self, Py_ssize_t row, float* bounds, Py_ssize_t n) noexcept nogil
    cdef float score_rest_in(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil
    cdef float score_without(self, Py_ssize_t row, Py_ssize_t k, double* ratio) noexcept nogil
    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil
