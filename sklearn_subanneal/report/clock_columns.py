"""Columns of times of day and durations, written as such in the tables of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.report.replaced_columns import with_columns
from sklearn_subanneal.tables.clock_times import DAY, HOUR, clock_texts
from sklearn_subanneal.tables.spelling import DURATION, TIME_OF_DAY

if TYPE_CHECKING:
    import pandas as pd


def with_clock_times(
    table: pd.DataFrame, meanings: Mapping[str, str], observed: pd.DataFrame | None = None
) -> pd.DataFrame:
    """A table with hours of the day and seconds of durations as texts, such as 07:30 and 26:15:00.

    Parameters
    ----------
    table : DataFrame
    meanings : mapping of str to str
        What numbers are, by column, as of :class:`~sklearn_subanneal.tables.spelling.Spelling`.
    observed : DataFrame or None, default=None
        The same columns before they were filled: where all of these are whole minutes, others are rounded to such.
        Durations stay seconds if there is none, or if these have fractions.

    Returns
    -------
    table : DataFrame
    """
    import pandas as pd

    out = {}
    for name, meaning in meanings.items():
        if meaning not in (TIME_OF_DAY, DURATION) or name not in table:
            continue
        unit = HOUR if meaning == TIME_OF_DAY else 1.0
        seconds = unit * pd.to_numeric(table[name]).to_numpy(np.float64)
        seen = np.empty(0) if observed is None else unit * observed[name].dropna().to_numpy(np.float64)
        if meaning == DURATION and (not len(seen) or np.any(seen != np.rint(seen))):
            continue
        step = 1.0 if np.any(np.rint(seen) % 60.0) else 60.0
        seconds = np.rint(seconds / step) * step
        if meaning == TIME_OF_DAY:
            seconds = seconds % DAY
        out[name] = pd.Series(clock_texts(seconds.tolist()), table.index, dtype=object)
    return with_columns(table, out)
