"""PageTable: a table of a page, as a template writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Shorter tables are neither searched nor sorted: a reader sees all of them.
LEAST_SORTED, LEAST_SEARCHED = 3, 8
# Longer ones scroll in a box of their own.
MOST_ROWS_WHOLE, MOST_CHARACTERS = 25, 8000


@dataclass(frozen=True)
class Marked:
    """A cell that is marked, such as an imputed one.

    Attributes
    ----------
    marked : str
    """

    marked: str


@dataclass(frozen=True)
class PageTable:
    """A table with its caption.

    Attributes
    ----------
    caption : str
    heads : sequence of str
    rows : sequence of sequences of str, int or Marked
    numbers : sequence of int
        Columns that are aligned to the right and sorted as numbers.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence]
    numbers: Sequence[int] = ()

    @property
    def is_sorted(self) -> bool:
        """Whether it can be sorted by a column."""
        return len(self.rows) >= LEAST_SORTED

    @property
    def is_searched(self) -> bool:
        """Whether its rows can be searched."""
        return len(self.rows) >= LEAST_SEARCHED

    @property
    def is_long(self) -> bool:
        """Whether it would fill more than a screen."""
        size = sum(len(str(cell)) for row in self.rows for cell in row)
        return len(self.rows) > MOST_ROWS_WHOLE or size > MOST_CHARACTERS


def remark_of(shown: int, number: int, before: str = "the first", after: str = "shown") -> str:
    """A remark if not all are shown.

    Examples
    --------
    >>> from sklearn_subanneal.report.page_table import remark_of
    >>> remark_of(15, 2000), remark_of(7, 7)
    (' (the first 15 of 2,000 shown)', '')
    """
    return "" if shown == number else f" ({before} {shown:,} of {number:,} {after})"
