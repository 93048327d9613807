"""Columns whose sufficient statistics are sums over the rows of a cluster: the bookkeeping that such kernels share.

A kernel defines the sums, and the cached coefficients that are computed from them:

- ``place`` points its own names at the memory that is made here;
- ``change`` adds a row to the sums of a slot, or subtracts it, and refreshes the slot;
- ``sum_rows`` adds many rows to the sums of their slots, under this or another partition;
- ``refresh`` computes the coefficients of a slot, ``refresh_prior`` those that depend on hyperparameters alone;
- ``log_evidence`` and ``add_over_grid`` are log marginal likelihoods of all clusters, as functions of the partition
  and of one hyperparameter;
- ``score``, ``score_without``, ``log_marginal``, ``score_values`` and ``draw`` are those of ``_base.pxd``.

Capacity, copies, merges, state, hyperparameters and their grids are kept here.
"""
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._base cimport ColumnData, ColumnStatistics, LogQueue

# A prior has at most this many hyperparameters that are single numbers.
cdef enum:
    MAX_HYPERPARAMETERS = 4


# Intermediate results of each slot: at least so many, and one more than the float64 sums.
cdef enum:
    N_ROOM = 4


# The sums of all slots under one partition.
cdef struct Sums:
    double* record          # (capacity, n_record): of each slot the sums, then coefficients
    int32_t* count          # (n_counts, capacity): sums of integers, contiguous over slots


cdef class AdditiveStatistics(ColumnStatistics):
    cdef readonly ColumnData data
    cdef tuple sum_names, hyperparameter_names
    cdef Py_ssize_t n_sums, n_record, n_counts, n_floats, n_doubles, n_hyperparameters
    cdef Sums own
    cdef Sums other                         # room for the sums under another partition
    cdef float* floats                      # (n_floats, capacity), coefficients, contiguous over slots
    cdef double* doubles                    # (n_doubles, capacity), the same in float64
    cdef double* room                       # (n_sums + 1 or N_ROOM, capacity), for intermediate results of slots
    cdef double[MAX_HYPERPARAMETERS] hyperparameter
    cdef Py_ssize_t[MAX_HYPERPARAMETERS] n_grid
    cdef double[:, ::1] grid                # (n_hyperparameters, longest grid)
    cdef object memory                      # the arrays that own all this

    cdef int place(self) except -1
    cdef void change(self, Py_ssize_t row, Py_ssize_t k, double sign, LogQueue* logs) noexcept nogil
    # Adds rows[i] to the sums of slots[i], i < n; returns the part of their log likelihood that no partition changes.
    cdef double sum_rows(self, const int32_t* rows, const int32_t* slots, Py_ssize_t n, Sums* sums) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void refresh_prior(self) noexcept nogil
    cdef void refresh_slots(self) noexcept nogil
    cdef void refresh_all(self) noexcept nogil
    # ``constant``, which ``sum_rows`` has returned, plus the rest of the log marginal likelihoods of n_clusters. Their
    # sums are in ``room``, each contiguous over slots so that loops are vectorised; integers are in ``other.count``.
    cdef double log_evidence(self, Py_ssize_t n_clusters, double constant) noexcept nogil
    # out[g] += the log marginal likelihood of all clusters with the hyperparameter ``axis`` at grid[g], up to a
    # constant.
    cdef void add_over_grid(
        self, Py_ssize_t axis, const double* grid, Py_ssize_t n_grid, Py_ssize_t n_clusters, double* out
    ) noexcept nogil
