"""Convergence: what it says of draws that climb, and of chains that ended in different partitions; when fits warn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from support.tiers import quick_only

from sklearn_subanneal import CrossCat, CrossCatClassifier, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.diagnostics import Convergence, effective_sample_size, rank_normalized_rhat
from sklearn_subanneal.mixtures import Gibbs

ALIKE = np.zeros((4, 10, 50), int)


def wandering(rng, n_chains=4, n_draws=10):
    """A random walk, which is as far from independent draws as a log joint density without trend can be."""
    return rng.normal(scale=20.0, size=(n_chains, n_draws)).cumsum(axis=1)


def test_a_trend_is_found_and_a_walk_is_none():
    """Of walks without a trend, about one in two hundred is reported; a regression on time would report most."""
    rng = np.random.default_rng(0)
    long = np.zeros((1, 37, 2), int)
    reported = [not Convergence.of(wandering(rng, 1, 37), long).converged for _ in range(1000)]
    # Binomial with mean 5: more than 14 have probability 2e-4.
    assert sum(reported) <= 14
    climbs = wandering(rng) + 30.0 * np.arange(10)
    found = Convergence.of(climbs, ALIKE)
    assert found.trend == pytest.approx(np.mean(climbs[:, -1] - climbs[:, 0]) / 9)
    assert found.trend_p_value < 1e-4 and "still rises by" in found.problems[0]
    assert "still falls by" in Convergence.of(-climbs, ALIKE).problems[0]


def test_chains_that_rise_are_reported_unless_it_may_be_chance():
    log_joint = wandering(np.random.default_rng(5))
    for n_rising, reported in ((0, False), (1, False), (2, True), (4, True)):
        found = Convergence.of(log_joint, ALIKE, rise_scores=np.where(np.arange(4) < n_rising, 3.1, -1.0))
        assert found.n_rising == n_rising and found.n_chains == 4
        assert any(f"{n_rising} of 4 chains still rises" in problem for problem in found.problems) == reported
    assert not Convergence.of(log_joint[:1], ALIKE[:1], rise_scores=[3.1]).converged


def test_chains_that_rise_together_are_reported():
    log_joint = wandering(np.random.default_rng(5))
    for score, reported in ((1.4, False), (1.6, True)):
        found = Convergence.of(log_joint, ALIKE, rise_scores=np.full(4, score))
        assert found.n_rising == 0 and found.rise == pytest.approx(2.0 * score)
        assert any("Taken together" in problem for problem in found.problems) == reported
    # Of chains with few sweeps nothing is known.
    assert Convergence.of(log_joint, ALIKE, rise_scores=[np.nan, 4.0, np.nan, 1.0]).rise == pytest.approx(5.0 / 2**0.5)
    assert np.isnan(Convergence.of(log_joint, ALIKE, rise_scores=[np.nan] * 4).rise)


def test_fits_count_the_chains_that_rise(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 2))
    settings = {"n_chains": 3, "n_draws": 2, "max_sweeps": 0, "random_state": 0}
    model = SubsampleAnnealedDPMM(**settings).fit(X)
    seen = []
    monkeypatch.setattr(
        "sklearn_subanneal.estimators._mcmc.rise_score",
        lambda trace, n_rows: seen.append((len(trace), n_rows)) or (4.0 if len(seen) > 1 else -9.0),
    )
    with pytest.warns(ConvergenceWarning, match="2 of 3 chains still rises"):
        again = SubsampleAnnealedDPMM(**settings).fit(X)
    assert seen == [(n, 40) for n in model.n_sweeps_]
    assert again.convergence_.n_rising == 2


def test_figures_of_the_log_joint_density():
    log_joint = wandering(np.random.default_rng(1))
    found = Convergence.of(log_joint, ALIKE)
    assert found.rhat == rank_normalized_rhat(log_joint)
    assert found.effective_size == effective_sample_size(log_joint)
    constant = Convergence.of(np.zeros((2, 10)), ALIKE[:2])
    assert constant.trend == 0.0 and constant.trend_p_value == 1.0 and constant.converged


def test_agreement_is_that_of_different_chains():
    rng = np.random.default_rng(2)
    labels = rng.integers(3, size=(3, 4, 40))
    found = Convergence.of(np.zeros((3, 4)), labels, labels[:, :, :7])
    for agreement, own in ((found.row_agreement, labels), (found.column_agreement, labels[:, :, :7])):
        pairs = [
            adjusted_rand_score(own[i, k], own[j, m])
            for i in range(3)
            for j in range(i)
            for k in (0, 3)
            for m in (0, 3)
        ]
        assert agreement == pytest.approx(np.mean(pairs))
    for agreement, own in ((found.row_agreement_within, labels), (found.column_agreement_within, labels[:, :, :7])):
        assert agreement == pytest.approx(np.mean([adjusted_rand_score(chain[0], chain[-1]) for chain in own]))


def test_chains_agree_by_their_weights():
    """Those that hardly count in answers hardly count here."""
    rng = np.random.default_rng(4)
    labels = np.repeat(rng.integers(3, size=(3, 1, 40)), 4, axis=1)
    labels[1] = labels[0]
    found = Convergence.of(np.zeros((3, 4)), labels, labels, 0, [0.6, 0.3, 0.1])
    other = adjusted_rand_score(labels[0, 0], labels[2, 0])
    exact = (0.18 + 0.06 * other + 0.03 * other) / 0.27
    assert found.row_agreement == pytest.approx(exact) and found.column_agreement == pytest.approx(exact)


def test_clusters_that_the_posterior_leaves_open_are_no_problem():
    """Chains whose draws differ as much as those of one chain do sample the same posterior."""
    rng = np.random.default_rng(3)
    open_clusters = rng.integers(2, size=(4, 10, 60))
    assert Convergence.of(wandering(rng), open_clusters).converged
    stuck = np.repeat(open_clusters[:, :1], 10, axis=1)
    (problem,) = Convergence.of(wandering(rng), stuck).problems
    assert "disagree on the clusters" in problem and "one chain is 1.00" in problem
    views = np.repeat(rng.integers(3, size=(4, 1, 12)), 10, axis=1)
    (problem,) = Convergence.of(wandering(rng), ALIKE, views).problems
    assert "disagree on the views" in problem and "one chain is 1.00" in problem


def test_one_column_apart_is_little_of_many():
    """The adjusted Rand index of a single view and one that leaves a column out is 0."""
    views = np.zeros((2, 10, 200), int)
    views[1, :, 7] = 1
    found = Convergence.of(np.zeros((2, 10)), ALIKE[:2], views)
    assert abs(found.column_agreement) < 0.01 and found.column_pairs_differ == pytest.approx(2 / 200)
    assert "Of the pairs of columns, 1.0% are placed differently." in found.problems[0]


def test_what_is_not_known_is_not_said():
    """A single draw of each chain."""
    rng = np.random.default_rng(9)
    found = Convergence.of(np.zeros((3, 1)), rng.integers(3, size=(3, 1, 40)), rng.integers(3, size=(3, 1, 12)))
    assert len(found.problems) == 2 and all("nan" not in problem for problem in found.problems)


@pytest.mark.parametrize(("n_chains", "n_draws"), [(1, 10), (2, 1), (1, 1), (1, 3)])
def test_few_chains_and_draws_are_no_problem(n_chains, n_draws):
    found = Convergence.of(np.zeros((n_chains, n_draws)), ALIKE[:n_chains, :n_draws], ALIKE[:n_chains, :n_draws, :5])
    assert found.converged
    assert np.isnan(found.row_agreement) == (n_chains == 1) and np.isnan(found.row_agreement_within) == (n_draws == 1)


def test_large_tables_are_thinned():
    rng = np.random.default_rng(4)
    labels = np.repeat(rng.integers(4, size=9000)[None, None], 2, axis=0)
    labels[1, 0, 1::5] = 0  # Every fifth row is compared, and these are others.
    assert Convergence.of(np.zeros((2, 1)), labels).row_agreement == 1.0


@pytest.mark.parametrize("n_pairs", [0, 1, 3])
def test_rows_that_never_met_are_reported(n_pairs):
    """All chains agree, and none moves, if each row stays alone in its cluster."""
    labels = np.arange(40)
    labels[:n_pairs] = labels[20 : 20 + n_pairs]
    found = Convergence.of(np.zeros((2, 3)), np.broadcast_to(labels, (2, 3, 40)))
    assert found.alone == 1.0 - n_pairs / 20 and found.row_agreement == 1.0
    assert found.converged == (n_pairs == 3)
    few = Convergence.of(np.zeros((2, 3)), np.broadcast_to(np.arange(19), (2, 3, 19)))
    assert few.converged and np.isnan(few.alone)
    assert Convergence.of(np.zeros((2, 3)), np.full((2, 3, 40), -1)).converged


def test_a_fit_says_that_its_rows_never_met():
    X = np.random.default_rng(8).normal(size=(40, 200))
    narrow = {"real": {"sigma2": 0.01, "kappa": 0.01}}
    with pytest.warns(ConvergenceWarning, match="100% of the rows are alone"):
        SubsampleAnnealedDPMM(covariance_type="diag", feature_params=narrow, n_draws=2, random_state=0).fit(X)


@pytest.mark.parametrize(
    "make", quick_only([CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM], CrossCat, SubsampleAnnealedDPMM)
)
def test_fits_say_that_their_chains_disagree(make, monkeypatch):
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = make(n_chains=4, random_state=0).fit(X)
    assert model.convergence_.converged and model.convergence_.row_agreement > 0.8
    agreement = model.convergence_.row_agreement
    monkeypatch.setattr("sklearn_subanneal.diagnostics.chain_convergence.LEAST_AGREEMENT", 1.1)
    monkeypatch.setattr("sklearn_subanneal.diagnostics.chain_convergence.SURPLUS", -1.0)
    with pytest.warns(
        ConvergenceWarning, match="disagree on the clusters.*larger effort, .*see convergence_"
    ) as caught:
        again = make(n_chains=4, random_state=0).fit(X)
    # The warning is about the line that called fit.
    assert caught[0].filename == __file__
    assert again.convergence_.row_agreement == agreement


def test_views_that_do_not_move_are_reported():
    """Chains that start with different views, and cannot move columns."""
    X = np.random.default_rng(6).normal(size=(40, 8))
    with pytest.warns(ConvergenceWarning, match="disagree on the views"):
        model = CrossCat(moves=[Gibbs()], column_start="prior", n_chains=3, n_draws=2, random_state=0).fit(X)
    assert model.convergence_.column_agreement < 0.8


def test_a_classifier_does_not_speak_of_clusters(monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.diagnostics.chain_convergence.LEAST_AGREEMENT", 1.1)
    monkeypatch.setattr("sklearn_subanneal.diagnostics.chain_convergence.SURPLUS", -1.0)
    X = np.random.default_rng(7).normal(size=(40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = CrossCatClassifier(CrossCat(n_chains=2, n_draws=2), random_state=0).fit(X, X[:, 0] > 0.0)
    assert model.crosscat_.convergence_.problems
