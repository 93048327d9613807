"""The values of categorical and ordinal columns, in their order."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn_subanneal.tables.cells import Cells


def ordered_levels(cells: Cells) -> np.ndarray:
    """The levels of an ordinal column, from the lowest to the highest.

    Returns
    -------
    levels : ndarray of shape (n_levels,)
        All that an ordered dtype declares, in its order; else the numbers that occur, sorted.

    Raises
    ------
    ValueError
        If the values are not numbers and their dtype declares no order.
    """
    if cells.ordered:
        return _as_array(cells.levels)
    values = cells.factored()[0]
    for value in values:
        if not is_number(value):
            raise ValueError(
                f"Column {cells.name!r} must be ordinal but holds {value!r} (type {type(value).__name__}), and its "
                f"dtype {cells.dtype} declares no order: make it an ordered categorical (pandas.CategoricalDtype with "
                "ordered=True, polars.Enum), convert its values to numbers, or declare it 'categorical' in "
                "feature_types."
            )
    return sorted_values(cells.name, values)


def sorted_values(name: str, values: list) -> np.ndarray:
    """Values in their own order, numeric or of objects."""
    try:
        values = sorted(values)
    except TypeError as error:
        raise ValueError(
            f"Column {name!r} mixes values of type {type_names({type(value) for value in values})}, which have no "
            "common order: convert them all to strings or all to numbers."
        ) from error
    return _as_array(values)


def _as_array(values: Sequence) -> np.ndarray:
    """Values as an array of numbers, or of objects."""
    if all(map(is_number, values)):
        array = np.asarray(values)
        if array.dtype.kind in "biuf" and array.tolist() == list(values):
            return array
    array = np.empty(len(values), dtype=object)
    for code, value in enumerate(values):
        array[code] = value
    return array


def is_number(value) -> bool:
    return isinstance(value, (numbers.Real, Decimal, np.bool_))


def type_names(types: Iterable[type]) -> str:
    return ", ".join(sorted(kind.__name__ for kind in types))
