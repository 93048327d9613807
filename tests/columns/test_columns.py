"""The contract of a column's statistics, over every column class and example."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.column_examples import BY_NAME, EXAMPLES, discovered

from sklearn_subanneal.columns._additive import AdditiveStatistics
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP

# Cached coefficients are float32: about 1e-7 of each of a few terms.
FLOAT32 = {"rtol": 2e-6, "atol": 2e-6}
EXACT = {"rtol": 1e-10, "atol": 1e-9}
N_CLUSTERS = 3

examples = pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])


def labels_of(example, n_clusters=N_CLUSTERS, seed=0):
    """Unequal clusters, some rows out; the first cluster is large enough for the constants' series."""
    p = np.array([0.75, 0.1, 0.1, 0.05])[: n_clusters + 1]
    labels = np.random.default_rng(seed).choice(n_clusters + 1, example.n_rows, p=p / p.sum())
    labels[:n_clusters] = np.arange(n_clusters)
    labels[3 : 3 + n_clusters] = np.arange(n_clusters)
    return np.where(labels == n_clusters, -1, labels)


def rows_of(labels, k):
    return np.flatnonzero(labels == k)


def filled(example, **kwargs):
    statistics, labels = example.statistics(**kwargs), labels_of(example)
    statistics.rebuild(labels)
    return statistics, labels


def assert_same_state(one, two, n_clusters=N_CLUSTERS):
    first, second = one.get_state(n_clusters), two.get_state(n_clusters)
    assert first.keys() == second.keys()
    for name in first.keys() - {"parameters"}:
        a, b = first[name], second[name]
        # Only the lower triangle of a symmetric matrix is kept.
        assert_allclose(np.tril(a) if a.ndim == 3 else a, np.tril(b) if b.ndim == 3 else b, rtol=1e-12, atol=1e-11)
    for name, value in first["parameters"].items():
        assert_array_equal(value, second["parameters"][name])


def assert_same_slot(one, a, two, b, rows):
    assert one.log_marginals(a + 1)[a] == two.log_marginals(b + 1)[b]
    for row in rows:
        assert one.scores(row, a + 1)[a] == two.scores(row, b + 1)[b]


def alone(statistics, row, k):
    """Log predictive density of a row in its own slot, without itself."""
    return statistics.leave_one_out(np.array([row], np.int32), np.array([k], np.int32))[0]


def test_every_column_class_has_examples():
    found = set(discovered())
    assert found
    assert found == {type(example.statistics()) for example in EXAMPLES}


def test_every_kind_has_examples_with_and_without_missing_cells():
    # A word that is not in a bag occurs zero times: none is missing.
    for kind in {example.kind for example in EXAMPLES} - {"bag-of-words"}:
        assert {example.missing.any() for example in EXAMPLES if example.kind == kind} == {True, False}


# --- Scores and marginals ---------------------------------------------------------------------------------------


@examples
def test_log_marginals_are_exact(example):
    statistics, labels = filled(example)
    exact = [example.log_marginal(rows_of(labels, k)) for k in range(N_CLUSTERS)]
    assert_allclose(statistics.log_marginals(N_CLUSTERS + 1), [*exact, 0.0], **EXACT)


@examples
def test_scores_are_log_predictives(example):
    statistics = example.statistics()
    evenly = np.random.default_rng(9).integers(-1, N_CLUSTERS, example.n_rows)
    for labels in (labels_of(example), evenly):
        statistics.rebuild(labels)
        for row in np.flatnonzero(labels < 0):
            exact = [example.log_predictive(example.scored[row], rows_of(labels, k)) for k in range(N_CLUSTERS + 1)]
            assert_allclose(statistics.scores(row, N_CLUSTERS + 1), exact, **FLOAT32)


