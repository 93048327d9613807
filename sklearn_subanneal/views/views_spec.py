"""ViewsSpec: the specification from which the chain of a cross-categorization is built, and its check."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.schedules import SubsampleAnneal
from sklearn_subanneal.annealing.spec import ChainSpec
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.move import Move
from sklearn_subanneal.partitions import Partition
from sklearn_subanneal.views.column_moves import ColumnPacing, check_view_moves
from sklearn_subanneal.views.views_chain import ViewsChain


@dataclass(frozen=True, kw_only=True, eq=False)
class ViewsSpec(ChainSpec):
    """A chain over the views of one table.

    Attributes
    ----------
    models : list of ColumnModel
    arrays : list of ndarray
        The table's typed columns.
    column_partition, row_partition : Partition
        Priors of the partitions, as parameter objects: bound ones cannot be sent to other processes.
    moves : tuple of Move
        Made in this order in each cycle.
    pacing : ColumnPacing
        How often columns move.
    start : {"separate", "together", "prior"} or None
        The partition of the columns with which the chain starts.
    learn : bool
        Whether hyperparameters are redrawn.
    learn_from : int or None
        Number of assigned rows from which on they are, and columns move.
    n_threads : int
        Number of views swept in parallel.
    """

    models: list[ColumnModel]
    arrays: list[np.ndarray]
    column_partition: Partition
    row_partition: Partition
    moves: tuple[Move, ...]
    pacing: ColumnPacing
    start: str | None = None
    learn: bool = True
    learn_from: int | None = None
    n_threads: int = 1

    def check(self) -> None:
        super().check()
        self.pacing.check()
        priors = self.column_partition.bind(self.learn), self.row_partition.bind(self.learn)
        check_view_moves(self.moves, *priors, self.models)

    def columns_together(self) -> ViewsSpec:
        """A chain of as much work that finds many clusters in few views, where this one finds few in many views.

        Columns that start apart find one another by their clusters. If a view has hundreds of these, two columns are
        almost independent in a small subsample, and stay apart. So all columns start in one view, and stay until a
        tenth of the rows is assigned. The subsample grows linearly: while it has a few rows of each cluster, a single
        cluster is as probable as many, and chains that stay there for long end in it, which they do not leave later.
        """
        return replace(
            self,
            schedule=SubsampleAnneal(self.schedule.n_assignments(self.n_rows) / self.n_rows),
            pacing=ColumnPacing(from_share=0.1),
            start="together",
        )

    def build(self, order: np.ndarray, window: Window) -> ViewsChain:
        return ViewsChain(
            self.models,
            self.arrays,
            self.column_partition.bind(self.learn),
            self.row_partition.bind(self.learn),
            order,
            window,
            self.generator,
            moves=self.moves,
            pacing=self.pacing,
            start=self.start,
            learn=self.learn,
            learn_from=self.learn_from,
            n_threads=self.n_threads,
            number=self.number,
        )
