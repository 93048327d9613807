"""The blocks of a shard on a worker with several threads."""

from __future__ import annotations

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal

from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.worker_shard import WorkerShard, packed

done: list[RowBlock] = []


def next_cluster(block):
    """All rows go to the next cluster, while others want something, too."""
    done.append(block)
    time.sleep(0.002)
    labels = block.labels + np.int32(1)
    return replace(block, labels=labels, counts=np.bincount(labels)), 1


def test_lost_blocks_are_made_once_for_all_threads():
    """Each made them anew, and took what another one had just left for its own."""
    kept = packed([RowBlock(0, np.zeros(7, np.int32), np.array([7]))])
    log = [(version, pickle.dumps((False, [], next_cluster, ()))) for version in range(1, 6)]
    for _ in range(3):
        shard = WorkerShard(0, 0, True, kept)
        done.clear()

        def blocks_of(k, shard=shard):
            time.sleep(0.003 * k)
            return shard.at(5, None, log)

        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(blocks_of, range(6)))
        for blocks in found:
            assert_array_equal(blocks[0].labels, np.full(7, 5))
        assert len(done) == 5
        # Later work begins with them, too.
        assert shard.at(5) is found[0]


def test_a_sent_shard_is_what_was_kept():
    shard = WorkerShard(0, 0, True, packed([RowBlock(0, np.zeros(7, np.int32), np.array([7]))]))
    shard.advance(shard.at(0), None, 1, pickle.dumps((False, [], next_cluster, ())))
    assert_array_equal(shard.at(1)[0].labels, np.ones(7))
    sent = pickle.loads(pickle.dumps(shard))
    assert sent.at(1) is None
    assert_array_equal(sent.at(0)[0].labels, np.zeros(7))
