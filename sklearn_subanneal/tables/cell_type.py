"""CellType: the attributes of a column type by which a table reads its cells: dtype, categories, order, split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class CellType(Protocol):
    """The attributes of a column type on which reading a table relies; column models implement it.

    Attributes
    ----------
    kind : str
        The name of the type.
    declared : bool
        Whether ``feature_types`` may name it.
    dtype : type
        Type of the typed cells: float64 with NaN for missing, or integers with -1 for missing.
    largest : int or None
        Largest integer, where cells are integers from 0; None: the cells are reals.
    remedy : str
        Advice for a cell that is not such a number, for error messages.
    categories : tuple or None
        The values that the type has in every table.
    coded : bool
        Whether the values that occur are its categories.
    ordered : bool
        Whether these have an order: that of the dtype, or of the numbers.
    split : callable or None
        ``split(cells, types)`` is the :class:`~sklearn_subanneal.tables.column.Split` of a column of training data that
        is modelled by several columns, of these types; None: by one.
    """

    kind: str
    declared: bool
    dtype: type
    largest: int | None
    remedy: str
    categories: tuple | None
    coded: bool
    ordered: bool
    split: Callable | None
