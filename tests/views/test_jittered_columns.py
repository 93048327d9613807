"""Columns of repeated values are the same cells everywhere in a chain: jittered ones."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.views import views_chain


def shapes(n_rows, seed):
    """Buildings of twelve shapes: three measures of each, and a last column of four values, a function of the shape."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(12, size=n_rows)
    measures = rng.normal(size=(12, 3))[shape] * [1.0, 50.0, 20.0] + rng.normal(size=(n_rows, 3)) * 0.01
    return np.column_stack([measures, np.array([110.0, 122.0, 147.0, 220.0])[shape % 4]])


def test_rows_are_allocated_by_the_cells_that_blocks_have(monkeypatch):
    """Each column alone has the cells, the order of the rows, and the gaps of the joint reals."""
    chains = []
    original = views_chain.ViewsChain.__init__

    def kept(self, *args, **kwargs):
        original(self, *args, **kwargs)
        chains.append(self)

    monkeypatch.setattr(views_chain.ViewsChain, "__init__", kept)
    X = shapes(60, 0)
    X[5, 3] = np.nan
    CrossCat(n_chains=1, n_draws=1, feature_types=["real"] * 4, covariance_type="full", random_state=0).fit(X)
    chain = chains[0]
    for j, column in enumerate(chain.columns):
        np.testing.assert_allclose(column.data.array, chain.reals.observed[:, j], rtol=1e-6)
    assert len(np.unique(chain.reals.observed[:, 3])) == 60


@pytest.mark.parametrize("seed", range(3))
def test_a_function_of_the_clusters_stays_in_their_view(seed):
    """By raw cells, the density of four values in a view of their own was unbounded, and they left."""
    model = CrossCat(feature_types=["real"] * 4, n_chains=4, n_draws=1, random_state=seed).fit(shapes(300, seed))
    found = model.posterior_column_labels_[:, -1]
    assert np.mean(found == found[:, :1]) > 0.9
