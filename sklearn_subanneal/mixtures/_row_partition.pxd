"""RowPartition, the base class of mixtures: the cluster of each row, and the size of each cluster."""
from libc.stdint cimport int32_t


cdef class RowPartition:
    cdef readonly Py_ssize_t n_rows, n_clusters, n_assigned, capacity
    # Slots are packed: clusters 0..n_clusters-1, then empty ones. A row has the name of its cluster, which stays when
    # the cluster moves to another slot, so that closing a gap costs nothing per row.
    cdef int32_t[::1] names                 # of each row; -1: not assigned
    cdef int32_t[::1] slot_of, name_of      # slot of each name, and name of each slot
    cdef int32_t[::1] counts                # rows in each slot
    cdef int grow_slots(self, Py_ssize_t capacity) except -1
    cdef void swap_names(self, Py_ssize_t one, Py_ssize_t other) noexcept nogil
    cdef void slots_of_rows(self, int32_t* out) noexcept nogil
    # Give rows the clusters of these slots, and none, without a change of the counts.
    cdef void label_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil
    cdef void unlabel_rows(self, const int32_t* rows, Py_ssize_t n) noexcept nogil
