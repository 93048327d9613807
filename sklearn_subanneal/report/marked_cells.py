"""Marked cells: numbers and dates that stand for missing cells, as they are declared or as their place shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.report.column_hints import ColumnHints
from sklearn_subanneal.tables.dates import parse_datetimes
from sklearn_subanneal.tables.numerals import parse_number
from sklearn_subanneal.tables.sentinels import date_sentinels, number_sentinels

if TYPE_CHECKING:
    import pandas as pd


def marked_cells(series: pd.Series, options: ReadingOptions, hints: ColumnHints) -> tuple[dict[str, int], pd.Series]:
    """What stands for missing cells in a column of numbers or dates, in how many cells, and in which.

    Parameters
    ----------
    series : pandas.Series
        Of another dtype, it has none.
    options : ReadingOptions
    hints : ColumnHints
    """
    import pandas as pd

    seen = series.dropna()
    wrong = pd.Series(False, seen.index)
    is_date = pd.api.types.is_datetime64_any_dtype(series.dtype)
    if is_date:
        days = seen.dt.tz_localize(None) if getattr(seen.dt, "tz", None) is not None else seen
        wrong = days.dt.floor("D").isin(_days(days, options, hints))
    elif pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype):
        values = seen.astype(np.float64)
        wrong = values.isin(_numbers(values.to_numpy(), options, hints))
    counts = seen[wrong].value_counts()
    marks = {str(mark.date()) if is_date else f"{mark:.15g}": int(count) for mark, count in counts.items()}
    return marks, wrong.reindex(series.index, fill_value=False)


def _days(days: pd.Series, options: ReadingOptions, hints: ColumnHints) -> list[np.datetime64]:
    guessed = [] if hints.learned else date_sentinels(days.to_numpy("M8[us]"))
    order = True if options.day_first is None else options.day_first
    texts = (*options.missing, *hints.missing)
    declared = [day[0] for text in texts if (day := parse_datetimes([text], day_first=order)) is not None]
    return [*declared, *(day for day in guessed if str(day) not in options.keep)]


def _numbers(values: np.ndarray, options: ReadingOptions, hints: ColumnHints) -> list[float]:
    keep = {number for text in options.keep if (number := parse_number(text)) is not None}
    texts = (*options.missing, *hints.missing)
    declared = {number for text in texts if (number := parse_number(text)) is not None}
    guessed = [] if hints.learned else number_sentinels(values[np.isfinite(values)])
    return [*(declared - keep), *(number for number in guessed if number not in keep)]
