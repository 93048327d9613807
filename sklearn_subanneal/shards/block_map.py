"""Threads, a partition of the rows of a table in blocks, and maps over them in the threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np

from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.columns._base import ColumnData, ColumnStatistics
from sklearn_subanneal.columns._cluster_parameters import ClusterParameters
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards.packed_reply import PackedReply, pack
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.sums import branches, plus, total
from sklearn_subanneal.shards.table_blocks import TableBlocks
from sklearn_subanneal.shards.work import Gathered

# Parameters of clusters that a thread keeps for each column: those of the divisions that are made together, and more.
KEPT = 16


class _ReusedModel:
    """A column model for one thread: what it makes is made once, and bound to the cells of one block after the other.

    To make statistics takes longer than to add up the rows of two clusters in a block, and no other thread runs
    meanwhile.
    """

    def __init__(self, model: ColumnModel):
        self._model, self._kept, self._parameters = model, None, None
        self._of_clusters: dict = {}

    def __getattr__(self, name):
        return getattr(self._model, name)

    def statistics(self, data: ColumnData | None = None, parameters: dict | None = None) -> ColumnStatistics:
        """Statistics of this column, to be rebuilt or set, until the next ones are asked for."""
        if self._kept is None or data is None or parameters is None or not self._kept.bind(data):
            self._kept = self._model.statistics(data, parameters)
        elif not _same(parameters, self._parameters):
            self._kept.parameters = parameters
        self._parameters = parameters
        return self._kept

    def parameters_class(self, data: ColumnData, arrays: dict, filled: np.ndarray | None = None) -> ClusterParameters:
        """Parameters of clusters over the cells of a block, until they are asked for over another one."""
        own = self._of_clusters.get(id(arrays))
        if own is not None:
            own.place(data, filled)
            return own
        if len(self._of_clusters) >= KEPT:
            self._of_clusters.clear()
        # It has the arrays, so that nothing else can be at their address.
        own = self._of_clusters[id(arrays)] = self._model.parameters_class(data, arrays, filled)
        return own


class Threads:
    """The blocks of a partition of the rows, and maps over them in threads.

    The replies of the blocks are made one, by default added up, always in the same order; see
    :mod:`sklearn_subanneal.shards.sums`.

    Parameters
    ----------
    table : TableBlocks or None
        None: only work that needs no cells is done.
    n_jobs : int or None, default=None
        Threads, as scikit-learn's.
    members : sequence of int or None, default=None
        The models of the table that the partition is of; None: all.
    blocks : sequence of RowBlock, default=()
        As they are; else :meth:`start` makes them.
    """

    def __init__(
        self,
        table: TableBlocks | None,
        n_jobs: int | None = None,
        members: Sequence[int] | None = None,
        blocks: Sequence[RowBlock] = (),
    ):
        self.table = table
        self.n_threads = n_workers(n_jobs)
        self.members = members_of(table, members)
        self.blocks: list[RowBlock] = list(blocks)
        self._pool = ThreadPoolExecutor(self.n_threads - 1) if self.n_threads > 1 else None
        self._of_thread = threading.local()

    @property
    def models(self) -> list[ColumnModel]:
        """The models of its members."""
        return [self.table.models[j] for j in self.members]

    def over(self, members: Sequence[int] | None = None) -> Threads:
        """The same partition over other models of the table; None: over all."""
        out = copy(self)
        out.members = members_of(self.table, members)
        return out

    def start(self, labels: Iterable | None = None, fillings: Sequence[dict] | None = None) -> None:
        """Make the blocks, all of whose rows are in cluster 0 if there are no ``labels`` (of each block).

        ``fillings`` of each block are those of :class:`RowBlock`; None: the prior means.
        """
        table, given, models = self.table, None if labels is None else list(labels), self.models

        def make(i):
            own = np.zeros(table.n_rows_of(i), np.int32) if given is None else given[i]
            first_row, filled = table.first_row + table.rows(i).start, None if fillings is None else fillings[i]
            return RowBlock.start(models, table.cells(i, self.members), first_row, own, filled)

        self.blocks = self._run(make, range(table.n_blocks))

    def update(self, work: Callable, *arguments):
        """Replace blocks by the first value of ``work(block, models, cells, *arguments)``; adds up the second ones."""
        return total(branches(self.updated(True, work, arguments)))

    def ask(self, work: Callable, *arguments, which: Iterable[int] | None = None, combine: Callable | None = plus):
        """``work(block, models, cells, *arguments)`` of all blocks, or of some, which stay as they are.

        ``combine`` makes one reply of those of two neighbours; None: a list of all.
        """
        return _one(self.asked(True, work, arguments, which), combine)

    def update_labels(self, work: Callable, *arguments):
        """As ``update`` with ``work(block, *arguments)``, which needs no cells."""
        return total(branches(self.updated(False, work, arguments)))

    def ask_labels(
        self, work: Callable, *arguments, which: Iterable[int] | None = None, combine: Callable | None = plus
    ):
        """As ``ask`` with ``work(block, *arguments)``, which needs no cells."""
        return _one(self.asked(False, work, arguments, which), combine)

    def gather(self, rows: np.ndarray) -> Gathered:
        """Fetch some rows, given in increasing order by their numbers in the table."""
        which = np.unique((rows - self.table.first_row) // self.table.block_rows).tolist()
        return self.ask(RowBlock.gathered, rows, which=which, combine=Gathered.joined)

    def fetch(self, ranks: Sequence[tuple[int, int]]) -> list[tuple[int, Gathered]]:
        """Fetch the rows that have these ranks among the rows of these clusters, each with its number in the table."""
        found = [self._nth(cluster, rank) for cluster, rank in ranks]
        return [(row, self.gather(np.array([row]))) for row in found]

    def _nth(self, cluster: int, rank: int) -> int:
        for block in self.blocks:
            if rank < block.n_in(cluster):
                return block.nth(cluster, rank)
            rank -= block.n_in(cluster)
        raise ValueError(f"rank must be less than the number of rows of cluster {cluster}, got {rank} more than that")

    def updated(self, with_cells: bool, work: Callable, arguments: tuple) -> list[PackedReply]:
        """Replace the blocks; the list of the replies, to be added up."""
        known: list[PackedReply] = []

        def packed(*block_and_more):
            block, reply = work(*block_and_more)
            # Here, since the other threads go on meanwhile.
            reply = pack(reply, known[0] if known else None)
            known[:] = known or [reply]
            return block, reply

        found = self.asked(with_cells, packed, arguments)
        self.blocks = [block for block, _ in found]
        return [reply for _, reply in found]

    def asked(self, with_cells: bool, work: Callable, arguments: tuple, which: Iterable[int] | None = None) -> list:
        """The list of the replies of all blocks, or of some."""
        which = range(len(self.blocks)) if which is None else which
        if with_cells:
            cells = self.table.cells
            return self._run(lambda i: work(self.blocks[i], self._reused(), cells(i, self.members), *arguments), which)
        return self._run(lambda i: work(self.blocks[i], *arguments), which)

    def _reused(self) -> list[_ReusedModel]:
        """The models of the members for the present thread."""
        known = vars(self._of_thread).setdefault("models", {})
        for j in self.members:
            if j not in known:
                known[j] = _ReusedModel(self.table.models[j])
        return [known[j] for j in self.members]

    def _run(self, do: Callable, which: Iterable[int]) -> list:
        which = list(which)
        if self._pool is None or len(which) < 2:
            return [do(i) for i in which]
        # Shared by the threads, which take the blocks as they come.
        numbers, found, ended = enumerate(which), [None] * len(which), threading.Event()

        def work():
            try:
                for k, i in numbers:
                    if ended.is_set():
                        return
                    found[k] = do(i)
            except BaseException:
                ended.set()
                raise

        # This thread works as well: to wake it up for each block would take time from the others.
        futures = [self._pool.submit(work) for _ in range(min(self.n_threads, len(which)) - 1)]
        try:
            work()
            for future in futures:
                future.result()
        except BaseException:
            # Also after Ctrl-C: no further block is begun.
            ended.set()
            raise
        return found


def _same(a: dict, b: dict | None) -> bool:
    return a is b or (b is not None and a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a))


def members_of(table: TableBlocks | None, members: Sequence[int] | None) -> list[int]:
    """The models of a table that a partition is of; None: all."""
    if members is None:
        return [] if table is None else list(range(len(table.models)))
    return list(members)


def _one(replies: list, combine: Callable | None):
    return replies if combine is None else total(branches(replies, combine=combine), combine)
