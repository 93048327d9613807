"""The parameter effort of estimators with chains: the work before the draws, and nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from support.clocks import tick_at_each_look
from support.tables import blobs

from sklearn_subanneal import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    SubsampleAnnealedDPMM,
    TreeGuidedNRMM,
)
from sklearn_subanneal.annealing import SequentialGibbs, SubsampleAnneal
from sklearn_subanneal.annealing.stretched import Stretched
from sklearn_subanneal.portable import load, save
from sklearn_subanneal.shards import ShardedTable

ESTIMATORS = [CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM]
X = blobs(60, 3)
SHORT = {"n_chains": 1, "n_draws": 2, "thin": 1, "random_state": 0}


@pytest.fixture
def every_chain_rises(monkeypatch):
    """Chains make as many sweeps between schedule and draws as they may."""
    monkeypatch.setattr("sklearn_subanneal.annealing.chain.may_rise", lambda trace, n_rows: True)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_without_effort_there_is_the_same_schedule(estimator):
    default, one = estimator(**SHORT).fit(X), estimator(effort=1, **SHORT).fit(X)
    assert not isinstance(default.schedule_, Stretched) and repr(one.schedule_) == repr(default.schedule_)
    np.testing.assert_array_equal(one.log_joint_, default.log_joint_)
    mine = SubsampleAnneal(passes=3)
    assert estimator(schedule=mine, effort=1.0, **SHORT).fit(X).schedule_ is mine


@pytest.mark.parametrize(("estimator", "most"), [(CrossCat, 30), (SubsampleAnnealedDPMM, 30), (TreeGuidedNRMM, 750)])
def test_sweeps_of_the_schedule_and_after_it(estimator, most, every_chain_rises):
    settings = SHORT | {"schedule": SequentialGibbs(passes=10)}
    alone = [estimator(max_sweeps=0, effort=effort, **settings).fit(X).n_sweeps_[0] for effort in (1, 3)]
    assert alone[1] - 2 == pytest.approx(3 * (alone[0] - 2), abs=3)
    both = estimator(effort=3, **settings).fit(X)
    assert both.n_sweeps_[0] == alone[1] + most
    # A limit that is given is that.
    assert estimator(max_sweeps=12, effort=3, **settings).fit(X).n_sweeps_[0] == alone[1] + 12
    assert repr(both.schedule_) == "Stretched(schedule=SequentialGibbs(passes=10), times=3)"


@pytest.mark.parametrize(
    ("n_rows", "effort", "most"),
    [(60, 1, 250), (60, 0.5, 125), (60, 1.26, 315), (3000, 1, 83), pytest.param(4500, 1, 60, marks=pytest.mark.slow)],
)
def test_default_sweeps_of_the_mixture(n_rows, effort, most, every_chain_rises):
    rows = blobs(n_rows, 3)
    n_sweeps = [
        SubsampleAnnealedDPMM(effort=effort, max_sweeps=limit, **SHORT).fit(rows).n_sweeps_[0] for limit in (0, None)
    ]
    assert n_sweeps[1] - n_sweeps[0] == most


SPACES = [
    (60, {}, 5),
    (60, {"effort": 3}, 5),
    (60, {"effort": 0.5}, 2),
    (60, {"effort": 0.1}, 1),
    (60, {"thin": 7}, 7),
    (60, {"thin": 7, "effort": 0.5}, 7),
    (2100, {}, 2),
    (2100, {"effort": 1.5}, 3),
    (5100, {}, 1),
]


@pytest.mark.parametrize(
    ("estimator", "n_rows", "given", "apart"),
    [
        # Of large tables, views alone are quick.
        pytest.param(estimator, *case, marks=() if case[0] == 60 or estimator is CrossCat else pytest.mark.slow)
        for estimator, case in itertools.product(ESTIMATORS, SPACES)
    ],
)
def test_sweeps_between_draws(estimator, n_rows, given, apart):
    settings = SHORT | {"thin": "auto", "schedule": SequentialGibbs(passes=1), "max_sweeps": 0} | given
    model = estimator(**settings).fit(blobs(n_rows, 3))
    more = estimator(**settings | {"n_draws": 4}).fit(blobs(n_rows, 3))
    assert more.n_sweeps_[0] - model.n_sweeps_[0] == 2 * apart
    # The draws are those of a chain that makes one after each sweep.
    every = estimator(**settings | {"n_draws": 4 * apart, "thin": 1}).fit(blobs(n_rows, 3))
    np.testing.assert_array_equal(more.log_joint_, every.log_joint_[:, apart - 1 :: apart])


@pytest.mark.parametrize("estimator", [SubsampleAnnealedDPMM, TreeGuidedNRMM])
def test_documents_take_long(estimator, every_chain_rises):
    """Their chains make no more sweeps than without these rules: 60, or as many as the schedule, and one a draw."""
    documents = np.random.default_rng(0).integers(0, 3, (40, 6))
    settings = SHORT | {"thin": "auto", "feature_types": "bag-of-words"}
    alone = estimator(max_sweeps=0, **settings).fit(documents)
    default = estimator(**settings).fit(documents)
    assert default.n_sweeps_[0] - alone.n_sweeps_[0] == (60 if estimator is SubsampleAnnealedDPMM else 20)
    assert estimator(max_sweeps=0, **settings | {"n_draws": 3}).fit(documents).n_sweeps_[0] == alone.n_sweeps_[0] + 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_with_a_time_limit_draws_are_one_sweep_apart(estimator, monkeypatch):
    tick_at_each_look(monkeypatch, 5e-3)
    settings = SHORT | {"thin": "auto", "schedule": SequentialGibbs(passes=1), "n_draws": 5, "time_limit": 5.0}
    model = estimator(**settings).fit(X)
    found = model.trace_["log_joint"][-5:]
    np.testing.assert_array_equal(model.log_joint_[0], found)


def test_chains_that_start_with_one_view_have_as_much_work():
    """Of four chains without joint reals the second has another schedule."""
    codes = pd.DataFrame(np.random.default_rng(0).choice(list("abc"), (80, 4)))
    n_sweeps = [
        CrossCat(feature_types=["categorical"] * 4, n_chains=2, n_draws=1, max_sweeps=0, effort=effort, random_state=0)
        .fit(codes)
        .n_sweeps_
        for effort in (1, 4)
    ]
    assert (n_sweeps[1] > 2.5 * n_sweeps[0]).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_time_limit_sets_the_work(estimator):
    model = estimator(effort=4, time_limit=0.02, **SHORT).fit(X)
    assert not isinstance(model.schedule_, Stretched)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("effort", [0, -1, float("nan"), "x", True, None, float("inf")])
def test_no_positive_number_is_refused(estimator, effort):
    with pytest.raises(ValueError, match=rf"'effort' parameter .* in the range \(0.0, .* Got {effort!r} instead"):
        estimator(effort=effort, **SHORT).fit(X)


def test_searches_and_copies():
    search = GridSearchCV(CrossCat(n_chains=1, n_draws=1, random_state=0), {"effort": [0.5, 2]}, cv=2).fit(X)
    assert search.best_params_["effort"] == search.best_estimator_.effort
    assert search.best_estimator_.schedule_.times == search.best_params_["effort"]
    model = clone(CrossCat(effort=0.25))
    assert model.get_params()["effort"] == 0.25 and "effort=0.25" in repr(model)


def test_files_hold_it(tmp_path):
    model = SubsampleAnnealedDPMM(effort=2.0, **SHORT).fit(X)
    save(model, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.effort == 2.0 and repr(again.schedule_) == repr(model.schedule_)


def test_chains_that_go_on_keep_their_draws():
    """Another effort is another schedule, which chains that have followed theirs no longer need."""
    model = SubsampleAnnealedDPMM(warm_start=True, **SHORT).fit(X)
    first = model.log_joint_
    model.set_params(effort=3.0, n_draws=4).fit(X)
    np.testing.assert_array_equal(model.log_joint_[:, :2], first)


def test_streams_that_start_with_the_prior_have_no_schedule():
    given = {"schedule": "sequential", "random_state": 0}
    one, more = (SubsampleAnnealedDPMM(effort=effort, **given).partial_fit(X) for effort in (1, 3))
    assert one.log_evidence_ == more.log_evidence_
    annealed = [SubsampleAnnealedDPMM(effort=effort, random_state=0).partial_fit(X) for effort in (1, 3)]
    assert annealed[1].schedule_.times == 3 and (annealed[1].n_sweeps_ > annealed[0].n_sweeps_).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_tables_in_shards(estimator, every_chain_rises):
    """The chains on the sample are stretched, and so is the limit of the sweeps over all rows, which is 100.

    That of the sample is 250 with trees; else that of the schedule, 2 or 9.
    """
    partition = {"partition": "dp"} if estimator is TreeGuidedNRMM else {}
    given = SHORT | partition | {"schedule": SequentialGibbs(passes=18)}
    rows, n_sweeps = ShardedTable(blobs(400, 3), n_start_rows=200), {}
    for effort, most in ((0.1, 10), (0.5, 50)):
        short, long = (estimator(effort=effort, max_sweeps=limit, **given).fit(rows) for limit in (0, None))
        n_sweeps[effort] = short.n_sweeps_[0] - 3
        of_sample = np.ceil((250 if estimator is TreeGuidedNRMM else 18) * effort)
        assert long.n_sweeps_[0] - short.n_sweeps_[0] == most + of_sample
    assert n_sweeps[0.5] == pytest.approx(5 * n_sweeps[0.1], abs=3)


def test_the_default_schedule_of_shards_is_stretched():
    rows = ShardedTable(blobs(400, 3), n_start_rows=200)
    model = SubsampleAnnealedDPMM(effort=0.5, **SHORT).fit(rows)
    assert repr(model.schedule_) == "Stretched(schedule=SubsampleAnneal(), times=0.5)"


def test_estimators_around_crosscat_pass_it_on():
    y = np.arange(60) % 2
    inner = CrossCat(effort=2, **SHORT)
    assert BayesianImputer(inner).fit(X).estimator_.schedule_.times == 2
    assert CrossCatDetector(inner).fit(X).crosscat_.schedule_.times == 2
    assert CrossCatClassifier(inner).fit(X, y).crosscat_.schedule_.times == 2
