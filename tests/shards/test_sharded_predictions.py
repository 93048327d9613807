"""Predictions part by part, to files and as collections of Dask, are those of the whole table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_subanneal import CrossCat, CrossCatRegressor, SubsampleAnnealedDPMM, VariationalTemperingFMM
from sklearn_subanneal.shards import ShardedTable, predict_shards, predictions

METHODS = ("predict", "predict_proba", "score_samples", "impute")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=700)
    frame = pd.DataFrame(rng.normal(size=(700, 2)) + 6.0 * group[:, None], columns=["a", "b"])
    frame.loc[rng.random(700) < 0.1, "a"] = np.nan
    frame["c"] = np.array(["red", "green", "blue"])[group]
    frame.index = np.arange(700)[::-1]
    return frame


@pytest.fixture(scope="module")
def model(table):
    return SubsampleAnnealedDPMM(n_chains=1, n_draws=2, random_state=0).fit(table)


@pytest.mark.parametrize("method", METHODS)
def test_frames_of_dask(table, model, method, tmp_path):
    module = pytest.importorskip("dask.dataframe")
    parts = module.from_pandas(table, npartitions=4, sort=False)
    # One partition has no rows.
    X = module.concat([parts.partitions[:2], parts.partitions[2][parts.partitions[2]["b"] > 1e9], parts.partitions[2:]])
    lazy = predict_shards(model, X, method)
    assert lazy.npartitions == X.npartitions
    found, expected = lazy.compute(), getattr(model, method)(table)
    assert_array_equal(found.index, table.index)
    written = pd.read_parquet(predict_shards(model, X, method, folder=tmp_path / "new"))
    if method == "impute":
        pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=1e-14)
        pd.testing.assert_frame_equal(written, found.reset_index(drop=True), check_dtype=False)
        assert dict(lazy.dtypes) == dict(found.dtypes)
    else:
        assert_array_equal(found, expected)
        assert_array_equal(written.to_numpy().reshape(expected.shape), expected)


@pytest.mark.parametrize("method", METHODS)
def test_arrays_of_dask(table, method):
    module = pytest.importorskip("dask.array")
    X = table[["a", "b"]].to_numpy()
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=2, random_state=0).fit(X)
    lazy = predict_shards(model, module.from_array(X, chunks=(150, 1)), method)
    expected = getattr(model, method)(X)
    assert lazy.shape == expected.shape and lazy.dtype == expected.dtype
    # Products of matrices of other sizes may differ in their last bits.
    assert_allclose(lazy.compute(), expected, rtol=1e-13 if method == "impute" else 0.0)


def test_files(table, model, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "in").mkdir()
    for i, at in enumerate(range(0, 700, 300)):
        table[at : at + 300].to_parquet(tmp_path / "in" / f"{i}.parquet")
    folder = predict_shards(model, tmp_path / "in", "predict_proba", folder=tmp_path / "out")
    assert [path.name for path in sorted(folder.iterdir())] == [f"part-{i:06d}.parquet" for i in range(3)]
    found = pd.read_parquet(folder)
    assert found.columns.tolist() == [f"cluster_{k}" for k in range(model.n_clusters_)]
    assert_array_equal(found, model.predict_proba(table))


def test_a_part_that_two_workers_write(table, model, tmp_path, monkeypatch):
    """One that was thought to be dead goes on when the other one has written it."""
    pytest.importorskip("pyarrow")
    to_parquet, path, seen = pd.DataFrame.to_parquet, tmp_path / "part-000000.parquet", []

    def interrupted(frame, unfinished, **settings):
        seen.append(unfinished)
        unfinished.write_bytes(b"")
        if len(seen) == 1:
            predictions._write(model, "predict", table[:50], path)
        to_parquet(frame, unfinished, **settings)

    monkeypatch.setattr(pd.DataFrame, "to_parquet", interrupted)
    predictions._write(model, "predict", table[:50], path)
    assert [own.name for own in tmp_path.iterdir()] == [path.name] and len(set(seen)) == 2
    assert_array_equal(pd.read_parquet(path)["label"], model.predict(table[:50]))


def test_a_part_that_could_not_be_written_is_removed(table, model, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")

    def full(frame, unfinished, **settings):
        unfinished.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", full)
    with pytest.raises(OSError, match="no space left"):
        predict_shards(model, table, folder=tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_refused(table, model, tmp_path):
    with pytest.raises(ValueError, match=r"method must be one of \['predict', .*\] of SubsampleAnn.*, got 'fit'"):
        predict_shards(model, table, "fit")
    with pytest.raises(ValueError, match="method must be one of"):
        predict_shards(VariationalTemperingFMM(), table, "no method")
    with pytest.raises(ValueError, match="folder must be given for X of type DataFrame"):
        predict_shards(model, table)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"folder must be empty, and .* is not"):
        predict_shards(model, table, folder=tmp_path)


def test_models_without_clusters_are_refused(table):
    """Their predictions are no numbers of clusters: those of a regressor became 0."""
    module = pytest.importorskip("dask.dataframe")
    few = CrossCat(n_chains=1, n_draws=1, effort=0.1, random_state=0)
    regressor = CrossCatRegressor(few).fit(table[["b", "c"]], table["b"])
    with pytest.raises(ValueError, match=r"X\.map_partitions\(model\.predict\)"):
        predict_shards(regressor, module.from_pandas(table[["b", "c"]], npartitions=2, sort=False), "predict")


def test_partitions_without_rows_are_fitted_as_others(table):
    module = pytest.importorskip("dask.dataframe")
    parts = module.from_pandas(table, npartitions=4, sort=False)
    X = module.concat([parts.partitions[1][parts.partitions[1]["b"] > 1e9], parts])
    few = {"n_chains": 1, "n_draws": 1, "max_sweeps": 2, "random_state": 0, "covariance_type": "diag"}
    fitted = SubsampleAnnealedDPMM(**few).fit(ShardedTable(X, n_start_rows=100))
    assert len(fitted.labels_) == len(table)


def test_columns_in_names_of_folders_are_told(table, tmp_path):
    pytest.importorskip("pyarrow")
    table.to_parquet(tmp_path / "table", partition_cols=["c"])
    with pytest.raises(ValueError, match=r"folders such as 'c=\w+', which hold a column that .*read_parquet"):
        ShardedTable(tmp_path / "table")
