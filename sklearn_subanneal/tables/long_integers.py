"""LongIntegers: observed integers that floating-point numbers do not tell apart, put back where others are filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.numerals import LARGEST_EXACT
from sklearn_subanneal.tables.series import INTEGERS


def long_cells(cells: Cells) -> NDArray:
    """Which cells are integers that floating-point numbers do not tell apart from their neighbours.

    Examples
    --------
    >>> from sklearn_subanneal.tables.cells import object_cells
    >>> from sklearn_subanneal.tables.long_integers import long_cells
    >>> long_cells(object_cells("id", "object", [7, None, 2**53 + 1]))
    array([False, False,  True])
    """
    if cells.codes is not None:
        is_long = [isinstance(value, (int, np.integer)) and abs(int(value)) > LARGEST_EXACT for value in cells.values]
        return np.array([*is_long, False])[cells.codes]
    if cells.values.dtype.kind not in "iu" or cells.values.dtype.itemsize < 8:
        return np.zeros(len(cells.values), bool)
    # Where cells are missing there are zeros.
    return (cells.values > LARGEST_EXACT) | (cells.values < -LARGEST_EXACT)


def may_be_long(column: Column) -> bool:
    """Whether a column is modelled by floating-point numbers, and its dtype in ``fit`` has integers beyond these."""
    is_real = not column.type.coded and column.type.split is None and np.dtype(column.type.dtype).kind == "f"
    return is_real and not column.is_empty and (column.dtype == "object" or _numpy_dtype(column) in ("int64", "uint64"))


@dataclass(frozen=True, eq=False)
class LongIntegers:
    """Such cells of a column of a DataFrame.

    The column keeps its dtype. Cells that are filled, or drawn, are whole numbers then, and those beyond the range of
    the dtype are at its end.

    Attributes
    ----------
    column : Column
    rows : ndarray of bool, shape (n_rows,)
        Which cells they are.
    values : ndarray of int64, uint64 or object, shape (n_long,)
    """

    column: Column
    rows: NDArray
    values: NDArray

    @classmethod
    def of(cls, column: Column, cells: Cells) -> LongIntegers | None:
        """Those among some cells; None if there are none, or if the dtype of the column cannot hold all cells."""
        if not may_be_long(column) or not (rows := long_cells(cells)).any():
            return None
        if cells.codes is None:
            values = cells.values[rows]
        else:
            values = np.array([cells.values[code] for code in cells.codes[rows]], object)
        if column.dtype != "object":
            limits = np.iinfo(_numpy_dtype(column))
            is_whole = cells.codes is None or all(float(value).is_integer() for value in cells.values)
            if not is_whole or values.min() < limits.min or values.max() > limits.max:
                return None
        return cls(column, rows, values)

    def in_pandas(self, series):
        """A column of a filled table of pandas, in which these cells are as they were."""
        import pandas as pd

        numbers = series.to_numpy(np.float64, na_value=np.nan)
        if self.column.dtype == "object":
            cells = np.array([int(x) if x.is_integer() else x for x in numbers.tolist()], object)
            cells[self.rows] = self.values
            return pd.Series(cells, series.index, name=series.name)
        cells, gaps = self._whole(numbers)
        if not gaps.any():
            return pd.Series(cells, series.index, name=series.name).astype(self.column.dtype)
        if self.column.dtype in INTEGERS:
            # Integers of NumPy have no missing cells.
            return series
        return pd.Series(cells, series.index, name=series.name).astype(self.column.dtype).mask(gaps)

    def in_polars(self, series):
        """The same of polars."""
        import polars as pl

        cells, gaps = self._whole(series.cast(pl.Float64).to_numpy())
        return pl.Series(series.name, cells, dtype=getattr(pl, self.column.dtype)).set(pl.Series(gaps), None)

    def _whole(self, numbers: NDArray) -> tuple[NDArray, NDArray]:
        """Numbers in the range of the dtype, these cells among them, and which are missing."""
        limits, gaps = np.iinfo(_numpy_dtype(self.column)), np.isnan(numbers) & ~self.rows
        # The largest integer may be none of the floating-point numbers, and the next one beyond the range.
        high = np.nextafter(float(limits.max), 0.0) if float(limits.max) > limits.max else float(limits.max)
        cells = np.clip(np.rint(np.where(np.isnan(numbers), 0.0, numbers)), float(limits.min), high)
        cells = cells.astype(limits.dtype)
        cells[self.rows] = self.values
        return cells, gaps


def _numpy_dtype(column: Column) -> str:
    """The name of a dtype of integers as NumPy has it."""
    return column.dtype.partition("[pyarrow]")[0].lower()
