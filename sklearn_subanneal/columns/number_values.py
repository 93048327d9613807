"""The distinct numbers of a column, and what their pattern says: resolution, identifiers, order of the frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

# Decimals up to which numbers are read as multiples of a resolution.
MOST_DECIMALS = 9
# At least this many pairs of equal cells would be expected by chance where none is found: probability exp(-10).
EXPECTED_TIES = 10.0
# Distances at which frequencies are compared: neighbours, and steps to which people round.
LAGS = (1, 2, 4, 5, 10, 12)


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
        return bool(np.all((self.values == np.floor(self.values)) & (np.abs(self.values) <= 2.0**53)))

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
        """How much the frequencies of neighbouring values resemble one another, as a standard normal score.

        The serial correlation of the ranks of the frequencies, times the root of their number, is about standard normal
        if the order of the values means nothing (Wald and Wolfowitz, 1943), and larger if frequencies change gradually.
        Amounts are often rounded to multiples of some number: this is the largest score of several lags.

        Parameters
        ----------
        without : ndarray
            Values to leave out.

        References
        ----------
        A. Wald, J. Wolfowitz (1943), An exact test for randomness in the non-parametric case based on serial
        correlation, Annals of Mathematical Statistics 14, 378-388.
        """
        ranks = rankdata(self.counts[~np.isin(self.values, without)])
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
