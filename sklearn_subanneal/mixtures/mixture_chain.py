"""MixtureChain, the Markov chain of a mixture of a table; MixtureSpec, which builds it; Draw, one of its draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.spec import ChainSpec
from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.gaussian import settle
from sklearn_subanneal.columns.slab import side_by_side
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.mixtures.move import ClusterMove, Move, check_moves
from sklearn_subanneal.partitions import Partition
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior

TRACE = np.dtype(
    [
        ("chain", "i4"),
        ("sweep", "i4"),
        ("seconds", "f8"),
        ("progress", "f8"),
        ("n_assigned", "i8"),
        ("inverse_temperature", "f8"),
        ("log_joint", "f8"),
        ("n_clusters", "i4"),
        ("n_moved", "i8"),
        ("concentration", "f8"),
        ("discount", "f8"),
        ("mass", "f8"),
        ("sigma", "f8"),
        # Counters of this sweep: of proposals to split and merge clusters, and of slice sampling.
        ("n_proposed", "i8"),
        ("n_accepted", "i8"),
        ("sum_log_ratio", "f8"),
        ("n_overflows", "i8"),
    ]
)

# Counters of the moves, recorded in the trace for each sweep.
COUNTERS = ("n_proposed", "n_accepted", "sum_log_ratio", "n_overflows")

# Cells scored between two checks of the cancel flag: some tens of milliseconds.
CELLS_PER_BATCH = 1_000_000


@dataclass(frozen=True)
class Draw:
    """One state of a chain: all that prediction needs, as arrays.

    Attributes
    ----------
    sizes : ndarray of int32, shape (n_clusters,)
    weights : tuple of float
        (offset, new_base, new_slope) of the partition prior, for a row to come.
    prior : dict
        Parameters of the partition prior.
    columns : list of dict
        State of the statistics of each column.
    log_joint : float
    weight : float, default=1.0
        In averages over draws of a mixture; positive.
    """

    sizes: np.ndarray
    weights: tuple[float, float, float]
    prior: dict
    columns: list[dict]
    log_joint: float
    weight: float = 1.0


def mixture_state(mixture: Mixture, columns: Sequence[ColumnStatistics] | None = None) -> Draw:
    """The present state of a mixture; its log joint in standard units. ``columns``: those it explains; None: all."""
    columns = mixture.columns if columns is None else columns
    return Draw(
        sizes=mixture.sizes,
        weights=mixture.prior.predictive_weights(mixture.sizes),
        prior=mixture.prior.parameters,
        columns=[column.get_state(mixture.n_clusters) for column in columns],
        log_joint=mixture.log_joint(),
    )


def units_of_rows(models: list[ColumnModel], arrays: list[np.ndarray], order: np.ndarray) -> np.ndarray | float:
    """log |dz / dx| of each row, in the chain's order; one number where it is the same for all."""
    units = 0.0
    for model in models:
        units = units + model.units(arrays)
    if np.ndim(units) and np.ptp(units) == 0.0:
        units = units[0]
    return units[order] if np.ndim(units) else float(units)


def learned_from(models: list[ColumnModel], n_rows: int) -> int:
    """From how many assigned rows on hyperparameters are learned: 64, or a quarter of a small table; of documents more.

    They start where small clusters are cheap. Learned from a handful of rows they wander to where all rows are one
    cluster, or each is its own, and no move of a single row leads back.
    """
    return max(min(number, int(share * n_rows)) for number, share in (model.learned_from for model in models))


