"""The loop of every annealed chain: through the schedule to full data, then draw after draw. Knows no model."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.schedules import Pace, Schedule, Step

# Of a time limit, this part is for the schedule, the rest for the draws.
SCHEDULE_SHARE = 0.8


@dataclass(frozen=True)
class ChainResult:
    """What a chain hands over: arrays, and no data.

    Attributes
    ----------
    draws : list
        States, all at full data.
    labels : list of ndarray of int
        Of the rows in each draw, in the order of the table: (n_rows,), or (n_views, n_rows).
    trace : structured ndarray of shape (n_sweeps,)
    resume : dict
        State from which :meth:`AnnealedChain.restore` goes on.
    """

    draws: list
    labels: list[np.ndarray]
    trace: np.ndarray
    resume: dict

    def cut(self, n_draws: int) -> ChainResult:
        """The same with the first draws alone."""
        return ChainResult(self.draws[:n_draws], self.labels[:n_draws], self.trace, self.resume)


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
        Of the chain, for its trace.
    """

    #: dtype of the trace; its first fields are those of :meth:`_sweep`, the others what ``cycle`` tells.
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
        # Of the whole chain, and of the run that is under way: that to which a time limit applies.
        self.seconds = self.seconds_of_run = 0.0
        self._clock = perf_counter()

    def start_from_prior(self) -> None:
        """Assign all rows by draws from the prior."""
        raise TypeError(f"{type(self).__name__} does not start from the prior")

    def cycle(self, step: Step, context: ChainContext) -> dict:
        """One cycle through the subsample, then the hyperparameters; what the trace is to say of it."""
        raise TypeError(f"{type(self).__name__} must say what a cycle is")

    def state(self):
        """The present state, as prediction needs it."""
        raise TypeError(f"{type(self).__name__} has no state")

    def labels_of_rows(self) -> np.ndarray:
        """Present cluster of each row, in the order of the table."""
        raise TypeError(f"{type(self).__name__} has no labels")

    def get_state(self) -> dict:
        """Arrays from which ``set_state`` restores partitions and hyperparameters."""
        raise TypeError(f"{type(self).__name__} can't be continued")

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave."""
        raise TypeError(f"{type(self).__name__} can't be continued")

    def run(
        self, schedule: Schedule, n_draws: int, thin: int, time_limit: float | None, context: ChainContext
    ) -> ChainResult:
        """Anneal, unless that is done, and go on until there are ``n_draws`` draws or the time is over.

        At least one draw is made however short the time: all rows are in when this returns.
        """
        self._clock = perf_counter()
        if not self.annealed:
            seconds = None if time_limit is None else SCHEDULE_SHARE * time_limit
            self._anneal(Pace(schedule, self.n_rows, seconds, self.done, self.progress), context)
            self.annealed = True
        full = Step(1.0, self.n_rows, self.n_rows, 1.0)
        while len(self.draws) < n_draws:
            stop = self._sweep(full, context, thin)
            while self.sweeps_since_draw:
                stop |= self._sweep(full, context, thin)
            if stop or (time_limit is not None and self.seconds_of_run >= time_limit):
                break
        self.seconds_of_run = 0.0
        return self.result()

    def _anneal(self, pace: Pace, context: ChainContext) -> None:
        if pace.schedule.start == "prior" and not self.trace:
            self.start_from_prior()
            self.window.fill()
        for step in pace.steps(self.window.size):
            self.done = pace.done + step.n_moves
            if self._sweep(step, context):
                # Told to end early: the rows that are still out enter one after the other.
                if self.window.size < self.n_rows:
                    self._sweep(Step(1.0, self.n_rows, 0, 1.0), context)
                return

    def _sweep(self, step: Step, context: ChainContext, thin: int = 0) -> bool:
        """One cycle, and its record; True if the phase is to end. Every ``thin``-th one gives a draw."""
        told = self.cycle(step, context)
        self.progress = step.progress
        before, self._clock = self._clock, perf_counter()
        self.seconds += self._clock - before
        self.seconds_of_run += self._clock - before
        record = {
            "chain": self.number,
            "sweep": len(self.trace),
            "seconds": self.seconds,
            "progress": step.progress,
            "n_assigned": self.window.size,
            "inverse_temperature": step.inverse_temperature,
            **told,
        }
        self.trace.append(tuple(record[name] for name in self.TRACE.names))
        if thin:
            self.sweeps_since_draw = (self.sweeps_since_draw + 1) % thin
            if not self.sweeps_since_draw:
                self.draws.append(self.state())
                self.labels.append(self.labels_of_rows())
        return context.tell(record, self.state, self.result)

    def result(self) -> ChainResult:
        """Everything so far: a chain that is restored from it, at whatever moment, goes on bit for bit."""
        resume = {
            "generator": self.generator.bit_generator.state,
            "order": self.order,
            "window": self.window.get_state(),
            "model": self.get_state(),
            "annealed": self.annealed,
            "done": self.done,
            "progress": self.progress,
            "sweeps_since_draw": self.sweeps_since_draw,
            "seconds": self.seconds,
            "seconds_of_run": self.seconds_of_run,
        }
        return ChainResult(list(self.draws), list(self.labels), np.array(self.trace, self.TRACE), resume)

    def restore(self, result: ChainResult) -> AnnealedChain:
        """Put this chain, made of the same table, where another ended or was interrupted."""
        resume = result.resume
        self.generator.bit_generator.state = resume["generator"]
        self.window.set_state(resume["window"])
        self.set_state(resume["model"])
        self.annealed, self.done, self.progress = resume["annealed"], resume["done"], resume["progress"]
        self.sweeps_since_draw = resume["sweeps_since_draw"]
        self.seconds, self.seconds_of_run = resume["seconds"], resume["seconds_of_run"]
        self.draws, self.labels = list(result.draws), list(result.labels)
        self.trace = [tuple(record) for record in result.trace]
        return self


def n_sweeps(schedule: Schedule, n_draws: int, thin: int, n_rows: int, previous: ChainResult | None) -> int:
    """Sweeps that a chain has to go, from its start or from where it was, where its work and not the clock ends it."""
    if previous is None:
        return Pace(schedule, n_rows).n_steps() + n_draws * thin
    resume = previous.resume
    to_draw = max((n_draws - len(previous.draws)) * thin - resume["sweeps_since_draw"], 0)
    if resume["annealed"]:
        return to_draw
    pace = Pace(schedule, n_rows, None, resume["done"], resume["progress"])
    return pace.n_steps(int(resume["window"]["sizes"].sum())) + to_draw


def run_recipe(kind: type[AnnealedChain], recipe: dict, priors: dict, context: ChainContext) -> ChainResult:
    """Make one chain, or take one up again, and run it.

    Parameters
    ----------
    kind : subclass of AnnealedChain
    recipe : dict
        "chain": arguments of ``kind`` but for order, window and generator, which come of "subsampling", "strata" (a
        column or None) and "generator", and for its priors; "run": arguments of its ``run``; "previous": the result
        to go on from, or None.
    priors : dict
        The other arguments of ``kind``.
    context : ChainContext
    """
    previous, generator = recipe["previous"], recipe["generator"]
    order, window = recipe["subsampling"].bind(len(recipe["chain"]["arrays"][0]), generator, recipe["strata"])
    if previous is not None:
        order = previous.resume["order"]
    chain = kind(**recipe["chain"], **priors, order=order, window=window, generator=generator)
    if previous is not None:
        chain.restore(previous)
    return chain.run(**recipe["run"], context=context)
