"""A cross-categorization of a tiny table whose rows are in blocks."""

from __future__ import annotations

import numpy as np
from support.enumerated_chains import Chain
from support.enumerated_views import joined
from support.sharded_tables import ExampleBlocks
from support.view_tables import N_ROWS, PRIORS, TABLES

from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture
from sklearn_subanneal.shards.sharded_views import ShardedViews
from sklearn_subanneal.shards.split_merge import split_and_merge


def split_rows(mixture):
    return split_and_merge(mixture, 2, 1)


def move_a_row(mixture):
    return mixture.move_single_rows(1)


ROWS = (ShardedMixture.sweep, move_a_row, split_rows)
MOVES = {
    "columns": ("columns",),
    "rows": ROWS,
    "all": ("columns", *ROWS),
}


class ShardedViewsExample(Chain):
    """Views over one of the tables of ``view_tables``, its four rows in two blocks.

    Parameters
    ----------
    case : Case
        ``moves`` are some of ``MOVES``.
    """

    def __init__(self, case, seed=0, n_jobs=1):
        self.case, self.size = case, 2
        if case.learned:
            grids = [case.column_grid(), case.row_grid()]
            priors = [PitmanYor(concentration_grid=grid["alpha"], discount_grid=grid["d"]) for grid in grids]
        else:
            priors = [PitmanYor(*own) for own in reversed(PRIORS[case.prior])]
        blocks = Threads(ExampleBlocks(TABLES[case.table], self.size, case.learned, N_ROWS), n_jobs)
        self.views = ShardedViews(blocks, *(prior.bind() for prior in priors), np.random.default_rng(seed), 0.4)
        self.start(np.zeros(len(TABLES[case.table]), int), [np.zeros(N_ROWS, np.int32)])

    def start(self, column_labels, row_labels):
        """Put columns and rows into these views and clusters."""
        of_blocks = [[rows[at : at + self.size] for at in range(0, N_ROWS, self.size)] for rows in row_labels]
        self.views.start(column_labels, of_blocks)

    def cycle(self):
        for move in MOVES[self.case.moves]:
            if move == "columns":
                self.views.move_columns()
            else:
                self.views.sweep_rows(move)
        if self.case.learned:
            self.views.learn()

    def state(self):
        """Both partitions, that of the rows being the one of the view of column 0."""
        columns = self.views.column_labels
        return joined(columns, self.views.views[columns[0]].labels())

    def draws(self, n_draws, thin, observe=None):
        states, seen = [], []
        for _ in range(n_draws):
            for _ in range(thin):
                self.cycle()
            states.append(self.state())
            if observe is not None:
                seen.append(observe())
        return np.array(states, np.int32), seen

    def parameters(self):
        views = self.views
        of_columns = [None] * len(views.blocks.models)
        for view in views.views:
            for j, column in zip(view.blocks.members, view.columns, strict=True):
                of_columns[j] = column.parameters
        return views.prior.parameters, views.views[views.column_labels[0]].prior.parameters, *of_columns
