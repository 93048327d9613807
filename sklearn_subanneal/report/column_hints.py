"""ColumnHints: what is known of a column of a file before it is read."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_subanneal.report.learned_column import LearnedColumn


@dataclass(frozen=True)
class ColumnHints:
    """What is known of a column before it is read.

    Attributes
    ----------
    as_text : bool
        Whether texts stay texts.
    meaning : str or None
        What the texts spell, as a types file has it.
    missing : tuple of str
        Texts and numbers that mean a missing cell in this column.
    as_numbers : bool
        Whether numbers stay numbers, though they may be dates.
    learned : LearnedColumn or None
        Of a column of a new table, what the model knows; nothing else is guessed.
    levels : tuple of str
        The levels of a column of texts with an order, each of which is a value; those of a new table may have others.
    """

    as_text: bool = False
    meaning: str | None = None
    missing: tuple[str, ...] = ()
    as_numbers: bool = False
    learned: LearnedColumn | None = None
    levels: tuple[str, ...] = ()
