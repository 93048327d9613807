"""What views say of rows that are left out: of some rows as of all, and shared by the pools of all columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.views import column_pools
from sklearn_subanneal.views.column_pools import learned_pools
from sklearn_subanneal.views.left_out_evidence import LeftOutEvidence, most_rows, used_draws
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.pool_learning import learned_pool

N_ROWS = 140


@pytest.fixture(scope="module")
def fitted():
    """Two correlated reals, a count and two categories, each with gaps, and a category that is known in few rows."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, N_ROWS)
    X = pd.DataFrame(
        {
            "size": 3.0 * group + rng.normal(size=N_ROWS),
            "visits": pd.array(rng.poisson(2.0 + 3.0 * group), "Int64"),
            "colour": pd.Categorical.from_codes(group, ["blue", "green", "red"]),
            "kind": pd.Categorical.from_codes((group + rng.integers(0, 2, N_ROWS)) % 3, ["a", "b", "c"]),
            "rare": pd.Categorical.from_codes(group, ["x", "y", "z"]),
        }
    )
    X.insert(1, "weight", X["size"] + rng.normal(size=N_ROWS))
    for j in range(5):
        X.iloc[(j + 2) :: 6, j] = None
    X.loc[np.arange(N_ROWS) % 5 != 1, "rare"] = None
    model = CrossCat(n_chains=2, n_draws=3, random_state=0).fit(X)
    arrays = model.typed_columns(X)
    labels = [own for result in model._results for own in result.labels]
    rows = LeftOutRows(model._seen_rows(arrays), arrays, np.ones(N_ROWS))
    return model, labels, [array[model._copies.rows] for array in arrays], rows


def test_evidence_of_some_rows_is_that_of_all_at_their_places(fitted):
    model, _, _, rows = fitted
    some = np.array([3, 8, 9, 40, 41, 139])
    taken = LeftOutEvidence.of(model._models, model._draws, rows).take(some)
    alone = LeftOutEvidence.of(model._models, model._draws, rows.take(some))
    assert len(taken.views) == len(alone.views) >= len(used_draws(model._draws))
    for own, other in zip(taken.views, alone.views, strict=True):
        assert (own.draw, own.place, own.chain) == (other.draw, other.place, other.chain)
        np.testing.assert_array_equal(own.members, other.members)
        np.testing.assert_array_equal(own.labels, rows.seen.labels[own.draw][own.place][some])
        np.testing.assert_array_equal(own.log_shares, other.log_shares)
        np.testing.assert_array_equal(own.densities, other.densities)


def test_a_pool_of_shared_evidence_is_that_of_its_rows(fitted):
    model, labels, modelled, rows = fitted
    known = modelled[4] >= 0
    of_rows = [own[:, known] for own in labels], [array[known] for array in modelled]
    own = rows.take(np.flatnonzero(rows.arrays[4] >= 0))
    shared = LeftOutEvidence.of(model._models, model._draws, rows).take(np.flatnonzero(rows.arrays[4] >= 0))
    one = learned_pool(model._models, model._draws, *of_rows, own, 4)
    two = learned_pool(model._models, model._draws, *of_rows, own, 4, shared)
    for name in ("powers", "chain_weights", "class_powers", "view_weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_column_known_in_few_rows_has_rows_of_its_own(fitted, monkeypatch):
    model, labels, modelled, rows = fitted
    handed = {}

    def learned(models, chains, labels, arrays, left_out, column, evidence):
        handed[column] = left_out, evidence

    monkeypatch.setattr(column_pools, "learned_pool", learned)
    monkeypatch.setattr(column_pools, "MOST_ROWS", 25)
    monkeypatch.setattr(column_pools, "FEWEST_ROWS", 25)
    learned_pools(model._models, model._draws, labels, modelled, rows, [3, 4, 5])
    left_out, evidence = handed[5]
    # Of the 28 rows that have it, where the 50 shared ones have about ten.
    assert evidence is None and len(left_out.counts) == 25 and (left_out.arrays[5] >= 0).all()
    for column in (3, 4):
        assert len(handed[column][1].rows.counts) == 25
        assert (handed[column][1].rows.arrays[column] >= 0).all()


def test_log_densities_have_a_limit(fitted, monkeypatch):
    model, *_ = fitted
    evidence = LeftOutEvidence.of(model._models, model._draws, fitted[-1])
    n_each = sum(view.densities.shape[0] * view.densities.shape[2] for view in evidence.views)
    monkeypatch.setattr("sklearn_subanneal.views.left_out_evidence.FEWEST_ROWS", 1)
    monkeypatch.setattr("sklearn_subanneal.views.left_out_evidence.MOST_DENSITIES", 50 * (n_each + 6 * 3))
    assert most_rows(model._models, model._draws, 3) == 50
