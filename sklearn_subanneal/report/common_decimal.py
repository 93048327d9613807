"""The mark before decimals that the columns of a file show together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sklearn_subanneal.tables.numerals import COMMA, POINT, decimal_mark, parse_number
from sklearn_subanneal.tables.spelling import without_units

if TYPE_CHECKING:
    import pandas as pd

# Rows by which it is sought.
MOST_LOOKED_AT = 300
COMMAS = "commas before decimals"
# At least this share of the cells with a mark must show the other one where another is known.
LEAST_SHOWN = 0.05
# Whole numbers with points between thousands, or numbers with three decimals; and whole ones below 1000.
_GROUPED = re.compile(r"[+\-\u2212]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:\s*(?:€|EUR))?")
_BELOW_1000 = re.compile(r"[+\-\u2212]?(?P<digits>0|[1-9][0-9]{0,2})(?:\s*(?:€|EUR))?")


def common_decimal(frame: pd.DataFrame, separator: str | None = None) -> tuple[str | None, str]:
    """The mark before decimals that the columns of texts of a file show together, and what a user should know of it.

    Where nothing is shown, a file whose cells semicolons separate is of people who write decimal commas, if a column
    has a comma, or points that stand between thousands.

    Parameters
    ----------
    frame : DataFrame
    separator : str or None, default=None
        What stands between the cells of a text.

    Returns
    -------
    mark : {".", ","} or None
        None if the columns show none.
    note : str
        Empty where points, as usual, stand before decimals.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.common_decimal import common_decimal
    >>> common_decimal(pd.DataFrame({"x": ["1,250", "2,5"]}))
    (',', 'commas before decimals')
    >>> common_decimal(pd.DataFrame({"x": ["980", "4.800", "12.400"]}), ";")[0]
    ','
    """
    columns = {name: _texts(frame[name]) for name in frame if is_text_column(frame[name])}
    votes: Counter[str | None] = Counter(decimal_mark(texts) for texts in columns.values())
    if votes[COMMA] != votes[POINT]:
        return (COMMA, COMMAS) if votes[COMMA] > votes[POINT] else (POINT, "")
    if separator != ";":
        return None, ""
    if any(COMMA in text and parse_number(text, COMMA) is not None for texts in columns.values() for text in texts):
        return COMMA, COMMAS
    if votes[POINT]:
        return None, ""
    for name, texts in columns.items():
        if _are_thousands(texts):
            return COMMA, (
                f"points between thousands, as column {name!r} shows, which has whole numbers below 1000 beside "
                f"{_first_grouped(texts)}: if points stand before decimals, pass --decimal ."
            )
    for name, texts in columns.items():
        if first := _first_grouped(texts):
            return None, (
                f"points before decimals, as of {first} in column {name!r}, though semicolons separate the cells: if "
                "points stand between thousands, pass --decimal ,"
            )
    return None, ""


def other_decimal(frame: pd.DataFrame, names: Iterable[str], known: str) -> tuple[bool, str]:
    """Whether columns of a new table show the other mark before decimals than is known of them, and a remark on that.

    They do if at least one cell in twenty with a mark can be read by the other one alone, and no cell shows the known
    one, or has it in a number.

    Parameters
    ----------
    frame : DataFrame
    names : iterable of str
        Of columns of numbers that had the known mark.
    known : {".", ","}

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.common_decimal import other_decimal
    >>> other_decimal(pd.DataFrame({"x": ["2.314", "65.0"]}), ["x"], ",")[0]
    True
    >>> other_decimal(pd.DataFrame({"x": ["2.314", "65,0"]}), ["x"], ","), other_decimal(
    ...     pd.DataFrame({"x": ["65", "7"]}), ["x"], ","
    ... )
    ((False, ''), (False, ''))
    """
    other = POINT if known == COMMA else COMMA
    shown, doubtful = [], []
    for name in (name for name in names if is_text_column(frame[name])):
        for text in without_units(frame[name].dropna().drop_duplicates().tolist()):
            number, otherwise = parse_number(text, known), parse_number(text, other)
            if other not in text or otherwise is None:
                if number is not None and (known in text or other in text):
                    return False, ""
            elif number is None:
                shown.append(f"{text!r} in column {name!r}")
            else:
                doubtful.append(f"{text!r} in column {name!r} was read as {number:.15g}, and not as {otherwise:.15g}")
    words = {POINT: "points", COMMA: "commas"}
    if shown and len(shown) >= LEAST_SHOWN * (len(shown) + len(doubtful)):
        return True, (
            f"{words[other].capitalize()} stand before decimals, as {shown[0]} shows, where the table of the report "
            f"has {words[known]}: if that is wrong, pass --decimal {known}"
        )
    if doubtful:
        return False, (
            f"{doubtful[0]}, since the table of the report has {words[known]} before decimals: if that is wrong, pass "
            f"--decimal {other}"
        )
    return False, ""


def is_text_column(series: pd.Series) -> bool:
    """Whether all cells are texts; before version 3 of pandas these are objects."""
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype):
        return True
    return series.dtype.kind == "O" and pd.api.types.infer_dtype(series, skipna=True) == "string"


def _texts(series: pd.Series) -> list[str]:
    return series.iloc[:MOST_LOOKED_AT].dropna().drop_duplicates().tolist()


def _first_grouped(texts: list[str]) -> str:
    """The first text with points before groups of three digits, if all numbers with points are such; else empty."""
    pointed = [text for text in texts if POINT in text and parse_number(text) is not None]
    return pointed[0] if pointed and all(_GROUPED.fullmatch(text) for text in pointed) else ""


def _are_thousands(texts: list[str]) -> bool:
    """Whether points stand between thousands, as a program that writes decimals as needed would not have it.

    Such as 980, 1.085 and 4.800: with three decimals it would have written 980.000, with as few as needed 4.8.
    """
    numbers = [text for text in texts if re.search(r"[0-9]", text)]
    grouped = [text for text in numbers if _GROUPED.fullmatch(text)]
    small = [found for text in numbers if (found := _BELOW_1000.fullmatch(text))]
    # Of small numbers alone, such as 0 and 12, some people write no decimals.
    return (
        len(grouped) + len(small) == len(numbers)
        and any(text.rstrip(" €EUR").endswith("0") for text in grouped)
        and any(len(found["digits"]) == 3 for found in small)
    )
