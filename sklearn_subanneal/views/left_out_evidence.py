"""LeftOutEvidence: what views of draws say of rows, each left out of its clusters, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.leave_one_out import LeaveOneOut
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.logarithmic_pool import NO_COLUMN, evidence_of_parts

# Pools are learned from so many draws, but one of each chain at least, and from so many log densities, which are 80 MB.
MOST_DRAWS, MOST_DENSITIES, FEWEST_ROWS = 4, 10_000_000, 100


def owners_of(chains: Sequence[Sequence[ViewsDraw]]) -> np.ndarray:
    """The chain of each draw."""
    return np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])


def used_draws(chains: Sequence[Sequence[ViewsDraw]]) -> np.ndarray:
    """The draws from which pools are learned, as many of each chain, evenly spaced."""
    owners = owners_of(chains)
    return np.concatenate([_some(np.flatnonzero(owners == c), MOST_DRAWS // len(chains)) for c in range(len(chains))])


def most_rows(models: list[ColumnModel], chains: Sequence[Sequence[ViewsDraw]], n_classes: int) -> int:
    """Of so many rows the log densities can be held at once, those in so many classes among them."""
    draws = [draw for chain in chains for draw in chain]
    width = sum(
        _n_parts(models, draws[s].members(v)) * (len(view.sizes) + 1)
        for s in used_draws(chains)
        for v, view in enumerate(draws[s].views)
    )
    return max(MOST_DENSITIES // (width + len(models) * n_classes), FEWEST_ROWS)


@dataclass(frozen=True, eq=False)
class ViewEvidence:
    """What one view of a draw says of rows that are left out of their clusters.

    Attributes
    ----------
    draw, place, chain : int
        The number of the draw, that of the view in it, and the chain.
    members : ndarray of int, shape (n_parts,)
        The first column of each part.
    labels : ndarray of int, shape (n_rows,)
    log_shares : ndarray of shape (n_rows, n_clusters + 1)
        Log probabilities of the clusters, before the cells are looked at.
    densities : ndarray of shape (n_parts, n_rows, n_clusters + 1)
        Log densities of the cells.
    """

    draw: int
    place: int
    chain: int
    members: np.ndarray
    labels: np.ndarray
    log_shares: np.ndarray
    densities: np.ndarray

    def take(self, rows: np.ndarray) -> ViewEvidence:
        """That of some of the rows."""
        own = {"labels": self.labels[rows], "log_shares": self.log_shares[rows], "densities": self.densities[:, rows]}
        return replace(self, **own)


@dataclass(frozen=True, eq=False)
class LeftOutEvidence:
    """The evidence of all views of some draws. The same serves to predict every column from the others.

    Attributes
    ----------
    rows : LeftOutRows
    views : list of ViewEvidence
    """

    rows: LeftOutRows
    views: list[ViewEvidence]

    @classmethod
    def of(cls, models: list[ColumnModel], chains: Sequence[Sequence[ViewsDraw]], rows: LeftOutRows) -> LeftOutEvidence:
        """The evidence of the draws from which pools are learned."""
        draws, owners = [draw for chain in chains for draw in chain], owners_of(chains)
        data, cells = [model.data(rows.arrays) for model in models], DistinctRows.of(models, rows.arrays)
        views = []
        for s in used_draws(chains):
            for v, view in enumerate(draws[s].views):
                labels = rows.seen.labels[s][v]
                factor = LeaveOneOut(models, view, draws[s].members(v), data, labels, rows.seen.completed(draws[s]))
                log_shares, parts = factor.log_shares(cells), dict(evidence_of_parts(factor, cells, NO_COLUMN))
                densities = np.array([np.broadcast_to(own, log_shares.shape) for own in parts.values()])
                views.append(ViewEvidence(s, v, owners[s], np.array(list(parts)), labels, log_shares, densities))
        return cls(rows, views)

    def take(self, rows: np.ndarray) -> LeftOutEvidence:
        """That of some of the rows."""
        return LeftOutEvidence(self.rows.take(rows), [view.take(rows) for view in self.views])


def _n_parts(models, members) -> int:
    """Columns, and all joint reals as one."""
    joint = [models[m].joint for m in members]
    return len(joint) - max(sum(joint) - 1, 0)


def _some(places, most):
    """At most so many of some places, but at least one, evenly spaced."""
    return places[np.linspace(0, len(places) - 1, min(len(places), max(most, 1))).astype(int)]
