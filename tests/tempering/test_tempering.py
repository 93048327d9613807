"""Tempered samplers against posteriors in closed form: draws, evidence, and the same bits for any number of jobs."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from support.clocks import tick_at_each_look
from support.tempered_means import INNER, ORACLES, SAMPLERS, moments, one_dimension, random_walk, sampled
from support.tiers import quick_only

from sklearn_subanneal.diagnostics import rank_normalized_rhat
from sklearn_subanneal.tempering import GaussianMean, LogDensityModel, ParallelTempering

QUICK = [*((name, "walk-0.25") for name in SAMPLERS), ("none", "hmc")]


@pytest.mark.parametrize(
    ("name", "inner"),
    [
        pytest.param(*case, marks=[] if case in QUICK else pytest.mark.slow)
        for case in itertools.product(SAMPLERS, INNER)
    ],
)
def test_one_dimension(name, inner):
    model = one_dimension()
    result = sampled(SAMPLERS[name](INNER[inner]()), model, 400)
    assert np.abs(moments(result, model)).max() < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.1, 0.25, 0.6, 1.5])
@pytest.mark.parametrize("name", SAMPLERS)
def test_one_dimension_at_length(name, step):
    model = one_dimension()
    assert np.abs(moments(sampled(SAMPLERS[name](random_walk(step)), model, 20_000), model)).max() < 4.0


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in ("none", "SPT") else pytest.mark.slow) for name in SAMPLERS],
)
def test_gaussian_mean(name):
    """Three parameters, with everything adapted."""
    oracle = json.loads(ORACLES.read_text())["mvn_mean"]
    model = GaussianMean(oracle["X"], oracle["Sigma"], oracle["sigma0_sq"])
    mean, covariance = model.posterior()
    np.testing.assert_allclose(mean, oracle["post_mean"])
    np.testing.assert_allclose(covariance, oracle["post_cov"], rtol=1e-10)
    zero = np.zeros(3)
    assert model.log_prior(zero) + model.log_likelihood(zero) == pytest.approx(oracle["logjoint_at_zero"])
    sampler = SAMPLERS[name](None)
    result = sampler.sample(model, n_draws=300, n_chains=4, random_state=0)
    assert np.abs(moments(result, model)).max() < 4.5
    assert rank_normalized_rhat(result.draws).max() < 1.05
    assert result.draws.shape == (4, 300, 3)


class Shifted(GaussianMean):
    """The same with other constants."""

    def log_prior(self, theta):
        return super().log_prior(theta) + 1e3

    def log_likelihood(self, theta, rows=None):
        return super().log_likelihood(theta, rows) - 1e4 * (rows is None)


@pytest.mark.parametrize("name", ["PT", "SPT", "TT", "STT"])
def test_constants_do_not_matter(name):
    model = one_dimension()
    shifted = Shifted(model.X, model.covariance, model.prior_variance)
    for one, other in [(model, shifted)]:
        draws = [sampled(SAMPLERS[name](random_walk(0.5)), each, 50).draws for each in (one, other)]
        np.testing.assert_allclose(draws[0], draws[1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("subsample", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_evidence(subsample):
    model = one_dimension()
    ladder = [1.0, 0.5, 0.25, 0.125, 0.0]
    sampler = ParallelTempering(subsample, refresh=False, inverse_temperatures=ladder, swaps="systematic")
    sampler.set_params(inner=random_walk(1.0))
    found = sampler.sample(model, 1000, n_chains=4, random_state=0).log_evidence
    x = model.X[:, 0]
    covariance = np.eye(len(x)) + 4.0
    exact = -0.5 * (x @ np.linalg.solve(covariance, x) + np.linalg.slogdet(2 * np.pi * covariance)[1])
    assert found == pytest.approx(exact, abs=0.15)
    assert np.isnan(ParallelTempering(inverse_temperatures=ladder).sample(model, 5, random_state=0).log_evidence)


@pytest.mark.parametrize("name", quick_only(["SPT", "PT", "STT"], "SPT"))
def test_same_draws_for_any_number_of_jobs(name):
    model = GaussianMean(np.random.default_rng(0).normal(size=(30, 2)), np.eye(2))
    draws = [
        SAMPLERS[name](None).sample(model, 20, n_chains=2, random_state=3, n_jobs=jobs).draws for jobs in (1, 2, 4)
    ]
    assert np.array_equal(draws[0], draws[1]) and np.array_equal(draws[0], draws[2])


@pytest.mark.parametrize("n", [1, 2])
def test_few_rows(n):
    model = GaussianMean(np.ones((n, 2)), np.eye(2))
    for name in SAMPLERS:
        sampler = SAMPLERS[name](None).set_params(inverse_temperatures=None)
        assert np.isfinite(sampler.sample(model, 10, n_chains=2, random_state=0).draws).all()


def test_time_limit_keeps_what_there_is(monkeypatch):
    tick_at_each_look(monkeypatch, 0.01)
    model = one_dimension()
    sampler = ParallelTempering(inverse_temperatures=[1.0], n_warmup=5)
    result = sampler.sample(model, 10**7, n_chains=2, random_state=0, time_limit=0.2, n_jobs=1)
    # Two looks for each draw, six draws after the warm-up; one of them to end.
    assert 4 <= result.draws.shape[1] <= 20
    assert (result.warmup_share == 1.0).all()


@pytest.mark.parametrize("ladder", [[1.0], [1.0, 0.5, 0.2]])
def test_time_limit_in_the_warm_up(monkeypatch, ladder):
    tick_at_each_look(monkeypatch, 0.01)
    model, sampler = one_dimension(), ParallelTempering(inverse_temperatures=ladder, n_warmup=200)
    with pytest.warns(ConvergenceWarning, match=r"ended the warm-up of 2 of 2 chains, after \d+% of it: draws"):
        result = sampler.sample(model, 10**7, n_chains=2, random_state=0, time_limit=1.0, n_jobs=1)
    # A look for each of the fifty iterations of half of the time, and two for each draw.
    assert ((0.15 < result.warmup_share) & (result.warmup_share < 0.35)).all()
    assert 15 <= result.draws.shape[1] <= 30
    with pytest.warns(ConvergenceWarning, match="after 0% of it"):
        result = sampler.sample(model, 5, n_chains=2, random_state=0, time_limit=1e-9)
    assert result.draws.shape == (2, 1, 1)
    assert np.isfinite(result.draws).all()


@pytest.mark.parametrize("n_draws", [1, 2, 3, 9])
def test_evidence_of_few_draws(n_draws):
    """Even and odd pairs have been offered swaps different numbers of times."""
    sampler = ParallelTempering(subsample=False, min_inverse_temperature=0.0, n_levels=4, n_warmup=20)
    result = sampler.sample(one_dimension(), n_draws, n_chains=2, random_state=0)
    assert result.draws.shape[1] == n_draws and np.isfinite(result.log_evidence) == (n_draws > 1)


class TwoModes(LogDensityModel):
    """Two narrow modes, which no chain without a ladder leaves."""

    n_parameters = n_observations = 1

    def log_prior(self, theta):
        return float(-0.5 * (np.abs(theta[0]) - 20.0) ** 2)

    def log_likelihood(self, theta, rows=None):
        return 0.0

    def sample_prior(self, rng):
        return rng.choice([-20.0, 20.0], size=1)


def test_chains_that_disagree_are_said():
    model = TwoModes()
    with pytest.warns(ConvergenceWarning, match=r"The chains disagree: R-hat is \d+\.\d\d for parameter 0"):
        ParallelTempering(inverse_temperatures=[1.0], n_warmup=50).sample(model, 50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        ParallelTempering(inverse_temperatures=[1.0]).sample(one_dimension(), 1000, random_state=0)


def test_to_arviz():
    pytest.importorskip("arviz")
    result = ParallelTempering(inverse_temperatures=[1.0]).sample(one_dimension(), 10, random_state=0)
    assert result.to_arviz().posterior["theta"].shape == (4, 10, 1)
    assert result.to_arviz(["mean"]).posterior["mean"].shape == (4, 10)
