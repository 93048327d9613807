"""Sums over blocks have the same bits whoever adds up which blocks; values of columns are found in any pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_subanneal.shards.dask_blocks import shards_of
from sklearn_subanneal.shards.first_values import MOST_VALUES, FirstValues
from sklearn_subanneal.shards.packed_reply import pack
from sklearn_subanneal.shards.sums import branches, plus, total


def by_definition(replies):
    """Neighbours are added in pairs, and a last one alone goes up as it is."""
    while len(replies) > 1:
        replies = [
            replies[i] if i + 1 == len(replies) else replies[i] + replies[i + 1] for i in range(len(replies))[::2]
        ]
    return replies[0]


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 5, 8, 13, 31, 100])
def test_sums_do_not_depend_on_who_adds(n_blocks):
    rng = np.random.default_rng(n_blocks)
    # Of very different sizes, so that each order of additions has its own bits.
    replies = list(rng.normal(size=(n_blocks, 40)) * 10.0 ** rng.integers(-8, 9, size=(n_blocks, 40)))
    expected = by_definition(replies)
    assert_array_equal(total(branches(replies)), expected)
    for n_parts in (2, 3, 7):
        bounds = [0, *np.sort(rng.integers(n_blocks + 1, size=n_parts - 1)).tolist(), n_blocks]
        found: dict = {}
        for a, b in pairwise(bounds):
            found |= branches(replies[a:b], a, is_last=b == n_blocks and a < b)
        assert_array_equal(total(found), expected)
    if n_blocks > 20:
        # The test must not pass because all orders are the same.
        assert np.any(sum(replies) != expected)


def test_replies_of_all_kinds():
    one = (1, [np.int32(2**31 - 1), {"a": np.array([1.5, 2.0])}])
    number, (large, more) = plus(pack(one), pack(one)).unpacked()
    assert number == 2 and large == 2**32 - 2 and isinstance(plus(pack(one), pack(one)).unpacked()[1], list)
    assert_array_equal(more["a"], [3.0, 4.0])
    assert total(branches([3, 1, 2], combine=min), min) == 1


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_shards_have_few_branches_and_are_alike(n_threads):
    for n_blocks in [*range(1, 100), 5000, 20_001]:
        shards = shards_of(n_blocks, n_threads)
        assert [i for shard in shards for i in shard] == list(range(n_blocks))
        assert len(shards) == min(n_threads, n_blocks)
        sizes = [len(shard) for shard in shards]
        assert max(sizes) <= 1.25 * n_blocks / len(shards) + 1
        # Independent of the number of rows.
        last = len(shards) - 1
        assert all(len(branches([0] * len(own), own.start, is_last=k == last)) <= 8 for k, own in enumerate(shards))


def test_first_values_in_any_pieces():
    rng = np.random.default_rng(0)
    n_rows = MOST_VALUES + 500
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            # Most values occur first in a later piece.
            "b": rng.permutation(40)[np.arange(n_rows) // 300],
            "c": rng.choice(["x", "y", None], size=n_rows),
        }
    )
    expected = {int(np.flatnonzero(frame["b"] == value)[0]) for value in frame["b"].unique()}
    expected |= {int(np.flatnonzero(frame["c"] == value)[0]) for value in ("x", "y")}
    expected |= {int(np.flatnonzero(frame["c"].isna())[0])}
    for size in (n_rows, 700, 4000):
        pieces = [FirstValues.of(frame[at : at + size]) for at in range(0, n_rows, size)]
        assert_array_equal(FirstValues.joined(pieces).rows(), sorted(expected))
        halves = [FirstValues.joined(pieces[:3]), *([FirstValues.joined(pieces[3:])] if len(pieces) > 3 else [])]
        assert_array_equal(FirstValues.joined(halves).rows(), sorted(expected))
