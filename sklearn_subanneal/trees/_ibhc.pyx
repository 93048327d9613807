"""IBHC, incremental Bayesian hierarchical clustering: inserts rows one by one into a forest; exports a `Hierarchy`."""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t

import numpy as np

from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior
from sklearn_subanneal.trees._trees cimport TIE, Trees

from sklearn_subanneal.trees.hierarchy import Hierarchy


cdef class IBHC(Trees):
    """A forest that grows row by row; deterministic.

    A row is inserted into the tree with the smallest dissimilarity if that is at most 1; otherwise it starts a new
    tree. In a tree it descends to the node with the smallest dissimilarity. On the way back up, the first node whose
    children have become dissimilar, d > 1, is cut: the child on the way becomes a separate tree, the nodes above are
    dissolved, and their other subtrees are inserted again, from below.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Statistics over all rows; those of the trees are twins.
    n_rows : int
        Rows of the columns.
    prior : PartitionPrior
        If the weight of a new cluster depends on the number of clusters, trees use the weight for one cluster.
    hierarchy : Hierarchy or None, default=None
        A forest over some of these rows, which is continued.

    References
    ----------
    J. Lee, S. Choi (2014), Incremental tree-based inference with dependent normalized random measures, AISTATS.
    """

    def __cinit__(self, list columns, Py_ssize_t n_rows, PartitionPrior prior=None, hierarchy=None, **kwargs):
        self.root = np.zeros(max(n_rows, 1), np.int32)
        # At most 4 n + 16 trees are cut off and taken up again, and n wait.
        self.queue = np.zeros(5 * n_rows + 16, np.int32)
        self.node_of = np.full(n_rows, -1, np.int32)
        self.n_roots = self.n_reinserted = self.n_unsplit = 0
        if prior is not None:
            self.weigh(prior, 1, 1.0)
        if hierarchy is not None:
            self.restore(hierarchy)

    def insert_rows(self, const int32_t[::1] rows):
        """Insert rows, one after the other."""
        cdef Py_ssize_t i
        for i in range(rows.shape[0]):
            if not 0 <= rows[i] < self.node_of.shape[0] or self.node_of[rows[i]] >= 0:
                raise ValueError(f"row {rows[i]} is in the forest already, or not in the data")
            with nogil:
                self.insert_row(rows[i])

    def insert_groups(self, const int32_t[::1] rows, const int32_t[::1] groups):
        """Insert rows of which the trees are known: those of one group are one tree, whatever their dissimilarity.

        The forest must be empty; groups are 0, 1, ... without gaps.
        """
        cdef Py_ssize_t i, k, x
        self.n_roots = int(np.max(groups, initial=-1)) + 1
        self.root[:self.n_roots] = -1
        with nogil:
            for i in range(rows.shape[0]):
                x, k = self.leaf(rows[i]), groups[i]
                self.node_of[rows[i]] = <int32_t> x
                self.root[k] = <int32_t> (x if self.root[k] < 0 else self.insert(self.root[k], x))

    cdef void insert_row(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t at = 0, n_queued = 1, x, which, left = 4 * self.n_roots + 16
        x = self.leaf(row)
        self.node_of[row] = <int32_t> x
        self.queue[0] = <int32_t> x
        while at < n_queued:
            x = self.queue[at]
            at += 1
            which = self.nearest(x)
            if which < 0:
                self.parent[x] = -1
                self.root[self.n_roots] = <int32_t> x
                self.n_roots += 1
                continue
            # Nothing in the rules bounds the number of insertions that one row leads to.
            left -= 1
            self.n_unsplit += left == 0
            self.insert_into(x, which, left > 0, &n_queued)

    cdef Py_ssize_t nearest(self, Py_ssize_t x) noexcept nogil:
        # Index among the roots of the tree that x joins; -1 if it starts a new tree.
        cdef Py_ssize_t k, best = -1
        cdef double distance, least = 0.0
        for k in range(self.n_roots):
            distance = self.log_distance(self.root[k], x, self.log_union(self.root[k], x))
            if distance < least - TIE or (distance <= least + TIE and (
                    best < 0 or self.first[self.root[k]] < self.first[self.root[best]])):
                best, least = k, distance
        return best

    cdef void insert_into(self, Py_ssize_t x, Py_ssize_t which, bint splits, Py_ssize_t* n_queued) noexcept nogil:
        cdef Py_ssize_t below = x, node = self.attach(self.root[which], x)
        while True:
            self.order(node)
            self.value(node)
            if splits and self.log_d[node] > TIE:
                self.cut(node, below, which, n_queued)
                return
            if self.parent[node] < 0:
                self.root[which] = <int32_t> node
                return
            below, node = node, self.parent[node]

    cdef void cut(self, Py_ssize_t node, Py_ssize_t child, Py_ssize_t which, Py_ssize_t* n_queued) noexcept nogil:
        cdef Py_ssize_t below = child, above
        self.root[which] = <int32_t> child
        while node >= 0:
            above = self.parent[node]
            below = self.right[node] if self.left[node] == below else self.left[node]
            self.queue[n_queued[0]] = <int32_t> below
            n_queued[0] += 1
            self.n_reinserted += 1
            self.parent[below] = -1
            below = node
            self.release(node)
            node = above
        self.parent[child] = -1

    @property
    def rows(self):
        """The rows in the forest, int32."""
        return np.flatnonzero(np.asarray(self.node_of) >= 0).astype(np.int32)

    @property
    def labels(self):
        """Tree of each row, numbered in the order of their smallest rows, int32; -1: not in the forest."""
        cdef int32_t[::1] out = np.full(self.node_of.shape[0], -1, np.int32), rows
        cdef Py_ssize_t k, i, n
        rows = np.zeros(max(self.node_of.shape[0], 1), np.int32)
        for label, k in enumerate(self.roots()):
            n = self.leaves(k, &rows[0])
            for i in range(n):
                out[rows[i]] = label
        return np.asarray(out)

    def roots(self):
        """The roots, in the order of their smallest rows."""
        return sorted(np.asarray(self.root)[:self.n_roots].tolist(), key=lambda k: self.first[k])

    @property
    def log_joint(self):
        """Sum of log h over the trees: the log joint density of partition and cells, up to a constant."""
        return sum(self.log_h[k] for k in self.roots())

    @property
    def log_potential(self):
        """Sum of log phi over the trees: that of all partitions that cut them further."""
        return sum(self.log_phi[k] for k in self.roots())

    def hierarchy(self):
        """The forest as a :class:`~sklearn_subanneal.trees.hierarchy.Hierarchy`.

        Its trees are joined to one above their roots, the least dissimilar first.
        """
        rows = self.rows
        cdef Py_ssize_t n = len(rows), i, at, m, node
        number = {self.node_of[row]: i for i, row in enumerate(rows)}
        children, log_d = np.zeros((max(n - 1, 0), 2), np.int32), np.zeros(max(n - 1, 0))
        at = 0
        inner = []
        for root in self.roots():
            m = self.internal_nodes(root)
            inner += np.asarray(self.stack)[:m][::-1].tolist()
        joined = self._join_roots()
        for node in inner + joined:
            children[at] = number[self.left[node]], number[self.right[node]]
            log_d[at] = self.log_d[node]
            number[node] = n + at
            at += 1
        for node in joined:
            self.parent[self.left[node]] = self.parent[self.right[node]] = -1
            self.release(node)
        return Hierarchy(rows, children, log_d, self.n_roots)

    def _join_roots(self):
        # Nodes over the roots, as an agglomeration would make them; they are to be released again.
        cdef Py_ssize_t a, b, c, k, n = self.n_roots
        cdef double[:, ::1] apart = np.full((n, n), np.inf)
        # The nearest of the roots after each, and its dissimilarity. Where that root has changed, this is a bound from
        # below (Müllner, 2011, arXiv:1109.2378, section 3.3): to search anew after each join would take n^3 steps.
        cdef double[::1] least = np.full(max(n, 1), np.inf)
        cdef Py_ssize_t[::1] near = np.full(n, -1, np.intp), live = np.array(self.roots(), np.intp)
        joined = []
        for a in range(n):
            for b in range(a):
                apart[a, b] = apart[b, a] = self.log_distance(live[a], live[b], self.log_union(live[a], live[b]))
        for a in range(n):
            _find_nearest(apart, live, a, near, least)
        while len(joined) < n - 1:
            a = np.argmin(least)
            b = near[a]
            if live[b] < 0 or apart[a, b] > least[a]:
                _find_nearest(apart, live, a, near, least)
                continue
            k = self.join(live[a], live[b], self.log_union(live[a], live[b]))
            joined.append(k)
            live[a], live[b], least[b] = k, -1, np.inf
            for c in range(n):
                if c != a and live[c] >= 0:
                    apart[a, c] = apart[c, a] = self.log_distance(k, live[c], self.log_union(k, live[c]))
                    if c < a and (apart[a, c] < least[c] or (apart[a, c] == least[c] and a < near[c])):
                        near[c], least[c] = a, apart[a, c]
            _find_nearest(apart, live, a, near, least)
        return joined

    def restore(self, hierarchy):
        """Become the forest of a hierarchy over some of the rows, with the present hyperparameters."""
        cdef Py_ssize_t a, b, k, n = len(hierarchy.rows)
        self.reset()
        nodes = [self.leaf(row) for row in hierarchy.rows]
        np.asarray(self.node_of)[:] = -1
        np.asarray(self.node_of)[hierarchy.rows] = nodes
        for a, b in hierarchy.children[:n - hierarchy.n_clusters].tolist():
            nodes.append(self.join(nodes[a], nodes[b], self.log_union(nodes[a], nodes[b])))
        self.n_roots = 0
        for k in nodes:
            if self.parent[k] < 0:
                self.root[self.n_roots] = <int32_t> k
                self.n_roots += 1


cdef void _find_nearest(
    const double[:, ::1] apart, const Py_ssize_t[::1] live, Py_ssize_t a, Py_ssize_t[::1] near, double[::1] least
) noexcept nogil:
    # The nearest of the roots after one of them, the first of those that are as near.
    cdef Py_ssize_t b
    near[a], least[a] = -1, INFINITY
    for b in range(a + 1, live.shape[0]):
        if live[b] >= 0 and (near[a] < 0 or apart[a, b] < least[a]):
            near[a], least[a] = b, apart[a, b]
