"""Where the rows of a table in shards are: an array or a DataFrame, a memory map, Parquet files, or Dask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from sklearn_subanneal.shards.first_values import FirstValues, other_columns

# Rows that are read at once.
PIECE_ROWS = 65_536


class RowSource:
    """Rows that are read in parts, which a subclass reads, here or on the workers of Dask.

    Attributes
    ----------
    lengths : list of int
        Rows of each part.
    """

    lengths: list[int]

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return sum(self.lengths)

    def part(self, i: int):
        """A part, as an array or a DataFrame."""
        raise TypeError(f"{type(self).__name__} must say how its rows are read")

    def pieces(self) -> Iterator:
        """The rows in their order, as arrays or DataFrames of some tens of thousands of rows."""
        for i in range(len(self.lengths)):
            yield self.part(i)

    def where(self, rows: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """The parts that have some rows, given in increasing order, and which rows of theirs these are."""
        ends = np.cumsum(self.lengths)
        part_of = np.searchsorted(ends, rows, side="right")
        return [(i, rows[part_of == i] - (ends[i] - self.lengths[i])) for i in np.unique(part_of).tolist()]

    def take(self, rows: np.ndarray):
        """Some rows, given in increasing order."""
        found, first = [], 0
        for piece in self.pieces():
            own = rows[(rows >= first) & (rows < first + len(piece))] - first
            if own.size:
                found.append(rows_of(piece, own))
            first += len(piece)
        return together(found)

    def first_values(self) -> FirstValues:
        """In which rows the values of its columns occur first."""
        found = None
        for piece in self.pieces():
            own = FirstValues.of(piece)
            found = own if found is None else FirstValues.joined([found, own])
        return found

    def futures(self, tasks, which: Sequence[int], home: str | None = None) -> list:
        """Some of the parts, read by workers.

        Parameters
        ----------
        tasks : Tasks
            What is done on the workers of Dask.
        which : sequence of int
        home : str or None, default=None
            The worker where they are wanted; None: anywhere.
        """
        return [tasks.read(self.part, i, home=home) for i in which]


class ArrayRows(RowSource):
    """The rows of an array, a memory map or a pandas DataFrame.

    Parameters
    ----------
    X : ndarray or pandas.DataFrame of shape (n_rows, n_features)
    """

    def __init__(self, X):
        _check_width(X)
        self.X, self.lengths = X, _in_pieces(len(X))

    def part(self, i: int):
        return self._rows(slice(i * PIECE_ROWS, (i + 1) * PIECE_ROWS))

    def take(self, rows: np.ndarray):
        return self._rows(rows)

    def _rows(self, rows):
        return self.X.iloc[rows] if hasattr(self.X, "iloc") else np.asarray(self.X[rows])

    def futures(self, tasks, which: Sequence[int], home: str | None = None) -> list:
        return [tasks.send(self.part(i), home) for i in which]


class FileRows(RowSource):
    """The rows of a ``.npy`` file.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path):
        self.path = path
        X = self._open()
        _check_width(X)
        self.lengths = _in_pieces(len(X))

    def part(self, i: int) -> np.ndarray:
        return np.array(self._open()[i * PIECE_ROWS : (i + 1) * PIECE_ROWS])

    def take(self, rows: np.ndarray) -> np.ndarray:
        return np.array(self._open()[rows])

    def _open(self) -> np.ndarray:
        return np.load(self.path, mmap_mode="r", allow_pickle=False)


class ParquetRows(RowSource):
    """The rows of Parquet files, whose row groups are the parts.

    Parameters
    ----------
    paths : sequence of Path
        The files, in their order. Their columns are read in the order of the first one.

    Raises
    ------
    ValueError
        If a file is no Parquet file, or its columns are not those of the first one.
    """

    def __init__(self, paths: Sequence[Path]):
        self.paths, self.groups, self.lengths = list(paths), [], []
        self.names: list[str] | None = None
        for path in self.paths:
            with _parquet_file(path) as file:
                self._check_names(path, _names_in(file.schema_arrow))
                self.groups += [(path, i) for i in range(file.num_row_groups)]
                self.lengths += [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]

    def _check_names(self, path: Path, names: list[str]) -> None:
        if self.names is None:
            self.names = names
        if set(names) != set(self.names):
            raise ValueError(
                f"X must have the same columns in all its files, and {str(path)!r} {other_columns(names, self.names)}, "
                f"unlike {str(self.paths[0])!r}; write it with the same columns, or take it out of the folder"
            )

    def part(self, i: int):
        return _row_group(*self.groups[i], self.names)

    def futures(self, tasks, which: Sequence[int], home: str | None = None) -> list:
        return [tasks.read(_row_group, *self.groups[i], self.names, home=home) for i in which]

    def pieces(self) -> Iterator:
        for path in self.paths:
            with _parquet_file(path) as file:
                for batch in file.iter_batches(batch_size=PIECE_ROWS):
                    yield _in_order(batch.to_pandas(), self.names)


