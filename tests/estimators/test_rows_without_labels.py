"""Streams and tables in shards keep labels of some rows alone: groups, small clusters and displays of all of them."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from support.tables import blobs

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.estimators import _sharded_fit
from sklearn_subanneal.estimators._streaming import with_gone
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.plotting import ClusterSizesDisplay, CoClusteringDisplay, DendrogramDisplay
from sklearn_subanneal.plotting.drawn_rows import labels_of_drawn_rows
from sklearn_subanneal.shards import ShardedTable

CENTRES = np.array([[0.0, 0.0], [8.0, 8.0], [16.0, 16.0]])


@pytest.mark.parametrize("kind", [SubsampleAnnealedDPMM, CrossCat])
def test_components_whose_rows_have_gone_are_merged_as_others(kind):
    rng = np.random.default_rng(0)
    first = rng.choice((0, 8, 16), size=600)[:, None] + rng.normal(size=(600, 2))
    model = kind(n_chains=2, random_state=0, covariance_type="diag").partial_fit(first)
    model.partial_fit(16 + rng.normal(size=(1100, 2)))
    merged = model.merge_components(random_state=0)
    assert len(set(model.predict(CENTRES))) == len(set(merged.predict(CENTRES))) == 3
    assert np.isfinite(merged.tree_.overlaps).all() and len(merged.groups_) >= 3


@pytest.mark.parametrize("kind", [SubsampleAnnealedDPMM, CrossCat])
def test_clusters_stay_when_few_rows_come(kind):
    """Clusters that no row at hand is in, since few are: all but the latest had been lost."""
    X = blobs(300)
    model = kind(n_chains=2, random_state=0, covariance_type="diag").fit(X)
    before = model.predict(X)
    for rows in (X[:1], X[1:4]):
        model.partial_fit(rows)
        assert model.n_clusters_ == 3 and adjusted_rand_score(before, model.predict(X)) == 1.0
        assert model.predict_proba(X).shape == (300, 3) and model.predict_proba(X).max(axis=1).min() > 0.99
        assert_array_equal(model.labels_, model.predict(rows))
        assert len(set(model.predict(X[:3]))) == 3


@pytest.mark.parametrize("kind", [SubsampleAnnealedDPMM, CrossCat])
def test_clusters_stay_when_the_window_is_small(kind):
    """The third group, of 15 rows in 300, has left a window of 20 rows, and its rows are rare or come no more."""
    rng, group = np.random.default_rng(0), np.where(np.arange(300) % 20 == 7, 2, np.arange(300) % 2)
    X = rng.normal(size=(300, 2)) + 8.0 * group[:, None]
    model = kind(n_chains=2, random_state=0, covariance_type="diag", window=20).partial_fit(X)
    for row in X[group < 2][:40]:
        model.partial_fit(row[None])
    assert model.n_clusters_ == 3
    assert sorted(model.predict(CENTRES)) == [0, 1, 2]
    assert_allclose(model.predict_proba(CENTRES).max(axis=1), 1.0, atol=1e-6)


def test_sizes_of_clusters_that_count_though_their_rows_are_gone():
    groups, labels = np.array([-1, 0, -1, -1, -1]), np.array([1])
    # Three rows, and of many a thousandth.
    assert with_gone(groups, np.array([2, 90, 3, 4, 1]), labels).tolist() == [-1, 0, 2, 1, -1]
    assert with_gone(groups, np.array([9, 9890, 10, 90, 1]), labels).tolist() == [-1, 0, 2, 1, -1]
    # None of them is new if rows at hand would be in it.
    assert with_gone(groups, np.array([20, 90, 3, 4, 1]), np.array([1, 0])).tolist() == [-1, 0, 2, 1, -1]


@pytest.mark.parametrize("kind", [SubsampleAnnealedDPMM, CrossCat])
def test_small_clusters_of_shards_are_labelled(kind, monkeypatch):
    """Twelve rows of 5,000, of which 200 have their labels kept: in three of five fits, none of the twelve."""
    monkeypatch.setattr(_sharded_fit, "MOST_KEPT", 200)
    n, small = 12, 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.where(rng.random(5000) < 0.5, 0.0, 8.0)[:, None] + rng.normal(size=(5000, 2))
        X[:n] = 60.0 + 0.1 * rng.normal(size=(n, 2))
        fewest = {"n_chains": 1, "n_draws": 1, "max_sweeps": 2, "covariance_type": "diag", "random_state": seed}
        model = kind(**fewest).fit(ShardedTable(X))
        small += not np.isin(np.arange(n), model.posterior_rows_).any()
        assert len(set(model.labels_[:n])) == 1 and (model.labels_ == model.labels_[0]).sum() == n
        assert model.n_clusters_ == model.labels_.max() + 1 and (model.predict(X[:n]) == model.labels_[:n]).all()
    assert small


def test_chains_that_have_failed_stay_so_when_rows_come():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10)) + 5.0 * rng.normal(size=(8, 10))[rng.integers(8, size=300)]
    few = {"n_chains": 4, "n_draws": 1, "thin": 1, "schedule": "prior", "effort": 0.25, "max_sweeps": 0}
    model = SubsampleAnnealedDPMM(moves=[Gibbs()], covariance_type="diag", random_state=0, **few).fit(X)
    before = model.chain_weights_
    assert before.min() < 1e-6
    expected = before.copy()
    for chain, draws in enumerate(model._draws):
        alone = copy(model)
        alone._draws = [[replace(draw, weight=1.0) for draw in draws]]
        expected[chain] *= np.exp(alone.score_samples(X[:1]).item())
    model.partial_fit(X[:1])
    assert model.chain_weights_.min() < 1e-6
    assert_allclose(model.chain_weights_, expected / expected.sum(), rtol=1e-3, atol=1e-8)


@pytest.mark.parametrize("shards", [False, True])
def test_displays_have_the_rows_of_the_draws(shards):
    pytest.importorskip("matplotlib").use("agg")
    model = SubsampleAnnealedDPMM(n_chains=2, n_draws=3, random_state=2, covariance_type="diag")
    if shards:
        model.fit(ShardedTable(blobs(5200)))
    else:
        for rows in np.split(blobs(400), 4):
            model.partial_fit(rows)
    n_rows = model.posterior_labels_.shape[2]
    assert n_rows != len(model.labels_)
    sizes = ClusterSizesDisplay.from_estimator(model)
    assert sizes.sizes.sum() == n_rows and np.abs(sizes.sizes - sizes.quantiles[1]).max() < 0.1 * n_rows
    assert len(CoClusteringDisplay.from_estimator(model, max_rows=50).matrix) == 50


def test_displays_of_weighted_streams():
    """Rows of weight 0 are none of the stream: numbers of its rows are not those of labels_."""
    pytest.importorskip("matplotlib").use("agg")
    rng, weights = np.random.default_rng(0), np.repeat([0, 1], [100, 200])
    group = rng.integers(3, size=300)
    X = rng.normal(size=(300, 2)) + 8.0 * group[:, None]
    model = SubsampleAnnealedDPMM(n_chains=2, random_state=0, covariance_type="diag")
    model.partial_fit(X, sample_weight=weights)
    assert_array_equal(model.posterior_rows_, np.arange(200))
    assert adjusted_rand_score(labels_of_drawn_rows(model), group[100:]) > 0.95
    assert adjusted_rand_score(CoClusteringDisplay.from_estimator(model).labels, group[100:]) > 0.95


def few_labels(kind, stream, **settings):
    """A fit to a table of three groups whose draws have some rows alone, and these groups."""
    X, given = blobs(400), {"n_chains": 2, "n_draws": 2, "covariance_type": "diag", "random_state": 0}
    model = kind(**given | settings)
    if stream:
        model.set_params(window=100).partial_fit(X[:150]).partial_fit(X[150:250]).partial_fit(X[250:])
        return model, X
    return model.fit(ShardedTable(X, n_start_rows=100)), X


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [SubsampleAnnealedDPMM, CrossCat])
def test_rows_are_those_of_the_table(kind, stream):
    """They had been places among the rows whose labels are kept."""
    pytest.importorskip("matplotlib").use("agg")
    model, _ = few_labels(kind, stream)
    kept = model.posterior_rows_
    assert 90 < len(kept) < 400 and not np.array_equal(kept, np.arange(len(kept)))
    rows = kept[[15, 2, 16, 7]]
    alike = rows[:, None] % 3 == rows % 3
    assert_allclose(model.co_clustering(rows), alike)
    assert_allclose(CoClusteringDisplay.from_estimator(model, rows).matrix, alike)
    assert_allclose(model.co_clustering(np.isin(np.arange(400), rows)), np.sort(rows)[:, None] % 3 == np.sort(rows) % 3)
    every = model.co_clustering()
    assert np.mean(np.abs(every - (kept[:, None] % 3 == kept % 3))) < 0.02
    assert_array_equal(model.co_clustering(kept), every)
    asked = [model.co_clustering, lambda gone: CoClusteringDisplay.from_estimator(model, gone)]
    if kind is CrossCat:
        assert_allclose(model.row_similarity(rows, kept[[0, 2, 3]]), rows[:, None] % 3 == kept[[0, 2, 3]] % 3)
        asked += [model.row_similarity]
        with pytest.raises(ValueError, match="others must be among posterior_rows_"):
            model.row_similarity(rows, np.setdiff1d(np.arange(400), kept))
    gone = np.setdiff1d(np.arange(400), kept)[[3, 5]]
    for ask in asked:
        with pytest.raises(
            ValueError, match=rf"rows must be among posterior_rows_, the {len(kept)} of 400 .*{gone[0]};"
        ):
            ask([kept[0], *gone])
        with pytest.raises(ValueError, match="rows must be indices from 0 to 399 of rows of the training table"):
            ask([400])


@pytest.mark.parametrize("stream", [False, True])
def test_no_rows_are_seen_that_are_not_kept(stream):
    model, X = few_labels(CrossCat, stream)
    for ask in (model.novelty, model.surprisal, model.most_novel):
        with pytest.raises(ValueError, match=r"seen=True needs draws that have all training rows.*pass seen=False"):
            ask(X, seen=True)
        assert_array_equal(ask(X[:9], seen=False), ask(X[:9]))


def test_chains_count_by_their_weights():
    pytest.importorskip("matplotlib").use("agg")
    model = SubsampleAnnealedDPMM(n_chains=3, random_state=1, effort=0.2, max_sweeps=0).fit(
        np.random.default_rng(0).uniform(size=(60, 2))
    )
    assert np.ptp(model.chain_weights_) > 0.01
    assert_allclose(CoClusteringDisplay.from_estimator(model).matrix, model.co_clustering(rows=np.arange(60)))


def test_names_of_leaves_are_those_of_their_rows():
    pytest.importorskip("matplotlib").use("agg")
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(12, 2)) + 8 * (np.arange(12) % 3)[:, None], [0, 1, 0, 0, 2, 1, 1, 0, 2, 3, 0, 2]
    model = TreeGuidedNRMM(moves=["incremental-hierarchy"], n_chains=1, random_state=0, covariance_type="diag")
    model.fit(X, sample_weight=weights)
    display = DendrogramDisplay.from_estimator(model, names=[f"r{i}" for i in range(12)])
    shown = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert_array_equal(shown, [f"r{i}" for i in display.order_])
    with pytest.raises(ValueError, match="names must have one for each row of the table, at least 12, got 5"):
        DendrogramDisplay.from_estimator(model, names=list("abcde"))
