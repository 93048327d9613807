"""Dates that are written as numbers: days of spreadsheets, seconds and milliseconds since 1970."""

from __future__ import annotations

import re

import numpy as np

# Names of columns of dates, and of instants.
_DATE = re.compile(r"date|datum|fecha|(?:^|[_\W])(?:day|tag|jour)(?:$|[_\W])", re.IGNORECASE)
_INSTANT = re.compile(r"date|datum|fecha|time|stamp|epoch|(?:^|[_\W])(?:ts|at)$", re.IGNORECASE)
# Days of spreadsheets count from 1899-12-30; these are from 1941 to 2099. Seconds are from 1990 to 2066.
_ORIGIN = np.datetime64("1899-12-30", "us")
FIRST_DAY, LAST_DAY = 15_000.0, 73_050.0
FIRST_SECOND, LAST_SECOND = 6.3e8, 3.06e9
MICROSECONDS = 1e6


def numbered_dates(numbers: np.ndarray, name: str) -> tuple[np.ndarray, str] | None:
    """The dates that the numbers of a column are, and what they count; None if they are no dates.

    The name of the column must say that it has dates, and all numbers must be in a range of dates.

    Parameters
    ----------
    numbers : ndarray of float of shape (n_rows,)
        NaN where missing.
    name : str

    Returns
    -------
    dates : ndarray of datetime64[us] of shape (n_rows,)
    unit : str

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.numbered_dates import numbered_dates
    >>> dates, unit = numbered_dates(np.array([41275.0, np.nan]), "date of launch")
    >>> dates.astype("M8[D]"), unit
    (array(['2013-01-01',        'NaT'], dtype='datetime64[D]'), 'days of spreadsheets')
    >>> numbered_dates(np.array([41275.0]), "income") is None
    True
    """
    seen = numbers[~np.isnan(numbers)]
    if not seen.size:
        return None
    low, high = seen.min(), seen.max()
    if _DATE.search(name) and FIRST_DAY <= low and high <= LAST_DAY:
        return _from(numbers * 86_400.0 * MICROSECONDS, _ORIGIN), "days of spreadsheets"
    if not _INSTANT.search(name) or not (seen == np.floor(seen)).all():
        return None
    for factor, unit in (
        (1.0, "seconds since 1970"),
        (1e-3, "milliseconds since 1970"),
        (1e-6, "microseconds since 1970"),
    ):
        if FIRST_SECOND <= low * factor and high * factor <= LAST_SECOND:
            return _from(numbers * factor * MICROSECONDS, np.datetime64(0, "us")), unit
    return None


def _from(microseconds: np.ndarray, origin: np.datetime64) -> np.ndarray:
    gaps = np.isnan(microseconds)
    dates = origin + np.rint(np.where(gaps, 0.0, microseconds)).astype(np.int64).astype("m8[us]")
    dates[gaps] = np.array("NaT", dates.dtype)
    return dates
