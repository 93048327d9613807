"""Pace: the steps of a chain along a schedule, by the row assignments done or, with a time limit, by the clock."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing.schedules import Schedule


@dataclass(frozen=True)
class Step:
    """One cycle through the present subsample: the moves of rows before hyperparameters are redrawn."""

    progress: float
    size: int
    n_moves: int
    inverse_temperature: float


# Cycles of fewer rows would spend their time between the kernels.
LEAST_CYCLE = 16
# By the clock, a schedule makes at most so many times its assignments: where there is more time, sweeps of all rows
# gain more than a schedule that is stretched further.
MOST_TIMES = 3.0


class Pace:
    """Turns a schedule, without its starts, into the steps of one chain, by work done or by the clock.

    Parameters
    ----------
    schedule : Schedule
    n_rows : int
    seconds : float or None
        The schedule ends when this much time has passed, or three times its assignments are done; None: when these are
        done.
    done : int
        Assignments that an earlier run has made already.
    progress : float or None
        Where that run was; None: where its assignments put it.
    """

    def __init__(
        self,
        schedule: Schedule,
        n_rows: int,
        seconds: float | None = None,
        done: int = 0,
        progress: float | None = None,
    ):
        self.schedule = schedule
        self.n_rows = n_rows
        self.seconds = seconds
        self.done = done
        self.whole = own_work(schedule, n_rows)
        self.progress = min(1.0, done / self.whole) if progress is None else progress
        self._started = clock.now() - (0.0 if seconds is None else self.progress * seconds)
        self._speed = None

    @property
    def elapsed(self) -> float:
        """Seconds since the schedule began, earlier runs included."""
        return clock.now() - self._started

    def steps(self, size: int):
        """Yield the steps of the chain, whose subsample has ``size`` rows now."""
        last = int(self.schedule.subsample_size(1.0, self.n_rows))
        while self.progress < 1.0 or size < last:
            n_moves = max(size, LEAST_CYCLE)
            before, self.progress = self.done, self._progress(n_moves)
            target = int(self.schedule.subsample_size(self.progress, self.n_rows))
            # A schedule that lets the subsample leap has as many moves as the leap needs.
            n_moves = max(n_moves, abs(target - size))
            started = clock.now()
            power = float(self.schedule.inverse_temperature(self.progress, self.n_rows))
            yield Step(self.progress, target, n_moves, power)
            self.done = before + n_moves
            size = target
            self._speed = n_moves / max(clock.now() - started, 1e-9)

    def n_steps(self, size: int) -> int:
        """Steps to go from ``size`` rows, where work and not the clock ends them."""
        return sum(1 for _ in self.steps(size))

    def _progress(self, n_moves):
        """Progress at the end of the next ``n_moves`` assignments."""
        if self.seconds is None:
            return min(1.0, (self.done + n_moves) / self.whole)
        ahead = n_moves / self._speed if self._speed else 0.0
        if not self.seconds > 0:
            return 1.0
        of_work = (self.done + n_moves) / (MOST_TIMES * self.whole)
        # Not back, where the last cycle was slow and this one would be judged by it.
        return max(self.progress, min(1.0, max((self.elapsed + ahead) / self.seconds, of_work)))


def own_work(schedule: Schedule, n_rows: int) -> int:
    """Row assignments of a schedule without those of its starts."""
    of_starts = sum(start.n_assignments(n_rows) for start in schedule.starts(n_rows))
    return max(schedule.n_assignments(n_rows) - of_starts, 1)


class Course:
    """What a chain follows, one after the other: the starts of its schedule, and then the schedule itself.

    Parameters
    ----------
    schedule : Schedule
    n_rows : int
    seconds : float or None
        The course ends when this much time has passed, if not before, as of :class:`Pace`; None: when its assignments
        are done.

    Attributes
    ----------
    legs : list of Schedule
        What the chain follows.
    n_starts : int
        All but the last.
    """

    def __init__(self, schedule: Schedule, n_rows: int, seconds: float | None = None):
        self.n_rows, self.seconds = n_rows, seconds
        self.legs = [*schedule.starts(n_rows), schedule]
        self.n_starts = len(self.legs) - 1
        self._work = [own_work(leg, n_rows) for leg in self.legs]

    def pace(self, leg: int, done: int = 0, progress: float = 0.0, elapsed: float = 0.0) -> Pace:
        """The pace of a leg of which some is done, when so many seconds of the course have passed."""
        seconds = None
        if self.seconds is not None:
            # Of the time that is left, the share that the leg has of the work that is left.
            work = self._work[leg]
            to_go = (1.0 - progress) * work + sum(self._work[leg + 1 :])
            seconds = max(self.seconds - elapsed, 0.0) * work / max(to_go, 1e-9)
        return Pace(self.legs[leg], self.n_rows, seconds, done, progress)

    def is_hasty(self, leg: int, done: int) -> bool:
        """Whether a leg ended before its assignments were made, since time is short."""
        return self.seconds is not None and done < self._work[leg]

    def progress(self, leg: int, progress: float) -> float:
        """The part of the whole course that is done."""
        return (sum(self._work[:leg]) + progress * self._work[leg]) / sum(self._work)

    def n_steps(self, leg: int = 0, done: int = 0, progress: float = 0.0, size: int = 0) -> int:
        """Steps to go, where work and not the clock ends them, from some place on a leg and ``size`` rows."""
        if leg == self.n_starts == 0 and not done and self.legs[0].start == "prior":
            size = self.n_rows
        total = self.pace(leg, done, progress).n_steps(size)
        for later in range(leg + 1, len(self.legs)):
            # Each start begins without rows, and the schedule itself with those of a start.
            first = int(self.legs[0].subsample_size(1.0, self.n_rows)) if later == self.n_starts else 0
            total += self.pace(later).n_steps(first)
        return total
