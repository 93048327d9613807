"""Callbacks of TemperedGaussianProcessRegressor: one record a draw, chains that are saved and go on, interruptions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.callback import ProgressBar
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from support.regression_tables import table

from sklearn_subanneal import Checkpoint, TemperedGaussianProcessRegressor, TraceMonitor

X, Y = table(20)
SHORT = {"n_chains": 2, "n_draws": 6, "n_warmup": 30, "n_jobs": 1, "random_state": 0}


class Killed(BaseException):
    """Ends a fit as a signal would."""


class Killer:
    """A callback that raises an error after some draws."""

    def __init__(self, n_draws, error=Killed):
        self.left, self.error = n_draws, error

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "sweep":
            self.left -= 1
            if not self.left:
                raise self.error

    def teardown(self, estimator, context):
        pass


def regressor(**parameters):
    return TemperedGaussianProcessRegressor(**SHORT | parameters)


def assert_same_fit(one, other):
    for name, value in vars(one.result_).items():
        if name != "seconds":
            np.testing.assert_array_equal(value, getattr(other.result_, name), err_msg=name)
    for name in ("chain", "sweep", "log_joint"):
        np.testing.assert_array_equal(one.trace_[name], other.trace_[name])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.log_marginal_likelihood_value_ == other.log_marginal_likelihood_value_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_trace_has_one_record_a_draw(n_jobs):
    monitor = TraceMonitor()
    model = regressor(n_jobs=n_jobs).set_callbacks(monitor).fit(X, Y)
    logs = monitor.get_logs()
    assert len(logs) == 2 * 6
    np.testing.assert_array_equal(logs["chain"], np.repeat([0, 1], 6))
    np.testing.assert_array_equal(logs["sweep"], np.tile(np.arange(6), 2))
    np.testing.assert_array_equal(logs["log_joint"], model.result_.log_density.ravel())
    np.testing.assert_array_equal(logs["log_joint"], model.trace_["log_joint"])
    assert (np.diff(logs["seconds"].reshape(2, 6)) > 0.0).all()


def test_callbacks_change_nothing():
    assert_same_fit(regressor().set_callbacks(TraceMonitor()).fit(X, Y), regressor().fit(X, Y))


def test_held_out_scores_are_those_of_the_draw():
    monitor = TraceMonitor(X_held_out=X[:8], y_held_out=Y[:8])
    model = regressor(n_chains=1, n_draws=1).set_callbacks(monitor).fit(X, Y)
    assert monitor.get_logs()["held_out_score"].tolist() == [model.score(X[:8], Y[:8])]


def test_a_callback_stops_chains():
    monitor = TraceMonitor(patience=1, tol=1e9)
    model = regressor().set_callbacks(monitor).fit(X, Y)
    assert model.result_.draws.shape[1] == 2


def test_progress_is_shown(capfd):
    pytest.importorskip("rich")
    regressor().set_callbacks(ProgressBar()).fit(X, Y)
    assert re.search("TemperedGaussianProcessRegressor", capfd.readouterr().out)


CASES = [
    {},
    {"inner": "guided-hmc", "n_warmup": 100},
    {"sampler": "spt", "inner": "mh"},
    pytest.param({"sampler": "stt", "inner": "hmc"}, marks=pytest.mark.slow),
    pytest.param({"sampler": "pt", "inner": "guided-hmc", "n_warmup": 250}, marks=pytest.mark.slow),
    {"sampler": "tt", "inner": "mh"},
    {"kernel": ConstantKernel(1.0) * RBF([1.0, 1.0])},
]


@pytest.mark.parametrize("parameters", CASES, ids=str)
def test_a_fit_that_was_killed_goes_on_to_the_same_bits(parameters, tmp_path):
    whole = regressor(**parameters).fit(X, Y)
    # In the second chain, when the first is complete.
    for n_draws in (3, 5):
        model = regressor(**parameters).set_callbacks(Checkpoint(tmp_path, seconds=0.0), Killer(n_draws))
        with pytest.raises(Killed):
            model.fit(X, Y)
        assert not hasattr(model, "result_")
    monitor = TraceMonitor()
    resumed = regressor(**parameters).set_callbacks(Checkpoint(tmp_path, seconds=0.0), monitor).fit(X, Y)
    assert_same_fit(resumed, whole)
    # Draws that were on disk are not made again.
    assert len(monitor.get_logs()) == 12 - 3 - 5
    complete = regressor(**parameters).set_callbacks(Checkpoint(tmp_path)).fit(X, Y)
    assert_same_fit(complete, whole)


def test_more_draws_go_on_from_a_checkpoint(tmp_path):
    regressor().set_callbacks(Checkpoint(tmp_path)).fit(X, Y)
    longer = regressor(n_draws=9).set_callbacks(Checkpoint(tmp_path)).fit(X, Y)
    assert_same_fit(longer, regressor(n_draws=9).fit(X, Y))


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"inner": "mh"}, "inner"),
        ({"kernel": RBF(1.0)}, "kernel"),
        ({"random_state": 1}, "random_state"),
        ({"n_warmup": None, "n_draws": 8}, "n_warmup"),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(parameters, name, tmp_path):
    regressor().set_callbacks(Checkpoint(tmp_path)).fit(X, Y)
    with pytest.raises(ValueError, match=f"differs in {name}"):
        regressor(**parameters).set_callbacks(Checkpoint(tmp_path)).fit(X, Y)
    with pytest.raises(ValueError, match="differs in X"):
        regressor().set_callbacks(Checkpoint(tmp_path)).fit(X, Y + 1e-9)
    with pytest.raises(ValueError, match="n_draws=3 must be at least the 6"):
        regressor(n_draws=3).set_callbacks(Checkpoint(tmp_path)).fit(X, Y)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_fit_raises_and_leaves_the_estimator_as_it_was(error):
    model = regressor().fit(X, Y)
    before, predictions = dict(vars(model)), model.predict(X)
    model.set_callbacks(Killer(4, error)).set_params(random_state=5)
    with pytest.raises(error):
        model.fit(X[:10], Y[:10])
    assert all(vars(model)[name] is value for name, value in before.items() if name != "random_state")
    np.testing.assert_array_equal(model.predict(X), predictions)
    fresh = regressor().set_callbacks(Killer(4, error))
    with pytest.raises(error):
        fresh.fit(X, Y)
    assert not hasattr(fresh, "result_") and not hasattr(fresh, "n_features_in_")
