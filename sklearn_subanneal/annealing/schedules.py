"""Annealing schedules: subsample size and temperature as functions of progress in [0, 1]."""

from __future__ import annotations

from math import log
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator


class Schedule(BaseEstimator):
    """Base class of all schedules: functions of progress alone, independent of model, data and clock.

    ``passes`` is the work of the whole schedule: row assignments divided by the number of rows.
    """

    #: "empty": the chain starts without rows; "prior": with all rows, their partition drawn from the prior.
    start = "empty"

    def __init__(self, passes: float = 20.0):
        self.passes = passes

    def subsample_size(self, progress, n_rows: int) -> np.ndarray:
        """Number of rows in the subsample at ``progress`` (array-like in [0, 1]); int, same shape."""
        return np.full(np.shape(progress), n_rows)

    def inverse_temperature(self, progress, n_rows: int) -> np.ndarray:
        """Power of the likelihood at ``progress``; float, same shape."""
        return np.ones(np.shape(progress))

    def n_assignments(self, n_rows: int) -> int:
        """Row assignments of the whole schedule; at least one a row."""
        if not isinstance(self.passes, Real) or not self.passes >= 1.0 or not np.isfinite(self.passes):
            raise ValueError(f"passes must be a number of at least 1, got {self.passes!r}")
        return int(np.ceil(self.passes * n_rows))


class SubsampleAnneal(Schedule):
    """The paper's linear annealing: for each row added to the subsample, ``passes`` - 1 rows are exchanged.

    Parameters
    ----------
    passes : float, default=20
        Row assignments divided by the number of rows.

    References
    ----------
    F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing,
    AISTATS, section 2.4.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import SubsampleAnneal
    >>> SubsampleAnneal(passes=50).subsample_size([0.1, 0.5, 1.0], n_rows=1000)
    array([ 100,  500, 1000])
    """

    def subsample_size(self, progress, n_rows):
        # Rounding of the product must not let a row in too early.
        return np.ceil(np.clip(progress, 0.0, 1.0) * n_rows - 1e-9).astype(int)


