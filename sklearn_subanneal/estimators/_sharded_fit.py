"""ShardedFit, the fit of a mixture to a table in shards: a mixin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sklearn_subanneal import partitions
from sklearn_subanneal.annealing import subsampling
from sklearn_subanneal.annealing.checkpoint import Checkpoint
from sklearn_subanneal.annealing.reporter import ProgressReporter, callbacks_of
from sklearn_subanneal.annealing.runner import run_chains, spawn_generators
from sklearn_subanneal.estimators._evidence import as_evidence
from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.sharded_chain import START_SHARE, ShardedSpec, run_sharded
from sklearn_subanneal.shards.table_blocks import TypedBlocks
from sklearn_subanneal.tables.row_copies import RowCopies

# Rows whose labels are kept with every draw.
MOST_KEPT = 5000


class ShardedFit:
    """The fit to a :class:`~sklearn_subanneal.shards.ShardedTable`.

    It reads what ``MCMCEstimator`` has: ``_read(X)``, ``_bind(table, arrays)``, ``_template(...)``, ``_keep(...)``,
    ``_summarize(arrays)`` and ``_judge_convergence()``.
    """

    def _fit_in_shards(self, X, sample_weight, strata):
        for name, value in (("sample_weight", sample_weight), ("strata", strata)):
            if value is not None:
                raise ValueError(f"{name} does not suit a ShardedTable; leave it out, or give fit the table itself")
        if self.warm_start:
            raise ValueError("warm_start=True does not suit a ShardedTable; set it to False")
        if any(isinstance(callback, Checkpoint) for callback in callbacks_of(self)):
            raise ValueError("Checkpoint does not suit a ShardedTable, whose chains are not saved; leave it out")
        if self._has_documents:
            raise ValueError("feature_types='bag-of-words' does not suit a ShardedTable; give fit the documents")
        if partitions.resolve_partition(self.partition).bind().has_auxiliary:
            # Its sweeps were not compared with the enumeration of partitions.
            raise ValueError(
                f"partition={self.partition!r} does not suit a ShardedTable; take 'dp' or 'pitman-yor', or give fit "
                "the table itself"
            )
        *generators, chooser = spawn_generators(self.random_state, self.n_chains + 1)
        rows, sample = X.sample(X.n_start_rows, chooser)
        table, arrays = self._read(sample)
        models = self._bind(table, arrays)
        start = replace(
            self._template(table, models, arrays, subsampling.resolve_subsampling(self.subsampling)),
            n_draws=1,
            thin=1,
            time_limit=None if self.time_limit is None else START_SHARE * self.time_limit,
        )
        kept = np.sort(chooser.choice(len(rows), min(MOST_KEPT, len(rows)), replace=False))
        with X.room() as folder:
            pieces = (table.encode(self, piece, as_evidence(self.unseen)) for piece in X.source.pieces())
            blocks = TypedBlocks(models, pieces, X.n_rows, folder)
            specs = [
                ShardedSpec(
                    start=replace(start, generator=generator, number=number),
                    table=blocks,
                    units=blocks.units,
                    kept=rows[kept],
                    n_draws=self.n_draws,
                    thin=self.thin,
                    max_sweeps=self.max_sweeps,
                    time_limit=self.time_limit,
                    n_jobs=self.n_jobs,
                )
                for number, generator in enumerate(generators)
            ]
            fit = ProgressReporter.of_fit(self, X, n_subtasks=self.n_chains, sequential=True)
            contexts = self._contexts(fit, specs, table, models, None)
            # One chain after the other: each has all the threads.
            results = run_chains(run_sharded, specs, contexts, 1)
            seen = [array[kept] for array in arrays]
            self._keep(table, models, seen, results, RowCopies())
            self._fitted_identity = None
            self._summarize(seen)
            self.posterior_rows_ = rows[kept]
            self._label_blocks(blocks)
        self._judge_convergence()
        fit.end()
        if self._warns:
            self.convergence_.warn(stacklevel=5)
        return self

    def _label_blocks(self, blocks: TypedBlocks) -> None:
        """Labels of all rows by the representative draw."""
        threads, draw = Threads(blocks, self.n_jobs), self._representative
        threads.start()
        weights = np.log(draw.sizes + draw.weights[0])
        found = threads.ask(RowBlock.nearest, draw.columns, weights, self._groups)
        self.labels_ = np.concatenate([labels for labels, _ in found]).astype(np.int64)
        self.probabilities_ = np.concatenate([own for _, own in found])
