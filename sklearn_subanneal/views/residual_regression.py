"""ResidualRegression: what other columns say of a number beyond the model, a ridge regression on its errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np
from sklearn.linear_model import RidgeCV

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.transforms import Transform
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.each_column import predict_each_column
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.views_predictive import left_out, without

# The types of columns whose predictions are corrected: numbers, but neither those with atoms nor angles.
NUMBERS = ("real", "skewed", "count")
# Penalties, for regressors in standard deviations: the largest one leaves nothing.
PENALTIES = np.geomspace(0.1, 1e6, 22)
# An error counts as at most so many of the standard deviations that the model gives to it.
MOST_DEVIATIONS = 5.0
# The errors are those of at most so many draws, and so many rows, fewer if so many columns are predicted that all rows
# are more. With fewer rows nothing is learned.
MOST_DRAWS, MOST_ROWS, MOST_ROWS_OF_ALL, FEWEST_ROWS = 8, 1000, 60_000, 20
# A category is a regressor if so many rows have it, and at most so many categories of a column are.
FEWEST_OF_CATEGORY, MOST_CATEGORIES = 5, 50


@dataclass(frozen=True, eq=False)
class Regressors:
    """The columns of a table as regressors, in standard deviations.

    Numbers are in the units of their models, after a transformation of skewed ones; levels are their numbers, angles
    their cosine and sine, and categories are dummies.

    Attributes
    ----------
    models : list of ColumnModel
    codes : dict of int to ndarray
        The categories that are dummies, for each column of categories.
    owners : ndarray of int, shape (n_regressors,)
        The column of each.
    center, scale : ndarray of shape (n_regressors,)
    """

    models: list[ColumnModel]
    codes: dict[int, np.ndarray]
    owners: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, models: list[ColumnModel], arrays: list[np.ndarray]) -> Regressors:
        """Those of complete typed columns."""
        codes = {
            j: np.sort(_frequent(arrays[j])) for j, model in enumerate(models) if model.discrete and not model.ordered
        }
        columns = [_columns(model, arrays, codes.get(j)) for j, model in enumerate(models)]
        owners = np.repeat(np.arange(len(models)), [own.shape[1] for own in columns])
        values = np.hstack(columns)
        scale = values.std(axis=0)
        return cls(models, codes, owners, values.mean(axis=0), np.where(scale > 0.0, scale, np.inf))

    def values(self, arrays: list[np.ndarray]) -> np.ndarray:
        """Of complete rows, (n_rows, n_regressors)."""
        columns = [_columns(model, arrays, self.codes.get(j)) for j, model in enumerate(self.models)]
        return (np.hstack(columns) - self.center) / self.scale


@dataclass(frozen=True, eq=False)
class ResidualRegression:
    """A ridge regression of the errors of the model's predictions of a column on the other columns.

    In a cross-categorization, a column depends within its clusters on columns of its own view alone, and on those that
    are no reals only by the clusters. What the others say beyond that is in the errors by which training rows are
    predicted, each by the other rows: a stacked regression (Wolpert, 1992) of the model and a linear one. The errors
    are in units of the standard deviations that the model gives with its predictions: one that it is sure of stays. The
    penalty is chosen by leave-one-out.

    Attributes
    ----------
    column : int
    coefficients : ndarray of shape (n_regressors,)
        In standard deviations of the prediction; 0 for regressors made of the column itself.
    intercept : float
    most : float
        A prediction is changed by at most so many standard deviations, as in the training rows.
    low, high : float
        The range of the training cells, after the transformation of a skewed column.
    remaining : float
        Which part of the standard deviations is left.

    References
    ----------
    D. H. Wolpert (1992), Stacked generalization, Neural Networks 5, 241-259.
    """

    column: int
    coefficients: np.ndarray
    intercept: float
    most: float
    low: float
    high: float
    remaining: float

    def corrected(
        self, model: ColumnModel, predicted: np.ndarray, deviation: np.ndarray, regressors: np.ndarray
    ) -> np.ndarray:
        """Cells in place of those that the model predicted, with their standard deviations, all (n_rows,)."""
        transform = _transform(model)
        u, unit = _transformed(transform, predicted, deviation)
        added = unit * np.clip(self.intercept + regressors @ self.coefficients, -self.most, self.most)
        # What is beyond the range already comes no further.
        u = np.clip(u + added, np.minimum(self.low, u), np.maximum(self.high, u))
        return model.imputed(transform.inverse(u)[:, None], None)[:, 0]


def learned_regressions(
    models: list[ColumnModel], draws: list[ViewsDraw], rows: LeftOutRows, columns: Iterable[int], until: float = inf
) -> tuple[Regressors | None, list[ResidualRegression]]:
    """The regressions of columns of numbers, from training rows.

    Parameters
    ----------
    models : list of ColumnModel
        One for each column of the table.
    draws : list of ViewsDraw
        All draws, by which ``rows.seen`` has its labels.
    rows : LeftOutRows
        Training rows, evenly spaced.
    columns : iterable of int
        Those to be predicted.
    until : float, default=inf
        From this time on, of the ``clock`` of chains, no further regression is begun. Those of columns that miss most
        cells come first.

    Returns
    -------
    regressors : Regressors or None
        None: no column is predicted.
    regressions : list of ResidualRegression
        Of those columns whose errors the others tell.
    """
    columns = [j for j in columns if models[j].kind in NUMBERS]
    if not columns or clock.now() >= until:
        return None, []
    columns.sort(key=lambda j: -np.count_nonzero(is_missing(rows.arrays[j])))
    rows = rows.some(max(min(MOST_ROWS, MOST_ROWS_OF_ALL // len(columns)), FEWEST_ROWS))
    some = np.unique(np.linspace(0, len(draws) - 1, MOST_DRAWS).astype(int))
    average = left_out(models, [draws[s] for s in some], rows.seen.of_draws(some), rows.arrays)
    filled, _ = average.impute(rows.arrays, seen=True)
    regressors = Regressors.of(models, filled)
    values, regressions = regressors.values(filled), []
    predictions = predict_each_column(average, rows.arrays, [j for j in columns if not models[j].joint])
    for j in columns:
        if clock.now() >= until:
            break
        known = np.flatnonzero(~is_missing(rows.arrays[j]))
        if len(known) < FEWEST_ROWS:
            continue
        if j in predictions:
            predicted, deviation = predictions[j]
        else:
            predicted, deviation = average.predict(without(rows.arrays, [j]), j, seen=True, far=False)
        found = _regression(
            j,
            _transform(models[j]),
            (predicted[known], deviation[known]),
            rows.arrays[j][known],
            values[known] * (regressors.owners != j),
            rows.counts[known],
        )
        if found is not None:
            regressions.append(found)
    return regressors, sorted(regressions, key=lambda regression: regression.column)


def _regression(column, transform, prediction, cells, regressors, counts) -> ResidualRegression | None:
    """None: there is nothing to tell."""
    u, unit = _transformed(transform, *prediction)
    truth = transform.forward(cells.astype(float))
    known = unit > 0.0
    if np.count_nonzero(known) < FEWEST_ROWS:
        return None
    errors = np.clip((truth - u)[known] / unit[known], -MOST_DEVIATIONS, MOST_DEVIATIONS)
    if not errors.any():
        return None
    # With weights of mean 1, minus the score is the mean square of the errors of rows that are left out.
    X, weights = regressors[known], counts[known] / np.mean(counts[known])
    # By the singular values, which is the fastest way where there are more rows than regressors.
    ridge = RidgeCV(PENALTIES, gcv_mode="svd" if len(X) > X.shape[1] else None).fit(X, errors, sample_weight=weights)
    remaining = np.sqrt(max(-ridge.best_score_, 0.0) / np.average(errors**2, weights=weights))
    if remaining >= 1.0 or ridge.alpha_ == PENALTIES[-1]:
        return None
    most = float(np.abs(ridge.predict(X)).max())
    return ResidualRegression(
        column,
        ridge.coef_,
        float(ridge.intercept_),
        most,
        float(truth.min()),
        float(truth.max()),
        float(remaining),
    )


def _transform(model: ColumnModel) -> Transform:
    """That of a skewed column, without what spreads numbers that repeat."""
    return getattr(model.transform, "base", model.transform)


def _transformed(transform, predicted, deviation):
    """Predictions, transformed, and how far a standard deviation goes there: up or down, whichever is less.

    Where the deviation is many times the prediction, as of amounts that may be in thousands or in billions, the slope
    of a logarithm at the prediction says nothing of that.
    """
    u = transform.forward(predicted)
    if transform.name == Transform.name:
        return u, deviation
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        up, down = transform.forward(predicted + deviation) - u, u - transform.forward(predicted - deviation)
    # A logarithm has no values below its domain.
    unit = np.fmin(up, np.where(np.isfinite(down), down, np.inf))
    return u, np.where(np.isfinite(unit), unit, 0.0)


def _columns(model, arrays, codes):
    cells = arrays[model.sources[0]]
    if codes is not None:
        return (cells[:, None] == codes).astype(float)
    if model.largest is None:
        # An atom is none of the numbers beside it, of which there may be a logarithm.
        arrays = [*arrays[: model.sources[0]], np.where(cells > model.transform.lowest, cells, np.nan)]
    values = model.values(arrays)
    if model.kind == "cyclic":
        return np.hstack([np.cos(values), np.sin(values)])
    return np.nan_to_num(values)


def _frequent(codes):
    found, counts = np.unique(codes[codes >= 0], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    return found[order[counts[order] >= FEWEST_OF_CATEGORY]]
