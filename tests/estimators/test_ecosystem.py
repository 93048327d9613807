"""The estimator among its neighbours: searches, pipelines, pickles, clusters of machines, callbacks, ArviZ, plots."""

from __future__ import annotations

import pickle
import re

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_subanneal import SubsampleAnnealedDPMM, TraceMonitor
from sklearn_subanneal.annealing import (
    Accelerating,
    EnergyAnneal,
    RandomSubsampling,
    SequentialGibbs,
    StratifiedSubsampling,
    SubsampleAnneal,
)
from sklearn_subanneal.diagnostics import summary
from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.posterior import to_arviz

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3)) + 8 * (np.arange(90) % 3)[:, None]
X[RNG.random(X.shape) < 0.05] = np.nan
NEW = RNG.normal(size=(20, 3)) + 8 * (np.arange(20) % 3)[:, None]


def short(**params):
    return SubsampleAnnealedDPMM(**{"n_chains": 2, "n_draws": 3, "max_sweeps": 5, "random_state": 0} | params)


def assert_same(one, two, new=NEW):
    np.testing.assert_array_equal(one.posterior_labels_, two.posterior_labels_)
    np.testing.assert_array_equal(one.log_joint_, two.log_joint_)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.score_samples(new), two.score_samples(new))
    np.testing.assert_array_equal(one.predict_proba(new), two.predict_proba(new))
    np.testing.assert_array_equal(one.sample(7, random_state=3), two.sample(7, random_state=3))


# --- scikit-learn ---------------------------------------------------------------------------------------------------


def test_grid_search_over_schedules():
    grid = {"schedule": [SubsampleAnneal(passes=3), Accelerating(n_small=20), SequentialGibbs(2), "energy"]}
    search = GridSearchCV(short(), grid, cv=2).fit(X)
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_estimator_.posterior_labels_.shape == (2, 3, 90)
    assert search.score(NEW) == search.best_estimator_.score(NEW)
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.labels_)


def test_grid_search_within_parameter_objects():
    model = short(schedule=SubsampleAnneal(), subsampling=StratifiedSubsampling(column=0), partition=PitmanYor())
    grid = {
        "schedule__passes": [2, 30],
        "subsampling__balance": [0.5],
        "partition__discount": [0.0, 0.3],
    }
    search = GridSearchCV(model, grid, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.schedule.passes in (2, 30)
    assert len(set(search.cv_results_["mean_test_score"])) == 4
    # Searching leaves the objects of the user alone.
    assert (model.schedule.passes, model.subsampling.balance, model.partition.discount) == (20.0, 1.0, "learn")


def test_a_search_prefers_the_better_model():
    rng = np.random.default_rng(0)
    ellipses = rng.normal(size=(150, 2)) @ [[3.0, 2.9], [0.0, 0.3]] + 10 * (np.arange(150) % 2)[:, None] * [1, -1]
    search = GridSearchCV(short(), {"covariance_type": ["diag", "full"]}, cv=3).fit(ellipses)
    assert search.best_params_ == {"covariance_type": "full"}


def test_cross_validation():
    scores = cross_val_score(short(), X, cv=3)
    again = cross_val_score(short(n_jobs=2), X, cv=3)
    np.testing.assert_array_equal(scores, again)
    # Density in the units of the data: no worse than one broad normal, by far.
    assert scores.mean() > -3 * (0.5 * np.log(2 * np.pi * np.e) + np.log(np.nanstd(X)))


def test_pipelines():
    steps = make_pipeline(StandardScaler(), short())
    pipeline = steps.fit(X)
    model = pipeline[-1]
    scaled = pipeline[0].transform(NEW)
    np.testing.assert_array_equal(pipeline.predict(NEW), model.predict(scaled))
    np.testing.assert_array_equal(pipeline.score_samples(NEW), model.score_samples(scaled))
    np.testing.assert_array_equal(clone(steps).fit_predict(X), model.labels_)
    grid = {"model__schedule__passes": [2, 5], "reduce__n_components": [1, 2]}
    pipeline = Pipeline([("reduce", PCA()), ("model", short(schedule=SubsampleAnneal()))])
    search = GridSearchCV(pipeline, grid, cv=2).fit(np.nan_to_num(X))
    assert np.isfinite(search.best_score_)
    pandas = pytest.importorskip("pandas")
    pipeline = clone(steps).set_output(transform="pandas").fit(pandas.DataFrame(X, columns=["a", "b", "c"]))
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b", "c"]
    assert_same(clone(model).fit(pipeline[0].transform(X).to_numpy()), pipeline[-1])


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"schedule": Accelerating(n_small=20), "subsampling": RandomSubsampling(), "partition": CRP(2.0)},
        {"feature_params": {"real": {"mu": 1.0}}, "subsampling": StratifiedSubsampling(labels=np.arange(90) % 3)},
    ],
)
def test_clones(params):
    model = short(**params)
    model.fit(X)
    copy = clone(model)
    assert not hasattr(copy, "labels_")
    assert_same(copy.fit(X), model)
    for name in ("schedule", "subsampling", "partition"):
        value = getattr(model, name)
        assert isinstance(value, str | None) or getattr(copy, name) is not value


