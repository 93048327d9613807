"""Rows of a table in an order, with values by which they were ordered, in the container of the table."""

from __future__ import annotations

from collections.abc import Mapping

import narwhals.stable.v2 as nw
import numpy as np


def ranked_rows(X, rows: np.ndarray, values: Mapping[str, np.ndarray]):
    """Some rows of X in their order, as a table of their positions and values.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
    rows : ndarray of int, shape (n_rows,)
        Their positions.
    values : mapping of str to ndarray of shape (n_samples,)
        Of all rows, by name.

    Returns
    -------
    ranked : DataFrame or structured ndarray of shape (n_rows,)
        "row", and the values. Of pandas, with the row labels of X, or of polars, if X is.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.row_ranking import ranked_rows
    >>> ranked_rows([[5.0], [7.0], [6.0]], np.array([1, 2]), {"size": np.array([5.0, 7.0, 6.0])})
    array([(1, 7.), (2, 6.)], dtype=[('row', '<i8'), ('size', '<f8')])
    """
    X, columns = nw.to_native(X, pass_through=True), {"row": rows, **{name: own[rows] for name, own in values.items()}}
    if nw.dependencies.is_pandas_dataframe(X):
        import pandas as pd

        return pd.DataFrame(columns, index=X.index[rows])
    if nw.dependencies.is_polars_dataframe(X):
        import polars as pl

        return pl.DataFrame(columns)
    out = np.empty(len(rows), [(name, own.dtype) for name, own in columns.items()])
    for name, own in columns.items():
        out[name] = own
    return out
