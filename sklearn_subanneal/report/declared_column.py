"""unsuitable: why a column cannot be of the type that is declared, found before a model is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator

from sklearn_subanneal.columns.binding import TYPES, bind_table
from sklearn_subanneal.columns.semicontinuous import atoms_of
from sklearn_subanneal.tables.schema import read_table

if TYPE_CHECKING:
    import pandas as pd


def unsuitable(series: pd.Series, kind: str) -> str:
    """Why a column cannot be of a type; empty if it can.

    The column is read as the fit reads it, so that what the fit would refuse is refused at once. Its model is not made,
    which takes long, but where that may fail: too many levels, or no value that is frequent.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.declared_column import unsuitable
    >>> unsuitable(pd.Series([1.5, 2.0], name="size"), "count")
    "Column 'size' must be count but holds 1.5"
    >>> unsuitable(pd.Series([1.5, 2.0], name="size"), "real")
    ''
    """
    try:
        table, arrays = read_table(BaseEstimator(), series.to_frame(), [kind], types=TYPES)
        if kind == "ordinal":
            bind_table(table, arrays)
        elif kind == "semicontinuous":
            atoms_of(str(series.name), arrays[0], {})
    except (ValueError, TypeError) as error:
        # What follows the last colon is what to do in Python.
        return str(error).rpartition(": ")[0] or str(error).rstrip(".")
    return ""
