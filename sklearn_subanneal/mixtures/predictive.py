"""Predictive, the predictive distribution of one draw; averages over draws, and clusters of rows by a draw."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from sklearn_subanneal.columns._base import ColumnData
from sklearn_subanneal.columns._block_cells import cell_densities
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures._mixture_scores import MixtureScores
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.ensemble import Ensemble, chunks
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.parts import Part, marginal_states, parts_of


class Predictive:
    """The posterior predictive distribution of one draw: a finite mixture, with the new cluster as its last component.

    Parameters
    ----------
    models : list of ColumnModel
    draw : Draw
    members : sequence of int or None, default=None
        Indices of the models of this mixture, if it is one factor of a product; the columns of the draw belong to them,
        as :func:`parts_of` takes them. None: all.
    data : list of ColumnData or None, default=None
        The training rows for each of the models, needed only for predictions about them.
    rare_share : float, default=0.0
        The smallest clusters, which together hold at most this share of the rows, get no probability.
    """

    def __init__(
        self,
        models: list[ColumnModel],
        draw: Draw,
        members: Sequence[int] | None = None,
        data: list[ColumnData] | None = None,
        rare_share: float = 0.0,
    ):
        self.members = range(len(models)) if members is None else [int(m) for m in members]
        self.n_clusters = len(draw.sizes)
        self.parts = parts_of(models, self.members, draw.columns, data)
        offset, base, slope = draw.weights
        weights = np.append(draw.sizes + offset, base + slope * self.n_clusters)
        self.log_weights = np.log(weights / weights.sum())
        self.rare = rare_clusters(draw.sizes, rare_share)
        self.log_weights[self.rare] = -np.inf

    def log_densities(self, values: Sequence[np.ndarray] | Mapping[int, np.ndarray]) -> np.ndarray:
        """Log density of each row in each cluster and in a new one, (n_rows, n_clusters + 1), in standard units.

        ``values[m]`` is an array (n_rows, width) for each member m, as :meth:`ColumnModel.values` makes them.
        """
        out = np.zeros((len(values[self.members[0]]), self.n_clusters + 1))
        for part in self.parts:
            out += part.statistics.log_densities(part.side_by_side(values), self.n_clusters + 1)
        return out

    @cached_property
    def scores(self) -> MixtureScores:
        """The mixture as it is now, compiled."""
        return MixtureScores([part.statistics for part in self.parts], self.log_weights)

    def log_joint(self, cells: DistinctRows) -> np.ndarray:
        """Log joint density of each row and its cluster, (n_rows, n_clusters + 1); one row if all rows are equal."""
        return self.scores.log_joint(*cells.of_parts(self.parts))

    def log_density(self, cells: DistinctRows) -> np.ndarray:
        """Log density of each row, (n_rows,); one if all rows are equal. Rows without a cell are left out if many."""
        rows = None if self.rare.size else cells.rows_with(self.members)
        if rows is None:
            return self.log_marginal(cells)
        out = np.zeros(cells.n_rows if rows.size else 1)
        if rows.size:
            out[rows] = self.log_marginal(cells.take(rows, self.members))
        return out

    def log_marginal(self, cells: DistinctRows) -> np.ndarray:
        """As :meth:`log_density`, all rows alike."""
        return self.scores.log_densities(*cells.of_parts(self.parts))

    def log_shares(self, cells: DistinctRows) -> np.ndarray:
        """Log probability of each cluster and of a new one before a row is looked at, one for all rows or for each."""
        return self.log_weights[None]

    def scored(self, cells: DistinctRows) -> Iterator[tuple[Part, np.ndarray, np.ndarray | None]]:
        """Each part, the log densities of its cells (n_values, n_clusters + 1), and where in these each row is."""
        for part in self.parts:
            yield part, *self.densities(part, cells)

    def scored_alone(self, cells: DistinctRows) -> Iterator[tuple[int, np.ndarray, np.ndarray | None]]:
        """Each member, with the log densities of its cells given the other cells of the row, as ``scored``."""
        for part in self.parts:
            if part.is_block:
                yield from (
                    (m, own, None) for m, own in zip(part.members, self.cell_densities(part, cells), strict=True)
                )
            else:
                # Given the cluster, it does not depend on other cells.
                yield part.members[0], *self.densities(part, cells)

    def densities(self, part: Part, cells: DistinctRows) -> tuple[np.ndarray, np.ndarray | None]:
        """Log densities of the cells of one part, and places, as ``scored``."""
        values, places = cells.of_part(part)
        return part.statistics.log_densities(values, self.n_clusters + 1), places

    def t_of_member(self, member: int, cells: DistinctRows) -> tuple[np.ndarray, ...]:
        """The t distribution of a missing real cell in each cluster, given the observed cells of the row.

        Returns
        -------
        location, scale, free : ndarray of shape (n_rows, n_clusters + 1)
            As of :meth:`Part.t_of_member`; one row if all rows are equal.
        """
        (part,) = (part for part in self.parts if member in part.members)
        return part.t_of_member(member, cells.of_part(part)[0], self.n_clusters + 1)

    def expectations(
        self, models: list[ColumnModel], part: Part, cells: DistinctRows, weights: np.ndarray
    ) -> dict[int, tuple[np.ndarray, np.ndarray | None]]:
        """As of :meth:`Part.expectations`, of the cells of one part."""
        return part.expectations(models, cells.of_part(part)[0], weights)

    def cell_densities(self, block: Part, cells: DistinctRows) -> np.ndarray:
        """Log densities (n_members, n_rows, n_clusters + 1) of each cell of a block given the others of the row."""
        return cell_densities(block.statistics, cells.of_part(block)[0], self.n_clusters + 1)


def rare_clusters(sizes: np.ndarray, share: float) -> np.ndarray:
    """Indices of the smallest clusters, as many as together hold at most this share of the rows."""
    order = np.argsort(sizes, kind="stable")
    return order[np.cumsum(sizes[order]) <= share * sizes.sum()]


def restricted(models: list[ColumnModel], draw: Draw, members: Sequence[int], columns: Collection[int]) -> Predictive:
    """The predictive distribution of those members of a mixture that are among some columns; they may be none."""
    kept, states = marginal_states(models, members, draw.columns, columns)
    return Predictive(models, replace(draw, columns=states), kept)


def ensemble_of_mixtures(models: list[ColumnModel], draws: list[Draw]) -> Ensemble:
    """The average over the draws of a mixture, by their weights."""
    return Ensemble(models, [[Predictive(models, draw)] for draw in draws], np.array([draw.weight for draw in draws]))


def sample_bags(models: list[ColumnModel], draws: list[Draw], lengths: np.ndarray, generator: np.random.Generator):
    """Bags of words of these lengths drawn from the posterior predictive, a CSR array (n_rows, n_words)."""
    weights = np.array([draw.weight for draw in draws])
    chosen, parts, rows = generator.choice(len(draws), len(lengths), p=weights / weights.sum()), [], []
    for index in np.unique(chosen):
        predictive = Predictive(models, draws[index])
        own = np.flatnonzero(chosen == index)
        shares = np.exp(predictive.log_weights)
        clusters = generator.choice(len(shares), len(own), p=shares / shares.sum()).astype(np.int32)
        parts.append(predictive.parts[0].statistics.draw_bags(clusters, lengths[own], generator))
        rows.append(own)
    return sparse.vstack(parts, format="csr")[np.argsort(np.concatenate(rows))]


def assign_rows(models: list[ColumnModel], draw: Draw, arrays: list[np.ndarray], groups: np.ndarray) -> np.ndarray:
    """Log probability of each row in the groups of clusters of one draw, (n_rows, n_groups).

    Parameters
    ----------
    models, draw, arrays
        A draw and the rows.
    groups : ndarray of int, shape (n_clusters,)
        Group of each cluster, 0, 1, ...; -1: none, the rows are in others.
    """
    out = np.empty((len(arrays[0]), int(groups.max()) + 1))
    for rows, log_joint in _log_joints(models, draw, arrays, groups):
        out[rows] = log_joint - logsumexp(log_joint, axis=1, keepdims=True)
    return out


def nearest_groups(models: list[ColumnModel], draw: Draw, arrays: list[np.ndarray], groups: np.ndarray) -> np.ndarray:
    """The most probable group of clusters of each row, with the parameters of :func:`assign_rows`."""
    labels = np.empty(len(arrays[0]), np.int64)
    for rows, log_joint in _log_joints(models, draw, arrays, groups):
        labels[rows] = log_joint.argmax(axis=1)
    return labels


def own_groups(
    models: list[ColumnModel], draw: Draw, arrays: list[np.ndarray], groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The most probable group of clusters of each row, and its probability, with the parameters of `assign_rows`."""
    labels, probabilities = np.empty(len(arrays[0]), np.int64), np.empty(len(arrays[0]))
    for rows, log_joint in _log_joints(models, draw, arrays, groups):
        labels[rows] = log_joint.argmax(axis=1)
        probabilities[rows] = np.exp(log_joint.max(axis=1) - logsumexp(log_joint, axis=1))
    return labels, probabilities


