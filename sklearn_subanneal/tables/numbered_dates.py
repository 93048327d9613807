"""Dates that are written as numbers: days of spreadsheets, seconds and milliseconds since 1970."""

from __future__ import annotations

import re

import numpy as np

# Words in names of columns of dates and of instants: they begin or end so, as "birthdate" and "DateOfBirth".
_DATE = re.compile(r"(?:date|datum|fecha).*|.*(?:date(?:[sd]|utc|gmt)?|datetime|datums?|fechas?)", re.IGNORECASE)
_INSTANT = re.compile(
    r"(?:time|stamp|epoch).*|.*(?:times?|time[sz]?stamp.*|stamps?|epoch.*|time(?:utc|gmt|m?s|sec.*))", re.IGNORECASE
)
_DAY, _LAST = {"day", "tag", "jour"}, re.compile(r"(?:^|[_\W])(?:ts|at)$", re.IGNORECASE)
# Other words that end or begin so, such as "candidate" and "Datenmenge".
_OTHER = re.compile(
    r"(?:candi|kandi|man|(?:in)?vali|consoli|liqui|accommo|intimi|eluci|inun|dilapi|exu|transu|(?:per)?io|vana|molyb|chor|cau|cor"
    r"|oxi|fecun)date[sdn]?|daten(?!aiss).+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_INNER = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
# Days of spreadsheets count from 1899-12-30; these are from 1941 to 2099. Seconds are from 1990 to 2066.
_ORIGIN = np.datetime64("1899-12-30", "us")
FIRST_DAY, LAST_DAY = 15_000.0, 73_050.0
FIRST_SECOND, LAST_SECOND = 6.3e8, 3.06e9
MICROSECONDS = 1e6


def numbered_dates(numbers: np.ndarray, name: str) -> tuple[np.ndarray, str] | None:
    """The dates that the numbers of a column are, and what they count; None if they are no dates.

    The name of the column must say that it has dates, by one of its words, and all numbers must be in a range of dates.

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
    >>> numbered_dates(np.array([41275.0]), "candidate_votes") is None
    True
    """
    seen = numbers[~np.isnan(numbers)]
    if not seen.size:
        return None
    low, high = seen.min(), seen.max()
    words = [word for text in _WORD.findall(name) for word in _INNER.split(text) if not _OTHER.fullmatch(word)]
    are_dates = any(_DATE.fullmatch(word) for word in words)
    if (are_dates or not _DAY.isdisjoint(map(str.lower, words))) and FIRST_DAY <= low and high <= LAST_DAY:
        return _from(numbers * 86_400.0 * MICROSECONDS, _ORIGIN), "days of spreadsheets"
    are_instants = are_dates or _LAST.search(name) or any(_INSTANT.fullmatch(word) for word in words)
    if not are_instants or not (seen == np.floor(seen)).all():
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
