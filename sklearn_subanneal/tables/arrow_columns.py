"""Columns of pandas whose dtype is of Arrow: read as those of dtypes that pandas has itself, and written back."""

from __future__ import annotations

import numpy as np


def without_arrow(series):
    """A pandas Series of a dtype of pandas or NumPy, where the given one is of Arrow and pandas has no methods for it.

    Dictionaries are categories, decimals are floats, and nulls, and what pandas has no dtype for, are objects.

    Parameters
    ----------
    series : pandas.Series

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.tables.arrow_columns import without_arrow
    >>> str(without_arrow(pd.Series([1.5, None])).dtype)
    'float64'
    """
    import pandas as pd

    if not isinstance(series.dtype, pd.ArrowDtype):
        return series
    import pyarrow

    kind, array = series.dtype.pyarrow_dtype, series.array.__arrow_array__()
    if pyarrow.types.is_dictionary(kind):
        # Chunks may have dictionaries of their own.
        return array.unify_dictionaries().to_pandas()
    if pyarrow.types.is_decimal(kind):
        return pd.Series(series.to_numpy(np.float64, na_value=np.nan))
    if pyarrow.types.is_null(kind) or not _is_known(series.dtype):
        return pd.Series(array.to_pylist(), dtype=object)
    return series


def _is_known(dtype) -> bool:
    """Whether pandas has a type for the cells of a dtype of Arrow: not for views of strings, or unions."""
    try:
        return dtype.type is not None
    except NotImplementedError:
        return False


def pandas_dtype(name: str):
    """The dtype of pandas of this name, which for strings is that of Arrow: pandas has one of its own by that name."""
    import pandas as pd

    if name != "string[pyarrow]":
        return name
    import pyarrow

    return pd.ArrowDtype(pyarrow.string())
