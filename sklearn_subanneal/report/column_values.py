"""ColumnValues: a column of a file as numbers, dates, booleans or texts, and the cells that were taken for missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.report.boolean_texts import FALSE, TICK, TICKS, TRUE, read_ticks
from sklearn_subanneal.report.column_hints import ColumnHints
from sklearn_subanneal.report.common_decimal import is_text_column
from sklearn_subanneal.report.date_texts import in_zone, read_date_texts
from sklearn_subanneal.report.marked_cells import marked_cells
from sklearn_subanneal.report.object_cells import of_objects
from sklearn_subanneal.report.text_levels import as_typed, typed_texts, with_levels
from sklearn_subanneal.tables.cells import pandas_cells
from sklearn_subanneal.tables.exact_integers import are_changed, exact_integers, long_integers
from sklearn_subanneal.tables.missing_texts import is_missing_word, missing_texts
from sklearn_subanneal.tables.numbered_dates import numbered_dates
from sklearn_subanneal.tables.numerals import COMMA, LARGEST_EXACT, POINT, decimal_mark, parse_number
from sklearn_subanneal.tables.spelling import (
    DURATION,
    NUMBER,
    TIME_OF_DAY,
    Spelling,
    find_spelling,
    spelled_cells,
)

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = ColumnHints()
# A leading zero and another digit: a code, not a number.
LEADING_ZERO = r"[+-]?0[0-9]"
# Numbers such as 20210304, so many different ones, are days.
COMPACT_DAY, FEWEST_DAYS = r"(?:1[89]|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])", 3

# How such are read where cells are missing.
AS_TEXTS = "whole numbers with more digits than floating point keeps, texts unless a type of numbers is declared"


@dataclass(eq=False)
class ColumnValues:
    """A column as read.

    Attributes
    ----------
    series : pandas.Series
        Numbers, dates, booleans or texts, NA where missing.
    spelling : Spelling or None
        How texts spelled these numbers, if not as programs do.
    reading : str
        What the texts spelled, in words; empty if that is plain.
    marks : dict of str to int
        What was taken for a missing cell, and in how many cells.
    problem : str
        Why the column is of less use than it could be, and what to do; empty if it is not.
    day_first : bool or None
        Which of two numbers before a year was read as the day.
    are_ticks : bool
        Whether the texts were ticks, and empty cells mean no.
    remark : str
        What may surprise in the reading of a column of a new table; empty if nothing does.
    """

    series: pd.Series
    spelling: Spelling | None = None
    reading: str = ""
    marks: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    day_first: bool | None = None
    are_ticks: bool = False
    remark: str = ""

    @property
    def are_hours(self) -> bool:
        """Whether the numbers are hours of the day."""
        return self.meaning == TIME_OF_DAY

    @property
    def meaning(self) -> str:
        """What the texts spelled, as a types file has it; empty if that is plain."""
        if self.are_ticks:
            return TICK
        return "" if self.spelling is None else self.spelling.meaning


def read_values(
    series: pd.Series, options: ReadingOptions, decimal: str | None = None, hints: ColumnHints = UNKNOWN
) -> ColumnValues:
    """Read the cells of a column of a file.

    Parameters
    ----------
    series : pandas.Series
        Of texts, as they are written, or of another dtype.
    options : ReadingOptions
    decimal : {".", ","} or None
        The mark before decimals of the file, for columns that do not show it.
    hints : ColumnHints

    Returns
    -------
    ColumnValues
    """
    import pandas as pd

    if hints.levels:
        series = typed_texts(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _of_categories(series, {*options.missing, *hints.missing} - {*options.keep})
    if series.dtype.kind == "O" and not is_text_column(series):
        series = of_objects(series)
    if pd.api.types.is_timedelta64_dtype(series.dtype):
        return ColumnValues(series.dt.total_seconds(), reading="durations, in seconds")
    if not is_text_column(series):
        if not hints.as_numbers and hints.learned is None and series.isna().any() and _are_large(series):
            return ColumnValues(series.astype("str").mask(series.isna()), reading=AS_TEXTS)
        return _dated(_without_sentinels(ColumnValues(series), options, hints), hints)
    counts = series.value_counts()
    missing = missing_texts(counts.index, (*options.missing, *hints.missing), (*options.keep, *hints.levels))
    marks = {mark: int(counts[mark]) for mark in counts.index if mark in missing and mark}
    series = series.mask(series.isin([*missing, ""]))
    if hints.levels and hints.learned is None:
        series = with_levels(series, hints.levels)
    if hints.as_text or hints.levels:
        return ColumnValues(series, marks=marks)
    known = hints.learned and hints.learned.read(series)
    if known is None:
        found = _of_texts(series, options, options.decimal or decimal, hints.meaning, hints.as_numbers)
    else:
        clock = Spelling(hints.meaning) if hints.meaning in (DURATION, TIME_OF_DAY) else None
        cells = in_zone(known.series, series, hints.learned.column.dtype)
        found = ColumnValues(cells, clock, marks=known.unreadable, remark=known.remark)
    found.marks = marks | found.marks
    return _dated(_without_sentinels(found, options, hints), hints)


def _of_categories(series: pd.Series, missing: set[str]) -> ColumnValues:
    """Categories that the dtype declares, but for those that are declared to be missing."""
    marked = [category for category in series.cat.categories if as_typed(category) in missing]
    counts = series.value_counts()
    marks = {as_typed(category): int(counts[category]) for category in marked if counts[category]}
    return ColumnValues(series.cat.remove_categories(marked), marks=marks)


def _dated(found: ColumnValues, hints: ColumnHints) -> ColumnValues:
    """Numbers that are dates, by the name of the column and their range, as dates."""
    import pandas as pd

    series = found.series
    if hints.as_numbers or found.spelling is not None or series.dtype.kind not in "iuf":
        return found
    dates = numbered_dates(series.to_numpy(np.float64, na_value=np.nan), str(series.name))
    if dates is None:
        return found
    cells = pd.Series(dates[0], series.index, name=series.name)
    return replace(found, series=cells, reading=f"dates as {dates[1]}")


def _of_texts(
    series: pd.Series,
    options: ReadingOptions,
    decimal: str | None,
    meaning: str | None = None,
    as_numbers: bool = False,
) -> ColumnValues:
    """Texts without the usual marks of missing cells, as what they spell."""
    import pandas as pd

    seen = series.dropna()
    if not len(seen):
        return ColumnValues(series.astype(object))
    distinct = seen.drop_duplicates()
    if meaning == TICK:
        return _ticks(series, distinct)
    if len(distinct) >= FEWEST_DAYS and distinct.str.fullmatch(COMPACT_DAY).all():
        if (dates := read_date_texts(series, distinct.tolist(), options, decimal)) is not None:
            return ColumnValues(**dates._asdict())
    if (plain := _plain_numbers(series, seen, options, decimal)) is not None:
        if plain.dtype.kind != "f" or not (plain.abs() > LARGEST_EXACT).any() or long_integers(series) is None:
            return ColumnValues(plain)
        if not as_numbers and meaning is None:
            return ColumnValues(series, reading=AS_TEXTS)
        exact = exact_integers(series)
        return ColumnValues(plain if exact is None else exact)
    lowered = set(distinct.str.lower()) if len(distinct) <= 4 else set()
    if lowered & {*TRUE} and lowered & {*FALSE} and lowered <= {*TRUE, *FALSE}:
        cells = series.str.lower().isin(TRUE).astype("boolean").mask(series.isna())
        return ColumnValues(cells if series.isna().any() else cells.astype(bool))
    if len(distinct) == 1 and distinct.iloc[0] in TICKS and len(seen) < len(series):
        return _ticks(series, distinct)
    if (dates := read_date_texts(series, distinct.tolist(), options, decimal)) is not None:
        return ColumnValues(**dates._asdict())
    cells = pandas_cells(series.name, series)
    spelling = find_spelling(cells, decimal, meaning) or _with_words(cells, decimal, meaning)
    if spelling is None or set(spelling.marks) & set(options.keep):
        return ColumnValues(series)
    numbers = pd.Series(spelled_cells(cells, spelling).values, series.index, name=series.name)
    if not numbers.notna().any():
        return ColumnValues(series)
    if not as_numbers and meaning is None and (numbers.abs() > LARGEST_EXACT).any():
        # Identifiers beside marks such as "unknown".
        is_mark = series.isin(spelling.marks)
        if long_integers(series[~is_mark]) is not None:
            return ColumnValues(series.mask(is_mark), reading=AS_TEXTS, marks=_counted(seen, spelling.marks))
    return ColumnValues(numbers, spelling, spelling.words, _counted(seen, spelling.marks))


def _counted(seen: pd.Series, marks: Sequence[str]) -> dict[str, int]:
    counts = seen.value_counts()
    return {mark: int(counts[mark]) for mark in marks}


def _are_large(series: pd.Series) -> bool:
    """Whether numbers of a dtype of integers with gaps are others as floating-point numbers."""
    return series.dtype.kind in "iu" and are_changed(series.dropna().tolist())


def _ticks(series: pd.Series, distinct: pd.Series) -> ColumnValues:
    """Boxes that are ticked or empty."""
    ticked, others = read_ticks(series)
    if others.any():
        raise ValueError(
            f"Column {series.name!r} is declared a {TICK!r} in [spelling] of the types file, and holds "
            f"{series[others].iloc[0]!r}: leave it out there, or correct its cells to one of {', '.join(TICKS)}, true, "
            "false, or empty."
        )
    reading = f"{distinct.iloc[0]!r} or {'empty' if distinct.isin(TICKS).any() else 'not'}"
    return ColumnValues(ticked if ticked.isna().any() else ticked.astype(bool), reading=reading, are_ticks=True)


def _with_words(cells, decimal, meaning) -> Spelling | None:
    """A spelling of numbers beside words for missing cells, however many these are."""
    words = [value for value in cells.values if is_missing_word(value)]
    if not words:
        return None
    codes = {value: code for code, value in enumerate(cells.values)}
    left = np.isin(cells.codes, [codes[word] for word in words])
    rest = type(cells)(cells.name, cells.dtype, cells.values, np.where(left, -1, cells.codes))
    spelling = find_spelling(rest, decimal, meaning)
    return spelling and replace(spelling, marks=tuple(dict.fromkeys((*spelling.marks, *words))))


def _plain_numbers(series, seen, options, decimal) -> pd.Series | None:
    """The numbers of texts that all spell numbers as programs do; None if they do not."""
    import pandas as pd

    head = seen.iloc[:100]
    if head.str.contains(r"[^0-9.eE+\-]").any() and not head.str.fullmatch(r"[+-]?inf(?:inity)?", case=False).any():
        return None
    if seen.str.match(LEADING_ZERO).any():
        return None
    numbers = pd.to_numeric(series, errors="coerce")
    if numbers.isna().sum() > series.isna().sum() or seen.str.contains("x|_", case=False).any():
        return None
    if decimal == COMMA and seen.str.contains(".", regex=False).any():
        # Points between thousands, unless they cannot be.
        texts = seen.drop_duplicates().tolist()
        if decimal_mark(texts) != POINT and all(parse_number(own, COMMA) is not None for own in texts):
            return None
    return numbers.astype("float64") if numbers.dtype.kind not in "iuf" else numbers


def _without_sentinels(found: ColumnValues, options: ReadingOptions, hints: ColumnHints) -> ColumnValues:
    """Numbers and dates without those that stand for missing cells."""
    if found.spelling is not None and found.spelling.meaning != NUMBER:
        return found
    marks, wrong = marked_cells(found.series, options, hints)
    for text, count in marks.items():
        found.marks[text] = found.marks.get(text, 0) + count
    return replace(found, series=found.series.mask(wrong)) if marks else found
