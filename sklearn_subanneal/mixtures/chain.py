"""One Markov chain over the partition of a table's rows: annealed to full data, then drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from sklearn_subanneal._chains import ChainContext
from sklearn_subanneal.columns.models import ColumnModel
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.schedules import Pace, Schedule, Step
from sklearn_subanneal.subsampling import Subsampling

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

# Of a time limit, this part is for the schedule, the rest for the draws.
SCHEDULE_SHARE = 0.8


@dataclass(frozen=True)
class Draw:
    """One state of a chain at full data: all that prediction needs, as arrays.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_rows,)
        Cluster of each row, in the order of the table; -1 in a state taken while annealing, where a row is outside.
    sizes : ndarray of int32, shape (n_clusters,)
    weights : tuple of float
        (offset, new_base, new_slope) of the partition prior.
    prior : dict
        Parameters of the partition prior.
    columns : list of dict
        State of the statistics of each column.
    log_joint : float
    """

    labels: np.ndarray
    sizes: np.ndarray
    weights: tuple[float, float, float]
    prior: dict
    columns: list[dict]
    log_joint: float


class MixtureChain:
    """A chain that can be run on, and that pickles to arrays.

    Parameters
    ----------
    models : list of ColumnModel
    arrays : list of ndarray
        The table's typed columns.
    prior : PartitionPrior
    subsampling : Subsampling
    strata : ndarray or None
        The column by which ``subsampling`` stratifies.
    learn : bool
        Whether hyperparameters are redrawn.
    generator : numpy.random.Generator
    number : int
        Of the chain, for its trace.
    """

    def __init__(
        self,
        models: list[ColumnModel],
        arrays: list[np.ndarray],
        prior,
        subsampling: Subsampling,
        strata: np.ndarray | None,
        learn: bool,
        generator: np.random.Generator,
        number: int,
    ):
        self.models, self.learn, self.generator, self.number = models, learn, generator, number
        self.n_rows = len(arrays[0])
        self.order, self.window = subsampling.bind(self.n_rows, generator, strata)
        self._build(prior, arrays)
        self.trace: list[tuple] = []
        self.draws: list[Draw] = []
        self.annealed = False
        self.seconds = 0.0

    def _build(self, prior, arrays):
        self.columns = [model.statistics(model.data(arrays).take(self.order)) for model in self.models]
        self.mixture = Mixture(self.columns, prior, self.n_rows)
        width = sum(len(model.sources) for model in self.models)
        self.batch = max(CELLS_PER_BATCH // max(width, 1), 64)

    def run(self, schedule: Schedule, n_draws: int, thin: int, time_limit: float | None, context: ChainContext):
        """Anneal, unless that is done, and go on until there are ``n_draws`` draws or the time is over.

        At least one draw is made however short the time: all rows are in when this returns.
        """
        started = perf_counter()
        if not self.annealed:
            self._anneal(Pace(schedule, self.n_rows, None if time_limit is None else SCHEDULE_SHARE * time_limit), context)
            self.annealed = True
        full = Step(1.0, self.n_rows, self.n_rows, 1.0)
        while len(self.draws) < n_draws:
            stop = False
            for _ in range(thin):
                stop |= self._sweep(full, context, started)
            self.draws.append(self.state())
            if stop or (time_limit is not None and perf_counter() - started >= time_limit):
                break
        self.seconds += perf_counter() - started
        return self

    def _anneal(self, pace: Pace, context: ChainContext):
        started = perf_counter()
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
        leaving, entering = self.window.plan(step.size, step.n_moves, self.generator)
        n_moved = 0
        for at in range(0, len(leaving), self.batch):
            context.check()
            stop = at + self.batch
            n_moved += churn(
                self.mixture, leaving[at:stop], entering[at:stop], step.inverse_temperature, self.generator
            )
        self.mixture.rebuild()
        if self.learn:
            self.mixture.learn(self.generator, step.inverse_temperature)
        mixture = self.mixture
        parameters = mixture.prior.parameters
        record = (
            self.number,
            len(self.trace),
            self.seconds + perf_counter() - started,
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
        """Log joint density of partition and assigned rows, in standard units."""
        return self.mixture.log_joint()

    def state(self) -> Draw:
        """The present state of the chain."""
        mixture = self.mixture
        labels = np.empty(self.n_rows, np.int32)
        labels[self.order] = mixture.labels
        return Draw(
            labels=labels,
            sizes=mixture.sizes,
            weights=(mixture.prior.offset, mixture.prior.new_base, mixture.prior.new_slope),
            prior=mixture.prior.parameters,
            columns=[column.get_state(mixture.n_clusters) for column in self.columns],
            log_joint=self.log_joint(),
        )
