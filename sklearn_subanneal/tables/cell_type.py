"""The part of a type of column on which reading a table relies: its dtype, its range, its categories."""

from __future__ import annotations

from typing import Protocol


class CellType(Protocol):
    """The part of a type of column that reading a table relies on; the models of columns fulfil it.

    Attributes
    ----------
    kind : str
        The name of the type.
    declared : bool
        Whether ``feature_types`` may name it.
    dtype : type
        Of the typed cells: float64 with NaN for missing, or integers with -1 for missing.
    largest : int or None
        Of integers, which begin with 0; None: the cells are reals.
    remedy : str
        Advice for the error about a cell that is no such number.
    categories : tuple or None
        The values that the type has in every table.
    coded : bool
        Whether the values that occur are its categories.
    """

    kind: str
    declared: bool
    dtype: type
    largest: int | None
    remedy: str
    categories: tuple | None
    coded: bool
