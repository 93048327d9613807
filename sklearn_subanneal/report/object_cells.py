"""Columns of objects of Python, as JSON, spreadsheets and binary files have them, in dtypes of their own."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.tables.exact_integers import exact_integers, long_integers

if TYPE_CHECKING:
    import pandas as pd


def of_objects(series: pd.Series) -> pd.Series:
    """Objects as numbers, dates or durations if they are all such, and as texts if all can be written so."""
    import pandas as pd

    seen = series.dropna()
    kinds = {type(cell) for cell in seen}
    if kinds == {int} and long_integers(seen) is not None:
        exact = exact_integers(series)
        return series.map(str, na_action="ignore").astype("str") if exact is None else exact
    if kinds and kinds <= {Decimal, int, float}:
        return pd.to_numeric(series.map(float, na_action="ignore"))
    if kinds <= {bool, np.bool_}:
        return series.astype("boolean")
    if kinds and all(issubclass(kind, datetime.date) for kind in kinds):
        return series
    if kinds and all(issubclass(kind, datetime.timedelta) for kind in kinds):
        return pd.to_timedelta(series)
    if kinds & {bytes, str, datetime.time, bool, Decimal}:
        texts = series.map(lambda cell: cell.decode("latin-1") if isinstance(cell, bytes) else str(cell), "ignore")
        return texts.where(series.notna(), "").astype("str").str.strip()
    return series
