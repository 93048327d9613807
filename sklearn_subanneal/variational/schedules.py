"""Schedules of variational inference: temperatures and step sizes as functions of progress in [0, 1]."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator

# Progress at which a schedule that is not known here is looked at.
LOOKS = np.linspace(0.0, 1.0, 257)


class CoolingSchedule(BaseEstimator):
    """Base of the temperature schedules: pure functions of progress, which end at T = 1.

    A subclass gives ``_temperature``, a function of the share of the cooling that is done.
    """

    def __init__(self, start: float = 1.6, share: float = 0.5):
        self.start = start
        self.share = share

    def temperature(self, progress) -> np.ndarray:
        """Temperature at ``progress`` (array-like in [0, 1]); float, same shape, 1 where the cooling is over."""
        progress = np.clip(np.asarray(progress, dtype=float), 0.0, 1.0)
        return self._temperature(np.minimum(1.0, progress / self.share))

    def check(self) -> None:
        """Raise ValueError if a parameter has no meaning."""
        _check_number("start", self.start, "a temperature of at least 1, where 1 is no annealing", lambda x: x >= 1.0)
        _check_number("share", self.share, "in (0, 1], the part of the run that is annealed", lambda x: 0.0 < x <= 1.0)

    def _temperature(self, done):
        raise TypeError(f"{type(self).__name__} must give the temperature of a share of its cooling")


class LinearCooling(CoolingSchedule):
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
        # Exactly 1 at the end, whatever ``start`` is.
        return 1.0 + (self.start - 1.0) * (1.0 - done)


class GeometricCooling(CoolingSchedule):
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


def check_cooling(schedule) -> None:
    """Raise ValueError unless ``schedule`` is usable: finite temperatures of at least 1, and exactly 1 at the end.

    Parameters
    ----------
    schedule : object
        With a method ``temperature(progress)``; its own ``check()``, if it has one, is asked first.

    Examples
    --------
    >>> from sklearn_subanneal.variational import LinearCooling
    >>> from sklearn_subanneal.variational.schedules import check_cooling
    >>> check_cooling(LinearCooling(start=0.5))
    Traceback (most recent call last):
        ...
    ValueError: start must be a temperature of at least 1, where 1 is no annealing, got 0.5
    """
    if isinstance(schedule, type) or not callable(getattr(schedule, "temperature", None)):
        raise ValueError(
            f"temperature_schedule must be an object with a method temperature(progress), got {schedule!r}; give "
            "LinearCooling() or GeometricCooling()"
        )
    if callable(getattr(schedule, "check", None)):
        schedule.check()
    try:
        temperatures = np.array([float(schedule.temperature(progress)) for progress in LOOKS])
    except (TypeError, ValueError) as error:
        raise ValueError(f"temperature_schedule={schedule!r} must give a number for each progress: {error}") from error
    if not np.isfinite(temperatures).all() or temperatures.min() < 1.0:
        raise ValueError(
            f"temperature_schedule={schedule!r} must give finite temperatures of at least 1, got "
            f"{temperatures[~(temperatures >= 1.0) | ~np.isfinite(temperatures)][0]!r}; raise them"
        )
    if temperatures[-1] != 1.0:
        raise ValueError(
            f"temperature_schedule={schedule!r} must reach 1 at progress 1, got {temperatures[-1]!r}; the model itself "
            "is that of temperature 1"
        )


def step_of(step_size, t: int, progress: float, share_of_batch: float) -> float:
    """The weight that ``step_size`` gives a minibatch; ValueError unless it is from 0 to 1."""
    step = float(step_size.step(t, progress, share_of_batch))
    if not 0.0 <= step <= 1.0:
        raise ValueError(f"step_size={step_size!r} must give steps from 0 to 1, got {step!r} for minibatch {t}")
    return step


class RobbinsMonro(BaseEstimator):
    """Step (offset + t)^-decay of the t-th minibatch, whatever its size: for streams whose end is not known.

    Parameters
    ----------
    offset : float, default=1024.0
        At least 1; the larger, the smaller the first steps.
    decay : float, default=0.7
        In (0.5, 1], for which stochastic optimisation converges.

    References
    ----------
    M. Hoffman, D. Blei, C. Wang, J. Paisley (2013), Stochastic variational inference, JMLR 14, equation 26.

    Examples
    --------
    >>> from sklearn_subanneal.variational import RobbinsMonro
    >>> round(float(RobbinsMonro(offset=1.0, decay=1.0).step(3)), 3)
    0.25
    """

    def __init__(self, offset: float = 1024.0, decay: float = 0.7):
        self.offset = offset
        self.decay = decay

    def step(self, t, progress=None, share_of_batch=None) -> np.ndarray:
        """Weight of the minibatch ``t`` = 0, 1, ... (array-like); float, same shape. The rest is not looked at."""
        return (self.offset + np.asarray(t, dtype=float)) ** -float(self.decay)

    def check(self) -> None:
        """Raise ValueError if a parameter has no meaning."""
        _check_number("offset", self.offset, "at least 1, so that no step exceeds 1", lambda x: x >= 1.0)
        _check_number("decay", self.decay, "in (0.5, 1], for which the steps converge", lambda x: 0.5 < x <= 1.0)


class PassFraction(BaseEstimator):
    """Step 1 - exp(-c B / D) of a minibatch of B among D, so that each pass keeps exp(-c) of what was known before it.

    The size of the minibatches does not matter. c falls by equal factors from ``first`` at the start of the run to
    ``last`` at its end.

    Parameters
    ----------
    first : float, default=2.0
    last : float, default=0.5

    Examples
    --------
    >>> from sklearn_subanneal.variational import PassFraction
    >>> PassFraction(first=2.0, last=0.5).step(0, progress=[0.0, 0.5, 1.0], share_of_batch=0.01).round(4)
    array([0.0198, 0.01  , 0.005 ])
    """

    def __init__(self, first: float = 2.0, last: float = 0.5):
        self.first = first
        self.last = last

    def step(self, t, progress, share_of_batch) -> np.ndarray:
        """Weight of a minibatch at ``progress`` that holds ``share_of_batch`` of the data (array-likes); float."""
        progress = np.clip(np.asarray(progress, dtype=float), 0.0, 1.0)
        passes = self.first * (self.last / self.first) ** progress
        return -np.expm1(-passes * np.asarray(share_of_batch, dtype=float))

    def check(self) -> None:
        """Raise ValueError if a parameter has no meaning."""
        _check_number("first", self.first, "positive: smaller is slower", lambda x: x > 0.0)
        _check_number("last", self.last, "positive: smaller is slower", lambda x: x > 0.0)


def _check_number(name, value, wanted, allowed):
    if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(value) or not allowed(value):
        raise ValueError(f"{name} must be {wanted}, got {value!r}")
