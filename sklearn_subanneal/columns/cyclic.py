"""Columns of angles, hours of the day, days of the year: von Mises given the cluster, with a von Mises prior."""

from __future__ import annotations

import numpy as np
from scipy.special import ive

from sklearn_subanneal._core.rounding import geometric_grid, rounded
from sklearn_subanneal.columns._plane_parameters import DirectionParameters
from sklearn_subanneal.columns._vonmises import VonMisesData, VonMisesStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.few_levels import are_whole
from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.columns.real import NARROW
from sklearn_subanneal.columns.units import rounding_variance

TURN = 2.0 * np.pi
# Angles of a whole turn may be rounded up by this share of it.
ROUNDING = 1e-6
# A radian must have all digits of a double.
LEAST_PERIOD, MOST_PERIOD = 1e-300, 1e300
# Of longer periods, floating-point numbers do not tell all whole numbers apart.
MOST_WHOLE = 2.0**53
KAPPA_GRID = geometric_grid(0.05, 1e4, 24)
R_GRID = geometric_grid(0.02, 200.0, 16)
# The Fourier coefficient p of a von Mises density is about exp(-p^2 / (2 kappa)): beyond this many standard deviations
# and this many terms, it is nothing to the precision of a double.
MOST_DEVIATIONS, MOST_TERMS = 9.0, 30
MU_GRID = np.arange(16) * (TURN / 16)


