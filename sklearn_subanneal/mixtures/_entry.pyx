"""enter, by which rows join mixtures one after the other, and fill, by which cells are drawn that they have not."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, uintptr_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.mixtures._mixture cimport Mixture


def enter(list mixtures, const int32_t[::1] rows, generator):
    """Assign rows in turn, in each mixture by the exact conditional distribution given all rows that are assigned.

    Parameters
    ----------
    mixtures : list of Mixture
        Independent of one another; their priors have no auxiliary variable.
    rows : ndarray of int32
        They are not assigned yet.
    generator : numpy.random.Generator

    Returns
    -------
    log_predictive : ndarray of shape (len(rows),)
        Log density of the observed cells of each row given the rows before it, their clusters and the hyperparameters,
        in standard units, the sum over the mixtures. It is computed as the density of the cells and the cluster that
        was drawn, over the probability with which it was drawn: as a weight it is unbiased whatever the rounding of the
        scores.
    """
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
    cdef double[::1] out = np.zeros(rows.shape[0])
    cdef uintptr_t[::1] each = np.array([address_of(mixture) for mixture in mixtures], np.uintp)
    cdef Py_ssize_t i, v
    with generator.bit_generator.lock, nogil:
        # Row by row: the random numbers of a row do not depend on how many rows come at once.
        for i in range(rows.shape[0]):
            for v in range(each.shape[0]):
                out[i] += enter_row(<Mixture> <void*> each[v], rows[i], bits)
    return np.asarray(out)


def address_of(Mixture mixture not None):
    """Where a mixture is, for loops without the interpreter."""
    return <uintptr_t> <void*> mixture


cdef double enter_row(Mixture mixture, Py_ssize_t row, bitgen_t* bits) except? -1.0 nogil:
    cdef Py_ssize_t j, k, n_clusters = mixture.n_clusters
    cdef double weight, whole, out = 0.0
    cdef float top, total
    mixture.score(row)
    k = mixture.draw_slot(1.0, bits, &top, &total)
    if n_clusters:
        # The first cluster has no rival.
        weight = mixture.prior.new_base + mixture.prior.new_slope * n_clusters
        whole = mixture.n_assigned + mixture.prior.offset * n_clusters + weight
        if k < n_clusters:
            weight = mixture.counts[k] + mixture.prior.offset
        out = log_double(weight / whole) - log_double(mixture.scores[k] / total)
    for j in range(mixture.n_columns):
        out += (<ColumnStatistics> mixture.column[j]).log_observed(row, k)
    mixture.assign(row, k, -1, bits)
    return out


def fill(Mixture mixture not None, const int32_t[::1] rows, const int32_t[::1] slots, generator):
    """Draw the missing cells that are part of the state of rows, of row i by slot ``slots[i]`` as it is.

    The rows have no part in the statistics.
    """
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
    cdef Py_ssize_t i
    with generator.bit_generator.lock, nogil:
        for i in range(rows.shape[0]):
            mixture.complete(rows[i], slots[i], True, bits)
