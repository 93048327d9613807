"""Log densities of rows (also given cells, or leave-one-out), predictions of a column, surprisal of cells, by draws."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sklearn_subanneal._core.log_space import log_mean_exp, log_sum_exp
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.ensemble import Ensemble, missing
from sklearn_subanneal.mixtures.leave_one_out import LeaveOneOut
from sklearn_subanneal.mixtures.predictive import Predictive
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows

# exp(-LOWEST) times a share that has underflowed is still nothing.
LOWEST = -600.0


def ensemble_of_views(models: list[ColumnModel], draws: list[ViewsDraw], rare_share: float = 0.0) -> Ensemble:
    """The average over the draws, by their weights; in each, the views are independent mixtures.

    Parameters
    ----------
    models : list of ColumnModel
        One for each column of the table.
    draws : list of ViewsDraw
    rare_share : float, default=0.0
        The smallest clusters of each view get no probability, in all views together at most this share of the rows.
    """
    return Ensemble(
        models,
        [
            [
                Predictive(models, view, draw.members(v), None, rare_share / len(draw.views))
                for v, view in enumerate(draw.views)
            ]
            for draw in draws
        ],
        np.array([draw.weight for draw in draws]),
    )


def left_out(
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    seen: SeenRows,
    arrays: list[np.ndarray],
    rare_share: float = 0.0,
) -> Ensemble:
    """The leave-one-out average over the draws, in which each training row is predicted from the other rows.

    Parameters
    ----------
    models : list of ColumnModel
    draws : list of ViewsDraw
    seen : SeenRows
        The rows in each draw.
    arrays : list of ndarray of shape (n_rows,)
        Typed columns of these rows: the cells to be scored.
    rare_share : float, default=0.0
        The smallest clusters of each view get no probability, in all views together at most this share of the rows.
    """
    data = [model.data(arrays) for model in models]
    return Ensemble(
        models,
        [
            [
                LeaveOneOut(models, view, draw.members(v), data, own[v], filled, rare_share / len(draw.views))
                for v, view in enumerate(draw.views)
            ]
            for draw, own, filled in zip(draws, seen.labels, map(seen.completed, draws), strict=True)
        ],
        np.array([draw.weight for draw in draws]),
        left_out=True,
    )


def score_seen_rows(
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    seen: SeenRows | None,
    arrays: list[np.ndarray],
    asked: list[np.ndarray],
) -> np.ndarray:
    """Log density of some cells of each row that the draws have seen, given all other rows, in the units of the data.

    The draws, with their weights, are of the posterior given all rows. Weighted also by 1 / p(row | the draw without
    it) they are of the posterior given the others, so this is exact in the limit of many draws: a harmonic mean, the
    conditional predictive ordinate.

    Parameters
    ----------
    models, draws, seen, arrays
        See :func:`left_out`. Without ``seen`` the rows are new ones, of which the draws are judged as of seen ones.
    asked : list of ndarray of shape (n_rows,)
        The same cells, those that are not asked about missing.

    Returns
    -------
    log_density : ndarray of shape (n_rows,)

    References
    ----------
    A. E. Gelfand, D. K. Dey, H. Chang (1992), Model determination using predictive distributions with implementation
    via sampling-based methods, Bayesian Statistics 4, 147-167.
    """
    whole, part = (
        ensemble_of_views(models, draws) if seen is None else left_out(models, draws, seen, cells)
        for cells in (arrays, asked)
    )
    out = np.empty(len(arrays[0]))
    for rows, cells in whole.cells(arrays, whole.most_clusters):
        some = DistinctRows.of(models, [a[rows] for a in asked], cells.rows)
        weights = whole.log_weights[:, None] - whole.log_densities(cells)
        out[rows] = log_mean_exp(weights + part.log_densities(some), axis=0) - log_mean_exp(weights, axis=0)
        out[rows] += sum(part.log_jacobians(some))
    return out


def united(models: list[ColumnModel], arrays: list[np.ndarray], given: list[np.ndarray]) -> list[np.ndarray]:
    """The rows with the evidence, (n_rows,) each; refused where the two differ."""
    own, evident = missing(arrays), missing(given)
    out = []
    for j, (cells, evidence) in enumerate(zip(arrays, given, strict=True)):
        contradictory = ~own[:, j] & ~evident[:, j] & (cells != evidence)
        if contradictory.any():
            row = contradictory.argmax()
            raise ValueError(
                f"The evidence is contradictory: column {models[j].name!r} is given, and row {row} of X has another "
                "value of it. Leave the cell out of X (NaN) or out of given."
            )
        out.append(np.where(evident[:, j], cells, evidence))
    return out


def without(arrays: list[np.ndarray], columns: Iterable[int]) -> list[np.ndarray]:
    """Typed columns, of which some have all cells missing."""
    nothing = {j: np.full_like(arrays[j], np.nan if arrays[j].dtype.kind == "f" else -1) for j in columns}
    return [nothing.get(j, a) for j, a in enumerate(arrays)]


def predict_column(average: Ensemble, arrays: list[np.ndarray], column: int) -> tuple[np.ndarray, np.ndarray]:
    """One column given the others.

    Parameters
    ----------
    average : Ensemble
    arrays : list of ndarray of shape (n_rows,)
        Typed columns. The cells of the column itself are ignored.
    column : int

    Returns
    -------
    values, uncertainty : ndarray
        As of :meth:`Ensemble.predict`.
    """
    return average.predict(without(arrays, [column]), column, far=True)


def surprisal(
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    arrays: list[np.ndarray],
    seen: SeenRows | None = None,
    least: bool = False,
) -> np.ndarray:
    """-log p(cell | the other observed cells of its row), in the units of the data.

    Both p(row) and p(row without the cell) are averaged over draws before their ratio is taken; of training rows with
    the weights 1 / p(row), which is the average of 1 / p(cell | others).

    Parameters
    ----------
    models : list of ColumnModel
    draws : list of ViewsDraw
    arrays : list of ndarray of shape (n_rows,)
    seen : SeenRows or None, default=None
        For training rows, as :func:`left_out` takes them.
    least : bool, default=False
        Average over draws for new rows as for training rows, so that both can be compared even if chains differ.

    Returns
    -------
    surprisal : ndarray of shape (n_rows, n_columns)
        In nats; NaN where the cell is missing.
    """
    average = ensemble_of_views(models, draws) if seen is None else left_out(models, draws, seen, arrays)
    out = np.empty((len(arrays[0]), len(models)))
    for rows, cells in average.cells(arrays, average.most_terms * average.widest):
        whole, without = np.full(1, -np.inf), np.full((cells.n_rows, len(models)), -np.inf)
        for factors, log_weight in zip(average.products, average.log_weights, strict=True):
            joints = [factor.log_joint(cells) for factor in factors]
            parts = [log_sum_exp(joint) for joint in joints]
            # For training rows, the weight of a draw is also 1 / p(row), as in ``score_seen_rows``.
            log_density = log_weight + (sum(parts) if seen is None and not least else 0.0)
            whole = np.logaddexp(whole, log_density)
            for factor, joint, part in zip(factors, joints, parts, strict=True):
                shares = np.exp(joint - part[:, None])
                for m, own, places in factor.scored_alone(cells):
                    at = slice(None) if places is None else places
                    if own.min() > LOWEST:
                        # One exponential for each distinct value, not for each row.
                        rest = np.log((shares * np.exp(-own)[at]).sum(axis=1))
                    else:
                        rest = log_sum_exp(joint - own[at]) - part
                    without[:, m] = np.logaddexp(without[:, m], log_density + rest)
        out[rows] = without - whole[:, None]
        for m, jacobian in enumerate(average.log_jacobians(cells)):
            out[rows, m] -= jacobian
    out[missing(arrays)] = np.nan
    return out
