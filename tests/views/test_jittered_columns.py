"""Columns of repeated values are the same cells everywhere in a chain: jittered ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.columns.joint_real import bind_joint_reals, modelled_cells
from sklearn_subanneal.views import views_chain

SIZES = np.array([0.98, 0.9, 0.86, 0.82, 0.79, 0.76, 0.74, 0.71, 0.69, 0.66, 0.64, 0.62])
WALLS = np.array([294.0, 318.5, 294.0, 318.5, 343.0, 416.5, 245.0, 269.5, 294.0, 318.5, 343.0, 367.5])
ROOFS = np.repeat([110.25, 122.5, 147.0, 122.5, 220.5], [1, 1, 3, 1, 6])


def buildings(n_rows, seed):
    """Size, wall, roof and heating of buildings of twelve shapes, which determine the first three; 15 % missing."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(12, size=n_rows)
    heating = 40.0 * SIZES[shape] + 3.0 * rng.normal(size=n_rows)
    X = np.column_stack([SIZES[shape], WALLS[shape], ROOFS[shape], heating])
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def test_rows_are_allocated_by_the_cells_that_blocks_have(monkeypatch):
    """Each column alone has the cells, the order of the rows, and the gaps of the joint reals."""
    chains = []
    original = views_chain.ViewsChain.__init__

    def kept(self, *args, **kwargs):
        original(self, *args, **kwargs)
        chains.append(self)

    monkeypatch.setattr(views_chain.ViewsChain, "__init__", kept)
    X = buildings(60, 0)
    CrossCat(n_chains=1, n_draws=1, feature_types=["real"] * 4, covariance_type="full", random_state=0).fit(X)
    chain = chains[0]
    for j, column in enumerate(chain.columns):
        np.testing.assert_allclose(column.data.array, chain.reals.observed[:, j], rtol=1e-6)
    roofs = chain.reals.observed[:, 2]
    assert len(np.unique(roofs)) > 2 * len(np.unique(ROOFS))


@pytest.mark.parametrize("seed", [0, 2])
def test_a_function_of_the_clusters_stays_in_their_view(seed):
    """By raw cells, the density of few values in a view of their own was unbounded, and most chains put them there."""
    model = CrossCat(feature_types=["real"] * 4, n_chains=4, n_draws=1, random_state=seed).fit(buildings(400, seed))
    np.testing.assert_array_equal(model.posterior_column_labels_[:, -1], 0)


def test_equal_columns_do_not_become_collinear():
    cells = np.random.default_rng(0).choice([0.0, 1.0, 2.0, 5.0], size=200)
    models = bind_joint_reals(
        ["a", "b"], ["real"] * 2, (0, 1), np.tile(cells[:, None], 2), [{}] * 2, learn=True, grids="data"
    )
    spread = modelled_cells(models, [cells, cells])
    assert len(np.unique(spread[:, 0])) == 200
    assert abs(np.corrcoef(spread[cells == 0.0].T)[0, 1]) < 0.3
    np.testing.assert_array_equal(spread, modelled_cells(models, [cells, cells]))


def tickets(n_rows, seed):
    """Prices of three classes, most of them common ones close to rare ones, and four booleans of a group of persons."""
    rng = np.random.default_rng(seed)
    tier, group = rng.integers(3, size=n_rows), rng.random(n_rows) < 0.35
    common = np.array([[7.75, 7.9, 8.05, 8.66], [13.0, 13.5, 10.5, 26.0], [26.55, 30.0, 52.0, 53.1]])
    prices = common[tier, rng.choice(4, n_rows, p=[0.4, 0.3, 0.2, 0.1])]
    rare = rng.random(n_rows) < 0.4
    prices[rare] *= np.exp(0.1 * rng.normal(size=rare.sum()))
    flags = rng.random((n_rows, 4)) < np.where(group, 0.9, 0.1)[:, None]
    columns = {f"flag{j}": flags[:, j] for j in range(4)}
    return pd.DataFrame({"tier": tier.astype(str), "price": prices, **columns})


@pytest.fixture(scope="module")
def ticket_model():
    frame = tickets(1000, 0)
    return frame, CrossCat(n_chains=2, random_state=0).fit(frame)


def test_the_density_of_a_column_with_tied_values_has_the_integral_one(ticket_model):
    frame, model = ticket_model
    edges = np.unique(np.concatenate([np.geomspace(1.0, 500.0, 20_000), np.linspace(7.0, 9.0, 20_000)]))
    grid = pd.DataFrame(np.nan, np.arange(len(edges) - 1), frame.columns, dtype=object)
    grid["price"] = 0.5 * (edges[1:] + edges[:-1])
    mass = np.exp(model.score_samples(grid)) @ np.diff(edges)
    assert abs(mass - 1.0) < 0.05


def test_samples_take_tied_values_as_often_as_rows_do(ticket_model):
    frame, model = ticket_model
    prices = model.sample(20_000)["price"].to_numpy(float)
    for value in (7.75, 8.05, 13.0, 52.0):
        share = np.mean(frame["price"] == value)
        assert abs(np.mean(prices == value) - share) < 0.25 * share + 0.005
    assert 0.3 < np.mean(~np.isin(prices, frame["price"])) < 0.5


@pytest.mark.parametrize(
    "event",
    [
        "price > 8.05",
        "price >= 8.05",
        "price < 7.9",
        "price <= 7.9",
        "7.9 < price < 8.05",
        "price == 8.05",
        "price != 52",
    ],
)
def test_probabilities_of_events_are_those_of_samples(ticket_model, event):
    """A tied value is in an event or not; its interval is not divided."""
    _, model = ticket_model
    share = model.sample(20_000, random_state=1).astype({"price": float}).eval(event).mean()
    assert abs(model.probability(event) - share) < 4.0 * np.sqrt(max(share * (1.0 - share), 1e-4) / 20_000)


def test_quantiles_are_tied_values_where_these_are(ticket_model):
    frame, model = ticket_model
    quantiles = model.conditional_quantiles("price", np.linspace(0.05, 0.95, 19), given={"tier": "0"})
    assert np.isin(quantiles, frame["price"]).mean() > 0.4
