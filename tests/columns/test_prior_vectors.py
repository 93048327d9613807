"""Moves of all vectors of a block at once: exact, and fast where columns are collinear."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import reference

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import EnergyAnneal, TemperedAccelerating
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns.gaussian import correlation_of, settle


def block(cells, labels, vectors, n_shared, spread, nu, variance):
    width = len(vectors)
    psi = correlation_of(vectors, n_shared) * (nu - width + 1) * variance
    parameters = {"mu": np.zeros(width), "kappa": 0.5, "psi": psi, "nu": nu}
    parameters |= {"vectors": vectors, "n_shared": n_shared, "spread": spread}
    statistics = GaussianStatistics(GaussianData(cells), parameters, None)
    statistics.rebuild(labels)
    statistics.settled = True
    return statistics


def test_the_joint_density_of_draws_from_the_prior_neither_rises_nor_falls():
    """Vectors from the prior, and cells from their clusters, have the same law when the vectors have been redrawn.

    Columns have little of their own, so that psi is nearly singular, and the longest steps are too coarse.
    """
    rng, n_clusters, nu, n_shared, spread = np.random.default_rng(0), 4, 9.0, 2, 0.003
    labels, deviation = np.repeat(np.arange(n_clusters), 10), np.array([1.0, 1.0, spread, spread])

    def log_joint(statistics):
        vectors = statistics.get_prior_state()["vectors"]
        return statistics.log_marginals(n_clusters).sum() - 0.5 * ((vectors / deviation) ** 2).sum()

    changes = np.empty(2000)
    for i in range(len(changes)):
        vectors = rng.normal(size=(6, 4)) * deviation
        statistics = block(np.zeros((40, 6)), labels, vectors, n_shared, spread, nu, 0.5)
        parameters = statistics.parameters
        cells = [reference.draw_from_prior("gaussian", parameters, 10, rng)[1] for _ in range(n_clusters)]
        statistics = block(np.vstack(cells), labels, vectors, n_shared, spread, nu, 0.5)
        before = log_joint(statistics)
        for _ in range(16):
            statistics.learn(n_clusters, rng)
        changes[i] = log_joint(statistics) - before
    assert changes.std() > 2.0
    assert abs(changes.mean()) < 4.0 * changes.std() / np.sqrt(len(changes))


def test_correlations_of_collinear_columns_are_soon_learned():
    """Each column is the one before it and little else, as the years of a table often are."""
    late = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        cells = np.cumsum(rng.normal(size=(100, 20)) * np.append(1.0, np.full(19, 0.1)), axis=1)
        statistics = block(cells, np.arange(100) % 8, rng.normal(size=(20, 14)), 12, 1.0, 22.0, 4.0 / 3.0)
        log_evidence = np.empty(600)
        for i in range(len(log_evidence)):
            statistics.learn(8, rng)
            log_evidence[i] = statistics.log_marginals(8).sum()
        late.append(log_evidence[400:].mean() - log_evidence[90:110].mean())
    # From about -800 at the start to 1200. Redrawn one at a time, the vectors are 400 nats from there.
    assert np.mean(late) < 150.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "module"),
    [
        (CrossCat(random_state=0), "sklearn_subanneal.views.views_chain"),
        (SubsampleAnnealedDPMM(covariance_type="full", random_state=0), "sklearn_subanneal.mixtures.mixture_chain"),
    ],
)
@pytest.mark.parametrize(
    "schedule",
    [TemperedAccelerating(passes=20.0, n_small=30, n_first=10, initial_powers=[0.5]), EnergyAnneal(passes=8)],
)
def test_only_chains_that_have_all_rows_and_are_not_tempered_are_settled(estimator, module, schedule, monkeypatch):
    told = []
    monkeypatch.setattr(f"{module}.settle", lambda columns, settled: told.append(settled))
    cells = np.random.default_rng(0).normal(size=(60, 3)) @ np.ones((3, 3))
    trace = estimator.set_params(schedule=schedule, n_chains=1, n_draws=2).fit(cells).trace_
    expected = (trace["n_assigned"] == 60) & (trace["inverse_temperature"] == 1.0)
    assert set(expected) == {True, False}
    views = trace["n_views"] if "n_views" in trace.dtype.names else np.ones(len(trace), int)
    # Once for each view; while there are few rows, nothing is learned.
    assert told == sorted(told)
    assert sum(told) == views[expected].sum()


def test_settle():
    columns = [block(np.zeros((4, 2)), np.zeros(4, int), np.ones((2, 3)), 1, 1.0, 3.0, 1.0) for _ in range(2)]
    for settled in (False, True):
        settle(columns, settled)
        assert [column.settled for column in columns] == [settled, settled]
