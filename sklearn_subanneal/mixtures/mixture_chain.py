"""One Markov chain over the partition of a table's rows: annealed to full data, then drawn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.pace import Step
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.spec import ChainSpec
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._split_merge import SplitMerge
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
        # Of global moves and of slice sampling, in this sweep.
        ("n_proposed", "i8"),
        ("n_accepted", "i8"),
        ("sum_log_ratio", "f8"),
        ("n_overflows", "i8"),
    ]
)

# What moves and samplers count: the trace has it for each sweep.
COUNTERS = ("n_proposed", "n_accepted", "sum_log_ratio", "n_overflows")

# Cells scored between two looks at the cancel flag: some tens of milliseconds.
CELLS_PER_BATCH = 1_000_000

# Hyperparameters start where small clusters are cheap, and stay there until this many rows are in (a quarter of a
# small table). Learned from a handful of rows they wander to where all rows are one cluster, or each is its own, and
# no move of a single row leads back.
LEAST_LEARNED_FROM = 64


def n_split_merges(n_assigned: int) -> int:
    """Split-merge proposals in a sweep: each goes over the rows of its clusters, and large clusters hardly ever accept.

    A function of the number of rows alone: were it to depend on the partition, the chain would not be exact.
    """
    return min(max(20_000 // max(n_assigned, 1), 2), 16)


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
    """

    sizes: np.ndarray
    weights: tuple[float, float, float]
    prior: dict
    columns: list[dict]
    log_joint: float


