"""Draws of missing cells: of new rows, each given its observed cells, and of one column of the rows of a draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns._limited_cells import cells_between
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.ensemble import Ensemble, missing

# Of cells beyond the range of the training cells, in one cluster; and other draws and clusters after that.
N_TRIES, N_ROUNDS = 20, 10


def filled_by_draws(average: Ensemble, arrays: list[np.ndarray], generator: np.random.Generator) -> list[np.ndarray]:
    """Rows whose missing cells are drawn from the predictive distribution given the observed ones.

    A draw of the posterior is chosen for each row, by the density that it gives to its observed cells, and a cluster in
    each of its mixtures; the missing cells of the row are drawn together. Joint reals are drawn within the range of
    their training cells. In a cluster that has no cell of a column, these may all be far beyond: then another draw of
    the posterior is chosen for the row.

    Parameters
    ----------
    average : Ensemble
    arrays : list of ndarray of shape (n_rows,)
        Typed columns.
    generator : numpy.random.Generator

    Returns
    -------
    filled : list of ndarray of shape (n_rows,)
        Typed columns without missing cells.
    """
    filled, gaps = [np.array(array) for array in arrays], missing(arrays)
    holes = np.flatnonzero(gaps.any(axis=1))
    for part, cells in average.cells([array[holes] for array in arrays], average.most_terms, holes):
        rows = holes[part]
        values = [model.admissible(own) for model, own in zip(average.models, cells.values, strict=True)]
        cells = replace(cells, values=values)
        logs = average.log_densities(cells) + average.log_weights[:, None]
        logs = np.broadcast_to(logs, (len(logs), len(rows))).T
        given = [cells.spread(m, own) for m, own in enumerate(values)]
        given = [np.broadcast_to(own, (len(rows), own.shape[1])) for own in given]
        whole, left = [np.array(own) for own in given], np.arange(len(rows))
        for n_rounds in range(N_ROUNDS + 1):
            chosen = _drawn_places(logs[left], generator)
            drawn, beyond = _drawn_rows(average, [own[left] for own in given], chosen, n_rounds < N_ROUNDS, generator)
            for own, column in zip(whole, drawn, strict=True):
                own[left] = column
            left = left[beyond]
            if not left.size:
                break
        for m, model in enumerate(average.models):
            asked = gaps[np.ix_(rows, model.sources)]
            at = np.flatnonzero(asked.any(axis=1))
            if at.size:
                for i, (j, column) in enumerate(zip(model.sources, model.typed(whole[m][at]), strict=True)):
                    filled[j][rows[at[asked[at, i]]]] = column[asked[at, i]]
    return filled


def _drawn_rows(average, given, chosen, may_fail, generator) -> tuple[list[np.ndarray], np.ndarray]:
    """The cells of each model, missing ones drawn by the chosen draws; and which rows have joint reals out of range.

    None has, unless this ``may_fail``.
    """
    whole, beyond = [np.array(own) for own in given], np.zeros(len(chosen), bool)
    for index in np.unique(chosen):
        some = np.flatnonzero(chosen == index)
        own = DistinctRows(len(some), [cells[some] for cells in given], [None] * len(given))
        for factor in average.products[index]:
            joint = np.broadcast_to(factor.log_joint(own), (len(some), factor.n_clusters + 1))
            clusters = _drawn_places(joint, generator).astype(np.int32)
            for part in factor.parts:
                cells = np.ascontiguousarray(part.side_by_side(own.values))
                drawn = part.statistics.draws(clusters, np.array(cells), generator)
                if part.is_block:
                    ranges = ranges_of([average.models[m] for m in part.members])
                    again = partial(_draw_again, part, clusters, cells, generator)
                    lost = draw_within(drawn, np.isnan(cells), ranges, again)
                    if may_fail:
                        beyond[some[lost]] = True
                    elif lost.size:
                        drawn[lost] = cells_between(part.statistics, cells[lost], clusters[lost], ranges, generator)
                for m, column in zip(part.members, np.hsplit(drawn, len(part.members)), strict=True):
                    whole[m][some] = column
    return whole, beyond


def _draw_again(part, clusters, cells, generator, rows):
    return part.statistics.draws(clusters[rows], cells[rows], generator)


def draw_within(
    values: np.ndarray, asked: np.ndarray, limits: np.ndarray, again: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Draw cells again, in place, that are beyond the ranges of their columns.

    In a cluster of few rows the tails are those of a t with few degrees of freedom, in the logarithm if the column is
    skewed: a single draw may then be larger than all cells of the table together. Rows with such cells are drawn again,
    at most 20 times.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_members)
        Joint reals in standard units.
    asked : ndarray of bool of this shape
        The cells that were drawn.
    limits : ndarray of shape (2, n_members)
        See :func:`ranges_of`.
    again : callable
        ``again(rows)`` are these rows, drawn once more.

    Returns
    -------
    rows : ndarray of int
        Those with cells that are beyond still: rows of clusters that have not one cell of a column, whose values may
        be anywhere, and of those that are far from it.
    """
    rows = rows_beyond(values, asked, limits)
    for _ in range(N_TRIES):
        if not rows.size:
            break
        values[rows] = again(rows)
        rows = rows_beyond(values, asked, limits)
    return rows


