"""churn, the loop that removes and assigns rows: steps of subsample annealing, and Gibbs sampling as a special case."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal.mixtures._bounded_choice cimport Rounds, draw_by_bounds, pays
from sklearn_subanneal.mixtures._mixture cimport Mixture


def churn(
    Mixture mixture, const int32_t[::1] leaving, const int32_t[::1] entering, double inverse_temperature, generator
):
    """Run a batch of moves; move i removes row ``leaving[i]`` and assigns row ``entering[i]`` (-1: none).

    A row is assigned by its exact conditional distribution given all other assigned rows (algorithm 3 of Neal 2000,
    doi:10.1080/10618600.2000.10474879). Where the same row leaves and enters, this is a step of Gibbs sampling:
    the row is scored in its own cluster without removing it, and statistics change only if its label does.

    Returns the number of rows that were assigned: all but those that a step of Gibbs sampling left in their cluster.
    """
    cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
    cdef Py_ssize_t n_moved = 0
    with generator.bit_generator.lock, nogil:
        n_moved = churn_rows(mixture, leaving, entering, inverse_temperature, bits)
    return n_moved


cdef Py_ssize_t churn_rows(
    Mixture mixture, const int32_t[::1] leaving, const int32_t[::1] entering, float beta, bitgen_t* bits
) except -1 nogil:
    cdef Py_ssize_t n_moved
    mixture.fused.begin(mixture.column, mixture.n_columns, mixture.capacity)
    try:
        n_moved = exchange_rows(mixture, leaving, entering, beta, bits)
    finally:
        mixture.fused.end()
    return n_moved


cdef Py_ssize_t exchange_rows(
    Mixture mixture, const int32_t[::1] leaving, const int32_t[::1] entering, float beta, bitgen_t* bits
) except -1 nogil:
    cdef Py_ssize_t move, row, old, new, back, n_moved = 0
    cdef int32_t name
    cdef bint returns, alone
    cdef float top, total
    cdef Rounds rounds
    rounds.n_skipped = rounds.n_tried = rounds.n_crowded = 0
    for move in range(leaving.shape[0]):
        row = entering[move]
        old = back = -1
        if leaving[move] >= 0:
            name = mixture.names[leaving[move]]
            old = mixture.slot_of[name]
            returns = leaving[move] == row and mixture.incomplete(row)
            alone = mixture.counts[old] == 1
            if leaving[move] != row or alone or returns:
                mixture.remove(leaving[move])
                if returns:
                    # Where the row was: the cluster of a row that was alone is gone, and becomes the empty slot.
                    back = mixture.n_clusters if alone else mixture.slot_of[name]
                old = -1
        if row < 0:
            continue
        if pays(mixture, &rounds, row):
            new = draw_by_bounds(mixture, &rounds, row, old, beta, bits)
        else:
            mixture.score(row)
            if old >= 0:
                mixture.score_own(row, old)
            new = mixture.draw_slot(beta, bits, &top, &total)
        if old >= 0:
            if new == old:
                mixture.weigh_slot(old, mixture.counts[old])
                continue
            mixture.remove(row)
        n_moved += 1
        mixture.assign(row, new, back, bits)
        # An auxiliary variable of the prior follows the subsample as it grows, at each power of two.
        if leaving[move] < 0 and mixture.n_assigned & (mixture.n_assigned - 1) == 0:
            mixture.refresh_prior(bits)
    return n_moved
