"""Source, the input table of a report: the file read by pandas, and a type for each column with its reason."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.columns.binding import DECLARED
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.report.file_size import MOST_BYTES, check_size
from sklearn_subanneal.tables.cells import pandas_cells
from sklearn_subanneal.tables.numerals import numeric_cells

if TYPE_CHECKING:
    import pandas as pd

#: Types of columns that are not modelled: the one that names the rows, and ignored ones.
LABEL, IGNORED = "label", "ignore"
TYPES = (*DECLARED, LABEL, IGNORED)
SEPARATORS = ",;\t|"
PARQUET, SPREADSHEETS = (".parquet", ".pq"), (".xlsx", ".xls", ".ods")
# Texts of missing cells, in addition to those of pandas.
MISSING = ("?",)
# Text is a category, unless it has more values than this, or more than some and these mostly different.
MOST_TEXTS, FEW_TEXTS = 1000, 20
# Text of which this share can be read as numbers is probably a number with a mark for missing cells.
MOSTLY = 0.8


@dataclass(frozen=True)
class ColumnDescription:
    """One column of the file.

    Attributes
    ----------
    name : str
    kind : {"real", "categorical", "boolean", "count", "cyclic", "ordinal", "datetime", "label", "ignore"}
    reason : str
        Reason for the type.
    n_missing, n_distinct : int
    values : str
        The range, or the most frequent values.
    """

    name: str
    kind: str
    reason: str
    n_missing: int
    n_distinct: int
    values: str

    @property
    def is_modelled(self) -> bool:
        """Whether the column is part of the model."""
        return self.kind in DECLARED


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
    reading : str
        The Python expression that reads the file.
    """

    name: str
    frame: pd.DataFrame
    columns: list[ColumnDescription]
    reading: str

    @property
    def modelled(self) -> list[ColumnDescription]:
        """The columns that are part of the model."""
        return [column for column in self.columns if column.is_modelled]

    @property
    def X(self) -> pd.DataFrame:
        """The modelled columns of the table."""
        return self.frame[[column.name for column in self.modelled]]

    @property
    def feature_types(self) -> dict[str, str]:
        """The types of the modelled columns, as the parameter `feature_types` of estimators."""
        return {column.name: column.kind for column in self.modelled}

    @property
    def row_names(self) -> np.ndarray:
        """A name for each row: its cell in the column of type "label", or its number from 1."""
        for column in self.columns:
            if column.kind == LABEL:
                return self.frame[column.name].astype(str).to_numpy(object)
        return np.array([f"row {row}" for row in range(1, len(self.frame) + 1)], dtype=object)


def read_source(
    path: str | Path,
    types: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    max_bytes: int = MOST_BYTES,
) -> Source:
    """Read a table from a file and give each of its columns a type.

    Parameters
    ----------
    path : str or Path
        CSV (separated by commas, semicolons, tabs or bars, possibly compressed) or Parquet.
    types : mapping of str to str, default=None
        From column names to "real", "categorical", "boolean", "count", "cyclic", "ordinal", "semicontinuous", "skewed",
        "datetime", "label" (it names the rows) or "ignore"; the types of other columns are inferred.
    missing : iterable of str, default=()
        Texts that mean a missing cell, in addition to "?", the empty cell and those that pandas knows.
    max_bytes : int, default=2**32
        A file that unfolds to more is refused.

    Returns
    -------
    Source

    Raises
    ------
    ImportError
        If pandas is not installed, or pyarrow for Parquet.
    ValueError
        If the file is not a table, a type or column is unknown, or no column can be modelled.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn_subanneal.report import read_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "cats.csv")
    ...     _ = path.write_text("name,weight,indoors\\nTom,4.1,yes\\nKit,?,no\\nMia,3.2,yes\\n")
    ...     source = read_source(path)
    >>> [(column.name, column.kind, column.n_missing) for column in source.columns]
    [('name', 'label', 0), ('weight', 'real', 1), ('indoors', 'categorical', 0)]
    """
    path, missing = Path(path), (*MISSING, *missing)
    frame, reading = _read(path, missing, max_bytes)
    frame.columns = [str(name) for name in frame.columns]
    if not frame.columns.is_unique:
        name = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"{path.name} has two columns {name!r}: rename one of them.")
    source = Source(path.name, frame, _describe(frame, types or {}), reading)
    if len(frame) < 2 or not source.modelled:
        left_out = "; ".join(f"{column.name}: {column.reason}" for column in source.columns[:5])
        raise ValueError(
            f"{path.name} has {len(frame)} rows and {len(source.modelled)} columns to model, and at least two rows and "
            f"one column are needed. Left out are {left_out or 'none'}. Declare types by --types COLUMN=TYPE."
        )
    return source


