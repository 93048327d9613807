"""Particle, a mixture that the rows of a stream enter, ParticleState, what is kept of it, and their makers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.columns._base import ColumnData
from sklearn_subanneal.columns._carried import CarriedStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures._detachment import DetachmentKernel
from sklearn_subanneal.mixtures._entry import enter
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._split_merge import SplitMergeKernel
from sklearn_subanneal.mixtures.mixture_chain import TRACE, Draw, mixture_state
from sklearn_subanneal.mixtures.row_moves import SplitMerge
from sklearn_subanneal.partitions import Partition
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior

# Cells that the chain of a column has filled, in the state of its prior.
FILLED = "completed"
# Proposals a round, for each cluster with rows elsewhere, that rows leave such a cluster or join one.
N_DETACHMENTS = 4


@dataclass(frozen=True)
class ParticleState:
    """A mixture of the rows of a stream, of which some are at hand and of the others only sums are known.

    Attributes
    ----------
    sizes : ndarray of int32, shape (n_clusters,)
        Rows of each cluster, at hand or not.
    labels : ndarray of int32, shape (n_rows,)
        Clusters of the rows at hand.
    columns : list of dict
        State of the statistics of each column, of all rows.
    priors : list of dict
        State of the hyperparameters of each column.
    fillings : dict of int to ndarray of shape (n_incomplete, width)
        For each column whose missing cells are part of the state: the rows at hand that have some, with these filled.
    partition : dict
        Parameters of the prior of the partition.
    """

    sizes: np.ndarray
    labels: np.ndarray
    columns: list[dict]
    priors: list[dict]
    fillings: dict[int, np.ndarray]
    partition: dict

    @classmethod
    def empty(cls, models: Sequence[ColumnModel], prior: PartitionPrior, generator: np.random.Generator):
        """No rows, and hyperparameters drawn from their prior."""
        prior.draw(generator)
        columns = [model.statistics(parameters=model.draw_parameters(generator)) for model in models]
        return cls(
            sizes=np.zeros(0, np.int32),
            labels=np.zeros(0, np.int32),
            columns=[column.get_state(0) for column in columns],
            priors=[column.get_prior_state() for column in columns],
            fillings={},
            partition=prior.parameters,
        )

    @classmethod
    def of_draw(cls, models: Sequence[ColumnModel], draw: Draw, priors: Sequence[dict] | None = None):
        """The clusters and hyperparameters of a draw, none of whose rows is at hand.

        Parameters
        ----------
        models : sequence of ColumnModel
        draw : Draw
        priors : sequence of dict or None
            Of its columns, as ``get_prior_state`` has them; None: what the draw itself has of them.
        """
        if priors is None:
            priors = [model.prior_state(own["parameters"]) for model, own in zip(models, draw.columns, strict=True)]
        priors = [without_fillings(prior) for prior in priors]
        pairs = zip(draw.columns, priors, strict=True)
        return cls(
            sizes=draw.sizes,
            labels=np.zeros(0, np.int32),
            columns=[state | {"parameters": prior["parameters"]} for state, prior in pairs],
            priors=priors,
            fillings={},
            partition=draw.prior,
        )


def without_fillings(prior: dict) -> dict:
    """The state of the hyperparameters of a column alone."""
    return {name: value for name, value in prior.items() if name != FILLED}


class Particle:
    """A mixture over rows that enter one after the other.

    Parameters
    ----------
    models : sequence of ColumnModel
    prior : PartitionPrior
    cells : sequence of ColumnData
        The rows at hand, and after them those to come.
    state : ParticleState
    generator : numpy.random.Generator
    explained : sequence of int or None, default=None
        The columns that the mixture explains; the statistics of all follow the rows. None: all.
    """

    def __init__(
        self,
        models: Sequence[ColumnModel],
        prior: PartitionPrior,
        cells: Sequence[ColumnData],
        state: ParticleState,
        generator: np.random.Generator,
        explained: Sequence[int] | None = None,
    ):
        self.generator = generator
        self.columns = [model.statistics(data) for model, data in zip(models, cells, strict=True)]
        self.n_rows = cells[0].n_rows
        self._explained = self.columns
        self._carried = [] if explained is None else [CarriedStatistics(column) for column in self.columns]
        self.mixture = Mixture(self.columns, prior, self.n_rows)
        self.load(state)
        if explained is not None:
            self.explain(explained)
        every = self.columns + self._carried
        self._pairs = SplitMergeKernel(every, self.n_rows)
        self._detachments = DetachmentKernel(every, self.n_rows)

    def explain(self, columns: Sequence[int]) -> None:
        """Explain these columns from now on, which are in the order of the table."""
        chosen = list(self._carried)
        for j in columns:
            chosen[j] = self.columns[j]
        self._explained = [self.columns[j] for j in columns]
        self.mixture.set_columns(chosen)

    def load(self, state: ParticleState) -> None:
        """Take over a state, whose rows are the first ones."""
        for j, column in enumerate(self.columns):
            prior = dict(state.priors[j])
            if len(state.fillings.get(j, ())):
                prior[FILLED] = column.get_prior_state()[FILLED]
                prior[FILLED][: len(state.fillings[j])] = state.fillings[j]
            column.set_prior_state(prior)
            column.set_state(state.columns[j])
        self.mixture.prior.parameters = state.partition
        labels = np.full(self.mixture.n_rows, -1, np.int32)
        labels[: len(state.labels)] = state.labels
        self.mixture.join_clusters(labels, state.sizes)
        self.mixture.reweigh()

    def enter(self, first: int, last: int) -> np.ndarray:
        """Assign the rows from ``first`` to before ``last``; returns the log predictive density of each."""
        return enter([self.mixture], np.arange(first, last, dtype=np.int32), self.generator)

    def move(self, first: int, last: int, learn: bool) -> dict:
        """Move the rows from ``first`` to before ``last``, then redraw the hyperparameters if ``learn`` says so.

        The clusters of all other rows stay as they are. Given these, each move leaves the posterior invariant: Gibbs
        sampling of the rows, and split-merge proposals, among the clusters that have none of the other rows, and
        between one of these and one that has some.
        """
        rows = np.arange(first, last, dtype=np.int32)
        n_moved = churn(self.mixture, rows, rows, 1.0, self.generator)
        labels = self.mixture.labels[first:last]
        inner = np.bincount(labels, minlength=self.mixture.n_clusters) == self.mixture.sizes
        inner = rows[inner[labels]]
        self._pairs.propose(self.mixture, SplitMerge().count(len(inner)), 1.0, self.generator, inner)
        self._detachments.propose(self.mixture, N_DETACHMENTS, 1.0, self.generator, rows)
        if learn:
            self.mixture.learn(self.generator)
        counts = [kernel.take_counts() for kernel in (self._pairs, self._detachments)]
        return {"n_moved": n_moved} | {name: counts[0][name] + counts[1][name] for name in counts[0]}

    def log_joint(self) -> float:
        """Log joint density of the partition and the cells of all rows, in standard units."""
        return self.mixture.log_joint()

    def record(self) -> dict:
        """Fields of a record of the trace, in standard units."""
        parameters = self.mixture.prior.parameters
        priors = {name: parameters.get(name, np.nan) for name in ("concentration", "discount", "mass", "sigma")}
        return {"log_joint": self.log_joint(), "n_clusters": self.mixture.n_clusters} | priors

    def draw(self, units: float) -> Draw:
        """The present state as prediction needs it; ``units`` lead from standard units to those of the data."""
        draw = mixture_state(self.mixture, self._explained)
        return replace(draw, log_joint=draw.log_joint + units)

    def labels(self, first: int, last: int) -> np.ndarray:
        """Clusters of the rows from ``first`` to before ``last``."""
        return self.mixture.labels[first:last]

    def state(self, first: int = 0, last: int | None = None) -> ParticleState:
        """The state of which the rows from ``first`` to before ``last`` are at hand."""
        priors, fillings = [column.get_prior_state() for column in self.columns], {}
        for j, (column, prior) in enumerate(zip(self.columns, priors, strict=True)):
            if FILLED in prior:
                incomplete = np.isnan(column.data.array).any(axis=1)
                start = incomplete[:first].sum()
                fillings[j] = prior[FILLED][start : start + incomplete[first:last].sum()]
        return ParticleState(
            sizes=self.mixture.sizes,
            labels=self.labels(first, last),
            columns=[column.get_state(self.mixture.n_clusters) for column in self.columns],
            priors=[without_fillings(prior) for prior in priors],
            fillings=fillings,
            partition=self.mixture.prior.parameters,
        )


class ParticleMaker(Protocol):
    """What a stream asks of the maker of its particles, which have the methods of :class:`Particle`."""

    TRACE: np.dtype

    def from_prior(self, models: Sequence[ColumnModel], generator: np.random.Generator) -> Any:
        """The state of a particle without rows, its hyperparameters drawn from their prior."""

    def from_chain(self, models: Sequence[ColumnModel], result: ChainResult, arrays: Sequence, first: int) -> Any:
        """The state after a chain.

        Parameters
        ----------
        models : sequence of ColumnModel
        result : ChainResult
        arrays : sequence of ndarray
            Typed columns of all its rows; or of none of them, if they are gone.
        first : int
            Rows before this one are not kept.
        """

    def particle(
        self, models: Sequence[ColumnModel], cells: Sequence[ColumnData], state: Any, generator: np.random.Generator
    ) -> Particle:
        """A particle of this state."""


@dataclass(frozen=True)
class MixtureParticles:
    """Particles that are mixtures.

    Attributes
    ----------
    partition : Partition
    learn : bool
        Whether hyperparameters are redrawn.
    """

    TRACE = TRACE

    partition: Partition
    learn: bool

    def from_prior(self, models, generator):
        return ParticleState.empty(models, self.partition.bind(self.learn), generator)

    def from_chain(self, models, result, arrays, first):
        priors = result.state.model.get("columns")
        state = ParticleState.of_draw(models, result.draws[-1], priors)
        if not len(arrays[0]):
            return state
        order, fillings = result.state.order, {}
        for j, model in enumerate(models):
            if model.stateful:
                missing = np.isnan(model.values(arrays)).any(axis=1)
                fillings[j] = _by_rows(priors[j][FILLED], order[missing[order]], first)
        return replace(state, labels=result.labels[-1][first:].astype(np.int32), fillings=fillings)

    def particle(self, models, cells, state, generator):
        return Particle(models, self.partition.bind(self.learn), cells, state, generator)


def _by_rows(filled: np.ndarray, rows: np.ndarray, first: int) -> np.ndarray:
    """Fillings of these rows, in the order of the rows, of those from ``first`` on."""
    order = np.argsort(rows)
    return filled[order[rows[order] >= first]]
