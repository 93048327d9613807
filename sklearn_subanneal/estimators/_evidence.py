"""Checks of the arguments of queries: column names as indices, and `given=` (values to condition on) as typed cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral

import numpy as np
from sklearn.utils import assert_all_finite

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.tables.cells import object_cells
from sklearn_subanneal.tables.column import ABSENT, PRESENT, UNKNOWN, Column
from sklearn_subanneal.tables.derived_cells import united_cells
from sklearn_subanneal.tables.schema import Table

# Names that an error message lists at most: those most similar to the requested one.
MOST_NAMES = 10
# Of rarer events the tails of a model say nothing, and its quantiles need not be finite numbers.
LEAST_LEVEL = 1e-12


def column_index(table: Table, parameter: str, column) -> int:
    """Index of a column that ``parameter`` gives by name or index (the name wins).

    Raises
    ------
    ValueError
        If there is no such column.
    """
    if isinstance(column, str) and column in table.names:
        return table.names.index(column)
    if isinstance(column, Integral) and not isinstance(column, bool) and 0 <= column < len(table.columns):
        return int(column)
    names = table.names
    if len(names) > MOST_NAMES:
        names = get_close_matches(str(column), names, MOST_NAMES, cutoff=0.0)
    listed = ", ".join(map(repr, names)) + ", ..." * (len(names) < len(table.names))
    raise ValueError(
        f"{parameter} names the unknown column {column!r}. Columns are {listed}, or the indices 0 to "
        f"{len(table.columns) - 1}."
    )


def column_indices(table: Table, parameter: str, columns) -> list[int]:
    """Indices of the column, or of the several, that ``parameter`` gives.

    Raises
    ------
    ValueError
        If there is none, one that the table does not have, or one twice.
    """
    if isinstance(columns, np.ndarray):
        columns = columns.ravel().tolist()
    if isinstance(columns, str | Integral) or not isinstance(columns, Iterable):
        columns = [columns]
    indices = [column_index(table, parameter, column) for column in columns]
    if not indices:
        raise ValueError(f"{parameter} must have at least one column, got {columns!r}; name one.")
    if len(set(indices)) < len(indices):
        raise ValueError(f"{parameter} names a column twice, got {columns!r}; name each once.")
    return indices


def typed_cell(column: Column, value) -> list[np.ndarray]:
    """A value of a column as the typed cells of its parts, shape (1,) each; None, NaN and NA are unknown.

    Raises
    ------
    ValueError
        If the value is outside the column's domain.
    """
    cell = object_cells(column.name, "object", [value])
    assert_all_finite(cell.floats(), allow_nan=True, input_name=f"given for column {column.name!r}")
    arrays, unknown = column.encode(cell)
    if unknown and column.categories is None:
        raise ValueError(
            f"given has {value!r} for column {column.name!r}, which is {column.type.kind}: {column.type.remedy}, or "
            "leave the column out."
        )
    if unknown:
        some = ", ".join(map(repr, column.categories[:10].tolist())) + ", ..." * (len(column.categories) > 10)
        raise ValueError(
            f"given has {value!r} for column {column.name!r}, a category that fit did not see; give one of {some}, "
            "or leave the column out."
        )
    return _unknown_where_missing(column, arrays)


def _unknown_where_missing(column: Column, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """In evidence, a cell that is missing is unknown: it may be missing or not."""
    if column.indicator is None:
        return arrays
    return [*arrays[:-1], _unknown_where_absent(arrays[-1])]


def _unknown_where_absent(indicator: np.ndarray) -> np.ndarray:
    return np.where(indicator == ABSENT, UNKNOWN, indicator).astype(indicator.dtype)


def _consistent(table: Table, typed: list[list[np.ndarray]]) -> list[np.ndarray]:
    """The typed cells of the parts, of evidence whose columns were typed one by one."""
    arrays, contradictions = united_cells(table.columns, typed)
    if contradictions:
        listed = "; ".join(text for text, _ in contradictions.values())
        raise ValueError(
            f"given contradicts functions that columns were of one another in fit: {listed}. Leave one of the two out."
        )
    return arrays


def evidence(estimator, table: Table, given, n_rows: int) -> list[np.ndarray]:
    """Evidence as typed columns of one row, or of ``n_rows``.

    Parameters
    ----------
    estimator : estimator
        The estimator whose ``fit`` read the table.
    table : Table
    given : dict, or array-like or DataFrame of shape (1, n_features) or (n_rows, n_features)
        A dict from names or indices to values, or a table that is missing where nothing is given.
    n_rows : int

    Raises
    ------
    ValueError
        If it names an unknown column, or one twice; holds values outside a column's domain; or has another number of
        rows.
    """
    if isinstance(given, Mapping):
        values = {}
        for key, value in given.items():
            j = column_index(table, "given", key)
            if j in values:
                raise ValueError(f"given names the column {table.names[j]!r} twice; keep one of the two.")
            values[j] = value
        typed = [typed_cell(column, values.get(j)) for j, column in enumerate(table.columns)]
        return _consistent(table, typed)
    try:
        arrays = table.encode(estimator, given, unseen="error")
    except ValueError as error:
        # The remedy in this message is for rows that are scored; it does not apply to evidence.
        problem = str(error).partition(" Fit on data")[0].replace("X holds", "given holds")
        raise ValueError(f"{problem} Evidence must be as the data of fit were; leave unknown cells missing.") from error
    if len(arrays[0]) not in (1, n_rows):
        rows = "one row" if n_rows == 1 else f"one row, or one for each of the {n_rows} of X"
        raise ValueError(f"given must have {rows}, got {len(arrays[0])}.")
    for column, at in zip(table.columns, table.places, strict=True):
        if column.indicator is not None:
            arrays[at[-1]] = _unknown_where_absent(arrays[at[-1]])
    return arrays


def unknown_where_given(table: Table, arrays: list[np.ndarray], given: list[np.ndarray]) -> list[np.ndarray]:
    """Rows in which a cell is not missing, but unknown, if the evidence has its value."""
    out = list(arrays)
    for column, at in zip(table.columns, table.places, strict=True):
        if column.indicator is not None:
            is_free = (arrays[at[-1]] == ABSENT) & (given[at[-1]] == PRESENT)
            out[at[-1]] = np.where(is_free, UNKNOWN, arrays[at[-1]]).astype(arrays[at[-1]].dtype)
    return out


def checked_quantiles(quantiles) -> np.ndarray:
    """Probabilities between 0 and 1, both excluded, as an array.

    Raises
    ------
    ValueError
        If they are no list of such numbers.
    """
    try:
        levels = np.asarray(quantiles, np.float64)
    except (TypeError, ValueError, OverflowError):
        levels = np.empty(0)
    if levels.ndim != 1 or not levels.size or not (np.minimum(levels, 1.0 - levels) >= LEAST_LEVEL).all():
        raise ValueError(
            "quantiles must be a list of probabilities between 0 and 1, both excluded, and at least "
            f"{LEAST_LEVEL:g} from both, got "
            f"{shortened(quantiles)}; for the median alone give [0.5]"
        )
    return levels


def refuse_common(table: Table, groups: dict[str, list[int]]):
    """Refuse a column in two of the groups."""
    owner: dict[int, str] = {}
    for parameter, columns in groups.items():
        for j in columns:
            if j in owner:
                raise ValueError(
                    f"{parameter} has the column {table.names[j]!r}, which {owner[j]} has as well; name it in one of "
                    "them only."
                )
            owner[j] = parameter
    of_part: dict[int, int] = {}
    for j, parameter in owner.items():
        if owner[other := of_part.setdefault(table.places[j][0], j)] != parameter:
            raise ValueError(
                f"{parameter} has the column {table.names[j]!r}, which is a function of {table.names[other]!r}, the "
                f"one of {owner[other]}: their information has no limit. Name one of them."
            )


def checked_view(view, n_views: int) -> int:
    """A view of the draw that represents the posterior; raises ValueError if there is none of this number."""
    if not isinstance(view, Integral) or isinstance(view, bool) or not 0 <= view < n_views:
        raise ValueError(f"view must be an integer from 0 to {n_views - 1}, got {view!r}")
    return int(view)


def as_evidence(unseen: str) -> str:
    """How a category that `fit` did not see is treated in a row that is evidence for its clusters and other cells.

    All that the unseen value says of a cluster is how many rows and categories it has: nothing about the category.
    """
    return "missing" if unseen == "novel" else unseen
