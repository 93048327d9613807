"""Trees over rows in plain Python: insertion, incremental hierarchical clustering, consistent partitions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, log

import numpy as np
from scipy.special import gammaln

Rows = frozenset[int]

# Log dissimilarities that differ by less are equal, so that rounding does not decide where trees are as good.
TIE = 1e-8


@dataclass
class Weight:
    """log h of a cluster: log_new + log Gamma(n + offset) / Gamma(1 + offset) + beta log p(cells).

    Parameters
    ----------
    log_marginal : callable
        Of a sorted list of rows.
    offset, log_new, beta : float
    """

    log_marginal: Callable[[list[int]], float]
    offset: float = 0.0
    log_new: float = 0.0
    beta: float = 1.0
    known: dict[Rows, float] = field(default_factory=dict)

    def evidence(self, rows: Rows) -> float:
        if rows not in self.known:
            self.known[rows] = float(self.log_marginal(sorted(rows)))
        return self.known[rows]

    def __call__(self, rows: Rows) -> float:
        size = gammaln(len(rows) + self.offset) - gammaln(1 + self.offset)
        return self.log_new + size + self.beta * self.evidence(rows)


@dataclass(frozen=True)
class Tree:
    """A node: a leaf has no children; the left child has the smaller smallest row."""

    rows: Rows
    log_h: float
    children: tuple[Tree, ...] = ()
    log_d: float = -inf

    @property
    def log_phi(self) -> float:
        return self.log_h + np.logaddexp(0.0, self.log_d)

    def nodes(self) -> Iterator[Tree]:
        """The inner nodes, parents first."""
        if self.children:
            yield self
            for child in self.children:
                yield from child.nodes()


def leaf(weight: Weight, row: int) -> Tree:
    return Tree(frozenset([row]), weight(frozenset([row])))


def distance(weight: Weight, a: Tree, b: Tree) -> float:
    """log d(a, b)"""
    return a.log_phi + b.log_phi - weight(a.rows | b.rows)


def join(weight: Weight, a: Tree, b: Tree) -> Tree:
    children = tuple(sorted((a, b), key=lambda tree: min(tree.rows)))
    return Tree(a.rows | b.rows, weight(a.rows | b.rows), children, distance(weight, a, b))


def way_down(weight: Weight, tree: Tree, x: Tree, max_depth: float = inf) -> list[tuple[Tree, Tree]]:
    """The (node, other child) that tree `x` passes on its way, and last (where it is joined, `x`)."""
    if not tree.children and x.children:
        tree, x = x, tree
    way = []
    while tree.children and len(way) < max_depth:
        left, right = tree.children
        to_left, to_right = distance(weight, left, x), distance(weight, right, x)
        if tree.log_d <= to_left + TIE and tree.log_d <= to_right + TIE:
            break
        chosen, other = (left, right) if to_left <= to_right + TIE else (right, left)
        way.append((tree, other))
        tree = chosen
    return [*way, (tree, x)]


def insert(weight: Weight, tree: Tree, x: Tree) -> Tree:
    """Insert a tree into another."""
    *above, (below, x) = way_down(weight, tree, x)
    out = join(weight, below, x)
    for _, other in reversed(above):
        out = join(weight, out, other)
    return out


def ibhc(weight: Weight, rows: Sequence[int], max_depth: float = inf) -> list[Tree]:
    """Incremental Bayesian hierarchical clustering; returns the trees in the order of their smallest rows."""
    forest: list[Tree] = []
    for row in rows:
        queue, left = [leaf(weight, row)], 4 * len(forest) + 16
        while queue:
            x = queue.pop(0)
            apart = [distance(weight, tree, x) for tree in forest]
            near = min([0.0, *apart])
            # The forest is kept in the order of smallest rows.
            tree = next((tree for tree, d in zip(forest, apart, strict=True) if d <= near + TIE), None)
            if tree is None:
                forest = sorted([*forest, x], key=lambda tree: min(tree.rows))
                continue
            left -= 1
            forest.remove(tree)
            *above, (below, last) = way_down(weight, tree, x, max_depth)
            # The parts cut off on the way up: first x itself, then the tree that has grown around it.
            steps = [below, *(other for _, other in reversed(above))]
            grown = last if last is x else x
            if last is not x:
                steps[0] = last
            for i, other in enumerate(steps):
                node = join(weight, grown, other)
                if left > 0 and node.log_d > TIE:
                    queue += steps[i:]
                    break
                grown = node
            forest = sorted([*forest, grown], key=lambda tree: min(tree.rows))
    return forest


def consistent_partitions(tree: Tree) -> Iterator[list[Rows]]:
    """Every partition of a tree's rows that is a cut of the tree."""
    yield [tree.rows]
    if tree.children:
        left, right = (list(consistent_partitions(child)) for child in tree.children)
        for a, b in itertools.product(left, right):
            yield a + b


def shape(tree: Tree) -> tuple | int:
    """A tree as nested pairs of rows."""
    return tuple(shape(child) for child in tree.children) if tree.children else next(iter(tree.rows))


def crp_weight(log_marginal: Callable[[list[int]], float], concentration: float, beta: float = 1.0) -> Weight:
    """h of a Dirichlet process."""
    return Weight(log_marginal, 0.0, log(concentration), beta)
