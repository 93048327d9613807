"""One Markov chain over the partition of a table's rows: annealed to full data, then drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from sklearn_subanneal._chains import ChainContext
from sklearn_subanneal._subsampling import Window
from sklearn_subanneal.columns.models import ColumnModel
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._split_merge import SplitMerge
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior
from sklearn_subanneal.schedules import Pace, Schedule, Step

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
    ]
)

# Cells scored between two looks at the cancel flag: some tens of milliseconds.
CELLS_PER_BATCH = 1_000_000

# Hyperparameters start where small clusters are cheap, and stay there until this many rows are in (a quarter of a
# small table). Learned from a handful of rows they wander to where all rows are one cluster, or each is its own, and
# no move of a single row leads back.
LEAST_LEARNED_FROM = 64

# Of a time limit, this part is for the schedule, the rest for the draws.
SCHEDULE_SHARE = 0.8


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
        (offset, new_base, new_slope) of the partition prior.
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


@dataclass(frozen=True)
class ChainResult:
    """What a chain hands over: arrays, and no data.

    Attributes
    ----------
    draws : list of Draw
        All at full data.
    labels : ndarray of int32, shape (n_draws, n_rows)
        Cluster of each row in each draw, in the order of the table.
    trace : ndarray of TRACE, shape (n_sweeps,)
    resume : dict
        State from which :meth:`MixtureChain.restore` goes on.
    """

    draws: list[Draw]
    labels: np.ndarray
    trace: np.ndarray
    resume: dict


class MixtureChain:
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
    """

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
    ):
        self.models, self.learn, self.generator, self.number = models, learn, generator, number
        self.n_rows = len(arrays[0])
        self.order, self.window = order.astype(np.int32), window
        self.columns = [model.statistics(model.data(arrays).take(self.order)) for model in models]
        self.mixture = Mixture(self.columns, prior, self.n_rows)
        self.split_merge = SplitMerge(self.mixture)
        self.batch = max(CELLS_PER_BATCH // max(len(arrays), 1), 64)
        self.trace: list[tuple] = []
        self.draws: list[Draw] = []
        self.labels: list[np.ndarray] = []
        self.annealed = False
        self.seconds = 0.0
        self._units = self._log_units(arrays)

    def _log_units(self, arrays):
        """log |dz / dx| of each row, in the chain's order; one number where it is the same for all."""
        units = 0.0
        for model in self.models:
            if model.kind == "gaussian":
                # The block's missing cells are part of the state, and so of its density.
                units = units - np.log(model.scale).sum()
            elif model.kind == "real":
                units = units + model.log_jacobian(model.values(arrays))
        if np.ndim(units) and np.ptp(units) == 0.0:
            units = units[0]
        return units[self.order] if np.ndim(units) else float(units)

    def run(
        self, schedule: Schedule, n_draws: int, thin: int, time_limit: float | None, context: ChainContext
    ) -> ChainResult:
        """Anneal, unless that is done, and go on until there are ``n_draws`` draws or the time is over.

        At least one draw is made however short the time: all rows are in when this returns.
        """
        started = perf_counter()
        offset = self.seconds
        if not self.annealed:
            seconds = None if time_limit is None else SCHEDULE_SHARE * time_limit
            self._anneal(Pace(schedule, self.n_rows, seconds), context, started - offset)
            self.annealed = True
        full = Step(1.0, self.n_rows, self.n_rows, 1.0)
        while len(self.draws) < n_draws:
            stop = False
            for _ in range(thin):
                stop |= self._sweep(full, context, started - offset)
            self.draws.append(self.state())
            self.labels.append(self.labels_of_rows())
            if stop or (time_limit is not None and perf_counter() - started >= time_limit):
                break
        self.seconds = offset + perf_counter() - started
        return self.result()

    def _anneal(self, pace: Pace, context: ChainContext, started: float) -> None:
        if pace.schedule.start == "prior":
            self.mixture.set_labels(self.mixture.prior.draw_partition(self.n_rows, self.generator), self.generator)
            self.window.fill()
        for step in pace.steps(self.window.size):
            if self._sweep(step, context, started):
                # Told to end early: the rows that are still out enter one after the other.
                if self.window.size < self.n_rows:
                    self._sweep(Step(1.0, self.n_rows, 0, 1.0), context, started)
                return

    def _sweep(self, step: Step, context: ChainContext, started: float) -> bool:
        """One cycle through the subsample, then the hyperparameters; True if the phase is to end."""
        mixture = self.mixture
        leaving, entering = self.window.plan(step.size, step.n_moves, self.generator)
        n_moved = 0
        for at in range(0, len(leaving), self.batch):
            context.check()
            part = slice(at, at + self.batch)
            n_moved += churn(mixture, leaving[part], entering[part], step.inverse_temperature, self.generator)
        waiting = n_split_merges(mixture.n_assigned)
        while waiting:
            context.check()
            n_proposals = min(waiting, max(self.batch // max(mixture.n_assigned, 1), 1))
            n_moved += self.split_merge.propose(n_proposals, step.inverse_temperature, self.generator)
            waiting -= n_proposals
        # Last before the state is read: it then depends on the labels alone, not on the way that led there.
        mixture.rebuild()
        if self.learn and mixture.n_assigned >= min(LEAST_LEARNED_FROM, self.n_rows // 4):
            mixture.learn(self.generator, step.inverse_temperature)
        parameters = mixture.prior.parameters
        record = (
            self.number,
            len(self.trace),
            perf_counter() - started,
            step.progress,
            mixture.n_assigned,
            step.inverse_temperature,
            self.log_joint(),
            mixture.n_clusters,
            n_moved,
            parameters.get("concentration", np.nan),
            parameters.get("discount", np.nan),
        )
        self.trace.append(record)
        return context.tell(dict(zip(TRACE.names, record, strict=True)), self.state)

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
        """The present state of the chain, as prediction needs it."""
        mixture = self.mixture
        return Draw(
            sizes=mixture.sizes,
            weights=(mixture.prior.offset, mixture.prior.new_base, mixture.prior.new_slope),
            prior=mixture.prior.parameters,
            columns=[column.get_state(mixture.n_clusters) for column in self.columns],
            log_joint=self.log_joint(),
        )

    def result(self) -> ChainResult:
        """Everything so far."""
        resume = {
            "generator": self.generator.bit_generator.state,
            "order": self.order,
            "window": self.window.get_state(),
            "labels": self.mixture.labels,
            "prior": self.mixture.prior.parameters,
            "columns": [column.get_prior_state() for column in self.columns],
            "annealed": self.annealed,
            "seconds": self.seconds,
        }
        return ChainResult(self.draws, np.stack(self.labels), np.array(self.trace, TRACE), resume)

    def restore(self, result: ChainResult) -> MixtureChain:
        """Put this chain, made of the same table, where another ended; it goes on bit for bit."""
        resume = result.resume
        self.generator.bit_generator.state = resume["generator"]
        self.mixture.prior.parameters = resume["prior"]
        for column, state in zip(self.columns, resume["columns"], strict=True):
            column.set_prior_state(state)
        self.window.set_state(resume["window"])
        self.mixture.place(resume["labels"])
        self.mixture.rebuild()
        self.annealed, self.seconds = resume["annealed"], resume["seconds"]
        self.draws, self.labels = list(result.draws), list(result.labels)
        self.trace = [tuple(record) for record in result.trace]
        return self


def run_chain(recipe: dict, context: ChainContext) -> ChainResult:
    """Make one chain, or take one up again, and run it: the unit of work that joblib distributes.

    Parameters
    ----------
    recipe : dict
        "chain": arguments of :class:`MixtureChain` but for order, window and generator, which come of "subsampling",
        "strata" (a column or None) and "generator", and for its prior, which "partition" gives (a parameter object,
        which other processes can be sent); "run": arguments of its ``run``; "previous": the result to go on from, or
        None.
    context : ChainContext
    """
    previous, generator, arrays = recipe["previous"], recipe["generator"], recipe["chain"]["arrays"]
    order, window = recipe["subsampling"].bind(len(arrays[0]), generator, recipe["strata"])
    if previous is not None:
        order = previous.resume["order"]
    prior = recipe["partition"].bind(recipe["chain"]["learn"])
    chain = MixtureChain(**recipe["chain"], prior=prior, order=order, window=window, generator=generator)
    if previous is not None:
        chain.restore(previous)
    return chain.run(**recipe["run"], context=context)
