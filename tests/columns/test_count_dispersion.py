"""Counts that vary more than Poisson counts do, and the sums that belong to each value of their dispersion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.columns import bind_columns, choose_type
from sklearn_subanneal.columns._count import CountData, CountStatistics
from sklearn_subanneal.tables.cells import array_cells

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


def bound(cells, **settings):
    (model,) = bind_columns(["visits"], ["count"], [0], [np.asarray(cells, np.int32)], **settings)
    return model


def test_a_dispersion_too_small_for_log_gamma_is_refused():
    """Differences of log gamma lost their digits, and masses of all counts were not 1 altogether, or infinite."""
    cells = np.random.default_rng(0).poisson(5.0, 50).astype(np.int32)
    for small in (1e-16, 1e-12):
        for given in (
            {"feature_params": {"count": {"dispersion": small}}, "learn": False},
            {"feature_grids": {"visits": {"dispersion": [0.0, small, 1.0]}}},
        ):
            with pytest.raises(
                ValueError, match=rf"'visits' has 50 counts, and a dispersion of {small:g} is too small"
            ):
                bound(cells, **given)
    for dispersion in (0.0, 1e-10, 1e-6):
        model = bound(cells, learn=False, feature_params={"count": {"dispersion": dispersion}})
        found = model.statistics(model.data([cells]))
        found.rebuild(np.zeros(50, np.int32))
        masses = np.exp(found.log_densities(np.arange(400.0)[:, None], 1))
        np.testing.assert_allclose(masses.sum(), 1.0, atol=0.01)
    # The more rows, the larger is the least; a rate that is given has its share.
    assert bound(cells, learn=False, feature_params={"count": {"dispersion": 1e-9, "rate": 900.0}})
    with pytest.raises(ValueError, match="too small"):
        bound(cells, learn=False, feature_params={"count": {"dispersion": 1e-9, "rate": 1100.0}})


def test_counts_too_large_for_log_gamma_altogether_are_refused():
    cells = np.full(500, 2_000_000_001)
    assert bound(cells[:499])
    with pytest.raises(
        ValueError, match=r"'visits' has counts that are 1e\+12 altogether.*Declare it 'real' or 'skewed'"
    ):
        bound(cells)


def test_counts_too_large_altogether_are_not_inferred():
    rng, n = np.random.default_rng(0), 20_000
    cells = np.where(rng.random(n) < 0.3, rng.integers(2**30, 2**31 - 1, n), rng.poisson(1.0, n)).astype(float)
    assert choose_type(array_cells("visits", cells[:2000])).kind == "count"
    assert choose_type(array_cells("visits", cells)).kind == "skewed"
