"""Source, the input table of a report: the file as read, and a type for each column with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, inf
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.files import ReadingOptions, read_table_file
from sklearn_subanneal.report.column_hints import ColumnHints
from sklearn_subanneal.report.column_types import IGNORED, LABEL, ColumnDescription, described_columns
from sklearn_subanneal.report.column_values import read_values
from sklearn_subanneal.report.common_decimal import COMMAS, common_decimal
from sklearn_subanneal.report.compared_columns import compared_columns
from sklearn_subanneal.report.replaced_columns import with_columns
from sklearn_subanneal.report.text_levels import ORDINAL, require_levels
from sklearn_subanneal.report.types_file import TypesFile, read_types
from sklearn_subanneal.tables.chosen_type import AUTO
from sklearn_subanneal.tables.numerals import COMMA

if TYPE_CHECKING:
    import pandas as pd

# Of a table that is too large, so many rows are taken at least.
FEWEST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Source:
    """A table with its columns described.

    Attributes
    ----------
    name : str
        Name of the file.
    frame : pandas.DataFrame
        The table.
    columns : list of ColumnDescription
        One for each column of the frame.
    notes : list of str
        How the file was read, and what was left out of it, in words.
    options : ReadingOptions
        How the file was to be read.
    decimal : {".", ","} or None
        The mark before decimals that its columns show together; None if they show none.
    step : int
        Of so many rows of the file the first was taken; 1: all were.
    n_rows_of_file : int or None
        Number of all rows of the file; None: those of the frame.
    """

    name: str
    frame: pd.DataFrame
    columns: list[ColumnDescription]
    notes: list[str] = field(default_factory=list)
    options: ReadingOptions = field(default_factory=ReadingOptions)
    decimal: str | None = None
    step: int = 1
    n_rows_of_file: int | None = None

    @property
    def modelled(self) -> list[ColumnDescription]:
        """The columns that are part of the model."""
        return [column for column in self.columns if column.is_modelled]

    @property
    def set_aside(self) -> list[ColumnDescription]:
        """The columns that are not part of the model."""
        return [column for column in self.columns if not column.is_modelled]

    @property
    def X(self) -> pd.DataFrame:
        """The modelled columns of the table."""
        return self.frame[[column.name for column in self.modelled]]

    @property
    def feature_types(self) -> dict[str, str]:
        """The types of the modelled columns."""
        return {column.name: column.kind for column in self.modelled}

    @property
    def declared_types(self) -> dict[str, str]:
        """The types of the modelled columns as the parameter `feature_types` of estimators."""
        return {column.name: AUTO if column.is_function else column.kind for column in self.modelled}

    @property
    def feature_params(self) -> dict[str, dict]:
        """The periods of cyclic columns, as the parameter `feature_params` of estimators."""
        return {column.name: {"period": column.period} for column in self.modelled if column.period is not None}

    @property
    def spelling(self) -> dict[str, str]:
        """What the texts of columns spell, as a types file has it."""
        return {column.name: column.meaning for column in self.modelled if column.meaning}

    @property
    def row_names(self) -> np.ndarray:
        """A name for each row: its cell in the column of type "label", or its number from 1."""
        for column in self.columns:
            if column.kind == LABEL:
                return self.frame[column.name].astype(str).to_numpy(object)
        return np.array([f"row {1 + self.step * row}" for row in range(len(self.frame))], dtype=object)


def read_source(
    path: str | Path,
    types: Mapping[str, str] | TypesFile | str | Path | None = None,
    *,
    most_cells: float = inf,
    **options,
) -> Source:
    """Read a table from a file and give each of its columns a type.

    Parameters
    ----------
    path : str or Path
        Text (CSV and the like), JSON, a spreadsheet, Parquet, Feather, Stata or SAS, possibly compressed, as
        ``sklearn_subanneal.files.read_table_file`` reads them.
    types : mapping of str to str, str or Path, default=None
        From column names to "real", "categorical", "boolean", "count", "cyclic", "ordinal", "semicontinuous", "skewed",
        "datetime", "label" (it names the rows) or "ignore"; the types of other columns are inferred. Or a types file
        (:func:`~sklearn_subanneal.report.write_types`), or the path of one.
    most_cells : float, default=inf
        Of a table of more cells, evenly spaced rows are taken, at least 1,000.
    **options
        How the file is read, where it is not to be found out, as ``sklearn_subanneal.files.ReadingOptions`` has
        it: ``encoding``, ``decimal``, ``sheet``, ``header``, ``day_first``, ``skip_bad_lines``; ``missing``, texts that
        mean a missing cell in addition to the usual ones; ``keep``, texts and numbers that are values though they look
        like missing cells; ``max_bytes``, to which a file may unfold.

    Returns
    -------
    Source

    Raises
    ------
    ImportError
        If pandas is not installed, or a package that reads such files.
    ValueError
        If the file is not a table, an option, type or column is unknown, a column cannot be of its declared type or has
        texts that are none of its levels, or no column can be modelled.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn_subanneal.report import read_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "cats.csv")
    ...     _ = path.write_text("name;weight;indoors\\nTom;4,1;yes\\nKit;?;no\\nMia;3,2;yes\\n")
    ...     source = read_source(path)
    >>> [(column.name, column.kind, column.n_missing) for column in source.columns]
    [('name', 'label', 0), ('weight', 'real', 1), ('indoors', 'categorical', 0)]
    """
    known = (
        types
        if isinstance(types, TypesFile)
        else TypesFile(dict(types or {}))
        if not isinstance(types, str | Path)
        else read_types(types)
    )
    given = ReadingOptions(**(known.reading | options))
    table = read_table_file(path, given)
    types = _with_ordinals(known, given, list(table.frame))
    decimal, on_decimal = common_decimal(table.frame, table.separator)
    if given.decimal is not None:
        decimal, on_decimal = given.decimal, COMMAS if given.decimal == COMMA else ""
    n_rows, n_columns = table.frame.shape
    step = 1 if n_rows * n_columns <= most_cells else ceil(n_rows / max(most_cells / n_columns, FEWEST_ROWS))
    taken = table.frame if step == 1 else table.frame.iloc[::step].reset_index(drop=True)
    read = {name: read_values(taken[name], given, decimal, hints_of(name, known)) for name in taken.columns}
    columns, notes = described_columns(read, types), list(table.notes)
    if step > 1:
        notes.append(f"{len(taken):,} evenly spaced rows of {n_rows:,} were taken, which the time limit is enough for")
    notes += [on_decimal] if on_decimal else []
    # What is not modelled stays as it is written.
    frame = with_columns(taken, {column.name: read[column.name].series for column in columns if column.is_modelled})
    options = replace(given, max_bytes=ReadingOptions.max_bytes)
    columns = compared_columns(columns, frame)
    source = Source(table.name, frame, columns, notes, options, decimal, step, n_rows)
    if len(frame) < 2 or not source.modelled:
        left_out = "; ".join(f"{column.name}: {column.reason}" for column in source.columns[:5])
        raise ValueError(
            f"{table.name} has {len(frame)} rows and {len(source.modelled)} columns to model, and at least two rows "
            f"and one column are needed. Left out are {left_out or 'none'}. Declare types by --types COLUMN=TYPE."
        )
    return source


def hints_of(name: str, types: TypesFile) -> ColumnHints:
    """What a types file says of a column before it is read."""
    declared = types.types.get(name)
    declared = None if declared == AUTO else declared
    as_text = declared in (LABEL, IGNORED)
    return ColumnHints(
        as_text=as_text,
        meaning=types.spelling.get(name),
        missing=types.missing.get(name, ()),
        as_numbers=declared not in (None, "datetime"),
        levels=() if as_text else types.levels.get(name, ()),
    )


def _with_ordinals(known: TypesFile, given: ReadingOptions, names: list[str]) -> dict[str, str]:
    """The types that are declared, by name or by levels; levels of columns that are set aside have no effect."""
    for table in ("missing", "spelling", "levels", "numbers"):
        for name in getattr(known, table):
            if name not in names:
                raise ValueError(f"[{table}] names the column {name!r}, which the table does not have; it has {names}.")
    ordinals = {}
    for name, levels in known.levels.items():
        kind = known.types.get(name)
        if kind not in (LABEL, IGNORED):
            missing = (*given.missing, *known.missing.get(name, ()))
            require_levels(name, levels, kind, missing, known.spelling.get(name))
            ordinals[name] = ORDINAL
    return ordinals | known.types
