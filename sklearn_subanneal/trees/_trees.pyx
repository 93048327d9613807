"""Trees: binary trees over rows, with sufficient statistics and potentials at each node, grown by inserting rows.

With h(c) the weight of a cluster, prior times marginal likelihood, the potential of a node t with children l and r is
phi(t) = h(t) + phi(l) phi(r), that of a leaf h: the sum of the product of h over all partitions that are cuts of the
tree. The dissimilarity of two trees is d(l, r) = phi(l) phi(r) / h(l and r), so that 1 / (1 + d) is the probability,
among these partitions, of one cluster.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

import numpy as np

from sklearn_subanneal._core._math cimport log_double, log_gamma, padded, softplus
from sklearn_subanneal.columns._base cimport LOGS_PER_CHANGE, ColumnStatistics, allocate_logs, flush_logs
from sklearn_subanneal.partitions._gibbs_type cimport PartitionPrior

# The dissimilarity of a leaf, which has none: far below all others, and still finite.
cdef double NONE = -1e300

# Maximum number of levels of an insertion. If many rows are similar, d(l, r) is the smallest dissimilarity nearly
# everywhere, rows are attached at the top, and the height grows with the number of rows: without a bound, the time to
# insert n rows would grow as n^2.
cdef Py_ssize_t MAX_DEPTH = 40


cdef class Trees:
    """Nodes with the statistics of the rows below them, and the insertion of a row, or of a tree, into a tree.

    Nothing depends on chance or on the numbers of nodes: with the same rows in the same order the same tree grows. Ties
    keep the node, then go left; the left child is that with the smaller smallest row.

    Parameters
    ----------
    columns : list of ColumnStatistics
        Statistics over the rows, of which twins are kept, one slot for each node.
    n_leaves : int
        Maximum number of rows.

    References
    ----------
    J. Lee, S. Choi (2014), Incremental tree-based inference with dependent normalized random measures, AISTATS.
    K. A. Heller, Z. Ghahramani (2005), Bayesian hierarchical clustering, doi:10.1145/1102351.1102389.
    """

    def __cinit__(self, list columns, Py_ssize_t n_leaves, *args, **kwargs):
        cdef Py_ssize_t j
        self.columns = [column.twin() for column in columns]
        self.n_columns = len(columns)
        self.column = <void**> malloc(max(self.n_columns, 1) * sizeof(void*))
        allocate_logs(&self.logs, LOGS_PER_CHANGE * self.n_columns)
        if self.column == NULL or self.logs.argument == NULL or self.logs.target == NULL:
            raise MemoryError()
        for j in range(self.n_columns):
            self.column[j] = <void*> self.columns[j]
        self.n_leaves = self.capacity = 0
        self.max_depth = MAX_DEPTH
        self.log_new, self.offset, self.inverse_temperature = 0.0, 0.0, 1.0
        self.make_room(max(n_leaves, 1))

    def __dealloc__(self):
        free(self.column)
        free(self.logs.argument)
        free(self.logs.target)

    def make_room(self, Py_ssize_t n_leaves):
        """Room for this many rows; nodes that are there stay."""
        cdef ColumnStatistics column
        cdef Py_ssize_t present = self.capacity, capacity = 2 * n_leaves - 1
        if n_leaves <= self.n_leaves:
            return
        for column in self.columns:
            if column.capacity < padded(capacity + 1):
                column.reserve(padded(capacity + 1))
        def grown(old, fill, dtype):
            new = np.full(capacity, fill, dtype)
            if present:
                new[:present] = old
            return new
        self.left = grown(self.left if present else None, -1, np.int32)
        self.right = grown(self.right if present else None, -1, np.int32)
        self.parent = grown(self.parent if present else None, -1, np.int32)
        self.size = grown(self.size if present else None, 0, np.int32)
        self.first = grown(self.first if present else None, -1, np.int32)
        self.log_h = grown(self.log_h if present else None, 0.0, np.float64)
        self.log_d = grown(self.log_d if present else None, NONE, np.float64)
        self.log_phi = grown(self.log_phi if present else None, 0.0, np.float64)
        self.stack = np.zeros(capacity, np.int32)
        unused = np.zeros(capacity, np.int32)
        unused[:capacity - present] = np.arange(capacity - 1, present - 1, -1)
        if self.n_free:
            unused[capacity - present:capacity - present + self.n_free] = self.free[:self.n_free]
        self.free = unused
        self.n_free += capacity - present
        self.n_leaves, self.capacity = n_leaves, capacity

    def adopt(self, list columns):
        """Take over the hyperparameters of these columns; statistics that are there stay."""
        for twin, column in zip(self.columns, columns, strict=True):
            twin.adopt(column)

    cdef void weigh(self, PartitionPrior prior, Py_ssize_t n_clusters, double inverse_temperature) noexcept nogil:
        # h, where a new cluster would be one beside n_clusters others.
        self.offset = prior.offset
        self.log_new = log_double(prior.new_base + prior.new_slope * n_clusters)
        self.inverse_temperature = inverse_temperature

    cdef void reset(self) noexcept nogil:
        # No node is in use.
        cdef Py_ssize_t i
        self.n_free = self.capacity
        for i in range(self.capacity):
            self.free[i] = <int32_t> (self.capacity - 1 - i)

    cdef double log_size(self, double n) noexcept nogil:
        # The prior's part of log h for a cluster of n rows.
        return self.log_new + log_gamma(n + self.offset) - log_gamma(1.0 + self.offset)

    cdef Py_ssize_t leaf(self, Py_ssize_t row) noexcept nogil:
        """A new tree of one row."""
        cdef Py_ssize_t j, node
        cdef double log_m = 0.0
        self.n_free -= 1
        node = self.free[self.n_free]
        for j in range(self.n_columns):
            # The last slot is empty: copying it is cheaper than clearing this one.
            (<ColumnStatistics> self.column[j]).move((<ColumnStatistics> self.column[j]).capacity - 1, node)
            log_m += (<ColumnStatistics> self.column[j]).log_predictive(row, node)
            (<ColumnStatistics> self.column[j]).add(row, node, &self.logs)
        flush_logs(&self.logs)
        self.left[node] = self.right[node] = self.parent[node] = -1
        self.size[node] = 1
        self.first[node] = <int32_t> row
        self.log_d[node] = NONE
        self.log_h[node] = self.log_phi[node] = self.log_new + self.inverse_temperature * log_m
        return node

    cdef double log_union(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        """log h of the rows of both trees together."""
        cdef Py_ssize_t j
        cdef double log_m = 0.0
        if self.size[a] == 1 and self.size[b] > 1:
            a, b = b, a
        if self.size[b] == 1:
            for j in range(self.n_columns):
                log_m += (<ColumnStatistics> self.column[j]).log_predictive(self.first[b], a)
            return self.log_h[a] + log_double(self.size[a] + self.offset) + self.inverse_temperature * log_m
        for j in range(self.n_columns):
            log_m += (<ColumnStatistics> self.column[j]).log_marginal_of_both(a, b)
        return self.log_size(self.size[a] + self.size[b]) + self.inverse_temperature * log_m

    cdef double log_distance(self, Py_ssize_t a, Py_ssize_t b, double log_union) noexcept nogil:
        return self.log_phi[a] + self.log_phi[b] - log_union

    cdef void absorb(self, Py_ssize_t node, Py_ssize_t x) noexcept nogil:
        # Add the rows of tree x to the statistics of a node.
        cdef Py_ssize_t j
        if self.size[x] == 1:
            for j in range(self.n_columns):
                (<ColumnStatistics> self.column[j]).add(self.first[x], node, &self.logs)
            flush_logs(&self.logs)
        else:
            for j in range(self.n_columns):
                (<ColumnStatistics> self.column[j]).merge(x, node)
        self.size[node] += self.size[x]
        self.first[node] = min(self.first[node], self.first[x])

    cdef void order(self, Py_ssize_t node) noexcept nogil:
        # Left is the child with the smaller smallest row.
        if self.first[self.right[node]] < self.first[self.left[node]]:
            self.left[node], self.right[node] = self.right[node], self.left[node]

    cdef void value(self, Py_ssize_t node) noexcept nogil:
        # Dissimilarity of the children, and the potential, from log h.
        self.log_d[node] = self.log_distance(self.left[node], self.right[node], self.log_h[node])
        self.log_phi[node] = self.log_h[node] + softplus(self.log_d[node])

    cdef Py_ssize_t join(self, Py_ssize_t a, Py_ssize_t b, double log_union) noexcept nogil:
        """A new node over two trees, without a parent."""
        cdef Py_ssize_t j, node
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.n_free -= 1
        node = self.free[self.n_free]
        for j in range(self.n_columns):
            (<ColumnStatistics> self.column[j]).move(a, node)
        self.size[node], self.first[node] = self.size[a], self.first[a]
        self.absorb(node, b)
        self.left[node], self.right[node], self.parent[node] = <int32_t> a, <int32_t> b, -1
        self.parent[a] = self.parent[b] = <int32_t> node
        self.log_h[node] = log_union
        self.order(node)
        self.value(node)
        return node

    cdef Py_ssize_t attach(self, Py_ssize_t root, Py_ssize_t x) noexcept nogil:
        """Find where tree x belongs in another tree, and join it there; returns the new node.

        The dissimilarities of the nodes above it are left to be computed.
        """
        cdef Py_ssize_t node = root, left, right, above, depth = 0
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
            self.absorb(node, x)
            self.log_h[node] = union_
            node, union_ = (left, union_left) if to_left <= to_right + TIE else (right, union_right)
        above = self.parent[node]
        root = self.join(node, x, union_)
        self.parent[root] = <int32_t> above
        if above >= 0:
            if self.left[above] == node:
                self.left[above] = <int32_t> root
            else:
                self.right[above] = <int32_t> root
        return root

    cdef Py_ssize_t insert(self, Py_ssize_t root, Py_ssize_t x) noexcept nogil:
        """Insert tree x into another; returns the root of the tree that they make."""
        cdef Py_ssize_t node = self.attach(root, x)
        while self.parent[node] >= 0:
            node = self.parent[node]
            self.order(node)
            self.value(node)
        return node

    cdef void release(self, Py_ssize_t node) noexcept nogil:
        self.free[self.n_free] = <int32_t> node
        self.n_free += 1

    cdef Py_ssize_t sibling(self, Py_ssize_t node) noexcept nogil:
        cdef Py_ssize_t above = self.parent[node]
        return self.right[above] if self.left[above] == node else self.left[above]

    cdef Py_ssize_t internal_nodes(self, Py_ssize_t root) noexcept nogil:
        """The nodes of a tree that have children, to ``stack``, parents first; returns their number."""
        cdef Py_ssize_t at = 0, n = 0
        if self.left[root] >= 0:
            self.stack[0] = <int32_t> root
            n = 1
        while at < n:
            root = self.stack[at]
            at += 1
            if self.left[self.left[root]] >= 0:
                self.stack[n] = self.left[root]
                n += 1
            if self.left[self.right[root]] >= 0:
                self.stack[n] = self.right[root]
                n += 1
        return n

    cdef Py_ssize_t leaves(self, Py_ssize_t root, int32_t* out) noexcept nogil:
        """The rows of a tree from left to right; returns their number."""
        cdef Py_ssize_t waiting = 1, n = 0, node
        self.stack[0] = <int32_t> root
        while waiting:
            waiting -= 1
            node = self.stack[waiting]
            if self.left[node] < 0:
                out[n] = self.first[node]
                n += 1
            else:
                self.stack[waiting] = self.right[node]
                self.stack[waiting + 1] = self.left[node]
                waiting += 2
        return n

    cdef void rebuild_statistics(self, Py_ssize_t root) noexcept nogil:
        # Recompute statistics, log h and potentials of the inner nodes of a tree from its leaves.
        cdef Py_ssize_t i, j, node, n = self.internal_nodes(root)
        cdef double log_m
        for i in range(n - 1, -1, -1):
            node = self.stack[i]
            log_m = 0.0
            for j in range(self.n_columns):
                (<ColumnStatistics> self.column[j]).move(self.left[node], node)
                (<ColumnStatistics> self.column[j]).merge(self.right[node], node)
                log_m += (<ColumnStatistics> self.column[j]).log_marginal(node)
            self.size[node] = self.size[self.left[node]] + self.size[self.right[node]]
            self.log_h[node] = self.log_size(self.size[node]) + self.inverse_temperature * log_m
            self.value(node)
