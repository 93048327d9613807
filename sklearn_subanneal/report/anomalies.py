"""Anomalies in a table: rows and cells with the smallest predictive probability, rows alone in a cluster."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.estimators._cell_units import CellUnits
from sklearn_subanneal.estimators._judged_table import JudgedTable
from sklearn_subanneal.report.clusters import columns_of_view
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.number_digits import DIGITS_OF_DIFFERENCE, decimals_of
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.tables.series import pandas_series

if TYPE_CHECKING:
    from sklearn_subanneal.estimators import CrossCat


@dataclass(frozen=True)
class AnomalousCell:
    """A cell that is improbable given the rest of its row.

    Attributes
    ----------
    row : int
    column : str
    value, expected : str
        The value in the table, and the prediction from the rest of the row.
    nats : float
        Surprisal beyond what is usual for the column.
    """

    row: int
    column: str
    value: str
    expected: str
    nats: float


@dataclass(frozen=True)
class AnomalousRow:
    """A row of low predictive probability.

    Attributes
    ----------
    row : int
    nats : float
        Surprisal in excess of the median row.
    cells : list of (column, nats)
        Its cells of largest surprisal, and their surprisal beyond what is usual for the column.
    """

    row: int
    nats: float
    cells: list[tuple[str, float]]


@dataclass(frozen=True)
class SingletonRow:
    """A row that is alone in its cluster in one view.

    Attributes
    ----------
    row, view : int
    columns : list of str
        Names of the columns of the view.
    share : float
        Share of the draws in which it is alone in its cluster.
    """

    row: int
    view: int
    columns: list[str]
    share: float


@dataclass(frozen=True)
class Anomalies:
    """The rows and cells of largest surprisal.

    Attributes
    ----------
    rows : list of AnomalousRow
    cells : list of AnomalousCell
    n_scored : int
        Number of rows that were scored, evenly spaced if these are not all.
    singletons : list of SingletonRow
    n_singletons : int
        Number of all singletons, of which `singletons` has the first; a row counts once for each view.
    """

    rows: list[AnomalousRow]
    cells: list[AnomalousCell]
    n_scored: int
    singletons: list[SingletonRow]
    n_singletons: int


# Cells listed for a row, and for a column: without a limit one column could fill the list of cells.
CELLS_A_ROW = CELLS_A_COLUMN = 3
# Where time is limited, one row in so many is scored on trial, to see how many can be in this share of the time left.
TRIAL, SHARE_OF_TIME = 32, 0.5


def find_anomalies(model: CrossCat, source: Source, most: int, most_scored: int, deadline: float = inf) -> Anomalies:
    """Find the rows and cells of largest surprisal.

    The score of a cell is -log p(cell | the rest of its row) less what is usual for its column, since densities of
    different columns have different units, and atoms of semicontinuous columns none. The score of a row is -log p(row)
    less that of its cells that have a density, to which each missing cell adds what is usual for its column, so that
    rows with and without it can be compared.

    Parameters
    ----------
    model : CrossCat
        Fitted to the table.
    source : Source
    most : int
        The most rows, and the most cells, to return.
    most_scored : int
        The most rows to score; of more rows, evenly spaced ones are taken.
    deadline : float, default=inf
        When no more rows are to be scored, on the clock ``time.perf_counter``. Some are scored whenever it is.

    Returns
    -------
    Anomalies
    """
    names = list(source.feature_types)
    X = source.X
    table = JudgedTable.of(model, X)
    rows, surprisal, novelty = _scored(table, most_scored, deadline)
    cells = [array[rows] for array in table.arrays]
    units = CellUnits.of(model._table, model._models, cells, surprisal)
    excess = np.nan_to_num(units.of_cells(cells, surprisal) - units.usual, nan=-np.inf)
    # Of columns that are functions of one another, the one that is modelled is odd.
    excess[:, [column.derivation is not None for column in model._table.columns]] = -np.inf
    novelty = units.of_rows(cells, novelty)
    novelty -= np.median(novelty)
    rows_found = [
        AnomalousRow(
            int(rows[i]),
            float(novelty[i]),
            [(names[j], float(excess[i, j])) for j in np.argsort(-excess[i])[:CELLS_A_ROW] if excess[i, j] > 0.0],
        )
        for i in np.argsort(-novelty, kind="stable")[:most]
    ]
    candidates = [
        (int(i), j)
        for j in range(len(names))
        for i in np.argsort(-excess[:, j], kind="stable")[:CELLS_A_COLUMN]
        if excess[i, j] > 0.0
    ]
    at = sorted(candidates, key=lambda cell: -excess[cell])[:most]
    expected = _expected(table, [(int(rows[i]), j) for i, j in at])
    cells_found = [
        AnomalousCell(row, names[j], brief(X.iat[row, j], decimals), text, float(excess[i, j]))
        for (i, j), (row, decimals, text) in zip(at, expected, strict=True)
    ]
    singletons = _singletons(model)
    return Anomalies(rows_found, cells_found, len(rows), singletons[:most], len(singletons))


def _scored(table: JudgedTable, most_scored: int, deadline: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, evenly spaced, the surprisal of their cells, and their novelty."""

    def score(n):
        rows = np.arange(n) * n_rows // n
        return rows, table.surprisal(rows), table.novelty(rows)

    n_rows = len(table.arrays[0])
    most = min(n_rows, most_scored)
    if deadline == inf:
        return score(most)
    started, few = time.perf_counter(), -(-most // TRIAL)
    trial, now = score(few), time.perf_counter()
    n = min(most, int(few * SHARE_OF_TIME * max(deadline - now, 0.0) / max(now - started, 1e-9)))
    return score(n) if n > few else trial


def _singletons(model: CrossCat) -> list[SingletonRow]:
    """Rows alone in their cluster in ``view_labels_`` and in most draws; the largest share first."""
    agreement, found = model.view_confidence_, []
    for view in range(model.n_views_):
        labels = model.view_labels_[:, view]
        columns = list(columns_of_view(model, view))
        for row in np.flatnonzero(np.bincount(labels)[labels] == 1):
            if agreement[row, view] > 0.5:
                found.append(SingletonRow(int(row), view, columns, float(agreement[row, view])))
    return sorted(found, key=lambda singleton: -singleton.share)


def _expected(table: JudgedTable, at: list[tuple[int, int]]) -> list[tuple[int, int, str]]:
    """The row of each of these cells, (row, column), and what the rest of it lets expect: its decimals, and a text."""
    found, columns = {}, table.model._table.columns
    for j in {j for _, j in at}:
        rows = [i for i, column in at if column == j]
        values, uncertainty = table.expected(np.array(rows), j)
        for i, value, spread in zip(rows, pandas_series(columns[j], values), uncertainty, strict=True):
            decimals = decimals_of(spread, DIGITS_OF_DIFFERENCE)
            found[i, j] = i, decimals, prediction_text(value, spread, columns[j].kind)
    return [found[cell] for cell in at]


def prediction_text(value, uncertainty: float, kind: str) -> str:
    """A predicted value with its standard deviation, or a predicted category with its probability."""
    if kind in ("real", "count", "cyclic", "semicontinuous", "skewed"):
        shown = brief(value, decimals_of(uncertainty, DIGITS_OF_DIFFERENCE))
        return f"{shown} ± {brief(float(f'{uncertainty:.2g}'))}"
    if kind == "datetime":
        return f"{brief(value)} ± {brief(float(f'{uncertainty:.2g}'))} days"
    return f"{brief(value)} ({1.0 - uncertainty:.0%})"
