"""Tables in text: the cells as they are written, all of them texts."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING

from sklearn_subanneal.files.dialect import NAMES, SPACES, TAB, Dialect, find_dialect
from sklearn_subanneal.files.fixed_width import separated_by_tabs
from sklearn_subanneal.files.header import MOST_ROWS, column_names, note_on_names
from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.files.stray_quotes import without_stray_quotes
from sklearn_subanneal.files.table_end import without_end

if TYPE_CHECKING:
    import pandas as pd


def text_table(
    text: str, options: ReadingOptions, notes: list[str], separator: str | None = None
) -> tuple[pd.DataFrame, str]:
    """The table in a text.

    Parameters
    ----------
    text : str
    options : ReadingOptions
    notes : list of str
        What was found, and lines that were left out, are added.
    separator : str or None
        As the name of the file says; None: it is found.

    Returns
    -------
    frame : DataFrame of str
        Without a cell being read as missing; cells at the end of short lines are empty.
    separator : str

    Raises
    ------
    ValueError
        If a line has more cells than the others or, where spaces separate the cells, fewer.
    """
    import pandas as pd

    dialect = find_dialect(text, options.header, separator)
    told: list[str] = []
    text = _without_comments(text, dialect, told)
    has_spaces = dialect.separator == SPACES or dialect.n_cells == 1
    if has_spaces and (aligned := separated_by_tabs(text)) is not None:
        text, dialect = aligned, find_dialect(aligned, options.header, TAB)
        notes.append("columns aligned by spaces, in which blank cells are missing")
    elif dialect.n_cells > 1:
        notes.append(f"cells separated by {NAMES.get(dialect.separator, repr(dialect.separator))}")
    notes += told
    wider = dialect.n_cells > len(dialect.first)
    settings = {
        "sep": r"\s+" if dialect.separator == SPACES else dialect.separator,
        "header": None,
        "names": range(dialect.n_cells) if wider else None,
        "index_col": None,
        "dtype": str,
        "quotechar": dialect.quote,
        "na_filter": False,
        "skipinitialspace": dialect.separator != TAB,
        "on_bad_lines": "warn" if options.skip_bad_lines else "error",
    }
    try:
        frame, left_out = _frame(text, settings, dialect, notes)
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise
        line = int(found[2]) + dialect.n_before
        raise ValueError(
            f"line {line} has {found[3]} cells and those before it {found[1]}; to leave such lines out, pass "
            "--skip-bad-lines"
        ) from error
    if left_out:
        notes.append(f"{len(left_out)} lines with too many cells were left out, the first is line {left_out[0]}")
    frame = _stripped(frame)
    if dialect.has_names and options.header is None:
        notes += note_on_names(frame.iloc[:MOST_ROWS].to_numpy().tolist())
    names = _names(frame, dialect, notes)
    if dialect.has_names:
        frame = frame.iloc[1:]
    frame = without_end(frame, notes)
    if dialect.separator == SPACES:
        frame = _without_short_lines(frame, options, notes)
    frame = frame.reset_index(drop=True)
    frame.columns = names
    return _without_empty_end(frame, notes), dialect.separator


def _frame(text: str, settings: dict, dialect: Dialect, notes: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """All cells, and the numbers of lines that were left out; a stray quote is a part of its cell."""
    import pandas as pd

    # It swallows the lines up to the next quote.
    may_be_stray = dialect.quote in text and dialect.separator != SPACES
    try:
        read = _read(text, settings)
    except pd.errors.ParserError:
        clean = without_stray_quotes(text, dialect, notes) if may_be_stray else text
        if clean == text:
            raise
        return _read(clean, settings)
    if not may_be_stray or text.count("\n") <= len(read[0]):
        return read
    clean = without_stray_quotes(text, dialect, notes)
    return read if clean == text else _read(clean, settings)


def _read(text: str, settings: dict) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", pd.errors.ParserWarning)
        frame = pd.read_csv(io.StringIO(text), **settings)
    return frame, [line for warning in said for line in re.findall(r"line (\d+)", str(warning.message))]


def _without_comments(text: str, dialect: Dialect, notes: list[str]) -> str:
    """The text from the first line of the table on, without the lines that are comments."""
    if dialect.n_before:
        lines = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)")
        at = 0
        for _ in range(dialect.n_before):
            at = lines.match(text, at).end()
        dropped = [line.strip() for line in text[:at].splitlines() if line.strip()]
        if dropped:
            notes.append(f"{len(dropped)} lines before the table were left out, the first is {dropped[0][:60]!r}")
        text = text[at:]
    if dialect.comment:
        text, count = re.subn(rf"(?m)^{re.escape(dialect.comment)}[^\r\n]*(?:\r\n|\n|\r|$)", "", text)
        if count:
            notes.append(f"{count} lines that begin with {dialect.comment!r} were left out as comments")
    return text


def _without_short_lines(frame: pd.DataFrame, options: ReadingOptions, notes: list[str]) -> pd.DataFrame:
    """Of cells separated by spaces: if one is left blank, those after it move to the left, and the last is empty."""
    short = frame.iloc[:, -1] == ""
    if not short.any():
        return frame
    cells = [cell for cell in frame[short].iloc[0] if cell]
    first = f"with {len(cells)} cells in place of {frame.shape[1]}, {' '.join(cells)[:60]!r}"
    if not options.skip_bad_lines:
        raise ValueError(
            f"there is a line {first}: between spaces a missing cell must be written, such as NA, since those after it "
            "move to the left otherwise, or all columns be aligned; to leave such lines out, pass --skip-bad-lines"
        )
    notes.append(f"{short.sum()} lines with too few cells were left out, the first is one {first}")
    return frame[~short]


def _stripped(frame: pd.DataFrame) -> pd.DataFrame:
    """Without spaces at the ends of cells."""
    for at in range(frame.shape[1]):
        frame.isetitem(at, frame.iloc[:, at].str.strip())
    return frame


def _names(frame: pd.DataFrame, dialect: Dialect, notes: list[str]) -> list[str]:
    if dialect.names is not None:
        notes.append("the names of the columns are those of the last comment")
        return column_names(dialect.names, notes)
    if not dialect.has_names:
        notes.append("no line of names was found, so columns have numbers; if there is one, pass --header yes")
        return [f"column {number}" for number in range(1, frame.shape[1] + 1)]
    names = frame.iloc[0].tolist()
    missing = frame.shape[1] - len(dialect.first)
    last = frame.iloc[1:, -1]
    if missing == 1 and (last != "").any():
        # R writes names of rows, and none for their column.
        notes.append("the first column has no name, since there is a name less than columns")
        names = ["row", *names[:-1]]
    return column_names(names, notes)


def _without_empty_end(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Without a last column that has neither a name nor a value: separators at the ends of lines."""
    last = frame.columns[-1]
    if frame.shape[1] > 1 and last == f"column {frame.shape[1]}" and (frame[last] == "").all():
        notes.append("separators at the ends of lines were left out")
        return frame.iloc[:, :-1]
    return frame
