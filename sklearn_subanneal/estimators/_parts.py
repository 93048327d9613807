"""Answers about columns of the user's table that are modelled by several columns, their parts, as about one column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sklearn_subanneal import posterior
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import Ensemble, missing
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.derived_cells import whole_cells
from sklearn_subanneal.tables.schema import Table
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.information import mutual_information, relatedness
from sklearn_subanneal.views.relatedness_matrix import relatedness_matrix
from sklearn_subanneal.views.seen_rows import SeenRows
from sklearn_subanneal.views.views_predictive import (
    ensemble_of_views,
    predict_column,
    score_seen_rows,
    surprisal,
    without,
)


def parts_of_columns(table: Table, columns: Sequence[int]) -> list[int]:
    """Indices of the parts of some columns."""
    places = table.places
    return list(dict.fromkeys(p for j in columns for p in places[j]))


def uncertainty_of_columns(table: Table, filled: list[np.ndarray], uncertainty: list[np.ndarray]) -> np.ndarray:
    """Uncertainty (n_rows, n_columns) of imputed cells from that of their parts: that of the first part.

    Of a function of another column, to first order.
    """
    out = []
    for j, (column, at) in enumerate(zip(table.columns, table.places, strict=True)):
        own = uncertainty[at[0]]
        if column.derivation is not None:
            source = whole_cells(table.modelled(j), [filled[p] for p in at])
            own = column.derivation.function.deviations(source, own)
        out.append(own)
    return np.column_stack(out)


def predicted_column(table: Table, average: Ensemble, arrays: list[np.ndarray], column: int) -> np.ndarray:
    """One column given the others: what :func:`predict_column` gives, or cells joined of their parts.

    A cell of which another column says the value has this value, or its code the probability 1.

    Parameters
    ----------
    table : Table
    average : Ensemble
    arrays : list of ndarray of shape (n_rows,)
        Typed cells, those of the column itself missing.
    column : int
    """
    own, at = table.modelled(column), table.places[column][: len(table.modelled(column).own_parts)]
    if own.split is None:
        values = predict_column(average, arrays, at[0])[0]
        known = np.flatnonzero(~is_missing(arrays[at[0]]))
        if values.ndim == 2:
            values[known] = np.eye(values.shape[1])[np.minimum(arrays[at[0]][known], values.shape[1] - 1)]
        else:
            values[known] = arrays[at[0]][known]
    else:
        filled, spreads = filled_parts(table, average, arrays, columns=at)
        made = is_missing(arrays[at[0]])
        values = own.split.join([filled[p] for p in at], made, [spreads[p] for p in at])
    if (derivation := table.columns[column].derivation) is None:
        return values
    if values.ndim == 2:
        return values[:, np.argsort(derivation.function.order)]
    return derivation.function.forward(values)


def filled_parts(
    table: Table,
    average: Ensemble,
    arrays: list[np.ndarray],
    seen: bool = False,
    columns: Sequence[int] | None = None,
    predicted: dict[int, np.ndarray] | None = None,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What :meth:`Ensemble.impute` gives, but such that the parts of a cell suit one another."""
    firsts = {
        at[0]: np.empty((len(arrays[0]), model.n_values))
        for column, at in zip(table.columns, table.places, strict=True)
        if column.split is not None and (model := average.model_at(at[0])[1]).discrete
    }
    filled, spreads = average.impute(arrays, seen, columns, firsts | (predicted or {}))
    for column, at in zip(table.columns, table.places, strict=True):
        if column.split is None or (columns is not None and at[0] not in columns):
            continue
        at = at[: len(column.split.parts)]
        rows = np.flatnonzero(is_missing(arrays[at[0]]))
        if not rows.size:
            continue

        def predict(part, known, at=at, rows=rows):
            if not known and at[part] in firsts:
                return firsts[at[part]][rows], spreads[at[part]][rows]
            cells = [array[rows] for array in arrays]
            for other, own in known.items():
                cells[at[other]] = own
            return average.predict(cells, at[part], seen, far=False, rows=rows)

        values, deviations = column.split.completed(
            [filled[p][rows] for p in at], [spreads[p][rows] for p in at], predict
        )
        for p, value, deviation in zip(at, values, deviations, strict=True):
            filled[p][rows], spreads[p][rows] = value, deviation
    return filled, spreads


def surprisal_of_columns(
    table: Table,
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    arrays: list[np.ndarray],
    seen: SeenRows | None = None,
    least: bool = False,
) -> np.ndarray:
    """-log p(all parts of a cell | the other cells of its row), as :func:`surprisal` gives it where there is one part.

    Returns
    -------
    surprisal : ndarray of shape (n_rows, n_columns)
        In nats; NaN where all parts are missing.
    """
    out = surprisal(models, draws, arrays, seen, least)
    places = table.places
    out = out[:, [at[0] for at in places]]
    if all(len(at) == 1 for at in places):
        return out

    as_new = seen is None and not least
    average = ensemble_of_views(models, draws) if as_new else None

    def score(cells):
        if as_new:
            return average.score(cells)
        return score_seen_rows(models, draws, seen, arrays, cells)

    whole = score(arrays)
    for j, at in enumerate(places):
        if len(at) > 1:
            out[:, j] = score(without(arrays, at)) - whole
            out[missing([arrays[p] for p in at]).all(axis=1), j] = np.nan
    return out


def dependence_of_columns(table: Table, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Share of the draws, by their weights, in which a part of one column is in the same view as a part of another.

    Parameters
    ----------
    table : Table
    labels : ndarray of int, shape (n_chains, n_draws, n_parts)
        View of each part in each draw.
    weights : ndarray of shape (n_chains, n_draws)

    Returns
    -------
    dependence : ndarray of shape (n_columns, n_columns)
    """
    n_parts, places = labels.shape[-1], table.places
    if all(at == [j] for j, at in enumerate(places)):
        return posterior.co_clustering(labels, max_rows=n_parts, weights=weights)
    owner, part = np.repeat(np.arange(len(places)), [len(at) for at in places]), np.concatenate(places)
    together, always = np.zeros((len(places), len(places))), 0.0
    for views, weight in zip(labels.reshape(-1, n_parts), weights.ravel(), strict=True):
        holds = np.zeros((len(places), int(views.max()) + 1))
        holds[owner, views[part]] = 1.0
        together += weight * (holds @ holds.T > 0.0)
        always += weight
    return together / always


def relatedness_of_columns(
    table: Table,
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    columns: Sequence[int],
    *,
    n_samples: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """Relatedness of all pairs of columns, (n_columns, n_columns).

    Columns of one part share their samples; each pair with a column of several parts has its own.
    """
    groups = [table.places[j] for j in columns]
    single = [i for i, group in enumerate(groups) if len(group) == 1]
    related = np.eye(len(groups))
    if single:
        # Columns that are functions of one another have the same part.
        own, at = np.unique([groups[i][0] for i in single], return_inverse=True)
        found = relatedness_matrix(models, draws, own, n_samples=n_samples, generator=generator)
        related[np.ix_(single, single)] = found[np.ix_(at, at)]
    for i, k in combinations(range(len(groups)), 2):
        if groups[i][0] == groups[k][0]:
            related[i, k] = related[k, i] = 1.0
        elif len(groups[i]) > 1 or len(groups[k]) > 1:
            pair = groups[i], groups[k]
            found = relatedness(mutual_information(models, draws, *pair, n_samples=n_samples, generator=generator))
            related[i, k] = related[k, i] = found.value
    return related
