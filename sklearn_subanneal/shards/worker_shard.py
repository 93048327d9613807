"""WorkerShard, consecutive blocks on a worker of Dask, and the work that is done on them there."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock

import numpy as np

from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.packed_reply import PackedReply
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.sums import branches
from sklearn_subanneal.shards.table_blocks import KeptBlocks
from sklearn_subanneal.shards.worker_blas import one_blas_thread_of_worker

# Versions of the blocks and the plans that led to them, one after the other.
Log = Sequence[tuple[int, bytes]]


class WorkerShard:
    """Blocks of a partition of the rows, as they were kept and as they are after some pieces of work.

    A worker has the blocks as they were kept from its scheduler, and remembers the last blocks that it made of them.
    Where this memory is lost with the worker, the same pieces of work give the same blocks.

    Parameters
    ----------
    version : int
        Of the blocks that are kept.
    first : int
        Number of the first block.
    is_last : bool
        Whether no blocks follow.
    kept : bytes
        The blocks, pickled, their labels in as few bytes as they need.
    """

    def __init__(self, version: int, first: int, is_last: bool, kept: bytes):
        self.version, self.first, self.is_last, self.kept = version, first, is_last, kept
        self._latest: tuple[int, list[RowBlock]] | None = None
        self._threads: Threads | None = None
        # A worker may have several threads, and be asked for several things at once.
        self._lock = Lock()

    def __reduce__(self):
        # What is sent elsewhere is what is kept.
        return WorkerShard, (self.version, self.first, self.is_last, self.kept)

    def __sizeof__(self) -> int:
        blocks = [] if self._latest is None else self._latest[1]
        arrays = [array for block in blocks for array in (block.labels, *block.fillings.values())]
        return object.__sizeof__(self) + len(self.kept) + sum(array.nbytes for array in arrays)

    def at(self, version: int, table: KeptBlocks | None = None, log: Log | None = None) -> list[RowBlock] | None:
        """The blocks of a version; None: they are lost, and there is no ``log`` by which to make them anew.

        Where several tasks want them at the same time, one makes them, and the others wait.
        """
        with self._lock:
            if self._latest is not None and self._latest[0] == version:
                return self._latest[1]
            if version != self.version and log is None:
                return None
            blocks = [replace(block, labels=block.labels.astype(np.int32)) for block in pickle.loads(self.kept)]
            if version != self.version:
                for _, plan in log:
                    blocks, _ = self._updated(blocks, table, plan)
            self._latest = version, blocks
            return blocks

    def map_over(self, blocks: list[RowBlock], table: KeptBlocks | None, members: list[int]) -> Threads:
        """The map over blocks of the shard; what it knows of the columns is used again."""
        if table is None:
            return Threads(None, 1, members, blocks)
        known = self._threads
        if known is None or known.table is not table:
            known = self._threads = Threads(table, 1)
        out = known.over(members)
        out.blocks = blocks
        return out

    def advance(self, blocks: list[RowBlock], table: KeptBlocks | None, version: int, plan: bytes) -> bytes:
        """Make the next version; the branches of the sum of the replies, and the rows in each cluster, pickled."""
        blocks, replies = self._updated(blocks, table, plan)
        with self._lock:
            self._latest = version, blocks
        counts = np.zeros(max(len(block.counts) for block in blocks), np.int64)
        for block in blocks:
            counts[: len(block.counts)] += block.counts
        return pickle.dumps((branches(replies, self.first, is_last=self.is_last), counts), protocol=5)

    def _updated(
        self, blocks: list[RowBlock], table: KeptBlocks | None, plan: bytes
    ) -> tuple[list[RowBlock], list[PackedReply]]:
        """The blocks after a piece of work, and its replies."""
        with_cells, members, work, arguments = pickle.loads(plan)
        threads = self.map_over(blocks, table, members)
        with one_blas_thread_of_worker():
            replies = threads.updated(with_cells, work, arguments)
        return threads.blocks, replies


def started(
    table: KeptBlocks,
    members: list[int],
    version: int,
    place: tuple[int, bool],
    labels: list | None,
    fillings: list | None,
) -> WorkerShard:
    """A task: the blocks at the start; ``place`` is the number of the first one, and whether no others follow."""
    threads = Threads(table, 1, members)
    threads.start(labels, fillings)
    return WorkerShard(version, *place, packed(threads.blocks))


def done(
    table: KeptBlocks | None, shard: WorkerShard, version: int, log: Log | None, do: Callable, *arguments
) -> bytes | None:
    """A task: ``do(table, shard, blocks, *arguments)`` with the blocks of a version; None: these are lost."""
    blocks = shard.at(version, table, log)
    return None if blocks is None else do(table, shard, blocks, *arguments)


def advanced(table, shard: WorkerShard, blocks: list[RowBlock], version: int, plan: bytes) -> bytes:
    """``done`` for :meth:`WorkerShard.advance`."""
    return shard.advance(blocks, table, version, plan)


def asked(
    table, shard: WorkerShard, blocks: list[RowBlock], plan: bytes, first: int, which: list[int], combine
) -> bytes:
    """``done`` for questions to some of the blocks, of whom the first has this number among those that are asked."""
    with_cells, members, work, arguments = pickle.loads(plan)
    with one_blas_thread_of_worker():
        replies = shard.map_over(blocks, table, members).asked(with_cells, work, arguments, which)
        return pickle.dumps(replies if combine is None else branches(replies, first, combine), protocol=5)


def fetched(table, shard: WorkerShard, blocks: list[RowBlock], members: list[int], cluster: int, rank: int) -> bytes:
    """``done`` for the row of the shard with this rank in a cluster: its number, and what is known of it."""
    return pickle.dumps(shard.map_over(blocks, table, members).fetch([(cluster, rank)])[0], protocol=5)


def sent(table, shard: WorkerShard, blocks: list[RowBlock]) -> bytes:
    """``done`` for keeping the blocks in the memory of the caller."""
    return packed(blocks)


def written(table, shard: WorkerShard, blocks: list[RowBlock], path: Path) -> bytes:
    """``done`` for keeping the blocks in a file."""
    # If the task is done twice, the second file replaces the first, which is the same.
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(packed(blocks))
    os.replace(file.name, path)
    return b""


def restored(kept: bytes | Path, version: int, place: tuple[int, bool]) -> WorkerShard:
    """A task: the blocks that were kept."""
    return WorkerShard(version, *place, kept.read_bytes() if isinstance(kept, Path) else kept)


def packed(blocks: list[RowBlock]) -> bytes:
    """Blocks, pickled, their labels in as few bytes as they need."""
    small = [replace(block, labels=block.kept()[0]) for block in blocks]
    return pickle.dumps(small, protocol=5)
