"""Interrupted samplers resume from checkpoints, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import Checkpoint
from sklearn_subanneal.tempering import (
    GaussianMean,
    GuidedHamiltonianMonteCarlo,
    MetropolisHastings,
    ParallelTempering,
    TemperedTransitions,
    tempered_chain,
)

MODEL = GaussianMean(np.random.default_rng(0).normal(1.0, 1.0, (40, 2)), covariance=np.eye(2))
SAMPLERS = {
    "subsets": ParallelTempering(n_warmup=20),
    "powers": ParallelTempering(False, inverse_temperatures=[1.0, 0.5, 0.0], n_warmup=20),
    "one level": ParallelTempering(inverse_temperatures=[1.0], inner=MetropolisHastings(), n_warmup=20),
    "guided": ParallelTempering(inner=GuidedHamiltonianMonteCarlo(), n_warmup=40),
    "transitions": TemperedTransitions(n_warmup=20),
}


class Killed(BaseException):
    """What a sampler can do as little against as against SIGKILL."""


def sampled(sampler, checkpoint=None, model=MODEL, **params):
    few = {"n_draws": 12, "n_chains": 2, "random_state": 0}
    return sampler.sample(model, **few | params, checkpoint=checkpoint)


def assert_same(one, two):
    for name in vars(two):
        if name != "seconds":
            np.testing.assert_equal(getattr(one, name), getattr(two, name))


def interrupt(monkeypatch, folder, sampler, n_iterations, **params):
    right, made = type(sampler)._iterate, []

    def killed_iteration(self, replicas, number):
        made.append(number)
        if len(made) > n_iterations:
            raise Killed
        right(self, replicas, number)

    with monkeypatch.context() as patched:
        patched.setattr(type(sampler), "_iterate", killed_iteration)
        with pytest.raises(Killed):
            sampled(sampler, Checkpoint(folder, 0.0), **params)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_interrupted_again_and_again(sampler, tmp_path, monkeypatch):
    whole = sampled(sampler)
    for n_iterations in (3, 11, 4):
        interrupt(monkeypatch, tmp_path, sampler, n_iterations)
    assert len(list(tmp_path.iterdir())) == 2
    warm_ups = []
    monkeypatch.setattr(tempered_chain.TemperedChain, "_warm_up", lambda *arguments: warm_ups.append(arguments))
    assert_same(sampled(sampler, Checkpoint(tmp_path), n_jobs=2), whole)
    # Complete, it is loaded.
    assert_same(sampled(sampler, Checkpoint(tmp_path)), whole)
    assert not warm_ups


def test_more_draws_go_on_from_fewer(tmp_path):
    sampler = ParallelTempering(n_warmup=20)
    sampled(sampler, Checkpoint(tmp_path))
    assert_same(sampled(sampler, Checkpoint(tmp_path), n_draws=20), sampled(sampler, n_draws=20))
    with pytest.raises(ValueError, match="n_draws=12 must be at least the 20 draws in the folder"):
        sampled(sampler, Checkpoint(tmp_path))


OTHERS = {
    "sampler": ({"sampler": TemperedTransitions(n_warmup=20)}, "estimator, .*"),
    "inner": ({"sampler": ParallelTempering(n_warmup=20, inner=MetropolisHastings())}, "inner"),
    "n_warmup": ({"sampler": ParallelTempering(n_warmup=21)}, "n_warmup"),
    "model": ({"model": GaussianMean(np.zeros((40, 2)), covariance=np.eye(2))}, "model"),
    "random_state": ({"random_state": 1}, "random_state"),
    "n_chains": ({"n_chains": 3}, "n_chains"),
}


@pytest.mark.parametrize(("changed", "name"), OTHERS.values(), ids=OTHERS)
def test_other_chains_are_refused(changed, name, tmp_path):
    sampler = ParallelTempering(n_warmup=20)
    sampled(sampler, Checkpoint(tmp_path))
    with pytest.raises(ValueError, match=rf"another fit, which differs in {name}\."):
        sampled(**{"sampler": sampler, "checkpoint": Checkpoint(tmp_path)} | changed)


def test_what_is_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint must be a Checkpoint or None, got .*write Checkpoint\(folder\)"):
        sampled(ParallelTempering(), str(tmp_path))


def test_models_that_cannot_be_told_from_others(tmp_path):
    class Local(GaussianMean):
        """A class that does not pickle."""

    model = Local(np.zeros((40, 2)), covariance=np.eye(2))
    with pytest.raises(ValueError, match=r"a model and an inner kernel that can be pickled.*at the top of a module"):
        sampled(ParallelTempering(), Checkpoint(tmp_path), model)