@examples
def test_score_is_the_difference_of_log_marginals(example):
    statistics, labels = filled(example)
    for row in np.flatnonzero((labels < 0) & ~example.missing):
        score, before = statistics.scores(row, N_CLUSTERS + 1), statistics.log_marginals(N_CLUSTERS + 1)
        for k in range(N_CLUSTERS + 1):
            statistics.add_row(row, k)
            after = statistics.log_marginals(N_CLUSTERS + 1)
            statistics.remove_row(row, k)
            assert_allclose(score[k], after[k] - before[k], **FLOAT32)


@examples
def test_together_and_predictive_are_differences_of_log_marginals(example):
    statistics, labels = filled(example)
    exact = [example.log_marginal(rows_of(labels, k)) for k in range(N_CLUSTERS)]
    for a in range(N_CLUSTERS):
        both = example.log_marginal(np.flatnonzero((labels == a) | (labels == (a + 1) % N_CLUSTERS)))
        assert_allclose(statistics.log_marginal_together(a, (a + 1) % N_CLUSTERS), both, **EXACT)
        assert_allclose(statistics.log_marginal_together(a, N_CLUSTERS), exact[a], **EXACT)
        for row in np.flatnonzero(labels < 0):
            more = example.log_marginal([*rows_of(labels, a), row])
            assert_allclose(statistics.log_predictive_of(row, a), more - exact[a], **EXACT)
    assert_allclose(statistics.log_marginals(N_CLUSTERS + 1), [*exact, 0.0], **EXACT)


# Columns that may move between views.
ADDITIVE = [example for example in EXAMPLES if isinstance(example.statistics(), AdditiveStatistics)]
additive = pytest.mark.parametrize("example", ADDITIVE, ids=[example.name for example in ADDITIVE])


@additive
def test_likelihood_under_another_partition(example):
    statistics, _ = filled(example)
    before, other = statistics.log_marginals(N_CLUSTERS + 1), labels_of(example, 2, seed=5)
    found = statistics.log_likelihood_under(other)
    assert_allclose(found, sum(example.log_marginal(rows_of(other, k)) for k in range(2)), **EXACT)
    assert_array_equal(statistics.log_marginals(N_CLUSTERS + 1), before)


@additive
def test_hyperparameters_are_adopted(example):
    one, other = (example.statistics(learn=True) for _ in range(2))
    labels = filled(example)[1]
    for statistics in (one, other):
        statistics.rebuild(labels)
    other.learn(N_CLUSTERS, np.random.default_rng(3))
    one.adopt(other)
    assert_array_equal(one.log_marginals(N_CLUSTERS), other.log_marginals(N_CLUSTERS))
    for row in range(example.n_rows):
        assert_array_equal(one.scores(row, N_CLUSTERS + 1), other.scores(row, N_CLUSTERS + 1))


@examples
def test_a_copied_slot_is_the_slot(example):
    statistics, labels = filled(example)
    other = statistics.twin()
    other.copy_slot(statistics, 2, 1)
    assert_same_slot(other, 1, statistics, 2, np.flatnonzero(labels < 0))


@examples
def test_chain_rule(example):
    statistics = example.statistics()
    rows = np.random.default_rng(1).permutation(example.n_rows)
    total = 0.0
    for row in rows:
        total += statistics.log_densities(np.reshape(example.counted[row], (1, -1)), 1)[0, 0]
        statistics.add_row(row, 0)
        assert_allclose(statistics.log_marginals(1)[0], total, **EXACT)


@examples
def test_score_without_is_remove_and_score(example):
    statistics, labels = filled(example)
    complete = ~example.missing if example.fillings is not None else np.full(example.n_rows, True)
    for k in range(N_CLUSTERS):
        for row in rows_of(labels, k)[complete[rows_of(labels, k)]]:
            without = alone(statistics, row, k)
            statistics.remove_row(row, k)
            score = statistics.scores(row, N_CLUSTERS)[k]
            statistics.add_row(row, k)
            assert_allclose(without, score, **FLOAT32)
            rest = np.setdiff1d(rows_of(labels, k), row)
            assert_allclose(without, example.log_predictive(example.scored[row], rest), **FLOAT32)


