"""Cells of one column: reading from NumPy, pandas or polars, and encoding as numbers or codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import numpy as np

from sklearn_subanneal.tables.arrow_columns import without_arrow
from sklearn_subanneal.tables.cell_type import CellType
from sklearn_subanneal.tables.date_dtypes import pandas_dates, polars_dates
from sklearn_subanneal.tables.value_order import is_number, sorted_values, type_names


@dataclass(frozen=True, eq=False)
class Cells:
    """One column as read: numbers in their own dtype, or codes into a list of the distinct values that occur.

    Missing are NaN among floats, NaT among dates, True in `missing` among integers and booleans, and -1 among codes.
    """

    name: str
    dtype: str
    values: np.ndarray | list
    codes: np.ndarray | None = None
    missing: np.ndarray | None = None
    levels: tuple | None = None
    ordered: bool = False
    is_category: bool = False

    def kind(self) -> str:
        """The kind of column that the dtype and the values suggest."""
        if self.codes is None:
            return {"b": "boolean", "M": "datetime"}.get(self.values.dtype.kind, "real")
        types = {type(value) for value in self.values}
        if self.is_category or types == {str}:
            return "categorical"
        if types and types <= {bool, np.bool_}:
            return "boolean"
        if all(map(is_number, self.values)):
            return "real"
        if all(isinstance(value, (date, np.datetime64)) for value in self.values):
            return "datetime"
        raise ValueError(
            f"Column {self.name!r} holds objects of type {type_names(types)}: make them all strings or all numbers"
            f"{', or declare the column categorical in feature_types' if len(types) == 1 else ''}."
        )

    def floats(self) -> np.ndarray:
        """The floating-point values among the cells, for a test of finiteness."""
        if self.codes is None:
            return self.values if self.values.dtype.kind == "f" else np.empty(0)
        return np.array([value for value in self.values if isinstance(value, (float, np.floating))])

    def gaps(self) -> np.ndarray:
        """Which cells are missing."""
        if self.codes is not None:
            return self.codes < 0
        if self.missing is not None:
            return self.missing
        return is_missing(self.values) if self.values.dtype.kind in "fM" else np.zeros(len(self.values), bool)

    def among(self, values: list) -> np.ndarray:
        """Which cells have one of some values."""
        if self.codes is not None:
            is_one = np.array([value in values for value in self.values] + [False])
            return is_one[self.codes]
        return np.isin(self.values, values) & ~self.gaps()

    def numbers(self, model: CellType, unknown: list | None = None) -> np.ndarray:
        """The cells as numbers of a type of column; those that it does not admit are missing, and added to ``unknown``.

        Raises
        ------
        ValueError
            If there are such cells, and no ``unknown``, or cells that are no numbers.
        """
        values, missing = self.values, self.missing
        if self.codes is None and values.dtype.kind == "M":
            raise ValueError(
                f"Column {self.name!r} must be {model.kind} but holds dates: declare it 'datetime', or convert it."
            )
        if self.codes is not None:
            for value in values:
                if not is_number(value):
                    raise ValueError(
                        f"Column {self.name!r} must be {model.kind} but holds {value!r} (type "
                        f"{type(value).__name__}): {model.remedy}."
                    )
            values = self._floating(values)[self.codes]
        if model.largest is None:
            array = np.ascontiguousarray(values, dtype=model.dtype)
            if missing is not None:
                array[missing] = np.nan
            return array
        if values.dtype.kind == "f":
            missing = np.isnan(values)
            wrong = ((values < 0) | (values > model.largest) | (values != np.floor(values))) & ~missing
        else:
            wrong = (values < 0) | (values > model.largest)
        if wrong.any() and unknown is None:
            value = values[wrong.argmax()].item()
            raise ValueError(f"Column {self.name!r} must be {model.kind} but holds {value!r}: {model.remedy}.")
        if wrong.any():
            unknown += np.unique(values[wrong]).tolist()
            missing = wrong if missing is None else missing | wrong
        if missing is None:
            return values.astype(model.dtype)
        array = np.where(missing, 0, values).astype(model.dtype)
        array[missing] = -1
        return array

    def _floating(self, numbers: list) -> np.ndarray:
        """Numbers of Python as floating-point ones, and NaN after the last of them."""
        try:
            values = np.array([*numbers, np.nan], dtype=np.float64)
        except OverflowError:
            values = np.full(1, np.inf)
        if np.isinf(values).any():
            raise ValueError(
                f"Column {self.name!r} holds a number too large for floating point: divide the column by a constant, "
                "or take logarithms."
            )
        return values

    def factored(self) -> tuple[list, np.ndarray]:
        """The distinct values that occur, and each cell's position among them."""
        if self.codes is not None:
            return self.values, self.codes
        values = self.values
        if values.dtype.kind == "M":
            distinct, codes = np.unique(values, return_inverse=True)
            codes[np.isnat(values)] = -1
            return _occurring(distinct.astype(object).tolist(), codes)
        if values.dtype.kind == "f":
            distinct, codes = np.unique(values, return_inverse=True)
            if np.isnan(distinct[-1]):
                codes[codes == distinct.size - 1] = -1
                distinct = distinct[:-1]
            return distinct.tolist(), codes
        low, high = int(values.min()), int(values.max())
        if high - low < 2**16 and high < 2**63:
            # Counting serves the usual small integers several times faster than sorting does.
            distinct, codes = np.arange(low, high + 1).astype(values.dtype), values.astype(np.int64) - low
        else:
            distinct, codes = np.unique(values, return_inverse=True)
        return _occurring(distinct.tolist(), codes if self.missing is None else np.where(self.missing, -1, codes))


