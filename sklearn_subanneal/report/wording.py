"""Lists and numbers of things in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def listed(words: Sequence[str], most: int) -> str:
    """The first of some words, separated by commas, and the number of the others.

    Examples
    --------
    >>> from sklearn_subanneal.report.wording import listed
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def counted(number: int, word: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> from sklearn_subanneal.report.wording import counted
    >>> counted(1, "row"), counted(20000, "row"), counted(2, "quantity")
    ('1 row', '20,000 rows', '2 quantities')
    """
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{number:,} {word if number == 1 else plural}"
