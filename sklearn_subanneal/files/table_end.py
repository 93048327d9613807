"""The end of a table in text or in a sheet: remarks and a line of sums, which are no rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

# Lines after a table, of remarks, are so many at most; shorter texts without a space may be keys of rows.
MOST_AFTER, LONGEST_KEY = 20, 12
_TOTAL = re.compile(r"(?:grand )?totals?|sum|summe|gesamt|insgesamt|somme|totale|suma", re.IGNORECASE)


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
    return frame


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
