"""ShardedTable, a table that is fitted in blocks of rows: from memory, or from files larger than it."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from time import sleep

import numpy as np

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal._core.dask_tasks import Tasks
from sklearn_subanneal.shards.dask_blocks import DaskBlocks, first_values_on, rows_on
from sklearn_subanneal.shards.row_source import source_of
from sklearn_subanneal.shards.start_rows import StartRows, start_rows
from sklearn_subanneal.shards.table_blocks import ROWS, TableBlocks, typed_blocks

# Seconds before each try to remove a folder.
PAUSES = (0.0, 0.1, 0.3, 1.0)


class ShardedTable:
    """A table in blocks of rows, for fits to more rows than one chain can visit one by one.

    ``fit`` anneals a chain on a sample of the rows, which finds clusters and hyperparameters, and goes on with sweeps
    over all rows, block by block: in as many threads as ``n_jobs`` says, or on the workers of a Dask cluster. The draws
    are exact, and the same bit for bit for any number of threads and of workers, of whom some may die on the way.

    Parameters
    ----------
    X : ndarray, numpy.memmap, pandas.DataFrame, or DataFrame or array of Dask, of shape (n_rows, n_features), or path
        The table; or a ``.npy`` file, which is not read into memory, a Parquet file, or a folder of Parquet files, in
        the order of their names as texts (``part.10`` before ``part.2``, which Dask reads first), without those whose
        names, or those of their folders, begin with "." or "_". All have the same columns, in any order.
        Partitions of Dask are computed to know their lengths, to choose the sample, to take it (again, where rows are
        added), and to read all rows: once, after ``persist()``, where there is memory.
    n_start_rows : int, default=20000
        Rows, drawn at random, on which each chain starts. Added are rows with categories and levels that these lack,
        with numbers that the type of a column as these show it would not take (of columns of more than 10,000
        fractions, or 100,000 whole numbers, the least, the greatest and the first fraction are tried), with further
        values of a column of which they have fewer than 20, and one for each column of which cells are missing
        elsewhere alone.
    folder : path or None, default=None
        Where typed cells are kept while a model is fitted, in files that are read as they are needed; with a ``client``
        a folder that it and all workers share, where labels are kept, too. None: in memory, 4 bytes for each number,
        and 1 to 4 for a category.
    client : dask.distributed.Client or None, default=None
        The rows are read, kept and visited by the workers of its cluster, on which this package is installed, and not
        in this process. None: in this process.

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

    # What to do where an array is wanted.
    REMEDY = (
        "only fit of SubsampleAnnealedDPMM, CrossCat and TreeGuidedNRMM takes one; predict for its rows by "
        "sklearn_subanneal.shards.predict_shards, and give the table itself to anything else"
    )
    # Bits depend on it.
    BLOCK_ROWS = ROWS

    def __init__(self, X, *, n_start_rows: int = 20_000, folder=None, client=None):
        if client is not None:
            Tasks(client)
        with nullcontext() if client is None else client.as_current():
            self.source = source_of(X)
        self.client = client
        self.n_rows = self.source.n_rows
        self.n_start_rows = checked_integer("n_start_rows", n_start_rows, least=2)
        self.folder = folder
        if folder is not None and not Path(folder).is_dir():
            raise ValueError(f"folder must be one that is there, and {str(folder)!r} is not; make it")
        if self.n_rows < 2:
            raise ValueError(f"X must have at least 2 rows, got {self.n_rows}; fit a larger table")

    def sample(self, n_rows: int, generator: np.random.Generator, read: Callable) -> StartRows:
        """Rows drawn at random, and those with values that a table learned from these would count as missing.

        Parameters
        ----------
        n_rows : int
            To be drawn at random.
        generator : numpy.random.Generator
        read : callable
            ``read(X)``, the schema of some rows, and their typed columns.
        """
        rows = np.sort(generator.choice(self.n_rows, min(n_rows, self.n_rows), replace=False))
        if self.client is None:
            return start_rows(rows, self.source.first_values(), self.source.take, read)
        with Tasks(self.client) as tasks:
            return start_rows(rows, first_values_on(tasks, self.source), partial(rows_on, tasks, self.source), read)

    @contextmanager
    def blocks(self, models: list, encode: Callable) -> Iterator[TableBlocks]:
        """Its typed cells in blocks, for the time of a fit.

        Parameters
        ----------
        models : list of ColumnModel
        encode : callable
            The typed columns of an array or DataFrame.
        """
        with self._room() as folder:
            if self.client is None:
                # A filter of rows may leave partitions without any.
                pieces = (piece for piece in self.source.pieces() if len(piece))
                yield typed_blocks(models, map(encode, pieces), self.n_rows, folder, self.BLOCK_ROWS)
                return
            with Tasks(self.client) as tasks:
                yield DaskBlocks(tasks, self.source, models, encode, folder, self.BLOCK_ROWS)

    @contextmanager
    def _room(self) -> Iterator[Path | None]:
        """A new folder in that of the user, which is removed."""
        if self.folder is None:
            yield None
            return
        room = Path(tempfile.mkdtemp(prefix="shards-", dir=Path(self.folder).resolve()))
        try:
            yield room
        finally:
            _remove(room)


def _remove(room: Path) -> None:
    """Remove a folder, in which tasks that are no longer wanted may still be writing."""
    for pause in PAUSES:
        sleep(pause)
        shutil.rmtree(room, ignore_errors=True)
        if not room.exists():
            return
    warnings.warn(f"folder {str(room)!r} could not be removed; remove it", stacklevel=2)
