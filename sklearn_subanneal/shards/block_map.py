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

        self.blocks = self._run(make)

    def update(self, work: Callable, *arguments) -> list:
        """Replace blocks by the first value of ``work(block, models, cells, *arguments)``; returns the second ones."""
        return self._take(self.ask(work, *arguments))

    def ask(self, work: Callable, *arguments, which: Iterable[int] | None = None) -> list:
        """``work(block, models, cells, *arguments)`` of all blocks, or of some, which stay as they are."""
        models, cells = self.table.models, self.table.cells
        return self._run(lambda i: work(self.blocks[i], models, cells(i), *arguments), which)

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
