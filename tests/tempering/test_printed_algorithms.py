"""The errors of parallel tempering that the paper prints, or leaves open, are seen by the tests of moments."""

from __future__ import annotations

import numpy as np
import pytest
from support.tempered_means import LADDER, moments, one_dimension, random_walk, sampled

from sklearn_subanneal.tempering import ParallelTempering


class Forgotten(ParallelTempering):
    """The first level never moves by itself, and swaps are with the wrong neighbour."""

    def _iterate(self, replicas, number):
        first = replicas.points[0]
        replicas.move()
        replicas.points[0] = first
        for m in range(len(replicas.levels) - 1, 0, -1):
            other = min(m + 1, len(replicas.levels) - 1)
            before = replicas.points[m]
            replicas.swap([m])
            # What was accepted for levels m and m - 1 happens to levels m and m + 1.
            if replicas.points[m] is not before:
                replicas.points[m - 1] = replicas.levels[m - 1].point(replicas.points[m].theta)
                replicas.points[m] = replicas.levels[m].point(replicas.points[other].theta)


class NaiveRefresh(ParallelTempering):
    """New subsets without asking the densities."""

    def _iterate(self, replicas, number):
        super()._iterate(replicas, number)
        replicas.redraw_subsets()
        replicas.points[1:] = [
            level.point(point.theta) for level, point in zip(replicas.levels[1:], replicas.points[1:], strict=True)
        ]


@pytest.mark.parametrize(
    ("printed", "n_draws"),
    [
        (Forgotten, 500),
        pytest.param(NaiveRefresh, 1500, marks=pytest.mark.slow),
    ],
)
def test_printed_errors_show(printed, n_draws):
    """What the tests above say of the samplers of the package they do not say of the printed ones."""
    model = one_dimension()
    result = sampled(printed(inner=random_walk(0.25), inverse_temperatures=LADDER), model, n_draws)
    with np.errstate(invalid="ignore"):
        found = moments(result, model)
    stuck = not np.ptp(result.draws, axis=1).all()
    assert stuck or np.abs(found).max() > 5.0
