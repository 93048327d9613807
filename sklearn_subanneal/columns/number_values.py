"""The distinct numbers of a column, and what their pattern says: resolution, identifiers, order of the frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from sklearn_subanneal.tables.numerals import LARGEST_EXACT

# Decimals up to which numbers are read as multiples of a resolution.
MOST_DECIMALS = 9
# At least this many pairs of equal cells would be expected by chance where none is found: probability exp(-10).
EXPECTED_TIES = 10.0
# Distances at which frequencies are compared: neighbours, and steps to which people round.
LAGS = (1, 2, 4, 5, 10, 12)
# Integers of more places are compared with their neighbours alone.
MOST_PLACES = 10_000


@dataclass(frozen=True, eq=False)
class NumberValues:
    """The distinct values of a column of numbers.

    Attributes
    ----------
    values : ndarray of float64 of shape (n_values,)
        Sorted.
    counts : ndarray of int of shape (n_values,)
        Number of cells with each value.
    step : float or None
        The resolution: all differences of values are multiples of it. None if there is none of at least 1e-9.
    n_missing : int
        Number of missing cells.
    """

    values: np.ndarray
    counts: np.ndarray
    step: float | None
    n_missing: int = 0

    @classmethod
    def of(cls, cells: np.ndarray) -> NumberValues:
        """Of cells, of which the missing ones are NaN."""
        present = cells[~np.isnan(cells)]
        values, counts = np.unique(present, return_counts=True)
        return cls(values, counts, _step(values), len(cells) - len(present))

    @property
    def n_cells(self) -> int:
        """Number of cells that are not missing."""
        return int(self.counts.sum())

    @property
    def are_integers(self) -> bool:
        """Whether all values are integers that floating-point numbers tell apart."""
        return self.are_whole and bool(np.all(np.abs(self.values) <= LARGEST_EXACT))

    @property
    def are_whole(self) -> bool:
        """Whether all values are whole numbers, of any size."""
        return bool(np.all(self.values == np.floor(self.values)))

    @property
    def n_places(self) -> float:
        """Number of multiples of the step from the least value to the largest; infinite without a step."""
        return np.inf if self.step is None else round((self.values[-1] - self.values[0]) / self.step) + 1

    @property
    def resolution(self) -> float:
        """The step, or without one the least difference of two values."""
        return self.step or float(np.diff(self.values).min(initial=np.inf))

    def cells(self, most: int | None = None) -> np.ndarray:
        """The sorted cells, or ``most`` of them at evenly spaced ranks."""
        n_cells = self.n_cells
        if most is None or n_cells <= most:
            return np.repeat(self.values, self.counts)
        ranks = np.linspace(0, n_cells - 1, most).round()
        return self.values[np.searchsorted(np.cumsum(self.counts), ranks, side="right")]

    def number_rows(self) -> bool:
        """Whether the integers are all different though so many cells of their range would have equal ones by chance.

        Of n independent normal cells with standard deviation s, n^2 / (4 sqrt(pi) s) pairs are expected to be equal
        after rounding to integers.
        """
        if not self.are_integers or np.any(self.counts > 1) or len(self.values) < 3:
            return False
        return self.n_cells**2 / (4.0 * np.sqrt(np.pi) * self.values.std()) > EXPECTED_TIES

    def order_score(self, without: np.ndarray) -> float:
        """How much the frequencies depend on the order of the values, as a standard normal score.

        The largest of three scores, each about standard normal if the order means nothing: neighbouring values are
        about as frequent (the serial correlation of the ranks, Wald and Wolfowitz, 1943; amounts are often rounded to
        multiples of some number, so that it is the largest of several lags); values are rarer the further they are from
        the median (Spearman's rank correlation); multiples of five are more frequent (Wilcoxon's rank sum).

        Parameters
        ----------
        without : ndarray
            Values to leave out.

        References
        ----------
        A. Wald, J. Wolfowitz (1943), An exact test for randomness in the non-parametric case based on serial
        correlation, Annals of Mathematical Statistics 14, 378-388.
        """
        counted = ~np.isin(self.values, without)
        values, counts = self.values[counted], self.counts[counted]
        return max(0.0, _score_of_neighbours(counts), *self._scores_of_places(values, counts))

    def _scores_of_places(self, values: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
        """Scores of distances from the median, and of multiples of five steps; places without cells count as well."""
        if len(values) < 3 or not np.isfinite(self.n_places) or self.n_places > MOST_PLACES:
            return 0.0, 0.0
        places = np.round((values - values[0]) / self.step).astype(np.int64)
        every = np.arange(places[-1] + 1)
        frequencies = np.zeros(len(every))
        frequencies[places] = counts
        ranks = rankdata(frequencies)
        distances = rankdata(np.abs(every - np.median(np.repeat(places, counts))))
        tail = -np.corrcoef(ranks, distances)[0, 1] * np.sqrt(len(every) - 1.0) if np.ptp(frequencies) else 0.0
        is_round = np.round(values[0] / self.step + every) % 5 == 0
        n_round, n = np.count_nonzero(is_round), len(every)
        excess = ranks[is_round].sum() - n_round * (n + 1) / 2.0
        spread = np.sqrt(n_round * (n - n_round) / (n * (n - 1.0)) * np.sum((ranks - (n + 1) / 2.0) ** 2))
        return float(tail), float(excess / spread) if spread > 0.0 else 0.0


def _score_of_neighbours(counts):
    ranks = rankdata(counts)
    ranks -= ranks.mean()
    scores = [0.0]
    for lag in LAGS:
        n_pairs = len(ranks) - lag
        if n_pairs > 3 and ranks.any():
            scores.append(float(np.mean(ranks[lag:] * ranks[:-lag]) / np.mean(ranks**2) * np.sqrt(n_pairs)))
    return max(scores)


def _step(values):
    if len(values) < 2:
        return None
    top = np.abs(values).max()
    for decimals in range(MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        if top * 10.0**decimals > 2.0**52:
            return None
        whole = np.rint(scaled)
        # Up to the rounding of decimal fractions in binary.
        if np.all(np.abs(scaled - whole) <= 4.0 * np.spacing(np.abs(scaled))):
            return float(np.gcd.reduce(np.diff(whole).astype(np.int64)) / 10.0**decimals)
    return None
