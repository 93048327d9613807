"""Novelty of some cells of a row given others of its cells, and rows in the order of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_subanneal import CrossCat

TYPES = {"colour": "categorical", "visits": "count"}


def frame(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n_rows)
    table = pd.DataFrame(
        {
            "size": 6.0 * z + rng.normal(size=n_rows),
            "colour": np.array(["red", "green", "blue"])[(z + (rng.random(n_rows) < 0.2)) % 3],
            "visits": rng.poisson(1 + 6 * z),
            "noise": rng.normal(size=n_rows),
        },
        index=np.arange(100, 100 + n_rows),
    )
    table.loc[table.index[::9], "size"] = np.nan
    return table


def to_polars(table):
    return pl.DataFrame({name: [None if pd.isna(cell) else cell for cell in table[name]] for name in table})


@pytest.fixture(scope="module")
def model():
    return CrossCat(feature_types=TYPES, n_chains=2, n_draws=3, random_state=0).fit(frame())


@pytest.mark.parametrize("seen", [False, True])
def test_given_is_a_ratio_of_densities(model, seen):
    table = frame(seed=0 if seen else 1)
    found = model.novelty(table, ["size", "visits"], given=["colour", "noise"])
    whole = model.novelty(table)
    np.testing.assert_allclose(found, whole - model.novelty(table, ["colour", "noise"]), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.novelty(table, given=["colour", "noise"]), found)
    # Given all other cells, it is the surprisal of a cell.
    for j, name in enumerate(table):
        others = [other for other in table if other != name]
        wanted = np.nan_to_num(model.surprisal(table)[:, j])
        np.testing.assert_allclose(model.novelty(table, name, given=others), wanted, rtol=1e-6, atol=1e-8)


def test_columns_that_are_not_named_are_marginalised(model):
    table = frame(seed=1)
    found = model.novelty(table, 0, given="colour")
    hidden = table.assign(visits=np.nan, noise=np.nan)
    np.testing.assert_array_equal(model.novelty(hidden, 0, given="colour"), found)
    evidence = hidden.assign(size=np.nan)
    np.testing.assert_allclose(found, -model.score_samples(hidden, given=evidence), rtol=1e-9, atol=1e-12)


def test_a_category_that_fit_did_not_see_is_no_evidence(model):
    strange, gone = frame(3, seed=1).assign(colour="pink"), frame(3, seed=1).assign(colour=None)
    np.testing.assert_array_equal(model.novelty(strange, "size", "colour"), model.novelty(gone, "size", "colour"))
    assert np.all(model.novelty(strange, "colour", "size") > 2.0) and not model.novelty(gone, "colour", "size").any()


def test_ranked_rows_of_each_container(model):
    table = frame(seed=1)
    novelty = model.novelty(table, "visits", "size")
    order = np.argsort(-novelty, kind="stable")
    ranked = model.most_novel(table, "visits", "size")
    assert list(ranked.columns) == ["row", "novelty"]
    np.testing.assert_array_equal(ranked.index, table.index[order])
    first = model.most_novel(table, "visits", "size", 5)
    pd.testing.assert_frame_equal(first, ranked[:5])
    by_polars = model.most_novel(to_polars(table), "visits", "size", n_rows=5)
    assert isinstance(by_polars, pl.DataFrame)
    by_array = model.most_novel(table.to_numpy(object), "visits", "size", n_rows=5)
    assert by_array.dtype.names == ("row", "novelty")
    for found in (first, by_polars, by_array):
        np.testing.assert_array_equal(found["row"], order[:5])
        np.testing.assert_array_equal(found["novelty"], novelty[order[:5]])
    # Training rows are judged by the others.
    training = model.most_novel(frame())
    np.testing.assert_array_equal(training["novelty"], np.sort(model.novelty(frame(), seen=True))[::-1])


def test_what_is_refused(model):
    with pytest.raises(ValueError, match="given has the column 'size', which columns has as well"):
        model.novelty(frame(), ["size", "noise"], given="size")
    with pytest.raises(ValueError, match="given names the unknown column 'weight'"):
        model.most_novel(frame(), given="weight")
    with pytest.raises(ValueError, match="n_rows must be None or an integer of at least 1, got 0"):
        model.most_novel(frame(), n_rows=0)
    with pytest.raises(ValueError, match="seen=True needs X to be the very table"):
        model.most_novel(frame(seed=1), seen=True)
