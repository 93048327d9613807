"""The state of a mixture, declared for its moves: a partition of the rows, its prior, and the columns."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._base cimport LogQueue
from sklearn_subanneal.columns._fused_columns cimport FusedColumns
from sklearn_subanneal.mixtures._row_partition cimport RowPartition
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior


cdef class Mixture(RowPartition):
    cdef readonly PartitionPrior prior
    cdef readonly Py_ssize_t n_columns
    cdef void** column                      # the columns, without reference counts, and how many there is room for
    cdef Py_ssize_t room
    cdef list kept                          # those of them that no other object keeps alive
    cdef float[::1] log_weight, scores      # of each slot
    cdef float[::1] bounds                  # of the log weights of the slots
    cdef int32_t[::1] renumbered            # room for the clusters of a partition that is forced
    cdef LogQueue logs
    cdef FusedColumns fused                 # the columns while rows move, and only then
    cdef readonly int n_stateful            # columns that keep missing cells as state
    cdef int set_columns_from(self, void** columns, const int32_t* which, Py_ssize_t n) except -1 nogil
    cdef int prepare_columns(self, Py_ssize_t n) except -1 nogil
    cdef int make_room(self, Py_ssize_t n_columns) except -1
    cdef int open_slot(self) except -1 nogil
    cdef void weigh(self) noexcept nogil
    cdef float new_weight(self, Py_ssize_t n_clusters) noexcept nogil
    cdef int assign(self, Py_ssize_t row, Py_ssize_t k, Py_ssize_t back, bitgen_t* bits) except -1 nogil
    cdef bint complete(self, Py_ssize_t row, Py_ssize_t k, bint enters, bitgen_t* bits) noexcept nogil
    cdef int add(self, Py_ssize_t row, Py_ssize_t k) except -1 nogil
    cdef int assign_as_filled(self, Py_ssize_t row, Py_ssize_t k) except -1 nogil
    cdef void change_columns(self, Py_ssize_t row, Py_ssize_t k, double sign) noexcept nogil
    cdef void remove(self, Py_ssize_t row) noexcept nogil
    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil
    cdef void score(self, Py_ssize_t row) noexcept nogil
    cdef void score_own(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil
    cdef void weigh_slot(self, Py_ssize_t k, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t draw_slot(
        self, float inverse_temperature, bitgen_t* bits, float* top, float* total) noexcept nogil
    cdef Py_ssize_t find_slots(
        self, const int32_t* rows, Py_ssize_t n, bint complete_only, int32_t* kept, int32_t* slots) noexcept nogil
    cdef void rebuild_from(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil
    cdef void refresh_prior(self, bitgen_t* bits) noexcept nogil
    cdef void resample(self, double inverse_temperature, bitgen_t* bits) noexcept nogil
    cdef double log_probability(self) noexcept nogil
