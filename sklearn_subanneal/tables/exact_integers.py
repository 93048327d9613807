"""Whole numbers with more digits than floating point keeps, such as identifiers of 18 digits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.tables.numerals import LARGEST_EXACT

if TYPE_CHECKING:
    import pandas as pd

_WHOLE = r"[+-]?[0-9]+"


def are_changed(numbers: Iterable[int]) -> bool:
    """Whether some whole numbers are others as floating-point numbers.

    Examples
    --------
    >>> from sklearn_subanneal.tables.exact_integers import are_changed
    >>> are_changed([10**18]), are_changed([10**18 + 1])
    (False, True)
    """
    return any(abs(own) > LARGEST_EXACT and _changed(own) for own in numbers)


def exact_integers(cells: pd.Series) -> pd.Series | None:
    """Cells that are whole numbers, or texts that spell such, in a dtype that keeps their digits beside missing cells.

    Parameters
    ----------
    cells : Series
        Of int or str, and missing cells.

    Returns
    -------
    integers : Series of Int64 or UInt64, or None
        None if floating-point numbers are as good, a cell is no whole number, or such numbers are larger than those of
        these dtypes.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.tables.exact_integers import exact_integers
    >>> exact_integers(pd.Series(["1049726791274147373", None])).tolist()
    [1049726791274147373, <NA>]
    >>> exact_integers(pd.Series(["1", None])) is None
    True
    """
    import pandas as pd

    numbers = long_integers(cells)
    if numbers is None:
        return None
    low, high = min(numbers), max(numbers)
    dtype = "Int64" if -(2**63) <= low and high < 2**63 else "UInt64" if low >= 0 and high < 2**64 else None
    if dtype is None:
        return None
    out = pd.Series(pd.NA, cells.index, dtype=dtype, name=cells.name)
    out[cells.notna()] = pd.array(numbers, dtype=dtype)
    return out


def long_integers(cells: pd.Series) -> list[int] | None:
    """The whole numbers of cells that are not missing, if as floating-point numbers some would be others; else None."""
    seen = cells.dropna()
    if not len(seen):
        return None
    first = seen.iloc[0]
    if isinstance(first, str):
        if not seen.str.fullmatch(_WHOLE).all():
            return None
    elif not all(isinstance(own, int | np.integer) and not isinstance(own, bool) for own in seen):
        return None
    numbers = [int(own) for own in seen]
    return numbers if are_changed(numbers) else None


def _changed(number: int) -> bool:
    try:
        return int(float(number)) != number
    except OverflowError:
        return True
