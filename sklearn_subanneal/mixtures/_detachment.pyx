"""DetachmentKernel: rows at hand leave a cluster that has rows elsewhere and found one, or join such a cluster."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int8_t, int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport LANES, exp_double, log_double
from sklearn_subanneal._core._random cimport integer_below, open_uniform, uniform
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.mixtures._halves cimport Halves
from sklearn_subanneal.mixtures._mixture cimport Mixture

# Share of the proposals that join clusters: one that has no rows elsewhere may join a very large one, which takes long.
cdef double ATTACH_SHARE = 0.125


cdef class DetachmentKernel(Halves):
    """Split-merge proposals between a cluster that has rows elsewhere, of which only sums are known, and others.

    The rows elsewhere stay together, and can be no anchor row: they are one. The other one is drawn from the rows at
    hand of such a cluster, all clusters with the same probability, to be detached with others; or from all rows of
    clusters that have no rows elsewhere, to join with its whole cluster one that has. Which one is drawn by the
    predictive densities of the anchor row. In both directions the rows at hand of both clusters join the two parts in
    random order by their conditional probabilities (sequential allocation), as in :class:`SplitMergeKernel`; the part
    with the rows elsewhere starts with the sums of these.

    Parameters
    ----------
    columns, n_rows, twins
        As for ``Halves``.

    References
    ----------
    D. B. Dahl (2005), Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet process
    mixture models, technical report, Texas A&M University.
    """

    cdef int8_t[::1] held                   # of each name: whether the cluster has rows elsewhere
    cdef int32_t[::1] held_names            # the names of those that have
    cdef Py_ssize_t n_held                  # their number
    cdef int32_t[::1] choice                # rows from which the anchor row is drawn
    cdef Py_ssize_t n_choice                # their number

    def __init__(self, list columns, Py_ssize_t n_rows, dict twins=None):
        self.choice = np.zeros(max(n_rows, 1), np.int32)

    def propose(self, Mixture mixture, Py_ssize_t n_proposals, double inverse_temperature, generator, rows=None):
        """As ``MoveKernel.propose``; ``rows`` are those at hand, all other assigned rows are elsewhere.

        There are ``n_proposals`` for each cluster with rows elsewhere, whose number no move changes.
        """
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t _, n_accepted = 0
        cdef bint detaches
        self.begin(mixture, rows)
        counts = np.bincount(mixture.labels[np.asarray(self.assigned)], minlength=mixture.n_clusters)
        names = np.asarray(mixture.name_of)[:mixture.n_clusters][counts < mixture.sizes]
        held = np.zeros(mixture.n_rows + mixture.capacity, np.int8)
        held[names] = 1
        self.held, self.held_names, self.n_held = held, names, len(names)
        with generator.bit_generator.lock, nogil:
            for _ in range(n_proposals * self.n_held):
                detaches = uniform(bits) >= ATTACH_SHARE
                self.list_rows(self.held_names[integer_below(bits, self.n_held)] if detaches else -1)
                if self.n_choice:
                    n_accepted += self.attempt(
                        self.choice[integer_below(bits, self.n_choice)], detaches, inverse_temperature, bits)
        return n_accepted

    cdef void list_rows(self, int32_t name) noexcept nogil:
        # ``choice`` = the rows at hand of this cluster; -1: those of all clusters without rows elsewhere.
        cdef Py_ssize_t i
        cdef int32_t own
        self.n_choice = 0
        for i in range(self.n_assigned):
            own = self.mixture.names[self.assigned[i]]
            if own == name or (name < 0 and not self.held[own]):
                self.choice[self.n_choice] = self.assigned[i]
                self.n_choice += 1

    cdef Py_ssize_t n_free(self) noexcept nogil:
        # Rows of clusters without rows elsewhere.
        cdef Py_ssize_t k, out = 0
        for k in range(self.mixture.n_clusters):
            if not self.held[self.mixture.name_of[k]]:
                out += self.mixture.counts[k]
        return out

    cdef Py_ssize_t n_at_hand(self, int32_t name) noexcept nogil:
        cdef Py_ssize_t i, out = 0
        for i in range(self.n_assigned):
            out += self.mixture.names[self.assigned[i]] == name
        return out

    cdef bint attempt(self, Py_ssize_t b, bint detaches, double beta, bitgen_t* bits) except -1 nogil:
        cdef double log_q, log_ratio, log_choice, n_own, n_free
        cdef bint accepted
        # No row founds the part with the rows elsewhere.
        self.a, self.b, self.name_b = -1, b, self.mixture.names[b]
        self.name_a = self.name_b
        self.mixture.score(b)
        if not detaches:
            self.name_a = self.draw_held(bits)
        self.collect(bits)
        self.start()
        log_q = self.allocate(0, not detaches, beta, bits)
        log_choice = self.log_choice()
        # How the anchor row is drawn to detach its part of the one cluster, and to attach it again.
        n_own, n_free = self.n_at_hand(self.name_a), self.n_free()
        if detaches:
            n_free += self.sizes[1]
        else:
            n_own += self.sizes[1]
        log_choice += log_double(self.n_held * n_own / n_free * ATTACH_SHARE / (1.0 - ATTACH_SHARE))
        log_ratio = self.log_gain(beta) - log_q + log_choice
        log_ratio = log_ratio if detaches else -log_ratio
        accepted = log_double(open_uniform(bits)) < log_ratio
        self.count(log_ratio, accepted)
        if accepted and detaches:
            self.split()
        elif accepted:
            self.merge()
        return accepted

    cdef void start(self) noexcept nogil:
        # Side 0 has the rows elsewhere, side 1 the anchor row.
        cdef Py_ssize_t i, j, k = self.mixture.slot_of[self.name_a]
        self.sizes[0], self.sizes[1] = self.mixture.counts[k], 0.0
        for j in range(self.mixture.n_columns):
            (<ColumnStatistics> self.twin[j]).copy(<ColumnStatistics> self.mixture.column[j], k, 0)
            (<ColumnStatistics> self.twin[j]).clear(1)
        if self.name_a == self.name_b:
            self.remove(self.b, 0)
        for i in range(self.n_members):
            if self.mixture.names[self.members[i]] == self.name_a:
                self.remove(self.members[i], 0)
        self.add(self.b, 1)

    cdef int32_t draw_held(self, bitgen_t* bits) noexcept nogil:
        # A cluster that has rows elsewhere, by the densities that they predict for b, which is scored.
        cdef Py_ssize_t k, last = -1
        cdef double top = self.top_held(), total = 0.0, u
        for k in range(self.mixture.n_clusters):
            if self.held[self.mixture.name_of[k]]:
                total += exp_double(self.mixture.scores[k] - top)
        u = total * uniform(bits)
        for k in range(self.mixture.n_clusters):
            if self.held[self.mixture.name_of[k]]:
                last = k
                u -= exp_double(self.mixture.scores[k] - top)
                if u < 0.0:
                    break
        return self.mixture.name_of[last]

    cdef double top_held(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double top = -1e300
        for k in range(self.mixture.n_clusters):
            if self.held[self.mixture.name_of[k]] and self.mixture.scores[k] > top:
                top = self.mixture.scores[k]
        return top

    cdef double log_choice(self) noexcept nogil:
        # Log probability that ``draw_held`` gives the cluster a if the parts are apart: side 0 is then what it has.
        cdef float[LANES] scores
        cdef Py_ssize_t j, k, own = self.mixture.slot_of[self.name_a]
        cdef double top, total = 0.0
        for j in range(LANES):
            scores[j] = 0.0
        for j in range(self.mixture.n_columns):
            (<ColumnStatistics> self.twin[j]).score(self.b, scores, LANES)
        self.mixture.scores[own] = scores[0]
        top = self.top_held()
        for k in range(self.mixture.n_clusters):
            if self.held[self.mixture.name_of[k]]:
                total += exp_double(self.mixture.scores[k] - top)
        return scores[0] - top - log_double(total)
