"""Typed columns written as series of pandas and polars, in the dtypes in which they were read."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.tables.arrow_columns import pandas_dtype
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.date_dtypes import with_pandas_dtype, with_polars_dtype

# Names of dtypes of integers that NumPy has, too; not those of 128 bits.
INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
# Floating-point dtypes of Arrow in pandas, and those of NumPy that have the same range.
FLOATS_OF_ARROW = {"halffloat[pyarrow]": "float16", "float[pyarrow]": "float32", "double[pyarrow]": "float64"}


def pandas_series(column, array: np.ndarray):
    """Write a column, a `sklearn_subanneal.tables.schema.Column`, for pandas."""
    import pandas as pd

    if array.dtype.kind == "M":
        return with_pandas_dtype(array, column.dtype)
    if array.dtype.kind == "f":
        may_have_gaps = column.dtype.startswith(("Float", "Int", "UInt")) or column.dtype.endswith("[pyarrow]")
        dtype = _float_dtype(column.dtype)
        series = pd.Series(_within(column, array, FLOATS_OF_ARROW.get(dtype, dtype.lower()))).astype(dtype)
        return series.astype(column.dtype) if _are_integers(array, column.dtype, may_have_gaps) else series
    if column.type.coded and column.levels is not None:
        position = {level: code for code, level in enumerate(column.levels)}
        codes = np.array([*(position[category] for category in column.categories.tolist()), -1])
        return pd.Series(pd.Categorical.from_codes(codes[array], list(column.levels), column.ordered))
    missing, dtype = is_missing(array), _held_dtype(column, array)
    values = array if column.categories is None else column.categories[array]
    series = pd.Series(values, dtype=values.dtype)
    if missing.any():
        series = series.mask(missing)
        dtype = "boolean" if dtype == "bool" else "float64" if dtype in INTEGERS else dtype
    return series.astype(pandas_dtype(dtype))


def polars_series(column, array: np.ndarray):
    """Write a column, a `sklearn_subanneal.tables.schema.Column`, for polars."""
    import polars as pl

    if array.dtype.kind == "M":
        return with_polars_dtype(array, column.dtype).alias(column.name)
    dtype = _held_dtype(column, array)
    if array.dtype.kind == "f":
        narrow = dtype == "Float32"
        array = _within(column, array, "float32" if narrow else "float64")
        is_integer = _are_integers(array, dtype, gaps=True)
        series = pl.Series(array).fill_nan(None)
        series = series.cast(getattr(pl, dtype) if is_integer else pl.Float32 if narrow else pl.Float64)
    else:
        series = pl.Series(array, dtype=pl.Int32).set(pl.Series(is_missing(array)), None)
        if column.categories is not None:
            series = pl.Series(column.categories.tolist()).gather(series)
        if dtype != "Object":
            series = series.cast(pl.Enum(column.levels) if dtype == "Enum" else getattr(pl, dtype))
    return series.alias(column.name)


def _float_dtype(name: str) -> str:
    """A dtype of floating-point numbers that pandas has for reals of a column of a dtype."""
    if name.lower().startswith("float") or name in FLOATS_OF_ARROW:
        return name
    if name.startswith(("Int", "UInt")):
        return "Float64"
    return "double[pyarrow]" if name.endswith("[pyarrow]") and _without_arrow(name) in INTEGERS else "float64"


def _without_arrow(dtype: str) -> str:
    return dtype.removesuffix("[pyarrow]").lower()


def _within(column, array: np.ndarray, dtype: str) -> np.ndarray:
    """Reals within the range of a narrower dtype: what is drawn or predicted beyond it is at its end.

    On a logarithmic scale they stay above the least number that the column may hold: 1e-60 would be 0 in float32.
    """
    largest, lowest = float(np.finfo(dtype).max), max((part.lowest for part in column.own_parts), default=-np.inf)
    array = np.clip(array, -largest, largest)
    if not -largest <= lowest <= largest:
        return array
    least = np.asarray(lowest, dtype)
    if float(least) <= lowest:
        least = np.nextafter(least, np.asarray(np.inf, dtype))
    # Atoms may be as low as that.
    return np.where((array > lowest) & (array < float(least)), float(least), array)


def _are_integers(array: np.ndarray, dtype: str, gaps: bool) -> bool:
    """Whether reals, with missing cells only if there may be ``gaps``, are whole numbers of a dtype of integers."""
    if _without_arrow(dtype) not in INTEGERS:
        return False
    present = array[~np.isnan(array)]
    # Beyond these, floating-point numbers do not tell integers apart.
    limits, most = np.iinfo(_without_arrow(dtype)), 2.0**53
    inside = (present >= max(limits.min, -most)) & (present <= min(limits.max, most)) & (present == np.rint(present))
    return bool(inside.all()) and (gaps or len(present) == len(array))


def _held_dtype(column, array: np.ndarray) -> str:
    """The column's dtype, widened where a count drawn is beyond its range."""
    dtype, of_arrow, _ = column.dtype.partition("[pyarrow]")
    if array.dtype.kind == "i" and column.categories is None and dtype.lower() in ("int8", "uint8", "int16", "uint16"):
        if array.max(initial=0) > np.iinfo(dtype.lower()).max:
            dtype = "Int32" if dtype[0].isupper() else "int32"
    return dtype + of_arrow
