"""Refreshed subsets, nested and independent, against an enumeration of all subsets: points of levels, and evidence."""

from __future__ import annotations

import functools
import itertools
from collections import Counter

import numpy as np
import pytest
from oracles.subset_levels import SubsetLevels
from scipy.special import logsumexp
from scipy.stats import chisquare
from support.tempered_means import LADDER, moments, one_dimension, random_walk, sampled

from sklearn_subanneal.diagnostics.convergence import effective_sample_size
from sklearn_subanneal.tempering import GaussianMean, ParallelTempering, TemperedTransitions
from sklearn_subanneal.tempering.evidence import log_ratio_of_constants
from sklearn_subanneal.tempering.subsets import Subsets

# Rows that are far apart: subsets of a size have very different evidences.
X = np.array([-1.0, 0.0, 0.5, 2.5, 3.0])
SIZES = (5, 3, 1, 0)
VARIANCE = 4.0
EVERY = frozenset(range(len(X)))


class Watched(ParallelTempering):
    """Keeps the points of all levels in all chains, and the stones of the last."""

    def _iterate(self, replicas, number):
        super()._iterate(replicas, number)
        self.seen = getattr(self, "seen", [])
        self.seen.append([point.theta[0] for point in replicas.points])
        self.stones = replicas.log_ratios


@functools.cache
def watched(subsets: str, n_draws: int, refresh: bool = True):
    sampler = Watched(
        subsets=subsets,
        refresh=refresh,
        inner=random_walk(1.5),
        inverse_temperatures=[size / len(X) for size in SIZES],
        swaps="systematic",
        n_warmup=0,
    )
    model = GaussianMean(X[:, None], [[1.0]], prior_variance=VARIANCE)
    return sampler, sampler.sample(model, n_draws, n_chains=4, random_state=0)


LENGTHS = [1500, pytest.param(8000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("n_draws", LENGTHS)
@pytest.mark.parametrize("subsets", ["nested", "independent"])
def test_points_of_all_levels(subsets, n_draws):
    """At the first the posterior; below a mean over subsets of a level, or over the subsets of all levels together."""
    sampler, _ = watched(subsets, n_draws)
    levels = SubsetLevels(X, VARIANCE, SIZES, subsets == "nested")
    for m, theta in enumerate(np.array(sampler.seen).reshape(4, n_draws, len(SIZES)).transpose(2, 0, 1)):
        mean, variance = levels.moments(m)
        z = ((theta - mean) / np.sqrt(variance))[..., None]
        of_mean = z.mean() * np.sqrt(effective_sample_size(z, "mean")[0])
        squares = z**2
        of_variance = (squares.mean() - 1.0) * np.sqrt(effective_sample_size(squares, "mean")[0]) / squares.std()
        assert max(abs(of_mean), abs(of_variance)) < 4.0, (m, of_mean, of_variance)


@pytest.mark.parametrize("kind", [pytest.param(ParallelTempering, marks=pytest.mark.slow), TemperedTransitions])
def test_draws_of_independent_subsets(kind):
    model = one_dimension()
    sampler = kind(subsets="independent", inner=random_walk(0.6), inverse_temperatures=LADDER)
    assert np.abs(moments(sampled(sampler, model, 1000), model)).max() < 4.0


def test_the_levels_of_both_kinds_differ():
    """So that the test above tells one from the other."""
    nested, independent = (SubsetLevels(X, VARIANCE, SIZES, is_nested) for is_nested in (True, False))
    assert nested.moments(0) == pytest.approx(independent.moments(0))
    assert abs(nested.moments(2)[0] - independent.moments(2)[0]) > 0.2


@pytest.mark.parametrize("n_draws", LENGTHS)
def test_evidence_of_independent_subsets(n_draws):
    _, result = watched("independent", n_draws)
    levels = SubsetLevels(X, VARIANCE, SIZES, False)
    exact = levels.log_evidence(EVERY)
    # The stones lead from mean to mean; the last mean is that of all rows.
    assert levels.log_averaged_evidence(0) == pytest.approx(exact)
    assert result.log_evidence_error < 0.09
    assert abs(result.log_evidence - exact) < 4.0 * result.log_evidence_error
    # Without the rows that both sides have in common they would lead elsewhere.
    assert abs(levels.pooled_stones()[2] - exact) > 0.25


def test_no_evidence_of_nested_subsets_that_are_refreshed():
    assert np.isnan(watched("nested", 20)[1].log_evidence)
    assert np.isfinite(watched("nested", 20, refresh=False)[1].log_evidence)
    assert np.isfinite(watched("independent", 20, refresh=False)[1].log_evidence)


def test_what_stones_of_nested_subsets_say():
    """A bound from above, one from below, and by the bridge neither the evidence."""
    levels = SubsetLevels(X, VARIANCE, SIZES, True)
    exact = levels.log_evidence(EVERY)
    lower, upper, bridge = levels.pooled_stones()
    assert lower > exact + 1.0 and upper < exact - 1.0 and bridge > exact + 0.3
    sampler, _ = watched("nested", 1500)
    pairs = [np.array(stones).T for stones in sampler.stones]
    found = sum(logsumexp(low) - np.log(len(low)) for low, _ in pairs)
    assert found == pytest.approx(lower, abs=0.35)
    assert sum(log_ratio_of_constants(*pair)[0] for pair in pairs) == pytest.approx(bridge, abs=0.15)


@pytest.mark.parametrize("kind", ["nested", "independent"])
def test_enlarged_subsets_are_as_probable_as_others(kind):
    """A random subset and random rows more are a random larger subset."""
    generator, counts = np.random.default_rng(0), Counter()
    for _ in range(2000):
        subsets = Subsets(5, 3, kind, generator)
        small = set(subsets.rows(2, 1))
        large = subsets.enlarged(2, 1, 3, generator)
        assert small < set(large) and len(set(large)) == 3
        counts[tuple(large)] += 1
    assert len(counts) == 10
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_independent_subsets_exchange_all_rows():
    """From a subset every other is reached, whatever the other levels have."""
    generator = np.random.default_rng(0)
    subsets, sizes, seen = Subsets(4, 3, "independent", generator), np.array([4, 2, 1]), set()
    other = subsets.rows(2, 1)
    for _ in range(200):
        subsets.put(1, subsets.exchanged(1, sizes, generator))
        seen.add(tuple(subsets.rows(1, 2)))
    assert seen == set(itertools.combinations(range(4), 2))
    assert np.array_equal(subsets.rows(2, 1), other)