def encoded(
    cells: Cells, categories: np.ndarray | None, *, reserved: bool = False
) -> tuple[np.ndarray, np.ndarray, list]:
    """Codes of the cells of a categorical column.

    Parameters
    ----------
    cells : Cells
        The column.
    categories : ndarray of shape (n_categories,) or None
        The known categories; None takes those that the dtype declares, or else those that occur, sorted.
    reserved : bool, default=False
        Whether a value that is not among the categories has the code n_categories, and not that of a missing cell.

    Returns
    -------
    codes : ndarray of shape (n_samples,)
        Codes, in the smallest of int8, int16 and int32 for the categories and one more; -1 is missing.
    categories : ndarray of shape (n_categories,)
        The categories.
    unknown : list
        The values that are not among the categories.
    """
    values, codes = cells.factored()
    if categories is None:
        categories = sorted_values(cells.name, values if cells.levels is None else list(cells.levels))
    position = {value: code for code, value in enumerate(categories.tolist())}
    dtype = next(d for d in (np.int8, np.int16, np.int32) if len(position) <= np.iinfo(d).max)
    other = len(position) if reserved else -1
    table = np.array([*(position.get(value, other) for value in values), -1], dtype=dtype)
    unknown = [value for value in values if value not in position]
    return table[codes], categories, unknown


def array_cells(name: str, values: np.ndarray) -> Cells:
    """Read a column of a numeric array."""
    return Cells(name, "float64", values)


def object_cells(name: str, dtype: str, values: Iterable) -> Cells:
    """Read a column of Python objects."""
    values = list(values)
    position = {}
    try:
        codes = np.fromiter((position.setdefault(value, len(position)) for value in values), np.intp, len(values))
    except TypeError as error:
        bad = next((value for value in values if not _is_hashable(value)), None)
        raise TypeError(
            f"Column {name!r} holds {bad!r} of type {type(bad).__name__}, which is not hashable and so neither "
            "a number nor a category: convert its cells to strings or numbers."
        ) from error
    table = np.full(len(position) + 1, -1)
    distinct = [value for value in position if not is_missing_value(value)]
    table[[position[value] for value in distinct]] = np.arange(len(distinct))
    return Cells(name, dtype, distinct, table[codes])


