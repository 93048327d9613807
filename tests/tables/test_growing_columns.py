"""Columns that grow in place: earlier tables keep their rows, and memory is shared."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_subanneal.tables.documents import Documents
from sklearn_subanneal.tables.growing_columns import GrowingColumns


def columns(first, n):
    return [np.arange(first, first + n, dtype=float), np.arange(first, first + n, dtype=np.int32) % 7]


def assert_has(table, n):
    for found, wanted in zip(table.arrays, columns(0, n), strict=True):
        assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype


def test_tables_grow_in_place_and_leave_the_earlier_ones_as_they_are():
    tables = [GrowingColumns.of(columns(0, 10))]
    for n in (3, 4, 30, 1, 1):
        tables.append(tables[-1].extended(columns(tables[-1].n_rows, n)))
    for table, n in zip(tables, (10, 13, 17, 47, 48, 49), strict=True):
        assert_has(table, n)
    assert np.shares_memory(tables[1].arrays[0], tables[2].arrays[0])
    assert np.shares_memory(tables[4].arrays[1], tables[5].arrays[1])
    assert not np.shares_memory(tables[0].arrays[0], tables[1].arrays[0])


@pytest.mark.parametrize("copied", [lambda table: table, copy.copy], ids=["same", "copy"])
def test_two_tables_that_grow_from_one_do_not_write_over_each_other(copied):
    table = GrowingColumns.of(columns(0, 10)).extended(columns(10, 2))
    one, other = table.extended(columns(12, 3)), copied(table).extended(columns(50, 3))
    assert_has(one, 15)
    assert_array_equal(other.arrays[0][12:], [50.0, 51.0, 52.0])
    assert_has(table, 12)


def test_wider_cells_are_taken_and_room_is_not_pickled():
    table = GrowingColumns.of(columns(0, 100)).extended(columns(100, 5))
    wider = table.extended([np.array([1.5]), np.array([2**40])])
    assert wider.arrays[1].dtype == np.int64 and wider.arrays[1][-1] == 2**40
    loaded = pickle.loads(pickle.dumps(table))
    assert_has(loaded, 105)
    assert len(loaded.buffers[0]) == 105 < len(table.buffers[0])
    assert_has(loaded.extended(columns(105, 4)), 109)


def test_documents_are_joined():
    bags = [Documents(sparse.csr_array(np.eye(4, dtype=np.int32)[rows])) for rows in ([0, 1], [3])]
    table = GrowingColumns.of(bags[:1])
    longer = table.extended(bags[1:])
    assert_array_equal(longer.arrays[0].counts.toarray(), np.eye(4)[[0, 1, 3]])
    assert len(table.arrays[0]) == 2
