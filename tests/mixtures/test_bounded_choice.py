"""Clusters drawn by upper bounds of their weights: the bounds hold, and the draws are those by the weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import chi2

from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.mixtures._bounded_choice import draws_by_bounds, score_bounds
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP

N_ROWS, N_CLUSTERS = 400, 40


def mixture_of(separation, kind, twins=False, seed=0):
    """A mixture of 40 clusters of unequal size; reals with unlike priors and missing cells, or a block of reals.

    ``twins``: two clusters each have the same centre.
    """
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(N_CLUSTERS), rng.choice(N_CLUSTERS, N_ROWS - N_CLUSTERS, p=rng.dirichlet(np.ones(40)))]
    places = labels // 2 if twins else labels
    X = rng.normal(size=(N_ROWS, 9)) + separation * rng.normal(size=(N_CLUSTERS, 9))[places]
    codes = (places + rng.integers(0, 2, N_ROWS)) % 5
    columns = [CategoricalStatistics(CategoricalData(codes.astype(np.int8)), {"alpha": np.full(5, 0.7)})]
    if kind == "block":
        prior = {"mu": np.zeros(9), "kappa": 0.1, "psi": 10.0 * np.eye(9), "nu": 12.0}
        columns.append(GaussianStatistics(GaussianData(X), prior))
    else:
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X).astype(np.float32)
        for j in range(9):
            prior = {"mu": 0.1 * j, "kappa": 0.05 + 0.1 * j, "sigma2": 0.3 + 0.2 * j, "nu": 0.5 + j**2}
            columns.append(NormalStatistics(NormalData(X[:, j].copy()), prior))
    mixture = Mixture(columns, CRP(2.0).bind(), N_ROWS)
    mixture.set_labels(labels.astype(np.int32), rng)
    return mixture, columns


def take_out(mixture, row):
    churn(mixture, np.array([row], np.int32), np.array([-1], np.int32), 1.0, np.random.default_rng(0))


def scores_of(mixture, columns, row):
    return sum(column.scores(row, mixture.n_clusters + 1).astype(float) for column in columns)


@pytest.mark.parametrize("kind", ["reals", "block"])
@pytest.mark.parametrize("separation", [0.0, 1.0, 30.0, 1e4])
def test_bounds_are_not_below_the_scores(kind, separation):
    mixture, columns = mixture_of(separation, kind)
    gaps = []
    for row in range(0, N_ROWS, 7):
        take_out(mixture, row)
        exact = scores_of(mixture, columns, row)
        gap = score_bounds(mixture, row) - exact
        assert (gap > -2e-5 * (1.0 + np.abs(exact))).all()
        gaps.append(gap)
    # They are worth something: near the score in the clusters that matter.
    if separation == 1.0:
        assert np.median(gaps) < 12.0


@pytest.mark.parametrize("inverse_temperature", [1.0, 0.3])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kind", ["reals", "block"])
@pytest.mark.parametrize(
    ("separation", "twins", "crowded"),
    [(0.3, False, True), (2.0, False, None), (8.0, False, False), (400.0, True, None)],
)
def test_draws_follow_the_weights(separation, twins, crowded, kind, own, inverse_temperature):
    mixture, columns = mixture_of(separation, kind, twins)
    generator = np.random.default_rng(1)
    statistic = free = n_crowded = n_draws = 0
    for row in range(200, 230):
        if own and (mixture.labels == mixture.labels[row]).sum() == 1:
            continue
        old = mixture.labels[row] if own else None
        if not own:
            take_out(mixture, row)
        scores = scores_of(mixture, columns, row)
        counts = np.append(mixture.sizes, 2.0)
        if own:
            rows, slots = np.array([row], np.int32), np.array([old], np.int32)
            scores[old] = sum(column.leave_one_out(rows, slots)[0] for column in columns)
            counts[old] -= 1
        weights = softmax(inverse_temperature * scores + np.log(counts))
        drawn, crowd = draws_by_bounds(mixture, row, 3000, generator, inverse_temperature, own)
        n_crowded, n_draws = n_crowded + crowd, n_draws + 3000
        observed = np.bincount(drawn, minlength=len(weights))
        assert len(observed) == len(weights)
        often = 3000 * weights >= 5.0
        expected = np.append(3000 * weights[often], 3000 * weights[~often].sum())
        observed = np.append(observed[often], observed[~often].sum())
        enough = expected > 1.0
        assert observed[~enough].sum() < 25
        statistic += ((observed - expected)[enough] ** 2 / expected[enough]).sum()
        free += enough.sum() - 1
    assert statistic < chi2.isf(1e-5, max(free, 1)), (statistic, free)
    # Half of nine coordinates do not bound much.
    if inverse_temperature == 1.0 and crowded is not None and kind == "reals":
        assert (n_crowded > 0.05 * n_draws) == crowded


@pytest.mark.parametrize("kind", ["reals", "block"])
def test_coefficients_after_moves_are_those_of_the_sums(kind):
    mixture, columns = mixture_of(1.0, kind)
    rows, generator = np.arange(N_ROWS, dtype=np.int32), np.random.default_rng(2)
    assert churn(mixture, rows, rows, 1.0, generator) > 50
    before = np.array([scores_of(mixture, columns, row) for row in range(0, N_ROWS, 5)])
    if kind == "reals":
        for column in columns:
            column.parameters = column.parameters
        assert (before == [scores_of(mixture, columns, row) for row in range(0, N_ROWS, 5)]).all()
    mixture.rebuild()
    after = np.array([scores_of(mixture, columns, row) for row in range(0, N_ROWS, 5)])
    np.testing.assert_allclose(before, after, atol=2e-2, rtol=1e-3)


def narrow_clusters(narrower=1.0):
    """23 clusters of 60 narrow reals, the first and second with the same centre, and 20 and 400 rows.

    The third has 400 rows, too, is ``narrower`` than the others, eight of its deviations from the first, and has hardly
    any cells in its first column.
    """
    rng = np.random.default_rng(0)
    sizes = [20, 400, 400, *[20] * 20]
    labels, sds = np.repeat(np.arange(23), sizes).astype(np.int32), np.full(23, 0.03)
    sds[2] *= narrower
    centers = rng.normal(size=(23, 60))
    centers[1], centers[2] = centers[0], centers[0] + 8.0 * sds[2]
    X = (centers[labels] + sds[labels][:, None] * rng.normal(size=(len(labels), 60))).astype(np.float32)
    X[421:820, 0] = np.nan
    prior = {"mu": 0.0, "kappa": 0.05, "sigma2": 1e-3, "nu": 5.0}
    columns = [NormalStatistics(NormalData(X[:, j].copy()), prior) for j in range(60)]
    mixture = Mixture(columns, CRP(2.0).bind(False), len(X))
    mixture.set_labels(labels, rng)
    return mixture, columns


def test_a_row_leaves_a_cluster_that_is_all_but_impossible():
    mixture, columns = narrow_clusters()
    slot, drawn = mixture.labels[0], []
    counts = np.append(mixture.sizes, 2.0)
    counts[slot] -= 1
    for row in range(20):
        scores = scores_of(mixture, columns, row)
        scores[slot] = sum(c.leave_one_out(np.array([row], np.int32), np.array([slot], np.int32))[0] for c in columns)
        # Added twice, so large a log density would leave no digits to the others.
        if scores[slot] > 90.0 and softmax(scores + np.log(counts))[slot] < 1e-4:
            drawn.append(draws_by_bounds(mixture, row, 1000, np.random.default_rng(row), 1.0, True)[0] == slot)
    assert len(drawn) >= 3
    assert np.mean(drawn) < 0.002


def test_a_row_is_not_drawn_into_a_cluster_of_a_loose_bound():
    mixture, columns = narrow_clusters(narrower=0.03)
    loose, drawn = mixture.labels[420], []
    for row in range(20):
        take_out(mixture, row)
        bounds, scores = score_bounds(mixture, row), scores_of(mixture, columns, row)
        # It seems the most probable one by far, and is all but impossible.
        if bounds[loose] > 88.0 + np.delete(bounds, loose).max() and scores[loose] < scores.max() - 50.0:
            drawn.append(draws_by_bounds(mixture, row, 1000, np.random.default_rng(row))[0] == loose)
    assert len(drawn) >= 3
    assert np.mean(drawn) < 0.002
