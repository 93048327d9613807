"""Digits of numbers by how far these are spread: a few digits of a Julian date, or of a year, would all be the same."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, inf, log10

import numpy as np

# What a model made is written to so many digits of its own, or to so many of the spread of its column if these are
# more: it has no more to say.
DIGITS, DIGITS_OF_SPREAD = 6, 5
# For readers, so many digits of the spread are enough, and of the difference of two numbers.
DIGITS_SHOWN, DIGITS_OF_DIFFERENCE = 3, 2
# Beyond these, floating-point numbers have no digits after the point, and a whole number is not written in full.
LARGEST_IN_FULL = 1e15


def decimals_of(spread: float, digits: int) -> int:
    """Decimals by which a number has so many digits; negative if it has more digits than that before the point.

    Numbers that are about as far apart as ``spread`` differ in the first of these digits.

    Examples
    --------
    >>> from sklearn_subanneal.report.number_digits import decimals_of
    >>> decimals_of(0.25, 3), decimals_of(8.0, 3), decimals_of(4000.0, 3), decimals_of(0.0, 3)
    (3, 2, -1, 0)
    """
    return digits - 1 - floor(log10(abs(spread))) if 0.0 < abs(spread) < inf else 0


def rounded_numbers(numbers: Iterable[float], spread: float) -> np.ndarray:
    """Numbers that a model made, to as many digits as say something; whole digits stay.

    Parameters
    ----------
    numbers : iterable of float
    spread : float
        How far the numbers of the column are apart; 0 if that is not known.

    Examples
    --------
    >>> from sklearn_subanneal.report.number_digits import rounded_numbers
    >>> rounded_numbers([3.14159265, 2459009.123456789], 8.0).tolist()
    [3.14159, 2459009.1235]
    """
    least = decimals_of(spread, DIGITS_OF_SPREAD)
    return np.array([_rounded(float(number), max(least, decimals_of(number, DIGITS))) for number in numbers])


def _rounded(number: float, decimals: int) -> float:
    return round(number, decimals if abs(number) >= LARGEST_IN_FULL else max(decimals, 0))
