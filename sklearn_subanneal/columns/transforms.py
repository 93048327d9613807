"""Transformations of the cells of a column of reals: increasing functions, their inverses and slopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Transform:
    """An increasing function u of a cell x, here u(x) = x; the base class of all others.

    Attributes
    ----------
    name : str
    lowest : float
        Cells must be above this.
    """

    name: ClassVar[str] = "identity"
    lowest: ClassVar[float] = -np.inf

    def forward(self, cells: np.ndarray) -> np.ndarray:
        """u(x)."""
        return cells

    def inverse(self, values: np.ndarray) -> np.ndarray:
        """The x of which u(x) are these values."""
        return values

    def log_slope(self, values: np.ndarray) -> np.ndarray | float:
        """log du/dx, as a function of u."""
        return 0.0

    def check(self, name: str, cells: np.ndarray) -> None:
        """Refuse cells of the column ``name`` that the function does not take."""
        if not np.all((low := cells[~np.isnan(cells)]) > self.lowest):
            raise ValueError(
                f"Column {name!r} holds {low.min().item()!r}, but is modelled on a logarithmic scale, for values above "
                f"{self.lowest:g}: correct the value, declare the column 'real' in feature_types, or set "
                f"feature_params[{name!r}]['transform'] to 'yeo-johnson'."
            )


IDENTITY = Transform()


@dataclass(frozen=True)
class Logarithm(Transform):
    """u(x) = log(x + shift), for x above -shift.

    Attributes
    ----------
    shift : float
    """

    name = "log"
    shift: float = 0.0

    @property
    def lowest(self) -> float:
        return 0.0 - self.shift

    def forward(self, cells):
        return np.log(cells + self.shift)

    def inverse(self, values):
        # Rounding must not give a value that is none of the domain.
        return np.maximum(np.exp(values) - self.shift, np.nextafter(self.lowest, np.inf))

    def log_slope(self, values):
        return -values


@dataclass(frozen=True)
class YeoJohnson(Transform):
    """The transformation of Yeo and Johnson of (x - center) / unit.

    With y = (x - center) / unit it is ((1 + y)^power - 1) / power for y >= 0, and
    -((1 - y)^(2 - power) - 1) / (2 - power) below. A power from 0 to 2 makes it a function onto the whole line, so that
    the density of the cells has the integral 1. Powers below 1 draw in the upper tail, those above 1 the lower one.

    Attributes
    ----------
    power : float
        From 0 to 2.
    center, unit : float
        In the units of the data.

    References
    ----------
    I.-K. Yeo, R. A. Johnson (2000), A new family of power transformations to improve normality or symmetry, Biometrika
    87(4), 954-959, equation 2.1.
    """

    name = "yeo-johnson"
    power: float = 1.0
    center: float = 0.0
    unit: float = 1.0

    def forward(self, cells):
        y = (cells - self.center) / self.unit
        length = np.log1p(np.abs(y))
        # Of cells far away the branch that is not theirs may overflow.
        with np.errstate(over="ignore"):
            return np.where(y < 0.0, -_bent(length, 2.0 - self.power), _bent(length, self.power))

    def inverse(self, values):
        y = np.expm1(self._log_length(values))
        return np.where(values < 0.0, -y, y) * self.unit + self.center

    def log_slope(self, values):
        power = np.where(values < 0.0, 2.0 - self.power, self.power)
        return (power - 1.0) * self._log_length(values) - np.log(self.unit)

    def _log_length(self, values):
        """log(1 + |y|)."""
        power = np.where(values < 0.0, 2.0 - self.power, self.power)
        safe = np.where(power > 0.0, power, 1.0)
        return np.where(power > 0.0, np.log1p(safe * np.abs(values)) / safe, np.abs(values))


def _bent(length, power):
    """(e^(power length) - 1) / power, and its limit for power 0."""
    return np.where(power > 0.0, np.expm1(power * length) / np.where(power > 0.0, power, 1.0), length)