def _read(path: Path, missing: tuple[str, ...], max_bytes: int) -> tuple[pd.DataFrame, str]:
    """The table, and the Python expression that reads it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "Tables are read by pandas, which is not installed: pip install 'sklearn-subanneal[report]'"
        ) from error
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}")
    if suffixes and suffixes[-1] in SPREADSHEETS:
        raise ValueError(f"{path.name} is a spreadsheet: save the sheet as CSV.")
    try:
        check_size(path, max_bytes)
        if suffixes and suffixes[-1] in PARQUET:
            return _parquet_table(path), f"pd.read_parquet({path.name!r})"
        separator = "\t" if {".tsv", ".tab"} & set(suffixes) else _separator(path)
        options = {"na_values": list(missing)} | ({} if separator == "," else {"sep": separator})
        written = ", ".join(f"{name}={value!r}" for name, value in options.items())
        return pd.read_csv(path, low_memory=False, **options), f"pd.read_csv({path.name!r}, {written})"
    except ImportError as error:
        needed = "pyarrow" if suffixes[-1] in PARQUET else "zstandard"
        raise ImportError(
            f"{suffixes[-1]} is read by {needed}, which is not installed: pip install {needed}"
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not text in UTF-8: save it in UTF-8.") from error
    except (ValueError, OSError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, EOFError) as error:
        # Decompressors say by an OSError without a number that the data are damaged, and by a RuntimeError that the
        # method of packing is another, or that they are encrypted.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{path.name} cannot be read as a table ({' '.join(str(error).split())}): save it anew, as CSV in UTF-8 "
            "with as many cells in each line."
        ) from error


def _parquet_table(path: Path) -> pd.DataFrame:
    """The table of a Parquet file; ValueError if it is damaged."""
    import pandas as pd

    try:
        table = pd.read_parquet(path).reset_index(drop=True)
        # Bytes that are no text are found when they are asked for.
        for at in range(table.shape[1]):
            if isinstance(table.dtypes.iloc[at], pd.StringDtype):
                table.iloc[:, at].unique().tolist()
    except (ImportError, OSError):
        raise
    except Exception as error:
        # The metadata of pandas are read with whatever error they give.
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return table


def _separator(path: Path) -> str:
    """The separator that is most frequent in the first line; a comma if there is none."""
    opened = gzip.open if path.suffix == ".gz" else open
    first = ""
    with contextlib.suppress(UnicodeDecodeError), opened(path, "rt", encoding="utf-8") as file:
        first = file.readline()
    return max(SEPARATORS, key=first.count)


def _describe(frame: pd.DataFrame, types: Mapping[str, str]) -> list[ColumnDescription]:
    for name, kind in types.items():
        if name not in frame.columns:
            raise ValueError(
                f"--types names the column {name!r}, which the table does not have; it has {list(frame.columns)}."
            )
        if kind not in TYPES:
            raise ValueError(f"--types has {kind!r} for column {name!r}; types are {', '.join(TYPES)}.")
    has_label, columns = LABEL in types.values(), []
    for name in frame.columns:
        series = frame[name]
        kind, reason, spelled = (types[name], "as declared", False) if name in types else _inferred(series)
        if kind == LABEL and name not in types:
            kind = IGNORED if has_label else LABEL
            has_label = True
        if spelled:
            frame[name] = numeric_cells(pandas_cells(name, series))[0].values
            series = frame[name]
        seen = series.dropna()
        columns.append(ColumnDescription(name, kind, reason, int(series.isna().sum()), seen.nunique(), _values(seen)))
    return columns


def _inferred(series: pd.Series) -> tuple[str, str, bool]:
    """The type of a column, the reason, and whether its strings are to be read as the numbers that they spell."""
    seen = series.dropna()
    n_distinct = seen.nunique()
    if n_distinct < 2:
        return IGNORED, f"all its cells are {seen.iloc[0]}" if n_distinct else "it has no values", False
    if series.dtype.kind == "f" and np.isinf(seen).any():
        raise ValueError(f"Column {series.name!r} holds infinity: correct it, or leave it empty.")
    try:
        chosen = choose_type(pandas_cells(series.name, series))
    except (TypeError, ValueError) as error:
        return IGNORED, str(error), False
    if chosen.kind == "categorical" and series.dtype.kind not in "iuf":
        if n_distinct == len(series):
            return LABEL, "text, different in each row", False
        if n_distinct > MOST_TEXTS or n_distinct > max(FEW_TEXTS, len(seen) / 2):
            return IGNORED, "text, mostly different in each row", False
        return chosen.kind, "text" + _marks(seen), False
    if series.dtype.kind in "iu" and seen.iloc[0] in (0, 1) and (np.diff(seen) == 1).all() and len(seen) > 2:
        return LABEL, "it numbers the rows", False
    if chosen.warning and n_distinct == len(series):
        return LABEL, chosen.reason, False
    return chosen.kind, chosen.reason, chosen.spelled


def _marks(seen: pd.Series) -> str:
    """A remark on text that consists of numbers and a few marks, else an empty string."""
    import pandas as pd

    is_text = pd.to_numeric(seen, errors="coerce").isna()
    if not is_text.any() or is_text.mean() > 1.0 - MOSTLY:
        return ""
    mark = seen[is_text].mode()[0]
    return f", but mostly numbers: if {mark!r} means missing, pass --missing {mark!r}"


def _values(seen: pd.Series) -> str:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(seen) and not pd.api.types.is_bool_dtype(seen) and len(seen):
        return f"{brief(seen.min())} to {brief(seen.max())}"
    counts = seen.astype(str).value_counts()
    # Values may contain commas.
    return "; ".join(counts.index[:3]) + ("; ..." if len(counts) > 3 else "")


def brief(value) -> str:
    """A value as text, with about four digits of a number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return str(value)
    size = abs(value)
    if size < 1e15 and value == int(value):
        return f"{int(value):,}" if size >= 1e4 else str(int(value))
    return f"{value:,.0f}" if 1e4 <= size < 1e15 else f"{value:.4g}"
