"""The rows on which chains start: drawn at random, and others for values that would be lost without them, alone."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.columns.binding import bind_table
from sklearn_subanneal.columns.domains import with_domains
from sklearn_subanneal.shards import ShardedTable, first_values
from sklearn_subanneal.shards.start_rows import start_rows
from sklearn_subanneal.tables.cells import is_missing

N_ROWS = 20_000
FAST = {"n_chains": 1, "n_draws": 1, "max_sweeps": 0, "random_state": 0}


def read_by(model):
    return partial(model._read_table, keep_empty=True)


def sampled(frame, n_rows, model=None, seed=1):
    model = SubsampleAnnealedDPMM() if model is None else model
    return ShardedTable(frame).sample(n_rows, np.random.default_rng(seed), read_by(model))


@pytest.fixture(scope="module")
def prices():
    """Of 5,000 values each, of which 500 rows lack most; the first ones are in order."""
    prices = np.random.default_rng(0).normal(50.0, 10.0, size=(N_ROWS, 3)).round(2)
    return np.column_stack([np.sort(prices[:, 0]), prices[:, 1:]])


def test_no_rows_are_added_for_numbers_that_are_no_categories(prices):
    start = sampled(prices, 500)
    assert len(start.rows) == 500
    assert_array_equal(start.rows, np.sort(np.random.default_rng(1).choice(N_ROWS, 500, replace=False)))
    assert_array_equal(start.X, prices[start.rows])
    assert_array_equal(start.drawn, np.arange(500))
    assert not start.crowded


def rare_values():
    """Columns with values that a few of 20,000 rows have."""
    rng = np.random.default_rng(0)
    names = rng.choice(["red", "green", "blue"], size=N_ROWS).astype(object)
    names[[17, 400, 9000]] = "violet", "brown", "brown"
    codes = np.where(rng.random(N_ROWS) < 0.995, rng.integers(30, size=N_ROWS), rng.integers(30, 50, size=N_ROWS))
    frame = pd.DataFrame({"names": names, "zip code": 10_000 + 37 * codes})
    frame["grade"] = rng.integers(1, 6, size=N_ROWS)
    frame.loc[N_ROWS - 1, "grade"] = 9
    frame["flag"] = rng.integers(2, size=N_ROWS)
    frame.loc[5, "flag"] = 2
    frame["price"] = rng.lognormal(3.0, 1.0, size=N_ROWS).round(1)
    frame.loc[7, "price"] = -1.0
    frame["events"] = rng.poisson(15.0, size=N_ROWS).astype(float)
    frame.loc[8, "events"] = 2.5
    frame["constant"] = 5.0
    frame.loc[[3, 99], "constant"] = 7.0, 8.0
    frame["nearly empty"] = np.nan
    frame.loc[N_ROWS // 2, "nearly empty"] = 1.5
    frame["gap"] = rng.normal(size=N_ROWS)
    frame.loc[12_345, "gap"] = np.nan
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(3000, size=N_ROWS), unit="D")
    return frame


@pytest.mark.parametrize("model", [SubsampleAnnealedDPMM(), CrossCat()], ids=["mixture", "views"])
def test_no_value_is_lost(model):
    frame = rare_values()
    start = sampled(frame, 300, model)
    table, arrays = read_by(model)(start.X)
    table = with_domains(table, bind_table(table, arrays))
    for column, arrays in zip(table.columns, table._typed(model, frame, "missing")[0], strict=True):
        assert_array_equal(is_missing(arrays[0]), frame[column.name].isna(), err_msg=column.name)
    kinds = dict(zip(table.names, table.kinds, strict=True))
    assert kinds["zip code"] == kinds["names"] == "categorical"
    assert kinds["events"] != "count" and kinds["flag"] == "ordinal"
    # Few rows are added, and none for a value that is there: the first rows of frequent ones are not.
    lacking = frame["zip code"].nunique() - frame["zip code"].iloc[start.rows[start.drawn]].nunique()
    assert 300 + lacking < len(start.rows) < 300 + lacking + 60
    added = np.setdiff1d(start.rows, start.rows[start.drawn])
    assert len(start.drawn) == 300 and {17, 400, 5, 7, 8, 3, 12_345} <= set(start.rows)
    assert 9000 not in added and 0 not in added


def test_declared_types_say_what_is_lost(prices):
    """Numbers that are declared categories are all known."""
    model = SubsampleAnnealedDPMM(feature_types=["categorical", "real", "real"])
    start = sampled(prices, 500, model)
    assert_array_equal(np.unique(start.X[:, 0]), np.unique(prices[:, 0]))
    # Each is there once more.
    assert len(start.rows) == 500 + len(np.unique(prices[:, 0])) - len(np.unique(prices[start.rows[start.drawn], 0]))


def test_kept_rows_stand_for_all():
    """They are drawn at random: none of those that were added, at the start of the table."""
    rng = np.random.default_rng(0)
    names = np.array([f"n{i}" for i in range(900)] + ["usual"] * 2100)
    frame = pd.DataFrame({"names": names, "x": rng.normal(size=3000)})
    model = SubsampleAnnealedDPMM(**FAST, covariance_type="diag").fit(ShardedTable(frame, n_start_rows=300))
    assert len(model._table.columns[0].categories) == 901
    assert len(model.posterior_rows_) == 300
    assert 50 < np.sum(model.posterior_rows_ < 900) < 130
    assert model.posterior_labels_.shape == (1, 1, 300)


@pytest.fixture
def many_categories(monkeypatch):
    monkeypatch.setattr(first_values, "MOST_VALUES", 100)
    monkeypatch.setattr(first_values, "MOST_CATEGORIES", 300)
    rng = np.random.default_rng(0)
    return pd.DataFrame({"place": rng.integers(400, size=4000).astype(str), "x": rng.normal(size=4000)})


def test_lost_cells_of_many_categories_are_counted(many_categories):
    frame = many_categories
    frame.loc[5:20, "place"] = None
    model = SubsampleAnnealedDPMM(**FAST, covariance_type="diag", feature_types={"place": "categorical"})
    with pytest.warns(UserWarning, match="Column 'place' has very many values") as caught:
        model.fit(ShardedTable(frame, n_start_rows=300))
    known = model._table.columns[0].categories
    n_lost = int(np.sum(~frame["place"].isin(known) & frame["place"].notna()))
    text = next(str(one.message) for one in caught if "very many" in str(one.message))
    assert f"have {len(known)} alone: {n_lost:,} of its 4,000 cells have others, which count as missing" in text
    with pytest.raises(ValueError, match=rf"{n_lost:,} of its 4,000 cells have others, which unseen='error' does not"):
        model.set_params(unseen="error").fit(ShardedTable(frame, n_start_rows=300))


def test_no_cells_of_declared_levels_are_lost(many_categories):
    frame = many_categories.astype({"place": "category"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=UserWarning, message=".*chain")
        model = SubsampleAnnealedDPMM(**FAST, covariance_type="diag", unseen="error")
        model.fit(ShardedTable(frame, n_start_rows=300))
    assert len(model._table.columns[0].categories) == 400


AMOUNTS = np.exp(2.0 * np.random.default_rng(0).normal(size=30_000))
# More values than such codes have.
READINGS = np.random.default_rng(0).permutation(400_000)[:120_000].astype(float)


@pytest.mark.parametrize(
    ("cells", "rare"),
    [
        pytest.param(AMOUNTS, -3.3, id="negative"),
        pytest.param(AMOUNTS, 0.0, id="zero"),
        pytest.param(READINGS, -2.0, id="negative among very many"),
        pytest.param(READINGS, 3e10, id="large"),
    ],
)
def test_no_number_of_many_is_lost(cells, rare):
    """A column of so many values is known by few of them: those that say whether its type takes all."""
    X = cells[:, None].copy()
    X[777] = rare
    model = SubsampleAnnealedDPMM()
    start = ShardedTable(X).sample(300, np.random.default_rng(1), read_by(model))
    table, arrays = read_by(model)(start.X)
    table = with_domains(table, bind_table(table, arrays))
    assert not is_missing(table._typed(model, X, "missing")[0][0][0]).any()
    assert len(start.rows) < 310 and len(start.drawn) == 300
    # Parts of the table lead to the same values.
    whole = first_values.FirstValues.of(X).columns[0]
    parts = [first_values.FirstValues.of(part) for part in np.split(X, 6)]
    joined = first_values.FirstValues.joined
    for own in (joined(parts), joined([joined(parts[:2]), joined(parts[2:])])):
        assert own.columns[0].some is not None
        assert own.columns[0].values is whole.values is None
        pd.testing.assert_series_equal(own.columns[0].some, whole.some, check_names=False)


@pytest.mark.parametrize("n_rows", [30_000, len(READINGS)])
def test_a_fraction_among_many_counts_is_told(n_rows):
    """A column that is declared as counts cannot hold it: it had counted as missing."""
    X = READINGS[:n_rows, None] + 1.0
    X[777] = 1000.5
    with pytest.raises(ValueError, match=r"must be count but holds 1000\.5"):
        sampled(X, 300, SubsampleAnnealedDPMM(feature_types=["count"]))


def test_further_values_of_a_column_of_many():
    """Of 15,000 values the rows drawn at random have one: the type of the column depends on others."""
    X = np.zeros((300_000, 1))
    X[-15_000:, 0] = AMOUNTS[:15_000]
    rows = np.arange(100)
    start = start_rows(rows, first_values.FirstValues.of(X), lambda own: X[own], read_by(SubsampleAnnealedDPMM()))
    assert len(np.unique(start.X)) >= 20


def test_texts_of_many_values_are_not_told_apart(many_categories):
    found = first_values.FirstValues.of(many_categories)
    assert found.columns[0].known is None
    assert len(found.columns[1].known) <= 24
    mixed = many_categories.assign(x=many_categories["place"])
    assert first_values.FirstValues.joined([found, first_values.FirstValues.of(mixed)]).columns[1].known is None
