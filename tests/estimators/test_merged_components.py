"""Components that overlap are merged to groups of any shape; groups that stand apart stay apart."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from support.blobs import blobs

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.mixtures.component_overlap import component_overlaps

SHORT = {"n_chains": 1, "n_draws": 2, "random_state": 0}


@pytest.mark.parametrize("covariance", [pytest.param("diag", marks=pytest.mark.slow), "full"])
def test_moons_are_two_groups(covariance):
    X, truth = make_moons(1000, noise=0.06, random_state=1)
    model = SubsampleAnnealedDPMM(covariance_type=covariance, random_state=0).fit(X)
    assert model.n_clusters_ > 4
    merged = model.merge_components(random_state=0)
    assert adjusted_rand_score(truth, merged.predict(X)) > 0.95
    probabilities = merged.predict_proba(X)
    assert probabilities.shape == (1000, merged.n_groups_)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    least = np.quantile(probabilities.max(axis=1), 0.05)
    noise = merged.predict(X, min_probability=least)
    assert 0 < (noise == -1).sum() <= 50
    np.testing.assert_array_equal(noise == -1, probabilities.max(axis=1) < least)


def test_groups_apart_stay_apart_in_each_view():
    rng = np.random.default_rng(2)
    one, other = rng.integers(3, size=(2, 400))
    X = np.column_stack([9.0 * one, 9.0 * one, 9.0 * other, 9.0 * other]) + rng.normal(size=(400, 4))
    model = CrossCat(**SHORT).fit(X)
    for view in range(2):
        merged = model.merge_components(view=view, random_state=0)
        truth = one if model.column_labels_[0] == view else other
        assert merged.n_groups_ == 3
        assert adjusted_rand_score(truth, merged.predict(X)) > 0.99
    assert model.merge_components(n_groups=2, random_state=0).n_groups_ == 2


def test_overlap_is_that_of_two_normals():
    """Of two wide groups at distance d with known parameters, the error of the best classifier and more."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=4000), 6.0 + rng.normal(size=4000)])[:, None]
    model = SubsampleAnnealedDPMM(**SHORT).fit(X)
    overlaps, _ = component_overlaps(model._models, model._representative, None, rng)
    np.testing.assert_allclose(overlaps.sum(axis=1), 1.0)
    # Rows of a component are mostly its own; 0.0027 is twice the tail of a normal beyond 3.
    big = np.argsort(-model._representative.sizes)[:2]
    assert overlaps[big[0], big[0]] > 0.9
    assert overlaps[big[0], big[1]] < 0.0027


def test_groups_whose_tails_touch_stay_apart():
    """Of exponential tails that point at one another, more than 0.002 of the rows are misclassified."""
    rng = np.random.default_rng(5)
    truth = np.arange(1600) % 2
    X = np.column_stack([(1 - 2 * truth) * rng.exponential(1.5, 1600) + 13.0 * truth, rng.normal(size=1600)])
    assert 0.002 < np.mean((X[:, 0] > 6.5) != truth)
    model = SubsampleAnnealedDPMM(**SHORT).fit(X)
    assert model.n_clusters_ > 2
    merged = model.merge_components(random_state=0)
    assert merged.n_groups_ == 2
    # As good as the best split of the tails.
    best = adjusted_rand_score(truth, X[:, 0] > 6.5)
    assert adjusted_rand_score(truth, merged.predict(X)) > best - 0.005
    sizes = np.bincount(merged.groups_, model._representative.sizes)
    np.testing.assert_allclose(np.bincount(merged.groups_, merged.tree_.weights), sizes / 1600)


def test_groups_are_those_of_most_draws():
    """One of four chains has all rows in one group, in place of three."""
    X, _ = blobs(120, 3, seed=1)
    model = SubsampleAnnealedDPMM(
        covariance_type="diag", schedule="anneal", n_chains=4, n_draws=4, thin=1, random_state=1
    ).fit(X)
    model.chain_weights_ = np.full(4, 0.25)
    chain = next(i for i in range(4) if all(draw is not model._representative for draw in model._draws[i]))
    one = SubsampleAnnealedDPMM(covariance_type="diag", n_chains=1, n_draws=4, random_state=3)
    one.fit(np.random.default_rng(0).normal(size=(120, 2)))
    assert one.n_clusters_ == 1
    assert not one.posterior_labels_[0, 0].any()
    model._draws[chain], model.posterior_labels_[chain] = one._draws[0][:1] * 4, 0
    merged = model.merge_components(random_state=0)
    assert merged.n_groups_ == 3
    # A row in between may be elsewhere in a draw.
    np.testing.assert_allclose(merged.tree_.overlaps[-2:], 0.25, atol=0.01)
    model.chain_weights_ = np.where(np.arange(4) == chain, 0.7, 0.1)
    assert model.merge_components(random_state=0).n_groups_ == 1


def test_copies_and_distilled_models_have_the_same_groups():
    X, truth = blobs(150, 3, seed=1)
    model = SubsampleAnnealedDPMM(n_chains=2, n_draws=3, random_state=0).fit(X)
    groups = model.merge_components(random_state=0).predict(X)
    assert adjusted_rand_score(truth, groups) > 0.95
    copy = pickle.loads(pickle.dumps(model))
    # A stored draw and the one that represents the posterior may be two objects.
    copy._representative = pickle.loads(pickle.dumps(copy._representative))
    np.testing.assert_array_equal(
        copy.merge_components(random_state=0).tree_.overlaps, model.merge_components(random_state=0).tree_.overlaps
    )
    for number in range(6):
        np.testing.assert_array_equal(model._of_draws([number]).merge_components(random_state=0).predict(X), groups)


def test_arguments_are_checked():
    model = SubsampleAnnealedDPMM(**SHORT).fit(np.random.default_rng(0).normal(size=(30, 1)))
    for wrong in (0.0, 1.0, "a"):
        with pytest.raises(ValueError, match="min_overlap must be between 0 and 1"):
            model.merge_components(wrong)
    with pytest.raises(ValueError, match="view must be an integer from 0 to 0"):
        model.merge_components(view=1)
    with pytest.raises(ValueError, match="n_groups must be from 1"):
        model.merge_components(n_groups=0)


def test_other_chains_may_number_equal_clusters_otherwise():
    """Four clusters of equal size in pairs: draws of all chains have one log joint, and the same sizes."""
    n = 40
    pair, within, row = np.repeat([0, 1, 0, 1], n), np.repeat([0, 0, 1, 1], n), np.tile(np.arange(n), 4)
    columns = [np.where(row % 10 == j, 1 - pair, pair) for j in range(10)]
    columns += [np.where(row % 8 == j, 1 - within, within) for j in range(8)]
    X = pd.DataFrame(np.array(columns).T.astype(str)).add_prefix("c")
    settings = {"n_chains": 4, "n_draws": 3, "max_sweeps": 30, "learn_hyperparameters": False}
    overwritten = 0
    for seed in range(4):
        model = SubsampleAnnealedDPMM(random_state=seed, feature_types=dict.fromkeys(X, "categorical"), **settings)
        model.fit(X)
        assert model.n_clusters_ == 4
        drawn = [draw for chain in model._draws for draw in chain]
        like = [d.log_joint == drawn[0].log_joint and np.array_equal(d.sizes, drawn[0].sizes) for d in drawn]
        overwritten += sum(like) > len(model._draws[0])
        merged = model.merge_components(n_groups=2, random_state=0)
        assert adjusted_rand_score(pair, merged.predict(X)) == 1.0
    assert overwritten
