"""Pace: the steps of a chain along its schedule, by the row assignments done or, with a time limit, by the clock."""

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


class Pace:
    """Turns a schedule into the steps of one chain, by work done or by the clock.

    Parameters
    ----------
    schedule : Schedule
    n_rows : int
    seconds : float or None
        The schedule ends when this much time has passed; None: when its assignments are done.
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
        self.whole = schedule.n_assignments(n_rows)
        self.progress = min(1.0, done / self.whole) if progress is None else progress
        self._started = clock.now() - (0.0 if seconds is None else self.progress * seconds)
        self._speed = None

    @property
    def elapsed(self) -> float:
        """Seconds since the schedule began, earlier runs included."""
        return clock.now() - self._started

    def steps(self, size: int):
        """Yield the steps of the chain, whose subsample has ``size`` rows now."""
        while self.progress < 1.0 or size < self.n_rows:
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

    def n_steps(self, size: int | None = None) -> int:
        """Steps to go from ``size`` rows, by default those of the start, where work and not the clock ends them."""
        if size is None:
            size = self.n_rows if self.schedule.start == "prior" else 0
        return sum(1 for _ in self.steps(size))

    def _progress(self, n_moves):
        """Progress at the end of the next ``n_moves`` assignments."""
        if self.seconds is None:
            return min(1.0, (self.done + n_moves) / self.whole)
        ahead = n_moves / self._speed if self._speed else 0.0
        if not self.seconds > 0:
            return 1.0
        # Not back, where the last cycle was slow and this one would be judged by it.
        return max(self.progress, min(1.0, (self.elapsed + ahead) / self.seconds))
