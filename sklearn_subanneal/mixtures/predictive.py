"""What the draws of mixtures say of rows that they have not seen: densities, assignments, samples, imputations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.chain import Draw
from sklearn_subanneal.mixtures.ensemble import Cells, Ensemble, chunks


class Predictive:
    """The posterior predictive distribution of one draw: a finite mixture, with the new cluster as its last component.

    Parameters
    ----------
    models : list of ColumnModel
    draw : Draw
    members : sequence of int or None, default=None
        The models that this mixture is over, where it is one factor of a product; the columns of the draw are theirs.
        None: all.
    """

    def __init__(self, models: list[ColumnModel], draw: Draw, members: Sequence[int] | None = None):
        self.members = range(len(models)) if members is None else [int(m) for m in members]
        self.n_clusters = len(draw.sizes)
        self.columns = []
        for m, state in zip(self.members, draw.columns, strict=True):
            column = models[m].statistics(parameters=state["parameters"])
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

    def log_joint(self, cells: Cells) -> np.ndarray:
        """Log joint density of each row and its cluster, (n_rows, n_clusters + 1); one row if all rows are equal."""
        out = self.log_weights[None]
        for m, column in zip(self.members, self.columns, strict=True):
            part = cells.spread(m, column.log_densities(cells.values[m], self.n_clusters + 1))
            # The first array of all rows is new, and may be added to in place; the weights may not.
            out = np.add(out, part, out=out if len(out) > 1 else None)
        return out


def ensemble(models: list[ColumnModel], draws: list[Draw]) -> Ensemble:
    """The average over the draws of a mixture."""
    return Ensemble(models, [[Predictive(models, draw)] for draw in draws])


def score_rows(models: list[ColumnModel], draws: list[Draw], arrays: list[np.ndarray]) -> np.ndarray:
    """Log posterior predictive density of each row, averaged over draws, in the units of the data."""
    return ensemble(models, draws).score(arrays)


def sample_rows(
    models: list[ColumnModel], draws: list[Draw], n_rows: int, n_columns: int, generator: np.random.Generator
) -> list[np.ndarray]:
    """Rows drawn from the posterior predictive: typed arrays, one for each of ``n_columns``."""
    return ensemble(models, draws).sample(n_rows, generator)[:n_columns]


def sample_bags(models: list[ColumnModel], draws: list[Draw], lengths: np.ndarray, generator: np.random.Generator):
    """Bags of words of these lengths drawn from the posterior predictive, a CSR array (n_rows, n_words)."""
    chosen, parts, rows = generator.integers(len(draws), size=len(lengths)), [], []
    for index in np.unique(chosen):
        predictive = Predictive(models, draws[index])
        own = np.flatnonzero(chosen == index)
        shares = np.exp(predictive.log_weights)
        clusters = generator.choice(len(shares), len(own), p=shares / shares.sum()).astype(np.int32)
        parts.append(predictive.columns[0].draw_bags(clusters, lengths[own].astype(np.int32), generator))
        rows.append(own)
    return sparse.vstack(parts, format="csr")[np.argsort(np.concatenate(rows))]


def impute_rows(
    models: list[ColumnModel], draws: list[Draw], arrays: list[np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The missing cells of each row given its observed ones, and their uncertainty, as :meth:`Ensemble.impute`."""
    return ensemble(models, draws).impute(arrays)


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


def _log_joints(models, draw, arrays, keep):
    """Yield slices of the rows with their log joint densities in the clusters ``keep``."""
    predictive = Predictive(models, draw)
    for rows in chunks(len(arrays[0]), len(draw.sizes)):
        values = [model.values([a[rows] for a in arrays]) for model in models]
        yield rows, predictive.log_densities(values)[:, keep] + predictive.log_weights[keep]
