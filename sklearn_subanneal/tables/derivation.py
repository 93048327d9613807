"""Derivation: a column that is a one-to-one function of another, such as the logarithm of an amount."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.tables.cells import is_missing

# A cell agrees with the other if it is so near to the function of it, in standard deviations, plus this share of its
# distance from the mean; far from the cells of ``fit`` the coefficients tell.
NEAR, SHARE = 0.03, 1e-3
# The same of the ends of intervals.
EQUAL = 1e-4


@dataclass(frozen=True)
class Shape:
    """A monotone function g of numbers from ``lowest`` on, its inverse, and what both are called."""

    words: str
    words_of_inverse: str
    forward: Callable[[np.ndarray], np.ndarray]
    backward: Callable[[np.ndarray], np.ndarray]
    lowest: float = -np.inf


POSITIVE = float(np.nextafter(0.0, 1.0))
SHAPES = {
    "linear": Shape("a linear function", "a linear function", np.positive, np.positive),
    "log": Shape("the logarithm", "the exponential", np.log, np.exp, POSITIVE),
    "square": Shape("the square", "the square root", np.square, np.sqrt, 0.0),
    "root": Shape("the square root", "the square", np.sqrt, np.square, 0.0),
    "reciprocal": Shape("the reciprocal", "the reciprocal", np.reciprocal, np.reciprocal, POSITIVE),
    "log1p": Shape("log(1 + x)", "exp(x) - 1", np.log1p, np.expm1, 0.0),
}


@dataclass(frozen=True, eq=False)
class FunctionOfNumbers:
    """A number that is ``intercept + slope * g(number of the source)`` up to rounding, or the inverse of this function.

    Attributes
    ----------
    shape : str
        Of ``SHAPES``: g.
    intercept, slope : float
    mean, deviation : float
        Mean and standard deviation of the derived cells of ``fit``.
    is_inverse : bool
    is_count : bool
        Whether the source is a column of counts, whole numbers of which -1 is a missing one.
    """

    shape: str
    intercept: float
    slope: float
    mean: float
    deviation: float
    is_inverse: bool = False
    is_count: bool = False

    @property
    def words(self) -> str:
        """What it is, of another column."""
        is_plain, shape = (self.intercept, self.slope) == (0.0, 1.0), SHAPES[self.shape]
        if self.shape == "linear":
            return "equal to" if is_plain else f"{shape.words} of"
        if self.is_inverse:
            return f"{shape.words_of_inverse} of" if is_plain else f"{shape.words_of_inverse} of a linear function of"
        return f"{shape.words} of" if is_plain else f"a linear function of {shape.words} of"

    @property
    def falls(self) -> bool:
        """Whether derived numbers are less where those of the source are more."""
        return (self.slope < 0.0) != (self.shape == "reciprocal")

    def forward(self, cells: np.ndarray) -> np.ndarray:
        """The derived cells, float64 with NaN for missing, of typed cells of the source."""
        return self._inverse(_numbers(cells)) if self.is_inverse else self._direct(_numbers(cells))

    def backward(self, cells: np.ndarray) -> np.ndarray:
        """The typed cells of the source, missing where there is none, of derived cells."""
        numbers = self._direct(cells) if self.is_inverse else self._inverse(cells)
        if not self.is_count:
            return numbers
        return np.where(np.isnan(numbers), -1, np.rint(numbers)).astype(np.int32)

    def end_of_source(self, end: float, points: np.ndarray) -> float:
        """The number of the source at which a derived number is ``end``; infinite if none is, and all are on one side.

        Where the number is a count or one of some ``points`` up to rounding errors, it is that.
        """
        low, high = self._range()
        if not low < end < high and end not in (low, high):
            return np.inf if (end >= high) != self.falls else -np.inf
        with np.errstate(all="ignore"):
            number = float(self._raw(np.float64(end), not self.is_inverse))
        near = np.append(points, np.rint(number)) if self.is_count else points
        if not np.isfinite(number) or not len(near):
            return number
        nearest = float(near[np.argmin(np.abs(near - number))])
        off = abs(float(self.forward(np.array([nearest]))[0]) - end)
        return nearest if off <= EQUAL * self.deviation + 1e-9 * abs(end) else number

    def agrees(self, cells: np.ndarray, derived: np.ndarray) -> np.ndarray:
        """Whether derived cells are, up to rounding, what the cells of the source say."""
        near = NEAR * self.deviation + SHARE * np.abs(derived - self.mean)
        return np.abs(derived - self.forward(cells)) <= near

    def spread(self, cells: np.ndarray, spreads: np.ndarray) -> np.ndarray:
        """The standard deviation of derived cells from that of the cells of the source, to first order."""
        numbers = _numbers(cells)
        step = np.maximum(1e-6 * np.abs(numbers), 1e-12)
        slopes = (self.forward(numbers + step) - self.forward(numbers)) / step
        return np.where(spreads > 0.0, np.abs(np.nan_to_num(slopes)) * spreads, 0.0)

    def _raw(self, numbers, backward: bool):
        """The function, or its inverse, wherever NumPy has a value."""
        shape = SHAPES[self.shape]
        if backward:
            return shape.backward((numbers - self.intercept) / self.slope)
        return self.intercept + self.slope * shape.forward(numbers)

    def _direct(self, numbers: np.ndarray) -> np.ndarray:
        """intercept + slope * g(number), of what is below the domain of g that of its lower end; finite or NaN."""
        with np.errstate(all="ignore"):
            found = self._raw(np.maximum(numbers, SHAPES[self.shape].lowest), backward=False)
        return np.where(np.isfinite(found), found, np.nan)

    def _inverse(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers of which the function is this; NaN where there is none."""
        with np.errstate(all="ignore"):
            found = self._raw(numbers, backward=True)
            is_value = np.isfinite(found) & (found >= SHAPES[self.shape].lowest)
        return np.where(is_value, found, np.nan)

    def _range(self) -> tuple[float, float]:
        """The least and the largest derived number, which may be infinite."""
        lowest = SHAPES[self.shape].lowest
        if self.is_inverse:
            return max(lowest, -np.inf), np.inf
        with np.errstate(all="ignore"):
            ends = [
                float(self._raw(np.float64(one), backward=False))
                for one in (max(lowest, -np.finfo(float).max), np.finfo(float).max)
            ]
        return min(ends), max(ends)


