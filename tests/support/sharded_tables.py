"""Small tables in blocks of few rows, for the moves of sharded mixtures."""

from __future__ import annotations

import numpy as np
from support.column_examples import CLASSES, data_of
from support.enumerated_chains import N_ROWS, PRIOR_GRIDS, PRIORS, TABLES, Chain

from sklearn_subanneal.columns.binding import KINDS
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture
from sklearn_subanneal.shards.split_merge import split_and_merge
from sklearn_subanneal.shards.table_blocks import TableBlocks


class ExampleModel:
    """An example of a column as a model of it."""

    def __init__(self, example, learned: bool):
        self.example, self.grids = example, example.kernel_grids() if learned else None
        self.parameters = example.kernel_parameters()
        self.parameters_class = KINDS[example.kind].parameters_class
        self.stateful = example.kind == "gaussian" and bool(example.missing.any())

    def data(self, rows: slice):
        return data_of(self.example.kind, self.example.cells[rows], self.example.params)

    def statistics(self, data=None, parameters=None):
        return CLASSES[self.example.kind][1](data, self.parameters if parameters is None else parameters, self.grids)


class ExampleBlocks(TableBlocks):
    """Blocks of examples of columns."""

    def __init__(self, examples, block_rows, learned=False, n_rows=N_ROWS):
        super().__init__([ExampleModel(example, learned) for example in examples], n_rows, block_rows)

    def cells(self, i, members):
        return [self.models[j].data(self.rows(i)) for j in members]


class ShardedExample(Chain):
    """A sharded mixture over one of the tables of ``enumerated_chains``, its five rows in blocks of two.

    Parameters
    ----------
    case : object
        With ``table``, ``prior``, ``learned`` and ``moves``: which of "sweep", "slice", "single" and "split-merge" are
        made in a cycle.
    """

    def __init__(self, case, seed=0, block_rows=2, n_jobs=1):
        self.case = case
        alpha, d = PRIORS[case.prior]
        prior = PitmanYor(alpha, d)
        if case.learned:
            grid = PRIOR_GRIDS[case.prior]
            prior = PitmanYor(concentration_grid=grid["alpha"], discount_grid=grid["d"])
        table = ExampleBlocks(TABLES[case.table], block_rows, case.learned)
        for model in table.models:
            if case.learned and model.example.kind == "gaussian":
                # As in the exact law: without vectors, correlations are not learned, and the prior has none.
                model.parameters |= {"psi": np.eye(2)}
        blocks = Threads(table, n_jobs)
        blocks.start()
        self.mixture = ShardedMixture(blocks, prior.bind(), np.random.default_rng(seed), anchor_share=0.4)
        self.mixture.recount()

    def start(self, labels):
        """Put the rows into these clusters."""
        size = self.mixture.blocks.table.block_rows
        self.mixture.blocks.start([labels[at : at + size] for at in range(0, N_ROWS, size)])
        self.mixture.recount()

    def cycle(self):
        mixture = self.mixture
        for move in self.case.moves:
            if move == "sweep":
                mixture.sweep()
            elif move == "slice":
                mixture.slice_rows()
            elif move == "single":
                mixture.move_single_rows(1)
            else:
                split_and_merge(mixture, 2, 1)
        if self.case.learned:
            mixture.learn()

    def draws(self, n_draws, thin, observe=None):
        labels, seen = np.empty((n_draws, N_ROWS), np.int32), []
        for i in range(n_draws):
            for _ in range(thin):
                self.cycle()
            labels[i] = self.mixture.labels()
            if observe is not None:
                seen.append(observe())
        return labels, seen
