"""The end of a table in text or in a sheet: remarks and a line of sums, which are no rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.tables.numerals import POINT, decimal_mark, parse_number

if TYPE_CHECKING:
    import pandas as pd

# Lines after a table, of remarks, are so many at most; shorter texts without a space may be keys of rows.
MOST_AFTER, LONGEST_KEY = 20, 12
_TOTAL = re.compile(r"(?:(?:grand )?totals?|sum|summe|gesamt|insgesamt|somme|totale|suma)\s*:?", re.IGNORECASE)
# A line without a key is one of sums if all of its numbers are those of so many numbers above.
FEWEST_SUMMED = 10


def without_end(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """A table without the lines after it of which only the first cell has a text, and without a line of sums.

    Parameters
    ----------
    frame : DataFrame
        Cells as they are in the file, empty texts or NA where missing.
    notes : list of str
        What was left out is added.
    """
    if len(frame) < 3 or frame.shape[1] < 2:
        return frame
    if frame.shape[1] > 2:
        frame = _without_remarks(frame, notes)
    first = frame.iloc[:, 0].map(str)
    if _TOTAL.fullmatch(first.iloc[-1].strip()) and not first.iloc[:-1].map(_TOTAL.fullmatch).any():
        notes.append(f"the last line, {first.iloc[-1]!r}, was left out")
        return frame.iloc[:-1]
    if _is_empty(frame.iloc[-1, 0]) and not any(map(_is_empty, frame.iloc[:-1, 0])) and _ends_in_sums(frame):
        notes.append("the last line, of which each number is the sum of its column, was left out")
        return frame.iloc[:-1]
    return frame


def _is_empty(cell) -> bool:
    return cell is None or cell != cell or not str(cell).strip()


def _ends_in_sums(frame: pd.DataFrame) -> bool:
    """Whether all cells of the last line are sums of the numbers above them, and larger than each of these."""
    columns = [
        frame.iloc[:, at].map(str).str.strip() for at in range(frame.shape[1]) if not _is_empty(frame.iloc[-1, at])
    ]
    for column in columns:
        decimal = decimal_mark(column) or POINT
        *above, total = (parse_number(text, decimal) for text in column)
        numbers = [number for number in above if number is not None]
        if total is None or len(numbers) < FEWEST_SUMMED or total <= max(map(abs, numbers)):
            return False
        if abs(sum(numbers) - total) > 1e-9 * total:
            return False
    return bool(columns)


def _without_remarks(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    end = frame.iloc[-MOST_AFTER - 1 :]
    full = (end.notna() & (end != "")).to_numpy()
    is_remark = full[:, 0] & (full.sum(axis=1) == 1)
    n_remarks = len(is_remark) - 1 - int(np.flatnonzero(~is_remark).max(initial=0))
    if not n_remarks or is_remark[: len(is_remark) - n_remarks].any():
        return frame
    texts = [str(cell) for cell in frame.iloc[len(frame) - n_remarks :, 0]]
    if any(len(text) <= LONGEST_KEY and " " not in text for text in texts):
        return frame
    notes.append(f"{n_remarks} lines after the table were left out, the first is {texts[0][:60]!r}")
    return frame.iloc[: len(frame) - n_remarks]
