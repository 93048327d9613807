"""start_rows: the rows on which chains start, drawn at random, and those with values that must not be lost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sklearn_subanneal.columns.binding import bind_table
from sklearn_subanneal.columns.domains import with_domains
from sklearn_subanneal.columns.few_levels import MOST_REPEATED
from sklearn_subanneal.shards.first_values import FirstRows, FirstValues
from sklearn_subanneal.shards.row_source import rows_of, together
from sklearn_subanneal.tables.cells import is_missing, pandas_cells
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.schema import Table


class StartRows(NamedTuple):
    """Some rows of a table.

    Attributes
    ----------
    rows : ndarray of int, shape (n_rows,)
        Their numbers, increasing.
    X : ndarray or pandas.DataFrame
    drawn : ndarray of int
        Where those are among them that were drawn at random.
    crowded : dict of int to int
        Columns with too many values to be told apart, and how many of their cells are missing in the whole table.
    """

    rows: np.ndarray
    X: object
    drawn: np.ndarray
    crowded: dict[int, int]


def start_rows(drawn: np.ndarray, found: FirstValues, take: Callable, read: Callable) -> StartRows:
    """Rows drawn at random, and the first ones with values that a table learned from these would count as missing.

    Such are categories and levels that they lack, and numbers that the type of the column does not take. Further values
    of a column of which they have a few are added as well, since its type depends on them, and a row in which a column
    is missing that has no gap in them. Of a column of very many numbers the least, the greatest, the first fraction and
    the first few numbers stand for all.

    Parameters
    ----------
    drawn : ndarray of int
        Numbers of rows drawn at random, increasing.
    found : FirstValues
        Of all rows.
    take : callable
        ``take(rows)``, some rows of the table.
    read : callable
        ``read(X)``, the schema of the rows X, and their typed columns.
    """
    rows, X = drawn, take(drawn)
    # None twice: it had been in vain.
    while (more := np.setdiff1d(_needed(found, X, read), rows)).size:
        rows = np.concatenate([rows, more])
        order = np.argsort(rows)
        rows, X = rows[order], rows_of(together([X, take(more)]), order)
    crowded = {j: own.n_gaps for j, own in enumerate(found.columns) if own.values is None}
    return StartRows(rows, X, np.flatnonzero(np.isin(rows, drawn)), crowded)


def _needed(found: FirstValues, X, read: Callable) -> np.ndarray:
    """Rows to be added to X."""
    known = FirstValues.of(X)
    lacking = found.without(known)
    if not lacking.rows().size:
        return lacking.rows()
    columns, needed = _learned(read, X).columns, []
    for column, own, some in zip(columns, lacking.columns, known.columns, strict=True):
        values = own.values
        if values is not None and len(values):
            lost = _are_lost(column, values)
            if some.values is not None:
                lost[: max(MOST_REPEATED - len(some.values), 0)] = True
            values = values[lost]
        needed.append(FirstRows(own.gap, own.n_gaps, values))
    return FirstValues(found.n_rows, needed, found.names).rows()


def _learned(read: Callable, X) -> Table:
    """The schema of X, which knows the numbers for which the models of its columns have a density."""
    with warnings.catch_warnings():
        # What is to be said of the columns is said when all rows of the start are there.
        warnings.simplefilter("ignore")
        table, arrays = read(X)
        return with_domains(table, bind_table(table, arrays, covariance_type="diag"))


def _are_lost(column: Column, values) -> np.ndarray:
    """Which values would count as missing."""
    if column.is_empty:
        # Its type is not known before there are some.
        return np.zeros(len(values), bool)
    return is_missing(column.encode(pandas_cells(column.name, values))[0][0])
