"""Text cells that spreadsheets would take for formulas, marked in tables that are written as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# A spreadsheet evaluates a cell that begins with one of these, and a formula can read files and ask the network.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def marked_cell(cell):
    """A text with a leading apostrophe if it begins as a formula does, and is no number; other cells as they are.

    Examples
    --------
    >>> from sklearn_subanneal.report.spreadsheet_cells import marked_cell
    >>> marked_cell("=HYPERLINK(A1)"), marked_cell("-2.5"), marked_cell("a-b"), marked_cell(3)
    ("'=HYPERLINK(A1)", '-2.5', 'a-b', 3)
    """
    if not isinstance(cell, str):
        return cell
    # Nothing that reads CSV expects this character, and some programs end the cell there.
    cell = cell.replace("\0", "")
    return f"'{cell}" if cell.startswith(FORMULA) and not _is_number(cell) else cell


def marked_table(table: pd.DataFrame) -> pd.DataFrame:
    """The table with all its texts and names of columns marked."""
    import pandas as pd

    out = table.rename(columns=marked_cell)
    for j, dtype in enumerate(out.dtypes):
        if isinstance(dtype, pd.CategoricalDtype):
            out.isetitem(j, out.iloc[:, j].astype(object).map(marked_cell))
        elif not pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_datetime64_any_dtype(dtype):
            out.isetitem(j, out.iloc[:, j].map(marked_cell))
    return out


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
