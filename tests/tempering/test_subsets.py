"""Subsets of the rows: nested, refreshed with the right probabilities, and what they cost, by counts of evaluations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.tempered_means import LADDER, one_dimension, random_walk

from sklearn_subanneal.tempering import (
    GaussianMean,
    HamiltonianMonteCarlo,
    ParallelTempering,
    TemperedTransitions,
    geometric_ladder,
)
from sklearn_subanneal.tempering.replicas import Replicas


@pytest.mark.parametrize("refresh", [False, True])
def test_refreshed_subsets_stay_nested_and_valid(refresh):
    model = one_dimension(40)
    replicas = Replicas(model, np.array(LADDER), random_walk(0.5), "nested", np.random.default_rng(0))
    for number in range(50):
        replicas.move()
        replicas.swap(replicas.even_odd(number))
        if refresh:
            replicas.refresh()
        for level, point in zip(replicas.levels, replicas.points, strict=True):
            assert point.log_likelihood == model.log_likelihood(point.theta, level.rows)
        for above, below in zip(replicas.levels[1:-1], replicas.levels[2:], strict=True):
            assert set(below.rows) < set(above.rows)
        assert [level.n_rows for level in replicas.levels] == [40, 30, 20, 10]
    assert (replicas.refreshed > 0) == refresh


@pytest.mark.parametrize("n", [3000, pytest.param(8000, marks=pytest.mark.slow)])
def test_refreshed_subsets_have_the_probabilities_of_their_densities(n):
    """Two of five rows, theta held: each pair in proportion to its likelihood."""
    model = one_dimension(5)
    replicas = Replicas(model, np.array([1.0, 0.4]), random_walk(0.5), "nested", np.random.default_rng(0))
    theta = np.array([2.5])
    replicas.points = [level.point(theta) for level in replicas.levels]
    pairs = list(itertools.combinations(range(5), 2))
    counts = dict.fromkeys(pairs, 0)
    for _ in range(n):
        for _ in range(5):
            replicas.refresh()
        counts[tuple(replicas.levels[1].rows.tolist())] += 1
    logs = np.array([model.log_likelihood(theta, np.array(pair)) for pair in pairs])
    expected = np.exp(logs - logs.max())
    expected /= expected.sum()
    assert np.ptp(expected) > 0.05
    found = np.array([counts[pair] for pair in pairs]) / n
    assert (np.abs(found - expected) < 5.0 * np.sqrt(expected * (1.0 - expected) / n) + 1e-3).all()


@pytest.mark.parametrize(("alpha", "theory"), [(1, 3.1124), (3, 1.5458)])
def test_cost_of_subsampled_parallel_tempering(alpha, theory):
    """Equation 15, by counting."""
    model = GaussianMean(np.random.default_rng(0).normal(size=(1024, 2)), np.eye(2))
    ladder = geometric_ladder(7, 1 / 8)
    inner = HamiltonianMonteCarlo(0.02, n_steps=4, metric="unit", jitter=0.0)
    tempered = ParallelTempering(inner=inner, inverse_temperatures=ladder, refresh=False, n_warmup=0).sample(
        model, 60, n_chains=2, random_state=0
    )
    plain = ParallelTempering(inner=inner, inverse_temperatures=[1.0], n_warmup=0).sample(
        model, 60, n_chains=2, random_state=0
    )
    ratio = tempered.cost(alpha, value=0.0).mean() / plain.cost(alpha, value=0.0).mean()
    # A swap leaves a point whose gradient is not known there: up to one more evaluation for a move's four.
    assert theory * 0.999 < ratio < theory * 1.2
    shares = tempered.n_rows[0] / 1024
    assert (shares**alpha).sum() == pytest.approx(theory, rel=2e-3)


@pytest.mark.parametrize(("alpha", "theory"), [(1, 4.2249), (3, 1.0917)])
def test_cost_of_subsampled_transitions(alpha, theory):
    """Levels 1 to M twice, Neal's order."""
    model = GaussianMean(np.random.default_rng(0).normal(size=(1024, 2)), np.eye(2))
    inner = HamiltonianMonteCarlo(0.02, n_steps=4, metric="unit", jitter=0.0)
    sampler = TemperedTransitions(inner=inner, inverse_temperatures=geometric_ladder(7, 1 / 8), n_warmup=0)
    result = sampler.sample(model, 60, n_chains=2, random_state=0)
    below = (result.n_rows[0] / 1024)[1:]
    kernels = 8.0 * 60 * (below**alpha).sum() / (4.0 * 60)
    assert kernels == pytest.approx(theory, rel=2e-3)
    # Four gradients a move, and one for a point that comes from another level.
    counted = (result.n_gradients[:, 1:] * below**alpha).sum(axis=1).mean() / (4.0 * 60)
    assert theory * 0.999 < counted < theory * 1.27
