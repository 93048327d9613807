"""ShardedChain, the base of Markov chains whose rows are in blocks, and ShardedSpec, the base of what builds them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.mixtures.mixture_chain import MixtureSpec
from sklearn_subanneal.shards.map_over import map_over
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture
from sklearn_subanneal.shards.sharded_views import ShardedViews
from sklearn_subanneal.shards.split_merge import split_and_merge
from sklearn_subanneal.shards.table_blocks import TableBlocks
from sklearn_subanneal.views.views_spec import ViewsSpec

# In each cycle: rows that are moved one at a time, and pairs of rows that propose to split or merge clusters.
SINGLE_ROWS = 1000
PAIRS = 4
# Most sweeps between the start and the draws.
MOST_SWEEPS = 100
# Of a time limit, the part that the start takes; and of the rest, the part before the draws.
START_SHARE = 0.3
BURN_IN_SHARE = 0.6
# What a chain that is saved has beside the state of one that has ended.
OF_SAVED = ("rows", "start_seconds")


class _AllRows:
    """The subsample of a chain that has all rows from its start."""

    def __init__(self, n_rows: int):
        self.size = n_rows

    def get_state(self) -> dict:
        """Nothing changes."""
        return {}

    def set_state(self, state: dict) -> None:
        """Nothing changes."""


class ShardedChain(AnnealedChain):
    """A chain over partitions of the rows of a table in blocks, from the draw of a chain over some of its rows.

    Parameters
    ----------
    spec : ShardedSpec
    model : ShardedMixture or ShardedViews
        Not started.
    """

    def __init__(self, spec: ShardedSpec, model: ShardedMixture | ShardedViews):
        n_rows, generator = spec.table.n_rows, spec.start.generator
        super().__init__(n_rows, np.zeros(0, np.int32), _AllRows(n_rows), generator, spec.number)
        self.spec, self.model, self.learn = spec, model, spec.start.learn
        self.annealed, self.start_seconds = True, 0.0

    def start_from(self, start: ChainResult) -> None:
        """Begin with the draw of the chain over some of the rows."""
        self.trace = [tuple(record) for record in start.trace]
        self.n_sweeps = start.state.n_sweeps
        self.start_seconds = start.state.seconds
        self.charge(self.start_seconds)
        self.model.start_from(start.draws[0], start.state.model["columns"])

    def _sweep(self, step: Step, context: ChainContext, thin: int = 0) -> bool:
        stop, limit = super()._sweep(step, context, thin), self.spec.time_limit
        if limit is not None and not self.arrived:
            stop |= self.seconds_of_run - self.start_seconds >= BURN_IN_SHARE * (limit - self.start_seconds)
        return stop

    def _burn_in_until(self, seconds: float, full: Step, context: ChainContext) -> None:
        # The time of the sweeps before the draws is in _sweep, and a chain that has arrived does not wait for its end.
        self._burn_in(full, self.spec.max_sweeps, context)

    def _move_rows(self, mixture: ShardedMixture, context: ChainContext) -> tuple[int, int]:
        """The moves of rows of one partition; returns how many moved, and how many splits and merges were accepted."""
        context.check()
        n_moved = mixture.sweep()
        if mixture.has_thresholds:
            context.check()
            n_moved += mixture.slice_rows()
        context.check()
        n_moved += mixture.move_single_rows(SINGLE_ROWS)
        context.check()
        return n_moved, split_and_merge(mixture, PAIRS)

    def get_state(self) -> dict:
        """What is kept of a chain that has ended: nothing of its rows, of which there may be very many."""
        return {}

    def set_state(self, state: dict) -> None:
        self.start_seconds = state["start_seconds"]
        self.model.set_state(state["rows"])

    def saved(self) -> ChainResult:
        result = self.result()
        model = result.state.model | dict(zip(OF_SAVED, (self.model.get_state(), self.start_seconds), strict=True))
        return replace(result, state=replace(result.state, model=model))


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardedSpec:
    """A chain over a table in blocks; a subclass says which.

    Attributes
    ----------
    start : MixtureSpec or ViewsSpec
        The chain over some of the rows, with its generator.
    table : TableBlocks
    units : float
        log |dz / dx| of all cells.
    kept : ndarray of int, shape (n_kept,)
        The rows whose labels are kept with each draw, increasing.
    n_draws, thin : int
    max_sweeps : int
    time_limit : float or None
    n_jobs : int or None
        Threads that share the blocks, if these are in this process.
    previous : ChainResult or None
        The chain as it was saved, from which it goes on.
    ended : bool
        Whether it ended there.
    """

    start: MixtureSpec | ViewsSpec
    table: TableBlocks
    units: float
    kept: np.ndarray
    n_draws: int = 1
    thin: int = 1
    max_sweeps: int = MOST_SWEEPS
    time_limit: float | None = None
    n_jobs: int | None = None
    previous: ChainResult | None = None
    ended: bool = False

    @property
    def number(self) -> int:
        """Number of the chain in its fit."""
        return self.start.number

    def n_sweeps(self) -> None:
        """Not known before."""
        return None

    def build(self, blocks: Any) -> ShardedChain:
        """The chain over all rows, not started."""
        raise TypeError(f"{type(self).__name__} must build a chain")

    def run(self, context: ChainContext) -> ChainResult:
        """Run the chain over some rows, and from its draw that over all; or go on where it was saved."""
        context.begin()
        if self.ended:
            context.end(self.previous, None)
            return _without_rows(self.previous)
        began = clock.now()
        chain = self.build(map_over(self.table, self.n_jobs))
        if self.previous is None:
            # The sweeps of a start are not those of the chain: they are not reported, and it counts its time itself.
            chain.charge(clock.now() - began)
            start = self.start.run(ChainContext(context.cancel))
            began = clock.now()
            chain.start_from(start)
        else:
            chain.restore(self.previous)
        chain.charge(clock.now() - began)
        limits = self.time_limit, context, self.max_sweeps
        result = chain.run(self.start.schedule, self.n_draws, self.thin, *limits)
        context.end(chain.saved() if context.is_saved else result, self.n_draws)
        return result


def _without_rows(saved: ChainResult) -> ChainResult:
    """The result of a chain that has ended, from what was saved of it."""
    model = {name: value for name, value in saved.state.model.items() if name not in OF_SAVED}
    return replace(saved, state=replace(saved.state, model=model))


def run_sharded(spec: ShardedSpec, context: ChainContext) -> ChainResult:
    """Run a chain; a function at the top of a module, since workers find it by its name."""
    return spec.run(context)
