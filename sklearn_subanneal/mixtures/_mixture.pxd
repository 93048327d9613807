"""The state of a mixture, declared for its moves: a partition of the rows, its prior, and the columns."""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.columns._base cimport LogQueue
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior


cdef class Mixture:
    cdef readonly PartitionPrior prior
    cdef readonly Py_ssize_t n_rows, n_columns, n_clusters, n_assigned, capacity
    cdef void** column                      # the columns, without reference counts, and how many there is room for
    cdef Py_ssize_t room
    cdef list kept                          # those of them that no other object keeps alive
    # Slots are packed: clusters 0..n_clusters-1, then cleared ones. A row holds the name of its cluster, which stays
    # when the cluster moves to another slot, so that closing a gap costs nothing per row.
    cdef int32_t[::1] names                 # of each row; -1: not assigned
    cdef int32_t[::1] slot_of, name_of
    cdef int32_t[::1] counts                # rows in each slot
    cdef float[::1] log_weight, scores
    cdef int32_t[::1] renamed               # room for the clusters of a partition that is forced
    cdef LogQueue logs
    cdef readonly int n_stateful            # columns that keep missing cells as state
    cdef int dress(self, void** columns, const int32_t* which, Py_ssize_t n) except -1 nogil
    cdef int take_on(self, Py_ssize_t n) except -1 nogil
    cdef int make_room(self, Py_ssize_t n_columns) except -1
    cdef int open_slot(self) except -1 nogil
    cdef void weigh(self) noexcept nogil
    cdef float new_weight(self, Py_ssize_t n_clusters) noexcept nogil
    cdef int put(self, Py_ssize_t row, Py_ssize_t k, bitgen_t* bits) except -1 nogil
    cdef int join(self, Py_ssize_t row, Py_ssize_t k) except -1 nogil
    cdef int settle(self, Py_ssize_t row, Py_ssize_t k) except -1 nogil
    cdef void take(self, Py_ssize_t row) noexcept nogil
    cdef bint incomplete(self, Py_ssize_t row) noexcept nogil
    cdef void score(self, Py_ssize_t row) noexcept nogil
    cdef void score_own(self, Py_ssize_t row, Py_ssize_t k) noexcept nogil
    cdef void weigh_slot(self, Py_ssize_t k, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t draw_slot(
        self, float inverse_temperature, bitgen_t* bits, float* top, float* total) noexcept nogil
    cdef double allocate(
        self, const int32_t* rows, Py_ssize_t n, const int32_t* forced, int32_t* slots, float inverse_temperature,
        bitgen_t* bits) except? -1.0 nogil
    cdef void occupy(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil
    cdef void vacate(self, const int32_t* rows, Py_ssize_t n) noexcept nogil
    cdef void slots_of_rows(self, int32_t* out) noexcept nogil
    cdef Py_ssize_t find_slots(
        self, const int32_t* rows, Py_ssize_t n, bint complete_only, int32_t* kept, int32_t* slots) noexcept nogil
    cdef void assign(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil
    cdef void refresh_prior(self, bitgen_t* bits) noexcept nogil
    cdef void resample(self, double inverse_temperature, bitgen_t* bits) noexcept nogil
    cdef double log_probability(self) noexcept nogil
