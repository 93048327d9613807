"""Launch, the base class of all exact tree-guided moves: rows divided in two by a random tree, cut at a random node.

The tree is built for each proposal, in a random order of its rows. Then a node at which it is cut, two anchor rows (one
from each child of that node), and the part that each other subtree joins are drawn. Given the rows to split or to
merge, and the anchor rows, tree and parts have the same distribution in both directions, so they cancel from the
acceptance ratio; only the probability of the node remains.
"""
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

import numpy as np

from sklearn_subanneal._core._math cimport exp_double, log_double, log_gamma
from sklearn_subanneal._core._random cimport integer_below, open_uniform, uniform
from sklearn_subanneal.columns._base cimport ColumnStatistics
from sklearn_subanneal.mixtures._halves cimport Halves
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.trees._trees cimport Trees


# A tree has one of so many rows, but all of them if they are few.
cdef Py_ssize_t ROWS_FOR_EACH = 8, LEAST_ROWS = 10


cdef class Launch(Halves):
    """Base class of the exact tree-guided moves: it draws the tree, the anchor rows and the launch state.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Columns of the mixtures for which proposals are made.
    n_rows : int
    subset_size : int, default=50
        Maximum number of rows of a tree, at least 2. Larger clusters are represented by a random subset, since trees of
        many rows are costly and high.
    """

    def __cinit__(self, list columns, Py_ssize_t n_rows, *args, Py_ssize_t subset_size=50, **kwargs):
        if subset_size < 2:
            raise ValueError(f"subset_size is {subset_size}, but a tree has two rows or more; raise it")
        self.subset_size = min(subset_size, max(n_rows, 2))
        self.trees = Trees(columns, self.subset_size)
        self.tree_rows, self.reached = np.zeros((2, self.subset_size), np.int32)
        self.part, self.leaf_of = np.zeros((2, max(n_rows, 1)), np.int32)
        self.chance = np.zeros(2 * self.subset_size)
        self.random_anchors = False

    def begin(self, Mixture mixture, rows=None):
        """As :meth:`Halves.begin`."""
        Halves.begin(self, mixture, rows)
        self.trees.adopt(mixture.columns)

    cdef Py_ssize_t collect_rows(self, int32_t name_a, int32_t name_b, bitgen_t* bits) noexcept nogil:
        """``members`` = all rows of one or two clusters in random order; returns their number."""
        cdef Py_ssize_t i, n = 0, swap
        cdef int32_t row
        for i in range(self.n_assigned):
            row = self.assigned[i]
            if self.mixture.names[row] == name_a or self.mixture.names[row] == name_b:
                self.members[n] = row
                n += 1
        for i in range(n - 1, 0, -1):
            swap = integer_below(bits, i + 1)
            self.members[i], self.members[swap] = self.members[swap], self.members[i]
        self.name_a, self.name_b = name_a, name_b
        return n

    cdef Py_ssize_t n_of_some(self, Py_ssize_t n) noexcept nogil:
        # The rows of a tree, as a function of the number of rows to be split, or to be merged, alone. A row of a tree
        # costs some ten times as much as one that is only allocated.
        return min(n, min(self.subset_size, max(n // ROWS_FOR_EACH, LEAST_ROWS)))

    cdef Py_ssize_t n_rows_of_tree(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t n_some = self.n_of_some(n)
        return 2 if self.random_anchors and n_some < n else n_some

    cdef Py_ssize_t row_of(self, int32_t name, Py_ssize_t which, Py_ssize_t n) noexcept nogil:
        # The place among the first n members of a row of this cluster, ``which`` others of which come before it.
        cdef Py_ssize_t i
        for i in range(n):
            if self.mixture.names[self.members[i]] == name:
                if which == 0:
                    return i
                which -= 1
        return -1

    cdef void build_tree(self, double beta) noexcept nogil:
        # The tree over the tree_rows rows.
        cdef Py_ssize_t i, n_clusters = self.mixture.n_clusters - (self.name_a != self.name_b)
        self.trees.weigh(self.mixture.prior, n_clusters, beta)
        self.trees.reset()
        for i in range(self.n_tree_rows):
            self.leaf_of[self.tree_rows[i]] = <int32_t> self.trees.leaf(self.tree_rows[i])
        self.root = self.leaf_of[self.tree_rows[0]]
        for i in range(1, self.n_tree_rows):
            self.root = self.trees.insert(self.root, self.leaf_of[self.tree_rows[i]])

    cdef double weigh_nodes(self) noexcept nogil:
        """Chances of the inner nodes, which are on the tree's ``stack``, up to a factor; returns their sum."""
        cdef Py_ssize_t i, node, n = self.trees.internal_nodes(self.root)
        cdef double top = self.trees.log_d[self.root], total = 0.0, x
        cdef double pairs = 0.5 * self.n_tree_rows * (self.n_tree_rows - 1)
        for i in range(n):
            top = max(top, self.trees.log_d[self.trees.stack[i]])
        for i in range(n):
            node = self.trees.stack[i]
            x = self.trees.log_d[node]
            if self.by_evidence:
                # The probability that this is not one cluster, and, so that each node has its chance, that the node is
                # where two random rows part.
                x = -x if x > -700.0 else 700.0
                self.chance[node] = (1.0 / (1.0 + exp_double(x)) + self.trees.size[self.trees.left[node]]
                                     * self.trees.size[self.trees.right[node]] / pairs)
            else:
                self.chance[node] = exp_double(x - top) + 1.0
            total += self.chance[node]
        return total

    cdef Py_ssize_t draw_node(self, bitgen_t* bits) noexcept nogil:
        # By its chance; the inner nodes are on the stack.
        cdef Py_ssize_t i, n = self.n_tree_rows - 1
        cdef double total = 0.0
        for i in range(n):
            total += self.chance[self.trees.stack[i]]
        total *= uniform(bits)
        for i in range(n - 1):
            total -= self.chance[self.trees.stack[i]]
            if total < 0.0:
                return self.trees.stack[i]
        return self.trees.stack[n - 1]

    cdef double launch(self, int32_t name_a, int32_t name_b, double beta, bitgen_t* bits) noexcept nogil:
        """Draw a tree over the rows of the cluster, or of both, and the two rows that stay apart; launch from them.

        Returns the log probability of these two rows, given that the cluster, or the union of the two, is split.
        """
        cdef Py_ssize_t n = self.collect_rows(name_a, name_b, bits), i, a, b, node
        cdef Py_ssize_t n_a = self.mixture.counts[self.mixture.slot_of[name_a]]
        cdef double total, log_chance = 0.0
        self.n_tree_rows = self.n_rows_of_tree(n)
        if name_a != name_b:
            # One row of each cluster comes first, then the places of the planted rows are drawn again.
            a = self.row_of(name_a, integer_below(bits, n_a), n)
            b = self.row_of(name_b, integer_below(bits, n - n_a), n)
            self.a, self.b = self.members[a], self.members[b]
            self.members[a], self.members[0] = self.members[0], self.members[a]
            b = a if b == 0 else b
            self.members[b], self.members[1] = self.members[1], self.members[b]
            for i in range(self.n_tree_rows - 1, 0, -1):
                a = integer_below(bits, i + 1)
                self.members[i], self.members[a] = self.members[a], self.members[i]
        for i in range(self.n_tree_rows):
            self.tree_rows[i] = self.members[i]
        self.build_tree(beta)
        total = self.weigh_nodes()
        if name_a == name_b:
            node = self.draw_node(bits)
            i = self.trees.leaves(self.trees.left[node], &self.reached[0])
            self.a = self.reached[integer_below(bits, i)]
            i = self.trees.leaves(self.trees.right[node], &self.reached[0])
            self.b = self.reached[integer_below(bits, i)]
        else:
            node = self.separating_node()
        log_chance = log_double(self.chance[node] / total) - log_double(
            <double> self.trees.size[self.trees.left[node]] * self.trees.size[self.trees.right[node]])
        if n > self.n_tree_rows:
            log_chance += log_double(self.n_tree_rows * (self.n_tree_rows - 1.0) / (n * (n - 1.0)))
        # The other rows are the members: first those of the tree.
        self.n_members = 0
        for i in range(n):
            if self.members[i] != self.a and self.members[i] != self.b:
                self.members[self.n_members] = self.members[i]
                self.n_members += 1
        self.launch_from(node, beta, bits)
        return log_chance

    cdef Py_ssize_t separating_node(self) noexcept nogil:
        # The node at which the two rows part: of two nodes the smaller can't be above the other.
        cdef Py_ssize_t one = self.leaf_of[self.a], other = self.leaf_of[self.b]
        while one != other:
            if self.trees.size[one] <= self.trees.size[other]:
                one = self.trees.parent[one]
            else:
                other = self.trees.parent[other]
        return one

    cdef void launch_from(self, Py_ssize_t node, double beta, bitgen_t* bits) noexcept nogil:
        # The children of the node are the first parts; the subtrees on its ancestors join them, from below.
        cdef Py_ssize_t one = self.leaf_of[self.a], other, above, below, hangs, i, n
        cdef double union_one, union_other, odds, log_h = self.trees.log_h[self.root]
        while self.trees.parent[one] != node:
            one = self.trees.parent[one]
        other = self.trees.sibling(one)
        below, above = node, self.trees.parent[node]
        self.trees.release(node)
        while above >= 0:
            hangs = self.trees.right[above] if self.trees.left[above] == below else self.trees.left[above]
            below = above
            above = self.trees.parent[below]
            union_one, union_other = self.trees.log_union(one, hangs), self.trees.log_union(other, hangs)
            odds = union_other - self.trees.log_h[other] - union_one + self.trees.log_h[one]
            if uniform(bits) * (1.0 + exp_double(odds if odds < 700.0 else 700.0)) < 1.0:
                one = self.trees.join(one, hangs, union_one)
            else:
                other = self.trees.join(other, hangs, union_other)
            self.trees.release(below)
        self.log_launch = self.trees.log_h[one] + self.trees.log_h[other] - log_h
        n = self.trees.leaves(other, &self.reached[0])
        for i in range(self.n_tree_rows):
            self.part[self.tree_rows[i]] = 0
        for i in range(n):
            self.part[self.reached[i]] = 1
        for i in range(self.n_tree_rows - 2):
            self.side[i] = self.part[self.members[i]]
        self.sizes[0], self.sizes[1] = self.trees.size[one], self.trees.size[other]
        for i in range(self.mixture.n_columns):
            (<ColumnStatistics> self.twin[i]).copy(<ColumnStatistics> self.trees.column[i], one, 0)
            (<ColumnStatistics> self.twin[i]).copy(<ColumnStatistics> self.trees.column[i], other, 1)

    cdef double log_new(self, Py_ssize_t n_clusters) noexcept nogil:
        # Log weight of a new cluster, given the number of other clusters.
        return log_double(self.mixture.prior.new_base + self.mixture.prior.new_slope * n_clusters)

    cdef double log_sizes(self, double a, double b) noexcept nogil:
        # Log prior odds of one cluster against two of these sizes, except for the weight of a new cluster.
        cdef double offset = self.mixture.prior.offset
        return (log_gamma(a + b + offset) + log_gamma(1.0 + offset) - log_gamma(a + offset) - log_gamma(b + offset))

    cdef double log_similarity(self, Py_ssize_t a, Py_ssize_t b, double beta) noexcept nogil:
        """log of p(merged) / p(separate) for two clusters."""
        cdef Py_ssize_t j
        cdef double gain = 0.0
        for j in range(self.mixture.n_columns):
            gain += ((<ColumnStatistics> self.mixture.column[j]).log_marginal_of_both(a, b)
                     - (<ColumnStatistics> self.mixture.column[j]).log_marginal(a)
                     - (<ColumnStatistics> self.mixture.column[j]).log_marginal(b))
        return (beta * gain + self.log_sizes(self.mixture.counts[a], self.mixture.counts[b])
                - self.log_new(self.mixture.n_clusters - 1))

    cdef bint decide(self, double log_ratio, bint splits, bitgen_t* bits) except -1 nogil:
        """Accept the proposal, or not."""
        self.n_proposed += 1
        self.sum_log_ratio += log_ratio if log_ratio > -1000.0 else -1000.0
        if log_double(open_uniform(bits)) >= log_ratio:
            return False
        self.n_accepted += 1
        if splits:
            self.split()
        else:
            self.merge()
        return True