def test_reprs():
    assert repr(SubsampleAnnealedDPMM()) == "SubsampleAnnealedDPMM()"
    model = SubsampleAnnealedDPMM(partition=CRP(1.0), schedule=EnergyAnneal(5))
    assert repr(model) == "SubsampleAnnealedDPMM(partition=CRP(concentration=1.0),\n" + " " * 22 + (
        "schedule=EnergyAnneal(passes=5))"
    )
    assert "EnergyAnneal" in model._repr_html_()


# --- Saving ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"covariance_type": "full"}, {"feature_types": {0: "categorical"}}])
@pytest.mark.parametrize("way", ["pickle", pytest.param("joblib", marks=pytest.mark.slow)])
def test_saved_models_are_the_same(params, way, tmp_path):
    table = X if "feature_types" not in params else np.column_stack([np.arange(90) % 3, X[:, 1:]])
    model = short(warm_start=True, **params).fit(table)
    if way == "pickle":
        copy = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model.joblib")
        copy = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert_same(copy, model, table)
    # A saved chain goes on where it was.
    assert_same(copy.set_params(n_draws=5).fit(table), model.set_params(n_draws=5).fit(table), table)


def test_a_fitted_model_holds_no_second_copy_of_labels_nor_the_data():
    rows = np.random.default_rng(0).normal(size=(20_000, 8))
    model = short(partition=PitmanYor(1.0), n_draws=5, schedule="sequential", time_limit=1e-6).fit(rows)
    labels = model.posterior_labels_.nbytes
    own = model.probabilities_.nbytes
    assert len(pickle.dumps(model)) < 2 * labels + 12 * 20_000 * 2 + 400_000 + own


