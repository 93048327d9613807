"""Spelling: how the strings of a column spell numbers, and the numbers that they spell."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.clock_times import duration_numbers, is_time_of_day, parse_duration, parse_time_of_day
from sklearn_subanneal.tables.number_signs import common_kind, suits
from sklearn_subanneal.tables.numerals import COMMA, POINT, decimal_mark, parse_number
from sklearn_subanneal.tables.value_order import is_number

NUMBER, DURATION, TIME_OF_DAY = "number", "duration", "time of day"
# Strings are numbers if at least this share of the cells spell one ...
NEARLY_ALL = 0.95
# ... or this share, where the others are so few marks without a digit, beside so many different numbers.
MOST_CELLS, MOST_MARKS, FEWEST_NUMBERS = 0.5, 3, 10
# Of so many strings that are looked at first, at least this share are numbers where nearly all are.
FIRST_LOOK, LEAST_OF_LOOK = 300, 0.5
# A unit behind each number: two letters, or one after a space.
_UNIT = re.compile(r"(?<=[0-9.,])(?:\s*(?P<long>[A-Za-zµΩ°][A-Za-z0-9²³/°]+)|\s+(?P<short>[A-Za-z]))\s*")
_BOUNDS = "<>=≤≥~≈ "
_SCALES = {"k": 1e3, "K": 1e3, "Tsd": 1e3, "M": 1e6, "Mio": 1e6, "mio": 1e6, "bn": 1e9, "Mrd": 1e9}
_SCALED = re.compile(rf"(?P<number>.*[0-9])\s*(?P<scale>{'|'.join(_SCALES)})\.?\s*(?:[$€£])?\s*")
# Where all are such, they are kelvins, and no thousands.
_KELVIN = re.compile(r"\s*[+-]?[0-9]+[.,][0-9]+\s+K\s*")
# A leading zero and another digit, as in a postcode.
_CODE = re.compile(r"[+-]?0[0-9]+")
# Words in names of columns of durations.
_DURATIONS = re.compile(
    r"duration|elapsed|\blap\b|\bpace\b|dauer|durée|duracion"
    r"|(?:talk|wait|waiting|hold|handle|handling|response|queue|travel|cycle|lead|processing|idle|run|lap|race|driving)"
    r"[ _-]?time|(?:lauf|warte|fahr|reise|gesprächs|bearbeitungs|durchlauf)zeit",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Spelling:
    """How the strings of a column spell numbers.

    Attributes
    ----------
    meaning : {"number", "duration", "time of day"}
        Durations are read in seconds, times of day in hours from midnight.
    decimal : {".", ","}
        The mark before decimals.
    unit : str
        The unit that stands behind each number; empty if there is none.
    has_bounds : bool
        Whether some are bounds, such as "<0.5" and "90+", which are read as the number.
    has_scales : bool
        Whether some have a scale behind them, such as "1.2k" and "3 Mio", which is 3,000,000.
    marks : tuple of str
        The strings that mean a missing cell.
    sign : str
        The currency of the numbers, if strings have several: those in others spell none. "none": with a sign they spell
        none. Empty: any is read.
    """

    meaning: str = NUMBER
    decimal: str = POINT
    unit: str = ""
    has_bounds: bool = False
    has_scales: bool = False
    marks: tuple[str, ...] = ()
    sign: str = ""

    def read(self, text: str) -> float | None:
        """The number that a string spells, or None.

        Examples
        --------
        >>> from sklearn_subanneal.tables.spelling import Spelling
        >>> Spelling(decimal=",", unit="kg").read("72,5 kg")
        72.5
        """
        if self.meaning == DURATION:
            return parse_duration(text, self.decimal)
        if self.meaning == TIME_OF_DAY:
            return parse_time_of_day(text)
        if self.sign and not suits(text, self.sign):
            return None
        if self.has_scales and (scaled := _SCALED.fullmatch(text)):
            number = parse_number(scaled["number"], self.decimal)
            return None if number is None else number * _SCALES[scaled["scale"]]
        if self.has_bounds:
            text = text.lstrip(_BOUNDS).rstrip("+ ")
        if self.unit:
            text = text.strip().removesuffix(self.unit)
        return parse_number(text, self.decimal)

    @property
    def words(self) -> str:
        """What the strings spell, in words."""
        decimals = " with decimal commas" if self.decimal != POINT else ""
        if self.meaning == DURATION:
            return f"durations, in seconds{decimals}"
        if self.meaning == TIME_OF_DAY:
            return "times of day, in hours"
        unit = f" of {self.unit}" if self.unit else ""
        bounds = ", bounds such as <1 read as the number" if self.has_bounds else ""
        return f"numbers{unit}{decimals}{bounds}{' with scales such as k' if self.has_scales else ''}"


def find_spelling(cells: Cells, decimal: str | None = None, meaning: str | None = None) -> Spelling | None:
    """How the strings of a column spell numbers, None if they do not.

    Strings spell numbers if at least 95 % of the cells do, or half of them, at least ten different ones, and the others
    are at most three marks without a digit, such as "-" or "unknown": these are missing cells. Bounds, such as "<0.5",
    spell numbers if most cells are none; "<38" and ">38" alone are categories. None are numbers if one has a leading
    zero and as many digits as at least half of the others, as the postcode "01067", unless ``meaning`` says so. Of
    several currencies, and of percentages and fractions, one kind spells numbers, unless ``meaning`` says that all do.

    Parameters
    ----------
    cells : Cells
        A column of strings; cells that are numbers already stay as they are.
    decimal : {".", ","} or None, default=None
        The mark before decimals where the strings do not show it; None: a point.
    meaning : {"number", "duration", "time of day"} or None, default=None
        What the strings are to spell; None: what they do.

    Examples
    --------
    >>> from sklearn_subanneal.tables.cells import object_cells
    >>> from sklearn_subanneal.tables.spelling import find_spelling
    >>> find_spelling(object_cells("weight", "object", ["72,5 kg", "81 kg", "64,25 kg"])).words
    'numbers of kg with decimal commas'
    >>> find_spelling(object_cells("start", "object", ["08:15", "17:40"])).words
    'times of day, in hours'
    """
    if cells.codes is None or not len(cells.values):
        return None
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.values))
    texts = [value for value in cells.values if isinstance(value, str)]
    if not any(re.search(r"\d", text) for text in texts[:FIRST_LOOK]):
        return None
    numbers = Spelling(decimal=decimal_mark(without_units(texts)) or decimal or POINT)
    with_unit = replace(numbers, unit=unit_of(texts))
    are_bounds = any(text[:1] in tuple(_BOUNDS) or text.endswith("+") for text in texts)
    of_bounds = [replace(with_unit, has_bounds=True)] if are_bounds else []
    are_kelvins = all(_KELVIN.fullmatch(text) for text in texts if re.search(r"\d", text))
    have_scales = not are_kelvins and any(_SCALED.fullmatch(text) for text in texts)
    of_scales = [replace(numbers, has_scales=True)] if have_scales else []
    clocks = _of_clocks(cells.name, texts) if meaning in (None, NUMBER) else [Spelling(meaning)]
    clocks = [_with_mark(clock, texts, decimal) for clock in clocks]
    are_codes = meaning is None and _are_codes(texts)
    n_cells = [count for value, count in zip(cells.values, counts, strict=True) if isinstance(value, str)]
    sign = common_kind(texts, n_cells, numbers.decimal) if meaning is None else ""
    for spelling in (numbers, *clocks, *of_scales, with_unit, *of_bounds):
        if meaning not in (None, spelling.meaning) or (are_codes and spelling.meaning == NUMBER):
            continue
        if spelling.meaning == NUMBER:
            spelling = replace(spelling, sign=sign)
        look = cells.values[:FIRST_LOOK]
        if sum(_has(spelling, value) for value in look) < LEAST_OF_LOOK * len(look) and len(look) > MOST_MARKS * 2:
            continue
        if spelling.has_bounds and not _are_few_bounds(cells.values, counts, with_unit):
            continue
        marks = [(value, count) for value, count in zip(cells.values, counts, strict=True) if not _has(spelling, value)]
        if _is_spelled([mark for mark, _ in marks], sum(count for _, count in marks), int(counts.sum()), len(counts)):
            return replace(spelling, marks=tuple(mark for mark, _ in marks))
    return None


def spelled_cells(cells: Cells, spelling: Spelling, unknown: list | None = None) -> Cells:
    """The cells of a column of strings as the numbers that they spell.

    A string that spells none, and is none of the marks, is missing and added to ``unknown``.

    Parameters
    ----------
    cells : Cells
        Cells that are numbers already stay as they are.
    spelling : Spelling

    Returns
    -------
    cells : Cells
        With float64 values, NaN where a string is one of the marks of the spelling.

    Raises
    ------
    ValueError
        If there is such a string, and no ``unknown``.
    """
    if cells.codes is None:
        return cells
    numbers = np.full(len(cells.values) + 1, np.nan)
    for code, value in enumerate(cells.values):
        number = spelling.read(value) if isinstance(value, str) else value
        if number is None:
            if value in spelling.marks:
                continue
            if unknown is not None:
                unknown.append(value)
            else:
                raise ValueError(
                    f"Column {cells.name!r} holds the {spelling.words} that its strings spell, but {value!r} spells "
                    "none: correct the cell, or mark it as missing."
                )
        elif not is_number(number) or abs(number) > sys.float_info.max:
            raise ValueError(
                f"Column {cells.name!r} holds the {spelling.words} that its strings spell, but {shortened(value)} of "
                f"type {type(value).__name__} is none in the range of floating point: convert it to a number."
            )
        else:
            numbers[code] = number
    # Numbers come back as numbers: polars and pandas spell their dtype differently.
    dtype = "Float64" if cells.dtype[0].isupper() else "float64"
    return replace(cells, dtype=dtype, values=numbers[cells.codes], codes=None)


def _has(spelling, value) -> bool:
    return not isinstance(value, str) or spelling.read(value) is not None


def _are_few_bounds(values, counts, exact) -> bool:
    """Whether at least half of the cells are numbers, not bounds: these alone are ranges, such as "<38" and ">38"."""
    return sum(count for value, count in zip(values, counts, strict=True) if _has(exact, value)) >= 0.5 * counts.sum()


def _is_spelled(marks, n_marked, n_cells, n_values) -> bool:
    if n_marked <= (1.0 - NEARLY_ALL) * n_cells:
        return True
    few = len(marks) <= MOST_MARKS and not any(re.search(r"\d", mark) for mark in marks)
    return few and n_marked <= (1.0 - MOST_CELLS) * n_cells and n_values - len(marks) >= FEWEST_NUMBERS


def _of_clocks(name, texts) -> list[Spelling]:
    """Times of day and durations, as far as a first look shows them."""
    if not any(parse_duration(text) is not None or parse_time_of_day(text) is not None for text in texts[:20]):
        return []
    times = [text for text in texts if parse_time_of_day(text) is not None]
    # Of the day, a column of nothing but the hour after midnight would be odd.
    if any(parse_time_of_day(text) >= 1.0 for text in times) and is_time_of_day(times) and not _DURATIONS.search(name):
        return [Spelling(TIME_OF_DAY), Spelling(DURATION)]
    return [Spelling(DURATION)]


def _with_mark(clock: Spelling, texts: list[str], decimal: str | None) -> Spelling:
    """Durations with the mark before decimals of their numbers, as of "1,250 min"; other clocks have none."""
    numbers = duration_numbers(texts) if clock.meaning == DURATION else []
    if not any(COMMA in number or POINT in number for number in numbers):
        return clock
    return replace(clock, decimal=decimal_mark(numbers) or decimal or POINT)


def units_of(texts: list[str]) -> list[str]:
    """The units of which one stands behind each of some strings that are numbers but for these; else an empty list.

    Examples
    --------
    >>> from sklearn_subanneal.tables.spelling import units_of
    >>> units_of(["500 mg", "1.5 g", "2 g"]), units_of(["3 kg", "heavy"])
    (['g', 'mg'], [])
    """
    decimal = decimal_mark(without_units(texts)) or POINT
    if any(parse_number(text, decimal) is None for text in without_units(texts)):
        return []
    found = behind_numbers(texts)
    return sorted(set(found)) if len(found) == len(texts) else []


def unit_of(texts: list[str]) -> str:
    """The unit that stands behind most numbers, of several the first; or an empty string.

    Examples
    --------
    >>> from sklearn_subanneal.tables.spelling import unit_of
    >>> unit_of(["72 kg", "81 kg", "heavy"])
    'kg'
    """
    found = behind_numbers(texts)
    return max(dict.fromkeys(found), key=found.count) if found else ""


def _are_codes(texts) -> bool:
    """Whether one has a leading zero, and is as long as most: among amounts it would be a slip."""
    lengths = np.array([len(text) for text in texts])
    return any(np.mean(lengths == n) >= 0.5 for n in {len(text) for text in texts if _CODE.fullmatch(text)})


def behind_numbers(texts: list[str]) -> list[str]:
    """The units behind the numbers of those strings that have one."""
    return [match["long"] or match["short"] for text in texts if (match := _UNIT.search(text)) and _ends(match)]


def without_units(texts: list[str]) -> list[str]:
    """Strings without the units behind their numbers."""
    return [text[: match.start()] if (match := _UNIT.search(text)) and _ends(match) else text for text in texts]


def _ends(match) -> bool:
    return match.end() == len(match.string)
