"""Chains are reproducible, go on where they ended, and keep to the time."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from support.clocks import tick_at_each_look
from support.tables import NAN, blobs, with_gaps
from support.tiers import quick_only

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import StratifiedSubsampling, clock
from sklearn_subanneal.mixtures.mixture_chain import MixtureSpec
from sklearn_subanneal.partitions import PitmanYor

# --- Reproducibility and continued chains ---------------------------------------------------------------------------


def fitted_state(model, X):
    fields = [name for name in model.trace_.dtype.names if name != "seconds"]
    columns = model.hyperparameters_["columns"].values()
    return [
        model.posterior_labels_,
        model.log_joint_,
        model.labels_,
        model.score_samples(X),
        model.impute(X),
        *(model.trace_[name] for name in fields),
        *(values for column in columns for values in column.values()),
    ]


def assert_same(one, two):
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def discrete(X):
    return np.where(np.isnan(X), NAN, np.floor(np.abs(X)) % 4)


KINDS = {
    "diag": ({}, with_gaps(blobs(60, 3))),
    "full": ({"covariance_type": "full"}, with_gaps(blobs(60, 3))),
    "categorical": ({"feature_types": ["categorical"] * 3}, discrete(with_gaps(blobs(60, 3)))),
    "cyclic": (
        {"feature_types": ["cyclic"] * 3, "feature_params": {"cyclic": {"period": 24.0}}},
        with_gaps(blobs(60, 3)),
    ),
    "count": ({"feature_types": ["count"] * 3}, discrete(with_gaps(blobs(60, 3)))),
    "fixed": ({"learn_hyperparameters": False, "partition": PitmanYor(60.0)}, with_gaps(blobs(60, 3))),
    "mixed": (
        {"feature_types": ["real", "count", "real"], "covariance_type": "full"},
        np.column_stack([blobs(60, 1), discrete(with_gaps(blobs(60, 1))), with_gaps(blobs(60, 1, seed=4))]),
    ),
}


@pytest.mark.parametrize(
    "subsampling", quick_only(["cyclic", "random", StratifiedSubsampling(column=0, n_bins=3)], "random")
)
@pytest.mark.parametrize("kind", quick_only(KINDS, "diag", "full", "fixed", "mixed"))
def test_continued_chains_are_the_chains(kind, subsampling):
    params, X = KINDS[kind]
    model = SubsampleAnnealedDPMM(subsampling=subsampling, n_chains=2, n_draws=20, random_state=7, **params)
    parts = clone(model).set_params(n_draws=10, warm_start=True).fit(X)
    first = parts.posterior_labels_
    parts.set_params(n_draws=20).fit(X)
    np.testing.assert_array_equal(parts.posterior_labels_[:, :10], first)
    assert_same(fitted_state(parts, X), fitted_state(model.fit(X), X))


def test_chains_continue_with_another_rhythm():
    X = blobs(40)
    model = SubsampleAnnealedDPMM(n_chains=2, n_draws=2, thin=1, warm_start=True, random_state=0).fit(X)
    before = model.posterior_labels_
    model.set_params(n_draws=4, thin=5, n_jobs=2).fit(X)
    assert model.posterior_labels_.shape == (2, 4, 40)
    np.testing.assert_array_equal(model.posterior_labels_[:, :2], before)
    one = SubsampleAnnealedDPMM(n_chains=2, n_draws=12, thin=1, random_state=0).fit(X)
    np.testing.assert_array_equal(model.log_joint_[:, 2:], one.log_joint_[:, [6, 11]])
    # Without warm_start a fit starts anew.
    model.set_params(warm_start=False, n_draws=2, thin=1).fit(X)
    np.testing.assert_array_equal(model.posterior_labels_, before)


@pytest.mark.parametrize("kind", quick_only(KINDS, "full", "mixed"))
def test_jobs_do_not_matter(kind):
    params, X = KINDS[kind]
    model = SubsampleAnnealedDPMM(n_chains=3, n_draws=4, random_state=3, **params)
    assert_same(fitted_state(clone(model).fit(X), X), fitted_state(model.set_params(n_jobs=2).fit(X), X))


def test_random_states():
    X = blobs(40, gap=2.0)
    short = {"n_chains": 2, "n_draws": 2}
    states = (0, 0, np.random.RandomState(0), 1, None, None)
    fits = [SubsampleAnnealedDPMM(random_state=state, **short).fit(X) for state in states]
    np.testing.assert_array_equal(fits[0].log_joint_, fits[1].log_joint_)
    np.testing.assert_array_equal(fits[0].log_joint_, fits[2].log_joint_)
    assert len({fit.log_joint_[0, 0] for fit in fits}) == 4
    assert fits[0].log_joint_[0, 0] != fits[0].log_joint_[1, 0]
    more = SubsampleAnnealedDPMM(random_state=0, n_chains=3, n_draws=2).fit(X)
    np.testing.assert_array_equal(more.log_joint_[:2], fits[0].log_joint_)
    assert not np.array_equal(fits[0].sample(5, random_state=0), fits[0].sample(5, random_state=1))
    assert fits[0].sample().shape == (1, 2)


def test_a_second_fit_forgets_the_first():
    X = blobs(40)
    model = SubsampleAnnealedDPMM(n_chains=2, n_draws=2, random_state=0).fit(blobs(33, 5))
    model.fit(X)
    assert_same(fitted_state(model, X), fitted_state(clone(model).fit(X), X))
    assert model.n_features_in_ == 2


# --- Time -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["anneal", "accelerating", "sequential", "prior", "energy"])
def test_a_time_limit_shorter_than_one_pass(schedule):
    X = with_gaps(blobs(2000, 4))
    model = SubsampleAnnealedDPMM(schedule=schedule, time_limit=1e-6, n_chains=2, random_state=0).fit(X)
    assert model.posterior_labels_.shape == (2, 1, 2000)
    assert model.posterior_labels_.min() == 0
    for chain in range(2):
        assert model.trace_["n_assigned"][model.trace_["chain"] == chain][-1] == 2000
    assert np.isfinite(model.score(X))
    assert np.isfinite(model.impute(X)).all()


@pytest.mark.parametrize("schedule", ["anneal", "prior"])
def test_a_time_limit_ends_the_chains(schedule, monkeypatch):
    tick_at_each_look(monkeypatch, 2e-3)
    X = blobs(100, 4)
    model = SubsampleAnnealedDPMM(schedule=schedule, time_limit=0.4, n_chains=1, n_draws=10**6, random_state=0).fit(X)
    seconds, annealing = model.trace_["seconds"], model.trace_["progress"] < 1
    # Over with the first sweep that ends after the limit; four fifths of it are for the schedule.
    assert seconds[-2] < 0.4 <= seconds[-1]
    assert seconds[annealing].max() == pytest.approx(0.32, abs=0.02)
    assert model.posterior_labels_.shape[1] > 1
    # Draws that are enough end a chain before its time.
    assert model.set_params(n_draws=3).fit(X).posterior_labels_.shape[1] == 3


def test_the_time_to_build_a_chain_counts(monkeypatch):
    now, right = [0.0], MixtureSpec.build

    def slow_build(self, order, window):
        now[0] += 0.3
        return right(self, order, window)

    def tick():
        now[0] += 1e-3
        return now[0]

    monkeypatch.setattr(clock, "now", tick)
    monkeypatch.setattr(MixtureSpec, "build", slow_build)
    X = blobs(100, 4)
    model = SubsampleAnnealedDPMM(time_limit=0.4, n_chains=1, n_draws=10**6, random_state=0).fit(X)
    seconds = model.trace_["seconds"]
    assert 0.3 < seconds[0] < 0.31 and seconds[-2] < 0.4 <= seconds[-1]
    # The schedule is over before it has begun, and there are draws all the same.
    assert model.posterior_labels_.shape[1] > 1


def test_chains_continue_after_a_time_limit():
    X = blobs(300)
    model = SubsampleAnnealedDPMM(time_limit=1e-6, n_chains=2, n_draws=5, warm_start=True, random_state=0).fit(X)
    first = model.posterior_labels_
    model.set_params(time_limit=None).fit(X)
    assert model.posterior_labels_.shape == (2, 5, 300)
    np.testing.assert_array_equal(model.posterior_labels_[:, :1], first)
    assert (np.diff(model.trace_["seconds"][model.trace_["chain"] == 0]) >= 0).all()
