"""CellUnits, against the formula written out cell by cell, for columns modelled as one and as two."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.estimators._cell_units import CellUnits


def table(n_rows=120):
    rng = np.random.default_rng(1)
    group = rng.integers(2, size=n_rows)
    amount = np.where(rng.random(n_rows) < 0.7, 0.0, 30.0 + 5.0 * group + rng.normal(size=n_rows))
    frame = pd.DataFrame(
        {
            "size": 6.0 * group + rng.normal(size=n_rows),
            "colour": np.where(rng.random(n_rows) < 0.8, "red", "blue").astype(object),
            "amount": amount,
            "visits": rng.poisson(2.0 + group),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(40, size=n_rows), "D"),
        }
    )
    frame["ten times"] = 10.0 * frame["size"]
    frame.loc[4:9, ["size", "ten times"]] = np.nan
    frame.loc[8:11, "colour"], frame.loc[10:13, "amount"] = None, np.nan
    frame.loc[13:15, "day"] = pd.NaT
    return frame


def usual(values):
    return np.median([value for value in values if not np.isnan(value)])


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_what_is_taken_off_and_added_is_usual_for_the_column(covariance_type):
    X = table()
    types = {"amount": "semicontinuous", "visits": "count"}
    model = CrossCat(
        covariance_type=covariance_type,
        feature_types=types,
        schedule=SubsampleAnneal(passes=5),
        n_chains=1,
        n_draws=3,
        random_state=0,
    ).fit(X)
    assert model._table.columns[5].derivation is not None
    assert (len(model._table.places[2]) == 2) == (covariance_type == "full")
    arrays = model._encode(X, scored=True)
    surprisal, novelty = model.surprisal(X), model.novelty(X)
    units = CellUnits.of(model._table, model._models, arrays, surprisal)
    wanted, rows = surprisal.copy(), novelty.copy()
    has_density = X.notna().to_numpy() & [True, False, True, False, True, True]
    has_density[:, 2] &= X["amount"].to_numpy() != 0.0
    for j, name in enumerate(X):
        taken = 0.0
        if has_density[:, j].any():
            share = has_density[:, j].sum() / X[name].notna().sum()
            taken = usual(surprisal[has_density[:, j], j]) + np.log(share)
        wanted[has_density[:, j], j] -= taken
        if name != "ten times":
            rows -= taken * has_density[:, j]
            rows += X[name].isna().to_numpy() * usual(wanted[:, j])
    np.testing.assert_allclose(units.of_cells(arrays, surprisal), wanted, atol=1e-9)
    np.testing.assert_allclose(units.of_rows(arrays, novelty), rows, atol=1e-9)
    # Of the amounts, 30 % have a density: for that they are odd, as far as the others do not tell it.
    assert usual(wanted[has_density[:, 2], 2]) == pytest.approx(-np.log(0.3), abs=0.3)


def test_columns_without_cells_say_nothing():
    X = np.column_stack([np.arange(30.0) % 7.0, np.full(30, np.nan), np.full(30, 5.0)])
    model = CrossCat(n_chains=1, n_draws=2, feature_types=["real", "real", "semicontinuous"], random_state=0).fit(X)
    arrays = model._encode(X)
    units = CellUnits.of(model._table, model._models, arrays, model.surprisal(X))
    assert units.of_density[1:].tolist() == [0.0, 0.0]
    assert np.isfinite(units.of_rows(arrays, model.novelty(X))).all()
