"""Fits to tables in shards that are interrupted, or were too short, go on from their files to the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from support.mixed_rows import mixed_rows
from support.tiers import quick_only

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import Checkpoint
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.shards import ShardedTable

SETTINGS = {"n_chains": 2, "n_draws": 3, "max_sweeps": 3, "random_state": 0}
MODELS = {
    # Its missing cells are part of the state.
    "mixture": SubsampleAnnealedDPMM(covariance_type="full", **SETTINGS),
    "pitman-yor": SubsampleAnnealedDPMM(covariance_type="diag", partition=PitmanYor(), **SETTINGS),
    "views": CrossCat(covariance_type="diag", **SETTINGS),
}


class Stop:
    """A callback that interrupts the fit at a sweep of a chain; the first sweeps of a trace are those of its start."""

    def __init__(self, chain, n_sweeps):
        self.chain, self.left = chain, n_sweeps

    def setup(self, estimator, context):
        pass

    on_fit_task_begin = teardown = setup

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        trace = (metadata or {}).get("trace")
        if trace and trace["chain"] == self.chain:
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(ShardedTable, "BLOCK_ROWS", 150)


@pytest.fixture(scope="module")
def table():
    return mixed_rows(700, 0)[0]


def fitted(name, table, *callbacks, client=None, **parameters):
    model = clone(MODELS[name]).set_params(**parameters)
    return model.set_callbacks(*callbacks).fit(ShardedTable(table, n_start_rows=200, client=client))


def assert_same(model, expected):
    assert_array_equal(model.log_joint_, expected.log_joint_)
    assert_array_equal(model.trace_["log_joint"], expected.trace_["log_joint"])
    assert_array_equal(model.posterior_labels_, expected.posterior_labels_)
    labels = "view_labels_" if isinstance(model, CrossCat) else "labels_"
    assert_array_equal(getattr(model, labels), getattr(expected, labels))


@pytest.mark.parametrize("name", quick_only(MODELS, "mixture", "views"))
def test_an_interrupted_fit_goes_on(name, table, tmp_path):
    expected = fitted(name, table)
    for chain, n_sweeps in ((0, 2), (1, 1), (1, 2)):
        with pytest.raises(KeyboardInterrupt):
            fitted(name, table, Checkpoint(tmp_path, 0.0), Stop(chain, n_sweeps))
    assert_same(fitted(name, table, Checkpoint(tmp_path, 0.0)), expected)
    # All of it is in the folder.
    assert_same(fitted(name, table, Checkpoint(tmp_path, 0.0), Stop(0, 1)), expected)


def test_more_draws(table, tmp_path):
    fitted("pitman-yor", table, Checkpoint(tmp_path))
    assert_same(fitted("pitman-yor", table, Checkpoint(tmp_path), n_draws=5), fitted("pitman-yor", table, n_draws=5))


@pytest.mark.parametrize("name", ["mixture", "views"])
def test_a_fit_that_was_saved_as_a_whole_is_as_small_as_another(name, table, tmp_path):
    """It kept the labels of all rows of the table in each chain."""
    few = {"n_chains": 1, "n_draws": 1, "max_sweeps": 0, "covariance_type": "diag"}
    first = fitted(name, table, Checkpoint(tmp_path), **few)
    loaded = fitted(name, table, Checkpoint(tmp_path), Stop(0, 1), **few)
    assert_same(loaded, first)
    states = [[result.state.model.keys() for result in model._results] for model in (first, loaded)]
    assert states[0] == states[1]


def test_other_cells_are_another_fit(table, tmp_path):
    fitted("pitman-yor", table, Checkpoint(tmp_path))
    other = table.copy()
    other.loc[699, "a"] = 0.123
    with pytest.raises(ValueError, match="holds checkpoints of another fit, which differs in X"):
        fitted("pitman-yor", other, Checkpoint(tmp_path))


@pytest.mark.parametrize("differs", ["units", "origin", "categories"])
def test_the_same_cells_in_other_units_are_another_fit(table, differs, tmp_path):
    """In standard units, and as codes, they are the same to the last bit."""
    X, few = table[["b", "c"]].assign(b=np.arange(700) % 97 * 0.25), {"n_chains": 1, "n_draws": 1, "max_sweeps": 0}
    other = X.copy()
    if differs == "categories":
        other["c"] += " wine"
    else:
        other["b"] = other["b"] * 1024.0 if differs == "units" else other["b"] + 1024.0
    fitted("pitman-yor", X, Checkpoint(tmp_path), **few, feature_types=["real", "categorical"])
    with pytest.raises(ValueError, match="holds checkpoints of another fit, which differs in X"):
        fitted("pitman-yor", other, Checkpoint(tmp_path), **few, feature_types=["real", "categorical"])


@pytest.mark.slow
def test_threads_take_up_what_workers_left(table, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    frames = pytest.importorskip("dask.dataframe")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        parts = frames.from_pandas(table, npartitions=3)
        for chain in range(2):
            with pytest.raises(KeyboardInterrupt):
                fitted("mixture", parts, Checkpoint(tmp_path, 0.0), Stop(chain, 2), client=client)
        expected = fitted("mixture", table)
        # Workers take it up from their own files, too.
        files = {path: path.read_bytes() for path in tmp_path.glob("*.checkpoint")}
        assert_same(fitted("mixture", parts, Checkpoint(tmp_path, 0.0), client=client), expected)
    for path, content in files.items():
        path.write_bytes(content)
    assert_same(fitted("mixture", table, Checkpoint(tmp_path, 0.0)), expected)
    assert np.isnan(table["a"]).any()


def test_rows_that_are_drawn_anew_do_not_resume(tmp_path):
    model = clone(MODELS["views"]).set_params(random_state=None).set_callbacks(Checkpoint(tmp_path))
    with pytest.raises(ValueError, match="random_state must be given beside a Checkpoint"):
        model.fit(ShardedTable(mixed_rows(200, 0)[0]))
