"""indicated_columns: the columns that get a missing indicator, by the parameter ``missing_indicator``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral

import numpy as np
from scipy.sparse import issparse

MISSING_ONLY = "missing-only"


def indicated_columns(missing_indicator, names: list[str], gaps: Sequence[np.ndarray]) -> set[int]:
    """Indices of the columns that ``missing_indicator`` asks for.

    Parameters
    ----------
    missing_indicator : None, "missing-only", or iterable of str or int
        None: no columns. "missing-only": those with missing cells, as in :class:`sklearn.impute.MissingIndicator`. Else
        names or indices (the name wins).
    names : list of str
        Of the columns.
    gaps : sequence of ndarray of bool
        Which cells of each column are missing.

    Returns
    -------
    columns : set of int

    Raises
    ------
    ValueError
        If it is none of these, or names an unknown column.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.missing_indicators import indicated_columns
    >>> gaps = [np.array([True, False]), np.array([False, False])]
    >>> indicated_columns("missing-only", ["age", "fare"], gaps)
    {0}
    >>> indicated_columns(["fare"], ["age", "fare"], gaps)
    {1}
    """
    if missing_indicator is None:
        return set()
    if isinstance(missing_indicator, str) and missing_indicator == MISSING_ONLY:
        return {j for j, missing in enumerate(gaps) if missing.any()}
    if isinstance(missing_indicator, np.ndarray):
        missing_indicator = missing_indicator.tolist()
    if isinstance(missing_indicator, str) or issparse(missing_indicator) or not isinstance(missing_indicator, Iterable):
        raise ValueError(
            f"missing_indicator must be None, {MISSING_ONLY!r} or names or indices of columns, got "
            f"{missing_indicator!r}."
        )
    chosen = set()
    for column in missing_indicator:
        if column in names:
            chosen.add(names.index(column))
        elif isinstance(column, Integral) and not isinstance(column, bool) and 0 <= column < len(names):
            chosen.add(int(column))
        else:
            raise ValueError(
                f"missing_indicator names the unknown column {column!r}. Columns are {', '.join(map(repr, names[:20]))}"
                f"{', ...' * (len(names) > 20)}, or the indices 0 to {len(names) - 1}."
            )
    return chosen
