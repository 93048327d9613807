"""RevisedForest: a forest whose proposals are built from copied nodes, so that a rejected proposal leaves it unchanged.

It is used by the tree-guided sampler as printed in the paper.
"""
from libc.stdint cimport int32_t

import numpy as np

from sklearn_subanneal.columns._base cimport ColumnStatistics, flush_logs
from sklearn_subanneal.mixtures._mixture cimport Mixture
from sklearn_subanneal.trees._ibhc cimport IBHC
from sklearn_subanneal.trees._trees cimport TIE


cdef class RevisedForest(IBHC):
    """A forest with proposals built from separate nodes; afterwards either these or the nodes they replace are kept.

    Parameters
    ----------
    columns : list of ColumnStatistics
    n_rows : int
    """

    def __cinit__(self, list columns, Py_ssize_t n_rows, *args, **kwargs):
        # A proposal needs at most as many nodes as the forest.
        self.make_room(2 * n_rows + 2)
        self.parameters = None
        self.made, self.old, self.fresh = np.zeros((3, self.capacity), np.int32)

    def follow(self, Mixture mixture, double inverse_temperature):
        """Make this the forest of a partition: unchanged if it is one already, else rebuilt by insertion in order."""
        cdef Py_ssize_t k, node, row, which
        cdef int32_t[::1] slots
        parameters = [(column.parameters) for column in mixture.columns]
        if self.parameters is None or not all(
            np.array_equal(old[name], new[name])
            for old, new in zip(self.parameters, parameters, strict=True) for name in new
        ):
            self.adopt(mixture.columns)
            self.parameters = parameters
        self.weigh(mixture.prior, mixture.n_clusters, inverse_temperature)
        labels = mixture.labels
        if not _same_partition(labels, self.labels):
            self.reset()
            self.n_roots = mixture.n_clusters
            np.asarray(self.root)[:] = -1
            np.asarray(self.node_of)[:] = -1
            slots = labels
            for row in range(len(labels)):
                if slots[row] >= 0:
                    node, which = self.leaf(row), slots[row]
                    self.node_of[row] = <int32_t> node
                    self.root[which] = <int32_t> (node if self.root[which] < 0 else self.insert(self.root[which], node))
        for k in range(self.n_roots):
            self.revalue(self.root[k])

    cdef void revalue(self, Py_ssize_t root) noexcept nogil:
        # Recompute weights and potentials of a tree from its statistics.
        cdef Py_ssize_t i, side, n = self.internal_nodes(root)
        if n == 0:
            self.weigh_node(root)
            self.log_phi[root] = self.log_h[root]
        for i in range(n - 1, -1, -1):
            for side in range(2):
                root = self.right[self.stack[i]] if side else self.left[self.stack[i]]
                if self.left[root] < 0:
                    self.weigh_node(root)
                    self.log_phi[root] = self.log_h[root]
            self.weigh_node(self.stack[i])
            self.value(self.stack[i])

    cdef void weigh_node(self, Py_ssize_t node) noexcept nogil:
        cdef Py_ssize_t j
        cdef double log_m = 0.0
        for j in range(self.n_columns):
            log_m += (<ColumnStatistics> self.column[j]).log_marginal(node)
        self.log_h[node] = self.log_size(self.size[node]) + self.inverse_temperature * log_m

    cdef Py_ssize_t copy_node(self, Py_ssize_t node) noexcept nogil:
        # A node that this proposal may change: itself, if the proposal has made it, else a copy.
        cdef Py_ssize_t j, new
        if self.fresh[node]:
            return node
        self.n_free -= 1
        new = self.free[self.n_free]
        for j in range(self.n_columns):
            (<ColumnStatistics> self.column[j]).move(node, new)
        self.left[new], self.right[new] = self.left[node], self.right[node]
        self.size[new], self.first[new] = self.size[node], self.first[node]
        self.log_h[new], self.log_d[new], self.log_phi[new] = self.log_h[node], self.log_d[node], self.log_phi[node]
        self.parent[self.left[new]] = self.parent[self.right[new]] = <int32_t> new
        self.record(new)
        return new

    cdef void record(self, Py_ssize_t node) noexcept nogil:
        self.fresh[node] = 1
        self.made[self.n_made] = <int32_t> node
        self.n_made += 1

    cdef void replace_child(self, Py_ssize_t above, Py_ssize_t old, Py_ssize_t new) noexcept nogil:
        # Replace a child.
        self.parent[new] = <int32_t> above
        if above >= 0:
            if self.left[above] == old:
                self.left[above] = <int32_t> new
            else:
                self.right[above] = <int32_t> new

    cdef Py_ssize_t graft(self, Py_ssize_t root, Py_ssize_t x) noexcept nogil:
        """As ``insert``, without a change to nodes that this proposal has not made."""
        cdef Py_ssize_t node = root, above = -1, left, right, new, depth = 0
        cdef double union_, union_left, union_right, to_left, to_right
        if self.left[root] < 0 <= self.left[x]:
            node, x = x, root
        union_ = self.log_union(node, x)
        while self.left[node] >= 0 and depth < self.max_depth:
            depth += 1
            left, right = self.left[node], self.right[node]
            union_left, union_right = self.log_union(left, x), self.log_union(right, x)
            to_left = self.log_distance(left, x, union_left)
            to_right = self.log_distance(right, x, union_right)
            if self.log_d[node] <= to_left + TIE and self.log_d[node] <= to_right + TIE:
                break
            new = self.copy_node(node)
            self.replace_child(above, node, new)
            self.absorb(new, x)
            self.log_h[new] = union_
            above = new
            node, union_ = (left, union_left) if to_left <= to_right + TIE else (right, union_right)
        new = self.join(node, x, union_)
        self.record(new)
        self.replace_child(above, node, new)
        while self.parent[new] >= 0:
            new = self.parent[new]
            self.order(new)
            self.value(new)
        return new

    cdef void finish(self, bint accepted, Py_ssize_t n_old, int32_t* roots, Py_ssize_t n_roots) noexcept nogil:
        # Release the old inner nodes, or the new ones; those that are kept get back their parents.
        cdef Py_ssize_t i, k, n, node
        for i in range(self.n_made):
            self.fresh[self.made[i]] = 0
            if not accepted:
                self.release(self.made[i])
        if accepted:
            # Some of the old nodes live on, below the new ones.
            for i in range(n_old):
                self.fresh[self.old[i]] = 1
            for k in range(n_roots):
                n = self.internal_nodes(roots[k])
                for i in range(n):
                    self.fresh[self.stack[i]] = 0
            for i in range(n_old):
                if self.fresh[self.old[i]]:
                    self.fresh[self.old[i]] = 0
                    self.release(self.old[i])
        for k in range(n_roots):
            self.parent[roots[k]] = -1
            n = self.internal_nodes(roots[k])
            for i in range(n):
                node = self.stack[i]
                self.parent[self.left[node]] = self.parent[self.right[node]] = <int32_t> node
        self.n_made = 0

    cdef void sort_roots(self) noexcept nogil:
        # By their smallest rows.
        cdef Py_ssize_t i, k
        cdef int32_t root
        for i in range(1, self.n_roots):
            root, k = self.root[i], i
            while k > 0 and self.first[self.root[k - 1]] > self.first[root]:
                self.root[k] = self.root[k - 1]
                k -= 1
            self.root[k] = root

    cdef Py_ssize_t remove_leaf(self, Py_ssize_t leaf) noexcept nogil:
        """Take a leaf out of its tree; returns the root of the rest, -1: nothing is left."""
        cdef Py_ssize_t above = self.parent[leaf], rest, node, j
        if above < 0:
            return -1
        rest, node = self.sibling(leaf), self.parent[above]
        self.replace_child(node, above, rest)
        self.release(above)
        self.parent[leaf] = -1
        while node >= 0:
            for j in range(self.n_columns):
                (<ColumnStatistics> self.column[j]).remove(self.first[leaf], node, &self.logs)
            flush_logs(&self.logs)
            self.size[node] -= 1
            self.first[node] = min(self.first[self.left[node]], self.first[self.right[node]])
            self.order(node)
            self.weigh_node(node)
            self.value(node)
            rest, node = node, self.parent[node]
        return rest


def _same_partition(one, two):
    """Whether two labellings, -1 for rows that are out, are of the same partition."""
    if not np.array_equal(one < 0, two < 0):
        return False
    pairs = np.unique(np.stack([one, two]), axis=1).shape[1]
    return pairs == len(np.unique(one)) == len(np.unique(two))
