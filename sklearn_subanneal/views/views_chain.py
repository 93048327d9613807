"""One Markov chain over views: partitions of the columns, and of the rows in each view, annealed to full data."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.spec import ChainSpec
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._split_merge import SplitMerge
from sklearn_subanneal.mixtures.mixture_chain import CELLS_PER_BATCH, mixture_state, units_of_rows
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior
from sklearn_subanneal.views._views import Views
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.kernels import ViewKernel

TRACE = np.dtype(
    [
        ("chain", "i4"),
        ("sweep", "i4"),
        ("seconds", "f8"),
        ("progress", "f8"),
        ("n_assigned", "i8"),
        ("inverse_temperature", "f8"),
        ("log_joint", "f8"),
        ("n_views", "i4"),
        ("n_clusters", "i4"),
        ("n_moved", "i8"),
        ("n_columns_moved", "i4"),
        ("concentration", "f8"),
        ("discount", "f8"),
        ("seconds_rows", "f8"),
        ("seconds_views", "f8"),
        ("seconds_hyperparameters", "f8"),
    ]
)

# Below this many rows (half of a small table) neither views nor hyperparameters are learned: so few rows mislead more
# than they say, and what was learned of them has to be unlearned.
LEAST_LEARNED_FROM = 32

# A sweep of less than this takes a few milliseconds: threads would cost more than they save.
LEAST_CELLS_FOR_THREADS = 100_000

# Split-merge proposals in each view after a cycle: they cost as much as all else about rows.
N_SPLIT_MERGES = 2


class ViewsChain(AnnealedChain):
    """A chain over the views of one table.

    Parameters
    ----------
    models : list of ColumnModel
    arrays : list of ndarray
        The table's typed columns.
    column_prior, row_prior : PartitionPrior
    kernel : ViewKernel
    order, window, generator, number
        As of :class:`AnnealedChain`.
    learn : bool, default=True
        Whether hyperparameters are redrawn.
    n_threads : int, default=1
        Views whose rows are swept at once, where rows are many; the result does not depend on it.
    """

    TRACE = TRACE

    def __init__(
        self,
        models: list[ColumnModel],
        arrays: list[np.ndarray],
        column_prior: PartitionPrior,
        row_prior: PartitionPrior,
        kernel: ViewKernel,
        order: np.ndarray,
        window: Window,
        generator: np.random.Generator,
        *,
        learn: bool = True,
        n_threads: int = 1,
        number: int = 0,
    ):
        super().__init__(len(arrays[0]), order, window, generator, number)
        self.learn, self.kernel, self.n_threads = learn, kernel, n_threads
        self.columns = [model.statistics(model.data(arrays).take(self.order)) for model in models]
        self.views = Views(self.columns, column_prior, row_prior, self.n_rows)
        # Each column begins in a view of its own. Columns join one another at once where that pays; to part them, moves
        # have to pay for a second partition of the rows first, so that a start in one view leaves views merged.
        self.views.set_state(np.arange(len(self.columns)), np.full((len(self.columns), self.n_rows), -1, np.int8))
        self.update_views = kernel.bind(self.views)
        self.split_merge = SplitMerge(self.columns, self.n_rows, self.views.twins)
        self.batch = max(CELLS_PER_BATCH // len(arrays), 64)
        self._units = units_of_rows(models, arrays, self.order)
        # Rounds of moves of columns in a row that moved none, and cycles since the last round.
        self.n_quiet = self.n_waited = 0
        self._streams: list[np.random.Generator] = []

    def start_from_prior(self) -> None:
        self.views.draw_from_prior(self.generator)

    def cycle(self, step: Step, context: ChainContext) -> dict:
        views, beta, generator = self.views, step.inverse_temperature, self.generator
        clock = [perf_counter()]
        n_moved = self._move_rows(step, context)
        rows = self.window.positions()
        # Before columns move and the state is read: both then depend on the labels alone, not on the way there.
        views.rebuild(rows)
        clock.append(perf_counter())
        may_learn = self.window.size >= min(LEAST_LEARNED_FROM, self.n_rows // 2)
        n_columns_moved = self._move_columns(beta, rows, context) if may_learn else 0
        clock.append(perf_counter())
        if self.learn and may_learn:
            views.learn(generator, beta)
        clock.append(perf_counter())
        seconds = np.diff(clock)
        return {
            "log_joint": self.log_joint(),
            "n_views": views.n_views,
            "n_clusters": sum(mixture.n_clusters for mixture in views.mixtures),
            "n_moved": n_moved,
            "n_columns_moved": n_columns_moved,
            "concentration": views.prior.parameters["concentration"],
            "discount": views.prior.parameters["discount"],
            "seconds_rows": seconds[0],
            "seconds_views": seconds[1],
            "seconds_hyperparameters": seconds[2],
        }

    def _move_columns(self, beta, rows, context):
        """A round of moves of columns: seldom where the schedule has no use for it, and of few at full data."""
        rest, share = self.kernel.rest_above, 1.0
        if rest is not None and self.window.size > rest:
            share = rest / self.window.size if self.annealed else 0.0
        self.n_waited += 1
        if not share or not (self.annealed or self.n_waited >= self.kernel.interval(self.n_quiet)):
            return 0
        context.check()
        n_moved = self.update_views(beta, self.generator, share)
        if n_moved:
            self.views.rebuild(rows)
        self.n_waited, self.n_quiet = 0, 0 if n_moved else self.n_quiet + 1
        return n_moved

    def _move_rows(self, step, context):
        """Gibbs sampling and split-merge moves of the rows, view after view, or some views at once."""
        leaving, entering = self.window.plan(step.size, step.n_moves, self.generator)
        mixtures, streams, beta = self.views.mixtures, self._streams_of_views(), step.inverse_temperature
        parts = [slice(at, at + self.batch) for at in range(0, len(leaving), self.batch)]

        def sweep(mixture, stream):
            n_moved = 0
            for part in parts:
                context.check()
                n_moved += churn(mixture, leaving[part], entering[part], beta, stream)
            return n_moved

        if self.n_threads > 1 and len(leaving) * len(self.columns) >= LEAST_CELLS_FOR_THREADS:
            with ThreadPoolExecutor(self.n_threads) as pool:
                n_moved = sum(pool.map(sweep, mixtures, streams))
        else:
            n_moved = 0
            for part in parts:
                context.check()
                n_moved += self.views.churn(leaving[part], entering[part], beta, streams)
        rows = self.window.positions()
        for mixture in mixtures:
            context.check()
            n_moved += self.split_merge.propose(mixture, N_SPLIT_MERGES, step.inverse_temperature, self.generator, rows)
        return n_moved

    def _streams_of_views(self):
        """A generator for each view, so that views swept at once draw the same as one after the other."""
        while len(self._streams) < self.views.n_views:
            self._streams.append(np.random.Generator(np.random.PCG64(self.generator.integers(2**63))))
        return self._streams[: self.views.n_views]

    def log_joint(self) -> float:
        """Log joint density of all partitions and the assigned rows, in the units of the data."""
        if np.ndim(self._units):
            units = self._units[self.views.mixtures[0].labels >= 0].sum()
        else:
            units = self._units * self.window.size
        return self.views.log_joint() + units

    def labels_of_rows(self) -> np.ndarray:
        """Present cluster of each row in each view, (n_views, n_rows), in the order of the table."""
        n_clusters = max(mixture.n_clusters for mixture in self.views.mixtures)
        labels = np.empty((self.views.n_views, self.n_rows), np.min_scalar_type(-n_clusters))
        for view, mixture in zip(labels, self.views.mixtures, strict=True):
            view[self.order] = mixture.labels
        return labels

    def state(self) -> ViewsDraw:
        views = self.views
        return ViewsDraw(
            column_labels=views.column_labels,
            views=[mixture_state(mixture) for mixture in views.mixtures],
            prior=views.prior.parameters,
            log_joint=self.log_joint(),
        )

    def get_state(self) -> dict:
        return {
            "column_labels": self.views.column_labels,
            "row_labels": self.views.row_labels,
            "prior": self.views.prior.parameters,
            "row_priors": [mixture.prior.parameters for mixture in self.views.mixtures],
            "columns": [column.get_prior_state() for column in self.columns],
            "patience": (self.n_quiet, self.n_waited),
            "streams": [stream.bit_generator.state for stream in self._streams],
        }

    def set_state(self, state: dict) -> None:
        self.n_quiet, self.n_waited = state["patience"]
        self._streams = [np.random.Generator(np.random.PCG64(0)) for _ in state["streams"]]
        for stream, kept in zip(self._streams, state["streams"], strict=True):
            stream.bit_generator.state = kept
        self.views.prior.parameters = state["prior"]
        for column, prior_state in zip(self.columns, state["columns"], strict=True):
            column.set_prior_state(prior_state)
        self.views.set_state(state["column_labels"], state["row_labels"])
        # Sums of floats depend on the order of the rows.
        self.views.rebuild(self.window.positions())
        for mixture, parameters in zip(self.views.mixtures, state["row_priors"], strict=True):
            mixture.set_prior(parameters)


@dataclass(frozen=True, kw_only=True, eq=False)
class ViewsSpec(ChainSpec):
    """A chain over the views of one table.

    Attributes
    ----------
    models : list of ColumnModel
    arrays : list of ndarray
        The table's typed columns.
    column_partition, row_partition : CRP or PitmanYor
        Priors of the partitions, as parameter objects: bound ones cannot be sent to other processes.
    kernel : ViewKernel
    learn : bool
        Whether hyperparameters are redrawn.
    n_threads : int
        Views whose rows are swept at once.
    """

    models: list[ColumnModel]
    arrays: list[np.ndarray]
    column_partition: BaseEstimator
    row_partition: BaseEstimator
    kernel: ViewKernel
    learn: bool = True
    n_threads: int = 1

    def check(self) -> None:
        super().check()
        self.kernel.check()
        for partition in (self.column_partition, self.row_partition):
            partition.bind(self.learn)

    def build(self, order: np.ndarray, window: Window) -> ViewsChain:
        return ViewsChain(
            self.models,
            self.arrays,
            self.column_partition.bind(self.learn),
            self.row_partition.bind(self.learn),
            self.kernel,
            order,
            window,
            self.generator,
            learn=self.learn,
            n_threads=self.n_threads,
            number=self.number,
        )