def test_an_outlier_leaves_a_block_without_a_trace():
    # Without the outlier a few parts in 10^10 of the determinant are left: too few digits for a downdate.
    cells = np.vstack([np.random.default_rng(8).normal(0, 0.01, (6, 2)), [900.0, -700.0]])
    params = {"mu": [0.0, 0.0], "kappa": 1.0, "psi": [[1e-3, 0.0], [0.0, 1e-3]], "nu": 3.0}
    one, other = (GaussianStatistics(GaussianData(cells), params) for _ in range(2))
    one.rebuild(np.zeros(7, int))
    other.rebuild(np.array([0, 0, 0, 0, 0, 0, -1]))
    assert_allclose(alone(one, 6, 0), other.scores(6, 1)[0], rtol=1e-5)
    one.remove_row(6, 0)
    assert_allclose(one.log_marginals(1), other.log_marginals(1), rtol=1e-6)


@examples
def test_score_values_are_float64(example):
    statistics, labels = filled(example)
    exact = [
        [example.log_predictive(np.squeeze(value), rows_of(labels, k)) for k in range(N_CLUSTERS + 1)]
        for value in example.new_values
    ]
    assert_allclose(statistics.log_densities(example.new_values, N_CLUSTERS + 1), exact, **EXACT)


@examples
def test_empty_slots_score_like_a_new_cluster(example):
    statistics, _ = filled(example)
    for row in range(example.n_rows):
        scores = statistics.scores(row, statistics.capacity)
        assert len(set(scores[N_CLUSTERS:])) == 1
        assert_allclose(scores[-1], example.log_predictive(example.scored[row], []), **FLOAT32)


@examples
def test_too_many_slots_are_refused(example):
    statistics, _ = filled(example)
    with pytest.raises(ValueError, match="capacity is 16"):
        statistics.scores(0, 17)
    with pytest.raises(ValueError, match="capacity is 16"):
        statistics.log_densities(example.new_values, 17)


# --- Missing cells ----------------------------------------------------------------------------------------------


WITH_GAPS = [example for example in EXAMPLES if example.missing.any() and example.fillings is None]


@pytest.mark.parametrize("example", WITH_GAPS, ids=[example.name for example in WITH_GAPS])
def test_missing_cells_contribute_nothing(example):
    statistics, _ = filled(example)
    before, twin = statistics.log_marginals(N_CLUSTERS), filled(example)[0]
    for row in np.flatnonzero(example.missing):
        assert not statistics.scores(row, N_CLUSTERS).any()
        assert alone(statistics, row, 0) == 0.0
        statistics.add_row(row, 1)
        assert_array_equal(statistics.log_marginals(N_CLUSTERS), before)
        statistics.remove_row(row, 2)
        assert_same_state(statistics, twin)


@examples
def test_missing_values_have_density_one(example):
    statistics, _ = filled(example)
    assert not statistics.log_densities(np.full((2, example.width), np.nan), N_CLUSTERS).any()


def test_a_block_scores_incomplete_rows_on_what_is_seen():
    example = BY_NAME["gaussian-missing"]
    statistics, labels = filled(example)
    members = [rows_of(labels, k) for k in range(N_CLUSTERS)]
    for row in np.flatnonzero(example.missing):
        others = [np.setdiff1d(rows, row) for rows in members]
        labels_without = labels.copy()
        labels_without[row] = -1
        statistics.rebuild(labels_without)
        exact = [example.log_predictive(example.scored[row], rows) for rows in others]
        assert_allclose(statistics.scores(row, N_CLUSTERS), exact, **FLOAT32)


# --- Updates ----------------------------------------------------------------------------------------------------


