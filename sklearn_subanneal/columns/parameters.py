"""Hyperparameter: the domain of one hyperparameter of a column type, its checks, and draws from its grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns._base import MOST_GRID_VALUES

# Beyond these bounds the model hardly changes, and log gamma loses accuracy.
LEAST, MOST = 1e-12, 1e12


@dataclass(frozen=True)
class Hyperparameter:
    """Values that a hyperparameter can take.

    Attributes
    ----------
    domain : {"bounded", "from zero", "positive", "share", "finite", "choice"}
        From LEAST to MOST, from 0 to MOST, finite and positive, between 0 and 1, finite, or one of some strings.
    one_each : bool
        Whether it may be an array.
    choices : tuple of str
        The strings.
    given, learned : bool
        Whether ``feature_params`` takes it, and whether it has a grid, which ``feature_grids`` may give.
    most_values : int
        Of a grid.
    """

    domain: str = "bounded"
    one_each: bool = False
    choices: tuple[str, ...] = ()
    given: bool = True
    learned: bool = True
    most_values: int = MOST_GRID_VALUES

    def check(self, key: str, name: str, value) -> None:
        """Raise ValueError if a value of ``feature_params`` is not in the domain."""
        if self.domain == "choice":
            if not isinstance(value, str) or value not in self.choices:
                wanted = ", ".join(map(repr, self.choices))
                raise ValueError(f"feature_params[{key!r}][{name!r}] must be one of {wanted}, got {value!r}")
            return
        array = _numbers(value)
        fits, wanted = self._fits(array)
        if not fits or (array.ndim and not self.one_each):
            wanted += ", or an array of such" * self.one_each
            raise ValueError(f"feature_params[{key!r}][{name!r}] must be {wanted}, got {value!r}")

    def check_grid(self, key: str, name: str, values) -> None:
        """Raise ValueError if values of ``feature_grids`` are no grid: increasing, in the domain, and not too many."""
        array = _numbers(values)
        fits, wanted = self._fits(array)
        is_line = array.ndim == 1 or (array.ndim == 2 and self.one_each)
        if not (fits and is_line and array.size and np.all(np.diff(array) > 0.0)):
            shape = ", or an array with a row of such for each" * self.one_each
            raise ValueError(
                f"feature_grids[{key!r}][{name!r}] must be increasing values, each {wanted}{shape}, got {values!r}"
            )
        if array.shape[-1] > self.most_values:
            raise ValueError(
                f"feature_grids[{key!r}][{name!r}] may have {self.most_values} values at most, got {array.shape[-1]}: "
                "thin it"
            )

    def _fits(self, array: np.ndarray) -> tuple[bool, str]:
        """Whether all of an array are in the domain, and the name of that."""
        if self.domain == "finite":
            return bool(np.isfinite(array).all()), "a finite number"
        low, high = array.min(initial=np.inf), array.max(initial=0.0)
        if self.domain == "positive":
            return bool(0.0 < low <= high < np.inf), "a finite positive number"
        if self.domain == "share":
            return bool(LEAST <= low <= high < 1.0), "a number between 0 and 1"
        least = 0.0 if self.domain == "from zero" else LEAST
        return bool(least <= low <= high <= MOST), f"a number from {least:g} to {MOST:g}"


def _numbers(value) -> np.ndarray:
    """A value as an array of floats; NaN if it is none."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def nearest_on_grid(grid: np.ndarray, value):
    """The value of a grid that is the nearest to a number; of several grids, one a row, those nearest to numbers."""
    if grid.ndim == 1:
        return float(grid[np.abs(grid - value).argmin()])
    places = np.abs(grid - np.broadcast_to(value, len(grid))[:, None]).argmin(axis=1)
    return grid[np.arange(len(grid)), places]


def draw_on_grid(grid: np.ndarray, generator: np.random.Generator):
    """A value of a grid, each with the same probability; of several grids, one a row, one of each."""
    if grid.ndim == 1:
        return float(generator.choice(grid))
    return generator.permuted(grid, axis=1)[:, 0]
