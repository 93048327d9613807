"""Derivation: a column that is a one-to-one function of another, such as the logarithm of an amount."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sklearn_subanneal.tables.cells import is_missing

# A cell agrees with the other if it is so near to the function of it, in units of the spread of the cells of ``fit``,
# plus this share of its size or of its distance from their mean: far from these cells the coefficients tell.
NEAR, SHARE = 0.02, 1e-3
MOST_COUNT = 2**31 - 1


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
    mean, spread : float
        Mean of the derived cells of ``fit``, and a standard deviation that few large ones do not determine.
    tolerance : float
        The largest deviation from the function in ``fit``.
    low, high : float
        Range of the cells of the source in ``fit``.
    is_whole : bool
        Whether these were whole numbers.
    is_inverse : bool
    is_count : bool
        Whether the source is a column of counts, whole numbers of which -1 is a missing one.
    points : ndarray of shape (n_points,)
        The distinct numbers of the source in ``fit``, ascending: what the other column says of the source is one of
        them to the last bit, where it is one.
    """

    shape: str
    intercept: float
    slope: float
    mean: float
    spread: float
    tolerance: float
    low: float
    high: float
    is_whole: bool = False
    is_inverse: bool = False
    is_count: bool = False
    points: np.ndarray = field(default_factory=lambda: np.empty(0))

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
        """The derived cells, float64 with NaN for missing, of typed cells of the source.

        Where the function has no value, that of the nearest cell of ``fit``.
        """
        numbers = _numbers(cells)
        found = self._value(numbers, self.is_inverse)
        return np.where(np.isnan(found), self._value(np.clip(numbers, self.low, self.high), self.is_inverse), found)

    def backward(self, cells: np.ndarray) -> np.ndarray:
        """The typed cells of the source of derived cells, missing where there is none.

        They are whole numbers, or one of the ``points``, where this changes no more than rounding did in ``fit``.
        """
        numbers = self._value(cells, not self.is_inverse)
        if len(self.points):
            last = len(self.points) - 1
            after = np.clip(np.searchsorted(self.points, numbers), 1, max(last, 1))
            pair = np.stack([self.points[after - 1], self.points[np.minimum(after, last)]])
            nearest = pair[np.abs(pair - numbers).argmin(axis=0), np.arange(len(numbers))]
            numbers = self._snapped(cells, numbers, nearest)
        if self.is_whole:
            numbers = self._snapped(cells, numbers, np.rint(numbers))
        if not self.is_count:
            return numbers
        is_count = self.agrees(np.rint(numbers), cells) & (numbers > -0.5) & (numbers < MOST_COUNT)
        return np.where(is_count, np.rint(numbers), -1.0).astype(np.int32)

    def end_of_source(self, end: float) -> float:
        """The number of the source at which a derived number is ``end``; infinite if none is, and all are on one side.

        Where the number is a whole one, if these are, or one of the ``points`` up to rounding errors, it is that.
        """
        low, high = self._range()
        if not low <= end <= high:
            return np.inf if (end > high) != self.falls else -np.inf
        with np.errstate(all="ignore"):
            number = float(self._raw(np.float64(end), not self.is_inverse))
        near = np.append(self.points, np.rint(number)) if self.is_whole or self.is_count else self.points
        if not np.isfinite(number) or not len(near):
            return number
        nearest = near[[np.argmin(np.abs(near - number))]].astype(float)
        return float(self._snapped(np.array([end]), np.array([number]), nearest)[0])

    def agrees(self, cells: np.ndarray, derived: np.ndarray) -> np.ndarray:
        """Whether derived cells are, up to rounding, what the cells of the source say."""
        size = np.minimum(np.abs(derived), np.abs(derived - self.mean))
        near = np.maximum(NEAR * self.spread, 2.0 * self.tolerance) + SHARE * size
        return np.abs(derived - self._value(_numbers(cells), self.is_inverse)) <= near

    def deviations(self, cells: np.ndarray, deviations: np.ndarray) -> np.ndarray:
        """The standard deviation of derived cells from that of the cells of the source, to first order."""
        numbers = _numbers(cells)
        step = np.maximum(1e-6 * np.abs(numbers), 1e-12)
        slopes = (self.forward(numbers + step) - self.forward(numbers)) / step
        return np.where(deviations > 0.0, np.abs(np.nan_to_num(slopes)) * deviations, 0.0)

    def _snapped(self, derived, numbers, others):
        """The other numbers where they give the same derived cells."""
        off = np.abs(self._value(others, self.is_inverse) - derived)
        return np.where(off <= self.tolerance + 1e-9 * np.abs(derived), others, numbers)

    def _raw(self, numbers, backward: bool):
        """The function, or its inverse, wherever NumPy has a value."""
        shape = SHAPES[self.shape]
        if backward:
            return shape.backward((numbers - self.intercept) / self.slope)
        return self.intercept + self.slope * shape.forward(numbers)

    def _value(self, numbers: np.ndarray, backward: bool) -> np.ndarray:
        """intercept + slope * g(number), or the number of which it is this value; NaN where there is none."""
        lowest = SHAPES[self.shape].lowest
        with np.errstate(all="ignore"):
            found = self._raw(numbers, backward)
            is_value = np.isfinite(found) & ((found if backward else numbers) >= lowest)
        return np.where(is_value, found, np.nan)

    def _range(self) -> tuple[float, float]:
        """The least and the largest derived number, which may be infinite."""
        lowest = SHAPES[self.shape].lowest
        if self.is_inverse:
            return lowest, np.inf
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

    def deviations(self, cells: np.ndarray, deviations: np.ndarray) -> np.ndarray:
        """The uncertainty of derived cells, that of the cells of the source."""
        return deviations

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
