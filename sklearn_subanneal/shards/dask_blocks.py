"""DaskBlocks, a table of typed cells in blocks that are read and kept by the workers of Dask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sklearn_subanneal._core.dask_tasks import Tasks
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards.first_values import FirstValues
from sklearn_subanneal.shards.row_source import RowSource, rows_of, together
from sklearn_subanneal.shards.sums import branches, total
from sklearn_subanneal.shards.table_blocks import ROWS, KeptBlocks, KeptCells, TableBlocks

# So many summaries of parts are made one at a time.
FAN_IN = 8
# A shard has whole runs of blocks, so that it has few branches of sums: at most so many runs for each shard.
RUNS = 8


class Encoding(NamedTuple):
    """How cells are typed.

    Attributes
    ----------
    models : list of ColumnModel
    encode : callable
        The typed columns of an array or DataFrame.
    """

    models: list[ColumnModel]
    encode: Callable


class DaskBlocks(TableBlocks):
    """A table of typed cells in blocks on the workers of a Dask cluster.

    Consecutive blocks are a shard, one for each thread of a worker. The cells of a shard are one future, which is made
    of blocks, and these of the parts of the source that cover them: each can be made again where it is lost.

    Parameters
    ----------
    tasks : Tasks
    source : RowSource
    models : sequence of ColumnModel
    encode : callable
        The typed columns of an array or DataFrame.
    folder : path or None, default=None
        Where the cells are kept, a folder that all workers share; None: in their memory.
    block_rows : int, default=65536

    Attributes
    ----------
    shards : list of range
        The blocks of each shard.
    homes : list of (str or None)
        The worker of each shard; None: any.
    typed : list of Future
        Of each shard, a ``KeptBlocks``.
    units : float
        log |dz / dx| of all cells.
    bytes_sent, bytes_received : int
        Of plans and of replies so far, pickled, and of blocks that are kept in this process.
    bytes_listed : int
        Of replies that are not added up, and are about all rows.
    versions : iterator
        Numbers for the names of files.
    """

    def __init__(
        self,
        tasks: Tasks,
        source: RowSource,
        models: Sequence[ColumnModel],
        encode: Callable,
        folder=None,
        block_rows: int = ROWS,
    ):
        super().__init__(models, source.n_rows, block_rows)
        self.tasks, self.source, self.folder = tasks, source, folder
        self.bytes_sent = self.bytes_received = self.bytes_listed = 0
        self.versions = count()
        self._ends = np.cumsum(source.lengths)
        self._encoding = tasks.send(Encoding(self.models, encode))
        self._workers = tasks.workers()
        self.shards = shards_of(self.n_blocks, sum(self._workers.values()))
        self.homes = self._chosen_homes()
        self.typed, units = [], []
        for k in range(len(self.shards)):
            blocks = self._typed_blocks(k)
            units += [tasks.submit(_units, block) for block in blocks]
            self.typed.append(self._shard(k, blocks))
        self.units = float(total(branches(tasks.results(units))))

    def settle(self) -> bool:
        """After workers have come or gone, distribute the shards anew; returns whether that was so.

        The cells of those that move are read again, where they are now.
        """
        workers = self.tasks.workers()
        if workers == self._workers or not workers:
            return False
        self._workers, before = workers, self.homes
        self.homes = self._chosen_homes()
        for k, (old, new) in enumerate(zip(before, self.homes, strict=True)):
            if old != new:
                self.typed[k] = self._shard(k, self._typed_blocks(k))
        return True

    def _chosen_homes(self) -> list[str | None]:
        """Workers that have as many shards as threads, if there are as many threads as shards."""
        threads = [address for address, n_threads in self._workers.items() for _ in range(n_threads)]
        return [threads[k * len(threads) // len(self.shards)] if threads else None for k in range(len(self.shards))]

    def _typed_blocks(self, k: int) -> list:
        """The futures of the cells of each block of a shard."""
        bounds = [self.rows(i) for i in self.shards[k]]
        first, last = np.searchsorted(self._ends, [bounds[0].start, bounds[-1].stop - 1], side="right")
        which = range(first, last + 1)
        parts = dict(zip(which, self.source.futures(self.tasks, which, self.homes[k]), strict=True))
        blocks = []
        for i, rows in zip(self.shards[k], bounds, strict=True):
            a, b = np.searchsorted(self._ends, [rows.start, rows.stop - 1], side="right")
            own = [j for j in range(a, b + 1) if self.source.lengths[j]]
            starts = [int(self._ends[j]) - self.source.lengths[j] for j in own]
            pieces = [slice(max(rows.start - at, 0), rows.stop - at) for at in starts]
            covering = [parts[j] for j in own]
            blocks.append(
                self.tasks.submit(
                    _typed,
                    self._encoding,
                    pieces,
                    rows.stop - rows.start,
                    self.folder,
                    i,
                    *covering,
                    home=self.homes[k],
                )
            )
        return blocks

    def _shard(self, k: int, blocks: list):
        own = self.shards[k]
        first, stop = self.rows(own[0]).start, self.rows(own[-1]).stop
        size = (stop - first, self.block_rows, first)
        return self.tasks.submit(_shard, self._encoding, size, *blocks, home=self.homes[k])


def shards_of(n_blocks: int, n_threads: int) -> list[range]:
    """Consecutive blocks, about as many in each shard, in as many shards as there are threads if there are so many.

    Shards begin where a power of two divides the number of the block, so that their sums have few branches.

    Examples
    --------
    >>> shards_of(17, 2)
    [range(0, 8), range(8, 17)]
    """
    n_shards = max(min(n_blocks, n_threads), 1)
    run = 1
    while n_blocks > 2 * run * RUNS * n_shards:
        run *= 2
    n_runs = -(-n_blocks // run)
    bounds = [min(k * n_runs // n_shards * run, n_blocks) for k in range(n_shards + 1)]
    bounds[-1] = n_blocks
    return [range(a, b) for a, b in pairwise(bounds)]


def first_values_on(tasks: Tasks, source: RowSource) -> FirstValues:
    """In which rows the values of the columns of a table occur first, by workers of Dask."""
    found = [tasks.submit(FirstValues.of, part) for part in source.futures(tasks, range(len(source.lengths)))]
    while len(found) > 1:
        found = [tasks.submit(_joined, *found[at : at + FAN_IN]) for at in range(0, len(found), FAN_IN)]
    return tasks.results(found)[0]


def rows_on(tasks: Tasks, source: RowSource, rows: np.ndarray):
    """Some rows of a table, given in increasing order, which are read by workers of Dask."""
    which, owns = zip(*source.where(rows), strict=True)
    # The parts are not held here: each is in memory only until its rows were taken.
    found = [tasks.submit(rows_of, *pair) for pair in zip(source.futures(tasks, which), owns, strict=True)]
    return together(tasks.results(found))


def _joined(*pieces: FirstValues) -> FirstValues:
    return FirstValues.joined(pieces)


def _typed(encoding: Encoding, pieces: list[slice], n_rows: int, folder, number: int, *parts) -> KeptCells:
    """The typed cells of one block, from the pieces of parts that cover it."""
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"folder must be one that all workers share, and {str(folder)!r} is not there on a worker")
    found = []
    for part, rows in zip(parts, pieces, strict=True):
        own = part.iloc[rows] if hasattr(part, "iloc") else part[rows]
        found.append(encoding.encode(own))
    arrays = [np.concatenate(column) for column in zip(*found, strict=True)]
    if len(arrays[0]) != n_rows:
        raise ValueError(
            f"block {number} had {n_rows} rows when the table was opened, and {len(arrays[0])} were read; keep it as "
            "it is"
        )
    return KeptCells(encoding.models, arrays, folder, number)


def _units(cells: KeptCells) -> float:
    return cells.units


def _shard(encoding: Encoding, size: tuple[int, int, int], *blocks: KeptCells) -> KeptBlocks:
    n_rows, block_rows, first_row = size
    return KeptBlocks(encoding.models, list(blocks), n_rows, block_rows, first_row)
