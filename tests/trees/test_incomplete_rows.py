"""Trees over rows with missing cells among reals with full covariance, which are part of the state of a chain."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import TreeGuidedNRMM

# A merge of two rows that one cluster is certain to have made is lower, and one of two clusters far apart is higher.
LOW, HIGH = 2.0, 20.0


def full(X, **params):
    types = ["real"] * np.shape(X)[1]
    return TreeGuidedNRMM(
        **{"n_chains": 1, "n_draws": 2, "max_sweeps": 10, "random_state": 0, "covariance_type": "full"}
        | {"feature_types": types}
        | params
    )


def planted(n_groups, seed, n_rows=400):
    """Correlated reals in groups, with a fifth of the cells missing, and the groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_groups, n_rows)
    X = rng.normal(size=(n_rows, 3))
    X[:, 1] += 0.8 * X[:, 0]
    X += 6.0 * np.array([[0, 0, 0], [1, 1, 0], [0, 1, 1]])[groups]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, groups


def within_trees(tree):
    """The highest merge within a cluster."""
    return tree.heights[: len(tree.rows) - tree.n_clusters].max()


@pytest.fixture(scope="module")
def two_far_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    X[60:, 1] += 50.0
    return X, full(X).fit(X)


def assert_is_of_clusters(tree, labels):
    assert adjusted_rand_score(tree.labels, labels) == 1.0
    assert within_trees(tree) < LOW and tree.heights[-1] > HIGH


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1), np.r_[3:14, 0:3]], ids=["on", "back", "first"])
def test_rows_of_known_clusters_are_filled_by_these(two_far_apart, order):
    X, model = two_far_apart
    rows = X[np.r_[0:10, 60:64]].copy()
    rows[3:6, 1] = np.nan
    # Their other column says little of the cluster.
    labels = model.predict(rows)
    assert set(labels[3:6]) == {0, 1}
    assert_is_of_clusters(model.hierarchy(rows[order]), labels[order])


def test_cells_that_no_row_of_their_cluster_has_are_those_of_the_training_rows(two_far_apart):
    _, model = two_far_apart
    rows = np.array([[-1.0, np.nan], [np.nan, 50.0], [-1.1, np.nan], [np.nan, 50.1], [np.nan, 0.0]])
    labels = model.predict(rows)
    assert len(set(labels)) == 2
    assert_is_of_clusters(model.hierarchy(rows), labels)


def in_batches(model, X, n_batches):
    for rows in np.split(X, n_batches):
        model.partial_fit(rows)
    return model.hierarchy_


@pytest.mark.parametrize("n_batches", [2, 4])
def test_batches_with_missing_cells_make_few_trees(two_far_apart, n_batches):
    order = np.random.default_rng(0).permutation(120)
    X, groups = two_far_apart[0][order], np.repeat([0, 1], 60)[order]
    X[np.random.default_rng(0).random(120) < 0.2, 1] = np.nan
    tree = in_batches(full(X), X, n_batches)
    known = ~np.isnan(X[:, 1])
    pairs = set(zip(tree.labels[known], groups[known], strict=True))
    assert len(pairs) == len({label for label, _ in pairs})
    assert within_trees(tree) < LOW
    # As many as of the complete table, or one more.
    assert tree.n_clusters <= in_batches(full(X), two_far_apart[0][order], n_batches).n_clusters + 1


def test_batches_find_planted_groups():
    found = []
    for seed in range(4):
        X, groups = planted(3, seed)
        tree = in_batches(full(X), X, 4)
        found.append((adjusted_rand_score(groups, tree.labels), within_trees(tree)))
    assert np.mean(found, axis=0)[0] > 0.8 and np.mean(found, axis=0)[1] < LOW


def forests(tables):
    """Mean adjusted Rand index of first forests over some tables, and their mean number of trees."""
    found = []
    for X, groups in tables:
        tree = full(X, moves=["incremental-hierarchy"]).fit(X).hierarchy_
        found.append((adjusted_rand_score(groups, tree.labels), tree.n_clusters))
    return np.mean(found, axis=0)


def test_first_forests_of_rows_with_missing_cells():
    score, n_trees = forests(planted(3, seed) for seed in range(4))
    assert score > 0.8 and n_trees < 4.5


def test_first_forests_without_a_complete_row():
    tables = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, 2, 400)
        X = rng.normal(size=(400, 3)) + 7.0 * np.array([[0, 0, 0], [1, 0, 1]])[groups]
        X[:, 1] += 0.8 * X[:, 0]
        X[np.arange(400), rng.integers(0, 3, 400)] = np.nan
        tables.append((X, groups))
    score, n_trees = forests(tables)
    assert score > 0.93 and n_trees < 4.3


def test_forests_of_large_tables_keep_their_first_rows():
    X, groups = planted(2, 0, 1200)
    model = full(X, moves=["incremental-hierarchy"], random_state=1).fit(X)
    assert adjusted_rand_score(groups, model.hierarchy_.labels) > 0.8 and model.hierarchy_.n_clusters < 10
