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

# Texts have nanoseconds at most; hours as floating-point numbers have a few hundredths of these.
MOST_DECIMALS, EXACT = 9, 1e-10


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
        The same columns before they were filled, whose cells stay as they are: where all of these are whole minutes,
        others are rounded to such, and else to seconds. Durations stay seconds if there is none, or if these have
        fractions.

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
        is_seen = np.zeros(len(table), bool) if observed is None else observed[name].notna().to_numpy()
        seen = np.empty(0) if observed is None else unit * observed[name].to_numpy(np.float64, na_value=np.nan)[is_seen]
        decimals = _decimals(seen)
        if meaning == DURATION and (not len(seen) or decimals):
            continue
        step = 1.0 if decimals or np.any(np.rint(seen) % 60.0) else 60.0
        seconds = np.rint(seconds / step) * step
        seconds[is_seen] = seen
        if meaning == TIME_OF_DAY:
            seconds = seconds % DAY
        out[name] = pd.Series(clock_texts(seconds.tolist(), decimals), table.index, dtype=object)
    return with_columns(table, out)


def _decimals(seconds: np.ndarray) -> int:
    """The decimals that seconds have, up to those of nanoseconds."""
    for decimals in range(MOST_DECIMALS):
        if np.all(np.abs(seconds - np.round(seconds, decimals)) < EXACT):
            return decimals
    return MOST_DECIMALS
