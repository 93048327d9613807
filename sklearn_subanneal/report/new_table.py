"""NewTable: a table in a file, read as the table to which a model was fitted was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn_subanneal.files import ReadingOptions, read_table_file
from sklearn_subanneal.report.column_hints import ColumnHints
from sklearn_subanneal.report.column_values import read_values
from sklearn_subanneal.report.common_decimal import COMMAS, common_decimal, is_text_column, other_decimal
from sklearn_subanneal.report.learned_column import LearnedColumn
from sklearn_subanneal.report.model_folder import ModelFolder
from sklearn_subanneal.report.replaced_columns import with_columns
from sklearn_subanneal.report.types_file import TypesFile
from sklearn_subanneal.report.written_numbers import AS_PROGRAMS
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.missing_texts import is_missing_word
from sklearn_subanneal.tables.numerals import COMMA, POINT
from sklearn_subanneal.tables.spelling import NUMBER

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.estimators.crosscat import CrossCat


@dataclass(frozen=True, eq=False)
class NewTable:
    """A table that a model has not seen.

    Attributes
    ----------
    name : str
        Name of the file.
    frame : pandas.DataFrame
        All columns of the file; those of the model as read for it.
    X : pandas.DataFrame
        The columns of the model, in its order.
    unreadable : dict of str to dict
        Texts and numbers that are no values of their column, and in how many cells; these are missing in ``X``.
    contradictions : dict of str to (str, int)
        Columns that are functions of another one, and cells of which are not: the other column, and in how many rows.
    unused : list of str
        Columns of the file that the model does not have.
    notes : list of str
        How the file was read.
    remarks : list of str
        What of that may surprise.
    """

    name: str
    frame: pd.DataFrame
    X: pd.DataFrame
    unreadable: dict[str, dict[str, int]] = field(default_factory=dict)
    contradictions: dict[str, tuple[str, int]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read_new_table(path: str | Path, folder: ModelFolder, options: dict[str, Any] | None = None) -> NewTable:
    """Read a table from a file for a model.

    Nothing is guessed that the model knows: types, categories, marks of missing cells, units, the mark before decimals
    and the order of dates are those of the table to which it was fitted, and each cell is read by itself. But where
    cells can be read by the other mark before decimals alone, and none by the known one alone, that is the mark.

    Parameters
    ----------
    path : str or Path
    folder : ModelFolder
    options : dict or None, default=None
        Of :class:`~sklearn_subanneal.files.ReadingOptions`, in place of those of the types file.

    Returns
    -------
    NewTable

    Raises
    ------
    ValueError
        If the file is no table, has no rows, or lacks a column of the model.
    """
    recorded, asked = folder.types.reading.get("decimal"), (options or {}).get("decimal") or folder.decimal
    given = ReadingOptions(**(folder.types.reading | (options or {}) | {"decimal": asked or recorded}))
    table = read_table_file(path, given)
    columns = {column.name: column for column in folder.model._table.columns}
    absent = [name for name in columns if name not in table.frame.columns]
    if absent:
        raise ValueError(
            f"{table.name} has no column {', '.join(map(repr, absent[:5]))}{' and others' if len(absent) > 5 else ''}, "
            f"which the model in {folder.name} has; its columns are {', '.join(map(repr, list(table.frame)[:20]))}: "
            "rename them, or add the column and leave it empty."
        )
    if not len(table.frame):
        raise ValueError(f"{table.name} has no rows: give it at least one.")
    decimal, remarks = given.decimal, []
    if decimal is None:
        decimal, remark = common_decimal(table.frame, table.separator)
        remarks += [remark] if remark not in ("", COMMAS) else []
    elif asked is None:
        is_other, remark = other_decimal(table.frame, _columns_with(decimal, columns, folder.types), decimal)
        decimal = decimal if not is_other else POINT if decimal == COMMA else COMMA
        given = replace(given, decimal=decimal)
        remarks += [remark] if remark else []
    # A table of decimal commas in which a column of fractions was written as programs write them.
    has_points = decimal == COMMA == recorded
    read, unreadable = {}, {}
    for name, column in columns.items():
        meaning = folder.types.spelling.get(name)
        own = POINT if has_points and meaning is None and not _is_whole(column) else decimal or POINT
        written = folder.types.numbers.get(name, AS_PROGRAMS)
        if asked is None and written.decimal is not None and _has(table.frame[name], written.decimal):
            own = written.decimal
        learned = LearnedColumn(column, meaning, own, given.day_first, written)
        texts = learned.has_texts
        hints = ColumnHints(
            as_text=texts,
            meaning=meaning,
            missing=folder.types.missing.get(name, ()),
            as_numbers=column.kind != "datetime",
            learned=learned,
            levels=tuple(column.categories) if texts and column.type.ordered else (),
        )
        values = read_values(table.frame[name], given, decimal, hints)
        read[name], wrong = learned.conformed(values.series)
        if values.remark:
            remarks.append(f"Column {name}: {values.remark}")
        known = {*given.missing, *hints.missing}
        wrong |= {
            mark: count
            for mark, count in values.marks.items()
            if mark not in known and not is_missing_word(mark, column.kind == "datetime")
        }
        if wrong:
            unreadable[name] = wrong
    X = with_columns(table.frame[list(columns)], read)
    unused = [name for name in table.frame if name not in columns]
    found = _contradictions(folder.model, X)
    frame = with_columns(table.frame, read)
    return NewTable(table.name, frame, X, unreadable, found, unused, table.notes, remarks)


def _columns_with(decimal: str, columns: Mapping[str, Column], types: TypesFile) -> list[str]:
    """The columns of numbers that had a mark before decimals, as far as that is known."""
    numbers = {name: own for name, own in columns.items() if own.kind != "datetime"}
    if decimal == POINT:
        return [
            name
            for name, own in numbers.items()
            if name not in types.spelling and own.dtype.lower().startswith("float")
        ]
    known = {name: types.numbers.get(name, AS_PROGRAMS).decimal or decimal for name in numbers}
    return [name for name in numbers if types.spelling.get(name) == NUMBER and known[name] == decimal]


def _has(series: pd.Series, mark: str) -> bool:
    return is_text_column(series) and bool(series.str.contains(mark, regex=False).any())


def _is_whole(column: Column) -> bool:
    return column.dtype.lower().startswith(("int", "uint"))


def _contradictions(model: CrossCat, X: pd.DataFrame) -> dict[str, tuple[str, int]]:
    """Functions of other columns that some cells contradict; those that are no values of their column are missing."""
    columns, wrong = model._table.columns, model._table.impossible(model, X)
    return {
        column.name: (columns[column.derivation.source].name, int(wrong[:, j].sum()))
        for j, column in enumerate(columns)
        if column.derivation is not None and wrong[:, j].any()
    }
