"""The odds that a cell is an error, against the formula written out cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.estimators._cell_errors import ANY_VALUE, MISSING, CellErrors
from sklearn_subanneal.views.lone_columns import score_lone_columns


def table():
    rng = np.random.default_rng(1)
    group = rng.integers(2, size=90)
    amount = np.where(rng.random(90) < 0.5, 0.0, np.exp(rng.normal(size=90) + 3.0 * group))
    X = np.column_stack([6.0 * group + rng.normal(size=90), np.minimum(group + (rng.random(90) < 0.1), 2), amount])
    X[4, 0] = X[5, 1] = X[6, 2] = np.nan
    return X


@pytest.fixture(scope="module", params=["diag", "full"])
def judged(request):
    model = CrossCat(
        covariance_type=request.param,
        feature_types={0: "real", 1: "categorical", 2: "semicontinuous"},
        schedule=SubsampleAnneal(passes=5),
        n_chains=1,
        n_draws=3,
        random_state=0,
    ).fit(table())
    arrays = model._encode(table(), scored=True)
    alone = score_lone_columns(model._models, model._flat_draws(), arrays, model._table.places)
    surprisal = model.surprisal(table(), seen=False)
    errors = CellErrors.of(model._table, model._models, arrays, surprisal, alone)
    return surprisal, alone, errors.log_odds(arrays, surprisal, alone)


def test_numbers_come_from_another_row_or_from_anywhere(judged):
    surprisal, alone, log_odds = judged
    X = table()
    for kinds, j in ((np.zeros(90), 0), (X[:, 2] == 0.0, 2)):
        for i in np.flatnonzero(~np.isnan(X[:, j])):
            anywhere = np.exp(np.mean(alone[(kinds == kinds[i]) & ~np.isnan(X[:, j]), j]))
            error = (1.0 - ANY_VALUE) * np.exp(alone[i, j]) + ANY_VALUE * anywhere
            assert log_odds[i, j] == pytest.approx(np.log(error / np.exp(-surprisal[i, j])), abs=1e-6)


def test_a_category_that_is_an_error_is_another_than_the_right_one(judged):
    surprisal, alone, log_odds = judged
    codes, known = table()[:, 1], ~np.isnan(table()[:, 1])
    shares = np.array([(codes[known] == value).mean() for value in range(3)])
    typical = np.exp(alone[known, 1].mean())
    for i in np.flatnonzero(known):
        p, right = np.exp(-surprisal[i, 1]), np.delete(shares, int(codes[i])).max()
        error = (1.0 - p) * ((1.0 - ANY_VALUE) * np.exp(alone[i, 1]) / (1.0 - right) + ANY_VALUE * typical)
        assert log_odds[i, 1] == pytest.approx(np.log(error / p), abs=1e-6)


def test_missing_cells_are_no_errors(judged):
    np.testing.assert_array_equal(judged[2] == MISSING, np.isnan(table()))
