"""Tables in spreadsheets: the sheet, the place of the table in it, and its cells."""

from __future__ import annotations

import datetime
import io
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.files.header import MOST_ROWS, column_names, has_names, note_on_names, note_on_units
from sklearn_subanneal.files.merged_cells import filled_along, filled_down, merged_cells
from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.files.sheet_archive import formulas_without_values
from sklearn_subanneal.files.table_end import without_end

if TYPE_CHECKING:
    import pandas as pd

# Readers of pandas by the kind of file, and the packages that they need.
ENGINES = {"xlsx": ("openpyxl", "openpyxl"), "ods": ("odf", "odfpy"), "xls": ("xlrd", "xlrd")}
# Rows before a table, and the share of the cells of its first row that are not empty.
MOST_BEFORE, LEAST_FULL = 40, 0.6


def sheet_table(content: bytes, kind: str, options: ReadingOptions, notes: list[str]) -> pd.DataFrame:
    """The table in a sheet of a spreadsheet.

    Parameters
    ----------
    content : bytes
    kind : {"xlsx", "ods", "xls"}
    options : ReadingOptions
    notes : list of str
        Which sheet was read, and rows that were left out, are added.

    Returns
    -------
    frame : DataFrame
        Columns of numbers, dates or booleans, or of texts as one would type the cells.

    Raises
    ------
    ImportError
        If the package that reads such files is not installed.
    ValueError
        If there is no such sheet, or no table in it.
    """
    import pandas as pd

    engine, package = ENGINES[kind]
    try:
        with pd.ExcelFile(io.BytesIO(content), engine=engine) as book:
            name = _sheet(book, options.sheet, notes)
            cells = pd.read_excel(
                book, sheet_name=name, header=None, dtype=object, keep_default_na=False, na_values=[""]
            )
        merged = merged_cells(content, name) if kind == "xlsx" else []
        n_formulas, place = formulas_without_values(content, name) if kind == "xlsx" else (0, "")
    except ImportError as error:
        raise ImportError(f".{kind} is read by {package}, which is not installed: pip install {package}") from error
    except ValueError:
        raise
    except Exception as error:
        # Parts of a damaged archive are missed with whatever error they give.
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if n_formulas:
        notes.append(
            f"{n_formulas:,} cells with a formula have no value in the file, the first is {place}, and are missing: "
            "open the file in a spreadsheet program, which computes them, and save it"
        )
    cells = filled_down(cells, merged, notes).dropna(axis=1, how="all")
    filled = cells.notna().to_numpy().sum(axis=1)
    width = cells.shape[1]
    least = max(2, LEAST_FULL * width) if width > 1 else 1
    start = next((row for row in range(min(len(filled), MOST_BEFORE)) if filled[row] >= least), None)
    if start is None:
        why = f", since {notes[-1]}, or" if n_formulas else ":"
        raise ValueError(f"the sheet {name!r} has no table{why} name another by --sheet")
    if filled[:start].any():
        first = cells.iloc[int(np.flatnonzero(filled)[0])].dropna().iloc[0]
        notes.append(f"{int((filled[:start] > 0).sum())} rows before the table were left out, the first is {first!r}")
    cells = cells.iloc[start:]
    if merged:
        cells.iloc[0] = filled_along(cells.iloc[0], merged, notes)
    cells = cells.dropna(axis=0, how="all").dropna(axis=1, how="all")
    width = cells.shape[1]
    is_named = has_names(cells.to_numpy().tolist()[:120]) if options.header is None else options.header
    if is_named and options.header is None:
        notes += note_on_names(cells.iloc[:MOST_ROWS].to_numpy().tolist())
    names = column_names(cells.iloc[0].tolist() if is_named else [None] * width, notes)
    if not is_named:
        notes.append("no row of names was found, so columns have numbers; if there is one, pass --header yes")
    if is_named:
        notes += note_on_units(cells.to_numpy().tolist()[: MOST_ROWS + 2])
    cells = without_end(cells.iloc[int(is_named) :], notes).reset_index(drop=True)
    return pd.DataFrame({own: _column(cells.iloc[:, at]) for at, own in enumerate(names)})


def _sheet(book, wanted: str | None, notes: list[str]) -> str:
    """The name of the sheet: the one that is asked for, or the one with most cells."""
    import pandas as pd

    names = [str(name) for name in book.sheet_names]
    if wanted is not None:
        if wanted in names:
            return wanted
        if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
            return names[int(wanted) - 1]
        raise ValueError(f"it has no sheet {wanted!r}: pass --sheet with one of {', '.join(map(repr, names))}")
    if len(names) == 1:
        return names[0]
    sizes = [
        int(pd.read_excel(book, sheet_name=name, header=None, dtype=object).notna().to_numpy().sum()) for name in names
    ]
    found = names[int(np.argmax(sizes))]
    notes.append(f"the sheet {found!r}, the largest of {len(names)}; for another, pass --sheet NAME")
    return found


def _column(cells: pd.Series) -> pd.Series:
    """Cells of one kind in its dtype, others as texts."""
    import pandas as pd

    seen = cells.dropna()
    if not len(seen):
        return pd.Series([""] * len(cells))
    if seen.map(lambda cell: isinstance(cell, bool)).all():
        return cells.astype("boolean") if len(seen) < len(cells) else cells.astype(bool)
    if seen.map(lambda cell: isinstance(cell, int | float) and not isinstance(cell, bool)).all():
        return pd.to_numeric(cells)
    if seen.map(lambda cell: isinstance(cell, datetime.datetime)).all():
        return pd.to_datetime(cells)
    return cells.map(_text, na_action="ignore").fillna("").astype("str")


def _text(cell) -> str:
    """A cell as one would type it."""
    if isinstance(cell, float) and cell == int(cell) and abs(cell) < 2.0**53:
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return str(cell.date() if cell.time() == datetime.time() else cell)
    return str(cell).strip()
