"""Stray quotes: those with which no cell of several lines begins, such as half a quotation, but that look so."""

from __future__ import annotations

import csv
import re

from sklearn_subanneal.files.dialect import TAB, Dialect
from sklearn_subanneal.files.header import MOSTLY, is_value

# Lines by which columns of numbers are found.
MOST_LOOKED_AT = 300
# Without a column of numbers to show it, so many lines must have the right number of cells.
FEWEST_LINES = 3


def without_stray_quotes(text: str, dialect: Dialect, notes: list[str]) -> str:
    """A text in which stray quotes are written as part of their cells.

    A cell that begins with a quote, and holds separators and ends of lines, begins with a stray quote if each of its
    lines is a line of the table without it: with as many cells, and with numbers where others have them.

    Parameters
    ----------
    text : str
        From the first line of the table on.
    dialect : Dialect
    notes : list of str
        Which quotes were stray, and which may be, is added.

    Raises
    ------
    ValueError
        If a quote is not closed, and not stray.

    Examples
    --------
    >>> from sklearn_subanneal.files.dialect import find_dialect
    >>> from sklearn_subanneal.files.stray_quotes import without_stray_quotes
    >>> text = 'a;b\\n1;"so\\n2;he\\n3;said"\\n4;no\\n'
    >>> without_stray_quotes(text, find_dialect(text), [])
    'a;b\\n1;\"\"\"so\"\\n2;he\\n3;said"\\n4;no\\n'
    """
    separator, quote = dialect.separator, dialect.quote
    inner = rf"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
    spaces = "" if separator == TAB else " *"
    quoted = re.compile(rf"(?:\A|[\r\n]|{re.escape(separator)}){spaces}(?P<cell>{quote}{inner}(?P<end>{quote}?))")
    parts: list[str] = []
    stray: list[int] = []
    long: list[int] = []
    of_numbers = _columns_of_numbers(text, dialect)
    at = taken = counted = 0
    number = dialect.n_before + 1
    while found := quoted.search(text, at):
        start, at = found.start("cell"), found.end()
        is_long = "\n" in found["cell"] and separator in found["cell"]
        if found["end"] and not is_long:
            continue
        number, counted = number + text.count("\n", counted, start), start
        if is_long and _are_lines_of_table(_lines_without(text, start, at), dialect, of_numbers):
            stop = re.compile(rf"[\r\n]|{re.escape(separator)}|\Z").search(text, start).start()
            parts += [text[taken:start], quote, text[start:stop].replace(quote, 2 * quote), quote]
            at = taken = stop
            stray.append(number)
        elif found["end"]:
            long.append(number)
        else:
            raise ValueError(
                f"the quote in line {number} is not closed before the end of the file: take it out, "
                "or close it where its cell ends"
            )
    for own, words in (
        (stray, "cells begin with a quote that is a part of them, or the lines after it would be lost"),
        (long, "cells in quotes go over several lines with separators; if they should not, take the quote out"),
    ):
        if own:
            notes.append(f"{len(own)} {words}: the first is in line {own[0]}")
    return "".join([*parts, text[taken:]])


def _lines_without(text: str, start: int, end: int) -> list[str]:
    """The whole lines in which a cell is, without the quote with which it begins."""
    first = text.rfind("\n", 0, start) + 1
    first = text.rfind("\r", first, start) + 1 or first
    last = text.find("\n", end)
    return (text[first:start] + text[start + 1 : len(text) if last < 0 else last]).splitlines()


def _columns_of_numbers(text: str, dialect: Dialect) -> list[int]:
    lines = text.split("\n", MOST_LOOKED_AT + 1)[1 : MOST_LOOKED_AT + 1]
    rows = [row for row in (_split(line, dialect) for line in lines) if len(row) == dialect.n_cells]
    return [at for at in range(dialect.n_cells) if sum(is_value(row[at]) for row in rows) > MOSTLY * len(rows)]


def _are_lines_of_table(lines: list[str], dialect: Dialect, of_numbers: list[int]) -> bool:
    if not of_numbers and len(lines) < FEWEST_LINES:
        return False
    # The last line may begin a cell with another stray quote.
    as_written = [lines[-1].split(dialect.separator)] if lines else []
    rows = [_split(line, dialect) for line in lines if line.strip()]
    return any(
        all(
            len(row) == dialect.n_cells and all(not row[at].strip() or is_value(row[at]) for at in of_numbers)
            for row in own
        )
        for own in (rows, [*rows[:-1], *as_written])
    )


def _split(line: str, dialect: Dialect) -> list[str]:
    """The cells of a line by itself; none if it is no line of cells."""
    spaced = dialect.separator != TAB
    try:
        rows = list(csv.reader([line], delimiter=dialect.separator, quotechar=dialect.quote, skipinitialspace=spaced))
    except csv.Error:
        return []
    return [cell.strip() for row in rows for cell in row]
