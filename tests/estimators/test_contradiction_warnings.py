"""A fit warns of columns that it takes as independent and a test finds dependent beyond doubt."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import CrossCat, CrossCatRegressor
from sklearn_subanneal.diagnostics import DependenceWarning
from sklearn_subanneal.estimators import _contradictions
from sklearn_subanneal.mixtures import Gibbs

# Columns that cannot move stay as they start.
SHORT = {"n_chains": 1, "n_draws": 2, "random_state": 0, "moves": [Gibbs()], "covariance_type": "diag"}
APART = CrossCat(column_start="separate", **SHORT)
TOGETHER = CrossCat(column_start="together", **SHORT)


def table(slope: float, n_rows: int = 200) -> np.ndarray:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n_rows)
    return np.column_stack([x, slope * x + rng.normal(size=n_rows), rng.normal(size=n_rows)])


def warnings_of(fit) -> list:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [one for one in found if one.category is DependenceWarning]


def test_columns_apart_that_depend_on_each_other():
    (found,) = warnings_of(lambda: APART.fit(table(2.0)))
    assert "takes a pair of columns as independent" in str(found.message)
    assert "'x0' and 'x1' (rank correlation). A column is in one view" in str(found.message)
    # The line of the user's program.
    assert found.filename == __file__


@pytest.mark.parametrize(("model", "slope"), [(TOGETHER, 2.0), (APART, 0.5)], ids=["together", "weakly dependent"])
def test_no_warning(model, slope):
    assert not warnings_of(lambda: model.fit(table(slope)))


def test_several_pairs_are_counted_and_the_surest_are_named():
    x = table(2.0)
    copies = np.column_stack([x[:, 0], x[:, 1], x[:, 0] + x[:, 2], 3.0 * x[:, 0] + x[:, 1]])
    (found,) = warnings_of(lambda: APART.fit(copies))
    text = str(found.message)
    assert "takes 6 pairs of columns" in text or "takes 5 pairs of columns" in text
    assert text.count(" and 'x") == 3 and "; ...." in text
    pairs = APART.contradictions(copies)
    assert f"{pairs[0].one!r} and {pairs[0].other!r}" in text


def test_a_sample_of_the_rows_decides(monkeypatch):
    """Among five rows nothing is beyond doubt."""
    monkeypatch.setattr(_contradictions, "WARNING_ROWS", 5)
    assert not warnings_of(lambda: APART.fit(table(2.0)))
    # Without the warning, all rows are compared.
    assert len(APART.contradictions(table(2.0))) == 1


def test_many_categories_are_not_tested(monkeypatch):
    x = table(2.0)
    codes = np.column_stack([x[:, 0] > 0, x[:, 1] > 0, x[:, 0] + x[:, 1] > 0]).astype(float)
    assert warnings_of(lambda: APART.fit(codes))
    monkeypatch.setattr(_contradictions, "MOST_CATEGORICAL", 2)
    assert not warnings_of(lambda: APART.fit(codes))


def test_models_inside_of_others_are_silent():
    x = table(2.0)
    assert not warnings_of(lambda: CrossCatRegressor(APART).fit(x[:, 1:], x[:, 0]))


def test_rows_that_arrive_later():
    x = table(2.0, 400)
    model = CrossCat(n_chains=1, n_draws=2, random_state=0, covariance_type="diag", column_start="separate")
    model.set_params(moves=[Gibbs()])
    assert warnings_of(lambda: model.partial_fit(x[:200]))
    assert warnings_of(lambda: model.partial_fit(x[200:]))


def test_it_is_no_warning_of_convergence():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConvergenceWarning)
        APART.fit(table(2.0))
    assert [one.category for one in found] == [DependenceWarning]


def test_rows_of_weight_0_say_nothing():
    x = table(0.0, 400)
    odd = np.column_stack([np.linspace(-5.0, 5.0, 200)] * 3)
    rows = np.concatenate([x, odd])
    assert warnings_of(lambda: APART.fit(rows))
    assert not warnings_of(lambda: APART.fit(rows, sample_weight=np.repeat([1, 0], [400, 200])))
