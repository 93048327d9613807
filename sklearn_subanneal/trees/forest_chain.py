"""ForestChain, the chain of incremental hierarchical clustering: its only draw is the mixture given by a forest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.schedules import Schedule
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
    groups : ndarray of int, shape (n_rows,), or None
        The tree of each row of the table, if it is known.
    **arguments
        Arguments of :class:`~sklearn_subanneal.mixtures.mixture_chain.MixtureChain`; ``moves`` is one
        :class:`~sklearn_subanneal.trees.IncrementalHierarchy`.
    """

    def __init__(self, *, hierarchy: Hierarchy | None = None, groups: np.ndarray | None = None, **arguments):
        super().__init__(**arguments)
        self.hierarchy, self.groups = hierarchy, groups
        # Whether rows are inserted in a random order, and not in that of the chain.
        self.shuffled = False

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
        n_rebuilds = 0 if self.hierarchy is not None else self.moves[0][0].rebuilds_of(self.n_rows)
        if self.hierarchy is None and self.learn:
            self._learn(min(self.n_rows, ROWS_PER_ROUND), context)
        whole, best = Step(1.0, self.n_rows, self.n_rows, 1.0), None
        for number in range(n_rebuilds + 1):
            self.shuffled, before = number > 0, self.seconds_of_run
            if self.shuffled:
                self.set_state(best[1])
                self.hierarchy = None
            self._sweep(whole, context)
            log_joint = self.trace[-1][self.TRACE.names.index("log_joint")]
            if best is None or log_joint > best[0]:
                best = log_joint, self.get_state()
            if time_limit is not None and 2 * self.seconds_of_run - before > time_limit:
                break
        if self.shuffled:
            self.set_state(best[1])
        self._draw()
        return self.result()

    def _learn(self, n_rows: int, context: ChainContext) -> None:
        """Learn the hyperparameters from forests over so many rows; take those of the best one.

        Forests are no draws given the hyperparameters: in a few chains each has more trees than the one before, and the
        last one almost as many as rows.
        """
        best = None
        for number in range(ROUNDS):
            self._sweep(Step((number + 1) / (ROUNDS + 1), n_rows, n_rows, 1.0), context)
            log_joint = self.trace[-1][self.TRACE.names.index("log_joint")]
            if best is None or log_joint > best[0]:
                best = log_joint, self.get_state()
        self.set_state(best[1])

    def move_rows(self, move: Move, kernel: MoveKernel, step: Step, context: ChainContext) -> int:
        """Make a forest over the first rows, and its trees the clusters."""
        here = np.full(self.n_rows, -1, np.int32)
        here[: step.size] = 0
        if self.mixture.n_stateful and self.mixture.n_assigned < step.size:
            # Missing cells that are part of the state are filled before there is a forest.
            self.mixture.set_labels(here, self.generator)
        forest = IBHC(self.columns, self.n_rows, self.mixture.prior, self.hierarchy)
        self.hierarchy = None
        if self.groups is not None:
            forest.insert_groups(np.arange(self.n_rows, dtype=np.int32), self.groups[self.order].astype(np.int32))
        rows = np.setdiff1d(np.flatnonzero(here == 0), forest.rows).astype(np.int32)
        if self.shuffled:
            self.generator.shuffle(rows)
        for at in range(0, len(rows), ROWS_PER_BATCH):
            context.check()
            forest.insert_rows(rows[at : at + ROWS_PER_BATCH])
        if step.size == self.n_rows:
            self.hierarchy = forest.hierarchy()
            self.window.fill()
        self.mixture.set_labels(forest.labels, self.generator)
        return len(rows)

    def adopt(self, draw: Draw) -> None:
        """Take over the hyperparameters of a draw."""
        self.mixture.set_prior(draw.prior)
        for column, state in zip(self.columns, draw.columns, strict=True):
            column.parameters = state["parameters"]

    def get_state(self) -> dict:
        return super().get_state() | {"hierarchy": self.hierarchy}

    def set_state(self, state: dict) -> None:
        super().set_state(state)
        self.hierarchy = state["hierarchy"]


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
    groups : ndarray of int, shape (n_rows,), or None
        The tree of each row, if it is known: 0, 1, ... without gaps.
    start : Draw or None
        The draw whose hyperparameters the forest starts with; None: those of the models.
    """

    hierarchy: Hierarchy | None = None
    groups: np.ndarray | None = None
    start: Draw | None = None

    def build(self, order: np.ndarray, window: Window) -> ForestChain:
        chain = ForestChain(
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
            groups=self.groups,
        )
        if self.start is not None:
            chain.adopt(self.start)
        return chain

    def n_sweeps(self) -> int | None:
        """Unknown: the sweeps of a forest are not those of a schedule."""
        return 0 if self.ended else None
