"""The type of each column of a file: as declared, or inferred, with the reason; and which columns are set aside."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.columns.binding import DECLARED
from sklearn_subanneal.columns.cyclic import ROUNDING, TURN
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.report.column_values import AS_TEXTS, ColumnValues
from sklearn_subanneal.report.date_texts import ALL_DATES
from sklearn_subanneal.report.declared_column import unsuitable
from sklearn_subanneal.report.declared_type import CYCLIC, DeclaredType
from sklearn_subanneal.report.number_digits import DIGITS_SHOWN, LARGEST_IN_FULL, decimals_of
from sklearn_subanneal.report.text_levels import ORDINAL, levels_of, order_remedy
from sklearn_subanneal.tables.cells import pandas_cells
from sklearn_subanneal.tables.chosen_type import AUTO
from sklearn_subanneal.tables.dates import date_spelling
from sklearn_subanneal.tables.number_signs import several_signs
from sklearn_subanneal.tables.spelling import Spelling, units_of

if TYPE_CHECKING:
    import pandas as pd

#: Types of columns that are not modelled: the one that names the rows, and ignored ones.
LABEL, IGNORED = "label", "ignore"
TYPES = (*DECLARED, LABEL, IGNORED)
# Text is a category, unless it has more values than this, or more than some and these mostly different.
MOST_TEXTS, FEW_TEXTS = 1000, 20
# Text of which this share can be read as numbers is probably a number with a mark for missing cells.
MOSTLY = 0.8
# Free text has so many words on average; so many are no name of a row.
WORDS_OF_TEXT, WORDS_OF_SENTENCE = 4.0, 7.0
# Numbers with units have at most so many different ones; more are names, as in addresses. So many texts are looked at.
MOST_UNITS, UNITS_LOOK = 5, 1000
# Names of columns of keys.
KEY = re.compile(
    r"(?:^|[_\W])(?:id|ids|key|uuid|guid|rowid|ean|isbn|iban|ssn|zip|zipcode|plz|postcode|postalcode|(?:tele)?phone|mobile|fax)$|kennung$|kundennummer$"
    r"|(?-i:[a-z]I[dD]$)",
    re.IGNORECASE,
)
HOURS = 24.0


@dataclass(frozen=True)
class ColumnDescription:
    """One column of the file.

    Attributes
    ----------
    name : str
    kind : {"real", "categorical", "boolean", "count", "cyclic", "ordinal", "datetime", "label", "ignore"}
    reason : str
        Reason for the type.
    n_missing, n_distinct : int
    values : str
        The range, or the most frequent values.
    marks : dict of str to int
        What was taken for a missing cell, and in how many cells.
    period : float or None
        Of a cyclic column, where it is declared or its values say it: 24 of hours of the day. None: 2 pi.
    meaning : str
        What its texts spell, as a types file has it; empty if that is plain.
    spelling : Spelling or None
        How they spell it, if not as programs write numbers.
    day_first : bool or None
        Which of two numbers before a year was read as the day.
    levels : tuple of str
        Of an ordinal column of texts, from the lowest to the highest.
    is_chosen : bool
        Whether the type is the one that estimators choose by themselves.
    is_function : bool
        Whether the column is a function of another one, and modelled by that.
    """

    name: str
    kind: str
    reason: str
    n_missing: int
    n_distinct: int
    values: str
    marks: dict[str, int] = field(default_factory=dict)
    period: float | None = None
    meaning: str = ""
    spelling: Spelling | None = None
    day_first: bool | None = None
    levels: tuple[str, ...] = ()
    is_chosen: bool = False
    is_function: bool = False

    @property
    def is_modelled(self) -> bool:
        """Whether the column is part of the model."""
        return self.kind in DECLARED

    @property
    def declaration(self) -> str:
        """The type as a user would declare it; that of a function of another column is found anew."""
        return AUTO if self.is_function else str(DeclaredType(self.kind, None if self.meaning else self.period))


def described_columns(read: Mapping[str, ColumnValues], types: Mapping[str, str]) -> list[ColumnDescription]:
    """The type of each column, and the reason for it.

    Parameters
    ----------
    read : mapping of str to ColumnValues
    types : mapping of str to str
        The types that are declared; "cyclic:24" is a cyclic column with this period.

    Raises
    ------
    ValueError
        If a declared type or its column is unknown, a column cannot be of its declared type, or holds infinity.
    """
    declared = {name: DeclaredType.parse(name, text) for name, text in types.items() if text != AUTO}
    for name, own in declared.items():
        if name not in read:
            raise ValueError(f"--types names the column {name!r}, which the table does not have; it has {list(read)}.")
        if own.kind not in TYPES:
            raise ValueError(f"--types has {own.kind!r} for column {name!r}; types are {', '.join(TYPES)}.")
    has_label, columns = LABEL in types.values(), []
    for name, values in read.items():
        period, is_chosen = None, False
        if name in declared:
            kind, reason = _declared(name, values, declared[name].kind)
            if kind == CYCLIC:
                period, reason = _declared_period(name, values, declared[name].period)
        else:
            kind, reason, is_chosen = _inferred(name, values)
        if kind == LABEL and name not in declared:
            kind = IGNORED if has_label else LABEL
            has_label = True
        seen = values.series.dropna()
        period = HOURS if kind == CYCLIC and values.are_hours else period
        n_missing, n_distinct = int(values.series.isna().sum()), int(_hashable(seen).nunique())
        description = ColumnDescription(name, kind, reason, n_missing, n_distinct, _values(seen), values.marks, period)
        levels = levels_of(values.series) if kind == ORDINAL else ()
        columns.append(
            replace(
                description,
                meaning=values.meaning,
                spelling=values.spelling,
                day_first=values.day_first,
                levels=levels,
                is_chosen=is_chosen,
            )
        )
    return columns


def _declared(name: str, values: ColumnValues, kind: str) -> tuple[str, str]:
    """The type that is declared of a column, and the reason; the column must be able to have it."""
    wrong = unsuitable(values.series, kind) if kind in DECLARED else ""
    if wrong and kind == ORDINAL and (message := order_remedy(values.series)):
        raise ValueError(message)
    if wrong and kind == "datetime" and values.problem:
        raise ValueError(f"Column {name!r} has {values.problem}.")
    if wrong:
        raise ValueError(f"{wrong}: declare it {_inferred(name, values)[0]!r} by --types, or correct its cells.")
    levels = levels_of(values.series) if kind == ORDINAL else ()
    order = f", {len(levels)} levels in the order given, from {levels[0]} to {levels[-1]}" if levels else ""
    return kind, f"as declared{order}"


def _declared_period(name: str, values: ColumnValues, period: float | None) -> tuple[float | None, str]:
    """The period of a column that is declared cyclic, and the reason for its type."""
    seen = values.series.dropna()
    if values.are_hours:
        if period not in (None, HOURS):
            raise ValueError(f"Column {name!r} has times of day, in hours, whose period is 24: declare it 'cyclic'.")
        return HOURS, "as declared; times of day, in hours, with the period 24"
    if period is not None:
        return period, f"as declared, with the period {brief(period)}"
    if len(seen) and seen.max() - seen.min() > TURN * (1.0 + ROUNDING):
        raise ValueError(
            f"Column {name!r} is declared cyclic, and has values from {brief(seen.min())} to {brief(seen.max())}, "
            f"more than one turn of angles in radians: declare the period, too, as in --types {name}=cyclic:24 for "
            "hours of the day, cyclic:360 for degrees, or cyclic:12 for months."
        )
    return None, "as declared; angles in radians"


def _inferred(name: str, values: ColumnValues) -> tuple[str, str, bool]:
    """The type of a column, the reason, and whether it is the one that estimators choose."""
    series = values.series
    seen = series.dropna()
    n_distinct = _hashable(seen).nunique()
    if n_distinct < 2:
        return IGNORED, f"all its cells are {seen.iloc[0]}" if n_distinct else "it has no values", False
    if values.problem:
        return IGNORED, values.problem, False
    if series.dtype.kind == "f" and np.isinf(seen).any():
        raise ValueError(f"Column {name!r} holds infinity: correct it, leave it empty, or pass --missing inf.")
    if values.reading == AS_TEXTS:
        kind, reason = _of_text("categorical", seen, len(series), n_distinct)
        return kind, f"{AS_TEXTS}; {reason}", False
    if values.are_hours:
        return "cyclic", "texts that spell times of day, in hours; the period is 24", False
    try:
        chosen = choose_type(pandas_cells(name, series))
    except (TypeError, ValueError) as error:
        return IGNORED, str(error), False
    reason = chosen.reason
    if values.spelling:
        marks = ", ".join(map(repr, values.spelling.marks[:3]))
        left = f"; missing where they are not: {marks}" if marks else ""
        reason = f"texts that spell {values.spelling.words}{left}; {reason}"
    elif values.reading:
        reason = values.reading if values.reading.startswith(ALL_DATES) else f"{values.reading}; {reason}"
    if chosen.kind == "categorical" and series.dtype.kind not in "iuf":
        kind, reason = _of_text(chosen.kind, seen, len(series), n_distinct)
        return kind, reason, kind == chosen.kind
    is_numbering = series.dtype.kind in "iu" and seen.iloc[0] in (0, 1) and len(seen) > 2
    if is_numbering and (np.diff(seen) == 1).all():
        return LABEL, "it numbers the rows", False
    if chosen.warning and n_distinct == len(series):
        return LABEL, chosen.reason, False
    if _are_whole(seen) and KEY.search(name) and n_distinct > FEW_TEXTS:
        if n_distinct == len(series):
            return LABEL, "whole numbers, different in each row, whose name is that of a key", False
        if n_distinct > MOST_TEXTS or n_distinct > len(seen) / 2:
            return IGNORED, "whole numbers, mostly different in each row, whose name is that of a key", False
        return "categorical", f"{n_distinct:,} whole numbers whose name is that of a key", False
    return chosen.kind, reason, True


def _of_text(kind: str, seen: pd.Series, n_rows: int, n_distinct: int) -> tuple[str, str]:
    texts = seen.astype(str)
    n_words = texts.str.count(r"\s+").mean() + 1.0
    what = "free text" if n_words >= WORDS_OF_TEXT else "text"
    look = texts.unique()[:UNITS_LOOK].tolist()
    units = units_of(look) or several_signs(look)
    if 1 < len(units) <= MOST_UNITS:
        what = f"numbers with several units ({', '.join(units)}), texts until they are converted to one"
    elif date_spelling(texts.unique()).are_seasons:
        what = "seasons from one year to the next, and no months"
    if n_distinct == n_rows:
        return (LABEL if n_words < WORDS_OF_SENTENCE else IGNORED), f"{what}, different in each row"
    if n_distinct > MOST_TEXTS or n_distinct > max(FEW_TEXTS, len(seen) / 2):
        return IGNORED, f"{what}, mostly different in each row{_marks(seen)}"
    return kind, what.removeprefix("free ") + _marks(seen)


def _are_whole(seen: pd.Series) -> bool:
    return seen.dtype.kind in "iuf" and bool((seen == np.floor(seen)).all())


def _marks(seen: pd.Series) -> str:
    """A remark on text that consists of numbers and a few marks, else an empty string."""
    import pandas as pd

    is_text = pd.to_numeric(seen.astype(str), errors="coerce").isna()
    if not is_text.any() or is_text.mean() > 1.0 - MOSTLY:
        return ""
    mark = seen[is_text].mode()[0]
    return f", but mostly numbers: if {mark!r} means missing, pass --missing {mark!r}"


def _values(seen: pd.Series) -> str:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(seen) and not pd.api.types.is_bool_dtype(seen) and len(seen):
        decimals = decimals_of(float(seen.max()) - float(seen.min()), DIGITS_SHOWN)
        return f"{brief(seen.min(), decimals)} to {brief(seen.max(), decimals)}"
    counts = seen.astype(str).value_counts()
    # Values may contain commas.
    return "; ".join(counts.index[:3]) + ("; ..." if len(counts) > 3 else "")


def _hashable(seen: pd.Series) -> pd.Series:
    """The cells, or texts of them where they are lists or the like."""
    if seen.dtype == object and not all(getattr(type(cell), "__hash__", None) for cell in seen.iloc[:100]):
        return seen.astype(str)
    return seen


def brief(value, decimals: int = 0) -> str:
    """A value as text, with about four digits of a number, and at least so many decimals if these are not zeros.

    Examples
    --------
    >>> from sklearn_subanneal.report.column_types import brief
    >>> brief(3.14159), brief(12345.678), brief(9999.6), brief(2459009.125, 2), brief(1e-7), brief("x")
    ('3.142', '12,346', '10,000', '2,459,009.12', '1e-07', 'x')
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return str(value)
    size = abs(value)
    if size < LARGEST_IN_FULL and value == int(value):
        return f"{int(value):,}" if size >= 1e4 else str(int(value))
    if not 1e-4 <= size < LARGEST_IN_FULL:
        return f"{value:.4g}"
    decimals = max(decimals, decimals_of(size, 4), 0)
    comma = "," if round(size, decimals) >= 1e4 else ""
    text = f"{value:{comma}.{decimals}f}"
    return text.rstrip("0").removesuffix(".") if decimals else text