class Cyclic(ColumnModel):
    """A column of values on a circle: x and x + period are the same.

    All clusters of a column share the concentration ``kappa``. Standard units are radians from the low end of the
    column's range, which is ``center``; ``scale`` is the length of a radian. The range begins at 0; at minus half a
    period, if the cells are on both sides of 0 and no further from it; and at 1, if they are whole numbers that begin
    there and end with the period, such as months from 1 to 12.

    Where all cells of ``fit`` are whole numbers, those that are drawn or imputed are rounded around the circle: 23.7
    hours of 24 are 0. Probabilities of events are those of such cells.
    """

    kind = "cyclic"
    hyperparameters = {
        "mu": Hyperparameter("finite"),
        "kappa": Hyperparameter(),
        "r": Hyperparameter(),
        "period": Hyperparameter("positive", learned=False),
    }
    remedy = "declare it 'categorical' in feature_types, or convert it to numbers"
    data_class, statistics_class = VonMisesData, VonMisesStatistics
    parameters_class = DirectionParameters

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        period = float(given.get("period", TURN))
        if "period" not in given and np.nanmax(cells) - np.nanmin(cells) > TURN * (1.0 + ROUNDING):
            raise ValueError(
                f"column {name!r} is cyclic and has values from {np.nanmin(cells):g} to {np.nanmax(cells):g}, more "
                "than one turn of angles in radians: give its period, such as 24 of hours or 360 of degrees, by "
                f"feature_params={{{name!r}: {{'period': 24.0}}}}"
            )
        if not LEAST_PERIOD <= period <= MOST_PERIOD:
            raise ValueError(
                f"period of column {name!r} must be from {LEAST_PERIOD:g} to {MOST_PERIOD:g}, got {period:g}: rescale "
                "the column"
            )
        # Values on both sides of 0 and at most half a period from it: that is the column's range.
        is_centered = np.nanmin(cells) < 0.0 and np.nanmax(np.abs(cells)) <= period / 2.0
        low = -period / 2.0 if is_centered else 1.0 if _ends_with(period, cells) else 0.0
        units = np.array([low]), np.array([period / TURN])
        angles = cls(name, sources, {}, {}, *units).values([cells] * (sources[0] + 1))
        resultant = np.nanmean(np.exp(1j * angles))
        # Of a normal wrapped around the circle; no more than of values that are all over it.
        variance = min(-2.0 * np.log(max(abs(resultant), 1e-300)), np.pi**2 / 3.0)
        kappa = _kappa_grid(angles)
        start = {
            "mu": 0.0,
            "kappa": np.clip(rounded(1.0 / max(NARROW * variance, 1e-12)), kappa[0], kappa[-1]),
            "r": 0.1,
        }
        mu = rounded(MU_GRID + np.angle(resultant))
        if not learn or grids == "fixed":
            start, kappa, mu = {"mu": 0.0, "kappa": 1.0, "r": 0.1}, KAPPA_GRID, MU_GRID
            given = {"mu": 0.0} | given
        start |= {key: float(value) for key, value in given.items() if key != "period"}
        if "mu" in given:
            start["mu"] = (start["mu"] - units[0][0]) / units[1][0] % TURN
        axes = {"mu": np.sort(mu % TURN), "kappa": kappa, "r": R_GRID} if learn else {}
        # Those beyond the range are whole numbers within it only if the period is one.
        is_within = np.nanmin(cells) >= low and np.nanmax(cells) < low + period
        is_whole = period <= MOST_WHOLE and are_whole(cells) and bool(is_within or period == np.rint(period))
        return cls(name, sources, start, axes, *units, whole=(is_whole,))

    def standard_grid(self, name, values):
        if name == "mu" and values[-1] - values[0] >= TURN * self.scale[0]:
            raise ValueError(
                f"the grid of mu of column {self.name!r} must lie within one period, {TURN * self.scale[0]:g}, got "
                f"values from {values[0]:g} to {values[-1]:g}"
            )
        return np.sort((values - self.center[0]) / self.scale[0] % TURN) if name == "mu" else values

    def data(self, arrays):
        return VonMisesData(self.values(arrays)[:, 0])

    def values(self, arrays):
        return np.mod(self._cells(arrays) - self.center, self.scale * TURN) / self.scale

    def restore(self, values):
        period = self.scale * TURN
        out = np.mod(values * self.scale, period)
        return np.where(out < period, out, 0.0) + self.center

    def typed(self, values):
        return [self._rounded(column) for column in super().typed(values)]

    def imputed(self, value, first):
        return self._rounded(value)

    def _rounded(self, cells):
        """Cells where all of ``fit`` were whole numbers: the nearest ones of the range around the circle."""
        if not any(self.whole):
            return cells
        least, most, half = self._whole_numbers()
        low = least - half
        return np.clip(np.rint(np.mod(cells - low, most + half - low) + low), least, most)

    def _whole_numbers(self):
        """The least and the largest whole number of the range, and half of what is between them around the circle."""
        period = self.scale[0] * TURN
        # The length of a radian is rounded, and a period of 7 is none of 7.000000000000001, in which there are 8.
        period = np.rint(period) if np.isclose(period, np.rint(period), rtol=1e-12, atol=0.0) else period
        least, most = np.ceil(self.center[0]), np.ceil(self.center[0] + period) - 1.0
        return least, most, 0.5 * (period - (most - least))

    def report(self, parameters):
        return parameters | {"mu": self.restore(np.array([parameters["mu"]]))[0]}

    def cluster_expectations(self, column, n_clusters):
        """The expected unit vector: angles have no mean of their own."""
        mean, variance = (moment[0, :, 0] for moment in column.conditional_moments(np.empty((1, 1)), n_clusters))
        return ((1.0 - variance) * np.array([np.cos(mean), np.sin(mean)])).T, None

    def interval_probabilities(self, column, intervals, n_clusters):
        # A cell is the direction of its cluster, von Mises, plus a von Mises deviation: Fourier coefficients multiply.
        state = column.get_state(n_clusters)
        kappa, r, mu = (state["parameters"][key] for key in ("kappa", "r", "mu"))
        x, y = r * np.cos(mu) + kappa * state["cosines"], r * np.sin(mu) + kappa * state["sines"]
        length, direction = np.hypot(x, y)[:, None], np.arctan2(y, x)[:, None]
        p = np.arange(1.0, MOST_DEVIATIONS * np.sqrt(kappa) + MOST_TERMS)
        sizes = ive(p, length) / ive(0, length) * (ive(p, kappa) / ive(0, kappa)) / (np.pi * p)
        out = np.zeros((len(intervals), n_clusters))
        for i, own in enumerate(intervals):
            low, high = self._ends(own)
            if low < high:
                waves = sizes * (np.sin(p * (high - direction)) - np.sin(p * (low - direction)))
                out[i] = np.clip((high - low) / TURN + waves.sum(axis=1), 0.0, 1.0)
        return out

    def _ends(self, own: Interval) -> np.ndarray:
        """The ends of an interval in radians from the low end of the range, of whole numbers those before rounding."""
        if not any(self.whole):
            return np.clip((np.array([own.low, own.high]) - self.center) / self.scale, 0.0, TURN)
        least, most, half = self._whole_numbers()
        before = own.before_rounding()
        first, last = max(before.low + 0.5, least), min(before.high - 0.5, most)
        if first > last:
            return np.zeros(2)
        # Half of what is between the least and the largest one is rounded to each: for one of these, the end is beyond
        # that of the range.
        ends = first - (half if first == least else 0.5), last + (half if last == most else 0.5)
        return (np.array(ends) - self.center) / self.scale

    def summary(self, first, second):
        """Circular mean, and circular standard deviation sqrt(-2 log r), r the length of the expected unit vector."""
        length = np.clip(np.hypot(first[:, 0], first[:, 1]), 1e-300, 1.0)
        angle = np.arctan2(first[:, 1], first[:, 0])
        return self.restore(angle[:, None]), np.sqrt(-2.0 * np.log(length))[:, None] * self.scale


def _ends_with(period, cells):
    """Whether cells are whole numbers from 1 on that end with the period, or with the first one beyond it."""
    return are_whole(cells) and np.nanmin(cells) >= 1.0 and period <= np.nanmax(cells) < period + 1.0


def _kappa_grid(angles):
    """The grid of kappa, up to the concentration that rounding has left where the values are rounded ones."""
    rounding = rounding_variance(angles)
    if not rounding:
        return KAPPA_GRID
    return geometric_grid(KAPPA_GRID[0], np.clip(1.0 / rounding, 1.0, KAPPA_GRID[-1]), len(KAPPA_GRID))
