"""DateTexts: texts of a column of a file that are dates, and what is to be said of them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.tables.dates import comes_day_first, date_spelling, parse_datetimes
from sklearn_subanneal.tables.missing_texts import is_missing_word
from sklearn_subanneal.tables.numerals import COMMA
from sklearn_subanneal.tables.spelling import NEARLY_ALL

if TYPE_CHECKING:
    import pandas as pd

# How the reading of such texts begins.
ALL_DATES = "all texts are dates"


class DateTexts(NamedTuple):
    """Dates, as the fields of ColumnValues of the same names; the texts as they are if there is a problem."""

    series: pd.Series
    reading: str
    marks: dict[str, int]
    problem: str = ""
    day_first: bool | None = None


def read_date_texts(
    series: pd.Series, distinct: list[str], options: ReadingOptions, decimal: str | None
) -> DateTexts | None:
    """The dates that nearly all texts spell, missing where others are; None if they do not.

    Parameters
    ----------
    series : pandas.Series
        Of texts, NA where missing.
    distinct : list of str
        Its different texts.
    options : ReadingOptions
    decimal : {".", ","} or None
        The mark before decimals of the file, which tells its language.
    """
    import pandas as pd

    orders = (options.day_first,) if options.day_first is not None else (True, False)
    look = distinct[:300]
    if sum(_is_date(text, orders) for text in look) < 0.5 * len(look):
        return None
    marks = [] if _are_dates(distinct, orders) else [text for text in distinct if not _is_date(text, orders)]
    counts = series.value_counts()
    n_marked = sum(int(counts[mark]) for mark in marks)
    words = all(is_missing_word(mark, of_dates=True) for mark in marks)
    if (n_marked > (1.0 - NEARLY_ALL) * counts.sum() and not words) or set(marks) & set(options.keep):
        return None
    dated = [text for text in distinct if text not in set(marks)]
    spelled = date_spelling(dated)
    if spelled.are_seasons:
        return None
    order = options.day_first
    try:
        order = comes_day_first(dated, series.name) if order is None else order
    except ValueError:
        order = _chronological(series, dated, decimal)
        if order is None:
            problem = (
                "dates whose numbers may be day or month first, since none before the year is above 12: pass "
                "--day-first or --month-first"
            )
            return DateTexts(series, "", {}, problem)
    try:
        dates = parse_datetimes(dated, series.name, order)
    except ValueError as error:
        return DateTexts(series, "", {}, str(error))
    if dates is None:
        return None
    found = series.map(dict(zip(dated, dates, strict=True)))
    cells = pd.Series(pd.to_datetime(found), series.index, name=series.name)
    reading = ALL_DATES
    if spelled.zone is not None:
        cells = _localized(cells, spelled.zone)
        zone = spelled.zone.tzname(None)
        reading += f" in the time zone {zone}" if spelled.n_zones == 1 else f" of {spelled.n_zones} time zones, in UTC"
    if spelled.has_short_years:
        reading += ", years of two digits read as 1969 to 2068"
    return DateTexts(cells, reading, {mark: int(counts[mark]) for mark in marks}, day_first=order)


def in_zone(dates: pd.Series, texts: pd.Series, dtype: str) -> pd.Series:
    """Dates of a new table in the time zone of the texts from which they were read.

    Parameters
    ----------
    dates : pandas.Series
        In UTC where the texts have a zone. Of another dtype, they are returned as they are.
    texts : pandas.Series
        NA where missing. Dates without a zone are on the clocks of the one that the column has.
    dtype : str
        Of the column that a model has.
    """
    import pandas as pd

    if dates.dtype.kind != "M" or getattr(dates.dtype, "tz", None) is not None:
        return dates
    zone = date_spelling(texts.dropna().unique()).zone
    if zone is not None:
        return _localized(dates, zone)
    own = pd.Series(dtype=dtype).dt.tz if dtype.startswith("datetime64[") else None
    # Clocks that are put forward leave an hour out, and one that is put back has an hour twice.
    twice = np.ones(len(dates), bool)
    return dates if own is None else dates.dt.tz_localize(own, ambiguous=twice, nonexistent="shift_forward")


def _localized(dates: pd.Series, zone: datetime.timezone) -> pd.Series:
    return dates.dt.tz_localize("UTC").dt.tz_convert(zone)


def _is_date(text: str, orders: Sequence[bool]) -> bool:
    return _are_dates([text], orders)


def _are_dates(texts: list[str], orders: Sequence[bool]) -> bool:
    try:
        return any(parse_datetimes(texts, day_first=order) is not None for order in orders)
    except ValueError:
        # Some have a time zone: all are dates.
        return True


def _chronological(series, dated: list[str], decimal: str | None) -> bool | None:
    """Whether the day comes first in dates that are in order of time only so; None if nobody can tell."""
    orders = {}
    for day_first in (True, False):
        dates = parse_datetimes(dated, series.name, day_first)
        if dates is None:
            continue
        values = series.map(dict(zip(dated, dates, strict=True))).dropna().to_numpy("M8[us]")
        orders[day_first] = bool((values[1:] >= values[:-1]).all() or (values[1:] <= values[:-1]).all())
    if orders.get(True) != orders.get(False):
        return bool(orders.get(True))
    return True if decimal == COMMA else None
