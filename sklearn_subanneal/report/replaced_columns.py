"""Replaced columns: a table in which some columns have other cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def with_columns(table: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """A copy of a table with other cells in some columns.

    Their names may be any, where those that ``DataFrame.assign`` takes may not be names of its own arguments.

    Parameters
    ----------
    table : DataFrame
    columns : mapping of str to array-like

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.replaced_columns import with_columns
    >>> with_columns(pd.DataFrame({"self": [1, 2]}), {"self": [3, 4]})["self"].tolist()
    [3, 4]
    """
    out = table.copy()
    for name, cells in columns.items():
        out[name] = cells
    return out
