"""Checks of numerical parameters and temperature grids, with error messages."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np


def check_number(name: str, value, wanted: str, allowed: Callable[[float], bool]) -> None:
    """Raise ValueError unless ``value`` is a finite real number that is allowed; ``wanted`` says in words which are."""
    if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(value) or not allowed(value):
        raise ValueError(f"{name} must be {wanted}, got {value!r}")


def checked_temperatures(temperatures) -> np.ndarray:
    """A float64 copy of a grid of temperatures; ValueError unless it has at least two, increasing from 1.

    Parameters
    ----------
    temperatures : array-like of shape (n_temperatures,)

    Examples
    --------
    >>> from sklearn_subanneal.variational.validation import checked_temperatures
    >>> checked_temperatures([0.5, 1.0])
    Traceback (most recent call last):
        ...
    ValueError: temperatures must be finite and increase from 1, got [0.5, 1.0]; give np.geomspace(1.0, 2.0)
    """
    try:
        grid = np.array(temperatures, dtype=float)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all() or grid[0] != 1.0 or np.diff(grid).min() <= 0.0:
        raise ValueError(
            f"temperatures must be finite and increase from 1, got {temperatures!r}; give np.geomspace(1.0, 2.0)"
        )
    return grid