class DaskRows(RowSource):
    """The rows of a Dask DataFrame or array, whose partitions are computed where Dask says.

    Parameters
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array of shape (n_rows, n_features)
    """

    def __init__(self, X):
        import dask

        _check_width(X)
        # Chunks of an array are made to have all columns.
        self.X = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X
        parts = self._parts()
        lengths = self.X.chunks[0] if hasattr(X, "rechunk") else [np.nan]
        if np.isnan(lengths).any():
            lengths = dask.compute(*(dask.delayed(len)(part) for part in parts))
        self.lengths = [int(length) for length in lengths]

    def _parts(self) -> list:
        return self.X.to_delayed().ravel().tolist() if hasattr(self.X, "rechunk") else list(self.X.to_delayed())

    def part(self, i: int):
        return self._parts()[i].compute()

    def take(self, rows: np.ndarray):
        return together([rows_of(self.part(i), own) for i, own in self.where(rows)])

    def futures(self, tasks, which: Sequence[int], home: str | None = None) -> list:
        parts = self._parts()
        return tasks.compute([parts[i] for i in which], home)


def rows_of(piece, rows: np.ndarray):
    """Some rows of a piece of a table."""
    return piece.iloc[rows] if hasattr(piece, "iloc") else piece[rows]


def _in_pieces(n_rows: int) -> list[int]:
    return [min(PIECE_ROWS, n_rows - first) for first in range(0, n_rows, PIECE_ROWS)]


def _check_width(X) -> None:
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, rows and columns, got shape {X.shape}; reshape it")


def _row_group(path: Path, number: int, names: list[str]):
    with _parquet_file(path) as file:
        return _in_order(file.read_row_group(number).to_pandas(), names)


def _in_order(frame, names: list[str]):
    """The columns of a DataFrame by their names, which are all there."""
    return frame if frame.columns.tolist() == names else frame[names]


def _names_in(schema) -> list[str]:
    """The names of the columns that pandas makes of a table of Arrow, without those of its index."""
    return schema.empty_table().to_pandas().columns.tolist()


def _parquet_file(path: Path):
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError("Parquet files are read by pyarrow; install it: pip install pyarrow") from error
    try:
        return ParquetFile(path)
    except (ArrowException, OSError) as error:
        # Errors of the system name the file.
        if getattr(error, "errno", None) is not None:
            raise
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{str(path)!r} could not be read as a Parquet file ({reason}); write it anew, or take it out of the folder"
        ) from error


def together(parts: list):
    """Pieces of a table, one after the other."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    return np.concatenate(parts)


def _parquet_files_in(folder: Path) -> list[Path]:
    """The files of a table; by what writes such folders, names of others, unfinished ones say, begin with . or _."""
    paths = sorted(folder.glob("**/*.parquet"))
    return [path for path in paths if not any(part[0] in "._" for part in path.relative_to(folder).parts)]


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
            # Workers may have other working folders.
            return FileRows(path.resolve())
        paths = _parquet_files_in(path) if path.is_dir() else [path]
        if not paths or not all(own.is_file() for own in paths):
            raise ValueError(f"X must be a Parquet file, a folder of these, or a .npy file; {str(path)!r} is none")
        for folder in (part for own in paths for part in own.relative_to(path).parts[:-1]):
            if "=" in folder:
                raise ValueError(
                    f"X has folders such as {folder!r}, which hold a column that is in none of the files; give "
                    f"dask.dataframe.read_parquet({str(path)!r})"
                )
        return ParquetRows([own.resolve() for own in paths])
    if hasattr(X, "to_delayed") and hasattr(X, "ndim"):
        return DaskRows(X)
    if hasattr(X, "iloc") or isinstance(X, np.ndarray):
        return ArrayRows(X)
    raise ValueError(
        "X must be an array, a pandas DataFrame, a DataFrame or array of Dask, or the path of a .npy file, a Parquet "
        f"file or a folder of Parquet files, got {type(X).__name__}; convert it"
    )
