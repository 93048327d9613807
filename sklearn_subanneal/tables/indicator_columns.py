"""Tables with further columns that say where cells were missing."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray


def with_indicators(table, missing: NDArray, names: Sequence[str]):
    """A table with boolean columns on its right; of an array they are numbers, 0 and 1.

    Parameters
    ----------
    table : ndarray or DataFrame of shape (n_rows, n_columns)
    missing : ndarray of bool, shape (n_rows, n_indicators)
    names : sequence of str
        Of the columns and the indicators. Labels of columns that are no strings are replaced by them: scikit-learn
        refuses labels of two types.
    """
    if isinstance(table, np.ndarray):
        return np.hstack([table, missing])
    added = names[table.shape[1] :]
    if nw.from_native(table).implementation.is_polars():
        import polars as pl

        return table.with_columns(pl.Series(name, own) for name, own in zip(added, missing.T, strict=True))
    if not all(isinstance(label, str) for label in table.columns):
        table = table.set_axis(names[: table.shape[1]], axis=1)
    return table.assign(**dict(zip(added, missing.T, strict=True)))
