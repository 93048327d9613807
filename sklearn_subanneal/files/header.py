"""Names of columns: whether the first row has them, and names where it has none, or equal ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sklearn_subanneal.tables.clock_times import parse_duration
from sklearn_subanneal.tables.dates import parse_datetimes
from sklearn_subanneal.tables.missing_texts import is_missing_word, missing_texts
from sklearn_subanneal.tables.numerals import COMMA, POINT, parse_number

# Numbers may be names if they are years.
FIRST_YEAR, LAST_YEAR = 1800, 2199
# A column is one of numbers or dates if this share of its cells are.
MOSTLY = 0.6
MOST_ROWS = 100
# A second row of names has words above so many columns of numbers, and rows below it.
FEWEST_UNITS, FEWEST_ROWS = 2, 4


def has_names(rows: Sequence[Sequence]) -> bool:
    """Whether the first row has the names of the columns.

    It has if a column of numbers or dates begins with a word, or if no column is of numbers and the words of the first
    row occur nowhere below. It has not if all columns of numbers begin with a number, unless these are years, or count
    the columns.

    Parameters
    ----------
    rows : sequence of sequences
        Cells, as texts or as values.

    Examples
    --------
    >>> from sklearn_subanneal.files.header import has_names
    >>> has_names([["size", "kind"], ["1.5", "a"], ["2.5", "b"]]), has_names([["1.5", "a"], ["2.5", "b"], ["3", "a"]])
    (True, False)
    """
    if not rows:
        return True
    first, body = list(rows[0]), rows[1 : MOST_ROWS + 1]
    texts = [cell for cell in first if not _is_empty(cell)]
    if not body:
        return not any(is_value(cell) for cell in texts)
    numbers, words = _starts(first, body)
    if words:
        return True
    if numbers:
        values = [parse_number(str(cell), POINT) for cell in texts if is_value(cell)]
        return len(texts) > 2 and (_are_years(values) or values in [list(range(k, k + len(values))) for k in (0, 1)])
    recurs = any(
        str(cell).strip() == str(row[at]).strip()
        for at, cell in enumerate(first)
        if not _is_empty(cell)
        for row in body
        if at < len(row)
    )
    return not recurs


def note_on_names(rows: Sequence[Sequence]) -> list[str]:
    """What is to be said if the first row was taken for names, and no column of numbers shows it."""
    if len(rows) < 2 or any(_starts(list(rows[0]), rows[1 : MOST_ROWS + 1])):
        return []
    return ["the first line was taken for names, though no column of numbers shows it; if not, pass --header no"]


def note_on_units(rows: Sequence[Sequence]) -> list[str]:
    """What is to be said if the row below the names has words alone, above at least two columns of numbers.

    Examples
    --------
    >>> from sklearn_subanneal.files.header import note_on_units
    >>> note_on_units([["name", "size", "age"], ["", "cm", "years"], ["Tom", 3.5, 2], ["Kit", 4.5, 1]])[0][:50]
    "the row below the names, with 'cm', 'years', has w"
    """
    if len(rows) < FEWEST_ROWS or any(is_value(cell) for cell in rows[1] if not _is_empty(cell)):
        return []
    first, body = list(rows[1]), rows[2 : MOST_ROWS + 2]
    n_numbers, n_words = _starts(first, body)
    words = [str(cell) for cell in first if not _is_empty(cell)]
    if n_numbers or n_words < FEWEST_UNITS or any(is_missing_word(word) for word in words) or missing_texts(words):
        return []
    return [
        f"the row below the names, with {', '.join(map(repr, words[:3]))}, has words above numbers, which count as "
        "missing cells: if they belong to the names, as units do, write both into one row"
    ]


def column_names(names: Sequence, notes: list[str]) -> list[str]:
    """Names that differ, and are not empty; ``notes`` says which were changed.

    Examples
    --------
    >>> from sklearn_subanneal.files.header import column_names
    >>> column_names(["a", "", "a"], [])
    ['a', 'column 2', 'a (2)']
    """
    out, seen, renamed, unnamed = [], set(), [], []
    for number, name in enumerate(names, start=1):
        text = "" if _is_empty(name) else re.sub(r"\s+", " ", _label(name)).strip()
        if not text or text.startswith("Unnamed: "):
            text = f"column {number}"
            unnamed.append(text)
        own, copy = text, 2
        while own in seen:
            own, copy = f"{text} ({copy})", copy + 1
        if own != text:
            renamed.append(repr(own))
        seen.add(own)
        out.append(own)
    if renamed:
        notes.append(f"names that occur twice were changed, to {', '.join(renamed)}")
    if unnamed and len(unnamed) < len(out):
        notes.append(f"columns without a name were called {', '.join(unnamed)}")
    return out


def is_value(cell) -> bool:
    """Whether a cell is a number, a date or a time."""
    if not isinstance(cell, str):
        return not _is_empty(cell)
    if parse_number(cell) is not None or parse_number(cell, COMMA) is not None or parse_duration(cell) is not None:
        return True
    if re.fullmatch(r"\s*[+-]?[0-9][0-9.]*\s*", cell):
        return True
    return bool(re.search(r"\d", cell)) and parse_datetimes([cell], day_first=True) is not None


def _starts(first: Sequence, body: Sequence[Sequence]) -> tuple[int, int]:
    """How many columns of numbers or dates begin with such a value, and how many with a word."""
    numbers = words = 0
    for at, cell in enumerate(first):
        below = [row[at] for row in body if at < len(row) and not _is_empty(row[at])]
        if below and not _is_empty(cell) and sum(map(is_value, below)) >= MOSTLY * len(below):
            numbers, words = numbers + is_value(cell), words + (not is_value(cell))
    return numbers, words


def _label(name) -> str:
    return str(int(name)) if isinstance(name, float) and name == int(name) else str(name)


def _is_empty(cell) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def _are_years(numbers: list[float | None]) -> bool:
    """Whether numbers are years that follow one another."""
    if any(number is None or not FIRST_YEAR <= number <= LAST_YEAR for number in numbers):
        return False
    return len(numbers) > 1 and all(b > a for a, b in pairwise(numbers))
