"""DaskWorkers, a partition of the rows of a table in blocks, and maps over them on the workers of Dask."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from pathlib import Path

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards import worker_shard
from sklearn_subanneal.shards.block_map import members_of
from sklearn_subanneal.shards.dask_blocks import DaskBlocks
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.sums import plus, total
from sklearn_subanneal.shards.work import Gathered

# Larger plans, in bytes, are sent to the workers once and not with each shard.
LARGE = 50_000


class DaskWorkers:
    """The blocks of a partition of the rows, and maps over them on the workers of Dask.

    It is used as :class:`~sklearn_subanneal.shards.block_map.Threads` is, and gives the same bits. A plan goes to the
    workers, and what comes back is at most a few branches of the sum for each shard.

    The blocks of a shard, as they were kept some time ago, are a future; the worker that has it remembers what it made
    of them since. The plans since then are remembered here: where a worker is lost, Dask gives what was kept to another
    one, and this does the same pieces of work again. After ``PIECES`` of them the blocks are kept anew, without their
    cells: in the folder of the table, or else here, in one or two bytes for each row.

    Parameters
    ----------
    table : DaskBlocks
    members : sequence of int or None, default=None
        The models of the table that the partition is of; None: all.
    """

    PIECES = 100

    def __init__(self, table: DaskBlocks, members: Sequence[int] | None = None):
        self.table, self.members = table, members_of(table, members)
        self._shards: list = []
        self._version, self._log, self._files = 0, [], []
        # Rows of each cluster in each shard.
        self._counts: list[np.ndarray] = []

    @property
    def models(self) -> list[ColumnModel]:
        """The models of its members."""
        return [self.table.models[j] for j in self.members]

    def over(self, members: Sequence[int] | None = None) -> DaskWorkers:
        """The same partition over other models of the table; None: over all."""
        out = copy(self)
        out.members, out._log = members_of(self.table, members), list(self._log)
        return out

    def start(self, labels: Iterable | None = None, fillings: Sequence[dict] | None = None) -> None:
        """Make the blocks, all of whose rows are in cluster 0 if there are no ``labels`` (of each block).

        ``fillings`` of each block are those of :class:`RowBlock`; None: the prior means.
        """
        given = None if labels is None else [np.asarray(own, np.int32) for own in labels]
        self._version, self._log, self._files = next(self.table.versions), [], []
        self._shards, self._counts = [], []
        for k, (own, place) in enumerate(zip(self.table.shards, self._places(), strict=True)):
            rows = None if given is None else given[own.start : own.stop]
            filled = None if fillings is None else list(fillings[own.start : own.stop])
            known = self.table.typed[k], self.members, self._version, place, rows, filled
            self._shards.append(self._submit(k, worker_shard.started, *known))
            n_rows = sum(map(self.table.n_rows_of, own))
            self._counts.append(np.array([n_rows]) if rows is None else np.bincount(np.concatenate(rows)))

    def update(self, work: Callable, *arguments):
        """Replace blocks by the first value of ``work(block, models, cells, *arguments)``; adds up the second ones."""
        return self._update(True, work, arguments)

    def ask(self, work: Callable, *arguments, which: Iterable[int] | None = None, combine: Callable | None = plus):
        """``work(block, models, cells, *arguments)`` of all blocks, or of some, which stay as they are.

        ``combine`` makes one reply of those of two neighbours; None: a list of all.
        """
        return self._ask(True, work, arguments, which, combine)

    def update_labels(self, work: Callable, *arguments):
        """As ``update`` with ``work(block, *arguments)``, which needs no cells."""
        return self._update(False, work, arguments)

    def ask_labels(
        self, work: Callable, *arguments, which: Iterable[int] | None = None, combine: Callable | None = plus
    ):
        """As ``ask`` with ``work(block, *arguments)``, which needs no cells."""
        return self._ask(False, work, arguments, which, combine)

    def gather(self, rows: np.ndarray) -> Gathered:
        """Fetch some rows, given in increasing order by their numbers in the table."""
        which = np.unique(rows // self.table.block_rows).tolist()
        return self.ask(RowBlock.gathered, rows, which=which, combine=Gathered.joined)

    def fetch(self, ranks: Sequence[tuple[int, int]]) -> list[tuple[int, Gathered]]:
        """Fetch the rows that have these ranks among the rows of these clusters, each with its number in the table."""
        pieces = []
        for cluster, rank in ranks:
            own = [int(counts[cluster]) if cluster < len(counts) else 0 for counts in self._counts]
            k = int(np.searchsorted(np.cumsum(own), rank, side="right"))
            pieces.append((k, worker_shard.fetched, self.members, cluster, rank - sum(own[:k])))
        answers = self._answers(True, pieces)
        self.table.bytes_received += sum(map(len, answers))
        return list(map(pickle.loads, answers))

    def _update(self, with_cells: bool, work: Callable, arguments: tuple):
        if len(self._log) >= self.PIECES:
            self._keep()
        plan, version = self._plan(with_cells, work, arguments), next(self.table.versions)
        given = self._sent(plan, len(self._shards))
        answers = self._answers(
            with_cells, [(k, worker_shard.advanced, version, given) for k in range(len(self._shards))]
        )
        self.table.bytes_received += sum(map(len, answers))
        self._log.append((version, plan))
        self._version = version
        replies = [pickle.loads(answer) for answer in answers]
        self._counts = [counts for _, counts in replies]
        return _whole([own for own, _ in replies], plus)

    def _ask(self, with_cells: bool, work: Callable, arguments: tuple, which, combine: Callable | None):
        which = range(self.table.n_blocks) if which is None else list(which)
        plan, concerned = self._plan(with_cells, work, arguments), []
        for k, shard in enumerate(self.table.shards):
            own = [i - shard.start for i in which if i in shard]
            if own:
                concerned.append((k, sum(i < shard.start for i in which), own))
        given = self._sent(plan, len(concerned))
        answers = self._answers(
            with_cells, [(k, worker_shard.asked, given, first, own, combine) for k, first, own in concerned]
        )
        if combine is None:
            self.table.bytes_listed += sum(map(len, answers))
        else:
            self.table.bytes_received += sum(map(len, answers))
        return _whole(list(map(pickle.loads, answers)), combine)

    def _plan(self, with_cells: bool, work: Callable, arguments: tuple) -> bytes:
        """What is to be done."""
        return pickle.dumps((with_cells, self.members, work, arguments), protocol=5)

    def _sent(self, plan: bytes, n_copies: int):
        """A plan as it is sent to the workers: with each task, or once if it is large."""
        if len(plan) <= LARGE:
            self.table.bytes_sent += n_copies * len(plan)
            return plan
        self.table.bytes_sent += len(plan)
        return self.table.tasks.send(plan)

    def _answers(self, with_cells: bool, pieces: Sequence[tuple]) -> list[bytes]:
        """Of pieces of work: the number of the shard, what is done, and its further arguments.

        What is lost is made again by all pieces of work since blocks were kept.
        """
        answers = self._tried(with_cells, pieces, None)
        lost = [i for i, answer in enumerate(answers) if answer is None]
        if lost:
            log = self.table.tasks.send(self._log)
            for i, answer in zip(lost, self._tried(True, [pieces[i] for i in lost], log), strict=True):
                answers[i] = answer
        return answers

    def _tried(self, with_cells: bool, pieces: Sequence[tuple], log) -> list[bytes | None]:
        futures = []
        for k, do, *arguments in pieces:
            cells = self.table.typed[k] if with_cells else None
            futures.append(
                self._submit(k, worker_shard.done, cells, self._shards[k], self._version, log, do, *arguments)
            )
        return self.table.tasks.results(futures)

    def _submit(self, k: int, function: Callable, *arguments):
        return self.table.tasks.submit(function, *arguments, home=self.table.homes[k])

    def _places(self) -> list[tuple[int, bool]]:
        """Of each shard: the number of its first block, and whether it is the last."""
        return [(own.start, own.stop == self.table.n_blocks) for own in self.table.shards]

    def _keep(self) -> None:
        """Keep the blocks as they are, and begin anew with them.

        Shards of workers that have gone move to those that have come.
        """
        shards, before = range(len(self._shards)), self._files
        version = next(self.table.versions)
        if self.table.folder is None:
            found = self._answers(False, [(k, worker_shard.sent) for k in shards])
            self.table.bytes_received += sum(map(len, found))
            self.table.bytes_sent += sum(map(len, found))
            kept = list(map(self.table.tasks.send, found))
        else:
            kept = self._files = [Path(self.table.folder) / f"state-{k}-{version}" for k in shards]
            self._answers(False, [(k, worker_shard.written, kept[k]) for k in shards])
        self.table.settle()
        self._shards = [
            self._submit(k, worker_shard.restored, kept[k], version, place) for k, place in enumerate(self._places())
        ]
        self._version, self._log = version, []
        # The new futures do not depend on what was kept before.
        for path in before:
            path.unlink(missing_ok=True)


def _whole(answers: list, combine: Callable | None):
    """The reply of all blocks from those of shards."""
    if combine is None:
        return [reply for own in answers for reply in own]
    found: dict = {}
    for own in answers:
        found |= own
    return total(found, combine)
