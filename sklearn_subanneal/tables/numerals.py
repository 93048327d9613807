"""Strings that spell numbers: "3.5", "1,200", "1.200,50", "12 %", "$4.99", "(3.20)"."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

POINT, COMMA = ".", ","
# A pattern of signs and names of currencies.
CURRENCY = (
    r"(?:US\$|A\$|C\$|R\$|[$€£¥₹₽₩₺₪]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|AUD|CAD|BRL|Fr\.|kr\.?|zł)"
)
_BEFORE = rf"\s*(?P<open>\()?\s*(?P<sign>[+\-\u2212\u2013]?)\s*(?:{CURRENCY}\s*)?(?P<inner>[+\-\u2212]?)"
_AFTER = rf"\s*(?:%|{CURRENCY})?\s*(?P<close>\))?\s*"
# Signs between thousands: those of people who write the other sign before decimals, and those of all.
_SPACES = "\u0020\u00a0\u202f\u2009'\u2019"


def _pattern(decimal: str) -> re.Pattern:
    """Numbers with a sign before decimals."""
    other = re.escape(COMMA if decimal == POINT else POINT)
    grouped = "|".join(rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+" for mark in (other, *_SPACES))
    mark = re.escape(decimal)
    # A number does not begin with 0 and another digit: "01067" is a postcode.
    digits = rf"(?:(?:0|{grouped}|[1-9][0-9]*)(?:{mark}[0-9]*)?|{mark}[0-9]+)"
    # Some programs write the sign of an amount after it.
    sign = rf"(?:(?<=[{mark}][0-9])|(?<=[{mark}][0-9]{{2}}))(?P<after>[-\u2212])"
    return re.compile(rf"{_BEFORE}(?P<number>{digits}(?:[eE][+-]?[0-9]+)?)(?:{sign})?{_AFTER}")


_NUMERALS = {decimal: _pattern(decimal) for decimal in (POINT, COMMA)}
# Up to this, floating-point numbers tell integers apart. Beyond are some of 16 digits, and all of more.
LARGEST_EXACT = 2**53
_LONG = re.compile(r"\s*[+-]?[1-9][0-9]{15,307}\s*")
# The marks of one number between digits, and how many digits stand before and after the last.
_MARKED = re.compile(
    r"(?P<head>[0-9][0-9.,\u0020\u00a0\u202f\u2009'\u2019]*|)(?P<mark>[.,])(?P<tail>[0-9]*)(?:[eE][+-]?[0-9]+)?"
)


def parse_number(text: str, decimal: str = POINT) -> float | None:
    """The number that a string spells, or None.

    A sign, marks between thousands (spaces, apostrophes, and of comma and point the one that is not before decimals),
    decimals, an exponent, a currency and a percent sign are read; 12 % is 12. Parentheses are a minus, as in accounts.

    Parameters
    ----------
    text : str
    decimal : {".", ","}, default="."
        The mark before decimals.

    Examples
    --------
    >>> from sklearn_subanneal.tables.numerals import parse_number
    >>> parse_number("-1,200.50"), parse_number("12 %"), parse_number("$4"), parse_number("01067"), parse_number("1,2")
    (-1200.5, 12.0, 4.0, None, None)
    >>> parse_number("1.200,50 €", ","), parse_number("(3,2)", ","), parse_number("1 200,5", ",")
    (1200.5, -3.2, 1200.5)
    """
    match = _NUMERALS[decimal].fullmatch(text)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    signs = [sign for sign in (match["open"], match["sign"], match["inner"], match["after"]) if sign]
    if len(signs) > 1:
        return None
    digits = match["number"]
    for mark in (COMMA if decimal == POINT else POINT, *_SPACES):
        digits = digits.replace(mark, "")
    number = float(digits.replace(COMMA, POINT))
    if not np.isfinite(number):
        return None
    return number if not signs or signs[0] == "+" else -number


def is_rounded(text: str) -> bool:
    """Whether a string is an integer, in digits alone, of which floating-point numbers have but a neighbour.

    Examples
    --------
    >>> from sklearn_subanneal.tables.numerals import is_rounded
    >>> is_rounded("9892595774592977"), is_rounded("9892595774592976"), is_rounded("9,892,595,774,592,977")
    (True, False, False)
    """
    return _LONG.fullmatch(text) is not None and float(text) != int(text)


def decimal_mark(texts: Iterable[str]) -> str | None:
    """The mark before decimals that strings show together, None if they show none.

    A mark is shown to stand before decimals if not exactly three digits follow it, if more than three digits or a
    single 0 precede it, or if the other mark precedes it; and to stand between thousands if it occurs twice. "1,234"
    alone shows nothing.

    Parameters
    ----------
    texts : iterable of str
        Of which those that are no numbers are left out.

    Examples
    --------
    >>> from sklearn_subanneal.tables.numerals import decimal_mark
    >>> decimal_mark(["1,5"]), decimal_mark(["1.234,5"]), decimal_mark(["1,234", "2,345"]), decimal_mark(["2.5"])
    (',', ',', None, '.')
    """
    votes = {POINT: 0, COMMA: 0}
    for text in texts:
        found = _MARKED.search(text) if COMMA in text or POINT in text else None
        if found is None:
            continue
        mark, head, tail = found["mark"], found["head"], found["tail"]
        other = COMMA if mark == POINT else POINT
        if mark in head:
            shown = other
        elif other in head or len(tail) != 3 or head in ("", "0") or len(head) > 3:
            shown = mark
        else:
            continue
        votes[shown] += parse_number(text, shown) is not None
    if votes[POINT] == votes[COMMA]:
        return None
    return max(votes, key=votes.get)
