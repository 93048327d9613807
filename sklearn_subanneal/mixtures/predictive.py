"""Predictions for rows by the draws of a mixture: densities, assignments, samples, imputations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from sklearn_subanneal.columns._base import ColumnData
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import DistinctRows, Ensemble, chunks
from sklearn_subanneal.mixtures.mixture_chain import Draw


class Predictive:
    """The posterior predictive distribution of one draw: a finite mixture, with the new cluster as its last component.

    Parameters
    ----------
    models : list of ColumnModel
    draw : Draw
    members : sequence of int or None, default=None
        Indices of the models of this mixture, if it is one factor of a product; the columns of the draw belong to them.
        None: all.
    data : list of ColumnData or None, default=None
        The training rows for each of the models, needed only for predictions about them.
    """

    def __init__(
        self,
        models: list[ColumnModel],
        draw: Draw,
        members: Sequence[int] | None = None,
        data: list[ColumnData] | None = None,
    ):
        self.members = range(len(models)) if members is None else [int(m) for m in members]
        self.n_clusters = len(draw.sizes)
        self.columns = []
        for m, state in zip(self.members, draw.columns, strict=True):
            column = models[m].statistics(None if data is None else data[m], state["parameters"])
            column.set_state(state)
            self.columns.append(column)
        offset, base, slope = draw.weights
        weights = np.append(draw.sizes + offset, base + slope * self.n_clusters)
        self.log_weights = np.log(weights / weights.sum())

    def log_densities(self, values: list[np.ndarray]) -> np.ndarray:
        """Log density of each row in each cluster and in a new one, (n_rows, n_clusters + 1), in standard units.

        ``values`` has one array (n_rows, width) for each member, as :meth:`ColumnModel.values` makes them.
        """
        out = np.zeros((len(values[0]), self.n_clusters + 1))
        for column, cells in zip(self.columns, values, strict=True):
            out += column.log_densities(cells, self.n_clusters + 1)
        return out

    def log_joint(self, cells: DistinctRows) -> np.ndarray:
        """Log joint density of each row and its cluster, (n_rows, n_clusters + 1); one row if all rows are equal."""
        out = self.log_shares(cells)
        for _, densities, places in self.scored(cells):
            part = densities if places is None else densities[places]
            # The first array of all rows is new, and may be added to in place; the weights may not.
            out = np.add(out, part, out=out if len(out) > 1 else None)
        return out

    def log_shares(self, cells: DistinctRows) -> np.ndarray:
        """Log probability of each cluster and of a new one before a row is looked at, one for all rows or for each."""
        return self.log_weights[None]

    def scored(self, cells: DistinctRows) -> Iterator[tuple[int, np.ndarray, np.ndarray | None]]:
        """Each member, the log densities of its cells (n_values, n_clusters + 1), and where in these each row is."""
        for m, column in zip(self.members, self.columns, strict=True):
            yield m, column.log_densities(cells.values[m], self.n_clusters + 1), cells.places[m]


class LeaveOneOut(Predictive):
    """The leave-one-out predictive distribution of one draw for its training rows, each removed from its cluster.

    The weights of the prior of the partition must depend only on the sizes and the number of the clusters.

    Parameters
    ----------
    models, draw, members, data
        See :class:`Predictive`; each model has a single column.
    labels : ndarray of int of shape (n_rows,)
        The cluster of each row in this draw.
    """

    def __init__(self, models, draw, members, data, labels: np.ndarray):
        super().__init__(models, draw, members, data)
        self.labels, self.alone = labels.astype(np.int32), draw.sizes[labels] == 1
        offset, base, self.slope = draw.weights
        self.weights = np.append(draw.sizes + offset, base + self.slope * self.n_clusters)

    def log_shares(self, cells: DistinctRows) -> np.ndarray:
        rows = slice(cells.start, cells.start + cells.n_rows)
        own, alone = (np.arange(cells.n_rows), self.labels[rows]), self.alone[rows]
        weights = np.tile(self.weights, (cells.n_rows, 1))
        weights[own] = np.where(alone, 0.0, weights[own] - 1.0)
        weights[:, -1] -= self.slope * alone
        with np.errstate(divide="ignore"):
            return np.log(weights / weights.sum(axis=1, keepdims=True))

    def scored(self, cells: DistinctRows) -> Iterator[tuple[int, np.ndarray, np.ndarray | None]]:
        # A cluster that is gone without the row has no share, whatever its density.
        others = np.flatnonzero(~self.alone[cells.start : cells.start + cells.n_rows])
        rows = (cells.start + others).astype(np.int32)
        own = self.labels[rows]
        for column, (m, densities, _) in zip(self.columns, super().scored(cells), strict=True):
            out = np.array(np.broadcast_to(cells.spread(m, densities), (cells.n_rows, self.n_clusters + 1)))
            out[others, own] = column.leave_one_out(rows, own)
            yield m, out, None


def ensemble_of_mixtures(models: list[ColumnModel], draws: list[Draw]) -> Ensemble:
    """The average over the draws of a mixture."""
    return Ensemble(models, [[Predictive(models, draw)] for draw in draws])


def score_rows(models: list[ColumnModel], draws: list[Draw], arrays: list[np.ndarray]) -> np.ndarray:
    """Log posterior predictive density of each row, averaged over draws, in the units of the data."""
    return ensemble_of_mixtures(models, draws).score(arrays)


def sample_rows(
    models: list[ColumnModel], draws: list[Draw], n_rows: int, n_columns: int, generator: np.random.Generator
) -> list[np.ndarray]:
    """Rows drawn from the posterior predictive: typed arrays, one for each of ``n_columns``."""
    return ensemble_of_mixtures(models, draws).sample(n_rows, generator)[:n_columns]


def sample_bags(models: list[ColumnModel], draws: list[Draw], lengths: np.ndarray, generator: np.random.Generator):
    """Bags of words of these lengths drawn from the posterior predictive, a CSR array (n_rows, n_words)."""
    chosen, parts, rows = generator.integers(len(draws), size=len(lengths)), [], []
    for index in np.unique(chosen):
        predictive = Predictive(models, draws[index])
        own = np.flatnonzero(chosen == index)
        shares = np.exp(predictive.log_weights)
        clusters = generator.choice(len(shares), len(own), p=shares / shares.sum()).astype(np.int32)
        parts.append(predictive.columns[0].draw_bags(clusters, lengths[own], generator))
        rows.append(own)
    return sparse.vstack(parts, format="csr")[np.argsort(np.concatenate(rows))]


def impute_rows(
    models: list[ColumnModel], draws: list[Draw], arrays: list[np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The missing cells of each row given its observed ones, and their uncertainty, as :meth:`Ensemble.impute`."""
    return ensemble_of_mixtures(models, draws).impute(arrays)