def pandas_cells(name: str, series) -> Cells:
    """Read a column of a pandas DataFrame."""
    import pandas as pd

    series = without_arrow(series.sparse.to_dense() if isinstance(series.dtype, pd.SparseDtype) else series)
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = dtype.categories.tolist()
        values, codes = _occurring(levels, series.cat.codes.to_numpy())
        return Cells(name, str(dtype), values, codes, None, tuple(levels), bool(dtype.ordered), is_category=True)
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return Cells(name, str(dtype), pandas_dates(series))
    if isinstance(dtype, np.dtype):
        if dtype.kind in "biuf":
            return Cells(name, str(dtype), series.to_numpy())
        if dtype.kind == "O":
            return object_cells(name, str(dtype), series)
    elif pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        if dtype.numpy_dtype.kind == "f":
            return Cells(name, str(dtype), series.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan))
        values = series.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
        return Cells(name, str(dtype), values, missing=series.isna().to_numpy())
    elif isinstance(dtype, pd.StringDtype) or pd.api.types.is_string_dtype(dtype):
        codes, distinct = series.factorize()
        return Cells(name, str(dtype), distinct.tolist(), codes)
    raise unsupported(name, dtype)


def polars_cells(name: str, series) -> Cells:
    """Read a column of a polars DataFrame."""
    import polars as pl

    dtype = series.dtype
    # NumPy has no integers of 128 bits.
    if dtype.is_decimal() or (dtype.is_integer() and dtype.base_type().__name__ in ("Int128", "UInt128")):
        series = series.cast(pl.Float64)
        dtype = series.dtype
    label = dtype.base_type().__name__
    if dtype in (pl.Date, pl.Datetime):
        return Cells(name, *polars_dates(series))
    if dtype.is_float():
        return Cells(name, label, series.to_numpy())
    if dtype.is_integer() or dtype == pl.Boolean:
        missing = series.is_null().to_numpy() if series.null_count() else None
        return Cells(name, label, series.fill_null(strategy="zero").to_numpy(), missing=missing)
    if dtype == pl.Null:
        return Cells(name, label, [], np.full(len(series), -1))
    if dtype == pl.Object:
        return object_cells(name, label, series)
    if dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise unsupported(name, dtype)
    text = series.cast(pl.String)
    distinct = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    if dtype == pl.Enum:
        levels = tuple(dtype.categories)
        return Cells(name, label, distinct.to_list(), codes, None, levels, ordered=True, is_category=True)
    return Cells(name, label, distinct.to_list(), codes, is_category=dtype != pl.String)


def is_missing(array: np.ndarray) -> np.ndarray:
    """Which cells of a typed array are missing.

    Parameters
    ----------
    array : ndarray of shape (n_samples,)
        A column as of :func:`sklearn_subanneal.tables.schema.read_table`.

    Returns
    -------
    missing : ndarray of bool of shape (n_samples,)
        NaN in a float array, NaT among dates, negative in an integer array.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.cells import is_missing
    >>> is_missing(np.array([0, -1], dtype=np.int8))
    array([False,  True])
    """
    if array.dtype.kind == "M":
        return np.isnat(array)
    return np.isnan(array) if array.dtype.kind == "f" else array < 0


def is_missing_value(value) -> bool:
    """Whether one object, a cell or a class, is a missing value."""
    # By name, because pandas need not be installed: pandas.NA and pandas.NaT.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal, np.datetime64)) and value != value


def unsupported(name: str, dtype) -> ValueError:
    """The error for a dtype that holds neither numbers nor categories."""
    if getattr(dtype, "kind", "") == "c":
        return ValueError(f"Complex data not supported: column {name!r} has dtype {dtype}.")
    return ValueError(
        f"Column {name!r} has dtype {dtype}, which is neither numeric nor categorical: convert it to numbers, strings, "
        "booleans or, in a DataFrame, dates, or drop it."
    )


def _occurring(values: list, codes: np.ndarray) -> tuple[list, np.ndarray]:
    """Drop the values to which no code points."""
    used = np.bincount(codes[codes >= 0], minlength=len(values)) > 0
    if used.all():
        return values, codes
    table = np.append(np.where(used, np.cumsum(used) - 1, -1), -1)
    return [value for value, is_used in zip(values, used, strict=True) if is_used], table[codes]


def _is_hashable(value) -> bool:
    # A tuple is Hashable even if its items are not, so hashing it must be tried.
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True
