"""Fits of CrossCat to tables in shards."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import CrossCat
from sklearn_subanneal.portable import load, save
from sklearn_subanneal.shards import ShardedTable

N_ROWS = 140_000
SETTINGS = {"n_chains": 1, "n_draws": 2, "max_sweeps": 3, "random_state": 0}
VIEWS = [0, 0, 0, 1, 1, 1]


def table_of_two_views(n_rows, seed):
    """Four groups of rows in one view, five in another, each of two real columns and a category; cells are missing."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(1)
    groups, columns = [rng.integers(n, size=n_rows) for n in (4, 5)], {}
    for v, group in enumerate(groups):
        for name in ("x", "y"):
            columns[f"{name}{v}"] = 4.0 * fixed.permutation(6)[group] + rng.normal(size=n_rows)
        names = np.array(["red", "green", "blue"])
        columns[f"c{v}"] = names[np.where(rng.random(n_rows) < 0.8, group % 3, rng.integers(3, size=n_rows))]
    frame = pd.DataFrame(columns)
    return frame.mask(rng.random(frame.shape) < 0.05), groups


@pytest.fixture(scope="module")
def table():
    return table_of_two_views(N_ROWS, 0)


@pytest.fixture(scope="module")
def fitted(table):
    return CrossCat(**SETTINGS).fit(ShardedTable(table[0], n_start_rows=3000))


def test_as_good_as_a_fit_in_one_piece(table, fitted):
    frame, groups = table
    new, _ = table_of_two_views(2000, 7)
    whole = CrossCat(covariance_type="diag", **SETTINGS).fit(frame[:20_000])
    assert abs(fitted.score(new) - whole.score(new)) < 0.02
    assert fitted.column_labels_.tolist() == VIEWS and fitted.covariance_type_ == "diag"
    assert fitted.view_labels_.shape == (N_ROWS, 2)
    for group, labels in zip(groups, fitted.view_labels_.T, strict=True):
        assert adjusted_rand_score(group, labels) > 0.95
    assert_array_equal(fitted.labels_, fitted.view_labels_[:, 0])
    # Statistics are of all rows.
    assert all(view.sizes.sum() == N_ROWS for draws in fitted._draws for draw in draws for view in draw.views)
    assert fitted.posterior_labels_.shape == (1, 2, len(fitted.posterior_rows_))


def test_questions(table, fitted):
    frame = table[0]
    assert np.mean(fitted.predict_views(frame[:3000]) == fitted.view_labels_[:3000]) > 0.999
    assert not fitted.impute(frame[:50]).isna().any().any()
    assert fitted.dependence_[0, 1] == 1.0 and fitted.dependence_[0, 4] == 0.0
    assert np.isfinite(fitted.score_samples(frame[:50])).all() and fitted.sample(5, random_state=0).shape == (5, 6)


def test_same_bits_in_threads_and_from_files(table, fitted, tmp_path):
    shards = ShardedTable(table[0], n_start_rows=3000, folder=tmp_path)
    model = CrossCat(n_jobs=2, **SETTINGS).fit(shards)
    assert_array_equal(model.trace_["log_joint"], fitted.trace_["log_joint"])
    assert_array_equal(model.view_labels_, fitted.view_labels_)
    assert not list(tmp_path.iterdir())


def test_saved(table, fitted, tmp_path):
    save(fitted, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.score_samples(table[0][:50]), fitted.score_samples(table[0][:50]))


def test_views_are_born_and_die(table):
    """A column that has nothing to do with the others of its view leaves it, and one that has comes back."""
    frame = table[0][["x0", "y0"]][:70_000].assign(z=np.random.default_rng(3).normal(size=70_000))
    settings = SETTINGS | {"column_start": "together", "row_partition": "dp", "max_sweeps": 0, "n_draws": 6}
    model = CrossCat(schedule="sequential", moves=["gibbs"], **settings).fit(ShardedTable(frame, n_start_rows=300))
    labels = model.posterior_column_labels_[0]
    assert (labels[:, 0] == labels[:, 1]).all() and (labels[-1, 2] != labels[-1, 0])


def test_refused(table):
    with pytest.raises(ValueError, match=r"covariance_type='full' does not suit a ShardedTable.*take 'diag' or 'auto'"):
        CrossCat(covariance_type="full").fit(ShardedTable(table[0]))
