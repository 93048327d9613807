"""UnmodelledCells: observed cells that the columns of a model do not hold, and that stay where others are filled."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.tables.cells import Cells, is_missing
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.derived_cells import united_cells
from sklearn_subanneal.tables.long_integers import LongIntegers
from sklearn_subanneal.tables.schema import Table
from sklearn_subanneal.tables.spelling import spelled_cells
from sklearn_subanneal.tables.table_cells import read_cells
from sklearn_subanneal.tables.value_order import is_number


@dataclass(frozen=True, eq=False)
class UnmodelledCells:
    """Observed cells of a table that a model does not have as they are, and that its columns can hold all the same.

    Those that count as missing are categories and levels that ``fit`` did not see, numbers that do not suit the type
    that was chosen, and cells that contradict another column of which their column was a function. Among numbers there
    is no place for a text, and none for a number among dates, or in a dtype of booleans. Others are integers that the
    model rounds, since floating-point numbers do not tell them apart.

    Attributes
    ----------
    table : Table
    rows : ndarray of bool, shape (n_rows, n_columns)
        Which cells count as missing, and are none.
    values : dict of int to list
        By the index of a column, those in it, in the order of the rows.
    long : dict of int to LongIntegers
        By the index of a column, those integers.
    """

    table: Table
    rows: NDArray
    values: dict[int, list]
    long: dict[int, LongIntegers]

    @classmethod
    def none(cls, table: Table, n_rows: int) -> UnmodelledCells:
        """No such cells."""
        return cls(table, np.zeros((n_rows, len(table.columns)), bool), {}, {})

    @classmethod
    def of(cls, table: Table, estimator, X, only_long: bool = False) -> UnmodelledCells:
        """Those of a table, which the estimator has accepted, and whose ``fit`` read ``table``.

        ``only_long``: none that count as missing.
        """
        with warnings.catch_warnings():
            # The user has been warned of the table already.
            warnings.simplefilter("ignore", UserWarning)
            read = list(read_cells(estimator, X, table.names, objects=table.container != "array")[2])
        long = {j: LongIntegers.of(*pair) for j, pair in enumerate(zip(table.columns, read, strict=True))}
        long = {j: own for j, own in long.items() if own is not None}
        if only_long:
            return replace(cls.none(table, len(read[0].gaps())), long=long)
        cells = [_as_modelled(*pair) for pair in zip(table.columns, read, strict=True)]
        typed = [column.encode(own)[0] for column, own in zip(table.columns, cells, strict=True)]
        rows = np.column_stack([is_missing(arrays[0]) for arrays in typed])
        for j, (_, wrong) in united_cells(table.columns, typed)[1].items():
            rows[:, j] |= wrong
        values = {}
        for j, (column, own) in enumerate(zip(table.columns, cells, strict=True)):
            rows[:, j] &= ~own.gaps() & (not column.is_empty)
            if rows[:, j].any():
                rows[:, j], held = _held(column, table.container, own, rows[:, j])
                values |= {j: held} if held else {}
        return cls(table, rows, values, long)

    def put(self, filled):
        """The same table with these cells, one whose missing cells are filled, in the container of ``fit``."""
        for j, long in self.long.items():
            if self.table.container == "pandas":
                filled.isetitem(j, long.in_pandas(filled.iloc[:, j]))
            else:
                filled = filled.with_columns(long.in_polars(filled.to_series(j)))
        for j, values in self.values.items():
            rows = np.flatnonzero(self.rows[:, j])
            if self.table.container == "array":
                filled[rows, j] = values
            elif self.table.container == "pandas":
                filled.isetitem(j, _in_pandas(filled.iloc[:, j], rows, values))
            else:
                filled = filled.with_columns(_in_polars(filled.to_series(j), rows, values))
        return filled


def _as_modelled(column: Column, cells: Cells) -> Cells:
    """The cells as the model reads them: as numbers, where strings spell these."""
    return cells if column.spelling is None else spelled_cells(cells, column.spelling, [])


def _held(column: Column, container: str, cells: Cells, rows: NDArray) -> tuple[NDArray, list]:
    """Which of some cells a column of the container can hold, and their values."""
    at = np.flatnonzero(rows)
    values = cells.values[at].tolist() if cells.codes is None else [cells.values[code] for code in cells.codes[at]]
    held = [_is_held(column, container, value) for value in values]
    rows = np.zeros(len(rows), bool)
    rows[at[held]] = True
    return rows, [value for value, is_held in zip(values, held, strict=True) if is_held]


def _is_held(column: Column, container: str, value) -> bool:
    if container == "array":
        return is_number(value)
    if column.type.coded and column.spelling is None:
        # Columns of polars have values of one kind.
        is_alike = isinstance(value, str) == isinstance(column.categories[0], str)
        return is_alike or container == "pandas" or column.dtype == "Object"
    return is_number(value) and column.type.split is None and "bool" not in column.dtype.lower()


def _in_pandas(series, rows, values):
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        levels = set(series.cat.categories)
        new = [value for value in dict.fromkeys(values) if value not in levels]
        # A level that fit did not see has no place in the order.
        series = series.cat.add_categories(new).cat.as_unordered() if new else series
    is_nullable = isinstance(series.dtype, pd.api.extensions.ExtensionDtype)
    wider = ["Float64" if is_nullable else "float64"] if pd.api.types.is_numeric_dtype(series.dtype) else []
    for dtype in (series.dtype, *wider, object):
        changed = series.astype(dtype).copy()
        try:
            with warnings.catch_warnings():
                # Before version 3, pandas warns where a cell does not suit the dtype.
                warnings.simplefilter("error", FutureWarning)
                changed.iloc[rows] = values
        except (TypeError, ValueError, OverflowError, FutureWarning):
            continue
        return changed
    return series


def _in_polars(series, rows, values):
    import polars as pl

    dtype, cells = series.dtype, series.to_list()
    if isinstance(dtype, pl.Enum):
        dtype = pl.Enum(
            [*dtype.categories, *(value for value in dict.fromkeys(values) if value not in dtype.categories)]
        )
    if dtype.is_integer() and all(float(value).is_integer() for value in values):
        values = map(int, values)
    for row, value in zip(rows, values, strict=True):
        cells[row] = value
    for wider in (dtype, pl.Float64) if dtype.is_numeric() else (dtype,):
        try:
            return pl.Series(series.name, cells, dtype=wider)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            continue
    return series
