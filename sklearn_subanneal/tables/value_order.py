"""Values of a column sorted by <, an error if they have no common order; arrays of such values."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np


def sorted_values(name: str, values: list) -> np.ndarray:
    """Values in their own order, numeric or of objects."""
    try:
        values = sorted(values)
    except TypeError as error:
        raise ValueError(
            f"Column {name!r} mixes values of type {type_names({type(value) for value in values})}, which have no "
            "common order: convert them all to strings or all to numbers."
        ) from error
    return values_array(values)


def values_array(values: Sequence) -> np.ndarray:
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
