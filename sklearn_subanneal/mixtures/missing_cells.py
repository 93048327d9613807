"""Draws of missing cells: of new rows, each given its observed cells, and of one column of the rows of a draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.ensemble import Ensemble, missing

# Of cells beyond the range of the training cells.
N_TRIES = 20


def filled_by_draws(average: Ensemble, arrays: list[np.ndarray], generator: np.random.Generator) -> list[np.ndarray]:
    """Rows whose missing cells are drawn from the predictive distribution given the observed ones.

    A draw of the posterior is chosen for each row, by the density that it gives to its observed cells, and a cluster in
    each of its mixtures; the missing cells of the row are drawn together.

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
        chosen = _drawn_places(np.broadcast_to(logs, (len(logs), len(rows))).T, generator)
        whole = [cells.spread(m, own) for m, own in enumerate(values)]
        whole = [np.array(np.broadcast_to(own, (len(rows), own.shape[1]))) for own in whole]
        for index in np.unique(chosen):
            some = np.flatnonzero(chosen == index)
            own = DistinctRows(len(some), [cells[some] for cells in whole], [None] * len(whole))
            for factor in average.products[index]:
                joint = np.broadcast_to(factor.log_joint(own), (len(some), factor.n_clusters + 1))
                clusters = _drawn_places(joint, generator).astype(np.int32)
                for block in factor.parts:
                    drawn = np.ascontiguousarray(block.side_by_side(own.values))
                    asked = np.isnan(drawn)
                    block.statistics.draws(clusters, drawn, generator)
                    if block.is_block:

                        def again(at, block=block, asked=asked, drawn=drawn, clusters=clusters):
                            cells = np.where(asked[at], np.nan, drawn[at])
                            return block.statistics.draws(clusters[at], cells, generator)

                        drawn = drawn_within(drawn, asked, [average.models[m] for m in block.members], again)
                    for m, column in zip(block.members, np.hsplit(drawn, len(block.members)), strict=True):
                        whole[m][some] = column
        for m, model in enumerate(average.models):
            asked = gaps[np.ix_(rows, model.sources)]
            at = np.flatnonzero(asked.any(axis=1))
            if at.size:
                for i, (j, column) in enumerate(zip(model.sources, model.typed(whole[m][at]), strict=True)):
                    filled[j][rows[at[asked[at, i]]]] = column[asked[at, i]]
    return filled


def drawn_within(
    values: np.ndarray, asked: np.ndarray, models: list[ColumnModel], again: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Drawn cells of joint reals within the ranges of their training cells.

    In a cluster of few rows the tails are those of a t with few degrees of freedom, in the logarithm if the column is
    skewed: a single draw may then be larger than all cells of the table together. Rows with such cells are drawn again,
    at most 20 times, and what is outside then takes the end of the range.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_members)
        In standard units.
    asked : ndarray of bool of this shape
        The cells that were drawn.
    models : list of JointReal
    again : callable
        ``again(rows)`` are these rows, drawn once more.

    Returns
    -------
    values : ndarray of shape (n_rows, n_members)
    """
    low, high = np.array([[model.low, model.high] for model in models]).T
    for _ in range(N_TRIES):
        rows = np.flatnonzero((asked & ((values < low) | (values > high))).any(axis=1))
        if not rows.size:
            return values
        values[rows] = again(rows)
    return np.where(asked, np.clip(values, low, high), values)


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
    cluster share what is not known of it.

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
    values = model.admissible(np.full((len(labels), 1), np.nan))
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(order)))
    # One cell of each cluster at a time: clusters are independent.
    for turn in range(lengths.max(initial=0)):
        rows = order[starts[lengths > turn] + turn]
        slots, drawn = labels[rows], values[rows]
        values[rows] = statistics.draws(slots, drawn, generator)
        (cells,) = model.typed(values[rows])
        added = model.statistics(model.data({model.sources[0]: cells}), statistics.parameters)
        added.rebuild(slots)
        statistics.set_state(_summed(statistics.get_state(n_clusters), added.get_state(int(slots.max()) + 1)))
    return model.typed(values)[0]


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
