"""Proposals to split and merge clusters whose rows are in blocks: many at once, from sums alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.columns._frequencies import log_gamma_variates
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture, added
from sklearn_subanneal.shards.work import Change, Division


@dataclass
class _Proposal:
    """A proposal, its statistics on both sides, and the log probability of the sides."""

    division: Division
    columns: list
    sizes: np.ndarray
    log_q: float = 0.0

    @property
    def is_split(self) -> bool:
        return len(self.division.clusters) == 1


def split_and_merge(mixture: ShardedMixture, n_proposals: int, n_rounds: int = 3) -> int:
    """Propose to split clusters in two, or to merge two; returns how many proposals are accepted.

    A proposal begins with two rows. Where they are in one cluster it is split, else theirs are merged. The sides of a
    split are drawn given the weights and parameters of two clusters, which are drawn given those of the round before:
    at first given the two rows alone. A merge asks for the probability with which a split would give the clusters that
    are there. Parameters are integrated out of what is accepted, and a division knows nothing of the present labels.

    All proposals are made side by side: each takes clusters that no earlier one has, so that whether it is made does
    not depend on what becomes of these.

    Parameters
    ----------
    mixture : ShardedMixture
    n_proposals : int
        Pairs of rows that are drawn. Those whose clusters an earlier proposal has are dropped.
    n_rounds : int, default=3
        Rounds before the last one.

    References
    ----------
    S. Jain, R. M. Neal (2007), Splitting and merging components of a nonconjugate Dirichlet process mixture model,
    Bayesian Analysis 2, 445-472. doi:10.1214/07-BA219
    """
    if mixture.blocks.table.n_rows < 2 or n_proposals < 1:
        return 0
    proposals = _chosen(mixture, n_proposals)
    for last in [False] * n_rounds + [True]:
        _draw_parameters(mixture, proposals)
        streams = mixture.streams()
        # In the last round a merge asks for its present sides; before, all are drawn.
        divisions = [replace(own.division, drawn=not last or own.is_split) for own in proposals]
        replies = mixture.blocks.update(RowBlock.divided, divisions, streams, mixture.priors)
        for own, parts in zip(proposals, zip(*replies, strict=True), strict=True):
            own.log_q = sum(log_q for log_q, _, _ in parts)
            own.sizes = np.sum([counts for _, counts, _ in parts], axis=0)
            for j, column in enumerate(own.columns):
                column.set_state(added([sums[j] for _, _, sums in parts]) | {"parameters": column.parameters})
    return _accept(mixture, proposals)


def _chosen(mixture: ShardedMixture, n_proposals: int) -> list[_Proposal]:
    """Pairs of rows, the clusters of each pair not those of an earlier one; with statistics of these rows alone."""
    generator, n_rows = mixture.generator, mixture.blocks.table.n_rows
    taken: set[int] = set()
    proposals = []
    for first in generator.integers(n_rows, size=n_proposals):
        _, one = mixture.gather(np.array([first]))
        size = int(mixture.sizes[one.labels[0]])
        # Half of the pairs are from one cluster, so that there are as many splits as merges where clusters are many.
        together = generator.random() < 0.5 and size > 1
        second = int(first)
        while second == first:
            second = _of_cluster(mixture, int(one.labels[0])) if together else int(generator.integers(n_rows))
        _, other = mixture.gather(np.array([second]))
        clusters = tuple(dict.fromkeys((int(one.labels[0]), int(other.labels[0]))))
        if taken.intersection(clusters):
            continue
        taken.update(clusters)
        proposals.append(_proposal(mixture, clusters, (int(first), second)))
    return proposals


def _proposal(mixture, clusters, anchors) -> _Proposal:
    order = np.argsort(anchors)
    _, pair = mixture.gather(np.array(anchors)[order])
    columns = mixture.statistics_of(pair)
    for column in columns:
        # Row 0 of the pair is that of the first anchor, or else of the second.
        column.rebuild(order, 2)
    return _Proposal(Division(clusters, anchors, [], np.zeros(2)), columns, np.ones(2, np.int64))


def _draw_parameters(mixture, proposals) -> None:
    """Parameters of both sides of each proposal, given the sides of the round before."""
    for own in proposals:
        own.division = replace(
            own.division,
            parameters=mixture.drawn_parameters(own.columns, 2),
            log_weights=log_gamma_variates(own.sizes + mixture.prior.offset, mixture.generator),
        )


def _accept(mixture, proposals) -> int:
    """Accept or reject the proposals, one after the other, and change the labels."""
    sizes, splits, merged = list(mixture.sizes), {}, {}
    for number, own in enumerate(proposals):
        after = list(sizes)
        first, *second = own.division.clusters
        if own.is_split:
            after[first] = own.sizes[0]
            after.append(own.sizes[1])
        else:
            after[first], after[second[0]] = own.sizes.sum(), 0
        log_ratio = _log_eppf(mixture, after) - _log_eppf(mixture, sizes) + _log_choice(mixture, own)
        for column, sides in zip(mixture.columns, own.columns, strict=True):
            log_ratio += _log_gain(column, sides, own.division.clusters)
        log_ratio += -own.log_q if own.is_split else own.log_q
        if np.log(mixture.generator.random()) >= log_ratio:
            continue
        if own.is_split:
            splits[number] = len(sizes)
        else:
            merged[second[0]] = first
        sizes = after
    _change(mixture, proposals, len(sizes), splits, merged)
    return len(splits) + len(merged)


def _log_eppf(mixture, sizes) -> float:
    return mixture.prior.log_eppf(np.array([size for size in sizes if size], np.int32))


def _log_gain(column, sides, clusters) -> float:
    """Log marginal likelihood of a column after a proposal less that before."""
    if len(clusters) == 1:
        return float(sides.log_marginals(2).sum() - column.log_marginals(clusters[0] + 1)[clusters[0]])
    apart = column.log_marginals(max(clusters) + 1)[list(clusters)].sum()
    return float(column.log_marginal_together(*clusters) - apart)


def _log_choice(mixture, own: _Proposal) -> float:
    """Log probability of choosing the second row, given the first, after the proposal less that before."""
    n_others, size = mixture.blocks.table.n_rows - 1, int(own.sizes.sum())
    together = 0.5 / (size - 1) + 0.5 / n_others
    # A cluster of one row has no other: then it is always one of all.
    apart = (0.5 if own.sizes[0] > 1 else 1.0) / n_others
    log_ratio = np.log(apart) - np.log(together)
    return float(log_ratio if own.is_split else -log_ratio)


def _change(mixture, proposals, n_numbers: int, splits: dict[int, int], merged: dict[int, int]) -> None:
    """Change statistics and labels; merged clusters leave no gap, since the last ones get their numbers."""
    for column in mixture.columns:
        column.make_room(n_numbers + 1)
    for number, new in splits.items():
        (old,) = proposals[number].division.clusters
        for column, sides in zip(mixture.columns, proposals[number].columns, strict=True):
            column.copy_slot(sides, 0, old)
            column.copy_slot(sides, 1, new)
    numbers = np.arange(n_numbers, dtype=np.int32)
    for gone, kept in merged.items():
        numbers[gone] = kept
        for column in mixture.columns:
            column.merge_slots(gone, kept)
    n_clusters = n_numbers
    for gone in sorted(merged, reverse=True):
        n_clusters -= 1
        if gone != n_clusters:
            numbers[numbers == n_clusters] = gone
            for column in mixture.columns:
                column.move_slot(n_clusters, gone)
    mixture.apply(Change(n_clusters, splits, numbers))


def _of_cluster(mixture, cluster: int) -> int:
    """A row of a cluster, all with the same probability."""
    rank = int(mixture.generator.integers(mixture.sizes[cluster]))
    for i, counts in enumerate(mixture.block_sizes):
        if rank < counts[cluster]:
            (row,) = mixture.blocks.ask(RowBlock.nth, cluster, rank, which=[i])
            return i * mixture.blocks.table.block_rows + row
        rank -= int(counts[cluster])
    raise AssertionError("sizes of clusters are not those of the blocks")
