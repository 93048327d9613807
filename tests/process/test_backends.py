"""Chains in worker processes and on a Dask cluster give the same bits as in this process, and report to callbacks."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from support.moves import VIEW_MOVES
from support.tables import blobs, with_gaps

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TraceMonitor, TreeGuidedNRMM
from sklearn_subanneal.annealing import Checkpoint, SubsampleAnneal

X = with_gaps(blobs(72, 3))
DISCRETE = np.floor(np.abs(X)) % 5
SHORT = {"n_chains": 2, "n_draws": 2, "max_sweeps": 5, "schedule": SubsampleAnneal(passes=5), "random_state": 0}
MODELS = {
    "views": (CrossCat(**SHORT), X),
    "views, discrete": (CrossCat(feature_types=["count", "categorical", "count"], **SHORT), DISCRETE),
    "mixture": (SubsampleAnnealedDPMM(**SHORT), X),
    "mixture, full": (SubsampleAnnealedDPMM(covariance_type="full", **SHORT), X),
    "mixture, counts": (SubsampleAnnealedDPMM(feature_types=["count"] * 3, **SHORT), DISCRETE),
    "measures": (TreeGuidedNRMM(**SHORT), X),
}


def assert_same(one, two, table):
    names = ["posterior_labels_", "log_joint_", "labels_"]
    if isinstance(one, CrossCat):
        names += ["posterior_column_labels_", "column_labels_", "view_labels_", "dependence_"]
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for method in ("score_samples", "predict_proba"):
        np.testing.assert_array_equal(getattr(one, method)(table), getattr(two, method)(table))
    np.testing.assert_array_equal(one.sample(7, random_state=3), two.sample(7, random_state=3))


def fitted(model, table, *callbacks, **params):
    return type(model)(**model.get_params(deep=False) | params).set_callbacks(*callbacks).fit(table)


def check_backend(names):
    for name in names:
        model, table = MODELS[name]
        assert_same(fitted(model, table), fitted(model, table, n_jobs=1), table)


def test_worker_processes_give_the_same_bits_and_report():
    monitor, (model, table) = TraceMonitor(), MODELS["views"]
    with joblib.parallel_config(backend="loky", n_jobs=2):
        other = fitted(model, table, monitor)
    assert_same(other, fitted(model, table), table)
    np.testing.assert_array_equal(monitor.get_logs()["log_joint"], other.trace_["log_joint"])


@pytest.mark.slow
def test_worker_processes_give_the_same_bits_for_every_model():
    with joblib.parallel_config(backend="loky", n_jobs=2):
        check_backend(MODELS)
        monitor, (model, table) = TraceMonitor(), MODELS["mixture"]
        other = fitted(model, table, monitor)
    np.testing.assert_array_equal(monitor.get_logs()["log_joint"], other.trace_["log_joint"])


GRIDS = {"mixture": {"schedule__passes": [2, 4]}, "views": {"moves": ["default", VIEW_MOVES["group"]]}}


@pytest.mark.slow
@pytest.mark.parametrize("name", GRIDS)
def test_searches_in_worker_processes(name):
    model, table = MODELS[name]
    alone, apart = (GridSearchCV(model, GRIDS[name], cv=2, n_jobs=n).fit(table) for n in (1, 2))
    np.testing.assert_array_equal(alone.cv_results_["mean_test_score"], apart.cv_results_["mean_test_score"])
    one, two = (
        cross_val_score(type(model)(**model.get_params(deep=False) | {"n_jobs": n}), table, cv=3, n_jobs=n)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_bits():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    grid = {"schedule__passes": [2, 4], "moves": ["default", VIEW_MOVES["group"]]}
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        check_backend(MODELS)
        search = GridSearchCV(MODELS["views"][0], grid, cv=2).fit(X)
    alone = GridSearchCV(MODELS["views"][0], grid, cv=2).fit(X)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


class Killer:
    """A callback that ends the fit at a sweep of a chain."""

    def __init__(self, chain, sweep):
        self.where = chain, sweep

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        trace = (metadata or {}).get("trace")
        if trace and (trace["chain"], trace["sweep"]) == self.where:
            raise KeyboardInterrupt

    def teardown(self, estimator, context):
        pass


@pytest.mark.slow
def test_worker_processes_write_their_chains(tmp_path):
    model, table = MODELS["views"]
    whole = fitted(model, table, n_chains=3)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        with pytest.raises(KeyboardInterrupt):
            fitted(model, table, Checkpoint(tmp_path, 0.0), Killer(1, 5), n_chains=3)
        assert (tmp_path / "chain-1.checkpoint").exists()
        # Threads take up what processes left, and the other way round.
        with joblib.parallel_config(backend="threading"), pytest.raises(KeyboardInterrupt):
            fitted(model, table, Checkpoint(tmp_path, 0.0), Killer(1, 7), n_chains=3)
        assert_same(fitted(model, table, Checkpoint(tmp_path, 0.0), n_chains=3), whole, table)
    assert len(list(tmp_path.iterdir())) == 3
