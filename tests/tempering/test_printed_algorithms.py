"""The errors in the algorithms that the paper prints, planted, are seen by the tests of moments."""

from __future__ import annotations

import numpy as np
import pytest
from support.tempered_means import LADDER, moments, one_dimension, random_walk, sampled

from sklearn_subanneal.tempering import ParallelTempering, TemperedTransitions


class Printed(TemperedTransitions):
    """A transition without a move at the posterior, and what may be wrong with it."""

    def _iterate(self, replicas, number):
        replicas.redraw_subsets()
        point, ratios = self._down(replicas, replicas.points[0])
        point, others = self._up(replicas, point)
        if np.log1p(-replicas.generator.random()) < self._total(ratios + others):
            replicas.points[0] = replicas.levels[0].point(point.theta)

    def _total(self, ratios):
        return sum(ratios)

    def _down(self, replicas, point):
        levels, ratios = replicas.levels, []
        for m in range(1, len(levels)):
            below = levels[m].point(point.theta)
            ratios.append(levels[m].log_density(below) - levels[m - 1].log_density(levels[m - 1].point(point.theta)))
            point = self._moved(replicas, m, below)
        return point, ratios

    def _up(self, replicas, point):
        levels, ratios = replicas.levels, []
        for m in range(len(levels) - 1, 0, -1):
            below = self._moved(replicas, m, levels[m].point(point.theta))
            point = levels[m - 1].point(below.theta)
            ratios.append(levels[m - 1].log_density(point) - levels[m].log_density(below))
        return point, ratios


class OldKernels(Printed):
    """On the way up the kernel of the level that is entered."""

    def _up(self, replicas, point):
        levels, ratios = replicas.levels, []
        for m in range(len(levels) - 1, 0, -1):
            point = self._moved(replicas, m - 1, levels[m - 1].point(point.theta))
            ratios.append(levels[m - 1].log_density(point) - levels[m].log_density(levels[m].point(point.theta)))
        return point, ratios


class Sum(Printed):
    """The sum of the ratios where their product should be."""

    def _total(self, ratios):
        return np.logaddexp.reduce(ratios)


class NewSubsets(Printed):
    """Other subsets on the way up."""

    def _up(self, replicas, point):
        replicas.redraw_subsets()
        return super()._up(replicas, point)


class OldPoint(TemperedTransitions):
    """The point of the start is accepted: the chain moves by the inner kernel alone, or not at all."""

    def _iterate(self, replicas, number):
        before = replicas.points[0]
        super()._iterate(replicas, number)
        replicas.points[0] = before


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
        pytest.param(OldKernels, 8000, marks=pytest.mark.slow),
        pytest.param(NewSubsets, 8000, marks=pytest.mark.slow),
        (Sum, 500),
        (OldPoint, 500),
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


@pytest.mark.slow
def test_a_transition_without_the_errors():
    model = one_dimension()
    result = sampled(Printed(inner=random_walk(0.25), inverse_temperatures=LADDER), model, 8000)
    assert np.abs(moments(result, model)).max() < 4.0
