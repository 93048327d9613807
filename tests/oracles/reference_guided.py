"""Tree-guided split-merge moves in plain Python, and their exact transition matrices by enumeration of all choices."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from oracles.enumeration import blocks, partitions
from oracles.reference_trees import Rows, Tree, Weight, insert, join, leaf
from scipy.special import expit, logsumexp

Blocks = frozenset[Rows]
Choose = Callable[[Sequence[float]], int]


def outcomes(move: Callable[[Choose], Hashable]) -> dict[Hashable, float]:
    """Probabilities of the values that a move returns, by running it once for each sequence of its choices."""
    total: dict[Hashable, float] = defaultdict(float)
    path: list[tuple[int, Sequence[float]]] = []
    while True:
        depth, probability = 0, 1.0

        def choose(chances: Sequence[float]) -> int:
            nonlocal depth, probability
            if depth == len(path):
                path.append((_next(chances, -1), chances))
            taken, _ = path[depth]
            depth += 1
            probability *= chances[taken]
            return taken

        total[move(choose)] += probability
        while path:
            taken, chances = path.pop()
            if (following := _next(chances, taken)) is not None:
                path.append((following, chances))
                break
        else:
            return dict(total)


def _next(chances: Sequence[float], after: int) -> int | None:
    return next((i for i in range(after + 1, len(chances)) if chances[i] > 0), None)


@dataclass(frozen=True)
class Model:
    """A mixture with predictive weights n + offset, and base + slope K for a new cluster beside K others."""

    log_marginal: Callable[[list[int]], float]
    offset: float
    base: float
    slope: float = 0.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", {})

    def weight(self, n_others: int) -> Weight:
        """h, where a new cluster is one beside n_others."""
        return Weight(self.log_marginal, self.offset, log(self.base + self.slope * n_others), self.beta, self._known)

    def log_joint(self, state: Blocks) -> float:
        new = sum(log(self.base + self.slope * k) for k in range(1, len(state)))
        free = self.weight(1)
        return new + sum(free(block) - free.log_new for block in state)

    def log_similarity(self, a: Rows, b: Rows, n_clusters: int) -> float:
        """log of p(merged) / p(as they are) of two of n_clusters."""
        weight = self.weight(n_clusters - 1)
        return weight(a | b) - weight(a) - weight(b)


@dataclass(frozen=True)
class Move:
    """Parameters of kernel and reference; ``without`` plants a mistake: it names the factor that is left out."""

    model: Model
    kind: str = "similar"
    subset_size: int = 50
    n_scans: int = 0
    by_evidence: bool = False
    share: float = 0.3
    effort: float = 10.0
    even: float = 0.5
    near: float = 0.0
    blind: float = 0.0
    without: str = ""

    def __call__(self, state: Blocks, choose: Choose) -> Blocks:
        return (_similar if self.kind == "similar" else _pilot)(self, state, choose)

    def chances(self, tree: Tree) -> list[float]:
        """Of each inner node of a tree, to be where it is cut."""
        nodes, n = list(tree.nodes()), len(tree.rows)
        if self.by_evidence:
            halves = [[len(child.rows) for child in node.children] for node in nodes]
            raw = [expit(node.log_d) + 2 * a * b / (n * (n - 1)) for node, (a, b) in zip(nodes, halves, strict=True)]
        else:
            top = max(node.log_d for node in nodes)
            raw = [exp(node.log_d - top) + 1.0 for node in nodes]
        return [x / sum(raw) for x in raw]


@dataclass
class Halves:
    """The parts of a proposal, side 0 with row a, and side 1 with row b; ``order``: the other rows."""

    weight: Weight
    sides: list[set[int]]
    order: list[int]
    n_in_tree: int
    log_chance: float
    log_launch: float

    def odds(self, row: int) -> float:
        """Probability of side 1 for a row that is in neither."""
        worth = [self.weight(frozenset(side | {row})) - self.weight(frozenset(side)) for side in self.sides]
        return float(expit(worth[1] - worth[0]))

    def assign(self, rows: Sequence[int], target: Rows | None, choose: Choose) -> float:
        """Draw the sides of rows one after the other, or force them to (not) be in the target; log probability."""
        log_q = 0.0
        for row in rows:
            for side in self.sides:
                side.discard(row)
            one = self.odds(row)
            side = choose([1.0 - one, one]) if target is None else int(row not in target)
            log_q += log([1.0 - one, one][side])
            self.sides[side].add(row)
        return log_q


def _planted(move: Move, subset: int, c: Rows, other: Rows | None, n_clusters: int, choose: Choose) -> Halves:
    """A random tree, its cut, the two rows that stay apart, and the launch; ``n_clusters`` where all are one."""
    weight, rows = move.model.weight(n_clusters), c if other is None else c | other
    m = min(subset, len(rows))
    if other is not None:
        a, b = (sorted(block)[choose([1 / len(block)] * len(block))] for block in (c, other))
    orders = [order for order in itertools.permutations(sorted(rows)) if other is None or {a, b} <= set(order[:m])]
    order = orders[choose([1 / len(orders)] * len(orders))]
    tree = leaf(weight, order[0])
    for row in order[1:m]:
        tree = insert(weight, tree, leaf(weight, row))
    nodes, chances = list(tree.nodes()), move.chances(tree)
    if other is None:
        which = choose(chances)
        a, b = (sorted(child.rows)[choose([1 / len(child.rows)] * len(child.rows))] for child in nodes[which].children)
    else:
        which = min((i for i, node in enumerate(nodes) if {a, b} <= node.rows), key=lambda i: len(nodes[i].rows))
    cut = nodes[which]
    log_chance = log(chances[which]) - sum(log(len(child.rows)) for child in cut.children)
    if len(rows) > m and move.without != "subset":
        log_chance += log(m * (m - 1) / (len(rows) * (len(rows) - 1)))
    hanging, node = [], tree
    while node is not cut:
        node, apart = sorted(node.children, key=lambda child: not cut.rows <= child.rows)
        hanging.append(apart)
    parts = sorted(cut.children, key=lambda child: a not in child.rows)
    for apart in reversed(hanging):
        worth = [weight(part.rows | apart.rows) - part.log_h for part in parts]
        one = float(expit(worth[1] - worth[0]))
        side = choose([1.0 - one, one])
        parts[side] = join(weight, parts[side], apart)
    rest = [row for row in order if row not in (a, b)]
    log_launch = sum(weight(part.rows) for part in parts) - tree.log_h
    return Halves(weight, [set(part.rows) for part in parts], rest, m - 2, log_chance, log_launch)


def _decide(state: Blocks, gone: set[Rows], new: set[Rows], log_ratio: float, choose: Choose) -> Blocks:
    accepted = min(1.0, exp(min(log_ratio, 0.0)))
    return state if choose([accepted, 1.0 - accepted]) else frozenset((state - gone) | new)


def _similar(move: Move, state: Blocks, choose: Choose) -> Blocks:
    """A cluster, all alike; to be split, or merged with a similar one."""
    model, clusters = move.model, sorted(state, key=min)
    n = len(clusters)

    def log_odds(c: Rows, among: Blocks) -> dict[Rows | None, float]:
        """Of a split (None) and of a merge with each other cluster, normalised."""
        raw = {None: 0.0} | {e: model.log_similarity(c, e, len(among)) for e in sorted(among, key=min) if e != c}
        total = logsumexp(list(raw.values()))
        return {e: x - total for e, x in raw.items()}

    def log_merge(a: Rows, b: Rows, among: Blocks) -> float:
        either = np.logaddexp(log_odds(a, among)[b], log_odds(b, among)[a])
        apart = log(len(a) * len(b)) if move.without != "rows apart" else 0.0
        return either - log(len(among)) - apart

    c = clusters[choose([1 / n] * n)]
    odds = log_odds(c, state)
    other = list(odds)[choose([exp(x) for x in odds.values()])]
    if other is None and len(c) == 1:
        return state
    halves = _planted(move, move.subset_size, c, other, n if other is None else n - 1, choose)
    halves.assign(halves.order[halves.n_in_tree :], None, choose)
    for _ in range(move.n_scans):
        halves.assign(halves.order, None, choose)
    log_q = halves.assign(halves.order, None if other is None else c, choose)
    together = state if other is None else frozenset((state - {c, other}) | {c | other})
    parts = {frozenset(side) for side in halves.sides}
    apart = frozenset((together - {frozenset.union(*parts)}) | parts)
    log_split = log_odds(frozenset.union(*parts), together)[None] - log(len(together)) + halves.log_chance + log_q
    log_ratio = model.log_joint(apart) - model.log_joint(together) + log_merge(*parts, apart) - log_split
    if other is None:
        return _decide(state, {c}, parts, log_ratio, choose)
    return _decide(state, {c, other}, {c | other}, -log_ratio, choose)


def _chances_by_rank(model: Model, row: int, others: Sequence[Rows]) -> list[float]:
    """Of each other cluster to be merged with that of the row: 1 / (r (r + 1)), r the rank; shared by equals."""
    weight, n = model.weight(1), len(others)
    standings = [int(64.0 * (weight(other | {row}) - weight(other))) for other in others]
    by_rank = [(n + 1) / n / (r * (r + 1)) for r in range(1, n + 1)]
    chances = []
    for standing in standings:
        above, equal = sum(x > standing for x in standings), standings.count(standing)
        chances.append(sum(by_rank[above : above + equal]) / equal)
    return chances


def _pilot(move: Move, state: Blocks, choose: Choose) -> Blocks:
    """Splits that a tree proposes, or gives up; merges of any two, or of that of a row with one near it."""
    model, n = move.model, len(state)
    n_rows = sum(map(len, state))

    def chance(c: Rows, n_clusters: int) -> float:
        return (1 - move.even) * len(c) / n_rows + move.even / n_clusters

    clusters, row = sorted(state, key=min), None
    splits = choose([move.share, 1.0 - move.share]) == 0
    if choose([move.near, 1.0 - move.near]) == 0:
        row = choose([1 / n_rows] * n_rows)
        c = next(c for c in clusters if row in c)
    else:
        c = clusters[choose([chance(c, n) for c in clusters])]
    others = [e for e in clusters if e != c]
    if (splits and len(c) == 1) or not (splits or others):
        return state
    other = None
    if not splits:
        chances = [1 / len(others)] * len(others) if row is None else _chances_by_rank(model, row, others)
        other = others[choose(chances)]
    blind = choose([move.blind, 1.0 - move.blind]) == 0
    n_together = len(c) + (0 if splits else len(other))
    n_some = min(move.subset_size, n_together)
    blind = blind and n_some < n_together
    halves = _planted(move, 2 if blind else n_some, c, other, n if splits else n - 1, choose)
    least = move.effort * n_some / n_together
    # A tree of two rows is all there is to see where the subset is that small: then it counts.
    shows = not blind or n_some == 2
    screen = min(1.0, max(least, exp(min(halves.log_launch, 0.0))) if shows else least)
    if splits and choose([screen, 1.0 - screen]):
        return state
    order = halves.order[halves.n_in_tree :] + halves.order[: halves.n_in_tree]
    log_q = halves.assign(order, None if splits else c, choose)
    a, b = (frozenset(side) for side in halves.sides)
    n_apart = n + 1 if splits else n
    log_split = log(move.share) + halves.log_chance + log_q
    log_split += log(screen) if move.without != "screen" else 0.0
    log_merge = log(1.0 - move.share)
    log_merge -= log(len(a) * len(b)) if move.without != "rows apart" else 0.0
    if row is None:
        log_split += log(chance(a | b, n_apart - 1))
        log_merge += log((chance(a, n_apart) + chance(b, n_apart)) / (n_apart - 1))
    else:
        one = a if row in b else b
        apart = [one, *(e for e in others if e != other)]
        log_merge += log(_chances_by_rank(model, row, apart)[0]) if move.without != "rank" else -log(n_apart - 1)
    log_ratio = log_merge - log_split - model.log_similarity(a, b, n_apart)
    if splits:
        return _decide(state, {c}, {a, b}, log_ratio, choose)
    return _decide(state, {c, other}, {c | other}, -log_ratio, choose)


def states(n_rows: int) -> Iterator[Blocks]:
    """Every partition, as a set of blocks."""
    for labels in partitions(n_rows):
        yield frozenset(frozenset(block) for block in blocks(labels))


def transition_matrix(move: Move, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The exact posterior over all partitions, and the transition matrix of a move."""
    space = list(states(n_rows))
    index = {state: i for i, state in enumerate(space)}
    log_p = np.array([move.model.log_joint(state) for state in space])
    matrix = np.zeros((len(space), len(space)))
    for state in space:
        for target, probability in outcomes(lambda choose, state=state: move(state, choose)).items():
            matrix[index[state], index[target]] += probability
    return np.exp(log_p - logsumexp(log_p)), matrix