@dataclass(frozen=True, eq=False)
class FunctionOfCodes:
    """A category for each category of another column, and no two for the same.

    Attributes
    ----------
    order : ndarray of int, shape (n_categories,)
        The derived code of each code of the source.
    words : str
        What it is, of the other column.
    """

    order: np.ndarray
    words: str = "one-to-one with"

    def forward(self, cells: np.ndarray) -> np.ndarray:
        """The derived codes of codes of the source."""
        return self._mapped(self.order, cells)

    def backward(self, cells: np.ndarray) -> np.ndarray:
        """The codes of the source of derived codes."""
        return self._mapped(np.argsort(self.order), cells)

    def agrees(self, cells: np.ndarray, derived: np.ndarray) -> np.ndarray:
        """Whether derived codes are those of the codes of the source."""
        return self.forward(cells) == derived

    def spread(self, cells: np.ndarray, spreads: np.ndarray) -> np.ndarray:
        """The uncertainty of derived cells, that of the cells of the source."""
        return spreads

    def _mapped(self, order, cells):
        # A category that fit did not see has the next code, in both columns.
        known = cells < len(order)
        return np.where(is_missing(cells) | ~known, cells, order[np.where(known, cells, 0)]).astype(cells.dtype)


@dataclass(frozen=True, eq=False)
class Derivation:
    """That a column is modelled by another one, its source, of which it is a function.

    Attributes
    ----------
    source : int
        Index of the source among the columns of the table.
    function : FunctionOfNumbers or FunctionOfCodes
    """

    source: int
    function: FunctionOfNumbers | FunctionOfCodes


def _numbers(cells: np.ndarray) -> np.ndarray:
    """Typed numbers as float64, NaN where missing."""
    return cells if cells.dtype.kind == "f" else np.where(cells < 0, np.nan, cells)
