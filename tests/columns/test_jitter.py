"""Jittered cells lie in the intervals of their values, and columns that repeat alike do not become collinear."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal.columns.jitter import jittered

RNG = np.random.default_rng(0)
GRADES = RNG.choice([0.0, 1.0, 2.0, 5.0], size=(200, 1), p=[0.5, 0.2, 0.2, 0.1])


def test_each_cell_is_nearest_to_its_own_value():
    values, spread = np.unique(GRADES), jittered(GRADES)[:, 0]
    np.testing.assert_array_equal(values[np.abs(spread[:, None] - values).argmin(axis=1)], GRADES[:, 0])
    assert len(np.unique(spread)) == 200


def at_average_density(cells, n):
    """Half of the range that n cells have between the quantiles 0.1 and 0.9."""
    low, high = np.quantile(cells, [0.1, 0.9])
    return 0.5 * n * (high - low) / (0.8 * len(cells))


@pytest.mark.parametrize(
    ("value", "below", "above"), [(0.0, 0.5, 0.5), (1.0, 0.5, 0.5), (2.0, 0.5, 1.5), (5.0, 1.5, 1.5)]
)
def test_cells_are_spaced_evenly_over_the_interval(value, below, above):
    spread = np.sort(jittered(GRADES)[GRADES == value])
    n = len(spread)
    most = at_average_density(GRADES, n)
    low, high = value - min(below, most), value + min(above, most)
    np.testing.assert_allclose(spread, low + (np.arange(n) + 0.5) / n * (high - low))


def test_the_order_does_not_follow_the_rows():
    spread = jittered(np.repeat([[0.0], [1.0]], 500, axis=0))[:500, 0]
    assert abs(np.corrcoef(spread, np.arange(500))[0, 1]) < 0.15


def test_equal_columns_do_not_become_collinear():
    spread = jittered(np.hstack([GRADES, GRADES]))[GRADES[:, 0] == 0.0]
    assert abs(np.corrcoef(spread.T)[0, 1]) < 0.3


def test_distinct_and_rare_values_and_gaps_stay():
    distinct = RNG.normal(size=(200, 1))
    np.testing.assert_array_equal(jittered(distinct), distinct)
    rare = np.append(GRADES[:100], [[7.25], [7.25], [7.25], [7.25], [np.nan]], axis=0)
    np.testing.assert_array_equal(jittered(rare)[-5:], rare[-5:])
    np.testing.assert_array_equal(jittered(np.full((5, 1), 3.0)), np.full((5, 1), 3.0))
    assert jittered(np.empty((3, 0))).shape == (3, 0)


def test_each_call_gives_the_same_cells():
    np.testing.assert_array_equal(jittered(GRADES), jittered(GRADES))