# --- Callbacks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("params", [{}, {"time_limit": 0.1}, {"warm_start": True}])
def test_progress_bars(n_jobs, params, capsys):
    pytest.importorskip("rich")
    model = short(n_jobs=n_jobs, **params).set_callbacks(ProgressBar()).fit(X)
    if params.get("warm_start"):
        model.set_params(n_draws=6).fit(X)
    if "time_limit" not in params:
        assert_same(model, short(n_draws=model.n_draws).fit(X))
    shown = capsys.readouterr().out
    for task in ("fit", "chain #0", "chain #1"):
        assert re.search(rf"SubsampleAnnealedDPMM - {task} .*100%", shown)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_monitor_sees_what_the_trace_keeps(n_jobs):
    monitor = TraceMonitor(X_held_out=NEW, every=2)
    # Rows enter one by one: of the first ones little is learned.
    model = short(n_jobs=n_jobs, schedule="anneal").set_callbacks(monitor).fit(X)
    logs = monitor.get_logs()
    for name in model.trace_.dtype.names:
        np.testing.assert_array_equal(logs[name], model.trace_[name])
    scored = np.isfinite(logs["held_out_score"])
    np.testing.assert_array_equal(scored, logs["sweep"] % 2 == 0)
    # After annealing the model knows the groups; with the first rows it does not.
    assert logs["held_out_score"][scored][-1] > logs["held_out_score"][scored][0] + 2
    # A monitor does not change the chains, and its last score is that of the last draw alone.
    assert_same(model, short(schedule="anneal").fit(X))
    model._draws = [[model._draws[-1][-1]]]
    last = logs[(logs["chain"] == 1) & scored][-1]
    if last["sweep"] == logs["sweep"].max():
        assert last["held_out_score"] == pytest.approx(model.score(NEW), rel=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_idle_chains_stop(n_jobs):
    monitor = TraceMonitor(patience=5, tol=1e9)
    model = short(n_jobs=n_jobs, n_draws=500).set_callbacks(monitor).fit(X)
    # The first sweep at full data improves on nothing; five more do not improve.
    n_draws = model.posterior_labels_.shape[1]
    assert n_draws <= 6
    assert model.log_joint_.shape == (2, n_draws)
    assert model.hyperparameters_["concentration"].shape == (2, n_draws)
    assert (model.trace_["n_assigned"][model.trace_["progress"] == 1] == 90).all()
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_chains_stop_by_held_out_rows():
    monitor = TraceMonitor(X_held_out=NEW, monitor="held_out_score", patience=3, tol=1e9)
    model = short(n_draws=500).set_callbacks(monitor).fit(X)
    assert model.posterior_labels_.shape[1] <= 4


class StopAtOnce:
    """Ask every task to stop."""

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        return True

    def teardown(self, estimator, context):
        pass


@pytest.mark.parametrize("schedule", ["anneal", "accelerating", "sequential", "prior", "energy"])
def test_a_chain_stopped_while_it_anneals_has_all_rows(schedule):
    model = short(schedule=schedule, n_draws=50, thin=1).set_callbacks(StopAtOnce()).fit(X)
    assert model.posterior_labels_.shape == (2, 1, 90)
    assert model.posterior_labels_.min() == 0
    assert (np.bincount(model.trace_["chain"]) <= 3).all()
    assert model.trace_["n_assigned"][-1] == 90


def test_callbacks_of_a_search():
    monitor = TraceMonitor()
    search = GridSearchCV(short().set_callbacks(monitor), {"schedule": ["anneal", "prior"]}, cv=2).fit(X)
    assert len(monitor.get_logs(select="all")) == 5
    assert len(monitor.get_logs()) == len(search.best_estimator_.trace_)


# --- Diagnostics and plots ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    return short(n_draws=20, covariance_type="full").fit(X)


def test_arviz(fitted):
    pytest.importorskip("arviz")
    posterior = to_arviz(fitted).posterior
    np.testing.assert_array_equal(posterior["log_joint"], fitted.log_joint_)
    np.testing.assert_array_equal(posterior["concentration"], fitted.hyperparameters_["concentration"])
    np.testing.assert_array_equal(posterior["n_clusters"], fitted.posterior_labels_.max(axis=2) + 1)
    assert posterior["gaussian.nu"].shape == (2, 20)


def test_summary(fitted):
    table = summary(fitted)
    text = str(table)
    for name in ("log_joint", "n_clusters", "concentration"):
        assert name in text


def test_displays(fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    from sklearn_subanneal.plotting import ClusterSizesDisplay, CoClusteringDisplay, TraceDisplay

    for display in (TraceDisplay, ClusterSizesDisplay, CoClusteringDisplay):
        assert display.from_estimator(fitted).ax_.figure is not None
    for field in ("n_clusters", "n_assigned", "concentration"):
        display = TraceDisplay.from_estimator(fitted, field)
        assert len(display.ax_.get_lines()) >= 2
    monitor = TraceMonitor()
    short().set_callbacks(monitor).fit(X)
    assert TraceDisplay.from_trace(monitor.get_logs(), "n_clusters").ax_ is not None
    plt.close("all")