class Accelerating(Schedule):
    """Many passes while the subsample is small, and fewer as it grows: the cost grows more slowly than the table.

    The first rows enter at once. Each new row is then accompanied by ``passes`` assignments up to ``n_small`` rows, and
    later by a number that falls as a power of the size, to 1 when the table is complete. A table below ``n_small`` rows
    is annealed linearly.

    Parameters
    ----------
    passes : float, default=64
        Assignments for each new row while the subsample is small.
    n_small : int, default=300
        Up to this many rows.
    n_first : int, default=32
        Rows that enter at once, since little is learned of so few; at most half of ``n_small``, or of the table.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import Accelerating
    >>> schedule = Accelerating(passes=64, n_small=300)
    >>> schedule.n_assignments(1_000_000) / 1_000_000 < 3
    True
    """

    def __init__(self, passes: float = 64.0, n_small: int = 300, n_first: int = 32):
        super().__init__(passes)
        self.n_small = n_small
        self.n_first = n_first

    def _phases(self, n_rows):
        """(rows at the start, size where the passes begin to fall, exponent, work up to there, work of the whole)."""
        super().n_assignments(n_rows)
        for name in ("n_small", "n_first"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not value >= 1:
                raise ValueError(f"{name} must be a number of at least 1, got {value!r}")
        small = min(float(self.n_small), float(n_rows))
        first = min(float(self.n_first), small / 2)
        early = first + self.passes * (small - first)
        if n_rows <= small:
            return first, small, 0.0, early, early
        exponent = log(self.passes) / log(n_rows / small)
        return first, small, exponent, early, early + self._fall(n_rows, small, exponent)

    def _fall(self, n, small, exponent):
        # integral of passes (x / small)^-exponent from small to n
        rest = 1.0 - exponent
        return self.passes * small * (log(n / small) if abs(rest) < 1e-9 else ((n / small) ** rest - 1.0) / rest)

    def n_assignments(self, n_rows):
        return int(np.ceil(self._phases(n_rows)[-1]))

    def subsample_size(self, progress, n_rows):
        first, small, exponent, early, whole = self._phases(n_rows)
        done = np.clip(progress, 0.0, 1.0) * whole
        rest = 1.0 - exponent
        late = np.maximum(done - early, 0.0) / (self.passes * small)
        grown = small * (np.exp(late) if abs(rest) < 1e-9 else np.maximum(1.0 + rest * late, 0.0) ** (1.0 / rest))
        size = np.where(done <= early, first + np.maximum(done - first, 0.0) / self.passes, grown)
        # Rounding of the inverse must not keep the last row out.
        return np.where(np.asarray(progress) >= 1.0, n_rows, np.minimum(np.ceil(size - 1e-9), n_rows)).astype(int)


class TemperedAccelerating(Accelerating):
    """Subsample annealing and tempering together, then sweeps of all rows: CrossCat's default with full covariance.

    In the first ``growth`` of the work, the subsample grows as in :class:`Accelerating`, and the power of the
    likelihood grows from ``initial_power`` to 1. The rest of the work are sweeps of all rows. With a low power, columns
    that depend on one another join in views while there are few clusters. At power 1 each column soon has many clusters
    of its own in its view, and moves of single columns between such views are seldom accepted. With a very low power
    columns join that are independent, and later seldom part.

    In tables above ``n_small`` rows, where passes are fewer, so are the sweeps of all rows, and the power begins nearer
    to 1, both in proportion: there is little time for them, and the subsample is small for long.

    Parameters
    ----------
    passes : float, default=60
        Row assignments divided by the number of rows, in tables of up to ``n_small`` rows. In larger ones they fall as
        in :class:`Accelerating`.
    n_small : int, default=1000
        Up to this many rows.
    n_first : int, default=32
        Rows that enter at once, as in :class:`Accelerating`.
    initial_power : float, default=0.5
        Inverse temperature at the start in tables of up to ``n_small`` rows, above 0 and at most 1.
    growth : float, default=0.3
        Share of the work after which all rows are in and the power is 1 in tables of up to ``n_small`` rows, above 0
        and at most 1.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import TemperedAccelerating
    >>> schedule = TemperedAccelerating(initial_power=0.2, growth=0.5)
    >>> schedule.subsample_size([0.25, 0.5, 1.0], n_rows=1000)
    array([ 516, 1000, 1000])
    >>> schedule.inverse_temperature([0.0, 0.25, 0.5, 1.0], n_rows=1000)
    array([0.2, 0.6, 1. , 1. ])
    >>> schedule.inverse_temperature([0.0, 0.25, 0.5, 1.0], n_rows=10_000).round(2)
    array([0.83, 0.88, 0.93, 1.  ])
    """

    def __init__(
        self,
        passes: float = 60.0,
        n_small: int = 1000,
        n_first: int = 32,
        initial_power: float = 0.5,
        growth: float = 0.3,
    ):
        super().__init__(passes, n_small, n_first)
        self.initial_power = initial_power
        self.growth = growth

    def n_assignments(self, n_rows):
        for name in ("initial_power", "growth"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0.0 < value <= 1.0:
                raise ValueError(f"{name} must be a number above 0 and at most 1, got {value!r}")
        return super().n_assignments(n_rows)

    def subsample_size(self, progress, n_rows):
        return super().subsample_size(self._grown(progress, n_rows), n_rows)

    def inverse_temperature(self, progress, n_rows):
        start = 1.0 - (1.0 - self.initial_power) * self._thoroughness(n_rows)
        return start + (1.0 - start) * self._grown(progress, n_rows)

    def _grown(self, progress, n_rows):
        """The part of the growth that is done."""
        growth = 1.0 - (1.0 - self.growth) * self._thoroughness(n_rows)
        return np.clip(np.asarray(progress, dtype=float) / growth, 0.0, 1.0)

    def _thoroughness(self, n_rows):
        """Passes over the table, as a share of those over one of ``n_small`` rows."""
        if n_rows <= self.n_small:
            return 1.0
        return self.n_assignments(n_rows) / n_rows / (self.n_assignments(self.n_small) / self.n_small)


class SequentialGibbs(Schedule):
    """All rows are assigned one after the other, then Gibbs sampling: the paper's second baseline.

    Parameters
    ----------
    passes : float, default=20
        Row assignments divided by the number of rows; 1 is sequential initialisation alone.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import SequentialGibbs
    >>> SequentialGibbs(passes=5)
    SequentialGibbs(passes=5)
    """


class PriorGibbs(Schedule):
    """All rows from the start, their partition drawn from the prior, then Gibbs sampling: the paper's first baseline.

    Parameters
    ----------
    passes : float, default=20
        Row assignments divided by the number of rows.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import PriorGibbs
    >>> PriorGibbs(passes=5).start
    'prior'
    """

    start = "prior"


class EnergyAnneal(Schedule):
    """Classical annealing: Gibbs sampling of all rows with the likelihood raised to a power that grows from 0 to 1.

    Parameters
    ----------
    passes : float, default=20
        Row assignments divided by the number of rows.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import EnergyAnneal
    >>> EnergyAnneal().inverse_temperature([0.0, 0.5, 1.0], n_rows=1000)
    array([0. , 0.5, 1. ])
    """

    start = "prior"

    def inverse_temperature(self, progress, n_rows):
        return np.clip(np.asarray(progress, dtype=float), 0.0, 1.0)


NAMED = {
    "anneal": SubsampleAnneal,
    "accelerating": Accelerating,
    "tempered": TemperedAccelerating,
    "sequential": SequentialGibbs,
    "prior": PriorGibbs,
    "energy": EnergyAnneal,
}


def resolve_schedule(schedule: str | Schedule) -> Schedule:
    """The schedule with this name; objects are returned unchanged."""
    return NAMED[schedule]() if isinstance(schedule, str) else schedule
