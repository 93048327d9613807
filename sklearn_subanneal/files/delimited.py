"""Tables in text: the cells as they are written, all of them texts."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING

from sklearn_subanneal.files.dialect import NAMES, SPACES, TAB, Dialect, find_dialect
from sklearn_subanneal.files.header import column_names
from sklearn_subanneal.files.reading_options import ReadingOptions

if TYPE_CHECKING:
    import pandas as pd

# Lines after a table, of remarks, are so many at most.
MOST_AFTER = 20
_TOTAL = re.compile(r"(?:grand )?totals?|sum|summe|gesamt|insgesamt|somme|totale|suma", re.IGNORECASE)


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
        If a line has more cells than the others.
    """
    import pandas as pd

    dialect = find_dialect(text, options.header, separator)
    if dialect.n_cells > 1:
        notes.append(f"cells separated by {NAMES.get(dialect.separator, repr(dialect.separator))}")
    text = _without_comments(text, dialect, notes)
    wider = dialect.n_cells > len(dialect.first)
    settings = {
        "sep": r"\s+" if dialect.separator == SPACES else dialect.separator,
        "header": None,
        "names": range(dialect.n_cells) if wider else None,
        "index_col": None,
        "dtype": str,
        "na_filter": False,
        "skipinitialspace": dialect.separator != TAB,
        "on_bad_lines": "warn" if options.skip_bad_lines else "error",
    }
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", pd.errors.ParserWarning)
            frame = pd.read_csv(io.StringIO(text), **settings)
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise
        line = int(found[2]) + dialect.n_before
        raise ValueError(
            f"line {line} has {found[3]} cells and those before it {found[1]}; to leave such lines out, pass "
            "--skip-bad-lines"
        ) from error
    left_out = [line for warning in said for line in re.findall(r"line (\d+)", str(warning.message))]
    if left_out:
        notes.append(f"{len(left_out)} lines with too many cells were left out, the first is line {left_out[0]}")
    frame = _stripped(frame)
    names = _names(frame, dialect, notes)
    if dialect.has_names:
        frame = frame.iloc[1:]
    frame = _without_total(_without_remarks(frame, notes), notes).reset_index(drop=True)
    frame.columns = names
    return _without_empty_end(frame, notes), dialect.separator


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


def _without_remarks(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Without lines after the table, of which only the first cell has a text."""
    if frame.shape[1] < 3 or len(frame) < 3:
        return frame
    full = (frame.iloc[-MOST_AFTER - 1 :] != "").to_numpy()
    is_remark = full[:, 0] & (full.sum(axis=1) == 1)
    n_remarks = 0
    while n_remarks < len(is_remark) - 1 and is_remark[-1 - n_remarks]:
        n_remarks += 1
    texts = frame.iloc[len(frame) - n_remarks :, 0]
    if not n_remarks or is_remark[: len(is_remark) - n_remarks].any() or texts.str.fullmatch(r"\S{0,12}").any():
        return frame
    notes.append(f"{n_remarks} lines after the table were left out, the first is {texts.iloc[0][:60]!r}")
    return frame.iloc[: len(frame) - n_remarks]


def _without_total(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Without a last line of sums, whose first cell says so."""
    if frame.shape[1] < 2 or len(frame) < 3 or not _TOTAL.fullmatch(frame.iloc[-1, 0]):
        return frame
    if frame.iloc[:-1, 0].str.fullmatch(_TOTAL.pattern, case=False).any():
        return frame
    notes.append(f"the last line, {frame.iloc[-1, 0]!r}, was left out")
    return frame.iloc[:-1]


def _without_empty_end(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Without a last column that has neither a name nor a value: separators at the ends of lines."""
    last = frame.columns[-1]
    if frame.shape[1] > 1 and last == f"column {frame.shape[1]}" and (frame[last] == "").all():
        notes.append("separators at the ends of lines were left out")
        return frame.iloc[:, :-1]
    return frame
