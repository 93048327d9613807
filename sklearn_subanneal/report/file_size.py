"""The size of a table's file in memory, by which files that would fill it are refused before they are read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from importlib import import_module
from pathlib import Path

#: A file may unfold to so many bytes.
MOST_BYTES = 2**32
OPENED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# A gzip file cannot unfold to more than this times its size.
MOST_OF_GZIP = 1040


def check_size(path: Path, max_bytes: int = MOST_BYTES) -> None:
    """Refuse a file that unfolds to more than ``max_bytes``; it is read no further than that.

    Parameters
    ----------
    path : Path
        Text, possibly compressed by gzip, bzip2, xz, zip or zstd, or Parquet.
    max_bytes : int

    Raises
    ------
    ValueError
    """
    size, suffix = path.stat().st_size, path.suffix.lower()
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
    elif suffix in (".parquet", ".pq"):
        size = max(size, _size_of_parquet(path))
    elif suffix in OPENED and not (suffix == ".gz" and size * MOST_OF_GZIP <= max_bytes):
        with OPENED[suffix](path) as file:
            size = _length(file, max_bytes)
    elif suffix == ".zst":
        size = _size_of_zstd(path, max_bytes)
    if size > max_bytes:
        raise ValueError(
            f"{path.name} unfolds to more than {max_bytes / 2**30:.3g} GiB, the limit: take a sample of its rows, or "
            "raise --max-gib."
        )


def _size_of_zstd(path, most):
    # pandas needs this package as well.
    zstandard = import_module("zstandard")
    with open(path, "rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as file:
        return _length(file, most)


def _length(file, most):
    """The number of bytes in an open file, counted until there are too many."""
    length = 0
    while length <= most and (block := file.read(2**20)):
        length += len(block)
    return length


def _size_of_parquet(path):
    # pandas needs this package as well.
    metadata = import_module("pyarrow.parquet").read_metadata(path)
    # Cells that are packed well, such as a single value for all rows, take eight bytes each when they are read.
    cells = 8 * metadata.num_rows * metadata.num_columns
    return max(cells, sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)))