@examples
def test_adding_and_removing_are_inverse(example):
    statistics, rng = example.statistics(), np.random.default_rng(2)
    labels = np.full(example.n_rows, -1)
    for row in rng.integers(example.n_rows, size=2000):
        if labels[row] >= 0:
            statistics.remove_row(row, labels[row])
            labels[row] = -1
        else:
            labels[row] = rng.integers(N_CLUSTERS)
            statistics.add_row(row, labels[row])
    fresh = example.statistics()
    fresh.rebuild(labels)
    assert_same_state(statistics, fresh)
    assert_allclose(statistics.log_marginals(N_CLUSTERS), fresh.log_marginals(N_CLUSTERS), **EXACT)
    values = np.nan_to_num(example.new_values)
    assert_allclose(statistics.log_densities(values, N_CLUSTERS), fresh.log_densities(values, N_CLUSTERS), **EXACT)
    for row in range(example.n_rows):
        assert_allclose(statistics.scores(row, N_CLUSTERS), fresh.scores(row, N_CLUSTERS), **FLOAT32)


@examples
def test_moving_and_clearing(example):
    statistics, labels = filled(example)
    marginals, scores = statistics.log_marginals(N_CLUSTERS), statistics.scores(0, 8)
    statistics.move_slot(2, 0)
    assert_array_equal(statistics.log_marginals(N_CLUSTERS), [marginals[2], marginals[1], 0.0])
    assert_array_equal(statistics.scores(0, 4), [scores[2], scores[1], scores[3], scores[3]])
    # What was moved is updated like any other cluster, and so is what was cleared.
    row = np.flatnonzero((labels < 0) & ~example.missing)[0]
    statistics.add_row(row, 0)
    statistics.add_row(row, 2)
    members = np.append(rows_of(labels, 2), row)
    assert_allclose(
        statistics.log_marginals(N_CLUSTERS),
        [example.log_marginal(members), marginals[1], example.log_marginal([row])],
        **EXACT,
    )


@examples
def test_merging(example):
    statistics, labels = filled(example)
    statistics.merge_slots(2, 1)
    merged = np.concatenate([rows_of(labels, 1), rows_of(labels, 2)])
    exact = [example.log_marginal(rows_of(labels, 0)), example.log_marginal(merged), 0.0]
    assert_allclose(statistics.log_marginals(N_CLUSTERS), exact, **EXACT)
    for row in np.flatnonzero((labels < 0) & ~example.missing):
        assert_allclose(statistics.scores(row, 2)[1], example.log_predictive(example.scored[row], merged), **FLOAT32)


@examples
def test_rebuilding_forgets_what_was(example):
    statistics, _ = filled(example)
    other = labels_of(example, 2, seed=5)
    statistics.rebuild(other)
    exact = [example.log_marginal(rows_of(other, k)) for k in range(2)]
    assert_allclose(statistics.log_marginals(3), [*exact, 0.0], **EXACT)
    statistics.rebuild(np.full(example.n_rows, -1))
    assert not statistics.log_marginals(3).any()


@examples
def test_growth_keeps_everything(example):
    statistics, labels = filled(example)
    before = [statistics.scores(row, 16) for row in range(example.n_rows)]
    marginals = statistics.log_marginals(16)
    statistics.make_room(100)
    assert statistics.capacity == 104
    assert_array_equal(statistics.log_marginals(104)[:16], marginals)
    assert not statistics.log_marginals(104)[16:].any()
    for row, scores in enumerate(before):
        after = statistics.scores(row, 104)
        assert_array_equal(after[:16], scores)
        assert (after[16:] == scores[-1]).all()
    row = np.flatnonzero((labels < 0) & ~example.missing)[0]
    statistics.add_row(row, 103)
    statistics.add_row(row, 0)
    members = np.append(rows_of(labels, 0), row)
    assert_allclose(
        statistics.log_marginals(104)[[0, 103]], [example.log_marginal(members), example.log_marginal([row])]
    )


