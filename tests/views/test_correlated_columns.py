"""Groups of correlated columns, in which the views of a chain start."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from sklearn_subanneal import CrossCat
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.views.correlated_columns import correlated_columns


def chained(rng, n_rows):
    """Columns 0, 2 and 4 in a chain, by functions that are not linear; 1 and 3 correlated; 5 alone; 6 constant."""
    a, b, noise = rng.normal(size=n_rows), rng.normal(size=n_rows), rng.normal(size=(n_rows, 4))
    middle = a + noise[:, 0]
    return np.column_stack(
        [np.exp(2 * a), b, middle, -(b**3) + noise[:, 1], middle + noise[:, 2], noise[:, 3], np.ones(n_rows)]
    )


def test_columns_are_connected_directly_or_by_way_of_others():
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(correlated_columns(chained(rng, 300)), [0, 1, 0, 1, 0, 2, 3])


def test_a_product_is_connected_with_its_factors():
    X = np.random.default_rng(2).uniform(-1.0, 1.0, (500, 4))
    np.testing.assert_array_equal(correlated_columns(np.column_stack([X, X[:, 1] * X[:, 3]])), [0, 1, 2, 1, 1])


def test_missing_cells_leave_the_groups():
    rng = np.random.default_rng(1)
    cells = chained(rng, 600)
    cells[rng.random(cells.shape) < 0.3] = np.nan
    cells[:, 6] = np.nan
    np.testing.assert_array_equal(correlated_columns(cells), [0, 1, 0, 1, 0, 2, 3])


def test_a_pair_is_connected_where_its_rank_correlation_is_significant():
    """At the level of four tests: by the p value of scipy, which has another approximation of the variance."""
    rng = np.random.default_rng(2)
    connected, p = [], []
    for slope in np.repeat(np.linspace(0.1, 0.9, 9), 20):
        x, y = rng.normal(size=(2, 60))
        connected.append(correlated_columns(np.column_stack([x, slope * x + y])).max() == 0)
        p.append(spearmanr(x, slope * x + y).pvalue)
    connected, p = np.array(connected), np.array(p)
    assert connected[p < 0.001].all()
    assert connected[p > 0.01].mean() < 0.04
    assert 40 < connected.sum() < 160


def test_independent_columns_are_seldom_connected():
    rng = np.random.default_rng(3)
    n_groups = [correlated_columns(rng.standard_t(2, size=(100, 10))).max() + 1 for _ in range(200)]
    assert np.mean(np.less(n_groups, 10)) < 0.04


def test_weak_dependence_does_not_connect_the_columns_of_a_long_table():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 100_000))
    assert spearmanr(x, 0.05 * x + y).pvalue < 1e-20
    np.testing.assert_array_equal(correlated_columns(np.column_stack([x, 0.05 * x + y])), [0, 1])


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_views_of_correlated_reals_are_where_a_chain_starts(covariance_type):
    """Columns that never move stay there; with diagonal covariance each column starts in its own view."""
    X = chained(np.random.default_rng(0), 300)[:, :6]
    model = CrossCat(
        covariance_type=covariance_type,
        moves=[Gibbs()],
        feature_types=["real"] * 6,
        n_chains=1,
        n_draws=1,
        random_state=0,
    )
    labels = model.fit(X).posterior_column_labels_[0, 0]
    expected = [0, 1, 0, 1, 0, 2] if covariance_type == "full" else range(6)
    np.testing.assert_array_equal(labels, expected)
