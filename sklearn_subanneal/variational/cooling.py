"""Cooling schedules of variational inference: the temperature as a function of progress in [0, 1]."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.variational.validation import check_number

# Values of progress at which a schedule is checked.
CHECKED_PROGRESS = np.linspace(0.0, 1.0, 257)


class CoolingSchedule(BaseEstimator):
    """Base of the cooling schedules: pure functions of progress, which never see a model, data or a clock.

    A subclass defines :meth:`temperature`; it may extend :meth:`check` by checks of its own parameters.

    Examples
    --------
    >>> from sklearn_subanneal.variational import CoolingSchedule
    >>> class Halfway(CoolingSchedule):
    ...     def temperature(self, progress):
    ...         return 2.0 if progress < 0.5 else 1.0
    >>> Halfway().check()
    """

    def temperature(self, progress):
        """Temperature at a point of the run.

        Parameters
        ----------
        progress : float in [0, 1]

        Returns
        -------
        temperature : float
            At least 1; exactly 1 at progress 1.
        """
        raise NotImplementedError(f"{type(self).__name__} must define temperature(progress)")

    def check(self) -> None:
        """Raise ValueError unless the temperatures are finite, at least 1 everywhere and exactly 1 at the end."""
        try:
            temperatures = np.array([float(self.temperature(progress)) for progress in CHECKED_PROGRESS])
        except (TypeError, ValueError) as error:
            raise ValueError(f"temperature_schedule={self!r} must give a number for each progress: {error}") from error
        if not np.isfinite(temperatures).all() or temperatures.min() < 1.0:
            raise ValueError(
                f"temperature_schedule={self!r} must give finite temperatures of at least 1, got "
                f"{temperatures[~(temperatures >= 1.0) | ~np.isfinite(temperatures)][0]!r}; raise them"
            )
        if temperatures[-1] != 1.0:
            raise ValueError(
                f"temperature_schedule={self!r} must reach 1 at progress 1, got {temperatures[-1]!r}; the fitted model "
                "is that of temperature 1"
            )


class _CoolingFromStart(CoolingSchedule):
    """Base of the schedules that cool from ``start`` to 1 over the first ``share`` of the run."""

    def __init__(self, start: float = 1.6, share: float = 0.5):
        self.start = start
        self.share = share

    def temperature(self, progress) -> np.ndarray:
        """Temperature at ``progress``.

        Parameters
        ----------
        progress : array-like of float in [0, 1]

        Returns
        -------
        temperature : ndarray of float, of the same shape
            1 where the cooling is over.
        """
        progress = np.clip(np.asarray(progress, dtype=float), 0.0, 1.0)
        return self._temperature(np.minimum(1.0, progress / self.share))

    def check(self) -> None:
        """Raise ValueError if ``start`` or ``share`` is out of range."""
        check_number("start", self.start, "a temperature of at least 1, where 1 is no annealing", lambda x: x >= 1.0)
        check_number("share", self.share, "in (0, 1], the part of the run that is annealed", lambda x: 0.0 < x <= 1.0)
        super().check()

    def _temperature(self, done):
        """Temperature after a share ``done`` of the cooling."""
        raise NotImplementedError(f"{type(self).__name__} must define _temperature(done)")


class LinearCooling(_CoolingFromStart):
    """Temperature that falls linearly from ``start`` to 1 over the first ``share`` of the run.

    Parameters
    ----------
    start : float, default=1.6
        Temperature at the start, at least 1.
    share : float, default=0.5
        Part of the run after which the temperature is 1, in (0, 1].

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, section 4.

    Examples
    --------
    >>> from sklearn_subanneal.variational import LinearCooling
    >>> LinearCooling(start=3.0, share=0.5).temperature([0.0, 0.25, 0.5, 1.0])
    array([3., 2., 1., 1.])
    """

    def _temperature(self, done):
        # Exactly 1 at the end for every ``start``.
        return 1.0 + (self.start - 1.0) * (1.0 - done)


class GeometricCooling(_CoolingFromStart):
    """Temperature that falls by equal factors from ``start`` to 1 over the first ``share`` of the run.

    Parameters
    ----------
    start : float, default=1.6
        Temperature at the start, at least 1.
    share : float, default=0.5
        Part of the run after which the temperature is 1, in (0, 1].

    Examples
    --------
    >>> from sklearn_subanneal.variational import GeometricCooling
    >>> GeometricCooling(start=4.0, share=0.5).temperature([0.0, 0.25, 0.5, 1.0])
    array([4., 2., 1., 1.])
    """

    def _temperature(self, done):
        return float(self.start) ** (1.0 - done)
