"""Densities of rows in a finite mixture, compiled, against the sum over its parts and SciPy's logarithms of sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.mixtures._mixture_scores import MixtureScores

N_REALS, N_TRAINING = 11, 400


def statistics(n_clusters, seed=0):
    """Of reals whose clusters differ in size and place, of a category and a block; the last slot is empty."""
    rng = np.random.default_rng(seed)
    labels = np.minimum(rng.geometric(0.2, N_TRAINING) - 1, n_clusters - 1)
    labels[:n_clusters] = np.arange(n_clusters)
    centres = rng.normal(scale=4.0, size=(n_clusters, N_REALS + 3))
    X = centres[labels] + rng.normal(size=(N_TRAINING, N_REALS + 3)) * rng.gamma(2.0, 0.3, n_clusters)[labels, None]
    X[rng.random(X.shape) < 0.05] = np.nan
    parts = []
    for j in range(N_REALS):
        parameters = {"mu": 0.3, "kappa": rng.gamma(1.0), "sigma2": rng.gamma(2.0), "nu": rng.gamma(2.0) + 0.5}
        parts.append(NormalStatistics(NormalData(X[:, j]), parameters))
    codes = (labels + rng.integers(0, 2, N_TRAINING)).astype(np.int32) % 4
    parts.append(CategoricalStatistics(CategoricalData(codes), {"alpha": np.full(4, 0.5)}))
    block = {"mu": np.zeros(3), "kappa": 0.2, "psi": np.eye(3) + 0.2, "nu": 5.0}
    parts.append(GaussianStatistics(GaussianData(np.nan_to_num(X[:, N_REALS:])), block))
    for part in parts:
        part.rebuild(labels)
        part.make_room(n_clusters + 1)
    return parts, X, codes, labels


def values_of(X, codes):
    return [*(X[:, [j]].copy() for j in range(N_REALS)), codes[:, None].astype(float), X[:, N_REALS:].copy()]


def reference(parts, log_weights, values, places):
    total = log_weights[None]
    for part, own, at in zip(parts, values, places, strict=True):
        densities = part.log_densities(own, len(log_weights))
        total = total + (densities if at is None else densities[at])
    return total


@pytest.mark.parametrize("n_clusters", [1, 6, 7, 30])
def test_equal_the_sum_over_parts(n_clusters):
    parts, X, _, _ = statistics(n_clusters)
    rng = np.random.default_rng(1)
    log_weights = np.log(rng.dirichlet(np.ones(n_clusters + 1)))
    log_weights[n_clusters // 2] = -np.inf if n_clusters > 1 else log_weights[0]
    # Rows as in training, between clusters, far away, with many cells missing and with none observed.
    rows = np.concatenate([X[:50], X[:60] + rng.normal(scale=3.0, size=(60, X.shape[1])), 1e4 * X[:10], X[:73]])
    rows[-20:][rng.random((20, X.shape[1])) < 0.6] = np.nan
    rows[-1] = np.nan
    values = values_of(rows, rng.integers(-1, 4, len(rows)))
    scores, places = MixtureScores(parts, log_weights), [None] * len(parts)
    wanted = reference(parts, log_weights, values, places)
    assert_allclose(scores.log_joint(values, places, len(rows)), wanted, rtol=1e-13, atol=1e-12)
    found = scores.log_densities(values, places, len(rows))
    assert_allclose(found, logsumexp(wanted, axis=1), rtol=1e-13, atol=1e-12)
    # One by one, too: which rows are scored together does not count.
    for i in (0, 1, 60, 115, len(rows) - 2):
        one = scores.log_densities([own[[i]] for own in values], places, 1)
        assert_array_equal(one, found[[i]])


def test_clusters_that_are_far_apart_and_near_one_another():
    parts, X, codes, _ = statistics(6)
    log_weights = np.log(np.full(7, 1 / 7))
    reals = parts[:N_REALS]
    scores = MixtureScores(reals, log_weights)
    # From the nearest cluster to 100 standard deviations off, where all of them are equally improbable.
    rows = X[:1] * np.geomspace(1.0, 1e6, 200)[:, None]
    values = values_of(rows, codes[:1].repeat(200))[:N_REALS]
    wanted = logsumexp(reference(reals, log_weights, values, [None] * N_REALS), axis=1)
    assert_allclose(scores.log_densities(values, [None] * N_REALS, 200), wanted, rtol=1e-13)


def test_missing_cells_of_clusters_of_unlike_spread():
    # A cell that a wide and a narrow cluster may have, in rows whose other cells would tell them apart.
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 9)) * np.where(labels, 1e-3, 1e3)[:, None]
    X[:, 0] = rng.normal(size=200)
    parts = []
    for j in range(9):
        parts.append(NormalStatistics(NormalData(X[:, j]), {"mu": 0.0, "kappa": 0.1, "sigma2": 1e-6, "nu": 1.0}))
        parts[j].rebuild(labels)
    rows = np.full((4, 9), np.nan)
    rows[:, 0] = np.linspace(-2.0, 2.0, 4)
    values, places, log_weights = [rows[:, [j]] for j in range(9)], [None] * 9, np.log([0.4, 0.4, 0.2])
    wanted = reference(parts, log_weights, values, places)
    assert (wanted[:, :2].min(axis=1) > wanted.max(axis=1) - 1.0).all()
    found = MixtureScores(parts, log_weights).log_densities(values, places, 4)
    assert_allclose(found, logsumexp(wanted, axis=1), rtol=1e-13)


def test_places_and_single_values():
    parts, X, codes, _ = statistics(7)
    log_weights = np.log(np.full(8, 1 / 8))
    values, places = values_of(X[:90], codes[:90]), [None] * len(parts)
    full = MixtureScores(parts, log_weights).log_densities(values, places, 90)
    for j in (0, N_REALS):
        cells, places[j] = np.unique(values[j][:, 0], return_inverse=True)
        values[j] = cells[:, None]
    scores = MixtureScores(parts, log_weights)
    assert_allclose(scores.log_densities(values, places, 90), full, rtol=1e-13)
    values[1], places[1] = values[1][:1], None
    whole = values_of(X[:90], codes[:90])
    whole[1] = np.tile(whole[1][:1], (90, 1))
    wanted = MixtureScores(parts, log_weights).log_densities(whole, [None] * len(parts), 90)
    assert_allclose(scores.log_densities(values, places, 90), wanted, rtol=1e-13)


@pytest.mark.parametrize("n_parts", [1, N_REALS + 2])
def test_what_is_not_a_number_shows(n_parts):
    parts, X, codes, _ = statistics(3)
    values, log_weights = values_of(X[:3], codes[:3]), np.log([0.2, 0.3, 0.1, 0.4])
    log_weights[1] = np.nan
    found = MixtureScores(parts[-n_parts:], log_weights).log_densities(values[-n_parts:], [None] * n_parts, 3)
    assert np.isnan(found).all()


def test_components_without_weight():
    parts, X, codes, _ = statistics(3)
    values = values_of(X[:3], codes[:3])
    found = MixtureScores(parts, np.full(4, -np.inf)).log_densities(values, [None] * len(parts), 3)
    assert_array_equal(found, [-np.inf] * 3)


def test_no_rows_and_too_few_slots():
    parts, X, codes, _ = statistics(3)
    values = [own[:0] for own in values_of(X, codes)]
    assert MixtureScores(parts, np.zeros(4)).log_densities(values, [None] * len(parts), 0).shape == (0,)
    assert MixtureScores(parts, np.zeros(4)).log_joint(values, [None] * len(parts), 0).shape == (0, 4)
    with pytest.raises(ValueError, match="has 16 slots, and the mixture 24"):
        MixtureScores(parts, np.zeros(17))
