"""Counts that vary more than Poisson counts do, and the sums that belong to each value of their dispersion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.columns._count import CountData, CountStatistics

PRIOR = {"shape": 1.4, "rate": 0.3}


def statistics(cells, dispersion, grid=None):
    grids = None if grid is None else {"dispersion": grid}
    found = CountStatistics(CountData(cells), PRIOR | {"dispersion": dispersion}, grids)
    found.rebuild(np.arange(len(cells), dtype=np.int32) % 3)
    return found


@pytest.fixture
def cells():
    # Beyond the table of coefficients, too.
    return np.append(np.random.default_rng(0).negative_binomial(0.7, 0.1, 40), [511, 512, 90_000]).astype(np.int32)


def test_a_value_that_is_not_on_the_grid(cells):
    """It is the first, and the chain goes on from it to values of the grid."""
    grid, rng = [0.0, 0.5, 2.0], np.random.default_rng(0)
    found = statistics(cells, 0.3, grid)
    np.testing.assert_allclose(found.log_marginals(3), statistics(cells, 0.3).log_marginals(3), rtol=1e-12)
    found.learn(3, rng)
    value = found.parameters["dispersion"]
    assert value in grid
    np.testing.assert_allclose(found.log_marginals(3), statistics(cells, value).log_marginals(3), rtol=1e-12)


def test_there_are_sums_for_known_values_alone(cells):
    found = statistics(cells, 0.5, [0.0, 0.5])
    with pytest.raises(ValueError, match=r"there are sums for the dispersions \[0.0, 0.5\]"):
        found.parameters = PRIOR | {"dispersion": 0.7}
    with pytest.raises(ValueError, match="at most 8 values, got 9"):
        CountStatistics(None, PRIOR, {"dispersion": np.arange(9.0)})


@pytest.mark.parametrize("dispersion", [0.0, 1.0])
def test_clusters_are_found_whatever_the_dispersion(dispersion):
    """Two clusters that differ in ten columns: neither is split to explain a variance that is larger than the mean."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=600)
    means = rng.choice([2.0, 12.0], (2, 10))[labels]
    X = rng.poisson(means * (rng.gamma(1.0 / dispersion, dispersion, means.shape) if dispersion else 1.0))
    model = SubsampleAnnealedDPMM(feature_types=["count"] * 10, n_chains=1, random_state=0).fit(X[:400])
    learned = np.array([draw["dispersion"] for draw in model.hyperparameters_["columns"].values()])
    assert np.abs(learned - dispersion).mean() < 0.15
    assert model.n_clusters_ == 2
    law = stats.nbinom(1.0 / dispersion, 1.0 / (1.0 + dispersion * means)) if dispersion else stats.poisson(means)
    # Of a row given its cluster; the clusters are apart.
    true = law.logpmf(X)[400:].sum(axis=1).mean() - np.log(2.0)
    assert abs(true - model.score(X[400:])) < 0.35
