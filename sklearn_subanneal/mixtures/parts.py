"""The parts of a mixture, independent given the cluster: single columns, and blocks of columns with a joint density."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sklearn_subanneal.columns._base import ColumnData, ColumnStatistics
from sklearn_subanneal.columns._mvnormal import GaussianStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.columns.t_boxes import t_box_probabilities, t_interval_probabilities

# The values that an event leaves to a cell: codes of categories, or disjoint intervals of numbers.
Values = frozenset[int] | tuple[Interval, ...]


@dataclass(frozen=True, eq=False)
class Part:
    """Statistics of each cluster, and the models whose cells they score.

    Attributes
    ----------
    members : list of int
        Indices of the models: one, or those of a block.
    statistics : ColumnStatistics
        Of a block: a row of its values has one cell for each member.
    is_block : bool
        Whether this is the block of the joint reals of a view, even if there is only one.
    """

    members: list[int]
    statistics: ColumnStatistics
    is_block: bool = False

    def side_by_side(self, values: Sequence[np.ndarray] | Mapping[int, np.ndarray]) -> np.ndarray:
        """The values of the members, (n_rows, width), from ``values[m]`` for each member m."""
        return np.hstack([values[m] for m in self.members]) if self.is_block else values[self.members[0]]

    def expectations(
        self, models: list[ColumnModel], values: np.ndarray, weights: np.ndarray
    ) -> dict[int, tuple[np.ndarray, np.ndarray | None]]:
        """The result of :meth:`ColumnModel.expectations` for each member.

        Parameters
        ----------
        models : list of ColumnModel
        values : ndarray of shape (n_rows, width) or (1, width)
        weights : ndarray of shape (n_rows, n_clusters) or (1, n_clusters)
            Probabilities of the clusters given the observed cells of each row.
        """
        if not self.is_block:
            (m,) = self.members
            return {m: models[m].expectations(self.statistics, values, weights)}
        n_rows = max(len(values), len(weights))
        values, weights = (
            np.ascontiguousarray(np.broadcast_to(array, (n_rows, array.shape[1]))) for array in (values, weights)
        )
        first, second = self.statistics.mixed_moments(values, weights)
        return {m: (first[:, i, None], second[:, i, None]) for i, m in enumerate(self.members)}

    def t_of_member(self, member: int, values: np.ndarray, n_clusters: int) -> tuple[np.ndarray, ...]:
        """The t distribution of a missing real cell of each row in each cluster, given the observed cells.

        Parameters
        ----------
        member : int
            The model of the cell.
        values : ndarray of shape (n_rows, width)
        n_clusters : int

        Returns
        -------
        location, scale, free : ndarray of shape (n_rows, n_clusters)
            In standard units; ``free`` are degrees of freedom.
        """
        location, square, free = self.statistics.conditional_t(np.ascontiguousarray(values), n_clusters)
        at = self.members.index(member)
        return location[:, :, at], np.sqrt(square[:, :, at]), free

    def box_probabilities(
        self, models: list[ColumnModel], boxes: Sequence[Mapping[int, Values]], row: np.ndarray, n_clusters: int
    ) -> np.ndarray:
        """Probabilities in each cluster that missing cells are in boxes of values, given the observed cells.

        Exact, but for two or more cells of a block; see :func:`t_box_probabilities`.

        Parameters
        ----------
        models : list of ColumnModel
        boxes : sequence of mapping of int to set of codes, or to tuple of Interval
            Each has the values, in the units of the data, of some members whose cells are missing; other cells are
            free. A cell of a discrete type is supposed to have one of the known categories.
        row : ndarray of shape (1, width)
            The observed cells of the members.
        n_clusters : int

        Returns
        -------
        probabilities : ndarray of shape (n_boxes, n_clusters)
        """
        out, alone = np.ones((len(boxes), n_clusters)), {}
        for i, box in enumerate(boxes):
            if len(box) == 1:
                alone.setdefault(next(iter(box)), []).append(i)
            elif box:
                members = [m for m in self.members if m in box]
                t = self._t_of_members([self.members.index(m) for m in members], row[0], n_clusters)
                corners = product(*(models[m].standard_ends(box[m]).T for m in members))
                out[i] = sum(t_box_probabilities(*t, *np.transpose(corner)) for corner in corners)
        for m, at in alone.items():
            out[at] = self.cell_probabilities(models[m], m, [boxes[i][m] for i in at], row, n_clusters)
        return out

    def cell_probabilities(
        self, model: ColumnModel, m: int, values: Sequence[Values], row: np.ndarray, n_clusters: int
    ) -> np.ndarray:
        """Probabilities in each cluster that the missing cell of one member has one of some values.

        As :meth:`box_probabilities` of boxes of this member alone.

        Parameters
        ----------
        model : ColumnModel
        m : int
            Its index.
        values : sequence of set of codes, or of tuple of Interval
        row : ndarray of shape (1, width)
        n_clusters : int

        Returns
        -------
        probabilities : ndarray of shape (n_values, n_clusters)
        """
        if model.discrete:
            known = model.probabilities(self.statistics.probabilities(n_clusters))
            return np.array([known[:, sorted(codes)].sum(axis=1) for codes in values])
        intervals = [own for some in values for own in some]
        if self.is_block:
            location, scale, free = self.t_of_member(m, row, n_clusters)
            low, high = model.standard_ends(intervals)[:, :, None]
            each = t_interval_probabilities(location, scale, free, low, high)
        else:
            each = model.interval_probabilities(self.statistics, intervals, n_clusters)
        return np.add.reduceat(each, np.cumsum([0, *map(len, values)])[:-1])

    def scale_matrices(self, n_clusters: int) -> np.ndarray:
        """Scale matrices of the predictive t distribution of a block, nothing observed, (n_clusters, width, width)."""
        width = self.statistics.width
        return self._t_of_members(np.arange(width), np.full(width, np.nan), n_clusters)[1]

    def _t_of_members(self, at, row, n_clusters):
        """Location, scale matrix and degrees of freedom of the cells of a block at some places, in each cluster."""
        given = np.flatnonzero(~np.isnan(row))
        places = np.sort([*given, *at])
        state = marginal_of_block(self.statistics.get_state(n_clusters), places)
        prior, count = state["parameters"], state["count"]
        kappa, free = prior["kappa"] + count, prior["nu"] + count - len(places) + 1.0
        location = (prior["kappa"] * prior["mu"] + state["total"]) / kappa[:, None]
        square = np.tril(state["square"])
        square = square + np.tril(square, -1).transpose(0, 2, 1)
        square = prior["psi"] + square + prior["kappa"] * np.outer(prior["mu"], prior["mu"])
        square = square - kappa[:, None, None] * location[:, :, None] * location[:, None, :]
        scale = square * ((kappa + 1.0) / (kappa * free))[:, None, None]
        if not len(given):
            return location, scale, free
        # P. Ding (2016), On the conditional distribution of the multivariate t distribution, American Statistician 70.
        known, asked = np.isin(places, given), np.isin(places, at)
        slope = np.linalg.solve(scale[:, known][:, :, known], scale[:, known][:, :, asked])
        off = row[given] - location[:, known]
        distance = np.einsum("ki,kij,kj->k", off, np.linalg.inv(scale[:, known][:, :, known]), off)
        rest = scale[:, asked][:, :, asked] - scale[:, asked][:, :, known] @ slope
        return (
            location[:, asked] + np.einsum("ki,kij->kj", off, slope),
            rest * ((free + distance) / (free + len(given)))[:, None, None],
            free + len(given),
        )


def joint_members(models: list[ColumnModel], members: Sequence[int]) -> list[int]:
    """Those members of a mixture that are one block."""
    return [int(m) for m in members if models[m].joint]


def parts_of(
    models: list[ColumnModel], members: Sequence[int], states: list[dict], data: list[ColumnData] | None = None
) -> list[Part]:
    """The parts of a mixture, with the statistics of a draw.

    Parameters
    ----------
    models : list of ColumnModel
    members : sequence of int
        Indices of the models of this mixture.
    states : list of dict
        States of the statistics of the members that are in no block, in their order, then of the block, if any.
    data : list of ColumnData or None, default=None
        The training rows for each of the models; a block does without.
    """
    block = joint_members(models, members)
    parts = []
    for m, state in zip((m for m in members if m not in block), states[: -1 if block else None], strict=True):
        statistics = models[m].statistics(None if data is None else data[m], state["parameters"])
        parts.append(Part([int(m)], statistics))
    if block:
        parts.append(Part(block, GaussianStatistics(None, states[-1]["parameters"]), is_block=True))
    for part, state in zip(parts, states, strict=True):
        n_columns = sum(len(models[m].sources) for m in part.members)
        if isinstance(part.statistics, GaussianStatistics) and part.statistics.width != n_columns:
            # Kernels take rows to be as wide as the statistics. A file may have been changed.
            raise ValueError(
                f"the model has statistics of {part.statistics.width} columns for a block of {n_columns}; fit it anew"
            )
        part.statistics.set_state(state)
    return parts


def marginal_states(
    models: list[ColumnModel], members: Sequence[int], states: list[dict], columns: Collection[int]
) -> tuple[list[int], list[dict]]:
    """Those members of a mixture that are among some columns, and the states of their statistics.

    Parameters
    ----------
    models, members, states
        See :func:`parts_of`.
    columns : collection of int
    """
    block = joint_members(models, members)
    single = (m for m in members if m not in block)
    kept = [state for m, state in zip(single, states, strict=False) if m in columns]
    at = np.flatnonzero([m in columns for m in block])
    if at.size:
        kept.append(marginal_of_block(states[-1], at))
    return [int(m) for m in members if m in columns], kept


def marginal_of_block(state: dict, at: np.ndarray) -> dict:
    """State of a block of some columns, from that of the block of more columns.

    A normal-inverse-Wishart distribution of fewer columns has the part of the scale matrix that is theirs, and one
    degree of freedom less for each column left out.

    Parameters
    ----------
    state : dict
        Of :class:`GaussianStatistics`.
    at : ndarray of int
        Places of the columns in the block, increasing.
    """
    parameters, square = state["parameters"], (slice(None), at[:, None], at)
    return {
        "count": state["count"],
        "total": state["total"][:, at],
        "square": state["square"][square],
        "total_rest": state["total_rest"][:, at],
        "square_rest": state["square_rest"][square],
        "parameters": {
            "mu": parameters["mu"][at],
            "kappa": parameters["kappa"],
            "psi": parameters["psi"][square[1:]],
            "nu": parameters["nu"] - (len(parameters["mu"]) - len(at)),
        },
    }
