"""LearnedColumn: a column that a model has, by which the cells of new tables are read one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sklearn_subanneal.report.boolean_texts import FALSE, TICK, TRUE, read_ticks
from sklearn_subanneal.report.text_levels import as_typed
from sklearn_subanneal.report.written_numbers import AS_PROGRAMS, WrittenNumbers
from sklearn_subanneal.tables.cells import array_cells
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.dates import comes_day_first, parse_datetimes
from sklearn_subanneal.tables.exact_integers import exact_integers
from sklearn_subanneal.tables.numerals import COMMA, LARGEST_EXACT, POINT
from sklearn_subanneal.tables.spelling import NUMBER, Spelling, behind_numbers, unit_of

if TYPE_CHECKING:
    import pandas as pd

# Unreadable values of a column that are kept for messages.
MOST_KEPT = 20
# Numbers as programs write them, whole ones and others.
_WHOLE = r"[+-]?(?:0|[1-9][0-9]*)"
_PLAIN = rf"{_WHOLE}(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"


class LearnedCells(NamedTuple):
    """The values of cells, those that are none and in how many cells, and what of the reading may surprise."""

    series: pd.Series
    unreadable: dict[str, int]
    remark: str = ""


@dataclass(frozen=True, eq=False)
class LearnedColumn:
    """What is known of a column of a new table.

    Attributes
    ----------
    column : Column
        Of the model.
    meaning : str or None
        What texts spelled in the table of the model, as a types file has it.
    decimal : {".", ","}
        The mark before decimals.
    day_first : bool or None
        Whether the first number of 04/03/2021 is the day.
    written : WrittenNumbers
        How numbers were written in the table of the model.
    """

    column: Column
    meaning: str | None = None
    decimal: str = POINT
    day_first: bool | None = None
    written: WrittenNumbers = AS_PROGRAMS

    @property
    def has_texts(self) -> bool:
        """Whether the cells are texts, however much these look like numbers."""
        categories = self.column.categories
        return categories is not None and all(isinstance(value, str) for value in categories.tolist())

    @property
    def _is_boolean(self) -> bool:
        return self.column.dtype.lower().startswith("bool")

    def read(self, texts: pd.Series) -> LearnedCells | None:
        """The values that texts spell, and those that spell none, which are missing, and in how many cells.

        Nothing depends on what the other cells are, so that one of them does not change how the others are read. None
        if that is not enough, as of dates that may be day or month first.

        Parameters
        ----------
        texts : pandas.Series
            NA where missing.
        """
        if self.meaning == TICK:
            ticked, others = read_ticks(texts)
            return LearnedCells(ticked, counted_cells(texts[others]))
        if self.column.kind == "datetime":
            return self._dates(texts)
        if self.column.kind == "boolean" or self._is_boolean:
            words = texts.str.lower()
            texts = texts.mask(words.isin(TRUE), "1").mask(words.isin(FALSE), "0")
        return self._numbers(texts)

    def conformed(self, series: pd.Series) -> tuple[pd.Series, dict[str, int]]:
        """The cells in the dtype that the column had, and those that cannot be."""
        cells, wrong = self._in_its_dtype(series)
        if cells.dtype.kind not in "biuf" or self.column.type.coded:
            return cells, wrong
        # Whatever chose the type: here a number that it does not have is a finding, and no error.
        numbers = cells.to_numpy(np.float64, na_value=np.nan)
        any_number = replace(self.column, inferred=True, spelling=None)
        _, unsuited = any_number.encode(array_cells(self.column.name, numbers))
        strange = cells.isin(unsuited)
        return (cells.mask(strange), wrong | counted_cells(cells[strange])) if strange.any() else (cells, wrong)

    def _in_its_dtype(self, series):
        import pandas as pd

        is_text = isinstance(series.dtype, pd.StringDtype) or series.dtype == object
        if self.has_texts:
            return (series if is_text else series.map(as_typed, na_action="ignore").astype(object)), {}
        if self.column.kind == "datetime":
            is_date = pd.api.types.is_datetime64_any_dtype(series.dtype) or series.dtype == object
            return (series, {}) if is_date or not series.notna().any() else _without(series, series.notna())
        if self._is_boolean and series.dtype.kind in "iuf":
            wrong = series.notna() & ~series.isin((0, 1))
            return series.mask(wrong).astype("boolean"), counted_cells(series[wrong])
        if not is_text:
            return series, {}
        # Objects that are neither texts nor numbers.
        cells, wrong = _without(series, series.notna())
        return (cells if self.column.type.coded else cells.astype(np.float64)), wrong

    def _numbers(self, texts):
        import pandas as pd

        whole = texts.str.fullmatch(_PLAIN if self.decimal == POINT else _WHOLE).fillna(False).astype(bool)
        if whole.all():
            return LearnedCells(pd.to_numeric(texts), {})
        numbers = pd.to_numeric(texts.where(whole), errors="coerce").astype(np.float64)
        numbers = numbers.mask(np.isinf(numbers))
        others = texts[~whole & texts.notna()].unique().tolist()
        own, other = (self._spelled(others, mark) for mark in (self.decimal, COMMA if self.decimal == POINT else POINT))
        # Where the known mark fits few cells, the column has the other one: tables may have both.
        if not whole.any() and 2 * len(own) < len(others) and len(own) < len(other):
            own = other
        is_large = not own and bool((numbers.abs() > LARGEST_EXACT).any())
        if is_large and (exact := exact_integers(texts.where(whole))) is not None:
            return LearnedCells(exact, counted_cells(texts[~whole & texts.notna()]))
        numbers = numbers.fillna(texts.map({text: number for text, (number, _) in own.items()}).astype(np.float64))
        return LearnedCells(numbers, counted_cells(texts[numbers.isna() & texts.notna()]), self._remark(own))

    def _spelled(self, texts: list[str], decimal: str) -> dict[str, tuple[float, Spelling]]:
        """The numbers that some texts spell, and how."""
        spellings = self._spellings(texts, decimal)
        read = {text: next(_read(spellings, text), None) for text in texts}
        return {text: found for text, found in read.items() if found is not None}

    def _spellings(self, texts: list[str], decimal: str) -> list[Spelling]:
        """The spellings that are tried one after the other."""
        if self.meaning not in (None, NUMBER):
            return [Spelling(self.meaning, decimal)]
        plain = Spelling(decimal=decimal)
        if self.written.unit:
            # Grams would be read as so many kilograms, and "82 K" as 82,000.
            names = [name for name in dict.fromkeys(behind_numbers(texts)) if self.written.is_unit(name)]
            with_unit = [replace(plain, unit=name) for name in (names or [self.written.unit])]
        else:
            with_unit = [replace(plain, has_scales=True), replace(plain, unit=unit_of(texts))]
        return [plain, *with_unit, *(replace(own, has_bounds=True) for own in with_unit if not own.has_scales)]

    def _remark(self, read: dict[str, tuple[float, Spelling]]) -> str:
        """What is said of numbers with a unit or a scale that the table of the model did not have."""
        if self.written.unit:
            return ""
        for text, (number, spelling) in read.items():
            has_unit = bool(spelling.unit) and text.strip().endswith(spelling.unit)
            what = f"unit {spelling.unit}" if has_unit else "scale"
            if has_unit or (spelling.has_scales and not self.written.scales):
                return (
                    f"{text!r} was read as {number:.15g}, though [numbers] of the types file has no {what} for this "
                    "column: convert its cells if they have another unit than those of the report"
                )
        return ""

    def _dates(self, texts):
        """Dates cell by cell, or numbers if none is a date; None if the order of dates is not known."""
        import pandas as pd

        distinct = texts.dropna().unique().tolist()
        try:
            order = comes_day_first(distinct, self.column.name) if self.day_first is None else self.day_first
            dates = parse_datetimes(distinct, self.column.name, order)
        except ValueError:
            return None
        if dates is None:
            singly = [parse_datetimes([text], day_first=order) for text in distinct]
            dates = [pd.NaT if date is None else date[0] for date in singly]
        known = dict(zip(distinct, dates, strict=True))
        if pd.isna(list(dates)).all():
            # Days and seconds that are counted are numbers until their range is known.
            return self._numbers(texts) if distinct else None
        cells = pd.Series(pd.to_datetime(texts.map(known)), texts.index, name=texts.name)
        return LearnedCells(cells, counted_cells(texts[cells.isna() & texts.notna()]))


def counted_cells(cells: pd.Series) -> dict[str, int]:
    """The most frequent values of some cells, as texts, and how many cells have them."""
    return {str(value): int(count) for value, count in cells.value_counts().iloc[:MOST_KEPT].items()}


def _read(spellings, text):
    return ((number, spelling) for spelling in spellings if (number := spelling.read(text)) is not None)


def _without(series, wrong):
    return series.mask(wrong).astype(object), counted_cells(series[wrong])
