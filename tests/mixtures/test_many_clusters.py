"""Tables of hundreds of clusters: annealing finds these, and does not end in a few large ones."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import SubsampleAnnealedDPMM


def of_many_clusters(seed, n_rows=20_000, n_columns=20, n_clusters=200):
    rng = np.random.default_rng(seed)
    frequencies = rng.dirichlet(np.full(4, 0.5), (n_clusters, n_columns))
    clusters = rng.choice(n_clusters, n_rows, p=rng.dirichlet(np.full(n_clusters, 5.0)))
    below = frequencies[clusters].cumsum(axis=2) < rng.random((n_rows, n_columns, 1))
    return below.sum(axis=2).clip(0, 3)


@pytest.mark.parametrize("seed", range(4))
def test_clusters_of_categories_are_found(seed):
    model = SubsampleAnnealedDPMM(feature_types=["categorical"] * 20, n_chains=1, random_state=seed)
    assert 200 < model.fit(of_many_clusters(seed)).n_clusters_ < 320
