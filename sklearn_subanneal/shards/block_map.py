"""Threads, the map over the blocks of a table in the threads of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from joblib import Parallel, delayed

from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.table_blocks import TableBlocks


class Threads:
    """The blocks of a table, and maps over them in threads.

    Parameters
    ----------
    table : TableBlocks
    n_jobs : int or None, default=None
        Threads, as scikit-learn's.
    """

    def __init__(self, table: TableBlocks, n_jobs: int | None = None):
        self.table = table
        self.n_threads = n_workers(n_jobs)
        self.blocks: list[RowBlock] = []

    def start(self, labels: Iterable | None = None) -> None:
        """Make the blocks, all of whose rows are in cluster 0 if there are no ``labels`` (of each block)."""
        table, given = self.table, None if labels is None else list(labels)

        def make(i):
            return table.start(i, None if given is None else given[i])

        self.blocks = self._run(make, range(table.n_blocks))

    def update(self, work: Callable, *arguments, which: Iterable[int] | None = None) -> list:
        """Replace blocks by the first value of ``work(block, models, cells, *arguments)``; returns the second ones."""
        which = range(len(self.blocks)) if which is None else list(which)

        def do(i):
            return work(self.blocks[i], self.table.models, self.table.cells(i), *arguments)

        replies = []
        for i, (block, reply) in zip(which, self._run(do, which), strict=True):
            self.blocks[i] = block
            replies.append(reply)
        return replies

    def ask(self, work: Callable, *arguments, which: Iterable[int] | None = None) -> list:
        """``work(block, models, cells, *arguments)`` of each block, which stay as they are."""
        which = range(len(self.blocks)) if which is None else list(which)
        return self._run(lambda i: work(self.blocks[i], self.table.models, self.table.cells(i), *arguments), which)

    def _run(self, do: Callable, which) -> list:
        if self.n_threads == 1 or len(which) < 2:
            return [do(i) for i in which]
        return Parallel(n_jobs=min(self.n_threads, len(which)), prefer="threads")(delayed(do)(i) for i in which)
