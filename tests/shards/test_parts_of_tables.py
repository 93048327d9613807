"""Parts of a table in shards: files and partitions with other columns or orders of these, and files that are none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.shards import ShardedTable, predict_shards
from sklearn_subanneal.shards.dask_blocks import _joined
from sklearn_subanneal.shards.first_values import FirstValues
from sklearn_subanneal.shards.row_source import source_of
from sklearn_subanneal.shards.start_rows import start_rows

BRIEF = {"n_chains": 1, "n_draws": 1, "max_sweeps": 0, "schedule": "prior", "random_state": 0}


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=300), "n": rng.poisson(5, size=300)})


def written(folder, **parts):
    pytest.importorskip("pyarrow")
    for name, part in parts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part.to_parquet(path.with_suffix(".parquet"))
    return folder


def fitted(X):
    return SubsampleAnnealedDPMM(**BRIEF).fit(ShardedTable(X, n_start_rows=100))


def test_files_with_another_order_of_columns(frame, tmp_path):
    """Their columns are read by name: they had been mixed, and the fit had not ended."""
    mixed = written(tmp_path / "mixed", a=frame[:200], b=frame.loc[200:, ["n", "x"]])
    expected = fitted(written(tmp_path / "plain", a=frame[:200], b=frame[200:]))
    assert [part.columns.tolist() for part in source_of(mixed).pieces()] == [["x", "n"]] * 2
    assert source_of(mixed).part(1).columns.tolist() == ["x", "n"]
    model = fitted(mixed)
    assert model.feature_types_ == {"x": "real", "n": "ordinal"}
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.log_joint_, expected.log_joint_)
    densities = pd.read_parquet(predict_shards(model, mixed, "score_samples", folder=tmp_path / "out"))
    assert_array_equal(densities["log_density"], model.score_samples(frame))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda part: part.drop(columns="n"), r"'[^']*b\.parquet' lacks \['n'\], unlike '[^']*a\.parquet'"),
        (lambda part: part.assign(q=1), r"'[^']*b\.parquet' has in addition \['q'\]"),
        (lambda part: part.rename(columns={"x": "y"}), r"b\.parquet' lacks \['x'\] and has in addition \['y'\]"),
    ],
)
def test_files_with_other_columns(frame, tmp_path, change, message):
    folder = written(tmp_path, a=frame[:200], b=change(frame[200:]))
    with pytest.raises(ValueError, match=rf"same columns in all its files.*{message}.*write it with the same columns"):
        ShardedTable(folder)


def test_files_with_and_without_an_index(frame, tmp_path):
    """The index of a DataFrame is no column, whether a file holds it or not."""
    parts = {"a": frame[:100], "b": frame[frame["n"] > 3], "c": frame[:50].set_axis(list("ab") * 25)}
    assert fitted(written(tmp_path, **parts)).n_features_in_ == 2


def test_partitions_with_other_columns(frame):
    dask = pytest.importorskip("dask")
    dataframe = pytest.importorskip("dask.dataframe")
    for part, message in (
        (frame.loc[200:, ["n", "x"]], r"one that is not the first has \['n', 'x'\] in place of \['x', 'n'\]"),
        (frame.loc[200:, ["x"]], r"lacks \['n'\]"),
    ):
        parts = [dask.delayed(frame[:200]), dask.delayed(part)]
        X = dataframe.from_delayed(parts, meta=frame[:0], verify_meta=False)
        with pytest.raises(ValueError, match=rf"{message}; make them the same"):
            fitted(X)


def test_first_values_of_other_columns():
    pieces = [FirstValues.of(pd.DataFrame({name: [1.0] for name in names})) for names in ("ab", "ab", "ba")]
    assert _joined(*pieces[:2]).names == ["a", "b"]
    with pytest.raises(ValueError, match=r"has \['b', 'a'\] in place of \['a', 'b'\]"):
        _joined(*pieces)
    with pytest.raises(ValueError, match="has in addition \\[2\\]"):
        FirstValues.joined([FirstValues.of(np.zeros((2, 2))), FirstValues.of(np.zeros((2, 3)))])


def test_rows_are_added_once(frame):
    """Where rows that were added do not help, the search ends."""
    taken = []

    def take(rows):
        taken.append(rows)
        assert len(taken) < 10
        return frame.iloc[rows]

    found = FirstValues.of(frame.assign(n=frame["n"] + 1000))
    start = start_rows(np.arange(50), found, take, SubsampleAnnealedDPMM()._read_table)
    assert len(start.rows) == len(np.unique(start.rows)) == len(start.X) < 100


def test_hidden_and_unfinished_files(frame, tmp_path):
    """What other readers of such folders leave out, too."""
    names = ("a", "b/c", "_temporary/0/d", ".hidden/e", "b/_f", ".g")
    folder = written(tmp_path / "_of files", **dict.fromkeys(names, frame))
    assert ShardedTable(folder).n_rows == 600
    (folder / "._a.parquet").write_bytes(b"\0\5\26\7")
    assert ShardedTable(folder).n_rows == 600
    assert ShardedTable(folder / ".g.parquet").n_rows == 300


def test_files_that_are_not_of_parquet(frame, tmp_path):
    written(tmp_path, a=frame)
    for content in (b"", b"x,n\n1.0,2\n", b"PAR1" + bytes(40) + b"PAR1"):
        (tmp_path / "b.parquet").write_bytes(content)
        with pytest.raises(ValueError, match=r"b\.parquet' could not be read as a Parquet file \(.*take it out of the"):
            ShardedTable(tmp_path)
