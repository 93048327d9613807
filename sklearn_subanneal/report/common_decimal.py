"""The mark before decimals that the columns of a file show together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sklearn_subanneal.tables.numerals import COMMA, POINT, decimal_mark, parse_number

if TYPE_CHECKING:
    import pandas as pd

# Rows by which it is sought.
MOST_LOOKED_AT = 300


def common_decimal(frame: pd.DataFrame, separator: str | None = None) -> str | None:
    """The mark before decimals that the columns of texts of a file show together; None if they show none.

    Where nothing is shown, a file whose cells semicolons separate is of people who write decimal commas.
    """
    votes: Counter[str | None] = Counter()
    looked_at = []
    for name in (name for name in frame if is_text_column(frame[name])):
        texts = frame[name].iloc[:MOST_LOOKED_AT].dropna().drop_duplicates().tolist()
        votes[decimal_mark(texts)] += 1
        looked_at.append(texts)
    if votes[COMMA] != votes[POINT]:
        return COMMA if votes[COMMA] > votes[POINT] else POINT
    if separator != ";":
        return None
    has_commas = any(COMMA in text and parse_number(text, COMMA) is not None for texts in looked_at for text in texts)
    return COMMA if has_commas else None


def is_text_column(series: pd.Series) -> bool:
    """Whether all cells are texts; before version 3 of pandas these are objects."""
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype):
        return True
    return series.dtype.kind == "O" and pd.api.types.infer_dtype(series, skipna=True) == "string"
