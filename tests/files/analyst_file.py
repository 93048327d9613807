"""AnalystFile: a file with the types that a careful analyst would give its columns; cells and writers of such files."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

N_ROWS = 150
# Of amounts, several types are right.
AMOUNT = "real|skewed|semicontinuous"
WHOLE = f"{AMOUNT}|count|ordinal"
CITIES = ["Köln", "München", "Düsseldorf", "Saarbrücken"]


@dataclass(frozen=True)
class AnalystFile:
    """A file, and what is right.

    Attributes
    ----------
    name : str
    write : callable, Path -> None
    kinds : dict of str to str
        The type of each column; several that are right are separated by bars.
    options : dict
        Of `read_source`.
    marks : dict of str to dict
        What must be taken for missing, by column.
    noted : str
        Words of a note on how the file was read.
    needs : str
        A package without which it cannot be read.
    """

    name: str
    write: Callable[[Path], None]
    kinds: dict[str, str]
    options: dict = field(default_factory=dict)
    marks: dict[str, dict[str, int]] = field(default_factory=dict)
    noted: str = ""
    needs: str = ""


RNG = np.random.default_rng(20)
GROUP = RNG.integers(3, size=N_ROWS)
HEIGHT = np.round(170.0 + 8.0 * GROUP + 5.0 * RNG.normal(size=N_ROWS), 1)
INCOME = np.round(np.exp(7.5 + 0.4 * RNG.normal(size=N_ROWS)), 2)
AGE = RNG.integers(18, 88, size=N_ROWS)
VISITS = RNG.poisson(2.5, N_ROWS)
COLOUR = np.array(["red", "green", "blue"])[(GROUP + (RNG.random(N_ROWS) < 0.1)) % 3]
CITY = np.array(CITIES)[RNG.integers(4, size=N_ROWS)]
SMOKER = np.array(["no", "yes"])[RNG.integers(2, size=N_ROWS)]
DAYS = np.datetime64("2019-03-01") + np.sort(RNG.integers(0, 700, size=N_ROWS))
CODE = [f"K{number:05d}" for number in RNG.permutation(90_000)[:N_ROWS]]
PLAIN = {"code": "label", "height": AMOUNT, "age": WHOLE, "colour": "categorical", "smoker": "categorical"}


def plain() -> pd.DataFrame:
    return pd.DataFrame({"code": CODE, "height": HEIGHT, "age": AGE, "colour": COLOUR, "smoker": SMOKER})


def lines(columns: dict, separator: str = ",", names: bool = True, end: str = "\n") -> str:
    """A table of texts, as one would type it."""
    rows = [list(columns)] if names else []
    rows += [list(row) for row in zip(*columns.values(), strict=True)]

    def cell(value):
        text = str(value)
        return f'"{text}"' if separator in text or "\n" in text else text

    return "".join(separator.join(map(cell, row)) + end for row in rows)


def comma(numbers, digits: int = 2) -> list[str]:
    return [f"{number:.{digits}f}".replace(".", ",") for number in numbers]


def grouped(numbers, mark: str, decimal: str) -> list[str]:
    return [f"{number:,.2f}".replace(",", "\0").replace(".", decimal).replace("\0", mark) for number in numbers]


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content.encode(encoding))


def packed(pack: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(pack(lines(dict(plain())).encode()))


def in_zip(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
        archive.writestr("__MACOSX/._table.csv", b"\0\5")
    return stream.getvalue()


def in_zstd(content: bytes) -> bytes:
    return import_module("zstandard").ZstdCompressor().compress(content)


def sheets(tables: dict[str, pd.DataFrame], engine: str = "openpyxl", start: int = 0, title: str = ""):
    def write(path):
        with pd.ExcelWriter(io.BytesIO() if path is None else path, engine=engine) as book:
            for name, table in tables.items():
                table.to_excel(book, sheet_name=name, index=False, startrow=start)
                if title:
                    book.sheets[name].cell(row=1, column=1, value=title)

    return write


def in_json(content) -> Callable[[Path], None]:
    return text(json.dumps(content))


def in_xport(table: pd.DataFrame) -> bytes:
    """SAS transport, version 5: numbers of IBM's floating point and texts of fixed width."""

    def card(content: str) -> bytes:
        return content.encode("latin-1").ljust(80)

    def ibm(number: float) -> bytes:
        if number != number:
            return b".".ljust(8, b"\0")
        if not number:
            return bytes(8)
        exponent, size = 64, abs(number)
        while size >= 1.0:
            size, exponent = size / 16.0, exponent + 1
        while size < 1.0 / 16.0:
            size, exponent = size * 16.0, exponent - 1
        return bytes([exponent | (0x80 if number < 0 else 0)]) + int(size * 2**56).to_bytes(7, "big")

    stamp = "01JAN20:00:00:00"
    zeros = "0" * 30
    head = card(f"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!{zeros}  ")
    head += card(f"{'SAS':8}{'SAS':8}{'SASLIB':8}{'9.4':8}{'X':8}{'':24}{stamp}") + card(stamp)
    head += card("HEADER RECORD*******MEMBER  HEADER RECORD!!!!!!!000000000000000001600000000140  ")
    head += card(f"HEADER RECORD*******DSCRPTR HEADER RECORD!!!!!!!{zeros}  ")
    head += card(f"{'SAS':8}{'TABLE':8}{'SASDATA':8}{'9.4':8}{'X':8}{'':24}{stamp}") + card(
        f"{stamp:16}{'':16}{'':40}{'':8}"
    )
    head += card(f"HEADER RECORD*******NAMESTR HEADER RECORD!!!!!!!000000{table.shape[1]:04d}00000000000000000000  ")
    fields, at = b"", 0
    for number, name in enumerate(table, start=1):
        is_number = table[name].dtype.kind in "if"
        fields += struct.pack(
            ">hhhh8s40s8shhh2s8shhl52s", 1 if is_number else 2, 0, 8, number, name.upper().encode().ljust(8), b" " * 40,
            b" " * 8, 0, 0, 0, b"\0\0", b" " * 8, 0, 0, at, b"\0" * 52,
        )  # fmt: skip
        at += 8
    fields += b" " * (-len(fields) % 80)
    rows = b"".join(
        ibm(float(cell)) if table[name].dtype.kind in "if" else str(cell).encode("latin-1").ljust(8)[:8]
        for row in range(len(table))
        for name in table
        for cell in (table[name].iloc[row],)
    )
    rows += b" " * (-len(rows) % 80)
    return head + fields + card(f"HEADER RECORD*******OBS     HEADER RECORD!!!!!!!{zeros}  ") + rows


def with_mark(cells, mark, rows) -> list:
    cells = [str(cell) for cell in cells]
    for row in rows:
        cells[row] = mark
    return cells
