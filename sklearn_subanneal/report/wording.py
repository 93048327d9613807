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