def mixture_state(mixture: Mixture) -> Draw:
    """The present state of a mixture; its log joint in standard units."""
    return Draw(
        sizes=mixture.sizes,
        weights=mixture.prior.predictive_weights(mixture.sizes),
        prior=mixture.prior.parameters,
        columns=[column.get_state(mixture.n_clusters) for column in mixture.columns],
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
    learn : bool, default=True
        Whether hyperparameters are redrawn.
    number : int, default=0
        Of the chain, for its trace.
    moves : callable or None, default=SplitMerge
        Makes of the columns and the number of rows the object whose proposals follow every cycle through the
        subsample; None: there are none.
    n_global : int or None, default=None
        How many of these; None: as many as cost little.
    sampler : callable or None, default=None
        Makes in the same way the object that moves all rows, in place of Gibbs sampling, once they are in.
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
        learn: bool = True,
        number: int = 0,
        moves: Callable | None = SplitMerge,
        n_global: int | None = None,
        sampler: Callable | None = None,
    ):
        super().__init__(len(arrays[0]), order, window, generator, number)
        self.models, self.learn = models, learn
        self.columns = [model.statistics(model.data(arrays).take(self.order)) for model in models]
        self.mixture = Mixture(self.columns, prior, self.n_rows)
        self.moves = None if moves is None else moves(self.columns, self.n_rows)
        self.n_global = n_global
        self.sampler = None if sampler is None else sampler(self.columns, self.n_rows)
        self.batch = max(int(CELLS_PER_BATCH / max(sum(model.cells_per_row(arrays) for model in models), 1.0)), 64)
        self._units = units_of_rows(models, arrays, self.order)

    def start_from_prior(self) -> None:
        self.mixture.set_labels(self.mixture.prior.draw_partition(self.n_rows, self.generator), self.generator)

    def cycle(self, step: Step, context: ChainContext) -> dict:
        mixture = self.mixture
        n_moved = self.move_rows(step, context) + self.move_clusters(step, context)
        # Last before the state is read: it then depends on the labels alone, not on the way that led there.
        mixture.rebuild()
        if self.learn and mixture.n_assigned >= min(LEAST_LEARNED_FROM, self.n_rows // 4):
            mixture.learn(self.generator, step.inverse_temperature)
        else:
            mixture.redraw_auxiliary(self.generator)
        parameters, counted = mixture.prior.parameters, dict.fromkeys(COUNTERS, 0)
        for mover in (self.moves, self.sampler):
            for name in COUNTERS:
                if hasattr(mover, name):
                    counted[name] += getattr(mover, name)
                    setattr(mover, name, 0)
        return {
            "log_joint": self.log_joint(),
            "n_clusters": mixture.n_clusters,
            "n_moved": n_moved,
            **{name: parameters.get(name, np.nan) for name in ("concentration", "discount", "mass", "sigma")},
            **counted,
        }

    def move_rows(self, step: Step, context: ChainContext) -> int:
        """Rows leave, enter, and choose their clusters, one after the other; how many were moved."""
        if self.sampler is not None and self.window.size == step.size == self.n_rows:
            context.check()
            return self.sampler.sweep(self.mixture, step.inverse_temperature, self.generator)
        leaving, entering = self.window.plan(step.size, step.n_moves, self.generator)
        n_moved = 0
        for at in range(0, len(leaving), self.batch):
            context.check()
            part = slice(at, at + self.batch)
            n_moved += churn(self.mixture, leaving[part], entering[part], step.inverse_temperature, self.generator)
        return n_moved

    def move_clusters(self, step: Step, context: ChainContext) -> int:
        """Make the proposals of global moves; how many were accepted."""
        n_assigned, n_moved = self.mixture.n_assigned, 0
        if self.moves is None:
            return 0
        waiting = self.n_global
        if waiting is None:
            waiting = round(getattr(self.moves, "pace", 1.0) * n_split_merges(n_assigned))
        while waiting:
            context.check()
            n_proposals = min(waiting, max(self.batch // max(n_assigned, 1), 1))
            n_moved += self.moves.propose(self.mixture, n_proposals, step.inverse_temperature, self.generator)
            waiting -= n_proposals
        return n_moved

    def log_joint(self) -> float:
        """Log joint density of the partition and the assigned rows, in the units of the data."""
        if np.ndim(self._units):
            units = self._units[self.mixture.labels >= 0].sum()
        else:
            units = self._units * self.mixture.n_assigned
        return self.mixture.log_joint() + units

    def labels_of_rows(self) -> np.ndarray:
        """Present cluster of each row, in the order of the table."""
        labels = np.empty(self.n_rows, np.int32)
        labels[self.order] = self.mixture.labels
        return labels

    def state(self) -> Draw:
        return replace(mixture_state(self.mixture), log_joint=self.log_joint())

    def get_state(self) -> dict:
        return {
            "labels": self.mixture.labels,
            "prior": self.mixture.prior.parameters,
            "columns": [column.get_prior_state() for column in self.columns],
            # A sampler may keep a state of its own.
            "sampler": self.sampler.get_state() if hasattr(self.sampler, "get_state") else None,
        }

    def set_state(self, state: dict) -> None:
        self.mixture.prior.parameters = state["prior"]
        for column, prior_state in zip(self.columns, state["columns"], strict=True):
            column.set_prior_state(prior_state)
        self.mixture.place(state["labels"])
        self.mixture.rebuild()
        if state["sampler"] is not None:
            self.sampler.set_state(state["sampler"])


@dataclass(frozen=True, kw_only=True, eq=False)
class MixtureSpec(ChainSpec):
    """A chain over the partition of the rows of one table.

    Attributes
    ----------
    models : list of ColumnModel
    arrays : list of ndarray
        The table's typed columns.
    partition : CRP, PitmanYor, NGGP or NIG
        Prior of the partition, as a parameter object: bound ones cannot be sent to other processes.
    learn : bool
        Whether hyperparameters are redrawn.
    moves, n_global, sampler
        As of :class:`MixtureChain`.
    """

    models: list[ColumnModel]
    arrays: list[np.ndarray]
    partition: BaseEstimator
    learn: bool = True
    moves: Callable | None = SplitMerge
    n_global: int | None = None
    sampler: Callable | None = None

    def check(self) -> None:
        super().check()
        self.partition.bind(self.learn)

    def build(self, order: np.ndarray, window: Window) -> MixtureChain:
        return MixtureChain(
            self.models,
            self.arrays,
            self.partition.bind(self.learn),
            order,
            window,
            self.generator,
            learn=self.learn,
            number=self.number,
            moves=self.moves,
            n_global=self.n_global,
            sampler=self.sampler,
        )
