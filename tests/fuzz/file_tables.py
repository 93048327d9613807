"""Tables in files of all kinds, changed in their cells, lines, bytes or packing."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from support.file_mutations import changed_bytes

PACKINGS = ("", "", "", ".gz", ".bz2", ".xz", ".zip")
CELLS = [
    "", " ", "?", "nan", "NA", "inf", "-inf", "1e400", "-1e-400", "1" * 400, "0x10", "1_000", "1,5", "1.5.6", "+", "-",
    "--1", "1e", "True", "yes", "=1+1", '"', '""', '"a', "a\0b", "\ufeff1", "\ud7ff", "2020-02-30", "2020-01-01",
    "9999999-01-01", "24:61", "1e308", "5e-324", "9223372036854775808", "-9223372036854775809", "x" * 70_000, "\r",
    "\v", "<script>alert(1)</script>", "../../etc/passwd", "${HOME}", "{0.__class__}", "%s%n", "__import__('os')", "ÿ",
    "١٢", "½", "1/0", "None", "[]", "{}", "b'x'", "1j", "٫", "1\u00a0000", "\u202e1",
]  # fmt: skip
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-32", "cp1252")


def _lines(rng) -> list[list[str]]:
    """A small table of several types, as texts."""
    n = int(rng.integers(2, 30))
    group = rng.integers(2, size=n)
    columns = {
        "id": [f"row {i}" for i in range(n)],
        "height": [f"{x:.3f}" for x in 5.0 * group + rng.normal(size=n)],
        "kind": ["uv"[g] for g in group],
        "count": [str(x) for x in rng.poisson(3.0, n)],
        "day": [f"2024-01-{1 + i % 28:02d}" for i in range(n)],
        "flag": [str(bool(g)) for g in group],
        "many": [str(x) for x in rng.integers(10**9, size=n)],
    }
    chosen = [name for name in columns if rng.random() < 0.7] or ["height"]
    return [chosen, *([columns[name][i] for name in chosen] for i in range(n))]


def _changed_lines(lines, rng):
    """With other cells, and sometimes other lines, names or numbers of cells."""
    lines = [list(line) for line in lines]
    for _ in range(rng.integers(0, 5)):
        line = lines[rng.integers(len(lines))]
        if line:
            line[rng.integers(len(line))] = CELLS[rng.integers(len(CELLS))]
    kind = rng.random()
    if kind < 0.06:
        lines[0] = [lines[0][0]] * len(lines[0])
    elif kind < 0.12:
        del lines[rng.integers(len(lines))][-1:]
    elif kind < 0.18:
        lines[rng.integers(len(lines))] += ["more", "cells"]
    elif kind < 0.22:
        lines = lines[:1] if rng.random() < 0.5 else lines[1:]
    elif kind < 0.26:
        column = int(rng.integers(len(lines[0])))
        value = CELLS[rng.integers(len(CELLS))]
        for line in lines[1:]:
            line[column : column + 1] = [value]
    elif kind < 0.29:
        lines = [line * 30 for line in lines]
    elif kind < 0.32:
        lines = lines[:1] + lines[1:] * 200
    return lines


def _packed(content: bytes, packing: str, rng) -> bytes:
    if packing == ".gz":
        return gzip.compress(content)
    if packing == ".bz2":
        return bz2.compress(content)
    if packing == ".xz":
        return lzma.compress(content)
    if packing == ".zip":
        stream = io.BytesIO()
        names = ["t.csv", "../t.csv", "/t.csv", "t/", "", "t.csv"][: 1 + int(4 * (rng.random() < 0.1)) * 1]
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in dict.fromkeys(names):
                archive.writestr(name or "u.csv", b"" if name.endswith("/") else content)
        return stream.getvalue()
    return content


def _json(lines, rng) -> bytes:
    """Records, in a list, in an object or one a line; numbers as numbers or as texts."""
    names, *rows = lines
    records = [
        {
            name: float(cell) if name == "height" and rng.random() < 0.9 else cell
            for name, cell in zip(names, row, strict=True)
        }
        for row in rows
    ]
    kind = rng.integers(4)
    if kind == 0:
        return "".join(f"{json.dumps(own)}\n" for own in records).encode()
    if kind == 1:
        return json.dumps({name: [own[name] for own in records] for name in names}).encode()
    return json.dumps(records if kind == 2 else {"meta": {}, "rows": records}).encode()


def _other_kind(lines, rng) -> tuple[str, bytes | None]:
    """The table in a file that is no text of lines; None without the package that writes it."""
    kind = str(rng.choice(["parquet", "parquet", "json", "json", "xlsx"]))
    if kind == "json":
        return kind, _json(lines, rng)
    return kind, _parquet(lines) if kind == "parquet" else _xlsx(lines)


def _xlsx(lines) -> bytes | None:
    """The table as a spreadsheet; None without openpyxl."""
    names, *rows = lines
    stream = io.BytesIO()
    try:
        pd.DataFrame(rows, columns=names).to_excel(stream, index=False)
    except ImportError:
        return None
    return stream.getvalue()


def _parquet(lines) -> bytes | None:
    """The table as Parquet; None without pyarrow."""
    names, *rows = lines
    frame = pd.DataFrame(rows, columns=names)
    for name in {"height", "count", "many"} & set(names):
        frame[name] = frame[name].astype(float)
    stream = io.BytesIO()
    try:
        frame.to_parquet(stream)
    except ImportError:
        return None
    return stream.getvalue()


def table_file(rng: np.random.Generator, folder: Path) -> tuple[Path, str]:
    """A file in the folder, and a description."""
    lines = _lines(rng)
    if rng.random() < 0.25:
        kind, content = _other_kind(lines, rng)
        if content is not None:
            path = folder / f"t.{kind}"
            path.write_bytes(changed_bytes(content, rng))
            return path, f"{kind}, bytes"
    kind = str(
        rng.choice(["cells", "bytes", "packed bytes", "cells and bytes", "noise"], p=[0.5, 0.2, 0.15, 0.1, 0.05])
    )
    if "cells" in kind:
        lines = _changed_lines(lines, rng)
    separator = str(rng.choice([",", ";", "\t", "|"], p=[0.7, 0.1, 0.1, 0.1]))
    end = str(rng.choice(["\n", "\r\n", "\r", "\n\n"], p=[0.8, 0.1, 0.05, 0.05]))
    encoding = ENCODINGS[rng.integers(len(ENCODINGS))]
    content = end.join(separator.join(line) for line in lines).encode(encoding, "replace") + b"\n" * int(
        rng.random() < 0.8
    )
    if kind == "noise":
        content = rng.bytes(int(rng.integers(0, 2000)))
    elif kind.endswith("bytes") and kind != "packed bytes" and len(content) > 1:
        content = changed_bytes(content, rng)
    packing = str(rng.choice(PACKINGS))
    content = _packed(content, packing, rng)
    if kind == "packed bytes":
        content = changed_bytes(content, rng)
    suffix = ".tsv" if separator == "\t" and rng.random() < 0.5 else str(rng.choice([".csv", ".txt", ".CSV", ""]))
    if rng.random() < 0.03:
        # A file of another kind than its name says.
        packing = str(rng.choice([".gz", ".bz2", ".xz", ".zip", ".zst", ".parquet", ".xlsx"]))
    path = folder / f"t{suffix}{packing}"
    path.write_bytes(content)
    return path, f"{kind}, {suffix}{packing}, {encoding}"
