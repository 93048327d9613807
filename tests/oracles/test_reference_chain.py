"""The statistics of samplers on chains of known law, and the plain Gibbs sampler against enumeration."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from oracles import reference_chain
from oracles.enumeration import exact_posterior
from oracles.reference_chain import (
    Conditional,
    churn_stationary,
    effective_draws,
    gibbs,
    integrated_autocorrelation_time,
    noise_floor,
    partition_autocorrelation_time,
    partition_codes,
    partition_counts,
    total_variation,
)

REAL = {"mu": 0.3, "kappa": 0.7, "sigma2": 1.4, "nu": 2.5}
GAUSSIAN = {"mu": [0.2, -0.3], "kappa": 0.5, "psi": [[1.0, 0.6], [0.6, 1.3]], "nu": 3.5}
CATEGORICAL, COUNT = {"alpha": [0.4, 1.1, 2.0]}, {"shape": 1.7, "rate": 0.6}
ROWS = [
    ("real", np.array([0.4, -1.2, 2.2, np.nan]), REAL),
    ("categorical", np.array([0, 2, 2, 1]), CATEGORICAL),
    ("count", np.array([3, 0, -1, 6]), COUNT),
]


# --- Statistics of samplers, and the samplers -------------------------------------------------------------------


def test_total_variation_and_floor():
    law = {(0, 0): 0.25, (0, 1): 0.75}
    assert total_variation(law, {(0, 0): 3, (0, 1): 1}) == pytest.approx(0.5)
    assert total_variation(law, {(7, 7): 2}) == pytest.approx(1)
    # For two states TV = |share - p|: its 95 % quantile is 1.96 standard errors.
    floor = noise_floor(law, 10_000, n_replicates=20_000, rng=np.random.default_rng(0))
    assert floor == pytest.approx(1.96 * np.sqrt(0.25 * 0.75 / 10_000), rel=0.03)


def test_codes_forget_names_of_clusters():
    draws = np.array([[[5, 5, 2], [0, 1, 2]], [[1, 0, 0], [3, 3, 3]]])
    assert partition_codes(draws).tolist() == [[1, 4], [3, 0]]
    assert partition_counts(draws) == {(0, 0, 1): 1, (0, 1, 2): 1, (0, 1, 1): 1, (0, 0, 0): 1}


def test_autocovariance_is_the_plain_sum():
    series = np.array([[1.0, 4.0, 2.0, 0.0, 3.0], [2.0, 2.0, 5.0, 1.0, 0.0]])
    centred = series - series.mean()
    expected = [np.sum(centred[:, : 5 - lag] * centred[:, lag:]) / 10 for lag in range(5)]
    np.testing.assert_allclose(reference_chain._autocovariance(series), expected, atol=1e-14)


def test_autocorrelation_time_of_an_autoregression():
    rng, rho = np.random.default_rng(1), 0.8
    noise = rng.standard_normal((4, 50_000))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / np.sqrt(1 - rho**2)
    for t in range(1, noise.shape[1]):
        series[:, t] = rho * series[:, t - 1] + noise[:, t]
    assert integrated_autocorrelation_time(series) == pytest.approx((1 + rho) / (1 - rho), rel=0.05)
    assert integrated_autocorrelation_time(noise[0]) == pytest.approx(1, abs=0.03)
    assert integrated_autocorrelation_time(np.ones(50)) == 1


@pytest.mark.slow
def test_effective_draws_predict_the_noise_of_a_lazy_chain():
    rng, stay, n = np.random.default_rng(4), 0.9, 4000
    weights = np.array([0.5, 0.3, 0.15, 0.05])
    fresh = rng.choice(4, size=(200, n), p=weights)
    moved = rng.random((200, n)) > stay
    moved[:, 0] = True
    held = np.maximum.accumulate(np.where(moved, np.arange(n), 0), axis=1)
    codes = np.take_along_axis(fresh, held, axis=1)
    assert partition_autocorrelation_time(codes) == pytest.approx((1 + stay) / (1 - stay), rel=0.05)
    shares = np.array([np.bincount(chain, minlength=4) for chain in codes]) / n
    distances = 0.5 * np.abs(shares - weights).sum(1)
    law = {(k,): w for k, w in enumerate(weights)}
    floor = noise_floor(law, effective_draws(codes) / 200, rng=rng)
    assert np.mean(distances > floor) == pytest.approx(0.05, abs=0.05)


def test_stuck_chains_have_few_effective_draws():
    codes = np.repeat([[0], [1]], 1000, axis=1)
    assert effective_draws(codes) < 20


@pytest.mark.parametrize(("d", "beta"), [(0.0, 1.0), (0.3, 1.0), (0.3, 0.4)])
def test_churn_of_all_rows_leaves_the_posterior_invariant(d, beta):
    # Single-row conditionals by closed-form predictives have the enumerated posterior as their stationary law.
    block = np.array([[0.4, np.nan], [-1.2, 0.1], [2.0, 0.7], [np.nan, 1.1]])
    columns = [*ROWS, ("gaussian", block, GAUSSIAN)]
    law = churn_stationary(columns, 0.8, d, n_assigned=4, beta=beta)
    assert law == pytest.approx(exact_posterior(columns, 0.8, d, beta), abs=1e-9)


def test_churn_of_a_subsample_is_near_the_posteriors_of_subsamples():
    law = churn_stationary(ROWS, 0.8, 0.3, n_assigned=3)
    near = {}
    for out in range(4):
        kept = [i for i in range(4) if i != out]
        for state, p in exact_posterior([(kind, x[kept], params) for kind, x, params in ROWS], 0.8, 0.3).items():
            near[(*state[:out], -1, *state[out:])] = p / 4
    assert sum(law.values()) == pytest.approx(1)
    assert 1e-6 < total_variation(near, law) < 0.05


def _judge(columns, law, n_sweeps, seed, **options):
    rng = np.random.default_rng(seed)
    draws = gibbs(columns, 0.8, 0.3, n_sweeps, rng, **options)
    names = {state: code for code, state in enumerate(law)}
    codes = np.array([names[tuple(labels)] for labels in draws.tolist()])
    n_effective = effective_draws(codes)
    assert n_effective > n_sweeps / 20
    return total_variation(law, partition_counts(draws)), noise_floor(law, n_effective, 0.99, rng=rng)


@pytest.mark.slow
def test_gibbs_is_near_the_posterior():
    distance, floor = _judge(ROWS, exact_posterior(ROWS, 0.8, 0.3), 1500, 0)
    assert distance < floor


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"beta": 0.4}, {"n_assigned": 3}, {"n_assigned": 2, "beta": 0.5}])
def test_gibbs_draws_the_exact_law(options):
    law = churn_stationary(ROWS, 0.8, 0.3, **{"n_assigned": 4, **options})
    distance, floor = _judge(ROWS, law, 40_000, 1, **options)
    assert distance < floor < 0.02


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Conditional(ROWS, 1.0)(0, [0, -1, -1, -1]), "row=0"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_examples():
    result = doctest.testmod(reference_chain)
    assert result.attempted > 0
    assert result.failed == 0
