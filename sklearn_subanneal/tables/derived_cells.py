"""Cells of columns that are functions of other columns: they fill gaps of these, and are made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.table_cells import column_cells


def united_cells(columns: Sequence[Column], encoded: list[list[np.ndarray]]) -> tuple[list[np.ndarray], dict]:
    """The typed cells of all parts, of columns that were typed one by one.

    A missing cell of a source has the value that a derived column says. Where both have one, and they contradict each
    other, the derived cell counts as missing, and so does one of which the function is no value.

    Parameters
    ----------
    columns : sequence of Column
    encoded : list of list of ndarray of shape (n_rows,)
        Of each column the typed cells of its parts; of a derived one those of the column, and its indicator's.

    Returns
    -------
    arrays : list of ndarray of shape (n_rows,)
    contradictions : dict of int to (str, ndarray of bool)
        Derived columns with such cells: an example, and the rows.
    """
    contradictions = {}
    for j, (column, own) in enumerate(zip(columns, encoded, strict=True)):
        if column.derivation is None:
            continue
        at, function = column.derivation.source, column.derivation.function
        source, cells = columns[at], whole_cells(columns[at], encoded[at])
        known, gaps = ~is_missing(own[0]), is_missing(cells)
        wrong = known & ~gaps
        wrong[wrong] = ~function.agrees(cells[wrong], own[0][wrong])
        if (known & gaps).any():
            partners = function.backward(own[0])
            filled = np.where(known & gaps & function.agrees(partners, own[0]), partners, cells).astype(cells.dtype)
            parts = separated_cells(source, filled)
            encoded[at] = [*parts, *encoded[at][len(parts) :]]
            # Some values have no partner.
            wrong |= known & gaps & is_missing(parts[0])
        if wrong.any():
            contradictions[j] = _contradiction(column, source, own[0], cells, int(wrong.argmax())), wrong
    arrays = [
        part for column, own in zip(columns, encoded, strict=True) for part in own[column.derivation is not None :]
    ]
    return arrays, contradictions


def nothing_like(cells: np.ndarray) -> np.ndarray:
    """Typed cells that are all missing."""
    return np.full_like(cells, np.nan if cells.dtype.kind == "f" else -1)


def whole_cells(column: Column, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The typed cells of a column whose parts no model has made."""
    return arrays[0] if column.split is None else column.split.join(list(arrays[: len(column.own_parts)]), None, None)


def separated_cells(source: Column, cells: np.ndarray) -> list[np.ndarray]:
    """The typed cells of the parts of a source; those that it can't have are missing."""
    if source.categories is not None and (source.type.ordered or not source.type.coded):
        # There is no place in the order for a category that fit did not see.
        cells = np.where(cells < len(source.categories), cells, -1).astype(cells.dtype)
    parts = [cells] if source.split is None else source.split.separated(cells)
    return source.within_domain(parts)[0]


def derived_cells(column: Column, j: int, source: np.ndarray, like) -> np.ndarray:
    """The typed cells of a derived column: those of a table where they agree with the source, else of the source.

    Parameters
    ----------
    column : Column
    j : int
        Its index.
    source : ndarray of shape (n_rows,)
        Typed cells of its source.
    like : array-like or DataFrame of n_rows rows, or None
        The table of which the cells of the source are a completion.
    """
    function = column.derivation.function
    cells = function.forward(source)
    if like is None:
        return cells
    own = column.encode(column_cells(like, j, column.name))[0][0]
    given = ~is_missing(own) & ~is_missing(source)
    given[given] = function.agrees(source[given], own[given])
    return np.where(given, own, cells)


def _contradiction(column: Column, source: Column, own: np.ndarray, cells: np.ndarray, row: int) -> str:
    """What is wrong in a row, for messages."""
    value = _shown(column, own[row])
    if is_missing(cells)[row]:
        return f"{value} in column {column.name!r}, which is no value of the function of {source.name!r}"
    return f"{value} in column {column.name!r} where {source.name!r} is {_shown(source, cells[row])}"


def _shown(column: Column, cell):
    if column.categories is None:
        return cell.item()
    return "a new value" if cell >= len(column.categories) else column.categories[cell]