@examples
def test_state_survives(example):
    statistics, _ = filled(example, learn=True)
    statistics.learn(N_CLUSTERS, np.random.default_rng(3))
    # A column model gives its grids always.
    restored = example.statistics(learn=True, data=False)
    restored.rebuild(np.full(1, -1))
    restored.set_state(statistics.get_state(N_CLUSTERS))
    assert_same_state(restored, statistics)
    # The words of a bag may be summed in another order.
    assert_allclose(restored.log_marginals(16), statistics.log_marginals(16), rtol=1e-14)
    assert_array_equal(restored.log_densities(example.new_values, 16), statistics.log_densities(example.new_values, 16))


@examples
def test_state_is_a_copy(example):
    statistics, _ = filled(example)
    state = statistics.get_state(N_CLUSTERS)
    statistics.rebuild(labels_of(example, 2, seed=6))
    twin = example.statistics()
    twin.set_state(state)
    assert_same_state(twin, filled(example)[0])


@examples
def test_prior_state_survives(example):
    statistics, labels = filled(example, learn=True)
    statistics.learn(N_CLUSTERS, np.random.default_rng(4))
    other = example.statistics(learn=True)
    other.set_prior_state(statistics.get_prior_state())
    other.rebuild(labels)
    for one in (statistics, other):
        one.rebuild(labels)
    assert_array_equal(other.log_marginals(N_CLUSTERS), statistics.log_marginals(N_CLUSTERS))
    for one in (statistics, other):
        one.learn(N_CLUSTERS, np.random.default_rng(5))
    assert_same_state(other, statistics)


# --- Drift ------------------------------------------------------------------------------------------------------


def churned(statistics, n_rows, n_moves):
    """A mixture after many moves of random rows, and its log joint before and after a rebuild."""
    rng = np.random.default_rng(6)
    mixture = Mixture([statistics], CRP(1.0).bind(), n_rows)
    mixture.set_labels(np.where(np.arange(n_rows) < n_rows // 2, 0, -1), rng)
    inside, outside = np.arange(n_rows // 2), np.arange(n_rows // 2, n_rows)
    for _ in range(n_moves // (n_rows // 2)):
        leaving, entering = rng.permutation(inside), rng.permutation(outside)
        churn(mixture, leaving.astype(np.int32), entering.astype(np.int32), 1.0, rng)
        inside, outside = entering, leaving
    return mixture


def test_ten_million_updates_do_not_drift():
    n_rows = 1000
    cells = np.concatenate([np.random.default_rng(7).normal(m, 0.05, n_rows // 2) for m in (-3.0, 40.0)])
    statistics = NormalStatistics(NormalData(cells), {"mu": 0.0, "kappa": 0.01, "sigma2": 1e-4, "nu": 2.0})
    mixture = churned(statistics, n_rows, 5_000_000)
    assert_array_equal(mixture.sizes, np.bincount(mixture.labels[mixture.labels >= 0]))
    drifted = mixture.log_joint()
    mixture.rebuild()
    assert_allclose(drifted, mixture.log_joint(), rtol=1e-9)


def test_a_block_does_not_drift():
    example = BY_NAME["gaussian-covariance"]
    mixture = churned(example.statistics(), example.n_rows, 200_000)
    drifted, values = mixture.log_joint(), example.new_values
    densities = mixture.columns[0].log_densities(values, mixture.n_clusters)
    mixture.rebuild()
    assert_allclose(drifted, mixture.log_joint(), rtol=1e-9)
    assert_allclose(densities, mixture.columns[0].log_densities(values, mixture.n_clusters), rtol=1e-7)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.grids], ids=lambda example: example.name)
def test_grids_too_long_for_the_kernels_are_refused(example):
    name = next(iter(example.grids))
    axes = np.shape(example.kernel_grids()[name])[:-1]
    with pytest.raises(ValueError, match="at most 256 values, got 257"):
        type(example.statistics())(None, example.kernel_parameters(), {name: np.ones((*axes, 257))})
