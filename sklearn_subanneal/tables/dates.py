"""Dates and times of the common spellings, as an array of datetime64."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

# Names of months and their common abbreviations, in English, German, French, Spanish, Italian, Portuguese and Dutch.
_MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "january jan januar jänner januari janvier janv enero ene gennaio gen janeiro",
            "february feb februar februari février fevrier févr fevr febrero febbraio fevereiro fev",
            "march mar märz maerz mär mrz maart mrt mars marzo março marco",
            "april apr avril avr abril abr aprile",
            "may mai mei mayo maggio mag maio",
            "june jun juni juin junio giugno giu junho",
            "july jul juli juillet juil julio luglio lug julho",
            "august aug augustus août aout agosto ago",
            "september sept sep septembre septiembre settembre set setembro",
            "october oct oktober okt octobre octubre ottobre ott outubro out",
            "november nov novembre noviembre novembro",
            "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH_NAME = rf"(?P<month_name>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})(?![^\W\d_])\.?"
_WEEKDAY = r"(?:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\.?,?\s+)?"
_OF = r"(?:de\s+)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?"
_TIME = (
    r"(?:(?:t|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?\s*(?P<zone>z|utc|gmt|[+-]\d\d(?::?\d\d)?)?)?"
)
_DATES = (
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
    r"(?P<compact>(?P<year>(?:1[89]|2[01])\d\d)(?P<month>\d\d)(?P<day>\d\d))",
    r"(?P<first>\d{1,2})(?P<mark>[-/])(?P<other>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)",
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
    # With digits enough for no version of a program, which is written 1.2.10.
    r"(?P<day>\d\d)\.(?P<month>\d\d)\.(?P<year>\d\d)",
    _WEEKDAY + _DAY + r"(?P<mark>\s+|-)" + _OF + _MONTH_NAME + r"(?:(?P=mark)|,\s*)" + _OF + r"(?P<year>\d{4}|\d\d)",
    _WEEKDAY + _MONTH_NAME + r"\s+" + _DAY + r"(?:,\s*|\s+)(?P<year>\d{4})",
)
# Months and quarters, which are read as their first days.
_MONTHS_OF_YEARS = (
    r"(?P<year>(?:1[89]|2[01])\d\d)[-/.](?P<month>0[1-9]|1[0-2])",
    r"(?P<month>0?[1-9]|1[0-2])[-/.](?P<year>(?:1[89]|2[01])\d\d)",
    _MONTH_NAME + r"[\s,-]+" + _OF + r"(?P<year>\d{4})",
    r"(?P<year>\d{4})[\s-]?Q(?P<quarter>[1-4])",
    r"Q(?P<quarter>[1-4])[\s/-](?P<year>\d{4})",
)
_SPELLINGS = [
    *(re.compile(r"\s*" + date + _TIME + r"\s*", re.IGNORECASE) for date in _DATES),
    *(re.compile(rf"\s*(?P<whole>{months})\s*", re.IGNORECASE) for months in _MONTHS_OF_YEARS),
]


class DateSpelling(NamedTuple):
    """What the spelling of dates says beside the dates.

    Attributes
    ----------
    zone : datetime.timezone or None
        The time zone if all have one: UTC if there are several. None if some have none.
    n_zones : int
        Number of different time zones.
    has_short_years : bool
        Whether there are years of two digits.
    are_seasons : bool
        Whether they look like months, 2000-01, 2001-02 and so on, and are seasons from one year to the next.
    """

    zone: datetime.timezone | None
    n_zones: int
    has_short_years: bool
    are_seasons: bool


def date_spelling(texts: Iterable[str]) -> DateSpelling:
    """What the spelling of different texts says beside their dates; those that are no dates are left out.

    Examples
    --------
    >>> from sklearn_subanneal.tables.dates import date_spelling
    >>> date_spelling(["2021-03-04T10:00+01:00", "2021-07-04T10:00+01:00"]).zone
    datetime.timezone(datetime.timedelta(seconds=3600))
    >>> date_spelling(["2000-01", "2001-02", "2011-12"]).are_seasons
    True
    """
    matches = [groups for groups in map(_match, texts) if groups is not None]
    zones = {_zone(groups.get("zone")) for groups in matches}
    zone = None if None in zones or not zones else datetime.UTC if len(zones) > 1 else next(iter(zones))
    # Of a single season nobody can tell.
    seasons = {(int(groups["year"]), int(groups["month"])) for groups in matches if _is_year_and_month(groups)}
    return DateSpelling(
        zone,
        len(zones - {None}),
        any(len(groups["year"]) == 2 for groups in matches),
        1 < len(seasons) == len(matches) and all(month == (year + 1) % 100 for year, month in seasons),
    )


def _is_year_and_month(groups) -> bool:
    whole = groups.get("whole")
    return whole is not None and groups.get("month") is not None and whole.startswith(groups["year"])


def parse_datetimes(
    values: Sequence | np.ndarray, name: str = "values", day_first: bool | None = None, local: bool = False
) -> np.ndarray | None:
    """Read dates and times of the common spellings.

    Missing values are None, NaN, NA and NaT. A value is a ``datetime``, ``date`` or ``datetime64``, or a string of one
    of the spellings

    - 2021-03-04, 2021/03/04, 2021.03.04;
    - 20210304, where all values are of this spelling, for the years 1800 to 2199;
    - 04/03/2021, 4-3-21, 04.03.2021, 04.03.21;
    - 4 Mar 2021, 4-Mar-21, 4th March 2021, Thu, 4 Mar 2021;
    - Mar 4, 2021, March 4 2021;
    - 2021-03, 03/2021, Mar 2021, 2021-Q1, Q1 2021, the first days of months and quarters, where all values are such,

    the days alone or with a time of day 14:05, 14:05:09, 14:05:09.123456 or 2:05 PM after "T", space or comma, and with
    the time zone Z, UTC, GMT, +01:00, +0100 or +01 after that. Months have their names or abbreviations in English,
    German, French, Spanish, Italian, Portuguese or Dutch. Years of two digits are 1969 to 2068, as in POSIX. Times with
    a zone are converted to UTC; times without are kept as they are.

    Of two numbers with slashes or hyphens before a year, the values together decide which is the day: the one that is
    above 12 somewhere. Numbers with dots are day, month, year.

    Parameters
    ----------
    values : sequence or ndarray of shape (n_values,)
        The values.
    name : str, default="values"
        Name for error messages.
    day_first : bool or None, default=None
        Which of two numbers before a year is the day; None: the values decide.
    local : bool, default=False
        Whether times with a zone keep their own clock, and are not converted to UTC.

    Returns
    -------
    dates : ndarray of datetime64[us] of shape (n_values,), or None
        The dates, NaT where missing; None if a value is not a date, or all are missing and the dtype is not of dates.

    Raises
    ------
    ValueError
        If all values are dates but it is undecided which number is the day, or if some have a time zone and others
        have none.

    Examples
    --------
    >>> from sklearn_subanneal.tables.dates import parse_datetimes
    >>> parse_datetimes(["2021-03-04", None, "Mar 14, 2021 2:30 PM"])
    array(['2021-03-04T00:00:00.000000',                        'NaT',
           '2021-03-14T14:30:00.000000'], dtype='datetime64[us]')
    >>> parse_datetimes(["04/03/2021", "28/02/2021"]).astype("datetime64[D]")
    array(['2021-03-04', '2021-02-28'], dtype='datetime64[D]')
    >>> parse_datetimes(["v1.0", "2021-03-04"]) is None
    True
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return values.astype("datetime64[us]")
    values = [_plain(value) for value in values]
    present = [value for value in values if value is not None]
    texts = {value for value in present if isinstance(value, str)}
    if not present or not all(isinstance(value, (str, datetime.date)) for value in present):
        return None
    read = _read_texts(texts, name, day_first)
    if read is None:
        return None
    dates = [read[value] if isinstance(value, str) else _as_datetime(value) for value in values]
    zoned = [value.tzinfo is not None for value in dates if value is not None]
    if any(zoned) and not all(zoned):
        raise ValueError(
            f"The dates of {name!r} have a time zone in some rows and none in others: convert them to one zone, or "
            "remove the zones."
        )
    if any(zoned):
        dates = [value and (value if local else value.astimezone(datetime.UTC)).replace(tzinfo=None) for value in dates]
    return np.array(dates, dtype="datetime64[us]")


