"""Columns of counts: Poisson or negative binomial given the cluster, with a gamma or beta prime prior of the mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaln, gammaln

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns._count import CountData, CountStatistics
from sklearn_subanneal.columns._plane_parameters import CountParameters
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter, nearest_on_grid

SHAPE_GRID = geometric_grid(0.05, 100.0, 20)
RATE_GRID = geometric_grid(0.005, 100.0, 20)
# Excess of the variance over the mean, divided by the square of the mean; 0 is Poisson.
DISPERSION_GRID = np.array([0.0, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0])


# Probabilities of counts are summed up to so many terms, and beyond integrated with so many nodes.
MOST_TERMS, N_NODES = 20_000.0, 100


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
        return cls(name, sources, initial, axes)

    def interval_probabilities(self, column, intervals, n_clusters):
        # The integers of an interval are those from `least` to before `end`.
        least = [np.ceil(own.low) if own.has_low else np.floor(own.low) + 1.0 for own in intervals]
        end = [np.floor(own.high) + 1.0 if own.has_high else np.ceil(own.high) for own in intervals]
        state = column.get_state(n_clusters)
        prior = state["parameters"]
        shape = prior["shape"] + state["total"]
        if not prior["dispersion"]:
            share = 1.0 / (1.0 + prior["rate"] + state["count"])
            return np.maximum(_at_least(least, shape, share) - _at_least(end, shape, share), 0.0)
        size = 1.0 / prior["dispersion"]
        law = _BetaNegativeBinomial(shape, 2.0 + size * (prior["rate"] + state["count"]), size)
        return np.array([law.mass(max(low, 0.0), high) for low, high in zip(least, end, strict=True)])

    def imputed(self, value, first):
        return np.minimum(np.rint(value), self.largest)


def _at_least(least, shape, share):
    """Probabilities (n, n_clusters) of at least so much of gamma mixtures of Poisson counts: negative binomial ones."""
    least = np.array(least)[:, None]
    tail = betainc(np.where(np.isfinite(least), np.maximum(least, 1.0), 1.0), shape, share)
    return np.where(least <= 0.0, 1.0, np.where(least < np.inf, tail, 0.0))


class _BetaNegativeBinomial(NamedTuple):
    """Beta prime mixtures of negative binomial counts, one for each cluster."""

    shape: np.ndarray
    other: np.ndarray
    size: float

    def mass(self, low: float, high: float) -> np.ndarray:
        """Probabilities (n_clusters,) of the integers from `low` to before `high`."""
        if high <= low:
            return np.zeros(len(self.shape))
        if high == np.inf:
            return np.maximum(1.0 - self.mass(0.0, low), 0.0)
        split = min(high, low + MOST_TERMS)
        out = np.exp(self._logs(np.arange(low, split))).sum(axis=0)
        if split < high:
            # The probabilities of large counts hardly differ from one to the next: an integral, over the logarithm.
            ends = np.log([split - 0.5, high - 0.5])
            nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
            x = np.exp(ends.mean() + 0.5 * np.diff(ends) * nodes)
            out = out + (0.5 * np.diff(ends) * weights * x) @ np.exp(self._logs(x))
        return np.minimum(out, 1.0)

    def _logs(self, x):
        x = x[:, None]
        logs = gammaln(x + self.size) - gammaln(self.size) - gammaln(x + 1.0)
        return logs + betaln(self.shape + x, self.other + self.size) - betaln(self.shape, self.other)
