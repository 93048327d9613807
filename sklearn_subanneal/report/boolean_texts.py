"""Texts of booleans: words for true and false, and ticks in boxes that are otherwise left empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

TRUE, FALSE = ("true", "wahr", "vrai"), ("false", "falsch", "faux")
TICKS = ("x", "X", "✓", "✔", "☑")
# What the texts of a column spell, in a types file, if they are ticks.
TICK = "tick"


def read_ticks(texts: pd.Series) -> tuple[pd.Series, pd.Series]:
    """The cells of a column of ticks, and which of them are neither ticks nor empty, nor words for true and false.

    Empty means no; but among words for false, as the tables of results have them, it means missing, and in a column
    without any text: it may have been added for want of it.

    Parameters
    ----------
    texts : Series of str
        NA where empty.

    Returns
    -------
    ticked : Series of boolean
    others : Series of bool

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.boolean_texts import read_ticks
    >>> read_ticks(pd.Series(["x", None]))[0].tolist(), read_ticks(pd.Series(["True", "False", None]))[0].tolist()
    ([True, False], [True, False, <NA>])
    """
    words, ticks = texts.str.lower(), texts.isin(TICKS)
    ticked, crossed = ticks | words.isin((*TRUE, "1")), words.isin((*FALSE, "0"))
    others = texts.notna() & ~ticked & ~crossed
    says_no = bool(crossed.any()) and not ticks.any()
    gaps = texts.isna() & (says_no or not texts.notna().any())
    return ticked.astype("boolean").mask(others | gaps), others
