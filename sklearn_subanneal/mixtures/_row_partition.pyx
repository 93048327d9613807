"""RowPartition, the base class of mixtures: the cluster of each row, and the size of each cluster."""
from libc.stdint cimport int32_t

import numpy as np


cdef class RowPartition:
    """Clusters of rows in packed slots; rows may be unassigned.

    Parameters
    ----------
    n_rows : int
        All rows start unassigned. A subclass may have further parameters.
    """

    def __cinit__(self, *args, **kwargs):
        self.n_clusters = self.n_assigned = self.capacity = 0

    cdef int grow_slots(self, Py_ssize_t capacity) except -1:
        # Add slots; the present ones are kept.
        cdef Py_ssize_t present = self.capacity
        names, slots = np.arange(capacity, dtype=np.int32), np.arange(capacity, dtype=np.int32)
        counts = np.zeros(capacity, np.int32)
        if present:
            names[:present], slots[:present], counts[:present] = self.name_of, self.slot_of, self.counts
        self.name_of, self.slot_of, self.counts, self.capacity = names, slots, counts, capacity
        return 0

    cdef void swap_names(self, Py_ssize_t one, Py_ssize_t other) noexcept nogil:
        # The clusters in two slots change places.
        cdef int32_t name = self.name_of[one]
        self.name_of[one] = self.name_of[other]
        self.slot_of[self.name_of[one]] = <int32_t> one
        self.name_of[other] = name
        self.slot_of[name] = <int32_t> other

    cdef void slots_of_rows(self, int32_t* out) noexcept nogil:
        cdef Py_ssize_t row
        for row in range(self.n_rows):
            out[row] = self.slot_of[self.names[row]] if self.names[row] >= 0 else -1

    cdef void label_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            self.names[rows[i]] = self.name_of[slots[i]]
        self.n_assigned = n

    cdef void unlabel_rows(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            self.names[rows[i]] = -1
        self.n_assigned = 0

    @property
    def labels(self):
        """Cluster 0..n_clusters-1 of every row, int32; -1: not assigned."""
        cdef int32_t[::1] out = np.empty(self.n_rows, np.int32)
        if self.n_rows:
            self.slots_of_rows(&out[0])
        return np.asarray(out)

    @property
    def sizes(self):
        """Number of rows in each cluster, int32."""
        return np.asarray(self.counts)[:self.n_clusters].copy()

    def assigned(self):
        """The assigned rows, int32."""
        return np.flatnonzero(np.asarray(self.names) >= 0).astype(np.int32)

    def relabel(self, labels):
        """Assign row i to cluster ``labels[i]``, -1 to none; labels are 0..K-1 without gaps.

        Raises
        ------
        ValueError
            If there is a gap.
        """
        cdef const int32_t[::1] slots = np.ascontiguousarray(labels, np.int32)
        cdef Py_ssize_t row, n_clusters = int(np.max(labels, initial=-1)) + 1
        counts = np.bincount(np.asarray(labels)[np.asarray(labels) >= 0], minlength=n_clusters)
        if not counts.all():
            raise ValueError("labels must be 0..K-1 without gaps")
        if n_clusters + 1 > self.capacity:
            self.grow(n_clusters + 1)
        np.asarray(self.counts)[:] = 0
        np.asarray(self.counts)[:n_clusters] = counts
        self.n_clusters, self.n_assigned = n_clusters, counts.sum()
        for row in range(self.n_rows):
            self.names[row] = self.name_of[slots[row]] if slots[row] >= 0 else -1

    def join_clusters(self, labels, sizes):
        """Let row i be one of the rows of cluster ``labels[i]``, of clusters that have rows elsewhere.

        Parameters
        ----------
        labels : ndarray of int, shape (n_rows,)
            -1: the row is not assigned.
        sizes : ndarray of int, shape (n_clusters,)
            Rows of each cluster, here and elsewhere.
        """
        cdef const int32_t[::1] slots = np.ascontiguousarray(labels, np.int32)
        cdef Py_ssize_t row, n_clusters = len(sizes)
        if n_clusters + 1 > self.capacity:
            self.grow(n_clusters + 1)
        np.asarray(self.counts)[:] = 0
        np.asarray(self.counts)[:n_clusters] = sizes
        self.n_clusters, self.n_assigned = n_clusters, np.sum(sizes)
        for row in range(self.n_rows):
            self.names[row] = self.name_of[slots[row]] if slots[row] >= 0 else -1

    def places(self):
        """The slot of each name, int32; one of at least ``n_clusters`` is that of a cluster without rows."""
        return np.asarray(self.slot_of).copy()

    def grow(self, Py_ssize_t capacity):
        """Make room for ``capacity`` slots."""
        self.grow_slots(capacity)
