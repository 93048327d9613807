"""Tables whose columns are aligned by spaces, where blank cells are missing, as printers of tables write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from sklearn_subanneal.tables.numerals import parse_number

# A table has so many lines at least, and so many of the cells of one of its columns are numbers, names apart.
LEAST_LINES, LEAST_NUMBERS = 5, 0.9
# Lines that are looked at before all of them are.
FIRST_LINES = 300
_RULE = re.compile(r"[\s=+-]*[=-]{3,}[\s=+-]*")


def separated_by_tabs(text: str) -> str | None:
    """A text with a tab between cells, if its columns are aligned by spaces and some cells are blank.

    Between two columns there is a place that is blank in all lines. Where all lines have as many words, or the place of
    a cell does not say its column, it is None. Rules below the names are left out.

    Parameters
    ----------
    text : str

    Returns
    -------
    text : str or None

    Examples
    --------
    >>> from sklearn_subanneal.files.fixed_width import separated_by_tabs
    >>> lines = ["town      size age", "New York   1.5  12", "Ulm             35", "Bonn       2.5", "Kiel       0.5"]
    >>> separated_by_tabs("\\n".join(lines)).splitlines()
    ['town\\tsize\\tage', 'New York\\t1.5\\t12', 'Ulm\\t\\t35', 'Bonn\\t2.5\\t', 'Kiel\\t0.5\\t']
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not _RULE.fullmatch(line)]
    if len(lines) < LEAST_LINES or "\t" in text or len({len(line.split()) for line in lines}) == 1:
        return None
    if not any("  " in line.strip() for line in lines) or len(_columns(lines[:FIRST_LINES])) < 2:
        return None
    columns = _columns(lines)
    rows = [[line[start:end].strip() for start, end in columns] for line in lines]
    rows = _joined(rows, columns)
    names, *body = rows
    # Names of rows may have no name themselves. If another column has none, the names are not above their cells.
    if len(names) < 2 or not all(names[1:]):
        return None
    if any(_has_several_numbers(cell) for row in body for cell in row):
        return None
    if not any(map(_are_numbers, zip(*body, strict=True))):
        return None
    return "".join("\t".join(map(_quoted, row)) + "\n" for row in rows)


def _columns(lines: list[str]) -> list[tuple[int, int]]:
    """Where each column starts and ends: between them all lines are blank."""
    is_used = np.zeros(max(map(len, lines)) + 2, bool)
    for line in lines:
        characters = np.frombuffer(line.encode("utf-32-le", "surrogatepass"), np.uint32)
        is_used[1 : len(line) + 1] |= characters != ord(" ")
    edges = np.flatnonzero(np.diff(is_used.astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _joined(rows: list[list[str]], columns: list[tuple[int, int]]) -> list[list[str]]:
    """Words that are in one place in all lines, but not columns of their own, are joined to the others of their cell.

    Such are those of a name that is wider than the cells below, and words below no name that are no numbers. A single
    space divides them from their cell, which has other words in all these lines.
    """
    at = 0
    while at < len(columns):
        left = next((k for k in (at, at - 1) if _is_one_column(rows, columns, at, k)), None)
        if left is None:
            at += 1
            continue
        at = left
        columns = [*columns[:at], (columns[at][0], columns[at + 1][1]), *columns[at + 2 :]]
        rows = [[*row[:at], f"{row[at]} {row[at + 1]}".strip(), *row[at + 2 :]] for row in rows]
    return rows


def _is_one_column(rows, columns, at, left) -> bool:
    """Whether the words of the column ``at`` belong to its neighbour, of the columns ``left`` and ``left + 1``."""
    if not 0 <= left < len(columns) - 1 or columns[left + 1][0] - columns[left][1] != 1:
        return False
    other = 2 * left + 1 - at
    if any(row[at] and not row[other] for row in rows):
        return False
    words, others = ([row[k] for row in rows[1:]] for k in (at, other))
    return not any(words) or not (rows[0][at] or _are_numbers(words) or _are_numbers(others))


def _quoted(cell: str) -> str:
    """A cell in which quotes are text, unless they stand around it."""
    if '"' not in cell or (len(cell) > 1 and cell[0] == cell[-1] == '"'):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _is_number(text: str) -> bool:
    return parse_number(text) is not None or parse_number(text, ",") is not None


def _has_several_numbers(cell: str) -> bool:
    words = cell.split()
    return len(words) > 1 and all(map(_is_number, words))


def _are_numbers(cells: Iterable[str]) -> bool:
    full = [cell for cell in cells if cell]
    return sum(map(_is_number, full)) >= LEAST_NUMBERS * max(len(full), 1)
