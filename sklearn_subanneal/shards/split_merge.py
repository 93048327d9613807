"""Proposals to split a cluster or to merge two whose rows are in blocks, from sums alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal._core._special import evaluate
from sklearn_subanneal.columns._frequencies import log_dirichlet_variates
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture
from sklearn_subanneal.shards.work import Change, Division, Gathered


@dataclass
class _Proposal:
    """The division of a cluster, or of two: its sides, their statistics and sizes, and the log probability of all.

    ``number`` is that of the division among those that are made together.
    """

    division: Division
    columns: list
    sizes: np.ndarray
    number: int = 0
    log_q: float = 0.0

    @property
    def is_split(self) -> bool:
        return len(self.division.clusters) == 1


def split_and_merge(mixture: ShardedMixture, n_proposals: int, n_rounds: int = 3) -> int:
    """Propose to split a cluster, or to merge two, one proposal after the other; returns how many are accepted.

    A split begins with two rows of a cluster, on two sides. Weights and parameters of the sides are drawn, at first
    given these two rows alone, and then the sides of all other rows of the cluster, a few rounds. In the last one the
    weight is uniform. A merge goes the other way: it asks for the probability with which such a division, which knows
    nothing of the present labels, would give the two clusters, with the weight drawn given these. So two parts of one
    cluster can be merged however unequal they are. The clusters to merge are chosen by their evidence for being one.

    Parameters
    ----------
    mixture : ShardedMixture
    n_proposals : int
    n_rounds : int, default=3
        Rounds before the last one.

    References
    ----------
    S. Jain, R. M. Neal (2007), Splitting and merging components of a nonconjugate Dirichlet process mixture model,
    Bayesian Analysis 2, 445-472. doi:10.1214/07-BA219

    W. Wang, S. Russell (2015), A smart-dumb/dumb-smart algorithm for efficient split-merge MCMC, UAI.
    """
    n_accepted = 0
    while n_proposals > 0:
        # Each proposal is for the state that the one before leaves, which mostly is the present one: all are divided
        # together, and those after one that is accepted are drawn anew.
        proposals = _proposals(mixture, n_proposals)
        _divide(mixture, proposals, n_rounds)
        for proposal in proposals:
            n_proposals -= 1
            if proposal is not None and _decide(mixture, proposal):
                n_accepted += 1
                break
    return n_accepted


def _proposals(mixture, n_proposals: int) -> list[_Proposal | None]:
    """Proposals for the present state; None: of a cluster of one row, or of one cluster alone."""
    chosen = []
    for _ in range(n_proposals):
        is_split = mixture.generator.random() < 0.5
        chosen.append(_chosen_split(mixture) if is_split else _chosen_merge(mixture))
    rows = iter(mixture.blocks.fetch([place for places in chosen for place in places]))
    return [_proposal(mixture, places, (next(rows), next(rows))) if places else None for places in chosen]


def _chosen_split(mixture) -> list[tuple[int, int]]:
    """Two rows of a cluster, one of all rows and any other of its cluster: the cluster and the rank in it of each."""
    ends = mixture.sizes.cumsum()
    number = int(mixture.generator.integers(mixture.blocks.table.n_rows))
    cluster = int(np.searchsorted(ends, number, side="right"))
    size = int(mixture.sizes[cluster])
    if size < 2:
        return []
    first, second = number - int(ends[cluster]) + size, int(mixture.generator.integers(size - 1))
    return [(cluster, first), (cluster, second + (second >= first))]


def _chosen_merge(mixture) -> list[tuple[int, int]]:
    """Two clusters, any one and one that is like it, in any order, and the rank of any row of each."""
    generator, n_clusters = mixture.generator, mixture.n_clusters
    if n_clusters < 2:
        return []
    one = int(generator.integers(n_clusters))
    weights = _likeness(mixture.columns, one, n_clusters)
    other = int(np.searchsorted(weights.cumsum(), generator.random() * weights.sum(), side="right"))
    other = min(other, n_clusters - 1)
    clusters = (one, other) if generator.random() < 0.5 else (other, one)
    return [(own, int(generator.integers(mixture.sizes[own]))) for own in clusters]


def _likeness(columns, cluster: int, n_clusters: int) -> np.ndarray:
    """Weights by which a cluster to merge with is drawn: the evidence for one cluster, and a little for all."""
    log_odds = np.zeros(n_clusters)
    for column in columns:
        log_odds += column.log_odds_together(cluster, n_clusters)
    weights = evaluate("exp", np.clip(log_odds, -700.0, 0.0)) + 1.0 / n_clusters**2
    weights[cluster] = 0.0
    return weights


def _proposal(mixture, places: list[tuple[int, int]], rows: Sequence[tuple[int, Gathered]]) -> _Proposal:
    anchors = tuple(number for number, _ in rows)
    order = np.argsort(anchors)
    pair = [rows[side][1] for side in order]
    columns = mixture.statistics_of(pair[0].joined(pair[1]))
    for column in columns:
        # The sides of the two rows, which are in the order of the table.
        column.rebuild(order)
    (first, _), (last, _) = places
    clusters = (first,) if first == last else (first, last)
    return _Proposal(Division(clusters, anchors), columns, np.ones(2, np.int64))


def _divide(mixture, proposals: Sequence[_Proposal | None], n_rounds: int) -> None:
    """Draw the sides of splits, or the parameters by which merges judge their sides; ``log_q``: see ``_decide``."""
    present = [own for own in proposals if own is not None]
    for number, own in enumerate(present):
        own.number = number
    for last in [False] * n_rounds + [True]:
        for own in present:
            _draw_parameters(mixture, own, last)
        if present:
            replies = mixture.blocks.update(RowBlock.divided, [own.division for own in present], mixture.priors)
            for own, reply in zip(present, replies, strict=True):
                own.log_q, own.sizes, sums = reply
                for column, state in zip(own.columns, sums, strict=True):
                    column.set_state(state | {"parameters": column.parameters})
    for own in present:
        shapes, logs = own.sizes + mixture.prior.offset, own.division.log_weights
        log_gammas = np.asarray(evaluate("log_gamma", np.array([shapes.sum(), *shapes])))
        log_density = log_gammas[0] - log_gammas[1] - log_gammas[2] + (shapes - 1.0) @ logs
        # Of the uniform weight and the sides, divided by the density of the weight given the sides.
        own.log_q -= float(log_density)


def _draw_parameters(mixture, own: _Proposal, last: bool) -> None:
    """Draw the weights and parameters of the sides for the next round."""
    shapes = own.sizes + mixture.prior.offset
    if last and own.is_split:
        shapes = np.ones(2)
    elif last:
        shapes = mixture.sizes[list(own.division.clusters)] + mixture.prior.offset
    own.division = replace(
        own.division,
        parameters=mixture.drawn_parameters(own.columns, 2),
        log_weights=log_dirichlet_variates(shapes, mixture.generator),
        streams=mixture.streams(),
        # In the last round a merge has its present sides.
        drawn=not last or own.is_split,
    )


def _decide(mixture, own: _Proposal) -> bool:
    """Accept or reject a proposal, and change the labels."""
    first, *second = own.division.clusters
    apart, together = list(mixture.sizes), list(mixture.sizes)
    n_clusters = mixture.n_clusters
    for column, sides in zip(mixture.columns, own.columns, strict=True):
        column.make_room(n_clusters + 3)
        if own.is_split:
            # For the time being, the rows of the first side are in a new slot as well.
            column.copy_slot(sides, 1, n_clusters)
            column.copy_slot(column, first, n_clusters + 1)
            column.copy_slot(sides, 0, first)
    if own.is_split:
        apart[first] = own.sizes[0]
        apart.append(own.sizes[1])
        pair, n_apart = (first, n_clusters), n_clusters + 1
    else:
        together[first] = own.sizes.sum()
        del together[second[0]]
        pair, n_apart = (first, second[0]), n_clusters
    log_ratio = _log_eppf(mixture, apart) - _log_eppf(mixture, together)
    log_ratio -= sum(column.log_odds_together(pair[0], n_apart)[pair[1]] for column in mixture.columns)
    log_ratio += _log_choice(mixture, own, pair, n_apart) - own.log_q
    # So far, of a split: p of both clusters and the choice of merging them, by p of the one and this division of it.
    if not own.is_split:
        log_ratio = -log_ratio
    (log_uniform,) = evaluate("log", np.array([1.0 - mixture.generator.random()]))
    is_accepted = bool(log_uniform < log_ratio)
    if own.is_split:
        for column in mixture.columns:
            if not is_accepted:
                column.copy_slot(column, n_clusters + 1, first)
                column.clear_slot(n_clusters)
            column.clear_slot(n_clusters + 1)
    if is_accepted:
        mixture.apply(_split(n_clusters, own.number) if own.is_split else _merge(mixture, first, second[0]))
    return is_accepted


def _split(n_clusters: int, number: int) -> Change:
    return Change(n_clusters + 1, splits={number: n_clusters})


def _merge(mixture, kept: int, gone: int) -> Change:
    """Merge two clusters; the last one gets the number that is free."""
    last = mixture.n_clusters - 1
    numbers = np.arange(mixture.n_clusters, dtype=np.int32)
    numbers[gone] = kept
    for column in mixture.columns:
        column.merge_slots(gone, kept)
        if gone != last:
            column.move_slot(last, gone)
    numbers[numbers == last] = gone if gone != last else numbers[last]
    return Change(last, numbers=numbers)


def _log_choice(mixture, own: _Proposal, pair: tuple[int, int], n_apart: int) -> float:
    """Log probability of choosing these rows for a merge of the two sides, less that for a split."""
    likeness = 0.0
    for one, other in (pair, pair[::-1]):
        weights = _likeness(mixture.columns, one, n_apart)
        likeness += weights[other] / weights.sum()
    merge = likeness / n_apart / 2.0 / np.prod(own.sizes.astype(float))
    split = 1.0 / mixture.blocks.table.n_rows / (own.sizes.sum() - 1.0)
    log_merge, log_split = evaluate("log", np.array([merge, split]))
    return float(log_merge - log_split)


def _log_eppf(mixture, sizes) -> float:
    return mixture.prior.log_eppf(np.array(sizes, np.int32))
