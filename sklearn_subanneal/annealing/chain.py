"""AnnealedChain, the base class of chains: the loop that follows the schedule to its end, and then makes the draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain_result import ChainResult, ChainState
from sklearn_subanneal.annealing.pace import Pace, Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.schedules import Schedule
from sklearn_subanneal.annealing.stationarity import full_sweeps, still_rises

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
        self.done, self.progress = 0, 0.0
        self.sweeps_since_draw = 0
        self.n_sweeps_after = self.n_superseded = self.spacing = 0
        # Seconds of the whole chain, and of the present run, to which a time limit applies.
        self.seconds = self.seconds_of_run = 0.0
        self._clock = clock.now()

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

    def set_state(self, state: dict) -> None:
        """Restore a state returned by ``get_state``."""
        raise TypeError(f"{type(self).__name__} can't be continued")

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

        At least one draw is made however short the time: all rows are in when this returns. Where time is not limited
        and the log joint density still rises, the chain goes on, for as many sweeps of all rows again as there were,
        and makes its draws of these; but all sweeps after the schedule are at most ``max_sweeps``.
        """
        self._clock = clock.now()
        if not self.annealed:
            seconds = None if time_limit is None else SCHEDULE_SHARE * time_limit
            self._anneal(Pace(schedule, self.n_rows, seconds, self.done, self.progress), context)
            self.annealed = True
        full = Step(1.0, self.n_rows, self.n_rows, 1.0)
        stop = False
        while not stop and (self._n_current < n_draws or self._goes_on(n_draws, thin, time_limit, max_sweeps)):
            spacing = max(thin, self.spacing)
            stop = self._sweep(full, context, spacing)
            while self.sweeps_since_draw:
                stop |= self._sweep(full, context, spacing)
            stop |= time_limit is not None and self.seconds_of_run >= time_limit
        self.seconds_of_run = 0.0
        return self.result()

    @property
    def _n_current(self) -> int:
        """Number of draws that are not to be replaced."""
        return len(self.draws) - self.n_superseded

    def _goes_on(self, n_draws: int, thin: int, time_limit: float | None, max_sweeps: int) -> bool:
        """Whether the draws, which are complete, are to be replaced by later ones; if so, prepare for these."""
        if time_limit is not None:
            return False
        trace = np.array(self.trace, self.TRACE)
        # As many sweeps as there were, so that the next judgement has twice as many.
        n_sweeps = min(len(full_sweeps(trace, self.n_rows)), max_sweeps - self.n_sweeps_after)
        if n_sweeps < n_draws * thin or not still_rises(trace, self.n_rows):
            return False
        self.n_superseded, self.spacing = n_draws, n_sweeps // n_draws
        return True

    def _anneal(self, pace: Pace, context: ChainContext) -> None:
        if pace.schedule.start == "prior" and not self.trace:
            self.start_from_prior()
            self.window.fill()
        for step in pace.steps(self.window.size):
            self.done = pace.done + step.n_moves
            if self._sweep(step, context):
                # A callback asks to end early: the rows that are still out enter one after the other.
                if self.window.size < self.n_rows:
                    self._sweep(Step(1.0, self.n_rows, 0, 1.0), context)
                return

    def _sweep(self, step: Step, context: ChainContext, thin: int = 0) -> bool:
        """One cycle, and its record; True if the phase is to end. Every ``thin``-th one gives a draw."""
        fields = self.cycle(step, context)
        self.progress = step.progress
        before, self._clock = self._clock, clock.now()
        self.seconds += self._clock - before
        self.seconds_of_run += self._clock - before
        record = {
            "chain": self.number,
            "sweep": len(self.trace),
            "seconds": self.seconds,
            "progress": step.progress,
            "n_assigned": self.window.size,
            "inverse_temperature": step.inverse_temperature,
            **fields,
        }
        self.trace.append(tuple(record[name] for name in self.TRACE.names))
        if thin:
            self.n_sweeps_after += 1
            self.sweeps_since_draw = (self.sweeps_since_draw + 1) % thin
            if not self.sweeps_since_draw:
                self._draw()
        return context.report(record, self.state, self.result)

    def _draw(self) -> None:
        """Keep the present state, in the place of a draw that is to be replaced, if there is one."""
        if self.n_superseded:
            self.n_superseded -= 1
            del self.draws[0], self.labels[0]
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
            done=self.done,
            progress=self.progress,
            sweeps_since_draw=self.sweeps_since_draw,
            n_sweeps_after=self.n_sweeps_after,
            n_superseded=self.n_superseded,
            spacing=self.spacing,
            seconds=self.seconds,
            seconds_of_run=self.seconds_of_run,
        )
        return ChainResult(list(self.draws), list(self.labels), np.array(self.trace, self.TRACE), state)

    def restore(self, result: ChainResult) -> AnnealedChain:
        """Set this chain, of the same table, to the state in which another one ended or was interrupted."""
        state = result.state
        self.generator.bit_generator.state = state.generator
        self.window.set_state(state.window)
        self.set_state(state.model)
        self.annealed, self.done, self.progress = state.annealed, state.done, state.progress
        self.sweeps_since_draw, self.n_sweeps_after = state.sweeps_since_draw, state.n_sweeps_after
        self.n_superseded, self.spacing = state.n_superseded, state.spacing
        self.seconds, self.seconds_of_run = state.seconds, state.seconds_of_run
        self.draws, self.labels = list(result.draws), list(result.labels)
        self.trace = [tuple(record) for record in result.trace]
        return self
