"""Callbacks on the classifier and the regressor hear of the chains within."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.model_selection import GridSearchCV

from sklearn_subanneal import CrossCat, CrossCatClassifier, CrossCatRegressor
from sklearn_subanneal.annealing import Checkpoint, SubsampleAnneal, TraceMonitor

INNER = CrossCat(schedule=SubsampleAnneal(passes=4), n_chains=2, n_draws=2, max_sweeps=5, random_state=0)
Z = np.arange(40) % 2
X = 6.0 * Z[:, None] + np.random.default_rng(0).normal(size=(40, 2))
ESTIMATORS = {"classifier": (CrossCatClassifier, np.array(["a", "b"])[Z]), "regressor": (CrossCatRegressor, 3.0 * Z)}
each_estimator = pytest.mark.parametrize(("estimator", "y"), ESTIMATORS.values(), ids=ESTIMATORS)


class Recorder:
    """A callback that keeps the calls of its hooks, and may end the fit at the first sweep."""

    def __init__(self, error=None):
        self.calls, self.error = [], error

    def setup(self, estimator, context):
        self.calls.append(("setup", type(estimator)))

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", type(estimator), context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.calls.append(("end", type(estimator), context.task_name))
        if self.error is not None and context.task_name == "sweep":
            raise self.error

    def teardown(self, estimator, context):
        self.calls.append(("teardown", type(estimator)))


@each_estimator
def test_the_trace_is_that_of_the_chains(estimator, y):
    monitor = TraceMonitor()
    model = estimator(INNER).set_callbacks(monitor).fit(X, y)
    logs = monitor.get_logs()
    for name in ("chain", "sweep", "log_joint", "n_views"):
        np.testing.assert_array_equal(logs[name], model.crosscat_.trace_[name])


@each_estimator
def test_callbacks_change_nothing(estimator, y):
    model = estimator(INNER).set_callbacks(TraceMonitor()).fit(X, y)
    np.testing.assert_array_equal(model.crosscat_.log_joint_, estimator(INNER).fit(X, y).crosscat_.log_joint_)


@each_estimator
def test_held_out_scores_are_those_of_the_estimator(estimator, y):
    """The score of the last sweep is that of the model of the last draw: here there is one chain with one draw."""
    monitor = TraceMonitor(X_held_out=X[:10], y_held_out=y[:10])
    model = estimator(clone(INNER).set_params(n_chains=1, n_draws=1))
    model.set_callbacks(monitor).fit(X, y)
    assert monitor.get_logs()["held_out_score"][-1] == model.score(X[:10], y[:10])


@each_estimator
def test_hooks_are_called_once_and_with_the_estimator(estimator, y):
    recorder = Recorder()
    estimator(INNER).set_callbacks(recorder).fit(X, y)
    names = [call[0] for call in recorder.calls]
    assert names[0] == "setup" and names[-1] == "teardown"
    assert names.count("setup") == names.count("teardown") == 1
    assert {call[1] for call in recorder.calls} == {estimator}
    assert [call[2] for call in recorder.calls if call[0] == "begin" and call[2] == "chain"] == ["chain"] * 2


@pytest.mark.parametrize("error", [ValueError("stop"), KeyboardInterrupt()])
def test_callbacks_are_torn_down_when_a_fit_fails(error):
    recorder, model = Recorder(error), CrossCatClassifier(INNER)
    with pytest.raises(type(error)):
        model.set_callbacks(recorder).fit(X, ESTIMATORS["classifier"][1])
    assert recorder.calls[-1] == ("teardown", CrossCatClassifier)
    assert sorted(vars(model)) == ["_skl_callbacks", "estimator", "random_state"]


def test_callbacks_of_the_inner_estimator_are_called_as_well():
    inner, outer = Recorder(), Recorder()
    CrossCatRegressor(clone(INNER).set_callbacks(inner)).set_callbacks(outer).fit(X, 3.0 * Z)
    assert {call[1] for call in inner.calls} == {CrossCat} and {call[1] for call in outer.calls} == {CrossCatRegressor}


@each_estimator
def test_checkpoints_are_taken_up(estimator, y, tmp_path):
    whole = estimator(INNER).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        estimator(INNER).set_callbacks(Checkpoint(tmp_path, 0.0), Recorder(KeyboardInterrupt())).fit(X, y)
    assert (tmp_path / "chain-0.checkpoint").exists()
    monitor = TraceMonitor()
    model = estimator(INNER).set_callbacks(Checkpoint(tmp_path, 0.0), monitor).fit(X, y)
    np.testing.assert_array_equal(model.crosscat_.log_joint_, whole.crosscat_.log_joint_)
    assert monitor.get_logs()["sweep"][0] == 1
    with pytest.raises(ValueError, match="another fit, which differs in X"):
        estimator(INNER).set_callbacks(Checkpoint(tmp_path)).fit(X + 1.0, y)


def test_progress_bars(capsys):
    pytest.importorskip("rich")
    CrossCatClassifier(INNER).set_callbacks(ProgressBar()).fit(X, ESTIMATORS["classifier"][1])
    shown = capsys.readouterr().out
    assert re.search(r"CrossCatClassifier - fit .*100%", shown)
    assert re.search(r"chain #1 .*100%", shown)


def test_searches_keep_the_records_of_their_fits_apart():
    monitor = TraceMonitor()
    model = CrossCatClassifier(INNER).set_callbacks(monitor)
    GridSearchCV(model, {"estimator__thin": [1, 2]}, cv=2).fit(X, ESTIMATORS["classifier"][1])
    assert len(monitor.get_logs("all")) == 5
