"""Search for the most probable set of active components of each row, by single changes that are not undone at once."""
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc

import numpy as np

# Gains below this many nats are rounding errors.
cdef double LEAST_GAIN = 1e-9


cdef struct Walk:
    # Scratch of one row, of n components each: log odds given the others, states, and when a change is allowed again.
    double* odds
    uint8_t* state
    Py_ssize_t* allowed


cdef double improve_row(
    const double* alone, const double* pairs, uint8_t* state, Py_ssize_t n, Py_ssize_t n_steps, Py_ssize_t memory,
    Walk* walk,
) noexcept nogil:
    """Walk from the state to the best one on the way, which replaces it; the gain in log probability."""
    cdef Py_ssize_t j, k, step
    cdef double gain, best, now = 0.0, top = 0.0
    cdef const double* row
    for k in range(n):
        walk.odds[k] = alone[k]
        walk.state[k] = state[k]
        walk.allowed[k] = 0
    for j in range(n):
        if state[j]:
            row = pairs + j * n
            for k in range(n):
                walk.odds[k] -= row[k]
    for step in range(n_steps):
        j = -1
        best = 0.0
        for k in range(n):
            gain = -walk.odds[k] if walk.state[k] else walk.odds[k]
            # A change that leads to a new best state is always allowed.
            if (walk.allowed[k] <= step or now + gain > top + LEAST_GAIN) and (j < 0 or gain > best):
                j, best = k, gain
        if j < 0:
            break
        row = pairs + j * n
        if walk.state[j]:
            for k in range(n):
                walk.odds[k] += row[k]
        else:
            for k in range(n):
                walk.odds[k] -= row[k]
        walk.state[j] = 1 - walk.state[j]
        walk.allowed[j] = step + 1 + memory
        now += best
        if now > top + LEAST_GAIN:
            top = now
            for k in range(n):
                state[k] = walk.state[k]
    return top


def improve_states(
    const double[:, ::1] alone not None, const double[:, ::1] pairs not None, uint8_t[:, ::1] states not None,
    Py_ssize_t n_steps, Py_ssize_t memory,
):
    """Improve the states z of rows by a tabu search of the maximum of alone · z - z' pairs z / 2.

    Each step makes the best single change, although it may be for the worse; a component that has changed stays as it
    is for the next ``memory`` steps.

    Parameters
    ----------
    alone : ndarray of float64, shape (n_rows, n_components)
        Log odds of each component in each row, without the others.
    pairs : ndarray of float64, shape (n_components, n_components)
        Interactions, symmetric with a zero diagonal.
    states : ndarray of uint8, shape (n_rows, n_components)
        0 or 1; replaced by the best states that were visited.
    n_steps, memory : int

    Returns
    -------
    gains : ndarray of float64, shape (n_rows,)
        Not negative.

    References
    ----------
    F. Glover (1989), Tabu search, part I, ORSA Journal on Computing 1.
    G. Kochenberger et al. (2014), The unconstrained binary quadratic programming problem: a survey, JOCO 28.
    """
    cdef Py_ssize_t n_rows = alone.shape[0], n = alone.shape[1], row
    if pairs.shape[0] != n or pairs.shape[1] != n or states.shape[0] != n_rows or states.shape[1] != n:
        raise ValueError("alone, pairs and states must have the same components and rows")
    gains = np.zeros(n_rows)
    cdef double[::1] out = gains
    cdef Walk walk
    if n_rows == 0 or n == 0:
        return gains
    cdef char* scratch = <char*> malloc(n * (sizeof(double) + sizeof(Py_ssize_t) + 1))
    if scratch == NULL:
        raise MemoryError("no memory for the search of the states of rows")
    walk.odds = <double*> scratch
    walk.allowed = <Py_ssize_t*> (walk.odds + n)
    walk.state = <uint8_t*> (walk.allowed + n)
    with nogil:
        for row in range(n_rows):
            out[row] = improve_row(&alone[row, 0], &pairs[0, 0], &states[row, 0], n, n_steps, memory, &walk)
    free(scratch)
    return gains
