"""Annealing schedules: subsample size and temperature as functions of progress in [0, 1]."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal._core.arguments import LARGEST, checked_real

# More rows than any table has, for what is to hold for tables of any size.
MOST_ROWS = 1e300


class Schedule(BaseEstimator):
    """Base class of all schedules: functions of progress alone, independent of model, data and clock.

    ``passes`` is the work of the whole schedule, its starts included: row assignments divided by the number of rows.
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

    def starts(self, n_rows: int) -> list[Schedule]:
        """Schedules of short annealings that a chain makes first; it then follows this one from the best of them.

        The best is the one that ends with the highest log joint density. All end with the same number of rows and with
        power 1, and this schedule begins there. None: this schedule begins without rows, or with all of them.
        """
        return []

    def n_assignments(self, n_rows: int) -> int:
        """Row assignments of the whole schedule, with its starts; at least one a row."""
        checked_real("passes", self.passes, 1, LARGEST)
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
            checked_real(name, getattr(self, name), 1, MOST_ROWS)
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


class Start(Schedule):
    """A short annealing of a part of the table: subsample and power grow linearly, then rest for a quarter of the work.

    Parameters
    ----------
    assignments : int
        Its row assignments.
    n_first, n_last : float
        Rows at the beginning and at the end.
    initial_power : float
        Power of the likelihood at the beginning.
    """

    # The part of the work in which subsample and power grow.
    growth = 0.75

    def __init__(self, assignments: int, n_first: float, n_last: int, initial_power: float):
        self.assignments = assignments
        self.n_first = n_first
        self.n_last = n_last
        self.initial_power = initial_power

    def n_assignments(self, n_rows):
        return self.assignments

    def subsample_size(self, progress, n_rows):
        grown = self.n_first + (self.n_last - self.n_first) * self._grown(progress)
        return np.ceil(grown - 1e-9).astype(int)

    def inverse_temperature(self, progress, n_rows):
        return self.initial_power + (1.0 - self.initial_power) * self._grown(progress)

    def _grown(self, progress):
        return np.clip(np.asarray(progress, dtype=float) / self.growth, 0.0, 1.0)


class TemperedAccelerating(Accelerating):
    """Short annealings, tempered and not, of which the best goes on: CrossCat's default with full covariance.

    A chain makes a short annealing for each of the ``initial_powers``: the subsample grows linearly, and the power of
    the likelihood from this value to 1. The chain goes on from the state with the highest log joint density. In tables
    of up to ``n_small`` rows, all rows are in by then, and the rest of the work are sweeps of all rows. The larger a
    table is, the earlier the choice: the subsample then grows on as in :class:`Accelerating`, with less left for sweeps
    of all rows.

    With a low power, columns that depend on one another join in views while there are few clusters; with power 1, each
    column soon has many clusters of its own in its view, and moves of single columns between such views are seldom
    accepted. But with a low power, columns may join that are independent, and later seldom part. Which of both matters
    depends on the table.

    Parameters
    ----------
    passes : float, default=60
        Row assignments divided by the number of rows, in tables of up to ``n_small`` rows. In larger ones they fall as
        in :class:`Accelerating`.
    n_small : int, default=1000
        Up to this many rows.
    n_first : int, default=32
        Rows that enter at once, as in :class:`Accelerating`.
    initial_powers : sequence of float, default=(1.0, 0.5, 0.5)
        Inverse temperature at the beginning of each of the short annealings, above 0 and at most 1. Those with equal
        powers end in different states, too. No more are made once two have ended alike. Where a time limit cuts the
        first one short, this is the only one: the time is better spent on the rows that are still out.
    start_share : float, default=0.2
        Row assignments of a short annealing, as a share of those up to ``n_small`` rows; that of all of them is at most
        1.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import TemperedAccelerating
    >>> schedule = TemperedAccelerating(initial_powers=(0.2, 1.0), start_share=0.25)
    >>> tempered, _ = schedule.starts(n_rows=1000)
    >>> tempered.subsample_size([0.0, 0.375, 0.75, 1.0], n_rows=1000)
    array([  32,  516, 1000, 1000])
    >>> tempered.inverse_temperature([0.0, 0.375, 0.75, 1.0], n_rows=1000)
    array([0.2, 0.6, 1. , 1. ])
    >>> schedule.subsample_size([0.0, 0.5, 1.0], n_rows=10_000)
    array([  618,  1605, 10000])
    """

    def __init__(
        self,
        passes: float = 60.0,
        n_small: int = 1000,
        n_first: int = 32,
        initial_powers: Sequence[float] = (1.0, 0.5, 0.5),
        start_share: float = 0.2,
    ):
        super().__init__(passes, n_small, n_first)
        self.initial_powers = initial_powers
        self.start_share = start_share

    def starts(self, n_rows):
        powers = self._checked_powers()
        first, _, _, early, _ = self._phases(n_rows)
        n_last = int(np.ceil(self._size_of_starts(n_rows) - 1e-9))
        return [Start(int(np.ceil(self.start_share * early)), first, n_last, power) for power in powers]

    def n_assignments(self, n_rows):
        self._checked_powers()
        return super().n_assignments(n_rows)

    def subsample_size(self, progress, n_rows):
        first, _, _, early, whole = self._phases(n_rows)
        # Where starts end, the growth goes on as if it had come so far by itself.
        done = first + self.passes * (self._size_of_starts(n_rows) - first)
        rest = whole - self._share_of_starts * early
        progress = np.clip(progress, 0.0, 1.0)
        # Rounding must not keep the last row out.
        grown = np.where(progress >= 1.0, 1.0, np.minimum((done + progress * rest) / whole, 1.0))
        return super().subsample_size(grown, n_rows)

    @property
    def _share_of_starts(self):
        return len(self.initial_powers) * self.start_share

    def _size_of_starts(self, n_rows):
        """Rows with which starts end: all of a small table, and of a very large one as few as pay for them."""
        first, small, _, _, whole = self._phases(n_rows)
        few = first + self._share_of_starts * (small - first)
        # Passes over the table, as a share of those over a small one.
        thoroughness = min(whole / n_rows / (super().n_assignments(self.n_small) / self.n_small), 1.0)
        return small if n_rows <= self.n_small else few + thoroughness * (small - few)

    def _checked_powers(self):
        """The initial powers; raises ValueError if they, or the share of the starts, are out of range."""
        powers = list(self.initial_powers) if isinstance(self.initial_powers, Sequence | np.ndarray) else []
        if not powers or not all(isinstance(power, Real) and 0.0 < power <= 1.0 for power in powers):
            raise ValueError(
                "initial_powers must be one or more numbers above 0 and at most 1, for example (1.0, 0.5), "
                f"got {self.initial_powers!r}"
            )
        share = self.start_share
        if not isinstance(share, Real) or not 0.0 < share * len(powers) <= 1.0:
            raise ValueError(
                f"start_share must be above 0 and, for {len(powers)} initial_powers, at most {1 / len(powers):.3g}, "
                f"got {share!r}"
            )
        return powers


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
    """The schedule with this name; objects are returned unchanged. Others than those of Schedule are refused."""
    if not isinstance(schedule, str | Schedule):
        raise ValueError(f"schedule must be a Schedule, got {schedule!r}; derive its class from annealing.Schedule")
    return NAMED[schedule]() if isinstance(schedule, str) else schedule
