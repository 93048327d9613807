"""Columns of repeated values are the same cells everywhere in a chain: jittered ones."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import CrossCat
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
