"""Typed columns whose missing cells were filled, as tables of the user, in which all observed cells are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_subanneal.estimators._parts import uncertainty_of_columns
from sklearn_subanneal.mixtures.ensemble import missing
from sklearn_subanneal.mixtures.limited_rows import with_whole_cells
from sklearn_subanneal.tables.long_integers import may_be_long
from sklearn_subanneal.tables.unmodelled_cells import UnmodelledCells


def unmodelled_cells(estimator, X, gaps: np.ndarray) -> UnmodelledCells:
    """The observed cells of X that count as missing, or are rounded, where it is imputed, and that stay all the same.

    With ``unseen="missing"`` the user takes those that count as missing for such, and they do not stay.

    Parameters
    ----------
    estimator : CrossCat or mixture
        Fitted.
    X : array-like or DataFrame of n_rows rows
    gaps : ndarray of bool, shape (n_rows, any)
        Which cells, of columns or of their parts, count as missing.
    """
    table = estimator._table
    # Cells of functions of other columns are in no part.
    may_be = gaps.any() or any(column.derivation is not None for column in table.columns)
    only_long = estimator.unseen == "missing" or not may_be
    if only_long and not any(map(may_be_long, table.columns)):
        return UnmodelledCells.none(table, len(gaps))
    return UnmodelledCells.of(table, estimator, X, only_long)


def filled_tables(estimator, X, arrays: Sequence[np.ndarray], filled: Sequence[Sequence[np.ndarray]]) -> list:
    """The tables of the user from typed columns whose missing cells were drawn, several times.

    In columns of whole numbers they are rounded, as those of `limited_rows` are.

    Parameters
    ----------
    estimator : CrossCat or mixture
    X : array-like or DataFrame of n_rows rows
    arrays : list of ndarray of shape (n_rows,)
        Its typed columns.
    filled : sequence of list of ndarray of shape (n_rows,)
        Those of each table.
    """
    made = missing(arrays)
    kept = unmodelled_cells(estimator, X, made)
    whole = (with_whole_cells(estimator._models, own, made) for own in filled)
    return [kept.put(estimator._table.decode(own, like=X, made=made)) for own in whole]


def filled_table(estimator, X, arrays, filled, spreads, return_uncertainty: bool):
    """The table of the user from typed columns whose missing cells were filled, perhaps with their uncertainty.

    Parameters
    ----------
    estimator, X, arrays
        As of :func:`filled_tables`.
    filled, spreads : list of ndarray of shape (n_rows,)
        Typed columns, and their uncertainty.
    return_uncertainty : bool
        Whether to return, besides the table, its uncertainty (n_rows, n_columns).
    """
    table, made = estimator._table, missing(arrays)
    kept = unmodelled_cells(estimator, X, made)
    out = kept.put(table.decode(filled, like=X, made=made, spreads=spreads))
    if not return_uncertainty:
        return out
    return out, np.where(kept.rows, 0.0, uncertainty_of_columns(table, filled, spreads))
