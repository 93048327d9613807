"""map_over: the map over the blocks of a table where these are."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.dask_blocks import DaskBlocks
from sklearn_subanneal.shards.dask_workers import DaskWorkers
from sklearn_subanneal.shards.table_blocks import TableBlocks


def map_over(table: TableBlocks, n_jobs: int | None, members: Sequence[int] | None = None) -> Threads | DaskWorkers:
    """In threads, or on the workers of Dask.

    Parameters
    ----------
    table : TableBlocks
    n_jobs : int or None
        Threads, if the blocks are in this process.
    members : sequence of int or None, default=None
        The models of the table that the partition is of; None: all.
    """
    return DaskWorkers(table, members) if isinstance(table, DaskBlocks) else Threads(table, n_jobs, members)
