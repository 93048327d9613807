"""Dialect: how a table is written in a text: comments, the separator of the cells, and the lines before the table."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass

from sklearn_subanneal.files.header import has_names
from sklearn_subanneal.tables.numerals import parse_number

TAB, SPACES = "\t", " "
SEPARATORS = (TAB, ";", "|", ",")
NAMES = {TAB: "tabs", ";": "semicolons", "|": "bars", ",": "commas", SPACES: "spaces"}
COMMENTS = ("#", "//", "%", "!")
# Lines that are looked at, and those that may stand before a table without belonging to it.
MOST_LINES, MOST_BEFORE = 300, 40
# Share of the lines that have the same number of cells where a separator is the right one, and share of the cells of a
# line of the table that are not empty.
LEAST_EQUAL, LEAST_FULL = 0.6, 0.6
# So many lines are looked at for quotes.
MOST_QUOTED = 20
# Where spaces separate, so many lines have the same number of cells, and of one column so many cells are numbers.
LEAST_SPACED = 0.9
_DECLARED = re.compile(r"sep=(.)\r?\n?")


@dataclass(frozen=True)
class Dialect:
    """How a table is written.

    Attributes
    ----------
    separator : str
        A tab, semicolon, bar or comma, or a space for runs of spaces.
    n_cells : int
        Cells in most lines.
    n_before : int
        Lines before the table, comments included.
    comment : str
        With what lines begin that are comments; empty if there are none.
    names : list of str or None
        Names of the columns where the last comment has them.
    has_names : bool
        Whether the first line of the table has the names of the columns.
    first : list of str
        The cells of the first line of the table.
    quote : str
        What stands around cells that hold a separator.
    """

    separator: str
    n_cells: int
    n_before: int
    comment: str
    names: list[str] | None
    has_names: bool
    first: list[str]
    quote: str = '"'


def find_dialect(text: str, header: bool | None = None, separator: str | None = None) -> Dialect:
    """How the table in a text is written.

    Parameters
    ----------
    text : str
    header : bool or None
        Whether the first line of the table has names; None: they are recognised.
    separator : str or None
        None: that by which most lines have the same number of cells.

    Raises
    ------
    ValueError
        If there is no line that is not a comment.

    Examples
    --------
    >>> from sklearn_subanneal.files.dialect import find_dialect
    >>> found = find_dialect("# from the mill\\nSales of 2020\\n\\nday;price\\n1;2,5\\n2;3,5\\n")
    >>> found.separator, found.n_before, found.has_names
    (';', 3, True)
    """
    lines = _first_lines(text)
    n_before, declared = 0, None
    if lines and (found := _DECLARED.fullmatch(lines[0])):
        n_before, declared = 1, found[1]
    comments = []
    while n_before < len(lines) and (not lines[n_before].strip() or _comment(lines[n_before])):
        if lines[n_before].strip():
            comments.append(lines[n_before])
        n_before += 1
    body = lines[n_before:]
    if not any(line.strip() for line in body):
        if comments and header is not False:
            # All lines are comments: they are the table.
            return find_dialect(re.sub(r"(?m)^\s*(#|//|%|!)\s*", "", text), header, separator)
        raise ValueError("it has no lines")
    comment = _comment(comments[-1]) if comments else ""
    body = [line for line in body if not (comment and line.startswith(comment))]
    full = [line.strip() for line in body if line.strip()][:MOST_QUOTED]
    quote = "'" if all(len(line) > 1 and line[0] == line[-1] == "'" for line in full) else '"'
    if quote == "'":
        body = [line.replace('"', "\0").replace("'", '"') for line in body]
    separator = separator or declared or _separator(body)
    rows = _cells(body, separator)
    full = [row for row in rows if any(row)]
    n_cells = _usual(full)
    if sum(len(row) == n_cells for row in full) < LEAST_EQUAL * len(full):
        n_cells = len(full[0])
    start = _start(rows, n_cells)
    n_before += _n_lines(body, rows, start, separator)
    rows = [row for row in rows[start:] if any(row)]
    names = _cells([comments[-1].strip().removeprefix(comment)], separator)[0] if comments else []
    of_comment = len(names) == n_cells > 1 and header is not False and not has_names(rows)
    is_named = not of_comment and (has_names(rows) if header is None else header)
    return Dialect(separator, n_cells, n_before, comment, names if of_comment else None, is_named, rows[0], quote)


def _first_lines(text: str) -> list[str]:
    """The first lines, with their ends."""
    end = 0
    for _ in range(MOST_LINES + MOST_BEFORE):
        found = re.compile(r"\r\n|\n|\r").search(text, end)
        if found is None:
            end = len(text)
            break
        end = found.end()
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$", text[:end])


def _comment(line: str) -> str:
    """With what a line begins that is a comment, or an empty string."""
    return next((mark for mark in COMMENTS if line.lstrip().startswith(mark)), "")


def _cells(lines: list[str], separator: str) -> list[list[str]]:
    if separator == SPACES:
        return [line.split() for line in lines]
    try:
        rows = list(csv.reader(lines, delimiter=separator, skipinitialspace=separator != TAB))
    except csv.Error:
        rows = [line.rstrip("\r\n").split(separator) for line in lines]
    return [[cell.strip() for cell in row] for row in rows]


def _usual(rows: list[list[str]]) -> int:
    """The number of cells that most rows have."""
    counts = Counter(map(len, rows))
    return max(counts, key=lambda n: (counts[n], n)) if counts else 0


def _separator(lines: list[str]) -> str:
    """That by which most lines have one number of cells, at least two; a comma if there is none."""
    best, found = LEAST_EQUAL, ","
    for separator in SEPARATORS:
        rows = [row for row in _cells(lines, separator) if any(row)]
        usual = _usual(rows)
        share = sum(len(row) == usual for row in rows) / max(len(rows), 1)
        # The first line of the table has as many, and seldom those before it.
        share += 0.01 * bool(rows and len(rows[0]) == usual)
        if usual > 1 and share > best:
            best, found = share, separator
    if best > LEAST_EQUAL:
        return found
    rows = [line.split() for line in lines if line.strip()]
    usual = _usual(rows)
    rows = [row for row in rows if len(row) == usual]
    if usual < 2 or len(rows) < LEAST_SPACED * sum(bool(line.strip()) for line in lines):
        return ","
    numbers = [sum(parse_number(row[at]) is not None for row in rows) for at in range(usual)]
    first = next(line.split() for line in lines if line.strip())
    # Sentences of as many words are no table.
    is_table = len(first) in (usual, usual - 1) or 2 * sum(numbers) >= usual * len(rows)
    return SPACES if is_table and len(rows) > 1 and max(numbers) >= LEAST_SPACED * (len(rows) - 1) else ","


def _start(rows: list[list[str]], n_cells: int) -> int:
    """The first row of the table: of those before it, most cells are empty."""
    if n_cells < 2:
        return next(at for at, row in enumerate(rows) if any(row))
    for at, row in enumerate(rows[:MOST_BEFORE]):
        full = sum(map(bool, row))
        below = rows[at + 1] if at + 1 < len(rows) else []
        # Names of rows may have no name themselves.
        is_name_short = n_cells > 2 and len(row) == full == n_cells - 1 and len(below) == n_cells
        if is_name_short or (len(row) >= n_cells and full >= max(2, LEAST_FULL * n_cells)):
            return at
    return next(at for at, row in enumerate(rows) if any(row))


def _n_lines(lines, rows, n_rows, separator) -> int:
    """Lines of which the first rows are made: cells in quotes may have several."""
    if not n_rows or len(lines) == len(rows):
        return n_rows
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != TAB)
    for _ in range(n_rows):
        next(reader)
    return reader.line_num
