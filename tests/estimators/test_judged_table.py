"""Some rows of a table are judged as they are among all of its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.estimators._judged_table import JudgedTable


@pytest.mark.parametrize("weights", [None, np.arange(60) % 3], ids=["each row once", "some rows never"])
def test_some_rows_are_judged_as_among_all(weights):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=60)
    X = pd.DataFrame(
        {"a": 6.0 * group + rng.normal(size=60), "b": np.array(["u", "v"])[group], "c": rng.normal(size=60)}
    )
    X.loc[[3, 8], "a"] = np.nan
    model = CrossCat(n_chains=1, n_draws=2, max_sweeps=3, effort=0.2, random_state=0).fit(X, sample_weight=weights)
    table, rows = JudgedTable.of(model, X), np.array([0, 3, 4, 8, 25, 59])
    np.testing.assert_allclose(table.surprisal(rows), model.surprisal(X)[rows], rtol=1e-12)
    np.testing.assert_allclose(table.novelty(rows), model.novelty(X)[rows], rtol=1e-12)
    # A cell that is missing is expected to be what is imputed.
    filled, uncertainty = model.impute(X, return_uncertainty=True)
    values, spread = table.expected(np.array([3, 8]), 0)
    np.testing.assert_allclose(values, filled["a"][[3, 8]])
    np.testing.assert_allclose(spread, uncertainty[[3, 8], 0])
    # Rows of another table are new.
    other = JudgedTable.of(model, X.iloc[::-1])
    np.testing.assert_allclose(other.surprisal(rows), model.surprisal(X.iloc[::-1].iloc[rows]), rtol=1e-12)
    np.testing.assert_allclose(other.novelty(rows), model.novelty(X.iloc[::-1].iloc[rows]), rtol=1e-12)
