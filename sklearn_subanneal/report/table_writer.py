"""Tables written to files of the kind that their name says."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn_subanneal.report.json_writer import write_json
from sklearn_subanneal.report.replaced_columns import with_columns
from sklearn_subanneal.report.spreadsheet_cells import marked_table
from sklearn_subanneal.tables.exact_integers import long_integers

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".xlsx", ".ods", ".parquet", ".feather", ".dta")
PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
# The packages of writers, and the modules of which one is enough.
_PACKAGES = {
    ".xlsx": ("openpyxl", ("openpyxl", "xlsxwriter")),
    ".ods": ("odfpy", ("odf",)),
    ".parquet": ("pyarrow", ("pyarrow",)),
    ".feather": ("pyarrow", ("pyarrow",)),
    ".zst": ("zstandard", ("zstandard",)),
}


def check_output(path: Path, is_forced: bool) -> None:
    """Refuse, before anything is computed, a file that exists or cannot be written, or a folder that is not there.

    Raises
    ------
    ImportError
        If the package that writes such files is not installed.
    ValueError
    OSError
    """
    for suffix in {_suffix(path), path.suffix.lower()} & {*_PACKAGES}:
        package, modules = _PACKAGES[suffix]
        if not any(find_spec(module) for module in modules):
            raise ImportError(f"{suffix} is written by {package}, which is not installed: pip install {package}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file, such as {path}/out.csv")
    if path.exists() and not is_forced:
        raise FileExistsError(f"{path} exists: name another file, or pass --force to write over it")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}: make it, or name another")


def write_table(table: pd.DataFrame, path: Path, raw: bool = False) -> Path:
    """Write a table to a file; the kind is that of its name, and text may be packed, as in ``out.csv.gz``.

    Parameters
    ----------
    table : DataFrame
    path : Path
    raw : bool, default=False
        Whether texts are written to CSV as they are. Otherwise those that a spreadsheet would take for formulas begin
        with an apostrophe.

    Raises
    ------
    ImportError
        If the package that writes such files is not installed.
    ValueError
        If the kind is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.table_writer import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_table(pd.DataFrame({"a": [1, 2], "b": ["=x", "y"]}), pathlib.Path(folder, "t.csv"))
    ...     path.read_text()
    "a,b\\n1,'=x\\n2,y\\n"
    """
    suffix = _suffix(path)
    try:
        if suffix in (".csv", ".tsv", ".txt"):
            table = table if raw else marked_table(table)
            table.to_csv(path, index=False, sep="," if suffix == ".csv" else "\t")
        elif suffix in (".json", ".jsonl"):
            write_json(table, path, lines=suffix == ".jsonl")
        elif suffix in (".xlsx", ".ods"):
            table = _with_digits(_without_zones(table))
            (table if raw else marked_table(table)).to_excel(path, index=False)
        elif suffix == ".dta":
            _plain(_with_digits(_without_zones(table))).to_stata(path, write_index=False, version=118)
        else:
            getattr(_plain(table), f"to_{suffix[1:]}")(path)
    except ImportError as error:
        package, _ = _PACKAGES.get(suffix, _PACKAGES[".zst"])
        raise ImportError(f"{suffix} is written by {package}, which is not installed: pip install {package}") from error
    return path


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in SUFFIXES:
        raise ValueError(f"{path} must end in one of {', '.join(SUFFIXES)}, which says what kind of file is written")
    return suffixes[-1]


def _plain(table: pd.DataFrame) -> pd.DataFrame:
    """Columns of objects as numbers where all are, and as texts elsewhere: binary files have one type a column."""
    out = table.copy()
    for name in (name for name in out if out[name].dtype.kind == "O" and not hasattr(out[name].dtype, "storage")):
        converted = out[name].infer_objects()
        if converted.dtype.kind == "O":
            kinds, large = {type(cell) for cell in converted.dropna()}, long_integers(converted)
            are_numbers = kinds and kinds <= {int, float} and large is None
            converted = converted.astype(float) if are_numbers else converted.map(str, "ignore")
        out[name] = converted
    return out


def _with_digits(table: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers with more digits than floating point keeps as texts: spreadsheets and Stata have none of these."""
    large = {name: own for name, own in table.items() if own.dtype.kind in "iuO" and long_integers(own) is not None}
    return with_columns(table, {name: own.map(str, na_action="ignore") for name, own in large.items()})


def _without_zones(table: pd.DataFrame) -> pd.DataFrame:
    """Dates without their zone, which spreadsheets and Stata do not have: on the clocks of the zone."""
    out = {}
    for name, series in table.items():
        if getattr(getattr(series, "dt", None), "tz", None) is not None:
            out[name] = series.dt.tz_localize(None)
        elif series.dtype.kind == "O":
            out[name] = series.map(_without_zone)
    return with_columns(table, out)


def _without_zone(cell):
    return cell.replace(tzinfo=None) if getattr(cell, "tzinfo", None) is not None else cell
