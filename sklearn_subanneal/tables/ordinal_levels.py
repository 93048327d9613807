"""ordered_levels: the levels of an ordinal column, as its dtype declares them, or its numbers sorted."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.value_order import is_number, sorted_values, values_array


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
        return values_array(cells.levels)
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
