"""Threads, a partition of the rows of a table in blocks, and maps over them in the threads of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy

import numpy as np
from joblib import Parallel, delayed

from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.table_blocks import TableBlocks


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
        models = self.models
        return self._run(lambda i: work(self.blocks[i], models, self.table.cells(i, self.members), *arguments), which)

    def update_labels(self, work: Callable, *arguments) -> list:
        """As ``update`` with ``work(block, *arguments)``, which needs no cells."""
        return self._take(self.ask_labels(work, *arguments))

    def ask_labels(self, work: Callable, *arguments, which: Iterable[int] | None = None) -> list:
        """As ``ask`` with ``work(block, *arguments)``, which needs no cells."""
        return self._run(lambda i: work(self.blocks[i], *arguments), which)

    def _take(self, found: list[tuple]) -> list:
        self.blocks = [block for block, _ in found]
        return [reply for _, reply in found]

    def _run(self, do: Callable, which: Iterable[int] | None = None) -> list:
        which = range(self.table.n_blocks) if which is None else list(which)
        if self.n_threads == 1 or len(which) < 2:
            return [do(i) for i in which]
        return Parallel(n_jobs=min(self.n_threads, len(which)), prefer="threads")(delayed(do)(i) for i in which)
