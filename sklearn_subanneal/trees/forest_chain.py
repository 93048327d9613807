"""ForestChain, the chain of incremental hierarchical clustering: its only draw is the mixture given by a forest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.schedules import Schedule
from sklearn_subanneal.mixtures._entry import fill
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.mixtures.mixture_chain import Draw, MixtureChain, MixtureSpec
from sklearn_subanneal.mixtures.move import Move
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.trees._ibhc import IBHC
from sklearn_subanneal.trees.hierarchy import Hierarchy

# Hyperparameters are learned from forests over so many rows, in so many rounds.
ROUNDS, ROWS_PER_ROUND = 5, 1000
# Rows inserted between two checks of the cancel flag.
ROWS_PER_BATCH = 200


class ForestChain(MixtureChain):
    """A forest over the rows of one table, in the order in which the chain stores them.

    Given the hyperparameters it is a function of that order alone. These are learned, where they are, from forests over
    some of the rows.

    Parameters
    ----------
    hierarchy : Hierarchy or None, default=None
        A forest over the first rows, which is continued; hyperparameters are then not changed.
    start : Draw or None, default=None
        The draw whose hyperparameters the forest starts with; None: those of the models.
    groups : ndarray of int, shape (n_rows,), or None
        The cluster of each row of the table in this draw, if the trees are to be these.
    **arguments
        Arguments of :class:`~sklearn_subanneal.mixtures.mixture_chain.MixtureChain`; ``moves`` is one
        :class:`~sklearn_subanneal.trees.IncrementalHierarchy`.
    """

    def __init__(
        self,
        *,
        hierarchy: Hierarchy | None = None,
        start: Draw | None = None,
        groups: np.ndarray | None = None,
        **arguments,
    ):
        super().__init__(**arguments)
        self.hierarchy, self.is_continued, self.start = hierarchy, hierarchy is not None, start
        self.groups = None if groups is None else groups[self.order].astype(np.int32)
        if start is not None:
            self.mixture.set_prior(start.prior)
            for column, state in zip(self.columns, start.columns, strict=True):
                column.parameters = state["parameters"]
        # Whether rows are inserted in a random order, and not in that of the chain.
        self.shuffled = False
        # Forests that were built, those of the rounds of learning first; log joint density and state of the best one,
        # of these rounds, or of those after them.
        self.n_forests, self.best_forest = 0, None

    def run(
        self,
        schedule: Schedule,
        n_draws: int,
        thin: int,
        time_limit: float | None,
        context: ChainContext,
        max_sweeps: int = 0,
    ) -> ChainResult:
        """Build the forest, and build it anew as often as the move says; the best one is the single draw."""
        if self.draws:
            return self.result()
        n_rounds = ROUNDS if self.learn and not self.is_continued else 0
        n_forests = 1 if self.is_continued else 1 + self.moves[0][0].rebuilds_of(self.n_rows)
        while self.n_forests < n_rounds + n_forests and not self._is_over(n_rounds, time_limit):
            self.shuffled = self.n_forests > n_rounds
            if self.shuffled:
                self._take(self.best_forest[1])
                self.hierarchy = None
            elif n_rounds and self.n_forests == n_rounds:
                self._take(self.best_forest[1])
                self.best_forest = None
            self._sweep(self._step(n_rounds), context)
        if self.n_forests > n_rounds + 1:
            self._take(self.best_forest[1])
        self.best_forest = None
        self._draw()
        return self.result()

    def _step(self, n_rounds: int) -> Step:
        """The next forest: over some rows to learn hyperparameters, of which there are some rounds, or over all.

        Forests are no draws given the hyperparameters: in a few chains each has more trees than the one before, and the
        last one almost as many as rows. So the hyperparameters are those of the best one. Of a table that is no larger
        than a round, the first forest is kept in all rounds, in which hyperparameters alone are drawn anew. Built anew
        each time, forests of `TreeGuidedNRMM` over 240 rows of three clusters had as many trees as rows in 5 of 48
        fits, and no gain in held-out density; kept, in none.
        """
        if self.n_forests < n_rounds:
            n_rows = min(self.n_rows, ROWS_PER_ROUND)
            return Step((self.n_forests + 1) / (ROUNDS + 1), n_rows, n_rows, 1.0)
        return Step(1.0, self.n_rows, self.n_rows, 1.0)

    def _is_over(self, n_rounds: int, time_limit: float | None) -> bool:
        """Whether there is a forest over all rows, and no time for one that takes as long as the one before."""
        if time_limit is None or self.n_forests <= n_rounds:
            return False
        seconds = [record[self.TRACE.names.index("seconds")] for record in self.trace[-2:]]
        return self.seconds_of_run + seconds[-1] - (seconds[0] if len(seconds) > 1 else 0.0) > time_limit

    def cycle(self, step: Step, context: ChainContext) -> dict:
        fields = super().cycle(step, context)
        # Here, since the chain may be saved before the next one.
        self.n_forests += 1
        if self.best_forest is None or fields["log_joint"] > self.best_forest[0]:
            self.best_forest = fields["log_joint"], self._forest()
        return fields

    def move_rows(self, move: Move, kernel: MoveKernel, step: Step, context: ChainContext) -> int:
        """Make a forest over the first rows, and its trees the clusters."""
        self._fill_known(step.size)
        forest = IBHC(self.columns, self.n_rows, self.mixture.prior, self.hierarchy)
        self.hierarchy = None
        if self.groups is not None:
            trees = np.unique(self.groups, return_inverse=True)[1].astype(np.int32)
            forest.insert_groups(np.arange(self.n_rows, dtype=np.int32), trees)
        rows = np.setdiff1d(np.arange(step.size), forest.rows).astype(np.int32)
        if self.shuffled:
            self.generator.shuffle(rows)
        incomplete = self._incomplete(rows)
        for some in _batches(rows[~incomplete], context):
            forest.insert_rows(some)
        if incomplete.any():
            self._fill(forest, rows[incomplete], context)
            for some in _batches(rows[incomplete], context):
                forest.insert_rows(some)
        if step.size == self.n_rows:
            self.hierarchy = forest.hierarchy()
            self.window.fill()
        self.mixture.set_labels(forest.labels, self.generator)
        return len(rows)

    def _fill_known(self, n_rows: int) -> None:
        """Draw the missing cells that are part of the state of the rows whose trees are known, given these."""
        if not self.mixture.n_stateful or self.mixture.n_assigned >= n_rows:
            return
        if self.groups is not None:
            # Given the clusters of the draw: the rows themselves may say nothing of a column in some of them.
            for column, state in zip(self.columns, self.start.columns, strict=True):
                column.set_state(state)
            rows = np.arange(self.n_rows, dtype=np.int32)
            fill(self.mixture, rows, self.groups, self.generator)
        elif self.hierarchy is not None:
            labels = np.full(self.n_rows, -1, np.int32)
            labels[self.hierarchy.rows] = self.hierarchy.labels
            self.mixture.set_labels(labels, self.generator)

    def _incomplete(self, rows: np.ndarray) -> np.ndarray:
        """Which of these rows have missing cells that are part of the state."""
        if not self.mixture.n_stateful:
            return np.zeros(len(rows), bool)
        return np.array([any(column.is_incomplete(row) for column in self.columns) for row in rows], bool)

    def _fill(self, forest: IBHC, rows: np.ndarray, context: ChainContext) -> None:
        """Draw the missing cells of rows that are to be inserted, beside the trees of a forest.

        Trees take them for observed. So each row enters a cluster given its observed cells, as by Gibbs sampling, and
        its missing ones are drawn given that cluster. Cells that were drawn as if all rows were one cluster would lie
        between the clusters, and most of these rows would become trees of their own. The first rows to enter, perhaps
        beside no tree at all, know little of the clusters: all move once more.
        """
        self.mixture.relabel(forest.labels)
        self.mixture.rebuild()
        for leaving in (np.full_like(rows, -1), rows):
            for out, into in zip(_batches(leaving, context), _batches(rows, context), strict=True):
                churn(self.mixture, out, into, 1.0, self.generator)

    def _forest(self) -> dict:
        return super().get_state() | {"hierarchy": self.hierarchy}

    def _take(self, forest: dict) -> None:
        super().set_state(forest)
        self.hierarchy = forest["hierarchy"]

    def get_state(self) -> dict:
        return self._forest() | {"n_forests": self.n_forests, "best_forest": self.best_forest}

    def set_state(self, state: dict) -> None:
        self._take(state)
        self.n_forests, self.best_forest = state["n_forests"], state["best_forest"]


def _batches(rows: np.ndarray, context: ChainContext) -> Iterator[np.ndarray]:
    """Some rows after the other, between which the chain can be cancelled."""
    for at in range(0, len(rows), ROWS_PER_BATCH):
        context.check()
        yield rows[at : at + ROWS_PER_BATCH]


def hierarchy_of(result: ChainResult, copies: RowCopies | None = None) -> Hierarchy:
    """The forest that a chain ended with, over the rows of the table.

    Parameters
    ----------
    result : ChainResult
    copies : RowCopies or None
        The rows of the table that the chain modelled: a row of weight w has w leaves. None: each once.
    """
    hierarchy, order = result.state.model["hierarchy"], result.state.order
    if copies is not None and copies.order is not None:
        order = copies.order[order]
    names = np.append(order, np.arange(len(order), 2 * len(order)))
    children = names[hierarchy.children].astype(np.int32)
    rows = hierarchy.rows if copies is None else np.sort(np.arange(copies.n_rows(len(order)))[copies.rows])
    return replace(hierarchy, rows=rows.astype(np.int32), children=children)


@dataclass(frozen=True, kw_only=True, eq=False)
class ForestSpec(MixtureSpec):
    """A forest over the rows of one table, made by incremental hierarchical clustering.

    Attributes
    ----------
    hierarchy : Hierarchy or None
        A forest over the first rows, which is continued; hyperparameters are then not changed.
    start : Draw or None
        The draw whose hyperparameters the forest starts with; None: those of the models.
    groups : ndarray of int, shape (n_rows,), or None
        The cluster of each row in this draw, if the trees are to be these.
    """

    hierarchy: Hierarchy | None = None
    start: Draw | None = None
    groups: np.ndarray | None = None

    def build(self, order: np.ndarray, window: Window) -> ForestChain:
        return ForestChain(
            models=self.models,
            arrays=self.arrays,
            prior=self.partition.bind(self.learn),
            order=order,
            window=window,
            generator=self.generator,
            moves=self.moves,
            learn=self.learn,
            learn_from=self.learn_from,
            number=self.number,
            hierarchy=self.hierarchy,
            start=self.start,
            groups=self.groups,
        )

    def n_sweeps(self) -> int | None:
        """Unknown: the sweeps of a forest are not those of a schedule."""
        return 0 if self.ended else None