def nearest_of_training(
    models: list[ColumnModel], draw: Draw, arrays: list[np.ndarray], groups: np.ndarray, absent: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The groups of clusters of one draw that are the most probable ones of training rows, the largest first.

    Parameters
    ----------
    models, draw, arrays
        A draw and the table.
    groups : ndarray of int, shape (n_clusters,)
        Group of each cluster.
    absent : ndarray of int
        Rows of the table that the draw has not seen: they have the most probable of the other rows' groups.

    Returns
    -------
    groups : ndarray of int, shape (n_clusters,)
        Their numbers in the order of the size that they have in the draw; -1 for those that no row has.
    labels : ndarray of int64, shape (n_rows,)
        The group of each row.
    probabilities : ndarray of shape (n_rows,)
        The probability of this group.
    """
    sizes = np.bincount(groups, draw.sizes)
    groups = np.argsort(np.argsort(-sizes, kind="stable"))[groups]
    nearest, probabilities = own_groups(models, draw, arrays, groups)
    used = np.unique(np.delete(nearest, absent))
    numbers = np.full(len(sizes), -1)
    numbers[used] = np.arange(len(used))
    groups, labels = numbers[groups], numbers[nearest]
    # Without the other groups a certain row is as certain, and in the same one.
    uncertain = np.flatnonzero(probabilities < 1.0) if len(used) < len(sizes) else absent
    again = np.union1d(uncertain, absent).astype(int)
    if again.size:
        labels[again], probabilities[again] = own_groups(models, draw, [array[again] for array in arrays], groups)
    return groups, labels, probabilities


def _log_joints(models, draw, arrays, groups):
    """Yield slices of the rows with their log joint densities in the groups of clusters."""
    predictive = Predictive(models, draw)
    order = np.argsort(groups, kind="stable")
    order = order[groups[order] >= 0]
    firsts = np.unique(groups[order], return_index=True)[1]
    for rows in chunks(len(arrays[0]), len(draw.sizes)):
        values = [model.values([a[rows] for a in arrays]) for model in models]
        joint = predictive.log_densities(values)[:, order] + predictive.log_weights[order]
        yield rows, joint if len(firsts) == len(order) else np.logaddexp.reduceat(joint, firsts, axis=1)
