"""Named statistics of states or draws, checked; TestFamily: tests of all of them, with adjusted p-values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def values_in_order(named: Mapping[str, float], names: tuple[str, ...]) -> list[float]:
    """The values of statistics in the order of their names.

    Raises
    ------
    ValueError
        If a name is missing or new, or a value is not finite.
    """
    if named.keys() != set(names):
        raise ValueError(f"statistics must return the same names always, got {sorted(named)} after {sorted(names)}.")
    values = [float(named[name]) for name in names]
    if not np.isfinite(values).all():
        bad = {name: value for name, value in zip(names, values, strict=True) if not np.isfinite(value)}
        raise ValueError(f"statistics must be finite, got {bad}; transform or clip them.")
    return values


def holm_adjusted(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjusted p-values by the method of Holm (1979): the least of them is a p-value of all tests together.

    Parameters
    ----------
    p_values : ndarray of shape (n_tests,)

    Returns
    -------
    adjusted : ndarray of shape (n_tests,)

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics.named_statistics import holm_adjusted
    >>> holm_adjusted(np.array([0.5, 0.01, 0.02]))
    array([0.5 , 0.03, 0.04])
    """
    order = np.argsort(p_values)
    adjusted = np.empty_like(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


class TestFamily(ABC):
    """Several hypothesis tests that are passed only together."""

    # pytest would collect a class of this name.
    __test__ = False

    @property
    @abstractmethod
    def adjusted_p_values(self) -> NDArray[np.float64]:
        """Holm's adjusted p-values over all tests."""

    @property
    def minimum_p_value(self) -> float:
        """The smallest adjusted p-value, a p-value of all tests together."""
        return float(self.adjusted_p_values.min())

    def passed(self, level: float = 0.01) -> bool:
        """Whether no test rejects; if all hypotheses are true, one rejects with probability `level` at most.

        Parameters
        ----------
        level : float, default=0.01
            The family-wise level, in (0, 1).

        Returns
        -------
        bool
            Whether :attr:`minimum_p_value` is at least `level`.

        Raises
        ------
        ValueError
            If `level` is not in (0, 1).
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be in (0, 1), got {level}.")
        return self.minimum_p_value >= level
