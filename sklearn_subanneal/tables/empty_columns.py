"""Columns of which `fit` saw no value: they say nothing, and no cell of theirs is filled."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import narwhals.stable.v2 as nw
import numpy as np

from sklearn_subanneal.tables.arrow_columns import pandas_dtype
from sklearn_subanneal.tables.cell_type import CellType
from sklearn_subanneal.tables.cells import Cells, is_missing
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.date_dtypes import with_pandas_dtype, with_polars_dtype
from sklearn_subanneal.tables.table_cells import column_cells

REASON = "it has no values"


def empty_column(cell: Cells, types: Mapping[str, CellType]) -> tuple[Column, list[np.ndarray]]:
    """The column of cells that are all missing, and its typed cells.

    It is modelled as a column of a single category, of which no cell is observed: it adds nothing to any density.
    """
    described = {"dtype": cell.dtype, "levels": cell.levels, "ordered": cell.ordered, "reason": REASON}
    column = Column(cell.name, types["categorical"], np.array([np.nan]), **described, is_empty=True)
    return column, column.encode(cell)[0]


def warn_of_empty(columns: list[Column]) -> None:
    """Say which columns have no value, if there are some."""
    names = [column.name for column in columns if column.is_empty]
    if names:
        warnings.warn(
            f"Columns without a value: {', '.join(map(repr, names))}. They say nothing, none of their cells is filled, "
            "and their values in further rows are not looked at. Drop them, or fit on more rows.",
            UserWarning,
            stacklevel=3,
        )


def gaps_of(column: Column, j: int, cells: np.ndarray, X) -> np.ndarray:
    """Which cells of column j of a table X are missing: by its typed cells, or of an empty column as they are given."""
    return column_cells(X, j, column.name).gaps() if column.is_empty else is_missing(cells)


def cells_as_given(column: Column, j: int, n_rows: int, container: str, like):
    """The cells of such a column for the table that a model completes or draws: those given, or all missing.

    Parameters
    ----------
    column : Column
    j : int
        Its index.
    n_rows : int
    container : {"array", "pandas", "polars"}
        Of the table that is written.
    like : array-like or DataFrame of n_rows rows, or None
        The table that is completed, if there is one.

    Returns
    -------
    cells : ndarray of float64, pandas.Series or polars.Series
    """
    like = nw.to_native(like, pass_through=True)
    if container == "pandas":
        if hasattr(like, "iloc"):
            return like.iloc[:, j].reset_index(drop=True)
        import pandas as pd

        return _missing_in_pandas(column, n_rows) if like is None else pd.Series(_values(like, j))
    if container == "polars":
        import polars as pl

        if hasattr(like, "to_series"):
            return like.to_series(j).alias(column.name)
        own = _missing_in_polars(column, n_rows) if like is None else pl.Series(_values(like, j), strict=False)
        return own.alias(column.name)
    return np.full(n_rows, np.nan) if like is None else np.array([_number(cell) for cell in _values(like, j)])


def _values(like, j) -> list:
    """The cells of a column of any container."""
    if hasattr(like, "iloc"):
        return like.iloc[:, j].tolist()
    if nw.dependencies.is_pyarrow_table(like):
        return like.column(j).to_pylist()
    return like.to_series(j).to_list() if hasattr(like, "to_series") else np.asarray(like)[:, j].tolist()


def _number(cell) -> float:
    """A cell for an array of numbers; NaN if it is missing, or no number."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return np.nan


def _missing_in_pandas(column, n_rows):
    import pandas as pd

    if column.levels is not None:
        return pd.Series(pd.Categorical.from_codes(np.full(n_rows, -1), list(column.levels), column.ordered))
    if column.dtype.startswith(("datetime64", "timestamp", "date")):
        return with_pandas_dtype(np.full(n_rows, "NaT", "M8[us]"), column.dtype)
    return pd.Series([None] * n_rows, dtype=pandas_dtype(column.dtype))


def _missing_in_polars(column, n_rows):
    import polars as pl

    if column.dtype.startswith(("Date", "datetime64")):
        return with_polars_dtype(np.full(n_rows, "NaT", "M8[us]"), column.dtype)
    series = pl.Series([None] * n_rows, dtype=pl.Null)
    return series.cast(pl.Enum(column.levels) if column.dtype == "Enum" else getattr(pl, column.dtype))
