"""Normalized generalized gamma processes: their partitions, u, what is learned of their parameters, and extremes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles.enumeration import canonical, partitions
from oracles.enumeration import log_eppf as log_eppf_pitman_yor
from oracles.reference_chain import noise_floor, partition_counts, total_variation
from oracles.reference_nrmm import ORACLES, line_of_log_u, log_density_of_log_u, log_eppf
from scipy import stats
from sklearn.base import clone
from support.tiers import quick_only

from sklearn_subanneal.partitions import NGGP, NIG
from sklearn_subanneal.partitions._nggp import NGGPPrior

PARAMETERS = [(1.0, 0.5), (3.0, 0.1), (0.2, 0.9), (0.01, 0.02), (50.0, 0.25), (1e-4, 0.001)]
SIZES = [[1], [5], [1, 1, 1, 1], [2, 1], [7, 3, 1], [40, 1, 1, 9], [100_000, 300, 1]]

pairs = pytest.mark.parametrize(("mass", "sigma"), PARAMETERS)


def sizes_of(*sizes):
    return np.array(sizes, np.int32)


# --- Probabilities and weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ORACLES["eppf_nggp"], ids=lambda case: f"{case['sizes']}-{case['sigma']}")
def test_oracle_eppf(case):
    prior = NGGPPrior(case["alpha"], case["sigma"])
    assert_allclose(prior.log_eppf(sizes_of(*case["sizes"])), case["log_eppf"], rtol=1e-9, atol=1e-9)
    assert_allclose(log_eppf(case["sizes"], case["alpha"], case["sigma"]), case["log_eppf"], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("case", ORACLES["log_joint_u"], ids=lambda case: f"{case['sizes']}-{case['sigma']}")
def test_oracle_of_partition_and_u(case):
    # log p(partition, u) = log p(partition) + log p(u | partition), the second by the density of v normalised.
    sizes, mass, sigma = case["sizes"], case["alpha"], case["sigma"]
    v = line_of_log_u(sum(sizes), len(sizes), mass, sigma, 400_001)
    logs = log_density_of_log_u(v, sum(sizes), len(sizes), mass, sigma)
    density = log_density_of_log_u(np.log(case["u"]), sum(sizes), len(sizes), mass, sigma)
    density -= np.log(np.exp(logs).sum() * (v[1] - v[0])) + np.log(case["u"])
    eppf = NGGPPrior(mass, sigma).log_eppf(sizes_of(*sizes))
    assert_allclose(eppf + density, case["log_p_partition_and_u"], rtol=1e-8, atol=1e-8)


@pairs
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_log_eppf(mass, sigma, sizes):
    exact = log_eppf(sizes, mass, sigma) if len(sizes) > 1 or sizes[0] > 1 else 0.0
    assert_allclose(NGGPPrior(mass, sigma).log_eppf(sizes_of(*sizes)), exact, rtol=1e-9, atol=2e-7)


@pairs
def test_probabilities_of_all_partitions_sum_to_one(mass, sigma):
    prior = NGGPPrior(mass, sigma)
    total = sum(np.exp(prior.log_eppf(sizes_of(*np.bincount(state)))) for state in partitions(6))
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("sizes", [[4], [3, 1], [9, 4, 1, 1]], ids=str)
def test_a_small_sigma_with_a_fixed_product_is_a_dirichlet_process(sizes):
    exact = float(log_eppf_pitman_yor(sizes, 1.7))
    assert_allclose(NGGPPrior(1.7e6, 1e-6).log_eppf(sizes_of(*sizes)), exact, atol=1e-4)
    assert_allclose(NGGPPrior(1.7e9, 1e-9).log_eppf(sizes_of(*sizes)), exact, atol=1e-6)


@pairs
@pytest.mark.parametrize("sizes", SIZES[:-1], ids=str)
def test_weights_to_come_are_ratios_of_probabilities(mass, sigma, sizes):
    prior = NGGPPrior(mass, sigma)
    here = prior.log_eppf(sizes_of(*sizes))
    joined = [prior.log_eppf(sizes_of(*np.add(sizes, np.eye(len(sizes), dtype=int)[k]))) for k in range(len(sizes))]
    opened = prior.log_eppf(sizes_of(*sizes, 1))
    offset, base, slope = prior.predictive_weights(sizes_of(*sizes))
    weights = np.append(np.array(sizes) + offset, base + slope * len(sizes))
    assert_allclose(weights / weights.sum(), np.exp([*(j - here for j in joined), opened - here]), rtol=1e-7)


def test_weights_normalised_for_each_u_would_differ():
    # The figures of a partition of sizes 3 and 1, and those of the biased average.
    offset, base, _ = NGGPPrior(1.0, 0.5).predictive_weights(sizes_of(3, 1))
    weights = np.array([3 + offset, 1 + offset, base])
    assert_allclose(weights / weights.sum(), [0.5316, 0.1063, 0.3621], atol=5e-5)
    rng, prior, biased = np.random.default_rng(0), NGGPPrior(1.0, 0.5), []
    for _ in range(3000):
        prior.learn(sizes_of(3, 1), rng)
        biased.append(prior.new_base / (prior.new_base + 4 - 2 * 0.5))
    assert np.mean(biased) == pytest.approx(0.339, abs=0.005)


@pairs
def test_weights_given_u(mass, sigma):
    # kappa(1) over kappa(4) / kappa(3), kappa(n) = a Gamma(n - sigma) / Gamma(1 - sigma) / (1 + u)^(n - sigma)
    prior = NGGPPrior(mass, sigma)
    prior.parameters = {"mass": mass, "sigma": sigma, "log_u": 0.7}
    u = np.exp(0.7)
    assert_allclose(prior.new_base / (3 + prior.offset), mass * sigma * (1 + u) ** sigma / (3 - sigma), rtol=1e-12)
    assert prior.new_slope == 0.0


# --- Draws ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mass", "sigma"), quick_only(PARAMETERS[:4], *PARAMETERS[:2]))
def test_draws_follow_the_prior(mass, sigma):
    prior, rng, n_draws = NGGPPrior(mass, sigma), np.random.default_rng(0), 1500
    draws = np.array([prior.draw_partition(4, rng) for _ in range(n_draws)])
    assert all(canonical(labels) == tuple(labels) for labels in np.unique(draws, axis=0).tolist())
    law = {state: float(np.exp(log_eppf(np.bincount(state), mass, sigma))) for state in partitions(4)}
    assert total_variation(law, partition_counts(draws)) <= 1.5 * noise_floor(law, n_draws, rng=rng)


@pairs
@pytest.mark.parametrize("sizes", [[1], [3, 1], [40, 9, 1], [1] * 30], ids=lambda sizes: f"{len(sizes)}")
def test_u_follows_its_conditional(mass, sigma, sizes):
    prior, rng, n_draws = NGGPPrior(mass, sigma), np.random.default_rng(1), 2000
    draws = np.empty(n_draws)
    for t in range(n_draws):
        prior.learn(sizes_of(*sizes), rng)
        draws[t] = prior.log_u
    assert prior.parameters == {"mass": mass, "sigma": sigma, "log_u": prior.log_u}
    v = line_of_log_u(sum(sizes), len(sizes), mass, sigma, 200_001)
    logs = log_density_of_log_u(v, sum(sizes), len(sizes), mass, sigma)
    cumulative = np.cumsum(np.exp(logs - logs.max()))
    law = np.interp(draws, v, cumulative / cumulative[-1])
    assert stats.kstest(law, "uniform").pvalue > 1e-3
    # successive draws do not depend on one another
    assert abs(np.corrcoef(law[1:], law[:-1])[0, 1]) < 4 / np.sqrt(n_draws)


@pytest.mark.parametrize(
    "sizes",
    [pytest.param([1], marks=pytest.mark.slow), pytest.param([3, 1], marks=pytest.mark.slow), [9, 4, 1, 1, 1]],
    ids=str,
)
def test_mass_and_sigma_follow_their_conditional(sizes):
    """Against quadrature over a grid of both, u integrated out; the first and second moments."""
    masses, sigmas = np.exp(np.linspace(-9.0, 3.5, 71)), (np.arange(40) + 0.5) / 40
    prior_density = stats.gamma(2.0, scale=1 / 1.5).logpdf(masses)[:, None] + np.log(masses)[:, None]
    prior_density = prior_density + stats.beta(1.5, 2.0).logpdf(sigmas)
    logs = np.array([[NGGPPrior(m, s).log_eppf(sizes_of(*sizes)) for s in sigmas] for m in masses]) + prior_density
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    prior, rng, n_draws = NGGPPrior(1.0, 0.5, (2.0, 1.5), (1.5, 2.0)), np.random.default_rng(2), 1800
    draws = np.empty((n_draws, 2))
    for t in range(n_draws):
        prior.learn(sizes_of(*sizes), rng)
        draws[t] = prior.mass, prior.sigma
    functions = [draws[:, 0], np.log(draws[:, 0]), draws[:, 1], draws[:, 1] ** 2, np.log(draws[:, 0]) * draws[:, 1]]
    grid = [masses[:, None], np.log(masses)[:, None], sigmas, sigmas**2, np.log(masses)[:, None] * sigmas]
    for values, exact in zip(functions, grid, strict=True):
        batches = values.reshape(30, -1).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(30)
        assert abs(values.mean() - np.sum(weights * exact)) < 4 * error + 1e-3


def test_parameters_are_drawn_from_their_priors():
    prior, rng = NGGP(mass_prior=(2.0, 4.0), sigma_prior=(1.5, 3.0)).bind(), np.random.default_rng(3)
    draws = []
    for _ in range(3000):
        prior.draw(rng)
        draws.append((prior.mass, prior.sigma))
    masses, sigmas = np.array(draws).T
    assert stats.kstest(masses, stats.gamma(2.0, scale=0.25).cdf).pvalue > 1e-3
    assert stats.kstest(sigmas, stats.beta(1.5, 3.0).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("mass", "sigma"), [(0.01, 0.02), (1e-6, 1e-3), (1e-4, 0.999), (1e6, 0.5), (1e-9, 1e-6)])
@pytest.mark.parametrize("sizes", [[1], [1, 1], [10**6], [500, 400] + [1] * 100], ids=["1", "2", "3", "4"])
def test_extremes_do_not_overflow(mass, sigma, sizes):
    prior, rng = NGGPPrior(mass, sigma), np.random.default_rng(4)
    for _ in range(20):
        prior.learn(sizes_of(*sizes), rng)
        assert np.isfinite([prior.log_u, prior.new_base, prior.log_eppf(sizes_of(*sizes))]).all()
        assert prior.new_base > 0.0
        assert np.isfinite(prior.predictive_weights(sizes_of(*sizes))).all()
    if (mass, sigma) == (0.01, 0.02) and sizes == [1, 1]:
        # u itself would have overflowed.
        assert max(prior.learn(sizes_of(1, 1), rng) or prior.log_u for _ in range(500)) > 40.0


# --- Parameter objects ------------------------------------------------------------------------------------------


def test_what_is_given_is_fixed_and_the_rest_is_learned():
    rng = np.random.default_rng(5)
    for prior, fixed in [
        (NGGP(2.0, 0.25), {"mass": 2.0, "sigma": 0.25}),
        (NGGP(2.0), {"mass": 2.0}),
        (NGGP(sigma=0.25), {"sigma": 0.25}),
        (NIG(), {"sigma": 0.5}),
        (NIG(3.0), {"mass": 3.0, "sigma": 0.5}),
        (NGGP(), {}),
    ]:
        bound, seen = prior.bind(), []
        for _ in range(5):
            bound.learn(sizes_of(3, 1, 1), rng)
            seen.append(bound.parameters)
        for name in ("mass", "sigma"):
            values = {draw[name] for draw in seen}
            assert values == {fixed[name]} if name in fixed else len(values) == 5
        assert len({draw["log_u"] for draw in seen}) == 5
        unlearned = prior.bind(learn=False)
        unlearned.learn(sizes_of(3, 1, 1), rng)
        assert (unlearned.mass, unlearned.sigma) == (fixed.get("mass", 1.0), fixed.get("sigma", 0.5))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (NGGP(0.0), 'mass must be a positive number, or "learn"; got 0.0'),
        (NGGP(np.inf), "mass must be a positive number"),
        (NGGP("1"), "mass must be a positive number, or .learn.; got '1'"),
        (NGGP(sigma=1.0), 'sigma must be a number above 0 and below 1, or "learn"; got 1.0'),
        (NGGP(sigma=0.0), "sigma must be a number above 0"),
        (NGGP(mass_prior=(1.0,)), r"mass_prior must be two positive numbers, got \(1.0,\)"),
        (NGGP(sigma_prior=(1.0, 0.0)), "sigma_prior must be two positive numbers"),
        (NIG(True), 'mass must be a positive number, or "learn"; got True'),
    ],
)
def test_bad_parameters_are_refused(prior, message):
    with pytest.raises(ValueError, match=message):
        prior.bind()


def test_priors_can_be_cloned_and_copied():
    prior = NGGP(sigma=0.25, mass_prior=(2.0, 3.0))
    assert clone(prior).get_params() == prior.get_params()
    assert repr(clone(NIG(2.0))) == "NIG(mass=2.0)"
    assert prior.bind().fresh().parameters == prior.bind().parameters
