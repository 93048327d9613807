"""Missing cells of real columns with full covariance have limits, where the grids are those of the data."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal.columns.binding import bind_columns
from sklearn_subanneal.columns.cell_ranges import MOST_RANGES
from sklearn_subanneal.columns.joint_real import real_table

X = np.array([[0.0, 7.0], [np.nan, 7.0], [4.0, np.nan], [10.0, 7.0]])


def models_of(in_views, **kw):
    arrays = list(X.T.copy())
    return bind_columns(
        ["x", "y"], ["real"] * 2, [0, 0], arrays, covariance_type="full", in_views=in_views, **kw
    ), arrays


def limits_of(in_views, **kw):
    """In the units of the data, (2, n_columns)."""
    models, arrays = models_of(in_views, **kw)
    if in_views:
        limits = real_table(models, [0, 1], arrays, np.arange(len(X))).limits
        center, scale = (np.concatenate([getattr(model, name) for model in models]) for name in ("center", "scale"))
    else:
        assert models[0].data(arrays).limited == (models[0].limits is not None)
        limits, center, scale = models[0].limits, models[0].center, models[0].scale
    return None if limits is None else np.asarray(limits) * scale + center


@pytest.mark.parametrize("in_views", [False, True], ids=["mixture", "views"])
def test_cells_are_at_most_some_ranges_away(in_views):
    low, high = limits_of(in_views)
    assert (low[0], high[0]) == pytest.approx((-10.0 * MOST_RANGES, 10.0 + 10.0 * MOST_RANGES))
    # A constant column has no range.
    assert low[1] < 7.0 < high[1] < np.inf


@pytest.mark.parametrize("in_views", [False, True], ids=["mixture", "views"])
def test_fixed_grids_have_no_limits(in_views):
    """Nothing of the model depends on the data then."""
    assert limits_of(in_views, grids="fixed") is None
    assert limits_of(in_views, learn=False) is None
