"""Draws of missing cells of blocks of reals, given that each is between the limits of its column."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport NAN, sqrt
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._random cimport open_uniform
from sklearn_subanneal.columns._multivariate_t cimport MultivariateT
from sklearn_subanneal.columns._mvnormal cimport GaussianStatistics

from sklearn_subanneal.columns._base import check_slots
from sklearn_subanneal.columns.truncated_t import truncated_t

# The missing cells of a row are drawn together so many times, until all are between their limits.
cdef enum:
    MOST_TRIALS = 20


cdef class LimitedCells:
    """Missing cells of one row, in the cluster of a block."""

    cdef MultivariateT block
    cdef bitgen_t* bits
    cdef const double[:, ::1] limits
    cdef double[::1] trial, location, square

    def __init__(self, MultivariateT block, limits, generator):
        self.block, self.limits = block, np.ascontiguousarray(limits, np.float64)
        self.bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        self.trial, self.location, self.square = np.empty((3, block.width))

    cdef bint is_within(self, Py_ssize_t i, double x) noexcept nogil:
        return self.limits[0, i] <= x <= self.limits[1, i]

    cdef bint draw_together(self, const double* given, Py_ssize_t k) noexcept nogil:
        # ``trial`` = the row, its missing cells drawn; whether they are between their limits.
        cdef Py_ssize_t i
        for i in range(self.block.width):
            self.trial[i] = given[i]
        self.block.draw(k, self.bits, &self.trial[0])
        for i in range(self.block.width):
            if given[i] != given[i] and not self.is_within(i, self.trial[i]):
                return False
        return True

    cdef int fill(self, const double* given, double* x, Py_ssize_t k) except -1:
        # The missing cells of x, NaN in ``given``. Where draws of all together are not between their limits, they are
        # drawn one by one, each given those of the others that are, as in a Gibbs sweep.
        cdef Py_ssize_t i, j, d = self.block.width
        cdef double free
        for _ in range(MOST_TRIALS):
            if self.draw_together(given, k):
                for i in range(d):
                    x[i] = self.trial[i]
                return 0
        for i in range(d):
            if given[i] != given[i]:
                for j in range(d):
                    self.trial[j] = x[j] if given[j] == given[j] or (j != i and self.is_within(j, x[j])) else NAN
                free = self.block.t_given(&self.trial[0], k, self.block.sort_missing(&self.trial[0]), &self.location[0],
                                          &self.square[0])
                x[i] = truncated_t(self.location[i], sqrt(self.square[i]), free, self.limits[0, i], self.limits[1, i],
                                   open_uniform(self.bits))
        return 0


def cells_between(MultivariateT block, values, const int32_t[::1] slots, limits, generator):
    """Rows whose missing cells are drawn, each from a slot that the row is not in, between limits.

    Parameters
    ----------
    block : MultivariateT
    values : ndarray of shape (n_rows, width)
        NaN is a missing cell.
    slots : ndarray of int32, shape (n_rows,)
    limits : ndarray of shape (2, width)
    generator : numpy.random.Generator
    """
    cdef const double[:, ::1] given = np.ascontiguousarray(values, np.float64)
    cdef double[:, ::1] out = np.array(given)
    cdef LimitedCells cells = LimitedCells(block, limits, generator)
    cdef Py_ssize_t i
    check_slots(slots, block.capacity)
    with generator.bit_generator.lock:
        for i in range(slots.shape[0]):
            cells.fill(&given[i, 0], &out[i, 0], slots[i])
    return np.asarray(out)


def redrawn_between(
    GaussianStatistics block, completed, const int32_t[::1] rows, const int32_t[::1] slots, limits, bint together,
    generator
):
    """Rows with missing cells, of which the statistics have ``completed``, these cells drawn anew between limits.

    Parameters
    ----------
    block : GaussianStatistics
        Of data in which these cells are missing.
    completed : ndarray of shape (n_rows, width)
    rows, slots : ndarray of int32, shape (n_rows,)
        Indices of these rows, and their slots.
    limits : ndarray of shape (2, width)
    together : bool
        Whether all rows are taken out first, so that each is drawn given the rows that are in and those drawn before
        it; or else each given all others, as in a Gibbs sweep.
    generator : numpy.random.Generator
    """
    cdef LimitedCells cells = LimitedCells(block, limits, generator)
    cdef double* x
    cdef Py_ssize_t i, j
    check_slots(slots, block.capacity)
    np.asarray(block.completed)[np.asarray(rows)] = completed
    with generator.bit_generator.lock:
        if together:
            for i in range(rows.shape[0]):
                x = &block.completed[rows[i], 0]
                block.change(x, slots[i], -1.0)
                for j in range(block.width):
                    x[j] = block.data.cells[rows[i], j]
        for i in range(rows.shape[0]):
            x = &block.completed[rows[i], 0]
            if not together:
                block.change(x, slots[i], -1.0)
            cells.fill(&block.data.cells[rows[i], 0], x, slots[i])
            block.change(x, slots[i], 1.0)
    return np.asarray(block.completed)[np.asarray(rows)]
