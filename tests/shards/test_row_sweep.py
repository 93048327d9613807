"""Sides of rows that are as good as certain."""

from __future__ import annotations

import numpy as np
import pytest
from support.column_examples import data_of

from sklearn_subanneal.columns.binding import KINDS
from sklearn_subanneal.shards._row_sweep import RowSweep


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("distance", [3.0, 30.0, 60.0, 1000.0])
def test_hopeless_sides_are_never_drawn(side, distance):
    """Also where the odds are beyond the range of the exponential function."""
    n_rows = 300
    data = data_of("real", np.zeros(n_rows, np.float32), {})
    means = np.array([0.0, distance]) if side == 0 else np.array([distance, 0.0])
    parameters = KINDS["real"].parameters_class(data, {"mean": means, "precision": np.full(2, 9.0)}, None)
    sides = np.zeros(n_rows, np.int32)
    log_q = RowSweep([parameters], np.zeros(2), 0, 5, 1).divide(np.arange(n_rows, dtype=np.int32), sides, True)
    assert (sides == side).all()
    assert log_q == pytest.approx(-n_rows * np.exp(-4.5 * distance**2), abs=1e-9)
