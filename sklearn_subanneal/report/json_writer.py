"""write_json: tables as JSON, one object for each row, in which numbers have all of their digits."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import pandas as pd


def write_json(table: pd.DataFrame, path: Path, lines: bool = False) -> None:
    """Write the rows of a table; ``DataFrame.to_json`` would round numbers to at most 15 decimals.

    Parameters
    ----------
    table : DataFrame
        Missing cells, and infinity, which JSON does not have, are written as null, and dates in the format of ISO 8601.
    path : Path
        The text is packed as its last suffix says.
    lines : bool, default=False
        Whether each row is a line of its own, as in ``out.jsonl``, and not an element of one array.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.json_writer import write_json
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.json")
    ...     write_json(pd.DataFrame({"a": [1.5e-12, None], "b": ["x", "ü"]}), path)
    ...     print(path.read_text(encoding="utf-8"), end="")
    [{"a": 1.5e-12, "b": "x"},
    {"a": null, "b": "ü"}]
    """
    names, columns = list(map(str, table.columns)), [_cells(table.iloc[:, j]) for j in range(table.shape[1])]
    rows = (
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=_as_json)
        for row in zip(*columns, strict=True)
    )
    with _opened(path) as file:
        if lines:
            file.writelines(f"{row}\n" for row in rows)
            return
        for number, row in enumerate(rows):
            file.write(f",\n{row}" if number else f"[{row}")
        file.write("]\n" if len(table) else "[]\n")


def _cells(series: pd.Series) -> list:
    return [
        None if is_missing else _without_gap(cell)
        for cell, is_missing in zip(series.astype(object).tolist(), series.isna(), strict=True)
    ]


def _as_json(cell):
    """What JSON has for a cell of another type: numbers and lists of NumPy, dates, and texts of all others."""
    if hasattr(cell, "isoformat"):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return float(cell)
    if not hasattr(cell, "tolist"):
        return str(cell)
    # Columns of lists in Parquet come as arrays, and a gap in one of numbers as NaN.
    own = (cell.astype(str) if cell.dtype.kind in "mM" else cell).tolist()
    return [_without_gap(part) for part in own] if isinstance(own, list) else own


def _without_gap(cell):
    return None if isinstance(cell, float) and not isfinite(cell) else cell


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    suffix = path.suffix.lower()
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(path.stem, "w") as file:
            with io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
                yield text
        return
    if suffix == ".zst":
        import zstandard

        opened = zstandard.open
    else:
        opened = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(suffix, open)
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        yield file