def _plain(value):
    """A value as a string, date or datetime, None if it is missing."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    # NaN and NaT differ from themselves; the comparison of NA has no truth value.
    if value is None or value is not value or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, (float, np.floating)) and np.isnan(value) else value


def _as_datetime(value) -> datetime.datetime | None:
    if value is None:
        return None
    if isinstance(value, datetime.datetime):
        # A Timestamp of pandas is a datetime whose nanoseconds fall away here.
        return value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value
    return datetime.datetime(value.year, value.month, value.day)


def comes_day_first(values: Sequence, name: str = "values") -> bool | None:
    """Which of two numbers before a year is the day, as strings decide together; None if there are no such numbers.

    Raises
    ------
    ValueError
        If it is undecided.
    """
    groups = filter(None, (_match(value) for value in values if isinstance(value, str)))
    pairs = [(int(group["first"]), int(group["other"])) for group in groups if "first" in group]
    if not pairs:
        return None
    day_first, month_first = any(a > 12 for a, _ in pairs), any(b > 12 for _, b in pairs)
    if day_first or month_first:
        return day_first
    if all(a == b for a, b in pairs):
        return None
    raise ValueError(
        f"The dates of {name!r} can be read day first and month first, since no number before the year is above "
        "12: convert them, for example by pandas.to_datetime(..., dayfirst=True)."
    )


def _match(text: str) -> dict[str, str | None] | None:
    match = next(filter(None, (spelling.fullmatch(text) for spelling in _SPELLINGS)), None)
    return match and match.groupdict()


def _read_texts(texts: set[str], name: str, day_first: bool | None) -> dict[str, datetime.datetime] | None:
    """The date of each string, None if one is not a date."""
    matches = {}
    for text in texts:
        matches[text] = _match(text)
        if matches[text] is None:
            return None
    for part in ("compact", "whole"):
        has_part = [part in groups for groups in matches.values()]
        if any(has_part) and not all(has_part):
            return None
    if day_first is None:
        day_first = comes_day_first(texts, name)
    try:
        return {text: _datetime(groups, bool(day_first)) for text, groups in matches.items()}
    except ValueError:
        return None


def _datetime(groups: dict[str, str | None], day_first: bool) -> datetime.datetime:
    """The date of one match; ValueError for a day, hour, ... that does not exist."""
    year = int(groups["year"])
    if len(groups["year"]) == 2:
        year += 2000 if year < 69 else 1900
    if "first" in groups:
        month, day = (groups["other"], groups["first"]) if day_first else (groups["first"], groups["other"])
    elif "quarter" in groups:
        month, day = 3 * int(groups["quarter"]) - 2, 1
    elif "month_name" in groups:
        month, day = _MONTHS[groups["month_name"].lower()], groups.get("day", 1)
    else:
        month, day = groups["month"], groups.get("day", 1)
    hour = int(groups.get("hour") or 0)
    if groups.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError("An hour before AM or PM is from 1 to 12.")
        hour = hour % 12 + (12 if groups["half"].lower() == "p" else 0)
    micros = int((groups.get("fraction") or "0").ljust(6, "0")[:6])
    return datetime.datetime(
        year,
        int(month),
        int(day),
        hour,
        int(groups.get("minute") or 0),
        int(groups.get("second") or 0),
        micros,
        tzinfo=_zone(groups.get("zone")),
    )


def _zone(zone: str | None) -> datetime.timezone | None:
    if zone is None:
        return None
    if zone[0] not in "+-":
        return datetime.UTC
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return datetime.timezone(-offset if zone[0] == "-" else offset)