def ranges_of(models: list[ColumnModel]) -> np.ndarray:
    """The ranges of the training cells of joint reals, (2, n_models), in standard units."""
    return np.array([[model.low, model.high] for model in models]).T


def rows_beyond(values: np.ndarray, asked: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """The rows in which one of the ``asked`` cells is beyond the limits of its column, (2, n_columns)."""
    return np.flatnonzero((asked & ((values < limits[0]) | (values > limits[1]))).any(axis=1))


def _drawn_places(logs: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """For each row the index of one of its entries, with the probability of which this is the logarithm plus any."""
    shares = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
    return (shares <= generator.random(len(shares))[:, None] * shares[:, -1:]).sum(axis=1)


def drawn_in_turn(
    model: ColumnModel,
    statistics: ColumnStatistics,
    n_clusters: int,
    labels: np.ndarray,
    generator: np.random.Generator,
) -> np.ndarray:
    """Missing cells of one column in some rows, from their joint distribution given the clusters of these rows.

    Each is drawn given the observed cells of its cluster and those that were drawn before it, so that the cells of a
    cluster share what is not known of it; and given that it is within ``drawn_between`` of the model. One that is not
    has no part in the cluster: all later ones would follow it.

    Parameters
    ----------
    model : ColumnModel
        Of a single column.
    statistics : ColumnStatistics
        Of the observed cells. The drawn ones are added.
    n_clusters : int
    labels : ndarray of int32, shape (n_rows,)
        The cluster of each row.
    generator : numpy.random.Generator

    Returns
    -------
    cells : ndarray of shape (n_rows,)
        Typed.
    """
    values, out = model.admissible(np.full((len(labels), 1), np.nan)), np.empty(len(labels), model.dtype)
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(order)))
    # One cell of each cluster at a time: clusters are independent.
    for turn in range(lengths.max(initial=0)):
        rows = order[starts[lengths > turn] + turn]
        slots = labels[rows]
        out[rows] = _limited_draws(model, statistics, slots, values[rows], generator)
        added = model.statistics(model.data({model.sources[0]: out[rows]}), statistics.parameters)
        added.rebuild(slots)
        statistics.set_state(_summed(statistics.get_state(n_clusters), added.get_state(int(slots.max()) + 1)))
    return out


def _limited_draws(model, statistics, slots, values, generator) -> np.ndarray:
    """A typed cell from each of these slots, within ``drawn_between``; ``values`` are NaN, or marked as admissible."""
    (cells,) = model.typed(statistics.draws(slots, values, generator))
    if model.drawn_between is not None:
        low, high = model.drawn_between[:, 0]
        beyond = np.flatnonzero((cells < low) | (cells > high))
        if beyond.size:
            # Of a limit, rounding may be on the other side.
            (drawn,) = model.typed(model.draws_between(statistics, slots[beyond], generator))
            cells[beyond] = np.clip(drawn, low, high)
    return cells


def _summed(state: dict, other: dict) -> dict:
    """The state of the rows of two, of which the second has fewer clusters, with the hyperparameters of the first."""
    out = dict(state)
    for name, sums in other.items():
        if name != "parameters":
            out[name] = np.array(state[name])
            out[name][..., : sums.shape[-1]] += sums
    return out


def spread_draws(weights: np.ndarray, n: int, generator: np.random.Generator) -> np.ndarray:
    """Indices of n draws, each as often as its weight asks for, up to one: systematic sampling."""
    ends = np.cumsum(weights / weights.sum())
    return np.searchsorted(ends, (np.arange(n) + generator.random()) / n, side="right").clip(max=len(weights) - 1)
