"""The cross-categorization among its neighbours: searches, pipelines, pickles, other processes, frames, callbacks."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.moves import VIEW_MOVES

from sklearn_subanneal import CrossCat, TraceMonitor
from sklearn_subanneal.annealing import (
    Accelerating,
    EnergyAnneal,
    RandomSubsampling,
    SequentialGibbs,
    StratifiedSubsampling,
    SubsampleAnneal,
)
from sklearn_subanneal.diagnostics import summary
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.posterior import to_arviz
from sklearn_subanneal.views import ColumnBlocks, ColumnGibbs, ColumnGroups, ColumnPacing

RNG = np.random.default_rng(0)
SHORT = SubsampleAnneal(passes=5)


def rows(n_rows):
    groups = np.column_stack([np.arange(n_rows) % 3, np.arange(n_rows) // 3 % 2])[:, [0, 1, 0, 1]]
    return RNG.normal(size=groups.shape) + 8 * groups


X, NEW = rows(72), rows(20)
X[RNG.random(X.shape) < 0.05] = np.nan
DISCRETE = np.floor(np.abs(X)) % 5


def short(**params):
    return CrossCat(**{"n_chains": 2, "n_draws": 2, "max_sweeps": 5, "schedule": SHORT, "random_state": 0} | params)


def assert_same(one, two, new=NEW):
    for name in ("posterior_column_labels_", "posterior_labels_", "log_joint_", "column_labels_", "view_labels_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.score_samples(new), two.score_samples(new))
    np.testing.assert_array_equal(one.predict_proba(new), two.predict_proba(new))
    np.testing.assert_array_equal(one.dependence_, two.dependence_)
    np.testing.assert_array_equal(one.sample(7, random_state=3), two.sample(7, random_state=3))


# --- scikit-learn ---------------------------------------------------------------------------------------------------


def test_grid_search_over_schedules_and_kernels():
    moves = [
        "default",
        VIEW_MOVES["block"],
        [Gibbs(), ColumnGroups(3)],
        [Gibbs(), ColumnGibbs("prior"), ColumnGibbs()],
        [Gibbs(), ColumnGroups(20), ColumnGibbs("prior")],
    ]
    grid = [{"schedule": [SHORT, Accelerating(passes=8, n_small=20), SequentialGibbs(2), "energy"]}, {"moves": moves}]
    search = GridSearchCV(short(n_chains=1), grid, cv=2).fit(X)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 9
    assert np.isfinite(scores).all()
    assert search.best_estimator_.posterior_column_labels_.shape == (1, 2, 4)
    assert search.score(NEW) == search.best_estimator_.score(NEW)
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.labels_)


def test_grid_search_within_parameter_objects():
    model = short(column_pacing=ColumnPacing(), subsampling=StratifiedSubsampling(column=0))
    grid = {"schedule__passes": [2, 8], "column_pacing__rest_above": [1, 2000]}
    search = GridSearchCV(model, grid | {"subsampling__balance": [0.5]}, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(set(search.cv_results_["mean_test_score"])) == 4
    # Searching leaves the objects of the user alone.
    assert (model.schedule.passes, model.column_pacing.rest_above, model.subsampling.balance) == (5, 2000, 1.0)


@pytest.mark.slow
def test_a_search_prefers_the_better_model():
    """Views that say nothing of one another are worth more than clusters of the whole row."""
    grid = {"column_partition": [CRP(1e-9), CRP(1.0)]}
    search = GridSearchCV(short(schedule="accelerating"), grid, cv=3).fit(X)
    assert search.best_params_["column_partition"].concentration == 1.0


def test_cross_validation():
    scores = cross_val_score(short(), X, cv=3)
    again = cross_val_score(short(n_jobs=2), X, cv=3)
    np.testing.assert_array_equal(scores, again)
    # Density in the units of the data: better than one broad normal, by far.
    assert scores.mean() > -4 * (0.5 * np.log(2 * np.pi * np.e) + np.log(np.nanstd(X, axis=0))).mean() + 2


def test_pipelines():
    steps = make_pipeline(StandardScaler(), short())
    pipeline = clone(steps).fit(X)
    model = pipeline[-1]
    scaled = pipeline[0].transform(NEW)
    np.testing.assert_array_equal(pipeline.predict(NEW), model.predict(scaled))
    np.testing.assert_array_equal(pipeline.score_samples(NEW), model.score_samples(scaled))
    np.testing.assert_array_equal(clone(steps).fit_predict(X), model.labels_)
    search = GridSearchCV(steps, {"crosscat__moves": ["default", VIEW_MOVES["group"]]}, cv=2).fit(X)
    assert np.isfinite(search.best_score_)
    pandas = pytest.importorskip("pandas")
    named = clone(steps).set_output(transform="pandas").fit(pandas.DataFrame(X, columns=list("abcd")))
    assert named[-1].feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {
            "schedule": Accelerating(passes=8, n_small=20),
            "subsampling": RandomSubsampling(),
            "moves": VIEW_MOVES["birth-death"],
        },
        {
            "moves": [Gibbs(), ColumnGroups(), ColumnBlocks(n_pool=4)],
            "column_pacing": ColumnPacing(patience=4),
            "subsampling": StratifiedSubsampling(labels=np.arange(72) % 3),
        },
    ],
)
def test_clones(params):
    model = short(**params).fit(X)
    copy = clone(model)
    assert not hasattr(copy, "labels_")
    assert_same(copy.fit(X), model)
    for name in ("schedule", "subsampling", "moves"):
        value = getattr(model, name)
        assert isinstance(value, str) or getattr(copy, name) is not value


def test_reprs():
    assert repr(CrossCat()) == "CrossCat()"
    text = repr(CrossCat(moves=[Gibbs(), ColumnGibbs("prior")], schedule=EnergyAnneal(5)))
    assert "moves=[Gibbs(), ColumnGibbs(new_views='prior')]" in text
    assert "schedule=EnergyAnneal(passes=5)" in text
    assert "ColumnPacing" in CrossCat(column_pacing=ColumnPacing())._repr_html_()


# --- Saving ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"feature_types": ["categorical", "count", "real", "real"]}])
@pytest.mark.parametrize("way", [pytest.param("pickle", marks=pytest.mark.slow), "joblib"])
def test_saved_models_are_the_same(params, way, tmp_path):
    table = X if not params else np.column_stack([DISCRETE[:, :2], X[:, 2:]])
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
    table = np.random.default_rng(0).normal(size=(20_000, 8))
    model = short(
        row_partition=PitmanYor(1.0), n_chains=1, n_draws=3, schedule="sequential", time_limit=1e-6, thin=1
    ).fit(table)
    # Labels of every view in a byte or two, of the main view and of the last one in four, order, window and labels_.
    n_labels = sum(labels.nbytes for chain in model._row_labels for labels in chain)
    assert len(pickle.dumps(model)) < n_labels + 20_000 * (4 + 4 * model.n_views_ + 8 * (2 + model.n_views_) + 12) + 4e5


# --- Frames ---------------------------------------------------------------------------------------------------------


def columns():
    rng = np.random.default_rng(5)
    group = np.arange(90) % 3
    return {
        "size": [None if i % 11 == 0 else float(value) for i, value in enumerate(9.0 * group + rng.normal(size=90))],
        "colour": [None if i % 13 == 0 else ("red", "green", "blue")[k] for i, k in enumerate(group)],
        "open": [bool(value) for value in rng.random(90) < 0.5],
        "n": [int(value) for value in rng.poisson(1 + 20 * group)],
    }


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(library):
    frames = pytest.importorskip(library)
    table = frames.DataFrame(columns())
    model = short(feature_types={"n": "count"}, schedule="accelerating").fit(table)
    assert model.feature_names_in_.tolist() == ["size", "colour", "open", "n"]
    assert model._table.kinds == ["real", "categorical", "boolean", "count"]
    assert model.dependence_[0, [1, 3]].min() > 0.5
    drawn = model.sample(6, random_state=0)
    assert type(drawn) is type(table)
    assert list(drawn.columns) == list(table.columns)
    assert set(drawn["colour"]) <= {"red", "green", "blue"}
    filled, uncertainty = model.impute(table, return_uncertainty=True)
    assert type(filled) is type(table)
    if library == "pandas":
        assert filled.notna().all().all()
    else:
        assert sum(filled.null_count().row(0)) == 0
    missing = np.array([[value is None for value in values] for values in columns().values()]).T
    np.testing.assert_array_equal(uncertainty > 0, missing)
    expected = np.array(["red", "green", "blue"])[np.arange(90) % 3]
    np.testing.assert_array_equal(np.asarray(filled["colour"].to_list())[missing[:, 1]], expected[missing[:, 1]])
    assert np.isfinite(model.score_samples(table)).all()


def test_frames_of_both_libraries_are_one_table():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    fits = [short(feature_types={"n": "count"}).fit(make.DataFrame(columns())) for make in (pandas, polars)]
    np.testing.assert_array_equal(fits[0].log_joint_, fits[1].log_joint_)
    np.testing.assert_array_equal(
        fits[0].score_samples(polars.DataFrame(columns())), fits[1].score_samples(pandas.DataFrame(columns()))
    )


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
    assert capsys.readouterr().out.count("100%") >= 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_monitor_sees_what_the_trace_keeps(n_jobs):
    monitor = TraceMonitor(X_held_out=NEW, every=3)
    model = short(n_jobs=n_jobs, schedule=SubsampleAnneal(12)).set_callbacks(monitor).fit(X)
    logs = monitor.get_logs()
    for name in model.trace_.dtype.names:
        np.testing.assert_array_equal(logs[name], model.trace_[name])
    scored = np.isfinite(logs["held_out_score"])
    np.testing.assert_array_equal(scored, logs["sweep"] % 3 == 0)
    # After annealing the model knows the groups; with the first rows it does not.
    assert logs["held_out_score"][scored][-1] > logs["held_out_score"][scored][0] + 2
    assert_same(model, short(schedule=SubsampleAnneal(12)).fit(X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_idle_chains_stop(n_jobs):
    monitor = TraceMonitor(patience=5, tol=1e9)
    model = short(n_jobs=n_jobs, n_draws=500).set_callbacks(monitor).fit(X)
    n_draws = model.posterior_labels_.shape[1]
    assert n_draws <= 6
    assert model.posterior_column_labels_.shape == (2, n_draws, 4)
    assert [len(chain) for chain in model._row_labels] == [n_draws] * 2
    np.testing.assert_array_equal(model.labels_, model.predict(X))


# --- Diagnostics ----------------------------------------------------------------------------------------------------


def test_arviz_and_summary():
    model = short(n_draws=12).fit(X)
    text = str(summary(model))
    for name in ("log_joint", "n_clusters", "n_views", "column_concentration"):
        assert name in text
    pytest.importorskip("arviz")
    posterior = to_arviz(model).posterior
    np.testing.assert_array_equal(posterior["log_joint"], model.log_joint_)
    np.testing.assert_array_equal(posterior["column_discount"], model.hyperparameters_["column_discount"])
