"""NewTable: a table in a file, read as the table to which a model was fitted was read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_subanneal.files import ReadingOptions, read_table_file
from sklearn_subanneal.report.column_values import TICKS, ColumnHints, read_values
from sklearn_subanneal.report.common_decimal import common_decimal
from sklearn_subanneal.report.model_folder import ModelFolder
from sklearn_subanneal.report.text_levels import as_typed
from sklearn_subanneal.tables.cells import array_cells
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.missing_texts import is_missing_word
from sklearn_subanneal.tables.numerals import parse_number

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.estimators.crosscat import CrossCat

# Unreadable values of a column that are kept for messages.
MOST_KEPT = 20


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
    """

    name: str
    frame: pd.DataFrame
    X: pd.DataFrame
    unreadable: dict[str, dict[str, int]] = field(default_factory=dict)
    contradictions: dict[str, tuple[str, int]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_new_table(path: str | Path, folder: ModelFolder, options: dict[str, Any] | None = None) -> NewTable:
    """Read a table from a file for a model.

    Nothing is guessed that the model knows: types, categories, marks of missing cells and the order of dates are those
    of the table to which it was fitted.

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
    given = ReadingOptions(**(folder.types.reading | (options or {})))
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
    decimal = given.decimal or common_decimal(table.frame, table.separator)
    read, unreadable = {}, {}
    for name, column in columns.items():
        texts = _has_texts(column)
        hints = ColumnHints(
            as_text=texts,
            meaning=folder.types.spelling.get(name),
            missing=folder.types.missing.get(name, ()),
            as_numbers=column.kind != "datetime",
            is_new=True,
            levels=tuple(column.categories) if texts and column.type.ordered else (),
        )
        values = read_values(table.frame[name], given, decimal, hints)
        read[name], wrong = _conformed(values.series, column)
        known = {*given.missing, *hints.missing}
        wrong |= {
            mark: count
            for mark, count in values.marks.items()
            if mark not in known and not is_missing_word(mark, column.kind == "datetime")
        }
        if wrong:
            unreadable[name] = wrong
    X = table.frame[list(columns)].assign(**read)
    unused = [name for name in table.frame if name not in columns]
    found = _contradictions(folder.model, X)
    return NewTable(table.name, table.frame.assign(**read), X, unreadable, found, unused, table.notes)


def _contradictions(model: CrossCat, X: pd.DataFrame) -> dict[str, tuple[str, int]]:
    """Functions of other columns that some cells contradict; those that are no values of their column are missing."""
    columns, wrong = model._table.columns, model._table.impossible(model, X)
    return {
        column.name: (columns[column.derivation.source].name, int(wrong[:, j].sum()))
        for j, column in enumerate(columns)
        if column.derivation is not None and wrong[:, j].any()
    }


def _has_texts(column: Column) -> bool:
    """Whether the cells of a column are texts, however much these look like numbers."""
    return column.categories is not None and all(isinstance(value, str) for value in column.categories.tolist())


def _conformed(series: pd.Series, column: Column) -> tuple[pd.Series, dict[str, int]]:
    """The cells in the dtype that the column had, and those that cannot be."""
    read, wrong = _in_its_dtype(series, column)
    if read.dtype.kind not in "biuf" or column.type.coded:
        return read, wrong
    # Whatever chose the type: here a number that it does not have is a finding, and no error.
    numbers = read.to_numpy(np.float64, na_value=np.nan)
    _, unsuited = replace(column, inferred=True, spelling=None).encode(array_cells(column.name, numbers))
    strange = read.isin(unsuited)
    return (read.mask(strange), wrong | _counted(read[strange])) if strange.any() else (read, wrong)


def _in_its_dtype(series: pd.Series, column: Column) -> tuple[pd.Series, dict[str, int]]:
    import pandas as pd

    is_text = isinstance(series.dtype, pd.StringDtype) or series.dtype == object
    if _has_texts(column):
        return (series if is_text else series.map(as_typed, na_action="ignore").astype(object)), {}
    if column.kind == "boolean" and is_text:
        ticked = series.isin(TICKS)
        return (ticked, {}) if ticked.sum() == series.notna().sum() else _without(series, series.notna())
    if column.kind == "datetime":
        is_date = pd.api.types.is_datetime64_any_dtype(series.dtype) or series.dtype == object
        return (series, {}) if is_date or not series.notna().any() else _without(series, series.notna())
    if is_text and not (column.categories is not None and column.type.coded):
        numbers = series.map(lambda cell: parse_number(cell) if isinstance(cell, str) else cell, na_action="ignore")
        numbers = pd.to_numeric(numbers, errors="coerce")
        return numbers.astype(np.float64), _counted(series[numbers.isna() & series.notna()])
    return series, {}


def _without(series: pd.Series, wrong: pd.Series) -> tuple[pd.Series, dict[str, int]]:
    return series.mask(wrong).astype(object), _counted(series[wrong])


def _counted(wrong: pd.Series) -> dict[str, int]:
    return {str(value): int(count) for value, count in wrong.value_counts().iloc[:MOST_KEPT].items()}
