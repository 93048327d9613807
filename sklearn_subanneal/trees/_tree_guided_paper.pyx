"""PaperForest and TreeGuidedPaperKernel: the sampler as printed in Lee and Choi (2015), biased, for their figures."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, softplus
from sklearn_subanneal._core._random cimport integer_below, open_uniform, uniform
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.mixtures._move_kernel cimport MoveKernel
from sklearn_subanneal.trees._revised_forest cimport RevisedForest
from sklearn_subanneal.trees._trees cimport log_sum


cdef class PaperForest(RevisedForest):
    """A forest with the printed moves: global ones split and merge its trees, local ones move rows between them.

    Parameters
    ----------
    columns : list of ColumnStatistics
    n_rows : int
    n_local : int
        See :class:`TreeGuidedPaperKernel`.
    """

    cdef Py_ssize_t n_local
    cdef double sum_log_ratio               # of the global moves, each at least -1000
    cdef int32_t[::1] parts, members
    cdef double[::1] chance

    def __init__(self, columns, n_rows, *, Py_ssize_t n_local):
        self.n_local, self.sum_log_ratio = n_local, 0.0
        self.parts, self.members = np.zeros((2, self.capacity), np.int32)
        self.chance = np.zeros(self.capacity)

    # --- Global moves ---

    cdef double log_d_of(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return self.log_distance(a, b, self.log_union(a, b))

    cdef Py_ssize_t draw_sub(
        self, Py_ssize_t root, bint leaves, Py_ssize_t given, double* log_chance, bitgen_t* bits
    ) noexcept nogil:
        """A subtree with chances d + max d (a leaf: max d), of inner nodes, or of all; or one that is given."""
        cdef Py_ssize_t i, side, node, n = self.internal_nodes(root), drawn = given
        cdef double top = self.log_d[root], total = 0.0, u
        for i in range(n):
            top = max(top, self.log_d[self.stack[i]])
        for i in range(n):
            total += exp_double(self.log_d[self.stack[i]] - top) + 1.0
        if leaves:
            total += n + 1.0
        if drawn < 0:
            drawn = root
            u = total * uniform(bits)
            for i in range(n):
                node = self.stack[i]
                u -= exp_double(self.log_d[node] - top) + 1.0
                if u < 0.0:
                    drawn = node
                    break
                for side in range(2):
                    drawn = self.right[node] if side else self.left[node]
                    u -= 1.0 if leaves and self.left[drawn] < 0 else 0.0
                    if u < 0.0:
                        break
                if u < 0.0:
                    break
        log_chance[0] = -log_double(total)
        log_chance[0] += log_double(exp_double(self.log_d[drawn] - top) + 1.0) if self.left[drawn] >= 0 else 0.0
        return drawn

    cdef bint move_globally(self, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t k, n_members = 0, picked = integer_below(bits, self.n_roots), c
        cdef double log_d, log_forth
        self.sort_roots()
        c = self.root[picked]
        log_forth = -log_double(self.n_roots)
        for k in range(self.n_roots):
            if k != picked:
                log_d = self.log_d_of(c, self.root[k])
                if log_double(open_uniform(bits)) < -softplus(log_d):
                    self.members[n_members] = <int32_t> k
                    n_members += 1
                    log_forth -= softplus(log_d)
                else:
                    log_forth -= softplus(-log_d)
        if n_members:
            return self.propose_merge(picked, n_members, log_forth, bits)
        if self.left[c] < 0:
            return False
        return self.propose_split(picked, log_forth, bits)

    cdef bint decide(self, double log_ratio, bitgen_t* bits) noexcept nogil:
        self.sum_log_ratio += log_ratio if log_ratio > -1000.0 else -1000.0
        return log_double(open_uniform(bits)) < log_ratio

    cdef bint propose_split(self, Py_ssize_t picked, double log_forth, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t c = self.root[picked], s, x, above, n_old, n_parts = 2, i, k, n_after, drawn
        cdef double log_chance, log_ratio = -self.log_h[c], log_total, u, log_back = 0.0, chance
        s = self.draw_sub(c, False, -1, &log_chance, bits)
        log_forth += log_chance
        n_old = self.internal_nodes(c)
        for i in range(n_old):
            self.old[i] = self.stack[i]
        self.parts[0], self.parts[1] = self.left[s], self.right[s]
        # The siblings on the way up to the root are inserted, from below.
        x, above = s, self.parent[s]
        while above >= 0:
            k = self.right[above] if self.left[above] == x else self.left[above]
            x, above = above, self.parent[above]
            log_total = 0.0
            for i in range(n_parts):
                self.chance[i] = -self.log_d_of(self.parts[i], k)
                log_total = log_sum(log_total, self.chance[i])
            u = uniform(bits)
            drawn = n_parts
            for i in range(n_parts):
                u -= exp_double(self.chance[i] - log_total)
                if u < 0.0:
                    drawn = i
                    break
            log_forth += (self.chance[drawn] if drawn < n_parts else 0.0) - log_total
            if drawn == n_parts:
                self.parts[n_parts] = <int32_t> k
                n_parts += 1
            else:
                self.parts[drawn] = <int32_t> self.graft(self.parts[drawn], k)
        n_after = self.n_roots - 1 + n_parts
        for i in range(n_parts):
            log_ratio += self.log_h[self.parts[i]]
            chance = -log_double(n_after)
            for k in range(self.n_roots):
                if k != picked:
                    chance -= softplus(-self.log_d_of(self.parts[i], self.root[k]))
            for k in range(n_parts):
                if k != i:
                    chance -= softplus(self.log_d_of(self.parts[i], self.parts[k]))
            log_back = log_sum(log_back, chance) if i else chance
        if self.decide(log_ratio + log_back - log_forth, bits):
            self.finish(True, n_old, &self.parts[0], n_parts)
            self.root[picked] = self.parts[0]
            for i in range(1, n_parts):
                self.root[self.n_roots] = self.parts[i]
                self.n_roots += 1
            return True
        self.parts[0] = <int32_t> c
        self.finish(False, n_old, &self.parts[0], 1)
        return False

    cdef bint propose_merge(
        self, Py_ssize_t picked, Py_ssize_t n_members, double log_forth, bitgen_t* bits
    ) noexcept nogil:
        cdef Py_ssize_t c = self.root[picked], i, k, j, top, first_join
        cdef double log_back = 0.0, log_ratio = -self.log_h[c], log_total, log_chance
        for i in range(n_members):
            log_ratio -= self.log_h[self.root[self.members[i]]]
        # A cascade; undone, each further member would have to found a part.
        for i in range(1, n_members):
            log_total = log_sum(0.0, -self.log_d_of(c, self.root[self.members[i]]))
            for k in range(i):
                log_total = log_sum(log_total, -self.log_d_of(self.root[self.members[k]], self.root[self.members[i]]))
            log_back -= log_total
        top = c
        first_join = -1
        for i in range(n_members):
            k = self.root[self.members[i]]
            top = self.join(top, k, self.log_union(top, k))
            self.record(top)
            first_join = top if i == 0 else first_join
        log_back -= log_double(self.n_roots - n_members)
        for k in range(self.n_roots):
            j = k == picked
            for i in range(n_members):
                j += self.members[i] == k
            if j == 0:
                log_back -= softplus(-self.log_d_of(top, self.root[k]))
        self.draw_sub(top, False, first_join, &log_chance, bits)
        log_ratio += self.log_h[top] + log_back + log_chance - log_forth
        if self.decide(log_ratio, bits):
            self.parts[0] = <int32_t> top
            self.finish(True, 0, &self.parts[0], 1)
            self.root[picked] = <int32_t> top
            for i in range(n_members - 1, -1, -1):
                # Members are in increasing order; the last root takes the place of each.
                self.n_roots -= 1
                k = self.members[i]
                self.root[k] = self.root[self.n_roots]
                if self.n_roots == picked:
                    picked = k
            return True
        self.parts[0] = <int32_t> c
        for i in range(n_members):
            self.parts[i + 1] = self.root[self.members[i]]
        self.finish(False, 0, &self.parts[0], n_members + 1)
        return False

    # --- Local moves ---

    cdef void move_locally(self, bitgen_t* bits) noexcept nogil:
        # The rows of a subtree of each tree go to a tree by their conditionals.
        cdef Py_ssize_t k, i, node, n = 0
        cdef double log_chance
        self.sort_roots()
        for k in range(self.n_roots):
            node = self.root[k]
            for _ in range(self.n_local):
                if self.left[node] >= 0:
                    node = self.draw_sub(node, True, -1, &log_chance, bits)
            n += self.leaves(node, &self.members[n])
        for i in range(n):
            self.move_leaf(self.node_of[self.members[i]], bits)

    cdef void move_leaf(self, Py_ssize_t leaf, bitgen_t* bits) noexcept nogil:
        cdef Py_ssize_t k, j, own, root = leaf, target
        cdef double log_p, total, ratio
        while self.parent[root] >= 0:
            root = self.parent[root]
        own = -1
        total = self.chance[self.n_roots] = self.log_h[leaf]
        for k in range(self.n_roots):
            if self.root[k] == root:
                own = k
                if root == leaf:
                    continue
                log_p, ratio = 0.0, 1.0
                for j in range(self.n_columns):
                    log_p += (<ColumnStatistics> self.column[j]).score_without(self.first[leaf], root, &ratio)
                    log_p += log_double(ratio)
                    ratio = 1.0
                log_p = log_double(self.size[root] - 1.0 + self.offset) + self.inverse_temperature * log_p
            else:
                log_p = self.log_union(self.root[k], leaf) - self.log_h[self.root[k]]
            self.chance[k] = log_p
            total = log_sum(total, log_p)
        ratio = uniform(bits)
        target = self.n_roots
        for k in range(self.n_roots):
            if k == own and root == leaf:
                continue
            ratio -= exp_double(self.chance[k] - total)
            if ratio < 0.0:
                target = k
                break
        if target == own or (target == self.n_roots and root == leaf):
            return
        j = self.remove_leaf(leaf)
        if j >= 0:
            self.root[own] = <int32_t> j
        else:
            # Its tree was no more than the leaf: the last root takes that place.
            self.n_roots -= 1
            self.root[own] = self.root[self.n_roots]
            target = own if target == self.n_roots else target
        if target == self.n_roots:
            self.root[self.n_roots] = <int32_t> leaf
            self.n_roots += 1
        else:
            self.root[target] = <int32_t> self.insert(self.root[target], leaf)


cdef class TreeGuidedPaperKernel(MoveKernel):
    """The printed sampler: a forest is the chain's state, its trees are split, merged, and refined row by row.

    It does *not* leave the posterior invariant, and draws have too few clusters: a merge counts one of the ways in
    which the trees to merge can be picked, its reverse all of them; a split of a merged tree does not give back the
    trees there were; and which rows the local moves look at depends on the clusters they are in.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Columns of the mixture.
    n_rows : int
    n_proposals : int, default=20
        Global moves a sweep.
    n_local : int, default=2
        How often a subtree of a subtree is drawn, whose rows are then moved; fewer means more rows.

    References
    ----------
    J. Lee, S. Choi (2015), Tree-guided MCMC inference for normalized random measure mixture models, NeurIPS.
    """

    cdef readonly Py_ssize_t n_proposals
    cdef readonly PaperForest forest

    def __init__(self, list columns, Py_ssize_t n_rows, *, Py_ssize_t n_proposals=20, Py_ssize_t n_local=2):
        self.n_proposals = n_proposals
        self.forest = PaperForest(columns, n_rows, n_local=n_local)

    def sweep(self, Mixture mixture, double inverse_temperature, generator, rows=None):
        cdef bitgen_t* bits = <bitgen_t*> PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")
        self.forest.follow(mixture, inverse_temperature)
        with generator.bit_generator.lock, nogil:
            for _ in range(self.n_proposals):
                self.n_accepted += self.forest.move_globally(bits)
            self.forest.move_locally(bits)
        self.n_proposed += self.n_proposals
        self.sum_log_ratio += self.forest.sum_log_ratio
        self.forest.sum_log_ratio = 0.0
        rows = mixture.assigned()
        mixture.relabel(self.forest.labels)
        mixture.rebuild(rows)
        return len(rows)

    def get_state(self):
        """The forest."""
        return {"hierarchy": self.forest.hierarchy()}

    def set_state(self, state):
        """Restore the forest."""
        self.forest.restore(state["hierarchy"])
