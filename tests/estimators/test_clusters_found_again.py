"""Clusters that other fits find are certified, and the parts of a group that is cut somewhere are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from support.blobs import blobs
from support.tiers import quick_only

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.posterior import jaccard_indices
from sklearn_subanneal.posterior.cluster_stability import OWN_CHAIN, found_again

ESTIMATORS = [CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM]
SHORT = {"n_chains": 2, "n_draws": 4, "max_sweeps": 5, "random_state": 0}


def found_by(n_chains, n_refits=0, n_missed=0):
    """The certificate of a cluster that all new fits have, and all chains but some."""
    n_found, n_refound = np.array([n_chains - n_missed - 1 + OWN_CHAIN]), np.array([n_refits])
    return found_again(n_found, np.array([n_missed]), n_refound, np.zeros(1), n_chains)[0]


@pytest.mark.parametrize("estimator", quick_only(ESTIMATORS, CrossCat, SubsampleAnnealedDPMM))
def test_groups_apart_are_certified(estimator):
    X, truth = blobs(150, 3, seed=1)
    model = estimator(**SHORT).fit(X)
    stability = model.cluster_stability(X)
    np.testing.assert_array_equal(stability.labels_, model.labels_)
    np.testing.assert_array_equal(stability.probabilities_, model.probabilities_)
    np.testing.assert_array_equal(model.probabilities_, model.predict_proba(X).max(axis=1))
    assert jaccard_indices(truth, model.labels_).max(axis=1).min() > 0.9
    big = np.bincount(model.labels_) > 20
    np.testing.assert_allclose(stability.recurrence_[big], found_by(2))
    assert (stability.recurrence_[big] > 0.9).all() and (stability.jaccard_[big] > 0.9).all()
    refitted = model.cluster_stability(X, n_refits=2, random_state=0)
    np.testing.assert_allclose(refitted.recurrence_[big], found_by(2, 2))
    # A single chain is no evidence for others.
    alone = estimator(n_chains=1, random_state=0).fit(X).cluster_stability(X)
    assert (alone.recurrence_ < 0.9).all()


@pytest.mark.slow
def test_parts_of_one_group_are_rarely_certified():
    """Normal clusters cut a uniform square in many ways; of five fits, one finds the same piece in all chains at most.

    With full covariance, all fits of this table find one and the same piece, a sixth of the rows.
    """
    X, n_certified = np.random.default_rng(0).random((400, 2)), 0
    for seed in range(1, 6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SubsampleAnnealedDPMM(covariance_type="diag", random_state=seed).fit(X)
        assert model.n_clusters_ > 1
        stability = model.cluster_stability(X)
        certified = stability.recurrence_ >= 0.9
        assert certified.any() == (stability.with_noise(min_recurrence=0.9) >= 0).any()
        n_certified += certified.any()
        merged = model.merge_components(random_state=0)
        assert merged.n_groups_ == 1
        assert merged.cluster_stability(X, random_state=0).recurrence_ > 0.9
    assert n_certified <= 1


def test_chains_that_disagree_are_counted():
    """In place of the draws of one of two chains are put those of a fit whose only cluster has all rows."""
    X, _ = blobs(120, 2, seed=1)
    model = SubsampleAnnealedDPMM(**SHORT).fit(X)
    n_clusters = model.n_clusters_
    chain = 1 - int(any(model._representative is draw for draw in model._draws[1]))
    one = SubsampleAnnealedDPMM(n_chains=1, n_draws=4, random_state=0)
    one.fit(np.random.default_rng(0).normal(size=(120, 2)))
    assert one.n_clusters_ == 1
    model._draws[chain] = one._draws[0]
    model.posterior_labels_[chain] = one.posterior_labels_[0]
    np.testing.assert_allclose(model.cluster_stability(X).recurrence_, np.full(n_clusters, found_by(2, n_missed=1)))


@pytest.mark.slow
def test_moons_are_certified_as_groups_only():
    X, _ = make_moons(400, noise=0.06, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SubsampleAnnealedDPMM(covariance_type="full", random_state=0).fit(X)
    merged = model.merge_components(random_state=0)
    stability = merged.cluster_stability(X, n_refits=1, random_state=0)
    np.testing.assert_array_equal(stability.labels_, merged.predict(X))
    np.testing.assert_allclose(stability.probabilities_, merged.predict_proba(X).max(axis=1))
    # In at most two of the ten draws of one chain, the groups are joined or cut.
    n_chains = len(model._draws)
    low, high = found_by(n_chains, 1, n_missed=0.2), found_by(n_chains, 1)
    assert 0.96 < low <= stability.recurrence_.min() + 1e-9 and stability.recurrence_.max() <= high + 1e-9
    assert (model.cluster_stability(X).recurrence_ < 0.9).any()
    many = model.merge_components(n_groups=model.n_clusters_, random_state=0)
    assert many.cluster_stability(X, random_state=0).recurrence_.shape == (model.n_clusters_,)


def test_clusters_are_looked_for_in_the_view_of_the_same_columns():
    rng = np.random.default_rng(2)
    one, other = rng.integers(2, size=300), rng.integers(3, size=300)
    X = np.column_stack([12.0 * one, 12.0 * one, 12.0 * other, 12.0 * other]) + rng.normal(size=(300, 4))
    model = CrossCat(**SHORT).fit(X)
    assert model.n_views_ == 2
    for view in range(2):
        stability = model.cluster_stability(X, view=view, n_refits=1, random_state=0)
        np.testing.assert_array_equal(stability.labels_, model.view_labels_[:, view])
        np.testing.assert_allclose(stability.recurrence_, found_by(2, 1))
        assert len(stability.recurrence_) == (2 if model.column_labels_[0] == view else 3)


def test_rows_count_by_their_weights():
    X, _ = blobs(90, 3, seed=1)
    weights = np.r_[np.zeros(5, int), np.ones(75, int), np.full(10, 3)]
    # A fit without a cluster of a few rows by chance.
    given = SHORT | {"random_state": 0}
    weighted = SubsampleAnnealedDPMM(**given).fit(X, sample_weight=weights).cluster_stability(X, n_refits=1)
    repeated = np.repeat(X, weights, axis=0)
    other = SubsampleAnnealedDPMM(**given).fit(repeated).cluster_stability(repeated)
    assert weighted.labels_.shape == (90,)
    np.testing.assert_allclose(weighted.recurrence_, found_by(2, 1))
    np.testing.assert_allclose(weighted.jaccard_, other.jaccard_, atol=0.05)


def test_documents_have_certificates():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0 + 9.0 * np.repeat(np.eye(3), 4, axis=1)[np.arange(90) % 3])
    model = TreeGuidedNRMM(feature_types="bag-of-words", **SHORT).fit(X)
    assert (model.cluster_stability(X).recurrence_ > 0.9).sum() == 3
    with pytest.raises(ValueError, match="merge_components is for tables"):
        model.merge_components()


def test_arguments_are_checked():
    X = np.random.default_rng(0).normal(size=(30, 1))
    model = SubsampleAnnealedDPMM(**SHORT).fit(X)
    for wrong in (X[::-1], X[:-1], X + 1.0):
        with pytest.raises(ValueError, match="X must be the very table that fit was given, all 30 rows"):
            model.cluster_stability(wrong)
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match="n_refits must be an integer of at least 0"):
            model.cluster_stability(X, n_refits=wrong)
    with pytest.raises(ValueError, match="view must be an integer from 0 to 0"):
        model.cluster_stability(X, view=1)


@pytest.mark.slow
@pytest.mark.parametrize(("apart", "n_tables"), [(0.8, 16), (1.2, 32)])
def test_certificates_are_calibrated(apart, n_tables):
    """Overlapping groups, sizes and numbers of which vary: estimates against the other 11 fits of each table."""
    given, shares = [], []
    for number in range(n_tables):
        rng, kind = np.random.default_rng([7, number]), number % 8
        group = rng.integers(4 + kind // 2, size=200)
        X = (apart + 0.2 * kind) * rng.normal(size=(10, 3))[group] + rng.normal(size=(200, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits = [SubsampleAnnealedDPMM(random_state=seed).fit(X) for seed in range(12)]
        for i, fit in enumerate(fits):
            found = [
                jaccard_indices(fit.labels_, other.labels_).max(axis=1) >= 0.75 for other in fits[:i] + fits[i + 1 :]
            ]
            given.append(fit.cluster_stability(X).recurrence_)
            shares.append(np.mean(found, axis=0))
    given, shares = np.concatenate(given), np.concatenate(shares)
    assert min((given >= 0.9).sum(), (given < 0.5).sum()) > 50
    assert shares[given >= 0.9].mean() >= 0.9
    assert abs(given.mean() - shares.mean()) < 0.1
    # Better than one number for all clusters, by far.
    assert np.mean((given - shares) ** 2) < 0.35 * shares.var()
