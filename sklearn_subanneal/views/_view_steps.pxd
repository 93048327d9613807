"""ViewSteps, declared for the moves of columns."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._reals cimport Rows
from sklearn_subanneal.views._view_pool cimport ViewPool


cdef class ViewSteps(ViewPool):
    cdef double evidence_of(self, Py_ssize_t j, Py_ssize_t number) except? -1.0 nogil
    cdef double log_weight(self, Py_ssize_t n_columns, Py_ssize_t n_views) noexcept nogil
    cdef Rows rows_in(self, Py_ssize_t number) noexcept nogil
    cdef double evidence_alone(self, Py_ssize_t j, Py_ssize_t number) except? -1.0 nogil
    cdef double evidence_of_group(self, Py_ssize_t n_group, Py_ssize_t number) except? -1.0 nogil
    cdef Py_ssize_t find_reals(self, const int32_t* members, Py_ssize_t n_members) noexcept nogil
    cdef int settle(self, Py_ssize_t j, Py_ssize_t number, bitgen_t* bits) except -1 nogil
    cdef double allocate(
        self, Py_ssize_t number, const int32_t* members, Py_ssize_t n_members, Py_ssize_t like, bitgen_t* bits
    ) except? -1.0 nogil
    cdef double allocate_group(
        self, Py_ssize_t number, const int32_t* members, Py_ssize_t n_members, Py_ssize_t like, Py_ssize_t prior_of,
        bitgen_t* bits
    ) except? -1.0 nogil
    cdef int take_prior_of_block(self, Py_ssize_t number, Py_ssize_t prior_of, bitgen_t* bits) except -1 nogil
    cdef double allocate_in(
        self, Py_ssize_t number, Py_ssize_t n_members, Py_ssize_t like, bitgen_t* bits
    ) except? -1.0 nogil
    cdef double log_share(self, Py_ssize_t j, double difference) noexcept nogil
    cdef int move(self, Py_ssize_t j, Py_ssize_t number) except -1 nogil
