"""Rounded numbers: 24 bits, whatever their size, and the same for neighbours in the last bits."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal._core.rounding import geometric_grid, rounded


def test_rounded_to_24_bits():
    rng = np.random.default_rng(0)
    values = rng.normal(size=1000) * 10.0 ** rng.integers(-300, 300, size=1000)
    found = rounded(values)
    np.testing.assert_allclose(found, values, rtol=2.0**-24)
    mantissa = np.frexp(found)[0] * 2.0**24
    np.testing.assert_array_equal(mantissa, np.round(mantissa))
    np.testing.assert_array_equal(rounded(found), found)
    assert (rounded(np.nextafter(values, np.inf)) == found).mean() > 0.999
    np.testing.assert_array_equal(rounded([0.0, -1.0, np.inf]), [0.0, -1.0, np.inf])
    assert np.isnan(rounded(np.nan))


@pytest.mark.parametrize(("low", "high", "n"), [(1e-4, 10.0, 20), (0.05, 1e4, 24), (1e-200, 1e200, 7)])
def test_grids_are_geometric_and_rounded(low, high, n):
    grid = geometric_grid(low, high, n)
    np.testing.assert_allclose(grid, np.geomspace(low, high, n), rtol=2.0**-24)
    np.testing.assert_array_equal(rounded(grid), grid)
    assert (np.diff(grid) > 0.0).all()
