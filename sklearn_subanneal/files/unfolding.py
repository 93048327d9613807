"""Unfolding of files that are compressed, to no more bytes than a limit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

# First bytes of files that are compressed.
_OPENED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_ZIP, _ZSTD = b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
# Members of archives that are files of spreadsheets, not of packed tables.
_OF_SPREADSHEETS = ("[Content_Types].xml", "mimetype")
_SUFFIXES = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zip": _ZIP, ".zst": _ZSTD}
# A compressed file in a compressed file is unfolded, no deeper than this.
_DEEPEST = 2
#: Decompressors say by one of these that data are damaged; by RuntimeError that they are encrypted or packed otherwise.
DAMAGE = (ValueError, OSError, RuntimeError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


class TooLarge(ValueError):
    """A file that unfolds to more than the limit."""

    def __init__(self, name: str, most: int):
        super().__init__(
            f"{name} unfolds to more than {most / 2**30:.3g} GiB, the limit: take a sample of its rows, or raise "
            "--max-gib."
        )


def unfolded(path: Path, max_bytes: int) -> tuple[bytes, list[str]]:
    """The bytes of a file, without its compression, and notes on what was done.

    What a file is, its first bytes say; its name may be wrong. The archive of a spreadsheet is left as it is, but its
    members may not unfold to more than ``max_bytes`` either.

    Parameters
    ----------
    path : Path
        Compressed by gzip, bzip2, xz, zip or zstd, or not.
    max_bytes : int

    Raises
    ------
    TooLarge
    ImportError
        If zstandard is needed, and not installed.
    ValueError
        If a zip archive has several tables, or none.
    """
    if path.stat().st_size > max_bytes:
        raise TooLarge(path.name, max_bytes)
    content, notes = path.read_bytes(), []
    for depth in range(_DEEPEST):
        declared = _SUFFIXES.get(path.suffix.lower()) if not depth else None
        inner = _unpacked(content, path.name, max_bytes, notes, declared)
        if inner is None:
            return content, notes
        content = inner
    return content, notes


def _unpacked(content: bytes, name: str, most: int, notes: list[str], declared: bytes | None) -> bytes | None:
    """The content of a compressed file; None if it is not compressed."""
    head = next((head for head in (*_OPENED, _ZIP, _ZSTD) if content.startswith(head)), declared)
    if head is None:
        return None
    if head == _ZIP:
        return _member(content, name, most, notes)
    if head == _ZSTD:
        try:
            zstandard = import_module("zstandard")
        except ImportError as error:
            raise ImportError("zstd is read by zstandard, which is not installed: pip install zstandard") from error
        opened = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True)
        try:
            return _read(opened, name, most)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
    with _OPENED[head](io.BytesIO(content)) as file:
        return _read(file, name, most)


def _member(content: bytes, name: str, most: int, notes: list[str]) -> bytes | None:
    """The table in a zip archive; None if the archive is itself a file of a spreadsheet."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if sum(info.file_size for info in members) > most:
            raise TooLarge(name, most)
        if any(info.filename in _OF_SPREADSHEETS for info in members):
            return None
        # Those of the system on which the archive was packed are no tables.
        tables = [info for info in members if not info.filename.rpartition("/")[2].startswith((".", "__MACOSX"))]
        tables = [info for info in tables if not info.filename.startswith("__MACOSX")]
        if len(tables) != 1:
            listed = ", ".join(repr(info.filename) for info in tables[:5]) or "none"
            raise ValueError(f"the archive has {len(tables)} files ({listed}) and one is needed: unpack it")
        notes.append(f"the file {tables[0].filename!r} of the archive")
        with archive.open(tables[0]) as file:
            return _read(file, name, most)


def _read(file: BinaryIO, name: str, most: int) -> bytes:
    """All bytes of an open file, read no further than until there are too many."""
    blocks, length = [], 0
    while block := file.read(2**20):
        length += len(block)
        if length > most:
            raise TooLarge(name, most)
        blocks.append(block)
    return b"".join(blocks)
