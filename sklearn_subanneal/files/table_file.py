"""FileTable: a table as it stands in a file of any common kind, with notes on how it was read."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn_subanneal.files.binary_tables import typed_table
from sklearn_subanneal.files.delimited import text_table
from sklearn_subanneal.files.header import column_names
from sklearn_subanneal.files.json_records import json_table
from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.files.spreadsheets import sheet_table
from sklearn_subanneal.files.text_encoding import decoded
from sklearn_subanneal.files.unfolding import DAMAGE, TooLarge, unfolded

if TYPE_CHECKING:
    import pandas as pd

TEXT, JSON = "text", "json"
SHEETS, TYPED = ("xlsx", "ods", "xls"), ("parquet", "feather", "stata", "sas7bdat", "xport")
# What files of each kind begin with.
_HEADS = {
    b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather", b"<stata_dta>": "stata",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "xls", b"HEADER RECORD*******LIBRARY HEADER RECORD": "xport",
    b"\0" * 12 + b"\xc2\xea\x81\x60": "sas7bdat",
}  # fmt: skip
# Kinds that are recognised and not read, and what to do.
_OTHERS = {
    b"$FL2": "a file of SPSS: open it in Python by pandas.read_spss (pip install pyreadstat), and save it as CSV",
    b"$FL3": "a file of SPSS: open it in Python by pandas.read_spss (pip install pyreadstat), and save it as CSV",
    b"SQLite format 3": "a data base: export the table as CSV, as by sqlite3 -csv -header FILE 'select * from TABLE'",
    b"%PDF": "a document: copy its table into a spreadsheet, and save that",
    b"\x89HDF": "a file of HDF5: open it in Python by pandas.read_hdf, and save it as CSV",
    b"RDX": "a file of R: in R, write.csv(x, 'table.csv', row.names = FALSE)",
    b"{\\rtf": "a document: copy its table into a spreadsheet, and save that",
}
_PAGE = re.compile(rb"\s*(?:\xef\xbb\xbf)?<(?:!doctype|html|table|\?xml)", re.IGNORECASE)


@dataclass(eq=False)
class FileTable:
    """A table as it stands in a file.

    Attributes
    ----------
    name : str
        Name of the file.
    frame : pandas.DataFrame
        Of a file of text, all cells are texts as they are written, empty where missing; others have their dtypes.
    kind : {"text", "json", "xlsx", "ods", "xls", "parquet", "feather", "stata", "sas7bdat", "xport"}
    notes : list of str
        What was found out, and what was left out, in words.
    separator : str or None
        What stands between the cells of a text.
    """

    name: str
    frame: pd.DataFrame
    kind: str
    notes: list[str] = field(default_factory=list)
    separator: str | None = None


def read_table_file(path: str | Path, options: ReadingOptions | None = None) -> FileTable:
    """Read a table from a file of any common kind.

    Text (CSV and the like: the separator, the encoding, lines before the table and whether it has names are found out),
    JSON, spreadsheets (xlsx, ods, xls), Parquet, Feather, Stata and SAS; possibly compressed by gzip, bzip2, xz, zip
    or zstd. What a file is, its content says.

    Parameters
    ----------
    path : str or Path
    options : ReadingOptions, default=None

    Returns
    -------
    FileTable

    Raises
    ------
    ImportError
        If a package that reads such files is not installed; the message says which.
    ValueError
        If the file is no table, is damaged or too large; the message says what to do.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn_subanneal.files import read_table_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "prices.csv")
    ...     _ = path.write_bytes("Preise in €\\nTag;Preis\\n1;2,50\\n2;3,00\\n".encode("cp1252"))
    ...     read = read_table_file(path)
    >>> read.frame.to_numpy().tolist(), read.notes[0]
    ([['1', '2,50'], ['2', '3,00']], 'text in cp1252')
    """
    path, options = Path(path), options or ReadingOptions()
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "Tables are read by pandas, which is not installed: pip install 'sklearn-subanneal[report]'"
        ) from error
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name the file of a table in it")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}")
    notes: list[str] = []
    separator = None
    try:
        content, of_archive = unfolded(path, options.max_bytes)
        notes += of_archive
        if not content.strip():
            raise ValueError("it is empty")
        kind = _kind(content)
        if kind in TYPED:
            frame = typed_table(content, kind, options, path.name, notes)
        elif kind in SHEETS:
            frame = sheet_table(content, kind, options, notes)
        else:
            text, encoding = decoded(content, options.encoding, path.name)
            if encoding not in ("utf-8", "utf-8-sig"):
                notes.append(f"text in {encoding}")
            kind = JSON if _is_json(text, path) else TEXT
            declared = "\t" if {".tsv", ".tab"} & {suffix.lower() for suffix in path.suffixes} else None
            if kind == JSON:
                frame = json_table(text, notes)
            else:
                frame, separator = text_table(text, options, notes, declared)
    except (*DAMAGE, pd.errors.ParserError, MemoryError) as error:
        # Decompressors say by an OSError without a number that the data are damaged.
        if isinstance(error, TooLarge) or (isinstance(error, OSError) and error.errno is not None):
            raise
        raise ValueError(
            f"{path.name} cannot be read as a table ({' '.join(str(error).split()) or type(error).__name__}): save it "
            "anew, as CSV in UTF-8 with as many cells in each line."
        ) from error
    if kind not in (TEXT, *SHEETS):
        frame.columns = column_names(list(frame.columns), notes)
    return FileTable(path.name, frame, kind, notes, separator)


def _kind(content: bytes) -> str:
    """What a file is; ValueError if it is of a kind that is not read."""
    for head, kind in _HEADS.items():
        if content.startswith(head):
            return kind
    for head, remedy in _OTHERS.items():
        if content.startswith(head):
            raise ValueError(f"it is {remedy}")
    if content.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            names = archive.namelist()
            if "mimetype" in names:
                return "ods"
            if any(name.startswith("xl/") for name in names):
                if "xl/workbook.bin" in names:
                    raise ValueError("it is a spreadsheet of the kind xlsb: save it as xlsx")
                return "xlsx"
        raise ValueError("it is a document: copy its table into a spreadsheet, and save that")
    if _PAGE.match(content):
        raise ValueError("it is a web page or XML: open it in a spreadsheet, and save that as CSV")
    # Stata before version 13.
    is_old_stata = (
        content[:1] in b"\x69\x6c\x6e\x6f\x71\x72\x73" and content[1:2] in b"\x01\x02" and content[2:3] == b"\x01"
    )
    return "stata" if is_old_stata else TEXT


def _is_json(text: str, path: Path) -> bool:
    start = text[:200].lstrip()
    declared = {".json", ".jsonl", ".ndjson", ".geojson"} & {suffix.lower() for suffix in path.suffixes}
    return bool(declared) or re.match(r"\[\s*[\[{]|\{\s*\"", start) is not None
