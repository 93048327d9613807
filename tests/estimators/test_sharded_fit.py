"""Fits to tables in shards: from memory and from files, bit for bit the same, and as good as fits in one piece."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score
from support.clocks import tick_at_each_look
from support.mixed_rows import mixed_rows
from support.tiers import quick_only

from sklearn_subanneal import SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing import clock
from sklearn_subanneal.portable import load, save
from sklearn_subanneal.shards import ShardedTable
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture

N_ROWS = 150_000
SETTINGS = {"n_chains": 1, "n_draws": 2, "max_sweeps": 3, "random_state": 1}


@pytest.fixture(scope="module")
def table():
    return mixed_rows(N_ROWS, 0)


@pytest.fixture(scope="module")
def fitted(table):
    return SubsampleAnnealedDPMM(**SETTINGS).fit(ShardedTable(table[0]))


def test_as_good_as_a_fit_in_one_piece(table, fitted):
    frame, group = table
    new, _ = mixed_rows(2000, 7)
    whole = SubsampleAnnealedDPMM(**SETTINGS).fit(frame[:30_000])
    assert adjusted_rand_score(group, fitted.labels_) > adjusted_rand_score(group[:30_000], whole.labels_) - 0.005
    assert abs(fitted.score(new) - whole.score(new)) < 0.01
    assert fitted.labels_.shape == fitted.probabilities_.shape == (N_ROWS,)
    assert np.mean(fitted.predict(frame) == fitted.labels_) > 0.9999
    # Statistics are of all rows.
    assert all(draw.sizes.sum() == N_ROWS for draw in fitted._flat_draws())
    assert fitted.posterior_labels_.shape == (1, 2, len(fitted.posterior_rows_))


def test_categories_are_those_of_all_rows(table, fitted):
    assert "never seen before" in fitted._table.columns[2].categories
    assert np.isfinite(fitted.score_samples(table[0][-3:])).all()


@pytest.mark.parametrize("covariance_type", quick_only(["full", "diag"], "full"))
def test_same_bits_in_threads_and_from_files(table, covariance_type, tmp_path):
    X = table[0][["a", "b", "d"]].to_numpy(float)
    np.save(tmp_path / "table.npy", X)
    model = SubsampleAnnealedDPMM(covariance_type=covariance_type, **SETTINGS)
    one = model.fit(ShardedTable(X, n_start_rows=2000)).trace_["log_joint"], model.labels_
    two = (
        model.set_params(n_jobs=2)
        .fit(ShardedTable(tmp_path / "table.npy", n_start_rows=2000, folder=tmp_path))
        .trace_["log_joint"],
        model.labels_,
    )
    assert_array_equal(one[0], two[0])
    assert_array_equal(one[1], two[1])
    # Nothing is left behind.
    assert [path.name for path in tmp_path.iterdir()] == ["table.npy"]


def test_a_folder_of_parquet_files(table, fitted, tmp_path):
    pytest.importorskip("pyarrow")
    frame = table[0]
    for i, first in enumerate(range(0, N_ROWS, 40_000)):
        frame[first : first + 40_000].to_parquet(tmp_path / f"part-{i}.parquet")
    model = SubsampleAnnealedDPMM(**SETTINGS).fit(ShardedTable(tmp_path))
    assert_array_equal(model.labels_, fitted.labels_)


@pytest.mark.parametrize("kind", quick_only(["dataframe", "array"], "dataframe"))
def test_collections_of_dask(table, fitted, kind):
    module = pytest.importorskip(f"dask.{kind}")
    if kind == "dataframe":
        X, model = module.from_pandas(table[0], npartitions=4), fitted
    else:
        cells = table[0][["a", "b", "d"]].to_numpy(float)
        X = module.from_array(cells, chunks=(40_000, 2))
        model = SubsampleAnnealedDPMM(**SETTINGS).fit(ShardedTable(cells))
    found = SubsampleAnnealedDPMM(**SETTINGS).fit(ShardedTable(X))
    assert_array_equal(found.labels_, model.labels_)
    assert_array_equal(found.log_joint_, model.log_joint_)


def test_a_time_limit_leaves_time_for_draws(table, monkeypatch):
    tick_at_each_look(monkeypatch, 0.2)
    X = table[0][["a", "b"]].to_numpy(float)[:70_000]
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=50, time_limit=4.0, random_state=0)
    model.fit(ShardedTable(X, n_start_rows=500))
    assert model.trace_["seconds"].max() < 4.5
    assert 3 <= model.log_joint_.shape[1] < 12
    # The sweeps between start and draws end before it is known that the log joint density does not rise.
    assert 3 <= np.sum(model.trace_["n_assigned"] == 70_000) - model.log_joint_.shape[1] < 12


def test_the_first_pass_over_all_rows_takes_time(table, monkeypatch):
    """It had counted for nothing: further sweeps and draws were made as if there had been time."""
    tick_at_each_look(monkeypatch, 0.01)
    look, late, start_from = clock.now, [0.0], ShardedMixture.start_from
    monkeypatch.setattr(clock, "now", lambda: look() + late[0])

    def slow(self, *arguments):
        late[0] = 3.0
        return start_from(self, *arguments)

    monkeypatch.setattr(ShardedMixture, "start_from", slow)
    X = table[0][["a", "b"]].to_numpy(float)[:1000]
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=50, time_limit=2.0, thin=1, random_state=0)
    model.fit(ShardedTable(X, n_start_rows=200))
    assert 3.0 < model.trace_["seconds"][-1] < 4.0
    # None but those without which there would be no draw.
    assert np.sum(model.trace_["n_assigned"] == 1000) == 2 and model.log_joint_.shape == (1, 1)


def test_saved(fitted, table, tmp_path):
    save(fitted, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.score_samples(table[0][:50]), fitted.score_samples(table[0][:50]))


def test_a_pitman_yor_process_and_fixed_hyperparameters(table):
    X = table[0][["a", "b"]].to_numpy(float)[:80_000]
    for settings in ({"partition": "pitman-yor"}, {"partition": "dp", "learn_hyperparameters": False}):
        model = SubsampleAnnealedDPMM(**SETTINGS | settings)
        whole = model.fit(X[:10_000]).score(X[70_000:])
        shards = model.fit(ShardedTable(X[:70_000], n_start_rows=2000)).score(X[70_000:])
        assert abs(shards - whole) < 0.02


def test_with_trees(table):
    frame, group = table
    model = TreeGuidedNRMM("dp", **SETTINGS).fit(ShardedTable(frame[:70_000], n_start_rows=2000))
    assert adjusted_rand_score(group[:70_000], model.labels_) > 0.8
    with pytest.raises(ValueError, match="X cannot be inserted after a fit to a ShardedTable, whose rows are not kept"):
        model.partial_fit(frame[:5])
    # Another fit is not hindered.
    assert model.fit(frame[:300]).partial_fit(frame[:5]).labels_.shape == (305,)


def test_refused(table):
    X = table[0]
    shards = ShardedTable(X)
    model = SubsampleAnnealedDPMM(**SETTINGS)
    with pytest.raises(ValueError, match="sample_weight does not suit a ShardedTable; leave it out"):
        model.fit(shards, sample_weight=np.ones(N_ROWS))
    with pytest.raises(ValueError, match="strata does not suit a ShardedTable"):
        model.fit(shards, strata=np.ones(N_ROWS))
    with pytest.raises(ValueError, match="warm_start=True does not suit a ShardedTable"):
        SubsampleAnnealedDPMM(warm_start=True).fit(shards)
    with pytest.raises(ValueError, match="partition='nggp' does not suit a ShardedTable; take 'dp' or 'pitman-yor'"):
        SubsampleAnnealedDPMM("nggp").fit(shards)
    with pytest.raises(ValueError, match="feature_types='bag-of-words' does not suit a ShardedTable"):
        SubsampleAnnealedDPMM(feature_types="bag-of-words").fit(shards)
    with pytest.raises(ValueError, match="partition='nggp' does not suit a ShardedTable; take 'dp' or 'pitman-yor'"):
        TreeGuidedNRMM().fit(shards)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (3, r"X must be an array, a pandas DataFrame, a DataFrame or array of Dask, or the path .*, got int"),
        (np.zeros((1, 2)), r"X must have at least 2 rows, got 1"),
        (np.zeros(5), r"X must be two-dimensional, rows and columns, got shape \(5,\)"),
        ("no such folder", r"X must be a Parquet file, a folder of these, or a .npy file; 'no such folder' is none"),
    ],
)
def test_no_tables(X, message):
    with pytest.raises(ValueError, match=message):
        ShardedTable(X)
    with pytest.raises(ValueError, match=r"folder must be one that is there, and '.*nowhere' is not; make it"):
        ShardedTable(np.zeros((5, 2)), folder="nowhere")
    with pytest.raises(ValueError, match="n_start_rows must be an integer of at least 2, got 1"):
        ShardedTable(np.zeros((5, 2)), n_start_rows=1)
