"""AnnealedChain, the base class of chains: it follows the schedule, burns in, and then makes the draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain_result import ChainResult, ChainState
from sklearn_subanneal.annealing.pace import Course, Pace, Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.schedules import Schedule
from sklearn_subanneal.annealing.stationarity import FEWEST, full_sweeps, may_rise

# The part of a time limit that the schedule takes; the rest is for draws. A schedule that is cut short leaves the chain
# in a poor partition, from which draws at full data recover slowly: it gets most of the time.
SCHEDULE_SHARE = 0.8


class AnnealedChain:
    """Base of the chains; a subclass gives ``TRACE`` and the methods that raise here.

    Parameters
    ----------
    n_rows : int
    order : ndarray of int, shape (n_rows,)
        Row of the table at each position: rows are stored as churn visits them, so that memory is read in order.
    window : Window
        The subsample, as a set of positions.
    generator : numpy.random.Generator
    number : int
        Number of the chain, recorded in its trace.
    """

    #: dtype of the trace: the fields that :meth:`_sweep` records, and those that ``cycle`` returns.
    TRACE: np.dtype

    def __init__(self, n_rows: int, order: np.ndarray, window: Window, generator: np.random.Generator, number: int = 0):
        self.n_rows, self.order, self.window = n_rows, order.astype(np.int32), window
        self.generator, self.number = generator, number
        self.trace: list[tuple] = []
        self.draws: list = []
        self.labels: list[np.ndarray] = []
        self.annealed = False
        # The place on the course: the leg, and the assignments and the progress on it. Sweeps in all, and the best of
        # the starts so far, with its mean log joint density.
        self.leg, self.done, self.progress = 0, 0, 0.0
        self.n_sweeps = 0
        self.best: tuple[float, ChainResult] | None = None
        self._origin: tuple[dict, dict] | None = None
        # Sweeps of all rows between schedule and draws: those made, and those planned until the chain is judged again.
        self.n_burn_in = self.n_planned = 0
        self.arrived = False
        self.sweeps_since_draw = 0
        # Seconds of the whole chain, and of the present run, to which a time limit applies.
        self.seconds = self.seconds_of_run = 0.0
        self._clock = clock.now()
        # When the schedule must end, on the clock; infinite where time is not limited, and once it has ended.
        self.deadline = inf

    def start_from_prior(self) -> None:
        """Assign all rows by draws from the prior."""
        raise TypeError(f"{type(self).__name__} does not start from the prior")

    def cycle(self, step: Step, context: ChainContext) -> dict:
        """Make one cycle through the subsample, then redraw the hyperparameters; returns fields of the trace."""
        raise TypeError(f"{type(self).__name__} must define a cycle")

    def state(self) -> Any:
        """The present state, as prediction needs it: a draw."""
        raise TypeError(f"{type(self).__name__} has no state")

    def labels_of_rows(self) -> np.ndarray:
        """Present cluster of each row, in the order of the table."""
        raise TypeError(f"{type(self).__name__} has no labels")

    def get_state(self) -> dict:
        """Arrays from which ``set_state`` restores partitions and hyperparameters."""
        raise TypeError(f"{type(self).__name__} can't be continued")

    def is_like(self, result: ChainResult) -> bool:
        """Whether the present partitions of rows and columns are about those of the result of another start."""
        return False

    def set_state(self, state: dict) -> None:
        """Restore a state returned by ``get_state``."""
        raise TypeError(f"{type(self).__name__} can't be continued")

    def charge(self, seconds: float) -> None:
        """Count the seconds in which the chain was built or restored, to which a time limit applies as well."""
        self.seconds += seconds
        self.seconds_of_run += seconds

    def run(
        self,
        schedule: Schedule,
        n_draws: int,
        thin: int,
        time_limit: float | None,
        context: ChainContext,
        max_sweeps: int = 0,
    ) -> ChainResult:
        """Anneal, unless this is done, and continue until there are ``n_draws`` draws or the time is over.

        At least one draw is made however short the time: all rows are in when this returns. A cycle that the end of the
        schedule's time finds under way is cut short, but none once draws are made: which moves there are would depend
        on how long they take. Then sweeps of all rows are made, and dropped: as long as the log joint density rises,
        but at most ``max_sweeps``; or, where time is limited, until the schedule's part of the time is over.
        """
        self._clock = clock.now()
        seconds = None if time_limit is None else SCHEDULE_SHARE * time_limit
        if not self.annealed:
            if seconds is not None:
                self.deadline = self._clock + seconds - self.seconds_of_run
            self.arrived = self._anneal(Course(schedule, self.n_rows, seconds), context)
            self.annealed, self.best, self.deadline = True, None, inf
        full = Step(1.0, self.n_rows, self.n_rows, 1.0)
        if not self.arrived:
            if seconds is None:
                self._burn_in(full, max_sweeps, context)
            else:
                self._burn_in_until(seconds, full, context)
            self.arrived = True
        stop = False
        while not stop and len(self.draws) < n_draws:
            stop = self._sweep(full, context, thin)
            while self.sweeps_since_draw:
                stop |= self._sweep(full, context, thin)
            stop |= time_limit is not None and self.seconds_of_run >= time_limit
        self.seconds_of_run = 0.0
        return self.result()

    def _burn_in(self, full: Step, most: int, context: ChainContext) -> None:
        """Sweeps of all rows until the log joint density does not rise, a callback asks to end, or most are made."""
        while self.n_burn_in < self.n_planned or self._plan_more(most):
            self.n_burn_in += 1
            if self._sweep(full, context):
                return

    def _burn_in_until(self, seconds: float, full: Step, context: ChainContext) -> None:
        """Sweeps of all rows until the run has taken so long, or a callback asks to end."""
        while self.seconds_of_run < seconds:
            self.n_burn_in += 1
            if self._sweep(full, context):
                return

    def _plan_more(self, most: int) -> bool:
        """Plan the next sweeps of the burn-in, if the chain needs some."""
        n_more = FEWEST
        # Before the first ones, too few sweeps of all rows may have been made to judge it.
        if self.n_burn_in:
            trace = np.array(self.trace, self.TRACE)
            if not may_rise(trace, self.n_rows):
                return False
            n_more = max(len(full_sweeps(trace, self.n_rows)) // 2, FEWEST)
        n_more = min(n_more, most - self.n_burn_in)
        self.n_planned += n_more
        return n_more > 0

    def _anneal(self, course: Course, context: ChainContext) -> bool:
        """Follow the schedule; whether a callback asked to end it early."""
        if course.legs[0].start == "prior" and not self.trace:
            self.start_from_prior()
            self.window.fill()
        if course.n_starts and self._origin is None:
            self._origin = self.get_state(), self.window.get_state()
        while self.leg < len(course.legs):
            pace = course.pace(self.leg, self.done, self.progress, self.seconds_of_run)
            if self._follow(pace, course, context):
                self._enter_the_rest(context)
                return True
            if self.is_late():
                self._end_late(course, context)
                return False
            following = self.leg + 1
            if self.leg < course.n_starts:
                if self.leg == 0 and course.is_hasty(0, self.done):
                    # The other starts would end as far from the posterior, and take time from the schedule.
                    following = course.n_starts
                else:
                    if self.best is not None and following < course.n_starts and self.is_like(self.best[1]):
                        # Where two starts end alike, one more would, too.
                        following = course.n_starts
                    self._judge_start(following == course.n_starts)
            self.leg, self.done, self.progress = following, 0, 0.0
        return False

    def _follow(self, pace: Pace, course: Course, context: ChainContext) -> bool:
        """The steps of one leg, while there is time; whether a callback asks to end them early."""
        for step in pace.steps(self.window.size):
            if self.is_late():
                return False
            self.done, self.progress = pace.done + step.n_moves, step.progress
            if self._sweep(replace(step, progress=course.progress(self.leg, step.progress)), context):
                return True
        return False

    def _enter_the_rest(self, context: ChainContext, n_moves: int = 0) -> None:
        """The rows that are still out enter one after the other, among so many moves."""
        if n_moves or self.window.size < self.n_rows:
            self._sweep(Step(1.0, self.n_rows, n_moves, 1.0), context)

    def _end_late(self, course: Course, context: ChainContext) -> None:
        """The time of the schedule is over, wherever the chain is: it gets all rows, and is no longer tempered."""
        if self.best is not None:
            # The present start was cut short, but not that one.
            self._go_back(self.best[1])
        self.leg = len(course.legs) - 1
        if self.trace and self.trace[-1][self.TRACE.names.index("inverse_temperature")] < 1.0:
            self.deadline = inf
            self._enter_the_rest(context, self.n_rows)
        else:
            self._enter_the_rest(context)

    def is_late(self) -> bool:
        """Whether the time of the schedule is over: what remains of its cycle is to be left out."""
        return self.deadline < inf and clock.now() >= self.deadline

    def moves_of_rows(
        self, step: Step, n_at_once: int, context: ChainContext
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Move the window by one cycle.

        Parameters
        ----------
        step : Step
        n_at_once : int
            Moves between two looks at the cancel flag and at the clock.
        context : ChainContext

        Returns
        -------
        batches : iterator of (leaving, entering)
            Positions that leave and enter, as of :meth:`Window.plan`; the caller makes these moves. When time is over
            there are no more, and the window does not move on; but a step of no moves is made, by which the rows that
            are out enter.
        """
        leaving, entering = self.window.plan(step.size, step.n_moves, self.generator)

        def batches():
            for at in range(0, len(leaving), n_at_once):
                context.check()
                if step.n_moves and self.is_late():
                    self.window.take_back(leaving[at:], entering[at:])
                    return
                yield leaving[at : at + n_at_once], entering[at : at + n_at_once]

        return batches()

    def _judge_start(self, last: bool) -> None:
        """Keep the best of the starts so far; go on from it after the last one, and otherwise begin another one.

        They are compared by the mean log joint density of the sweeps at the end. Where a table is larger than a start,
        and time is limited, starts end with different rows; but those of a poor start are worse by far.
        """
        mean = float(full_sweeps(np.array(self.trace, self.TRACE), self.window.size)["log_joint"].mean())
        is_best = self.best is None or mean > self.best[0]
        if last:
            if not is_best:
                self._go_back(self.best[1])
            self.best = None
            return
        if is_best:
            self.best = mean, self.result()
        model, window = self._origin
        # First the window: statistics are rebuilt from the rows in it, which the model must have assigned.
        self.window.set_state(window)
        self.set_state(model)
        self.trace = []

    def _go_back(self, result: ChainResult) -> None:
        """Take the state of an earlier start, but not its random numbers."""
        self.window.set_state(result.state.window)
        self.set_state(result.state.model)
        self.trace = [tuple(record) for record in result.trace]

    def _sweep(self, step: Step, context: ChainContext, thin: int = 0) -> bool:
        """One cycle, and its record; True if the phase is to end. Every ``thin``-th one gives a draw."""
        fields = self.cycle(step, context)
        before, self._clock = self._clock, clock.now()
        self.seconds += self._clock - before
        self.seconds_of_run += self._clock - before
        record = {
            "chain": self.number,
            "sweep": self.n_sweeps,
            "seconds": self.seconds,
            "progress": step.progress,
            "n_assigned": self.window.size,
            "inverse_temperature": step.inverse_temperature,
            **fields,
        }
        self.trace.append(tuple(record[name] for name in self.TRACE.names))
        self.n_sweeps += 1
        if thin:
            self.sweeps_since_draw = (self.sweeps_since_draw + 1) % thin
            if not self.sweeps_since_draw:
                self._draw()
        return context.report(record, self.state, self.saved)

    def _draw(self) -> None:
        """Keep the present state."""
        self.draws.append(self.state())
        self.labels.append(self.labels_of_rows())

    def result(self) -> ChainResult:
        """The draws so far, and the state, from which a restored chain continues bit for bit."""
        state = ChainState(
            generator=self.generator.bit_generator.state,
            order=self.order,
            window=self.window.get_state(),
            model=self.get_state(),
            annealed=self.annealed,
            leg=self.leg,
            done=self.done,
            progress=self.progress,
            best=self.best,
            n_sweeps=self.n_sweeps,
            n_burn_in=self.n_burn_in,
            n_planned=self.n_planned,
            arrived=self.arrived,
            sweeps_since_draw=self.sweeps_since_draw,
            seconds=self.seconds,
            seconds_of_run=self.seconds_of_run,
        )
        return ChainResult(list(self.draws), list(self.labels), np.array(self.trace, self.TRACE), state)

    def saved(self) -> ChainResult:
        """As :meth:`result`, with whatever else a chain needs to be restored from a file."""
        return self.result()

    def restore(self, result: ChainResult) -> AnnealedChain:
        """Set this chain, of the same table, to the state in which another one ended or was interrupted."""
        state = result.state
        if not state.annealed:
            self._origin = self.get_state(), self.window.get_state()
        self.generator.bit_generator.state = state.generator
        self._go_back(result)
        self.annealed, self.best, self.n_sweeps = state.annealed, state.best, state.n_sweeps
        self.leg, self.done, self.progress = state.leg, state.done, state.progress
        self.n_burn_in, self.n_planned, self.arrived = state.n_burn_in, state.n_planned, state.arrived
        self.sweeps_since_draw = state.sweeps_since_draw
        self.seconds, self.seconds_of_run = state.seconds, state.seconds_of_run
        self.draws, self.labels = list(result.draws), list(result.labels)
        return self
