"""Quantiles of one column of a new row by probabilities of events: of counts, levels, and amounts with atoms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.estimators._event_columns import codes_of_source, in_interval, order_of
from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.mixtures.event_probabilities import event_probabilities
from sklearn_subanneal.mixtures.events import Condition
from sklearn_subanneal.tables.column import Column

# Where a search begins, from the least positive number to the largest one; and into how many parts and how often what
# is left is divided: so often that no number is left between its ends, and an atom, at which the distribution function
# jumps, is found exactly.
POWERS = np.append(2.0 ** np.arange(-1074, 1024, 8), np.finfo(np.float64).max)
START = np.concatenate([-POWERS[::-1], [0.0], POWERS])
N_PARTS, N_DIVISIONS = 64, 11
# Of counts, what is left is divided into so many parts until it is one count.
N_PARTS_OF_COUNTS, LARGEST_COUNT = 8, 2.0**31


def quantiles_by_events(
    average: Ensemble, column: Column, at: list[int], cells: list[np.ndarray], levels: np.ndarray
) -> np.ndarray:
    """Quantiles of a column that has categories with an order, counts, or amounts with atoms.

    The quantile of a level p is the least value that is not exceeded with probability p or more: of categories one of
    these, of counts a whole number, and an atom where the distribution function jumps over p at an atom.

    Parameters
    ----------
    average : Ensemble
    column : Column
        Of the user's table.
    at : list of int
        Its parts among the modelled columns.
    cells : list of ndarray of shape (1,)
        Typed cells of the row, those of the column missing.
    levels : ndarray of shape (n_quantiles,)

    Returns
    -------
    values : ndarray of shape (n_quantiles,)

    Raises
    ------
    ValueError
        If the values of the column have no order.
    """
    if column.categories is not None:
        order = order_of(column)
        if order is None:
            raise ValueError(
                f"Column {column.name!r} is {column.kind}, and its categories are texts without an order, which have "
                "no quantiles: ask for probabilities of events, or declare it 'ordinal' (by feature_types, or in the "
                "command by --types for a new fit)."
            )
        events = [Condition(at[0], codes_of_source(column, frozenset([code]))) for code in order.tolist()]
        below = np.cumsum(event_probabilities(average, events, cells))
        places = np.searchsorted(below, levels * below[-1] * (1.0 - 1e-12))
        values = column.categories[order[np.minimum(places, len(order) - 1)]]
        return values.astype(column.dtype) if column.dtype in ("int64", "float64") else values
    if column.kind == "datetime":
        raise ValueError(
            f"Column {column.name!r} is datetime, modelled by several parts, and has no quantiles here: for questions "
            "about it, fit with the numbers of days as a column of reals."
        )
    if column.kind not in ("count", "semicontinuous"):
        raise ValueError(
            f"Column {column.name!r} is {column.kind}, and such columns have no quantiles here: ask for probabilities "
            "of events, or declare it 'real' (by feature_types, or in the command by --types for a new fit)."
        )

    def distribution(values: np.ndarray) -> np.ndarray:
        events = [in_interval(column, at, Interval(high=value, has_high=True)) for value in values.tolist()]
        return event_probabilities(average, events, cells)

    return (_least_count if column.kind == "count" else _least_number)(distribution, levels)


def _least_count(distribution: Callable, levels: np.ndarray) -> np.ndarray:
    """The least counts at which a distribution function, which takes longer for larger ones, reaches the levels."""
    top = 1.0
    while distribution(np.array([top]))[0] < levels.max() and top < LARGEST_COUNT:
        top *= 4.0
    low, high = np.full(len(levels), -1.0), np.full(len(levels), top)
    while (high - low > 1.0).any():
        values = np.floor(np.linspace(low, high, N_PARTS_OF_COUNTS + 1, axis=1))
        distinct, places = np.unique(values, return_inverse=True)
        low, high = _ends(values, distribution(distinct)[places.reshape(values.shape)] >= levels[:, None])
    return high


def _least_number(distribution: Callable, levels: np.ndarray) -> np.ndarray:
    """The least numbers at which a distribution function reaches the levels."""
    values = np.tile(START, (len(levels), 1))
    low, high = _ends(values, np.tile(distribution(START), (len(levels), 1)) >= levels[:, None])
    for _ in range(N_DIVISIONS):
        values = np.linspace(low, high, N_PARTS + 1, axis=1)
        low, high = _ends(values, distribution(values.ravel()).reshape(values.shape) >= levels[:, None])
    return high


def _ends(values: np.ndarray, is_reached: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In each line the first value where the level is reached, and the one before it."""
    # Rounding may leave a line without one, which is then the last, or reach it at once.
    place = np.where(is_reached.any(axis=1), np.maximum(np.argmax(is_reached, axis=1), 1), values.shape[1] - 1)
    rows = np.arange(len(values))
    return values[rows, place - 1], values[rows, place]
