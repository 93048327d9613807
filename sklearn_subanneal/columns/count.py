"""Columns of counts: Poisson or negative binomial given the cluster, with a gamma or beta prime prior of the mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaln, gammaln

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns._count import CountData, CountStatistics
from sklearn_subanneal.columns._plane_parameters import CountParameters
from sklearn_subanneal.columns.cell_ranges import limits_of_drawn
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter, nearest_on_grid

SHAPE_GRID = geometric_grid(0.05, 100.0, 20)
RATE_GRID = geometric_grid(0.005, 100.0, 20)
# Excess of the variance over the mean, divided by the square of the mean; 0 is Poisson.
DISPERSION_GRID = np.array([0.0, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0])
# Of log gamma: beyond, differences of it that are log probabilities of cells have errors of more than 0.01.
MOST_ARGUMENT = 1e12
# Probabilities of counts are summed up to so many terms, and beyond integrated, below, within and above so many
# deviations from the middle of a cluster, with so many nodes each.
MOST_TERMS, N_NODES, N_DEVIATIONS = 20_000.0, 100, 10.0
# Beyond, log gamma has lost the digits of a density, and there is hardly any count: the largest cell is 2^31 - 1.
MOST_INTEGRATED = 1e13
# A count between limits is drawn so many times until it is; rarely it is not then.
MOST_TRIES = 20


class Count(ColumnModel):
    """A column of counts; the dispersion, which is learned, says how far from Poisson they are within a cluster."""

    kind, has_moments = "count", True
    hyperparameters = {
        "shape": Hyperparameter(),
        "rate": Hyperparameter(),
        "dispersion": Hyperparameter("from zero", most_values=len(DISPERSION_GRID)),
    }
    dtype, largest = np.int32, 2**31 - 1
    remedy = (
        f"counts are integers from 0 to {largest}, so declare it 'real' or 'categorical' in feature_types, "
        "or correct the value"
    )
    data_class, statistics_class = CountData, CountStatistics
    parameters_class = CountParameters

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        seen, learned = cells[cells >= 0].astype(float), learn and grids == "data"
        mean = max(float(seen.mean()), 0.1) if learned else 1.0
        # All cells together: chains begin with few clusters, and a dispersion that is too small makes too many.
        start = nearest_on_grid(DISPERSION_GRID, (seen.var() - seen.mean()) / mean**2) if learned else 0.0
        initial = {
            "shape": float(given.get("shape", 1.0)),
            "rate": float(given.get("rate", 1.0 / mean)),
            "dispersion": float(given.get("dispersion", start)),
        }
        axes = {"shape": SHAPE_GRID, "rate": RATE_GRID / mean, "dispersion": DISPERSION_GRID} if learn else {}
        limits = limits_of_drawn(np.where(cells < 0, np.nan, cells))
        return cls(name, sources, initial, axes, drawn_between=limits)

    def with_grids(self, given, cells):
        model = super().with_grids(given, cells)
        # All grids are known now, whether some are given or not.
        model._check_arguments(cells)
        return model

    def _check_arguments(self, cells):
        """Refuse cells and hyperparameters for which log gamma loses its digits."""
        n_cells, total = np.count_nonzero(cells >= 0), cells.sum(dtype=float, where=cells >= 0)
        if total > MOST_ARGUMENT:
            raise ValueError(
                f"column {self.name!r} has counts that are {total:.3g} altogether, and the type 'count' takes at most "
                f"{MOST_ARGUMENT:g}: log probabilities of more lose their digits. Declare it 'real' or 'skewed' in "
                "feature_types"
            )
        rates, dispersions = (
            np.append(self.grids.get(key, []), self.parameters[key]) for key in ("rate", "dispersion")
        )
        # The default grid suits all.
        least = min((n_cells + rates.max()) / MOST_ARGUMENT, DISPERSION_GRID[1])
        small = dispersions[(dispersions > 0.0) & (dispersions < least)]
        if small.size:
            raise ValueError(
                f"column {self.name!r} has {n_cells:,} counts, and a dispersion of {small.min():g} is too small for "
                "so many: log probabilities lose their digits. Give 0, which is Poisson, or at least "
                f"{1.01 * least:.2g} by feature_params or feature_grids"
            )

    def interval_probabilities(self, column, intervals, n_clusters):
        # The integers of an interval are those from `least` to before `end`.
        least = [np.ceil(own.low) if own.has_low else np.floor(own.low) + 1.0 for own in intervals]
        end = [np.floor(own.high) + 1.0 if own.has_high else np.ceil(own.high) for own in intervals]
        return self._law(column, np.arange(n_clusters)).masses(least, end)

    def _law(self, column, slots):
        """The predictive distributions of a count in these slots."""
        state = column.get_state(int(slots.max(initial=-1)) + 1)
        prior, count = state["parameters"], state["count"][slots]
        shape = prior["shape"] + state["total"][slots]
        if not prior["dispersion"]:
            return _NegativeBinomial(shape, 1.0 / (1.0 + prior["rate"] + count))
        size = 1.0 / prior["dispersion"]
        return _BetaNegativeBinomial(shape, 2.0 + size * (prior["rate"] + count), size)

    def draws_between(self, column: ColumnStatistics, slots: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """A count from each of these slots given that it is within ``drawn_between``, (n, 1)."""
        low, high = max(self.drawn_between[0, 0], 0.0), self.drawn_between[1, 0]
        out, left = np.full((len(slots), 1), np.nan), np.arange(len(slots))
        for _ in range(MOST_TRIES):
            out[left] = column.draws(slots[left], np.full((len(left), 1), np.nan), generator)
            left = left[(out[left, 0] < low) | (out[left, 0] > high)]
            if not left.size:
                return out
        for i in left:
            out[i] = _truncated(self._law(column, slots[i : i + 1]), low, high, generator.random())
        return out

    def imputed(self, value, first):
        return np.minimum(np.rint(value), self.largest)


def _truncated(law, low, high, uniform):
    """The count of this quantile of a distribution, given that it is from ``low`` to ``high``: by bisection."""
    share = law.masses([low], [high + 1.0])[0, 0]
    if not share:
        # It is far away: the nearest end.
        return high if law.masses([high + 1.0], [np.inf])[0, 0] > 0.5 else low
    before, out = low - 1.0, high
    while out - before > 1.0:
        middle = np.floor(0.5 * (before + out))
        if law.masses([low], [middle + 1.0])[0, 0] >= uniform * share:
            out = middle
        else:
            before = middle
    return out


class _NegativeBinomial(NamedTuple):
    """Gamma mixtures of Poisson counts, one for each cluster."""

    shape: np.ndarray
    share: np.ndarray

    def masses(self, least, end) -> np.ndarray:
        """Probabilities (n, n_clusters) of the integers from each of ``least`` to before that of ``end``."""
        return np.maximum(self._at_least(least) - self._at_least(end), 0.0)

    def _at_least(self, least):
        least = np.array(least)[:, None]
        tail = betainc(np.where(np.isfinite(least), np.maximum(least, 1.0), 1.0), self.shape, self.share)
        return np.where(least <= 0.0, 1.0, np.where(least < np.inf, tail, 0.0))


class _BetaNegativeBinomial(NamedTuple):
    """Beta prime mixtures of negative binomial counts, one for each cluster."""

    shape: np.ndarray
    other: np.ndarray
    size: float

    def masses(self, least, end) -> np.ndarray:
        """As those of :class:`_NegativeBinomial`."""
        return np.array([self.mass(max(low, 0.0), high) for low, high in zip(least, end, strict=True)])

    def mass(self, low: float, high: float) -> np.ndarray:
        """Probabilities (n_clusters,) of the integers from `low` to before `high`."""
        if high == np.inf and low < np.inf:
            return np.maximum(1.0 - self.mass(0.0, low), 0.0)
        high = min(high, MOST_INTEGRATED)
        if high <= low:
            return np.zeros(len(self.shape))
        split = min(high, low + MOST_TERMS)
        out = np.exp(self._logs(np.arange(low, split)[:, None])).sum(axis=0)
        if split < high:
            # The probabilities of large counts hardly differ from one to the next: an integral, over the logarithm.
            out = out + self._integral(*np.log([split - 0.5, high - 0.5]))
        return np.minimum(out, 1.0)

    def _integral(self, low, high):
        """Integrals (n_clusters,) of the density over logarithms from `low` to `high`."""
        # The peak of a cluster may be narrow: a normal of the logarithm with the same mean and variance says where.
        mean = self.size * self.shape / (self.other - 1.0)
        heavy = 1.0 / np.maximum(self.other - 2.0, 1e-9)
        excess = np.log1p(1.0 / self.size) + np.log1p(1.0 / self.shape) + np.log1p(heavy)
        square = np.log1p(1.0 / mean + np.expm1(excess))
        middle, reach = np.log(mean) - 0.5 * square, N_DEVIATIONS * np.sqrt(square)
        ends = np.full((4, len(mean)), low)
        ends[1:3], ends[3] = np.clip([middle - reach, middle + reach], low, high), high
        nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
        centre, half = 0.5 * (ends[:-1] + ends[1:]), 0.5 * np.diff(ends, axis=0)
        t = centre + half * nodes[:, None, None]
        return np.einsum("i,ijk->k", weights, half * np.exp(self._logs(np.exp(t)) + t))

    def _logs(self, x):
        logs = gammaln(x + self.size) - gammaln(self.size) - gammaln(x + 1.0)
        return logs + betaln(self.shape + x, self.other + self.size) - betaln(self.shape, self.other)
