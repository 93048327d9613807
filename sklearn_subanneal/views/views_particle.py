"""ViewsParticle, a cross-categorization that the rows of a stream enter, ViewsParticleState, what is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal._core.log_space import drawn_by_log_weights
from sklearn_subanneal.columns._base import ColumnData
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures._entry import enter
from sklearn_subanneal.mixtures.particle import Particle, ParticleState
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior
from sklearn_subanneal.views.draws import ViewsDraw


@dataclass(frozen=True)
class ViewsParticleState:
    """A cross-categorization of the rows of a stream, of which some are at hand and of the others only sums are known.

    Attributes
    ----------
    column_labels : ndarray of int, shape (n_columns,)
        View of each column; some views may have none.
    views : list of ParticleState
        Of each view, with the statistics of all columns under its partition of the rows; of its own columns alone, in
        the order of the table, if the particle is not ``open``.
    prior : dict
        Parameters of the prior of the column partition.
    open : bool
        Whether columns may change their view.
    """

    column_labels: np.ndarray
    views: list[ParticleState]
    prior: dict
    open: bool


class ViewsParticle:
    """A cross-categorization over rows that enter one after the other.

    The number of the partitions of the rows is fixed; those that no column has at present are empty views, which follow
    their prior alone.

    Parameters
    ----------
    models : sequence of ColumnModel
        None has missing cells as part of the state.
    column_prior, row_prior : PartitionPrior
        Each view has a copy of the second one.
    cells : sequence of ColumnData
        The rows at hand, and after them those to come.
    state : ViewsParticleState
    generator : numpy.random.Generator
    """

    def __init__(
        self,
        models: Sequence[ColumnModel],
        column_prior: PartitionPrior,
        row_prior: PartitionPrior,
        cells: Sequence[ColumnData],
        state: ViewsParticleState,
        generator: np.random.Generator,
    ):
        self.models, self.prior, self.row_prior, self.cells = models, column_prior, row_prior, cells
        self.generator, self.n_rows = generator, cells[0].n_rows
        self.load(state)

    def load(self, state: ViewsParticleState) -> None:
        """Take over a state, whose rows are the first ones."""
        self.prior.parameters, self.open = state.prior, state.open
        self.column_labels = np.array(state.column_labels)
        self.views = []
        for number, own in enumerate(state.views):
            members = np.flatnonzero(self.column_labels == number)
            known, explained = (range(len(self.models)), members) if self.open else (members, None)
            models, cells = [self.models[j] for j in known], [self.cells[j] for j in known]
            prior = self.row_prior.fresh()
            self.views.append(Particle(models, prior, cells, own, self.generator, explained))

    def enter(self, first: int, last: int) -> np.ndarray:
        """Assign the rows from ``first`` to before ``last``; returns the log predictive density of each."""
        rows = np.arange(first, last, dtype=np.int32)
        return enter([view.mixture for view in self.views], rows, self.generator)

    def move(self, first: int, last: int, learn: bool) -> dict:
        """Move the rows from ``first`` to before ``last`` in each view, then columns among the views.

        Hyperparameters are redrawn if ``learn`` says so. Each move leaves the posterior given the clusters of all other
        rows invariant. The rows of empty views stay where they are.
        """
        n_moved, sizes = 0, self._sizes()
        for view, size in zip(self.views, sizes, strict=True):
            if size:
                n_moved += view.move(first, last, learn)["n_moved"]
            elif learn:
                view.mixture.learn(self.generator)
        n_columns_moved = self.move_columns() if self.open else 0
        if learn:
            sizes = self._sizes()
            self.prior.learn(sizes[sizes > 0], self.generator)
        return {"n_moved": n_moved, "n_columns_moved": n_columns_moved}

    def move_columns(self) -> int:
        """Gibbs sampling of the view of each column, one after the other; returns how many moved.

        Given the partitions of the rows, of which each view has one, empty or not, the evidence of a column in a view
        is the marginal likelihood of its statistics there. An empty view has the prior weight of a new one, divided by
        the number of the empty views.
        """
        before, n_views = self.column_labels.copy(), len(self.views)
        if n_views == 1:
            return 0
        evidence = self._evidence()
        for j in self.generator.permutation(len(before)):
            others = np.bincount(np.delete(self.column_labels, j), minlength=n_views)
            n_present = np.count_nonzero(others)
            weight = self.prior.new_base + self.prior.new_slope * n_present if n_present else 1.0
            weights = np.where(others > 0, others + self.prior.offset, weight / max(n_views - n_present, 1))
            with np.errstate(divide="ignore"):
                logs = np.log(weights) + evidence[:, j]
            self.column_labels[j] = drawn_by_log_weights(logs, self.generator)
        moved = np.flatnonzero(before != self.column_labels)
        for number in np.union1d(before[moved], self.column_labels[moved]):
            self.views[number].explain(np.flatnonzero(self.column_labels == number))
        return len(moved)

    def _evidence(self) -> np.ndarray:
        """Log marginal likelihood of each column in each view, (n_views, n_columns)."""
        out = np.empty((len(self.views), len(self.models)))
        for j, home in enumerate(self.column_labels):
            own = self.views[home].columns[j]
            for number, view in enumerate(self.views):
                column = view.columns[j]
                if number != home:
                    # Hyperparameters are those of the column, wherever it is.
                    column.adopt(own)
                out[number, j] = column.log_marginals(view.mixture.n_clusters).sum()
        return out

    def _sizes(self) -> np.ndarray:
        return np.bincount(self.column_labels, minlength=len(self.views)).astype(np.int32)

    def _present(self) -> np.ndarray:
        """The views that have columns."""
        return np.flatnonzero(self._sizes())

    def log_joint(self) -> float:
        """Log joint density of all partitions of the views with columns, and the cells of all rows."""
        present = self._present()
        rows = sum(self.views[number].log_joint() for number in present)
        return self.prior.log_eppf(self._sizes()[present]) + rows

    def record(self) -> dict:
        """Fields of a record of the trace, in standard units."""
        present = self._present()
        return {
            "log_joint": self.log_joint(),
            "n_views": len(present),
            "n_clusters": sum(self.views[number].mixture.n_clusters for number in present),
            "concentration": self.prior.parameters["concentration"],
            "discount": self.prior.parameters["discount"],
        }

    def draw(self, units: float) -> ViewsDraw:
        """The present state as prediction needs it; ``units`` lead from standard units to those of the data."""
        present = self._present()
        return ViewsDraw(
            column_labels=np.searchsorted(present, self.column_labels).astype(np.int32),
            views=[self.views[number].draw(0.0) for number in present],
            prior=self.prior.parameters,
            log_joint=self.log_joint() + units,
        )

    def labels(self, first: int, last: int) -> np.ndarray:
        """Clusters of the rows from ``first`` to before ``last`` in each view with columns, (n_views, n_rows)."""
        return np.stack([self.views[number].labels(first, last) for number in self._present()])

    def state(self, first: int = 0, last: int | None = None) -> ViewsParticleState:
        """The state of which the rows from ``first`` to before ``last`` are at hand."""
        return ViewsParticleState(
            column_labels=self.column_labels.copy(),
            views=[view.state(first, last) for view in self.views],
            prior=self.prior.parameters,
            open=self.open,
        )