class MixtureChain(AnnealedChain):
    """A chain over the partition of the rows of one table.

    Parameters
    ----------
    models : list of ColumnModel
    arrays : list of ndarray
        The table's typed columns.
    prior : PartitionPrior
    order : ndarray of int, shape (n_rows,)
        Row of the table at each position: rows are stored as churn visits them, so that memory is read in order.
    window : Window
        The subsample, as a set of positions.
    generator : numpy.random.Generator
    moves : sequence of Move
        Made in this order in each cycle; exactly one of them moves the rows.
    learn : bool, default=True
        Whether hyperparameters are redrawn.
    learn_from : int or None, default=None
        Number of assigned rows from which on they are; None: as :func:`learned_from` says.
    number : int, default=0
        Number of the chain, recorded in its trace.
    """

    TRACE = TRACE

    def __init__(
        self,
        models: list[ColumnModel],
        arrays: list[np.ndarray],
        prior: PartitionPrior,
        order: np.ndarray,
        window: Window,
        generator: np.random.Generator,
        *,
        moves: Sequence[Move],
        learn: bool = True,
        learn_from: int | None = None,
        number: int = 0,
    ):
        super().__init__(len(arrays[0]), order, window, generator, number)
        self.models, self.learn = models, learn
        self.learn_from = min(learned_from(models, self.n_rows) if learn_from is None else learn_from, self.n_rows)
        is_sorted = np.array_equal(self.order, np.arange(self.n_rows))
        data = (model.data(arrays) for model in models)
        with side_by_side(len(models)):
            self.columns = [
                model.statistics(own if is_sorted else own.take(self.order))
                for model, own in zip(models, data, strict=True)
            ]
            self.mixture = Mixture(self.columns, prior, self.n_rows)
            self.moves = [(move, move.bind(self.columns, self.n_rows)) for move in moves]
        self.batch = max(int(CELLS_PER_BATCH / max(sum(model.cells_per_row(arrays) for model in models), 1.0)), 64)
        self._units = units_of_rows(models, arrays, self.order)

    def start_from_prior(self) -> None:
        self.mixture.set_labels(self.mixture.prior.draw_partition(self.n_rows, self.generator), self.generator)

    def cycle(self, step: Step, context: ChainContext) -> dict:
        mixture = self.mixture
        n_moved = 0
        for move, kernel in self.moves:
            make = self.move_rows if move.kind == "rows" else self.move_clusters
            n_moved += make(move, kernel, step, context)
        # Last before the state is read: it then depends on the labels alone, not on the way that led there.
        mixture.rebuild()
        if self.learn and mixture.n_assigned >= self.learn_from:
            settle(mixture.columns, step.inverse_temperature == 1.0 and mixture.n_assigned == self.n_rows)
            mixture.learn(self.generator, step.inverse_temperature)
        else:
            mixture.redraw_auxiliary(self.generator)
        parameters = mixture.prior.parameters
        counts = [kernel.take_counts() for _, kernel in self.moves]
        return {
            "log_joint": self.log_joint(),
            "n_clusters": mixture.n_clusters,
            "n_moved": n_moved,
            **{name: parameters.get(name, np.nan) for name in ("concentration", "discount", "mass", "sigma")},
            **{name: sum(own[name] for own in counts) for name in COUNTERS},
        }

    def move_rows(self, move: Move, kernel: MoveKernel, step: Step, context: ChainContext) -> int:
        """Remove and assign rows, one after the other; returns the number of rows that were assigned or moved."""
        if move.replaces_gibbs and self.window.size == step.size == self.n_rows:
            context.check()
            return kernel.sweep(self.mixture, step.inverse_temperature, self.generator)
        n_moved = 0
        for leaving, entering in self.moves_of_rows(step, self.batch, context):
            n_moved += churn(self.mixture, leaving, entering, step.inverse_temperature, self.generator)
        return n_moved

    def move_clusters(self, move: ClusterMove, kernel: MoveKernel, step: Step, context: ChainContext) -> int:
        """Make the proposals to split and merge clusters; returns how many were accepted."""
        n_assigned, n_accepted = self.mixture.n_assigned, 0
        waiting = move.count(n_assigned)
        while waiting and not self.is_late():
            context.check()
            n_proposals = min(waiting, max(self.batch // max(n_assigned, 1), 1))
            n_accepted += kernel.propose(self.mixture, n_proposals, step.inverse_temperature, self.generator)
            waiting -= n_proposals
        return n_accepted

    def log_joint(self) -> float:
        """Log joint density of the partition and the assigned rows, in the units of the data."""
        if np.ndim(self._units):
            units = self._units[self.mixture.labels >= 0].sum()
        else:
            units = self._units * self.mixture.n_assigned
        return self.mixture.log_joint() + units

    def labels_of_rows(self) -> np.ndarray:
        """Present cluster of each row, in the order of the table."""
        # They are kept for every draw of every chain: the type is the narrowest that suffices.
        labels = np.empty(self.n_rows, np.min_scalar_type(-self.mixture.n_clusters))
        labels[self.order] = self.mixture.labels
        return labels

    def state(self) -> Draw:
        return replace(mixture_state(self.mixture), log_joint=self.log_joint())

    def get_state(self) -> dict:
        return {
            "labels": self.mixture.labels,
            "prior": self.mixture.prior.parameters,
            "columns": [column.get_prior_state() for column in self.columns],
            "moves": [kernel.get_state() for _, kernel in self.moves],
        }

    def set_state(self, state: dict) -> None:
        self.mixture.prior.parameters = state["prior"]
        for column, prior_state in zip(self.columns, state["columns"], strict=True):
            column.set_prior_state(prior_state)
        self.mixture.relabel(state["labels"])
        self.mixture.rebuild()
        for (_, kernel), kept in zip(self.moves, state["moves"], strict=True):
            if kept is not None:
                kernel.set_state(kept)


@dataclass(frozen=True, kw_only=True, eq=False)
class MixtureSpec(ChainSpec):
    """A chain over the partition of the rows of one table.

    Attributes
    ----------
    models : list of ColumnModel
    arrays : list of ndarray
        The table's typed columns.
    partition : Partition
        Prior of the partition, as a parameter object: bound ones cannot be sent to other processes.
    moves : tuple of Move
        Made in this order in each cycle.
    learn : bool
        Whether hyperparameters are redrawn.
    learn_from : int or None
        Number of assigned rows from which on they are.
    """

    models: list[ColumnModel]
    arrays: list[np.ndarray]
    partition: Partition
    moves: tuple[Move, ...]
    learn: bool = True
    learn_from: int | None = None

    def check(self) -> None:
        super().check()
        check_moves(self.moves, self.partition.bind(self.learn), self.models)

    def build(self, order: np.ndarray, window: Window) -> MixtureChain:
        return MixtureChain(
            self.models,
            self.arrays,
            self.partition.bind(self.learn),
            order,
            window,
            self.generator,
            moves=self.moves,
            learn=self.learn,
            learn_from=self.learn_from,
            number=self.number,
        )
