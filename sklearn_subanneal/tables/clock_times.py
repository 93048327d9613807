"""Strings that spell times of day and durations: "14:05", "2:05 PM", "1h 20m", "26:15:00", "PT90M"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sklearn_subanneal.tables.numerals import POINT, decimal_mark, parse_number

HOUR, DAY = 3600.0, 86_400.0
_CLOCK = re.compile(
    r"\s*(?P<sign>-)?(?:(?P<days>\d{1,6})\s*(?:d|days?)[,\s]\s*)?(?P<hours>\d{1,5}):(?P<minutes>[0-5]?\d)"
    r"(?::(?P<seconds>[0-5]?\d)(?:[.,](?P<fraction>\d{1,9}))?)?\s*(?P<half>[ap]\.?m\.?)?\s*",
    re.IGNORECASE,
)
_HALF_DAY = re.compile(r"\s*(?P<hours>1[0-2]|[1-9])\s*(?P<half>[ap]\.?m\.?)\s*", re.IGNORECASE)
_SECONDS = {
    "week": 7 * DAY, "wk": 7 * DAY, "w": 7 * DAY, "day": DAY, "d": DAY, "hour": HOUR, "hr": HOUR, "h": HOUR,
    "std": HOUR, "minute": 60.0, "min": 60.0, "m": 60.0, "second": 1.0, "sec": 1.0, "s": 1.0,
}  # fmt: skip
# Alone these may be other units, metres as well as minutes.
_SHORT = {"w", "d", "h", "m", "s"}
_UNIT = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)*)\s*(?P<unit>weeks?|wks?|w|days?|d|hours?|hrs?|h|std|minutes?|mins?|m|seconds?|secs?|s)"
    r"\.?(?![A-Za-z])(?:[\s,]|and)*|(?P<joined>\d+(?:[.,]\d+)*)(?P<short>[dhms])(?=\d)",
    re.IGNORECASE,
)
_ISO = re.compile(
    r"P(?:(?P<d>\d+(?:\.\d+)?)D)?(?:T(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)


def parse_time_of_day(text: str) -> float | None:
    """The hours after midnight that a string spells, in [0, 24), or None.

    Examples
    --------
    >>> from sklearn_subanneal.tables.clock_times import parse_time_of_day
    >>> parse_time_of_day("14:30"), parse_time_of_day("2:30 pm"), parse_time_of_day("12 AM"), parse_time_of_day("25:00")
    (14.5, 14.5, 0.0, None)
    """
    found = _CLOCK.fullmatch(text) or _HALF_DAY.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    hours = int(parts["hours"])
    if parts.get("days") or parts.get("sign") or hours > 23 or len(parts.get("minutes") or "00") != 2:
        return None
    if parts["half"]:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if parts["half"][0].lower() == "p" else 0)
    return hours + _below_the_hour(parts) / HOUR


def parse_duration(text: str, decimal: str = POINT) -> float | None:
    """The seconds that a string spells, or None: "1:02:03", "26:15" (hours and minutes), "2 days 03:00:00", "1h 20m".

    Parameters
    ----------
    text : str
    decimal : {".", ","}, default="."
        The mark before decimals of a number before a unit that does not show it: "1,5 h" does, "1,250 h" does not.

    Examples
    --------
    >>> from sklearn_subanneal.tables.clock_times import parse_duration
    >>> parse_duration("26:15"), parse_duration("1h 20min"), parse_duration("PT1H30M"), parse_duration("2 days 1:00:00")
    (94500.0, 4800.0, 5400.0, 176400.0)
    >>> parse_duration("1,250 min"), parse_duration("1,250 min", decimal=","), parse_duration("1,5 min")
    (75000.0, 75.0, 90.0)
    >>> parse_duration("5 m") is None  # which may be metres
    True
    """
    found = _CLOCK.fullmatch(text)
    if found is not None:
        parts = found.groupdict()
        # "1988:1" is the first of a year rather than a minute.
        if parts["half"] or len(parts["minutes"] or "00") != 2:
            return None
        seconds = int(parts["days"] or 0) * DAY + int(parts["hours"]) * HOUR + _below_the_hour(parts)
        return -seconds if parts["sign"] else seconds
    seconds = _of_iso(text.strip())
    return _of_units(text.strip(), decimal) if seconds is None else seconds


def duration_numbers(texts: Iterable[str]) -> list[str]:
    """The numbers before units in the strings that spell durations.

    Examples
    --------
    >>> from sklearn_subanneal.tables.clock_times import duration_numbers
    >>> duration_numbers(["1,250 min", "1h 20m", "26:15", "soon"])
    ['1,250', '1', '20']
    """
    return [number for text in texts for number, _ in _amounts(text.strip()) or ()]


def is_time_of_day(texts: list[str]) -> bool:
    """Whether strings that spell times of day as well as durations are the former: with AM or PM, or two digits.

    Of "7:30" alone nobody can tell, of a column in which "07:30" is written so, or hours from 13 to 23 are, one can.
    """
    return any(re.search("[ap]", text, re.IGNORECASE) or re.match(r"\s*(?:0\d|1[3-9]|2[0-3]):", text) for text in texts)


def clock_texts(seconds: Sequence[float], decimals: int = 0) -> list[str | None]:
    """Seconds as hours, minutes and, unless all are whole minutes, seconds; None where missing.

    Parameters
    ----------
    seconds : sequence of float
    decimals : int, default=0
        Of the seconds.

    Examples
    --------
    >>> from sklearn_subanneal.tables.clock_times import clock_texts
    >>> clock_texts([25_200.0, 94_500.0, float("nan")]), clock_texts([59.7, -61.0]), clock_texts([59.7], 2)
    (['07:00', '26:15', None], ['00:01:00', '-00:01:01'], ['00:00:59.70'])
    """
    second = 10**decimals
    whole = [None if own != own else round(own * second) for own in seconds]
    in_minutes = all(own is None or own % (60 * second) == 0 for own in whole)
    out: list[str | None] = []
    for own in whole:
        if own is None:
            out.append(None)
            continue
        minutes, rest = divmod(abs(own), 60 * second)
        text = f"{minutes // 60:02d}:{minutes % 60:02d}"
        if not in_minutes:
            text += f":{rest // second:02d}" + (f".{rest % second:0{decimals}d}" if decimals else "")
        out.append(f"-{text}" if own < 0 else text)
    return out


def _below_the_hour(parts) -> float:
    fraction = float(f"0.{parts.get('fraction') or 0}")
    return int(parts.get("minutes") or 0) * 60.0 + int(parts.get("seconds") or 0) + fraction


def _of_iso(text: str) -> float | None:
    found = _ISO.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    return sum(_SECONDS[unit] * float(number) for unit, number in found.groupdict().items() if number)


def _amounts(text: str) -> list[tuple[str, str]] | None:
    """The numbers and the units of which a string consists; None if there is anything else."""
    amounts, end = [], 0
    while end < len(text):
        found = _UNIT.match(text, end)
        if found is None:
            return None
        unit = (found["unit"] or found["short"]).lower()
        amounts.append((found["number"] or found["joined"], unit if unit in _SECONDS else unit.rstrip("s")))
        end = found.end()
    return amounts


def _of_units(text: str, decimal: str) -> float | None:
    amounts = _amounts(text)
    if not amounts or (len(amounts) == 1 and amounts[0][1] in _SHORT):
        return None
    numbers = [_amount(number, decimal) for number, _ in amounts]
    if None in numbers:
        return None
    return sum(_SECONDS[unit] * number for number, (_, unit) in zip(numbers, amounts, strict=True))


def _amount(text: str, decimal: str) -> float | None:
    """A number before a unit, which may begin with zeros: "05", "1.250", "1,5"."""
    if text.isdigit() or re.fullmatch(r"0\d*[.,]\d+", text):
        return float(text.replace(",", "."))
    # One that shows its mark is read by it, as "1,5" beside "1.250".
    return parse_number(text, decimal_mark([text]) or decimal)
