"""Cells of a block given the others of their row, and rows left out: against densities with cells masked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sklearn_subanneal.columns._block_cells import cell_densities, cells_left_out, rows_left_out
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics

N_CLUSTERS = 3


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def block(width, labels, rng):
    """Statistics of a draw, without data, and the rows in them."""
    mixing = rng.normal(size=(width, width)) + np.eye(width)
    cells = rng.normal(size=(len(labels), width)) @ mixing
    psi = 0.3 * mixing @ mixing.T + 0.1 * np.eye(width)
    parameters = {"mu": rng.normal(size=width), "kappa": 0.7, "psi": psi, "nu": width + 1.5}
    return restored(cells, labels, parameters), cells, parameters


def restored(cells, labels, parameters):
    statistics = GaussianStatistics(GaussianData(cells), parameters)
    statistics.rebuild(labels)
    out = GaussianStatistics(None, parameters)
    out.set_state(statistics.get_state(labels.max() + 1))
    return out


def masked(values, j):
    out = values.copy()
    out[:, j] = np.nan
    return out


@pytest.mark.parametrize("width", [1, 2, 5])
def test_cells_given_the_others(width, rng):
    statistics, *_ = block(width, np.arange(20) % N_CLUSTERS, rng)
    values = np.where(rng.random((40, width)) < 0.3, np.nan, 2.0 * rng.normal(size=(40, width)))
    values[0] = np.nan
    found = cell_densities(statistics, values, N_CLUSTERS + 1)
    whole = statistics.log_densities(values, N_CLUSTERS + 1)
    for j in range(width):
        wanted = whole - statistics.log_densities(masked(values, j), N_CLUSTERS + 1)
        assert_allclose(found[j], wanted, rtol=1e-9, atol=1e-9)
        assert not found[j][np.isnan(values[:, j])].any()
    with pytest.raises(ValueError, match="17 slots asked for, capacity is 16"):
        cell_densities(statistics, values, 17)


@pytest.mark.parametrize(("width", "n_clusters"), [(1, 3), (4, 3), (3, 15)])
def test_rows_are_left_out_of_their_clusters(width, n_clusters, rng):
    # With 15 clusters the new one is in the last slot.
    labels = np.arange(45) % n_clusters
    statistics, cells, parameters = block(width, labels, rng)
    before = statistics.log_densities(cells, n_clusters + 1)
    asked = np.where(rng.random(cells.shape) < 0.3, np.nan, cells)
    rows, slots = np.arange(45, dtype=np.int32), labels.astype(np.int32)
    whole, of_cells = rows_left_out(statistics, cells, asked, slots), cells_left_out(statistics, cells, asked, slots)
    for i in rows:
        k, rest = labels[i], np.delete(labels, i)
        others = restored(np.delete(cells, i, axis=0), rest, parameters)
        row = asked[i : i + 1]
        assert whole[i] == pytest.approx(others.log_densities(row, n_clusters + 1)[0, k], rel=1e-9, abs=1e-9)
        assert_allclose(of_cells[:, i], cell_densities(others, row, n_clusters + 1)[:, 0, k], rtol=1e-8, atol=1e-9)
    # Nothing has changed, not even by rounding.
    assert_array_equal(statistics.log_densities(cells, n_clusters + 1), before)


def test_predictive_distributions(rng):
    statistics, cells, _ = block(4, np.arange(20) % N_CLUSTERS, rng)
    location, scale, free = statistics.predictive(N_CLUSTERS + 1)
    wanted = statistics.log_densities(cells, N_CLUSTERS + 1)
    some = statistics.log_densities(np.where([True, False, True, False], cells, np.nan), N_CLUSTERS + 1)
    for k in range(N_CLUSTERS + 1):
        law = stats.multivariate_t(location[k], scale[k], free[k])
        assert_allclose(law.logpdf(cells), wanted[:, k], rtol=1e-9, atol=1e-9)
        law = stats.multivariate_t(location[k, ::2], scale[k, ::2, ::2], free[k])
        assert_allclose(law.logpdf(cells[:, ::2]), some[:, k], rtol=1e-9, atol=1e-9)
