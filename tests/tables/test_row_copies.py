"""Rows repeated by their weights, and their order."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_subanneal.tables.documents import Documents
from sklearn_subanneal.tables.row_copies import RowCopies, row_keys
from sklearn_subanneal.tables.row_weights import MOST_COPIES, checked_weights, joined_weights, repeated_rows

WEIGHTS = np.array([2, 0, 1])
CELLS = np.array([[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (np.array, np.asarray),
        (np.ndarray.tolist, np.asarray),
        (lambda X: tuple(map(tuple, X)), np.asarray),
        (sparse.coo_matrix, lambda X: X.toarray()),
        (sparse.csc_array, lambda X: X.toarray()),
        (lambda X: pd.DataFrame(X, index=["p", "q", "r"]), np.asarray),
        (lambda X: pl.DataFrame(X), np.asarray),
        (lambda X: nw.from_native(pl.DataFrame(X)), np.asarray),
    ],
    ids=["array", "list", "tuple", "coo", "csc", "pandas", "polars", "narwhals"],
)
def test_every_container_is_repeated(make, read):
    X = make(CELLS)
    assert_array_equal(checked_weights(X, WEIGHTS), WEIGHTS)
    assert_array_equal(read(repeated_rows(X, WEIGHTS)), CELLS[[0, 0, 2]])


def test_dtypes_of_frames_are_kept():
    frame = pd.DataFrame({"c": pd.Categorical(["x", "y", "z"], ["z", "y", "x", "w"], ordered=True), "n": [1, 2, 3]})
    assert repeated_rows(frame, WEIGHTS).dtypes.equals(frame.dtypes)


def test_keys_depend_on_the_values_of_cells_alone():
    other_nan = np.array([0x7FF8000000000001], np.uint64).view(float)[0]
    reals = np.array([0.0, -0.0, np.nan, other_nan, 1.0])
    codes = np.array([1, 1, -1, -1, 1], np.int8)
    for arrays in ([reals, codes], [reals[::-1][::-1], codes.astype(np.int32)]):
        keys = row_keys(arrays)
        assert keys[0] == keys[1]
        assert keys[2] == keys[3]
        assert len(set(keys.tolist())) == 3
        assert_array_equal(keys, row_keys([reals, codes]))
    assert set(row_keys([codes, reals]).tolist()).isdisjoint(row_keys([reals, codes]).tolist())


def test_keys_of_many_rows_differ():
    grid = np.stack(np.meshgrid(np.arange(100), np.arange(100), np.arange(30)), -1).reshape(-1, 3)
    assert len(np.unique(row_keys(list(grid.T)))) == len(grid)
    assert len(np.unique(row_keys(list(grid.astype(float).T)))) == len(grid)
    counts = sparse.csr_array(grid.astype(np.int32))
    counts.eliminate_zeros()
    assert len(np.unique(row_keys([Documents(counts)]))) == len(grid)


def test_the_order_of_repeated_rows_does_not_depend_on_that_of_the_table():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (50, 3))
    ordered = [
        np.column_stack(RowCopies.of(list(some.T)).ordered(list(some.T))) for some in (rows, rng.permutation(rows))
    ]
    assert_array_equal(*ordered)
    assert_array_equal(np.unique(ordered[0], axis=0), np.unique(rows, axis=0))


def test_rows_that_all_differ_keep_their_order():
    cells = np.random.default_rng(0).permutation(1000)
    copies = RowCopies.of([cells])
    assert copies.order is None
    assert copies.of_table(cells, absent=-1) is cells
    assert RowCopies.of([np.append(cells, cells[:1])]).order is not None


@pytest.mark.parametrize("weights", [None, WEIGHTS, np.array([0, 3, 0, 0]), np.array([1, 1])])
def test_values_go_back_to_the_rows_of_the_table(weights):
    n_rows = 5 if weights is None else len(weights)
    repeated = np.arange(5) if weights is None else np.repeat(np.arange(n_rows), weights)
    for order in (None, np.random.default_rng(1).permutation(len(repeated))):
        copies = RowCopies(weights, order)
        modelled = np.arange(n_rows)[copies.rows]
        assert_array_equal(np.sort(modelled), repeated)
        assert_array_equal(modelled, copies.ordered([repeated])[0])
        expected = np.where(np.isin(np.arange(n_rows), repeated), np.arange(n_rows), -1)
        assert_array_equal(copies.of_table(modelled, -1), expected)
        assert_array_equal(copies.of_table(np.stack([modelled, modelled]), -1), [expected, expected])
        assert_array_equal(copies.absent, np.setdiff1d(np.arange(n_rows), repeated))


def test_distinct_rows_are_those_of_the_repeated_table():
    rng = np.random.default_rng(2)
    cells, weights = rng.integers(0, 8, 30), rng.integers(0, 3, 30)
    for own, of in ((cells, weights), (np.repeat(cells, weights), None)):
        copies = RowCopies.of([np.repeat(cells, weights)], of)
        rows, counts = copies.distinct([own])
        values, expected = np.unique(np.repeat(cells, weights), return_counts=True)
        assert sorted(zip(own[rows], counts, strict=True)) == list(zip(values, expected, strict=True))
    # In the order of the table if no row is repeated.
    assert_array_equal(RowCopies.of([np.arange(5)]).distinct([np.arange(5)]), [np.arange(5), np.ones(5)])


def test_weights_of_two_tables():
    assert joined_weights(None, 2, None, 1) is None
    assert_array_equal(joined_weights(WEIGHTS, 3, None, 2), [2, 0, 1, 1, 1])
    assert_array_equal(joined_weights(None, 1, WEIGHTS, 3), [1, 2, 0, 1])


def test_the_most_copies():
    X = np.zeros((3, 1))
    assert checked_weights(X, [MOST_COPIES - 1, 0, 1]).sum() == MOST_COPIES
    with pytest.raises(ValueError, match="has the sum 10000001, and a row of weight w is modelled as w rows"):
        checked_weights(X, [MOST_COPIES, 0, 1])


def test_rows_whose_copies_tell_them():
    """A real cell that only copies of the row have: not one of few digits, of a category, or of a single column."""
    reals = np.array([0.1, 0.2, 0.3, 0.4, np.nan, 0.6])
    codes = np.array([0, 1, 2, 3, 4, 5])
    weights = np.array([3, 1, 0, 2, 2, 1])
    copies = RowCopies.of([np.repeat(array, weights) for array in (reals, codes)], weights)
    assert_array_equal(copies.independent([reals, codes]), [False, True, True, False, True, True])
    assert copies.independent([reals]).all()
    # Equal rows without weights are the same, by the one that stands for them.
    equal = [array[np.repeat(np.arange(6), weights)] for array in (reals, codes)]
    copies = RowCopies.of(equal)
    first = copies.distinct(equal)[0]
    assert_array_equal(copies.independent(equal)[first], ~np.isin(equal[0][first], [0.1, 0.4]))
    rounded = np.round(reals[[0, 0, 3, 0, 4, 5]], 1)
    copies = RowCopies.of([np.repeat(array, weights) for array in (rounded, codes)], weights)
    assert_array_equal(copies.independent([rounded, codes]), np.ones(6, bool))