def assign_rows(models: list[ColumnModel], draw: Draw, arrays: list[np.ndarray], keep: np.ndarray) -> np.ndarray:
    """Log probability of each row in the clusters ``keep`` of one draw, (n_rows, len(keep))."""
    out = np.empty((len(arrays[0]), len(keep)))
    for rows, log_joint in _log_joints(models, draw, arrays, keep):
        out[rows] = log_joint - logsumexp(log_joint, axis=1, keepdims=True)
    return out


def nearest_clusters(models: list[ColumnModel], draw: Draw, arrays: list[np.ndarray], keep: np.ndarray) -> np.ndarray:
    """Index into ``keep`` of the most probable cluster of each row."""
    labels = np.empty(len(arrays[0]), np.int64)
    for rows, log_joint in _log_joints(models, draw, arrays, keep):
        labels[rows] = log_joint.argmax(axis=1)
    return labels


def nearest_of_training(
    models: list[ColumnModel], draw: Draw, arrays: list[np.ndarray], order: np.ndarray, absent: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The clusters of one draw that are the most probable ones of training rows, and which of them each row has.

    Parameters
    ----------
    models, draw, arrays
        A draw and the table.
    order : ndarray of int
        The clusters, in an order in which those that are kept remain.
    absent : ndarray of int
        Rows of the table that the draw has not seen: they have the most probable of the other rows' clusters.

    Returns
    -------
    kept : ndarray of int, shape (n_kept,)
        Some of ``order``.
    labels : ndarray of int64, shape (n_rows,)
        Indices into ``kept``.
    """
    nearest = nearest_clusters(models, draw, arrays, order)
    used, labels = np.unique(np.delete(nearest, absent), return_inverse=True)
    if absent.size:
        labels = nearest_clusters(models, draw, arrays, order[used])
    return order[used], labels


def _log_joints(models, draw, arrays, keep):
    """Yield slices of the rows with their log joint densities in the clusters ``keep``."""
    predictive = Predictive(models, draw)
    for rows in chunks(len(arrays[0]), len(draw.sizes)):
        values = [model.values([a[rows] for a in arrays]) for model in models]
        yield rows, predictive.log_densities(values)[:, keep] + predictive.log_weights[keep]
