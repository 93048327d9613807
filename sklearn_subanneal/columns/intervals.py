"""Interval: a range of numbers, with or without its ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Interval:
    """The numbers between two ends, in the units of the data.

    Attributes
    ----------
    low, high : float
        May be infinite.
    has_low, has_high : bool
        Whether the ends belong to it.

    Examples
    --------
    >>> from sklearn_subanneal.columns.intervals import Interval
    >>> Interval(0.0, 2.0, has_low=True).contains([0.0, 1.0, 2.0])
    array([ True,  True, False])
    """

    low: float = -np.inf
    high: float = np.inf
    has_low: bool = False
    has_high: bool = False

    def contains(self, values) -> np.ndarray:
        """Which of some numbers are in it."""
        values = np.asarray(values)
        above = values >= self.low if self.has_low else values > self.low
        return above & (values <= self.high if self.has_high else values < self.high)

    def before_rounding(self) -> Interval:
        """The numbers that are rounded to whole ones in it.

        Examples
        --------
        >>> from sklearn_subanneal.columns.intervals import Interval
        >>> Interval(39.0, 40.0, has_high=True).before_rounding()
        Interval(low=39.5, high=40.5, has_low=True, has_high=True)
        """
        low = np.ceil(self.low) - 0.5 if self.has_low else np.floor(self.low) + 0.5
        high = np.floor(self.high) + 0.5 if self.has_high else np.ceil(self.high) - 0.5
        # Without a whole number in it there are none.
        return Interval(float(low), float(max(low, high)), True, True)
