"""Texts that are levels: answers with an order that a types file declares, such as "low", "middle" and "high"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.columns.ordinal import MOST_LEVELS
from sklearn_subanneal.report.wording import listed

if TYPE_CHECKING:
    import pandas as pd

ORDINAL = "ordinal"
FEWEST_LEVELS = 2
# Texts in a message.
MOST_SHOWN = 10


def require_levels(
    name: str, levels: Sequence[str], kind: str | None = None, missing: Iterable[str] = (), meaning: str | None = None
) -> None:
    """Refuse levels that are none, or that contradict what else is declared of their column.

    Parameters
    ----------
    name : str
        Of the column.
    levels : sequence of str
        From the lowest to the highest.
    kind : str or None, default=None
        The type that is declared, if one is.
    missing : iterable of str, default=()
        Texts that are declared to mean a missing cell.
    meaning : str or None, default=None
        What the texts are declared to spell, if anything.

    Raises
    ------
    ValueError
        If there are too few or too many levels, one occurs twice or is empty, or they contradict a declaration.
    """
    start = f"[levels] of the types file has {counted(len(levels), 'text')} for column {name!r}"
    if not FEWEST_LEVELS <= len(levels) <= MOST_LEVELS:
        raise ValueError(f"{start}: give {FEWEST_LEVELS} to {MOST_LEVELS}, from the lowest to the highest.")
    if len(set(levels)) < len(levels) or not all(level.strip() for level in levels):
        raise ValueError(f"{start}, of which one is empty or occurs twice: give each level once.")
    if kind not in (None, ORDINAL):
        raise ValueError(
            f"Column {name!r} is declared {kind!r}, and has levels in [levels] of the types file, which make it "
            f"ordinal: declare it {ORDINAL!r}, or leave the levels out."
        )
    if meaning is not None:
        raise ValueError(
            f"Column {name!r} is in [levels] and in [spelling] of the types file: leave it out of one of them."
        )
    if both := [level for level in levels if level in set(missing)]:
        raise ValueError(
            f"Column {name!r} has the level {both[0]!r}, which is declared to mean a missing cell as well: leave "
            "it out of its levels, or of [missing] and --missing."
        )


def typed_texts(series: pd.Series) -> pd.Series:
    """The cells of a column as one would type them; empty where they are missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.text_levels import typed_texts
    >>> typed_texts(pd.Series([3.0, None, 2.5])).tolist()
    ['3', '', '2.5']
    """
    return series.astype(object).map(as_typed, na_action="ignore").where(series.notna(), "").astype("str")


def as_typed(value) -> str:
    """A value as one would type it: 3.0 as 3."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def with_levels(series: pd.Series, levels: Sequence[str]) -> pd.Series:
    """A column of texts in the dtype that has these levels, in their order.

    Raises
    ------
    ValueError
        If a text is none of them.
    """
    import pandas as pd

    others = series[~series.isin(levels)].value_counts()
    if len(others):
        texts = [f"{text!r} in {counted(int(count), 'cell')}" for text, count in others.items()]
        raise ValueError(
            f"Column {series.name!r} has texts that are none of its levels: {listed(texts, MOST_SHOWN)}. Its levels "
            f"are {', '.join(map(repr, levels))}. Add a text at its place to [levels] of the types file; or, if it "
            "means a missing cell, to [missing] there."
        )
    return series.astype(pd.CategoricalDtype(list(levels), ordered=True))


def levels_of(series: pd.Series) -> tuple[str, ...]:
    """The levels of a column whose dtype has texts in an order; none if it is no such column."""
    import pandas as pd

    if not isinstance(series.dtype, pd.CategoricalDtype) or not series.dtype.ordered:
        return ()
    levels = tuple(series.dtype.categories)
    return levels if all(isinstance(level, str) for level in levels) else ()


def order_remedy(series: pd.Series) -> str:
    """What to do where texts without an order are declared ordinal; empty if the cells are no texts."""
    texts = series.dropna().unique().tolist()
    if not texts or not all(isinstance(text, str) for text in texts):
        return ""
    shown = listed([repr(text) for text in sorted(texts)], MOST_SHOWN)
    return (
        f"Column {series.name!r} is declared {ORDINAL!r}, and holds texts, whose order is unknown: {shown}. Give all "
        "of them from the lowest to the highest in the table [levels] of a types file, as "
        f'"{series.name}" = ["lowest", ..., "highest"] (sklearn-subanneal types TABLE -o types.toml writes one), put '
        "numbers in place of the texts, or declare it 'categorical'."
    )
