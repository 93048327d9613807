"""ViewsChain: the Markov chain over the views and clusters of a cross-categorization: its sweeps, trace and state."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, repeat
from math import inf
from time import perf_counter

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.gaussian import settle
from sklearn_subanneal.columns.joint_real import real_table, single_reals
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.mixtures.mixture_chain import CELLS_PER_BATCH, mixture_state, units_of_rows
from sklearn_subanneal.mixtures.move import ClusterMove, Move
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior
from sklearn_subanneal.views._views import Views
from sklearn_subanneal.views.column_moves import ColumnPacing
from sklearn_subanneal.views.column_start import first_column_labels, part_columns
from sklearn_subanneal.views.draws import ViewsDraw

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

# Below this many rows (half of a small table) neither views nor hyperparameters are learned: with so few rows they
# would mostly be wrong, and would have to be corrected later.
LEARNED_FROM = 32

# A sweep of less than this takes a few milliseconds: threads would cost more than they save.
LEAST_CELLS_FOR_THREADS = 100_000

# Proposals to split and merge clusters in each view after a cycle, if their number is not given: two, but with joint
# reals up to six, if that is at most twelve in all views. With two in a single view of joint reals, a chain on a
# thousand rows needs nearly twice the passes to end in as good clusters; with ten, the gain is not worth their time.
FEWEST_PROPOSALS, MOST_PROPOSALS, MOST_IN_ALL_VIEWS = 2, 6, 12

# Starts with the same views end alike if the clusters in each view have this adjusted Rand index. Of starts with the
# same views alone, others often end with a higher log joint density: it depends on the clusters.
ALIKE = 0.95


class ViewsChain(AnnealedChain):
    """A chain over the views of one table.

    Parameters
    ----------
    models : list of ColumnModel
    arrays : list of ndarray
        The table's typed columns.
    column_prior, row_prior : PartitionPrior
    order, window, generator, number
        See :class:`AnnealedChain`.
    moves : sequence of Move
        Made in this order in each cycle; exactly one of them is Gibbs sampling or slice sampling of the rows.
    pacing : ColumnPacing
    start : {"separate", "together", "prior"} or None, default=None
        Each column in a separate view, all in one view, or a partition drawn from the prior. None: separate, but joint
        reals in the groups of :func:`correlated_columns`. Columns that fit together by their clusters join quickly, but
        to separate them, moves must first find a second partition of the rows: chains that start with one view leave
        views merged. Joint reals also fit together by their correlations, and pairs of them that have found each other
        seldom part.
    learn : bool, default=True
        Whether hyperparameters are redrawn.
    learn_from : int or None, default=None
        Number of assigned rows from which on they are, and columns move; None: 32, or half of the rows where these are
        fewer.
    n_threads : int, default=1
        Number of views swept in parallel if there are many rows; the result does not depend on it.
    """

    TRACE = TRACE

    def __init__(
        self,
        models: list[ColumnModel],
        arrays: list[np.ndarray],
        column_prior: PartitionPrior,
        row_prior: PartitionPrior,
        order: np.ndarray,
        window: Window,
        generator: np.random.Generator,
        *,
        moves: Sequence[Move],
        pacing: ColumnPacing,
        start: str | None = None,
        learn: bool = True,
        learn_from: int | None = None,
        n_threads: int = 1,
        number: int = 0,
    ):
        super().__init__(len(arrays[0]), order, window, generator, number)
        self.learn, self.pacing, self.start, self.n_threads = learn, pacing, start, n_threads
        self.learn_from = min(LEARNED_FROM, self.n_rows // 2) if learn_from is None else min(learn_from, self.n_rows)
        joint = [j for j, model in enumerate(models) if model.joint]
        self.reals = real_table([models[j] for j in joint], joint, arrays, self.order) if joint else None
        alone = dict(zip(joint, single_reals(self.reals), strict=True)) if joint else {}
        self.columns = [
            model.statistics(alone[j] if model.joint else model.data(arrays).take(self.order))
            for j, model in enumerate(models)
        ]
        self.views = Views(self.columns, column_prior, row_prior, self.n_rows, self.reals)
        column_labels = first_column_labels(start, self.views, self.reals, generator)
        self.views.set_state(column_labels, np.full((int(column_labels.max()) + 1, self.n_rows), -1, np.int8))
        self.moves = [(move, move.bind(self.columns, self.n_rows, self.views.twins)) for move in moves]
        self.batch = max(CELLS_PER_BATCH // len(arrays), 64)
        self._units = units_of_rows(models, arrays, self.order)
        # Of each move, by its place: how often in a row it has moved no column, and cycles since it was made.
        self.n_quiet, self.n_waited = dict.fromkeys(range(len(moves)), 0), dict.fromkeys(range(len(moves)), 0)
        self._streams: list[np.random.Generator] = []

    def start_from_prior(self) -> None:
        self.views.draw_from_prior(self.generator)

    def cycle(self, step: Step, context: ChainContext) -> dict:
        views, beta, generator = self.views, step.inverse_temperature, self.generator
        n_moved, n_columns_moved, share = 0, 0, None
        seconds, clock = dict.fromkeys(("rows", "views", "hyperparameters"), 0.0), perf_counter()

        def stop_clock(part):
            nonlocal clock
            before, clock = clock, perf_counter()
            seconds[part] += clock - before

        for of_columns, moves in groupby(enumerate(self.moves), lambda own: own[1][0].kind == "columns"):
            if of_columns:
                if self.window.size >= self.learn_from and self.pacing.parts(self.window.size, self.n_rows):
                    # These columns rest, and the chain has not arrived: it may still begin anew.
                    share = None if part_columns(views, self.window.positions()) else share
                share = self._share_of_round() if share is None else share
                if share and not self.is_late():
                    n_columns_moved += self._move_columns(moves, share, beta, context)
                stop_clock("views")
            else:
                for _, (move, kernel) in moves:
                    make = self._move_rows if move.kind == "rows" else self._move_clusters
                    n_moved += make(move, kernel, step, context)
                # Before columns move and the state is read: both then depend on the labels alone, not on the way there.
                views.rebuild(self.window.positions())
                stop_clock("rows")
        if self.learn and self.window.size >= self.learn_from:
            for mixture in views.mixtures:
                settle(mixture.columns, beta == 1.0 and self.window.size == self.n_rows)
            views.learn(generator, beta)
        stop_clock("hyperparameters")
        return {
            "log_joint": self.log_joint(),
            "n_views": views.n_views,
            "n_clusters": sum(mixture.n_clusters for mixture in views.mixtures),
            "n_moved": n_moved,
            "n_columns_moved": n_columns_moved,
            "concentration": views.prior.parameters["concentration"],
            "discount": views.prior.parameters["discount"],
            **{f"seconds_{part}": spent for part, spent in seconds.items()},
        }

    def _share_of_round(self) -> float:
        """The part of a round of moves of columns to make in this cycle: 0 while columns rest."""
        n_first = self.pacing.from_share * self.n_rows
        if self.start == "together" and self.views.n_views > 1:
            # They have parted.
            n_first = 0.0
        if self.window.size < max(self.learn_from, n_first):
            return 0.0
        return self.pacing.share(self.window.size, self.window.size == self.n_rows)

    def _move_columns(self, moves, share, beta, context):
        """Those moves of columns that are due, one after the other; returns how many columns moved."""
        context.check()
        views, n_moved = self.views, 0
        for place, (move, kernel) in moves:
            self.n_waited[place] += 1
            if self.n_waited[place] < self.pacing.interval(self.n_quiet[place], self.arrived):
                continue
            n = kernel.propose(views, move.count(views.n_columns, share), beta, self.generator)
            self.n_waited[place], n_moved = 0, n_moved + n
            # When draws are made, a pace that follows the chain would bias them.
            if not self.arrived:
                self.n_quiet[place] = 0 if n else self.n_quiet[place] + 1
        # Blocks are made anew where the missing cells of their columns are drawn, even if no column moves.
        if n_moved or self.reals is not None:
            views.rebuild(self.window.positions())
        return n_moved

    def _move_rows(self, move: Move, kernel: MoveKernel, step: Step, context: ChainContext) -> int:
        """Gibbs sampling of the rows, view after view, or some views at once; or a sweep of another move in each."""
        if move.replaces_gibbs and self.window.size == step.size == self.n_rows:
            rows, n_moved = self.window.positions(), 0
            for mixture in self.views.mixtures:
                context.check()
                n_moved += kernel.sweep(mixture, step.inverse_temperature, self.generator, rows)
            return n_moved
        n_moves = max(step.n_moves, abs(step.size - self.window.size))
        batches = self.moves_of_rows(step, self.batch, context)
        mixtures, streams, beta = self.views.mixtures, self._streams_of_views(), step.inverse_temperature
        if self.n_threads == 1 or n_moves * len(self.columns) < LEAST_CELLS_FOR_THREADS:
            return sum(self.views.churn(leaving, entering, beta, streams) for leaving, entering in batches)

        def sweep(mixture, stream, own):
            n_moved = 0
            for leaving, entering in own:
                context.check()
                n_moved += churn(mixture, leaving, entering, beta, stream)
            return n_moved

        # All views must have made the same moves when the clock is looked at.
        parts = [list(batches)] if self.deadline == inf else ([batch] for batch in batches)
        with ThreadPoolExecutor(self.n_threads) as pool:
            return sum(n for part in parts for n in pool.map(sweep, mixtures, streams, repeat(part)))

    def _move_clusters(self, move: ClusterMove, kernel: MoveKernel, step: Step, context: ChainContext) -> int:
        """Proposals to split and merge clusters of rows in each view."""
        rows, n_accepted = self.window.positions(), 0
        most = FEWEST_PROPOSALS
        if self.reals is not None:
            most = min(max(MOST_IN_ALL_VIEWS // self.views.n_views, FEWEST_PROPOSALS), MOST_PROPOSALS)
        n_proposals = 0 if self.is_late() else move.count(len(rows), most)
        for mixture in self.views.mixtures:
            context.check()
            n_accepted += kernel.propose(mixture, n_proposals, step.inverse_temperature, self.generator, rows)
        return n_accepted

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
            filled=self._filled(),
        )

    def _filled(self):
        """The present values of the missing cells of joint reals, in the order of the table."""
        if self.reals is None or not self.reals.missing.any():
            return None
        self.views.blocks.collect()
        filled, missing = np.empty_like(self.reals.filled), np.empty_like(self.reals.missing)
        filled[self.order], missing[self.order] = self.reals.filled, self.reals.missing
        return filled[missing]

    def get_state(self) -> dict:
        return {
            "column_labels": self.views.column_labels,
            "row_labels": self.views.row_labels,
            "prior": self.views.prior.parameters,
            "row_priors": [mixture.prior.parameters for mixture in self.views.mixtures],
            "columns": [column.get_prior_state() for column in self.columns],
            "patience": (dict(self.n_quiet), dict(self.n_waited)),
            "moves": [kernel.get_state() for _, kernel in self.moves],
            "streams": [stream.bit_generator.state for stream in self._streams],
            "reals": self.views.get_state_of_reals(),
        }

    def is_like(self, result: ChainResult) -> bool:
        columns, other = self.views.column_labels, result.state.model
        if adjusted_rand_score(columns, other["column_labels"]) < 1.0:
            return False
        rows, first = self.window.positions(), np.unique(columns, return_index=True)[1]
        pairs = [(self.views.row_labels[columns[j]], other["row_labels"][other["column_labels"][j]]) for j in first]
        return all(adjusted_rand_score(a[rows], b[rows]) >= ALIKE for a, b in pairs)

    def set_state(self, state: dict) -> None:
        for counts, kept in zip((self.n_quiet, self.n_waited), state["patience"], strict=True):
            counts.update(kept)
        self._streams = [np.random.Generator(np.random.PCG64(0)) for _ in state["streams"]]
        for stream, kept in zip(self._streams, state["streams"], strict=True):
            stream.bit_generator.state = kept
        self.views.prior.parameters = state["prior"]
        for column, prior_state in zip(self.columns, state["columns"], strict=True):
            column.set_prior_state(prior_state)
        self.views.set_state(state["column_labels"], state["row_labels"], state["reals"])
        # Sums of floats depend on the order of the rows.
        self.views.rebuild(self.window.positions())
        for mixture, parameters in zip(self.views.mixtures, state["row_priors"], strict=True):
            mixture.set_prior(parameters)
        for (_, kernel), kept in zip(self.moves, state["moves"], strict=True):
            if kept is not None:
                kernel.set_state(kept)
