"""Why a row is odd: its cells in the order of their odds of being errors, each with what its row makes expected."""

from __future__ import annotations

from contextlib import nullcontext
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from sklearn_subanneal.columns.column_model import LARGEST_CELL
from sklearn_subanneal.estimators import _parts
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.date_dtypes import with_zone
from sklearn_subanneal.tables.derived_cells import whole_cells
from sklearn_subanneal.views.views_predictive import left_out, without

# Standard deviations between the expected value and the ends of its interval, for a coverage of 95 %.
HALF_WIDTH = 1.96
MICROSECONDS_A_DAY = 86_400_000_000.0


class CellReason(NamedTuple):
    """One odd cell.

    Attributes
    ----------
    row : int
    column : str
    value : object
        What is in the cell.
    expected : object
        What the other cells of the row let expect: the mean, or the most probable category.
    low, high : object
        The interval in which a number or a date would be expected, mean plus and minus 1.96 standard deviations; None
        for a category. Dates are in the time zone of their column, if it has one.
    surprisal : float
        -log p(cell | the other cells of its row), in nats and the units of the data; infinite if the column can't have
        such a value.
    excess : float
        How much more probable the cell is as an error, a cell of another row or any value of the column, than given
        the other cells of its row, in nats. 0: as probable.
    """

    row: int
    column: str
    value: Any
    expected: Any
    low: Any
    high: Any
    surprisal: float
    excess: float


def reasons_of_cells(model, X, arrays, known, rows, columns, surprisal, excess) -> list[CellReason]:
    """A :class:`CellReason` for each of some cells.

    Parameters
    ----------
    model : CrossCat
    X : array-like or DataFrame
        The table with the rows.
    arrays : list of ndarray of shape (n_rows,)
        Its typed columns.
    known : TrainingRowIndex
        Of the training rows, each of which is predicted by the others.
    rows, columns : ndarray of int, shape (n_cells,)
    surprisal, excess : ndarray of shape (n_cells,)

    Returns
    -------
    reasons : list of CellReason
        In the order of the cells.
    """
    found: list = [None] * len(rows)
    columns, exact = _named(model, X, rows, columns), np.isinf(surprisal)
    is_new = known.places([array[rows] for array in arrays]) < 0
    for j in np.unique(columns):
        at = np.flatnonzero(columns == j)
        if model._table.columns[j].derivation is not None:
            # A source that is missing says nothing: the other cells of the row do.
            exact[at] &= ~is_missing(arrays[model._table.places[j][0]][rows[at]])
        groups = [at[(is_new[at] == new) & (exact[at] == sure)] for new in (True, False) for sure in (True, False)]
        for cells in groups:
            if not cells.size:
                continue
            seen = None if is_new[cells[0]] else known
            expected = _expected(model, [array[rows[cells]] for array in arrays], j, seen, exact[cells[0]])
            for cell, (value, low, high) in zip(cells, expected, strict=True):
                own, odd = _cell(X, rows[cell], j), (float(surprisal[cell]), float(excess[cell]))
                if isinstance(value, bool) and isinstance(own, Real):
                    # A boolean column of zeros and ones.
                    value = type(own)(value)
                found[cell] = CellReason(int(rows[cell]), model._table.names[j], own, value, low, high, *odd)
    return found


def _named(model, X, rows, columns) -> np.ndarray:
    """The columns of cells; of a gap that another column fills, that column."""
    columns, table = columns.copy(), model._table.columns
    for k, column in enumerate(table):
        if column.derivation is None:
            continue
        for i in np.flatnonzero(columns == column.derivation.source):
            if _is_gap(_cell(X, rows[i], columns[i])) and not _is_gap(_cell(X, rows[i], k)):
                columns[i] = k
    return columns


def _is_gap(value) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _expected(model, cells, j, known, exact):
    """Of one column in some rows given their other cells: values as the user has them, and the ends of intervals.

    ``exact``: of a function of another column, the values that this one says.
    """
    table = model._table
    column, source, at = table.columns[j], table.modelled(j), table.places[j]
    if column.derivation is not None and exact:
        values = whole_cells(source, [cells[p] for p in at])
        spread = np.zeros(len(values))
    else:
        values, spread = expected_cells(
            model, cells, j, None if known is None else known.seen.take(known.places(cells))
        )
    if column.derivation is not None:
        function = column.derivation.function
        spread, values = function.deviations(values, spread), function.forward(values)
    if column.categories is not None:
        return [(value, None, None) for value in column.categories[values].tolist()]
    half = HALF_WIDTH * spread
    if values.dtype.kind == "M":
        half = (half * MICROSECONDS_A_DAY).astype("m8[us]")
        ends = (values, values - half, values + half)
        return list(zip(*(with_zone(own, column.dtype, table.container) for own in ends), strict=True))
    with np.errstate(over="ignore"):
        low, high = np.clip([values - half, values + half], -LARGEST_CELL, LARGEST_CELL)
    return list(zip(values.tolist(), low.tolist(), high.tolist(), strict=True))


def expected_cells(model, cells, column, seen):
    """Typed cells of a column, or of the one of which it is a function, given the other cells, and their uncertainty.

    Parameters
    ----------
    model : CrossCat
    cells : list of ndarray of shape (n_rows,)
        Typed cells, those of the column among them.
    column : int
    seen : SeenRows or None
        The rows as the draws have them, each of which is predicted by the others; None: they are new.
    """
    table = model._table
    source, at = table.modelled(column), table.places[column]
    used = model._average()
    if seen is not None:
        used = nullcontext(left_out(model._models, model._flat_draws(), seen, cells))
    with used as average:
        filled, spreads = _parts.filled_parts(table, average, without(cells, at), seen is not None, columns=at)
    own = [filled[p] for p in at[: len(source.own_parts)]]
    return source.joined(own, np.ones(len(own[0]), bool), [spreads[p] for p in at]), spreads[at[0]]


def _cell(X, row, j):
    """One cell of the user's table as Python has it."""
    if hasattr(X, "iloc"):
        value = X.iloc[row, int(j)]
    elif hasattr(X, "columns"):
        value = nw.from_native(X)[int(row), int(j)]
    else:
        value = X[row][int(j)]
    return value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value
