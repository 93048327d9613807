"""Threads, a partition of the rows of a table in blocks, and maps over them in the threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np

from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.columns._base import ColumnData, ColumnStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.table_blocks import TableBlocks


class _ReusedStatistics:
    """A column model for one thread: statistics are made once, and bound to the cells of one block after the other.

    To make them takes longer than to add up the rows of two clusters in a block, and no other thread runs meanwhile.
    """

    def __init__(self, model: ColumnModel):
        self._model, self._kept, self._parameters = model, None, None

    def __getattr__(self, name):
        return getattr(self._model, name)

    def statistics(self, data: ColumnData | None = None, parameters: dict | None = None) -> ColumnStatistics:
        """Statistics of this column, to be rebuilt or set, until the next ones are asked for."""
        if self._kept is None or data is None or parameters is None or not self._kept.bind(data):
            self._kept = self._model.statistics(data, parameters)
        elif parameters is not self._parameters:
            self._kept.parameters = parameters
        self._parameters = parameters
        return self._kept


class Threads:
    """The blocks of a partition of the rows, and maps over them in threads.

    Parameters
    ----------
    table : TableBlocks
    n_jobs : int or None, default=None
        Threads, as scikit-learn's.
    members : sequence of int or None, default=None
        The models of the table that the partition is of; None: all.
    """

    def __init__(self, table: TableBlocks, n_jobs: int | None = None, members: Sequence[int] | None = None):
        self.table = table
        self.n_threads = n_workers(n_jobs)
        self.members = list(range(len(table.models))) if members is None else list(members)
        self.blocks: list[RowBlock] = []
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None
        self._of_thread = threading.local()

    @property
    def models(self) -> list[ColumnModel]:
        """The models of its members."""
        return [self.table.models[j] for j in self.members]

    def over(self, members: Sequence[int] | None = None) -> Threads:
        """The same partition over other models of the table; None: over all."""
        out = copy(self)
        out.members = list(range(len(self.table.models))) if members is None else list(members)
        return out

    def start(self, labels: Iterable | None = None) -> None:
        """Make the blocks, all of whose rows are in cluster 0 if there are no ``labels`` (of each block)."""
        table, given, models = self.table, None if labels is None else list(labels), self.models

        def make(i):
            own = np.zeros(table.n_rows_of(i), np.int32) if given is None else given[i]
            return RowBlock.start(models, self.table.cells(i, self.members), table.rows(i).start, own)

        self.blocks = self._run(make)

    def update(self, work: Callable, *arguments) -> list:
        """Replace blocks by the first value of ``work(block, models, cells, *arguments)``; returns the second ones."""
        return self._take(self.ask(work, *arguments))

    def ask(self, work: Callable, *arguments, which: Iterable[int] | None = None) -> list:
        """``work(block, models, cells, *arguments)`` of all blocks, or of some, which stay as they are."""

        def do(i):
            return work(self.blocks[i], self._reused(), self.table.cells(i, self.members), *arguments)

        return self._run(do, which)

    def update_labels(self, work: Callable, *arguments) -> list:
        """As ``update`` with ``work(block, *arguments)``, which needs no cells."""
        return self._take(self.ask_labels(work, *arguments))

    def ask_labels(self, work: Callable, *arguments, which: Iterable[int] | None = None) -> list:
        """As ``ask`` with ``work(block, *arguments)``, which needs no cells."""
        return self._run(lambda i: work(self.blocks[i], *arguments), which)

    def _take(self, found: list[tuple]) -> list:
        self.blocks = [block for block, _ in found]
        return [reply for _, reply in found]

    def _reused(self) -> list[_ReusedStatistics]:
        """The models of the members for the present thread."""
        known = vars(self._of_thread).setdefault("models", {})
        for j in self.members:
            if j not in known:
                known[j] = _ReusedStatistics(self.table.models[j])
        return [known[j] for j in self.members]

    def _run(self, do: Callable, which: Iterable[int] | None = None) -> list:
        which = range(self.table.n_blocks) if which is None else list(which)
        if self._pool is None or len(which) < 2:
            return [do(i) for i in which]
        futures = [self._pool.submit(do, i) for i in which]
        try:
            return [future.result() for future in futures]
        except BaseException:
            # Also after Ctrl-C: no further block is begun.
            for future in futures:
                future.cancel()
            raise
