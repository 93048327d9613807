"""ShardedChain, the base of Markov chains whose rows are in blocks, and ShardedSpec, the base of what builds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.mixtures.mixture_chain import MixtureSpec
from sklearn_subanneal.shards.map_over import map_over
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture
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


class _AllRows:
    """The subsample of a chain that has all rows from its start."""

    def __init__(self, n_rows: int):
        self.size = n_rows

    def get_state(self) -> dict:
        """Nothing changes."""
        return {}


class ShardedChain(AnnealedChain):
    """A chain over partitions of the rows of a table in blocks, from the draw of a chain over some of its rows.

    Parameters
    ----------
    spec : ShardedSpec
    start : ChainResult
        Of the chain over some of the rows.
    burn_in_seconds : float or None
        After so many seconds draws are made, whether or not the log joint density still rises.
    """

    def __init__(self, spec: ShardedSpec, start: ChainResult, burn_in_seconds: float | None = None):
        n_rows, generator = spec.table.n_rows, spec.start.generator
        super().__init__(n_rows, np.zeros(0, np.int32), _AllRows(n_rows), generator, spec.number)
        self.spec, self.learn = spec, spec.start.learn
        self.trace = [tuple(record) for record in start.trace]
        self.n_sweeps, self.seconds = start.state.n_sweeps, start.state.seconds
        self.annealed, self.burn_in_seconds = True, burn_in_seconds

    def _sweep(self, step: Step, context: ChainContext, thin: int = 0) -> bool:
        stop = super()._sweep(step, context, thin)
        is_late = self.burn_in_seconds is not None and self.seconds_of_run >= self.burn_in_seconds
        return stop or (is_late and not self.arrived)

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
        return {}


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
    max_sweeps : int or None
    time_limit : float or None
    n_jobs : int or None
        Threads that share the blocks, if these are in this process.
    """

    start: MixtureSpec | ViewsSpec
    table: TableBlocks
    units: float
    kept: np.ndarray
    n_draws: int = 1
    thin: int = 1
    max_sweeps: int | None = None
    time_limit: float | None = None
    n_jobs: int | None = None

    @property
    def number(self) -> int:
        """Number of the chain in its fit."""
        return self.start.number

    def n_sweeps(self) -> None:
        """Not known before."""
        return None

    def build(self, blocks: Any, start: ChainResult, burn_in_seconds: float | None) -> ShardedChain:
        """The chain over all rows, which begins with the draw of the chain over some of them."""
        raise TypeError(f"{type(self).__name__} must build a chain")

    def run(self, context: ChainContext) -> ChainResult:
        """Run the chain over some rows, and from its draw that over all."""
        context.begin()
        # The sweeps of a start are not those of the chain: they are not reported.
        start = self.start.run(ChainContext(context.cancel))
        left = None if self.time_limit is None else max(self.time_limit - start.state.seconds, 1e-9)
        late = None if left is None else BURN_IN_SHARE * left
        chain = self.build(map_over(self.table, self.n_jobs), start, late)
        most = MOST_SWEEPS if self.max_sweeps is None else self.max_sweeps
        result = chain.run(self.start.schedule, self.n_draws, self.thin, left, context, most)
        context.end(result, self.n_draws)
        return result


def run_sharded(spec: ShardedSpec, context: ChainContext) -> ChainResult:
    """Run a chain; a function at the top of a module, since workers find it by its name."""
    return spec.run(context)
