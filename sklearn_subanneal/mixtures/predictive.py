"""What the draws of mixtures say of rows that they have not seen: densities, assignments, samples, imputations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp

from sklearn_subanneal.columns.models import ColumnModel
from sklearn_subanneal.mixtures.chain import Draw

# Rows times clusters held at once in one float64 array: 16 MB.
CELLS_PER_CHUNK = 2_000_000


class Predictive:
    """The posterior predictive distribution of one draw: a finite mixture, with the new cluster as its last component.

    Parameters
    ----------
    models : list of ColumnModel
    draw : Draw
    """

    def __init__(self, models: list[ColumnModel], draw: Draw):
        self.models = models
        self.n_clusters = len(draw.sizes)
        self.columns = []
        for model, state in zip(models, draw.columns, strict=True):
            column = model.statistics(parameters=state["parameters"])
            column.set_state(state)
            self.columns.append(column)
        offset, base, slope = draw.weights
        weights = np.append(draw.sizes + offset, base + slope * self.n_clusters)
        self.log_weights = np.log(weights / weights.sum())

    def log_densities(self, values: list[np.ndarray]) -> np.ndarray:
        """Log density of each row in each cluster and in a new one, (n_rows, n_clusters + 1), in standard units.

        ``values`` has one array (n_rows, width) for each model, as :meth:`ColumnModel.values` makes them.
        """
        out = np.zeros((len(values[0]), self.n_clusters + 1))
        for column, cells in zip(self.columns, values, strict=True):
            out += column.log_densities(cells, self.n_clusters + 1)
        return out


def chunks(n_rows: int, n_clusters: int) -> Iterator[slice]:
    """Slices of the rows that keep arrays of (rows, clusters) small."""
    step = max(CELLS_PER_CHUNK // max(n_clusters, 1), 1)
    return (slice(at, min(at + step, n_rows)) for at in range(0, n_rows, step))


def score_rows(models: list[ColumnModel], draws: list[Draw], arrays: list[np.ndarray]) -> np.ndarray:
    """Log posterior predictive density of each row, averaged over draws, in the units of the data."""
    predictives = [Predictive(models, draw) for draw in draws]
    out = np.empty(len(arrays[0]))
    for rows in chunks(len(out), max(len(draw.sizes) for draw in draws)):
        values = [model.values([a[rows] for a in arrays]) for model in models]
        total = np.full(rows.stop - rows.start, -np.inf)
        for predictive in predictives:
            part = logsumexp(predictive.log_densities(values) + predictive.log_weights, axis=1)
            total = np.logaddexp(total, part)
        out[rows] = total + sum(m.log_jacobian(v) for m, v in zip(models, values, strict=True))
    return out - np.log(len(draws))


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


def sample_rows(
    models: list[ColumnModel], draws: list[Draw], n_rows: int, n_columns: int, generator: np.random.Generator
) -> list[np.ndarray]:
    """Rows drawn from the posterior predictive: a draw, its cluster (or a new one), the cells. Typed arrays."""
    out = [np.empty(0)] * n_columns
    values = [np.full((n_rows, len(model.sources)), np.nan) for model in models]
    chosen = generator.integers(len(draws), size=n_rows)
    for index in np.unique(chosen):
        rows = np.flatnonzero(chosen == index)
        predictive = Predictive(models, draws[index])
        clusters = generator.choice(predictive.n_clusters + 1, size=len(rows), p=np.exp(predictive.log_weights))
        for column, cells in zip(predictive.columns, values, strict=True):
            cells[rows] = column.draws(clusters.astype(np.int32), cells[rows], generator)
    for model, cells in zip(models, values, strict=True):
        for j, column in zip(model.sources, model.restore(cells).T, strict=True):
            out[j] = column.copy() if model.kind in ("real", "gaussian") else column.astype(np.int32)
    return out


def impute_rows(
    models: list[ColumnModel], draws: list[Draw], arrays: list[np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The missing cells of each row given its observed ones, and their uncertainty.

    Reals: posterior mean and standard deviation. Counts: mean, rounded, and standard deviation. Categories: the most
    probable one, and the probability that it is another. Observed cells stay, with uncertainty 0.

    Returns
    -------
    filled, uncertainty : lists of ndarray of shape (n_rows,)
    """
    filled = [np.array(a) for a in arrays]
    uncertainty = [np.zeros(len(arrays[0])) for _ in arrays]
    gaps = np.column_stack([np.isnan(a) if a.dtype.kind == "f" else a < 0 for a in arrays])
    holes = np.flatnonzero(gaps.any(axis=1))
    if not len(holes):
        return filled, uncertainty
    predictives = [Predictive(models, draw) for draw in draws]
    most = max(predictive.n_clusters + 1 for predictive in predictives)
    widest = max(len(model.sources) for model in models)
    for part in chunks(len(holes), most * widest):
        rows = holes[part]
        values = [model.values([a[rows] for a in arrays]) for model in models]
        for model, mean, spread in zip(models, *_moments(models, predictives, values), strict=True):
            for i, j in enumerate(model.sources):
                at = gaps[rows, j]
                filled[j][rows[at]] = mean[at, i]
                uncertainty[j][rows[at]] = spread[at, i]
    return filled, uncertainty


def _moments(models, predictives, values):
    """Imputed values and uncertainties of each model, (n_rows, width), under the mixture of all draws.

    A draw counts for a row by the density that it gives to the observed cells: so the imputed cells follow the
    conditional of the very density that :func:`score_rows` reports.
    """
    total = np.full((len(values[0]), 1), -np.inf)
    first = [0.0] * len(models)
    second = [0.0] * len(models)
    for predictive in predictives:
        log_joint = predictive.log_densities(values) + predictive.log_weights
        before, total = total, np.logaddexp(total, logsumexp(log_joint, axis=1, keepdims=True))
        kept, weights = np.exp(before - total), np.exp(log_joint - total)
        for m, (model, column) in enumerate(zip(models, predictive.columns, strict=True)):
            if model.kind in ("categorical", "boolean"):
                first[m] = kept * first[m] + weights @ column.probabilities(predictive.n_clusters + 1)
            else:
                mean, variance = column.conditional_moments(values[m], predictive.n_clusters + 1)
                first[m] = kept * first[m] + np.einsum("nk,nkj->nj", weights, mean)
                second[m] = kept * second[m] + np.einsum("nk,nkj->nj", weights, variance + mean**2)
    filled, spread = [], []
    for model, one, two in zip(models, first, second, strict=True):
        if model.kind in ("categorical", "boolean"):
            filled.append(one.argmax(axis=1)[:, None])
            spread.append(1.0 - one.max(axis=1)[:, None])
        else:
            mean = model.restore(one)
            filled.append(np.rint(mean) if model.kind == "count" else mean)
            spread.append(np.sqrt(np.maximum(two - one**2, 0.0)) * model.scale)
    return filled, spread
