"""Normalized generalized gamma processes at the ends of the range of their parameters, and the refusal of others."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles.enumeration import log_eppf as log_eppf_pitman_yor
from scipy import stats
from scipy.special import gammaln

from sklearn_subanneal.partitions import NGGP, NIG
from sklearn_subanneal.partitions._nggp import NGGPPrior

SIZES = [[1], [2], [1, 1], [5], [3, 1, 1], [40, 1, 1, 9], [100_000, 300, 1]]
sizes_cases = pytest.mark.parametrize("sizes", SIZES, ids=str)


def sizes_of(sizes):
    return np.array(sizes, np.int32)


def of_huge_mass(sizes, mass, sigma):
    """u is small: the integral over u is that of u^(n - 1) exp(-mass sigma u)."""
    sizes = np.asarray(sizes)
    within = (gammaln(sizes - sigma) - gammaln(1.0 - sigma)).sum()
    return float(within + (len(sizes) - sizes.sum()) * np.log(mass * sigma))


def of_tiny_mass(sizes, sigma):
    """A normalized stable process, which is a Pitman-Yor process of concentration 0."""
    sizes = np.asarray(sizes)
    within = (gammaln(sizes - sigma) - gammaln(1.0 - sigma)).sum()
    return float((len(sizes) - 1) * np.log(sigma) + gammaln(len(sizes)) - gammaln(sizes.sum()) + within)


@sizes_cases
@pytest.mark.parametrize("mass", [1e16, 1e20, 1e30, 1e65, 1e100])
@pytest.mark.parametrize("sigma", [0.01, 0.5, 0.99])
def test_probabilities_of_a_huge_mass(mass, sigma, sizes):
    exact = of_huge_mass(sizes, mass, sigma)
    assert_allclose(NGGPPrior(mass, sigma).log_eppf(sizes_of(sizes)), exact, rtol=1e-9, atol=1e-4)


@sizes_cases
@pytest.mark.parametrize("mass", [1e-30, 1e-65, 1e-100])
@pytest.mark.parametrize("sigma", [0.1, 0.5, 0.99])
def test_probabilities_of_a_tiny_mass(mass, sigma, sizes):
    # The difference is of the order of mass^(1 / sigma), and of the mass.
    exact = of_tiny_mass(sizes, sigma)
    assert_allclose(NGGPPrior(mass, sigma).log_eppf(sizes_of(sizes)), exact, rtol=1e-9, atol=2e-7)


@sizes_cases
@pytest.mark.parametrize("sigma", [1e-12, 1e-20, 1e-30, 1e-100])
def test_probabilities_of_a_tiny_sigma(sigma, sizes):
    # With mass sigma fixed it is a Dirichlet process. With a mass of 1 all rows are in one cluster.
    dirichlet = float(log_eppf_pitman_yor(sizes, 1.7))
    if 1.7 / sigma <= 1e100:
        assert_allclose(NGGPPrior(1.7 / sigma, sigma).log_eppf(sizes_of(sizes)), dirichlet, atol=1e-6)
    if len(sizes) == 1:
        assert_allclose(NGGPPrior(1.0, sigma).log_eppf(sizes_of(sizes)), 0.0, atol=1e-9)


@pytest.mark.parametrize("mass", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("sigma", [1e-14, 1e-16, 1e-18, 1e-30, 1e-100])
def test_small_clusters_with_a_tiny_sigma(mass, sigma):
    """The density of u has its top near 1 / sigma, and begins at 1: further clusters are rare like sigma."""
    prior, wider = NGGPPrior(mass, sigma), NGGPPrior(mass, 1e-12)
    for sizes in ([2], [3], [2, 1], [1, 1, 1], [5, 3, 1]):
        scaled = wider.log_eppf(sizes_of(sizes)) + (len(sizes) - 1) * np.log(sigma / 1e-12)
        assert_allclose(prior.log_eppf(sizes_of(sizes)), scaled, rtol=1e-9, atol=1e-9)
    weights = [own.predictive_weights(sizes_of([2, 1])) for own in (prior, wider)]
    assert_allclose(weights[0][1] / sigma, weights[1][1] / 1e-12, rtol=1e-9)


@pytest.mark.parametrize("sigma", [1.0 - 1e-9, np.nextafter(1.0, 0.0)])
def test_probabilities_of_a_sigma_near_one(sigma):
    # All rows are singletons: to join one has probability (1 - sigma) E[u] / ..., of the order of 1 - sigma.
    for n in (1, 2, 10, 1000):
        assert_allclose(NGGPPrior(1.0, sigma).log_eppf(sizes_of([1] * n)), 0.0, atol=1e-5)
    same, different = (NGGPPrior(1.0, sigma).log_eppf(sizes_of(sizes)) for sizes in ([2], [1, 1]))
    assert_allclose(np.logaddexp(same, different), 0.0, atol=1e-9)
    assert np.log(1.0 - sigma) - 2.0 < same < np.log(1.0 - sigma) + 1.0


@pytest.mark.parametrize(("mass", "sigma"), [(1e30, 0.5), (1e100, 0.5), (1e20, 0.01), (1e16, 0.99)])
@pytest.mark.parametrize("sizes", [[1], [3, 1, 1]], ids=str)
def test_u_of_a_huge_mass_is_gamma_distributed(mass, sigma, sizes):
    prior, rng = NGGPPrior(mass, sigma), np.random.default_rng(0)
    draws = np.empty(1000)
    for t in range(len(draws)):
        prior.learn(sizes_of(sizes), rng)
        draws[t] = np.exp(prior.log_u + np.log(mass * sigma))
    assert stats.kstest(draws, stats.gamma(sum(sizes)).cdf).pvalue > 1e-3
    assert_allclose(prior.new_base, mass * sigma, rtol=1e-9)


@pytest.mark.parametrize("mass", [1e-30, 1e-100])
def test_u_of_a_tiny_mass(mass):
    # mass (1 + u)^sigma has a gamma distribution of as many degrees as there are clusters.
    prior, rng, sizes = NGGPPrior(mass, 0.5), np.random.default_rng(0), [3, 1, 1]
    draws = np.empty(1000)
    for t in range(len(draws)):
        prior.learn(sizes_of(sizes), rng)
        draws[t] = prior.new_base / 0.5
    assert stats.kstest(draws, stats.gamma(len(sizes)).cdf).pvalue > 1e-3


@pytest.mark.parametrize("mass", [1e-100, 1e-30, 1e30, 1e100])
@pytest.mark.parametrize("sigma", [1e-100, 1e-30, 1e-3, 0.999, 1.0 - 1e-9, np.nextafter(1.0, 0.0)])
def test_draws_at_the_ends_of_the_range_are_finite(mass, sigma):
    prior, rng = NGGPPrior(mass, sigma), np.random.default_rng(4)
    for sizes in ([1], [1] * 30, [10**6], [500, 400, *[1] * 100]):
        for _ in range(5):
            prior.learn(sizes_of(sizes), rng)
            assert np.isfinite([prior.log_u, prior.new_base, prior.log_eppf(sizes_of(sizes))]).all()
            assert prior.new_base > 0.0


@pytest.mark.parametrize("start", [1e-100, 1e100])
def test_a_learned_mass_stays_in_its_range_and_returns(start):
    # A gamma prior of shape 1/20 has a long left tail.
    prior, rng = NGGPPrior(start, 0.5, (0.05, 1.0), (0.5, 0.5)), np.random.default_rng(0)
    for _ in range(60):
        prior.learn(sizes_of([3, 1, 1]), rng)
        assert 1e-100 <= prior.mass <= 1e100
        assert 1e-100 <= prior.sigma < 1.0
    assert prior.mass < 100.0


@pytest.mark.parametrize("mass", [5e-324, 1e-300, 9e-101, 1.1e100, 1e300, 1.7e308])
@pytest.mark.parametrize("kind", [NGGP, NIG])
def test_a_mass_out_of_range_is_refused(kind, mass):
    with pytest.raises(ValueError) as refusal:
        kind(mass).bind()
    assert str(refusal.value) == f'mass must be a number from 1e-100 to 1e+100, or "learn"; got {mass!r}'


@pytest.mark.parametrize("sigma", [5e-324, 9e-101])
def test_a_sigma_out_of_range_is_refused(sigma):
    with pytest.raises(ValueError) as refusal:
        NGGP(sigma=sigma).bind()
    assert str(refusal.value) == f'sigma must be a number from 1e-100 to below 1, or "learn"; got {sigma!r}'


@pytest.mark.parametrize(
    ("prior", "name"),
    [
        (NGGP(mass_prior=(1e-3, 1.0)), "mass_prior"),
        (NGGP(mass_prior=(1.0, 1e200)), "mass_prior"),
        (NIG(mass_prior=(1.0, 1e-200)), "mass_prior"),
        (NGGP(sigma_prior=(1e-4, 1.0)), "sigma_prior"),
        (NGGP(sigma_prior=(1.0, 1e-4)), "sigma_prior"),
    ],
)
def test_a_hyperprior_that_lies_out_of_range_is_refused(prior, name):
    with pytest.raises(ValueError, match=f"{name}=.* has more than half of its probability outside of"):
        prior.bind()


CHAINS = """
import numpy as np
from sklearn_subanneal import TreeGuidedNRMM
from sklearn_subanneal.mixtures import Gibbs, Slice
from sklearn_subanneal.partitions import NIG
X = np.random.default_rng(0).normal(size=(5, 3))
for mass in (1e-100, 1e-30, 1e30, 1e100):
    for move in (Gibbs(), Slice(max_atoms=1000)):
        model = TreeGuidedNRMM(partition=NIG(mass), moves=[move], n_chains=1, n_draws=5, random_state=0).fit(X)
        # Of the draws: in the estimate, a row may be more probable in the cluster of another one.
        n_clusters = [len(np.unique(labels)) for labels in model.posterior_labels_[0]]
        print(mass, min(n_clusters), np.isfinite(model.log_joint_).all())
"""


def test_chains_of_a_huge_or_tiny_mass_return():
    # In a process of its own: a loop without end in a kernel can't be interrupted.
    try:
        done = subprocess.run([sys.executable, "-c", CHAINS], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.fail("the chain of a huge mass does not return")
    assert done.returncode == 0, done.stderr
    found = [line.split() for line in done.stdout.splitlines()]
    assert [float(mass) for mass, _, _ in found] == np.repeat([1e-100, 1e-30, 1e30, 1e100], 2).tolist()
    assert all(finite == "True" for _, _, finite in found)
    # Rows of a huge mass are singletons. Slice sampling leaves atoms out: it is not exact.
    assert [n for _, n, _ in found[4::2]] == ["5", "5"]
