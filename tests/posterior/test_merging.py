"""Merges of the clusters of a partition that posterior draws do not separate."""

from itertools import combinations

import numpy as np
import pytest

from sklearn_subanneal.posterior import expected_loss, point_partition, representative_draw
from sklearn_subanneal.posterior.merging import Overlaps, merged_clusters


@pytest.fixture
def rng():
    return np.random.default_rng(0)


LOSSES = pytest.mark.parametrize("loss", ["vi", "binder"])


def of_nested_draws(rng, n_draws=12, n_rows=60):
    """Draws with five clusters, of which two pairs come and go, and some rows of each in others."""
    truth = rng.integers(5, size=n_rows)
    draws = np.tile(truth, (n_draws, 1))
    for draw in draws:
        if rng.random() < 0.7:
            draw[draw == 4] = 3
        if rng.random() < 0.4:
            draw[draw == 1] = 0
        some = rng.random(n_rows) < 0.1
        draw[some] = rng.integers(5, size=some.sum())
    return draws


@LOSSES
def test_changes_are_those_of_the_expected_loss(rng, loss):
    draws, weights = of_nested_draws(rng), rng.random(12)
    labels = draws[0]
    sizes = np.bincount(labels)
    overlaps = Overlaps(labels, sizes, draws, weights / weights.sum(), loss)
    scale = 60 if loss == "vi" else 60 * 59
    (before,) = expected_loss([labels], draws, loss, weights)
    for a, b in combinations(range(len(sizes)), 2):
        (after,) = expected_loss([np.where(labels == b, a, labels)], draws, loss, weights)
        assert overlaps.changes[a, b] / scale == pytest.approx(after - before, abs=1e-12)
        assert overlaps.changes[a, b] == pytest.approx(overlaps.changes[b, a], abs=1e-9)


@LOSSES
def test_no_further_merge_lowers_the_loss(rng, loss):
    n_merged = 0
    for _ in range(20):
        draws, weights = of_nested_draws(rng), rng.random(12)
        labels = np.unique(draws[3], return_inverse=True)[1]
        groups = merged_clusters(labels, draws, loss, weights)
        np.testing.assert_array_equal(np.unique(groups), np.arange(groups.max() + 1))
        before, after = expected_loss([labels, groups[labels]], draws, loss, weights)
        assert after <= before + 1e-12
        further = [np.where(groups == b, a, groups)[labels] for a, b in combinations(range(groups.max() + 1), 2)]
        if further:
            assert expected_loss(further, draws, loss, weights).min() >= after - 1e-12
        n_merged += len(groups) - groups.max() - 1
    assert n_merged > 5


def test_draws_without_weight_say_nothing(rng):
    draws = of_nested_draws(rng)
    apart, together = np.arange(60) % 2, np.zeros(60, int)
    assert merged_clusters(apart, [apart, together, together], weights=[1, 0, 0]).tolist() == [0, 1]
    assert merged_clusters(apart, [apart, together, together], weights=[1, 2, 2]).tolist() == [0, 0]
    assert merged_clusters(draws[0], draws[:1]).tolist() == list(range(draws[0].max() + 1))


def test_clusters_without_rows_are_their_own():
    labels = np.repeat([1, 3], 10)
    assert merged_clusters(labels, [np.zeros(20, int)] * 3, n_clusters=5).tolist() == [0, 1, 2, 1, 3]


def test_many_rows_are_judged_by_some():
    labels = np.repeat(np.arange(4), 5000)
    assert merged_clusters(labels, np.tile(labels // 2, (100, 1))).tolist() == [0, 0, 1, 1]


@LOSSES
def test_point_partition_is_at_least_as_good_as_any_draw(rng, loss):
    draws = np.array([of_nested_draws(rng), of_nested_draws(rng)])
    found = point_partition(draws, loss)
    best = expected_loss(draws.reshape(24, 60), draws, loss).min()
    assert expected_loss([found], draws, loss)[0] <= best + 1e-12


def test_a_loss_of_the_user_merges_nothing(rng):
    draws = of_nested_draws(rng)[None]

    def size_of_difference(a, b):
        return float(np.abs(len(np.unique(a)) - len(np.unique(b))))

    chosen = draws[representative_draw(draws, size_of_difference)]
    assert len(np.unique(point_partition(draws, size_of_difference))) == len(np.unique(chosen))
