"""Window: the rows in the subsample, and the plan of the rows that leave and enter it in the next step."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._random cimport integer_below


cdef class Window:
    """The subsample as a set of positions, in one or more strata.

    Stratum s has the positions ``bounds[s] .. bounds[s + 1] - 1``. Its part of the subsample is, for cyclic churn, a
    window that moves round the ring of its positions; for random churn, any subset.

    Parameters
    ----------
    bounds : array-like of int, shape (n_strata + 1,)
    weights : array-like of float, shape (n_strata,)
        While the subsample grows, the sizes of the strata in it are kept in proportion to these.
    cyclic : bool
    """

    cdef const int32_t[::1] bounds
    cdef const double[::1] weights
    cdef bint cyclic
    cdef Py_ssize_t n_strata
    cdef readonly Py_ssize_t size           # rows in the subsample
    cdef int32_t[::1] first, sizes          # of each stratum: where its window starts, and how long it is
    cdef int32_t[::1] deck                  # random churn: in each stratum, first the positions that are in

    def __init__(self, bounds, weights, bint cyclic):
        self.bounds = np.ascontiguousarray(bounds, np.int32)
        self.weights = np.ascontiguousarray(weights, np.float64)
        self.cyclic = cyclic
        self.n_strata = len(weights)
        self.first, self.sizes = np.zeros((2, self.n_strata), np.int32)
        self.deck = np.arange(self.bounds[self.n_strata], dtype=np.int32)

    @property
    def n_rows(self):
        return self.bounds[self.n_strata]

    def fill(self):
        """Take all rows in."""
        cdef Py_ssize_t s
        for s in range(self.n_strata):
            self.sizes[s] = self.bounds[s + 1] - self.bounds[s]
        self.size = self.n_rows

    def plan(self, Py_ssize_t target, Py_ssize_t n_moves, generator):
        """The next moves: two arrays of positions, of the rows that leave and of those that enter (-1: none).

        As many moves as it takes to reach ``target`` rows only grow (or shrink) the subsample; the others take one row
        out and put one in. The first kind is spread evenly among the second.
        """
        cdef Py_ssize_t change = target - self.size, i, s, n_lone = abs(change)
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef int32_t[::1] leaving, entering
        if not 0 <= target <= self.n_rows:
            raise ValueError(f"a subsample of {target} rows can't be had of {self.n_rows}")
        n_moves = max(n_moves, n_lone)
        leaving, entering = np.full((2, n_moves), -1, np.int32)
        with generator.bit_generator.lock, nogil:
            for i in range(n_moves):
                if (i + 1) * n_lone // n_moves > i * n_lone // n_moves:
                    if change > 0:
                        s = self.hungriest()
                        entering[i] = self.enter(s, -1, bits)
                    else:
                        s = self.stratum_of(integer_below(bits, self.size))
                        leaving[i] = self.leave(s, bits)
                elif self.size:
                    s = self.stratum_of(integer_below(bits, self.size)) if self.n_strata > 1 else 0
                    leaving[i] = self.leave(s, bits)
                    entering[i] = self.enter(s, leaving[i], bits)
        return np.asarray(leaving), np.asarray(entering)

    def take_back(self, leaving, entering):
        """Undo the last moves of the last plan, which are not made: the subsample is as it was before them.

        Random numbers stay drawn.
        """
        bounds, sizes, first, deck = map(np.asarray, (self.bounds, self.sizes, self.first, self.deck))
        left, entered = [
            np.bincount(np.searchsorted(bounds, rows[rows >= 0], "right") - 1, minlength=self.n_strata)
            for rows in (leaving, entering)]
        sizes += (left - entered).astype(np.int32)
        self.size = np.sum(sizes)
        if self.cyclic:
            first[:] = (first - left) % np.diff(bounds)
            return
        # What happened to a row first says where it was.
        rows, at = np.unique(np.column_stack([leaving, entering]), return_index=True)
        inside = np.zeros(self.n_rows, bool)
        for s in range(self.n_strata):
            inside[deck[bounds[s]:bounds[s] + sizes[s] - left[s] + entered[s]]] = True
        inside[rows[rows >= 0]] = at[rows >= 0] % 2 == 0
        for s in range(self.n_strata):
            own = deck[bounds[s]:bounds[s + 1]]
            own[:] = own[np.argsort(~inside[own], kind="stable")]

    def positions(self):
        """All positions in the subsample, int32 (size,)."""
        cdef int32_t[::1] out = np.empty(self.size, np.int32)
        cdef Py_ssize_t s, i, n, at = 0
        for s in range(self.n_strata):
            n = self.bounds[s + 1] - self.bounds[s]
            for i in range(self.sizes[s]):
                out[at] = (self.bounds[s] + <int32_t> ((self.first[s] + i) % n) if self.cyclic
                           else self.deck[self.bounds[s] + i])
                at += 1
        return np.asarray(out)

    cdef Py_ssize_t hungriest(self) noexcept nogil:
        # The stratum, not yet complete, whose share lags most behind its weight.
        cdef Py_ssize_t s, best = -1
        cdef double least = 0.0, share
        for s in range(self.n_strata):
            if self.sizes[s] < self.bounds[s + 1] - self.bounds[s]:
                share = self.sizes[s] / self.weights[s]
                if best < 0 or share < least:
                    best, least = s, share
        return best

    cdef Py_ssize_t stratum_of(self, Py_ssize_t index) noexcept nogil:
        cdef Py_ssize_t s = 0
        while index >= self.sizes[s]:
            index -= self.sizes[s]
            s += 1
        return s

    cdef int32_t leave(self, Py_ssize_t s, bitgen_t* bits) noexcept nogil:
        cdef int32_t start = self.bounds[s], n = self.bounds[s + 1] - start, position
        cdef Py_ssize_t i, last
        self.size -= 1
        self.sizes[s] -= 1
        if self.cyclic:
            position = start + self.first[s]
            self.first[s] = (self.first[s] + 1) % n
            return position
        i = start + integer_below(bits, self.sizes[s] + 1)
        last = start + self.sizes[s]
        position = self.deck[i]
        self.deck[i] = self.deck[last]
        self.deck[last] = position
        return position

    cdef int32_t enter(self, Py_ssize_t s, int32_t left, bitgen_t* bits) noexcept nogil:
        # Random churn may draw the very row that just left: it is one of those that are out.
        cdef int32_t start = self.bounds[s], n = self.bounds[s + 1] - start, position
        cdef Py_ssize_t i, end = start + self.sizes[s]
        self.size += 1
        self.sizes[s] += 1
        if self.cyclic:
            # A window over the whole ring is its own successor: the row that left comes back.
            return start + (self.first[s] + self.sizes[s] - 1) % n
        i = end + integer_below(bits, n - self.sizes[s] + 1)
        position = self.deck[i]
        self.deck[i] = self.deck[end]
        self.deck[end] = position
        return position

    def get_state(self):
        """Arrays from which ``set_state`` restores the subsample."""
        return {name: np.array(array) for name, array in (
            ("first", self.first), ("sizes", self.sizes), ("deck", self.deck))}

    def set_state(self, state):
        """Restore a state returned by ``get_state``."""
        self.first, self.sizes, self.deck = (state[name].copy() for name in ("first", "sizes", "deck"))
        self.size = np.sum(state["sizes"])
