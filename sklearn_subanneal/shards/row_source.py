"""Where the rows of a table in shards are: an array or a DataFrame, a memory map, Parquet files, or Dask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np


class RowSource:
    """Rows that are read in pieces; a subclass reads them.

    Attributes
    ----------
    n_rows : int
    """

    n_rows: int

    def pieces(self) -> Iterator:
        """The rows in their order, as arrays or DataFrames of some tens of thousands of rows."""
        raise TypeError(f"{type(self).__name__} must say how its rows are read")

    def take(self, rows: np.ndarray):
        """Some rows, given in increasing order."""
        parts, first = [], 0
        for piece in self.pieces():
            own = rows[(rows >= first) & (rows < first + len(piece))] - first
            if own.size:
                parts.append(piece.iloc[own] if hasattr(piece, "iloc") else piece[own])
            first += len(piece)
        return together(parts)


class ArrayRows(RowSource):
    """The rows of an array, a memory map or a pandas DataFrame.

    Parameters
    ----------
    X : ndarray or pandas.DataFrame of shape (n_rows, n_features)
    piece_rows : int, default=65536
    """

    def __init__(self, X, piece_rows: int = 65_536):
        if X.ndim != 2:
            raise ValueError(f"X must be two-dimensional, rows and columns, got shape {X.shape}; reshape it")
        self.X, self.n_rows, self.piece_rows = X, len(X), piece_rows

    def pieces(self) -> Iterator:
        for first in range(0, self.n_rows, self.piece_rows):
            yield self._rows(slice(first, first + self.piece_rows))

    def take(self, rows: np.ndarray):
        return self._rows(rows)

    def _rows(self, rows):
        return self.X.iloc[rows] if hasattr(self.X, "iloc") else np.asarray(self.X[rows])


class ParquetRows(RowSource):
    """The rows of Parquet files, one row group after the other.

    Parameters
    ----------
    paths : sequence of Path
        The files, in their order.
    """

    def __init__(self, paths: Sequence[Path]):
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError as error:
            raise ImportError("Parquet files are read by pyarrow; install it: pip install pyarrow") from error
        self.paths = list(paths)
        self.open = ParquetFile
        self.n_rows = sum(ParquetFile(path).metadata.num_rows for path in self.paths)

    def pieces(self) -> Iterator:
        for path in self.paths:
            with self.open(path) as file:
                for batch in file.iter_batches(batch_size=65_536):
                    yield batch.to_pandas()


class DaskRows(RowSource):
    """The rows of a Dask DataFrame or array, whose partitions are computed one after the other, where Dask says.

    Parameters
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array of shape (n_rows, n_features)
    """

    def __init__(self, X):
        if X.ndim != 2:
            raise ValueError(f"X must be two-dimensional, rows and columns, got shape {X.shape}; reshape it")
        # Chunks of an array are made to have all columns.
        self.X = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X
        self.n_rows = len(X)

    def pieces(self) -> Iterator:
        for part in self.X.to_delayed().ravel() if hasattr(self.X, "rechunk") else self.X.to_delayed():
            yield part.compute()


def together(parts: list):
    """Pieces of a table, one after the other."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    return np.concatenate(parts)


def source_of(X) -> RowSource:
    """The rows of what a user gives: an array, a DataFrame, one of Dask, or the path of a file or folder.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if isinstance(X, RowSource):
        return X
    if isinstance(X, str | Path):
        path = Path(X)
        if path.suffix == ".npy":
            return ArrayRows(np.load(path, mmap_mode="r", allow_pickle=False))
        paths = sorted(path.glob("**/*.parquet")) if path.is_dir() else [path]
        if not paths or not all(own.is_file() for own in paths):
            raise ValueError(f"X must be a Parquet file, a folder of these, or a .npy file; {str(path)!r} is none")
        return ParquetRows(paths)
    if hasattr(X, "to_delayed") and hasattr(X, "ndim"):
        return DaskRows(X)
    if hasattr(X, "iloc") or isinstance(X, np.ndarray):
        return ArrayRows(X)
    raise ValueError(
        "X must be an array, a pandas DataFrame, a DataFrame or array of Dask, or the path of a .npy file, a Parquet "
        f"file or a folder of Parquet files, got {type(X).__name__}; convert it"
    )
