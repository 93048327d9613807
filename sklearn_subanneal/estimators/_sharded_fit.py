"""ShardedFit, the fit to a table in shards, and ShardedViewsFit, that of a cross-categorization: mixins."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal import partitions
from sklearn_subanneal.annealing import subsampling
from sklearn_subanneal.annealing.checkpoint import Checkpoint
from sklearn_subanneal.annealing.continuation import Continuation
from sklearn_subanneal.annealing.reporter import ProgressReporter, callbacks_of
from sklearn_subanneal.annealing.runner import run_chains, spawn_generators
from sklearn_subanneal.annealing.schedules import Schedule
from sklearn_subanneal.columns.domains import with_domains
from sklearn_subanneal.estimators._cluster_stability import is_same
from sklearn_subanneal.estimators._enough_chains import most_chains
from sklearn_subanneal.estimators._evidence import as_evidence
from sklearn_subanneal.estimators._streaming import with_absent
from sklearn_subanneal.estimators._training_table import identified
from sklearn_subanneal.shards.map_over import map_over
from sklearn_subanneal.shards.row_block import RowBlock
from sklearn_subanneal.shards.sharded_chain import MOST_SWEEPS, START_SHARE, ShardedSpec, run_sharded
from sklearn_subanneal.shards.sharded_mixture_chain import ShardedMixtureSpec
from sklearn_subanneal.shards.sharded_views_chain import ShardedViewsSpec
from sklearn_subanneal.shards.table_blocks import TableBlocks
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.tables.schema import Table
from sklearn_subanneal.trees import IncrementalHierarchy

# Rows whose labels are kept with every draw.
MOST_KEPT = 5000
# Clusters that no kept row has are clusters of all rows if they have so many: smaller ones may be in one draw alone.
FEWEST_ROWS = 10


class ShardedFit:
    """The fit to a :class:`~sklearn_subanneal.shards.ShardedTable`.

    It reads what ``MCMCEstimator`` has: ``_read_table(X)``, ``_revised(table, arrays, n_rows)``, ``_bind(table,
    arrays)``, ``_template(...)``, ``_of_chain(...)``, ``_stretched(schedule)``, ``_most_sweeps(default)``,
    ``_keep(...)``, ``_summarize(arrays)`` and ``_judge_convergence()``.
    """

    _SHARDED_SPEC: type[ShardedSpec] = ShardedMixtureSpec
    # That of chains on the sample of the rows, with schedule="auto"; None: as of a fit in one piece.
    _SHARDED_SCHEDULE: Schedule | None = None

    def _fit_in_shards(self, X, sample_weight, strata):
        for name, value in (("sample_weight", sample_weight), ("strata", strata)):
            if value is not None:
                raise ValueError(f"{name} does not suit a ShardedTable; leave it out, or give fit the table itself")
        if self.warm_start:
            raise ValueError("warm_start=True does not suit a ShardedTable; set it to False")
        if getattr(self.subsampling, "labels", None) is not None:
            raise ValueError(
                "labels of StratifiedSubsampling do not suit a ShardedTable, on a sample of whose rows chains start; "
                "name the column that has the strata: StratifiedSubsampling(column=...)"
            )
        if self.random_state is None and self._saves_chains():
            raise ValueError(
                "random_state must be given beside a Checkpoint for a ShardedTable: it draws the rows on which chains "
                "start, and those whose labels are kept, which must be the same when the fit is resumed"
            )
        self._check_shards()
        *generators, chooser = spawn_generators(self.random_state, most_chains(self.n_chains) + 1)
        sample = X.sample(X.n_start_rows, chooser, partial(self._read_table, keep_empty=True))
        table, arrays = self._read_start(sample.X, X.n_rows)
        models = self._bind(table, arrays)
        # Rows that are not in the sample may hold numbers that the types found in it do not take.
        table = with_domains(table, models)
        start = replace(
            self._template(table, models, arrays, subsampling.resolve_subsampling(self.subsampling)),
            n_draws=1,
            thin=1,
            time_limit=None if self.time_limit is None else START_SHARE * self.time_limit,
        )
        if self.schedule == "auto" and self._SHARDED_SCHEDULE is not None:
            self.schedule_ = self._stretched(self._SHARDED_SCHEDULE)
            start = replace(start, schedule=self.schedule_)
        # Rows were added for rare values: those whose labels are kept are to stand for all.
        kept = np.sort(chooser.choice(sample.drawn, min(MOST_KEPT, len(sample.drawn)), replace=False))
        crowded = {j: n_gaps for j, n_gaps in sample.crowded.items() if table.columns[j].type.coded}
        # Where cells are lost, they are counted, and none of them is called unseen.
        unseen = "missing" if crowded else as_evidence(self.unseen)
        with X.blocks(models, _Encoder(table, _reader(self), unseen)) as blocks:
            self._judge_lost_cells(table, blocks, crowded)
            continuation = Continuation(
                self, identified(table), self._digests(table, blocks), resolved={"n_start_rows": X.n_start_rows}
            )
            specs = []
            for number, generator in enumerate(generators):
                previous, ended = continuation.chain(number)
                specs.append(
                    self._SHARDED_SPEC(
                        start=replace(self._of_chain(start, number), generator=generator, number=number),
                        table=blocks,
                        units=blocks.units,
                        kept=sample.rows[kept],
                        n_draws=self.n_draws,
                        thin=self._sweeps_apart(X.n_rows),
                        max_sweeps=self._most_sweeps(MOST_SWEEPS),
                        time_limit=self.time_limit,
                        n_jobs=self.n_jobs,
                        previous=previous,
                        ended=ended,
                    )
                )
            fit = ProgressReporter.of_fit(self, X, n_subtasks=len(specs), sequential=False)
            contexts = self._contexts(fit, specs, table, models, continuation.saved_identity)
            # One chain after the other: each has all the threads.
            results = run_chains(run_sharded, specs, contexts, 1)
            seen = [array[kept] for array in arrays]
            self._keep(table, models, seen, results, RowCopies())
            self._fitted_identity = None
            self._summarize(seen)
            self.posterior_rows_ = sample.rows[kept]
            self._label_blocks(blocks)
        self._judge_convergence()
        fit.end()
        if self._warns:
            self.convergence_.warn(stacklevel=5)
        return self

    def _judge_lost_cells(self, table: Table, blocks: TableBlocks, crowded: dict[int, int]) -> None:
        """Say how many cells of columns of very many categories are lost, whose missing cells are given by column."""
        for j, n_gaps in crowded.items():
            members = [k for k, model in enumerate(blocks.models) if model.sources == (table.places[j][0],)]
            rows = map_over(blocks, self.n_jobs, members)
            rows.start()
            n_lost = int(rows.ask(RowBlock.n_missing)[0]) - n_gaps
            if not n_lost:
                continue
            column = table.columns[j]
            text = (
                f"Column {column.name!r} has very many values, of which the rows on which chains start have "
                f"{len(column.categories):,} alone: {n_lost:,} of its {blocks.n_rows:,} cells have others"
            )
            remedy = "merge rare ones, raise n_start_rows, declare all as levels of a categorical dtype, or drop it"
            if self.unseen == "error":
                raise ValueError(f"{text}, which unseen='error' does not let count as missing; {remedy}")
            warnings.warn(f"{text}, which count as missing. To have them modelled, {remedy}.", stacklevel=5)

    def _digests(self, table: Table, blocks: TableBlocks) -> list:
        """What tells the cells of all blocks from those of other tables, where a fit may have to be told from others.

        Typed cells are in standard units, or codes: by themselves they may be those of another table.
        """
        if not self._saves_chains():
            return []
        rows = map_over(blocks, self.n_jobs)
        rows.start()
        return [blocks.models, [part.categories for part in table.parts], rows.ask(RowBlock.digest, combine=None)]

    def _saves_chains(self) -> bool:
        return any(isinstance(callback, Checkpoint) for callback in callbacks_of(self))

    def _check_shards(self) -> None:
        """Raise ValueError if a parameter does not suit a table in shards."""
        if self._has_documents:
            raise ValueError("feature_types='bag-of-words' does not suit a ShardedTable; give fit the documents")
        if partitions.resolve_partition(self.partition).bind().has_auxiliary:
            # Its sweeps were not compared with the enumeration of partitions.
            raise ValueError(
                f"partition={self.partition!r} does not suit a ShardedTable; take 'dp' or 'pitman-yor', or give fit "
                "the table itself"
            )
        if any(isinstance(move, IncrementalHierarchy) for move in self._resolved_moves()):
            raise ValueError(
                "moves=['incremental-hierarchy'] does not suit a ShardedTable, over whose rows no trees are grown; "
                "leave the move out, or give fit the table itself"
            )

    def _read_start(self, sample, n_rows=None):
        """The schema of the rows on which the chains start, of so many rows or of all, and their typed columns."""
        # Functions that hold in a sample need not hold in all rows.
        return self._revised(*self._read_table(sample), n_rows)

    def _label_blocks(self, blocks: TableBlocks) -> None:
        """Labels of all rows by the representative draw, of which some clusters may have none of the kept rows."""
        self._groups = self._with_absent(0, self._groups)
        self.n_clusters_ = int(self._groups.max()) + 1
        self.labels_, self.probabilities_ = self._nearest_in_blocks(blocks, None, self._representative, self._groups)

    def _with_absent(self, view, groups) -> np.ndarray:
        """Numbers of the clusters of a view in the representative draw, also of large ones that no kept row has."""
        mixture = self._mixture_of_view(view)[1]
        drawn = (own for chain in self._mixtures_like(view) for own in chain)
        labels = next(labels for _, draw, labels, _ in drawn if is_same(draw, mixture))
        return with_absent(groups, mixture.sizes, labels, FEWEST_ROWS)

    def _nearest_in_blocks(self, blocks: TableBlocks, members, draw, groups) -> tuple[np.ndarray, np.ndarray]:
        """The most probable group of each row in a mixture of some columns, and its probability."""
        rows, weights = map_over(blocks, self.n_jobs, members), np.log(draw.sizes + draw.weights[0])
        rows.start()
        found = rows.ask(RowBlock.nearest, draw.columns, weights, groups, combine=None)
        labels, probabilities = zip(*found, strict=True)
        return np.concatenate(labels).astype(np.int64), np.concatenate(probabilities)


class ShardedViewsFit(ShardedFit):
    """The fit of a cross-categorization to a :class:`~sklearn_subanneal.shards.ShardedTable`."""

    _SHARDED_SPEC = ShardedViewsSpec

    def _check_shards(self) -> None:
        if self.covariance_type == "full":
            raise ValueError(
                "covariance_type='full' does not suit a ShardedTable, since reals that are dependent within the "
                "clusters of a view are not moved in blocks; take 'diag' or 'auto', or give fit the table itself"
            )

    def _read_start(self, sample, n_rows=None):
        self.covariance_type_ = "diag"
        # Not as in fit, which with full covariance makes other types of columns.
        return self._read_table(sample)

    def _label_blocks(self, blocks: TableBlocks) -> None:
        draw = self._representative
        self._groups = [self._with_absent(view, groups) for view, groups in enumerate(self._groups)]
        self.n_clusters_ = int(self._groups[0].max()) + 1
        found = [
            self._nearest_in_blocks(blocks, draw.members(view), own, groups)
            for view, (own, groups) in enumerate(zip(draw.views, self._groups, strict=True))
        ]
        self.view_labels_ = np.column_stack([labels for labels, _ in found])
        self.labels_, self.probabilities_ = found[0]


@dataclass(frozen=True, eq=False)
class _Encoder:
    """Types the cells of pieces of a table, wherever they are."""

    table: Table
    reader: BaseEstimator
    unseen: str

    def __call__(self, piece) -> list[np.ndarray]:
        return self.table.encode(self.reader, piece, self.unseen)


def _reader(estimator) -> BaseEstimator:
    """An estimator that knows the names of the features, and nothing else that would have to be sent."""
    reader = type(estimator)()
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            setattr(reader, name, getattr(estimator, name))
    return reader
