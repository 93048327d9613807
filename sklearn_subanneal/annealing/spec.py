"""ChainSpec: the specification of a chain, from which this or another process builds and runs it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.pace import Course
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.schedules import Schedule, SubsampleAnneal
from sklearn_subanneal.annealing.subsampling import CyclicSubsampling, Subsampling


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainSpec:
    """One chain of a fit, as plain data that can be pickled; a subclass adds the model, and builds the chain.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    schedule : Schedule
    subsampling : Subsampling
    strata : ndarray of shape (n_rows,) or None
        Cells of the column by which the subsample is stratified, if it is.
    n_draws : int
        Draws to make, those of ``previous`` included.
    thin : int
        Sweeps between draws.
    time_limit : float or None
        Seconds.
    max_sweeps : int or None
        Most sweeps of all rows between schedule and draws, while the log joint density rises. None: as many as do the
        work of the schedule once more.
    generator : numpy.random.Generator or None
        Random generator of this chain alone; None in the template that is copied for the chains of a fit.
    number : int
        Number of the chain in its fit.
    previous : ChainResult or None
        Result from which the chain continues; None: it starts from the beginning.
    ended : bool
        Whether the chain has ended with ``previous``.
    """

    n_rows: int
    schedule: Schedule = field(default_factory=SubsampleAnneal)
    subsampling: Subsampling = field(default_factory=CyclicSubsampling)
    strata: np.ndarray | None = None
    n_draws: int = 1
    thin: int = 1
    time_limit: float | None = None
    max_sweeps: int | None = None
    generator: np.random.Generator | None = None
    number: int = 0
    previous: ChainResult | None = None
    ended: bool = False

    def check(self) -> None:
        """Check the parameters before any chain starts; a subclass adds the checks of its model.

        Raises
        ------
        ValueError
            The message names the parameter, its value and the remedy.
        """
        self.schedule.n_assignments(self.n_rows)
        self.subsampling.strata(self.n_rows, self.strata)

    def build(self, order: np.ndarray, window: Window) -> AnnealedChain:
        """The chain, at its start.

        Parameters
        ----------
        order : ndarray of int, shape (n_rows,)
            Row of the table at each position.
        window : Window
            The empty subsample.
        """
        raise NotImplementedError(f"{type(self).__name__} must build a chain")

    def run(self, context: ChainContext) -> ChainResult:
        """Build the chain, or restore it, and run it to its end: the unit of work that joblib distributes."""
        context.begin()
        if self.ended:
            result = self.previous
        else:
            started = clock.now()
            order, window = self.subsampling.bind(self.n_rows, self.generator, self.strata)
            if self.previous is not None:
                order = self.previous.state.order
            chain = self.build(order, window)
            if self.previous is not None:
                chain.restore(self.previous)
            chain.charge(clock.now() - started)
            result = chain.run(self.schedule, self.n_draws, self.thin, self.time_limit, context, self.most_sweeps)
        context.end(result, None if self.ended else self.n_draws)
        return result

    @property
    def most_sweeps(self) -> int:
        """Most sweeps between schedule and draws."""
        if self.max_sweeps is not None:
            return self.max_sweeps
        return -(-self.work // self.n_rows)

    @property
    def work(self) -> int:
        """Row assignments of the schedule."""
        return self.schedule.n_assignments(self.n_rows)

    def n_sweeps(self) -> int | None:
        """Most sweeps to go, from the start or from ``previous``; None where the clock ends them."""
        if self.ended:
            return 0
        if self.time_limit is not None:
            return None
        course = Course(self.schedule, self.n_rows)
        if self.previous is None:
            return course.n_steps() + self.most_sweeps + self.n_draws * self.thin
        state = self.previous.state
        to_go = max((self.n_draws - len(self.previous.draws)) * self.thin - state.sweeps_since_draw, 0)
        if not state.arrived:
            to_go += max(self.most_sweeps - state.n_burn_in, 0)
        if not state.annealed:
            to_go += course.n_steps(state.leg, state.done, state.progress, int(state.window["sizes"].sum()))
        return to_go


def run_spec(spec: ChainSpec, context: ChainContext) -> ChainResult:
    """Run a chain; a function at the top of a module, since workers find it by its name."""
    return spec.run(context)
