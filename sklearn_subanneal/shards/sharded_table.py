"""ShardedTable, a table that is fitted in blocks of rows: from memory, or from files larger than it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal.shards.row_source import source_of

# A column with more values than so many is no column of categories.
MOST_VALUES = 10_000


class ShardedTable:
    """A table in blocks of rows, for fits to more rows than one chain can visit one by one.

    ``fit`` anneals a chain on a sample of the rows, which finds clusters and hyperparameters, and goes on with sweeps
    over all rows, block by block and in as many threads as ``n_jobs`` says. The draws are exact, and the same bit for
    bit for any number of threads.

    Parameters
    ----------
    X : ndarray, numpy.memmap, pandas.DataFrame, or DataFrame or array of Dask, of shape (n_rows, n_features), or path
        The table; or a ``.npy`` file, which is not read into memory, a Parquet file, or a folder of Parquet files.
        Partitions of Dask are computed one after the other: once to choose the sample, twice to read it and all rows.
    n_start_rows : int, default=20000
        Rows, drawn at random, on which each chain starts. Rows with values that these lack are added.
    folder : path or None, default=None
        Where typed cells are kept while a model is fitted, in files that are read as they are needed. None: in memory,
        4 bytes for each number, and 1 to 4 for a category.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import SubsampleAnnealedDPMM
    >>> from sklearn_subanneal.shards import ShardedTable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30_000, 3)) + 8 * rng.integers(3, size=30_000)[:, None]
    >>> model = SubsampleAnnealedDPMM(n_chains=1, n_draws=2, random_state=0)
    >>> model = model.fit(ShardedTable(X, n_start_rows=1000))
    >>> model.n_clusters_, model.labels_.shape
    (3, (30000,))
    """

    def __init__(self, X, *, n_start_rows: int = 20_000, folder=None):
        self.source = source_of(X)
        self.n_rows = self.source.n_rows
        self.n_start_rows = checked_integer("n_start_rows", n_start_rows, least=2)
        self.folder = folder
        if self.n_rows < 2:
            raise ValueError(f"X must have at least 2 rows, got {self.n_rows}; fit a larger table")

    def sample(self, n_rows: int, generator: np.random.Generator) -> tuple[np.ndarray, object]:
        """Rows drawn at random, and one more for each category, and for each column with missing cells, they lack.

        Returns
        -------
        rows : ndarray of int
            Their numbers, increasing.
        X : ndarray or pandas.DataFrame
            These rows.
        """
        n_rows = min(n_rows, self.n_rows)
        rows = np.sort(generator.choice(self.n_rows, n_rows, replace=False))
        rows = np.union1d(rows, self._firsts())
        return rows, self.source.take(rows)

    def room(self):
        """A folder for the time of a fit, as a context; None: memory."""
        if self.folder is None:
            return _Memory()
        return tempfile.TemporaryDirectory(prefix="shards-", dir=Path(self.folder))

    def _firsts(self) -> np.ndarray:
        """The first row with each value of columns of few values, and with each column missing."""
        import pandas as pd

        known: dict[int, set] = {}
        has_gaps: set[int] = set()
        rows: list[int] = []
        first = 0
        for piece in self.source.pieces():
            frame = piece.reset_index(drop=True) if hasattr(piece, "iloc") else pd.DataFrame(piece)
            for j in range(frame.shape[1]):
                column, seen = frame.iloc[:, j], known.setdefault(j, set())
                missing = column.isna()
                if j not in has_gaps and missing.any():
                    has_gaps.add(j)
                    rows.append(first + int(missing.to_numpy().argmax()))
                # What has many values is no column of categories.
                if len(seen) <= MOST_VALUES:
                    values = column[~missing].drop_duplicates()
                    new = {value: first + at for at, value in values.items() if value not in seen}
                    seen.update(new)
                    rows += new.values() if len(seen) <= MOST_VALUES else ()
            first += len(frame)
        return np.unique(np.array(rows, np.int64))


class _Memory:
    """In the place of a folder: cells are kept in memory."""

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None
