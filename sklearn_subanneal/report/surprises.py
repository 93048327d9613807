"""Rows and cells that the model did not expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.report.source import Source, brief

if TYPE_CHECKING:
    from sklearn_subanneal.estimators.crosscat import CrossCat


@dataclass(frozen=True)
class OddCell:
    """A cell that the rest of its row does not let expect.

    Attributes
    ----------
    row : int
    column : str
    value, expected : str
        What is there, and what the rest of the row suggests.
    nats : float
        Surprisal beyond the median of the column.
    """

    row: int
    column: str
    value: str
    expected: str
    nats: float


@dataclass(frozen=True)
class OddRow:
    """A row unlike the others.

    Attributes
    ----------
    row : int
    nats : float
        Surprisal beyond the median row.
    cells : list of (column, nats)
        Its most surprising cells.
    """

    row: int
    nats: float
    cells: list[tuple[str, float]]


@dataclass(frozen=True)
class Loner:
    """A row that is like no other in some columns.

    Attributes
    ----------
    row, view : int
    columns : list of str
        Those of the view.
    share : float
        Of the draws, in which it is alone in its cluster.
    """

    row: int
    view: int
    columns: list[str]
    share: float


@dataclass(frozen=True)
class Surprises:
    """The oddest rows and cells.

    Attributes
    ----------
    rows : list of OddRow
    cells : list of OddCell
    n_scored : int
        Rows that were looked at, evenly spaced where these are not all.
    loners : list of Loner
    n_alone : int
        How many loners there are, each counted for each of its views.
    """

    rows: list[OddRow]
    cells: list[OddCell]
    n_scored: int
    loners: list[Loner]
    n_alone: int


# Of each odd row, and of each column among the odd cells: a column that is odd all over would fill the list.
CELLS_A_ROW = CELLS_A_COLUMN = 3


def find_surprises(model: CrossCat, source: Source, most: int, most_scored: int) -> Surprises:
    """The most surprising rows and cells.

    A cell counts by -log p(cell | the rest of its row) less the median of its column: nats of different columns cannot
    be compared otherwise. A row counts by -log p(row); a cell that is missing there counts as the median one of its
    column, by the chain rule, so that rows with gaps and without compare.

    Parameters
    ----------
    model : CrossCat
        Fitted to the table.
    source : Source
    most : int
        Rows, and cells, to find.
    most_scored : int
        Rows to look at.

    Returns
    -------
    Surprises
    """
    n_rows, names = len(source.frame), list(source.feature_types)
    rows = np.arange(min(n_rows, most_scored)) * n_rows // min(n_rows, most_scored)
    X = source.X.iloc[rows]
    surprisal = model.surprisal(X)
    usual = np.array([_median(column) for column in surprisal.T])
    excess = np.nan_to_num(surprisal - usual, nan=-np.inf)
    novelty = model.novelty(X) + (np.isnan(surprisal) * usual).sum(axis=1)
    novelty -= np.median(novelty)
    odd_rows = [
        OddRow(
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
    expected = _expected(model, X, at)
    odd_cells = [
        OddCell(int(rows[i]), names[j], brief(X.iloc[i, j]), text, float(excess[i, j]))
        for (i, j), text in zip(at, expected, strict=True)
    ]
    loners = _loners(model, names)
    return Surprises(odd_rows, odd_cells, len(rows), loners[:most], len(loners))


def _loners(model: CrossCat, names: list[str]) -> list[Loner]:
    """Rows that are alone in their cluster, here and in most draws; the surest first."""
    agreement, found = model.view_confidence_, []
    for view in range(model.n_views_):
        labels = model.view_labels_[:, view]
        columns = [names[j] for j in np.flatnonzero(model.column_labels_ == view)]
        for row in np.flatnonzero(np.bincount(labels)[labels] == 1):
            if agreement[row, view] > 0.5:
                found.append(Loner(int(row), view, columns, float(agreement[row, view])))
    return sorted(found, key=lambda loner: -loner.share)


def _median(column: np.ndarray) -> float:
    """Of the cells that are there; a column may have none among the rows that are looked at."""
    seen = column[~np.isnan(column)]
    return float(np.median(seen)) if len(seen) else 0.0


def _expected(model: CrossCat, X, at: list[tuple[int, int]]) -> list[str]:
    """What the rest of its row says of each of these cells."""
    if not at:
        return []
    blanked = X.iloc[[i for i, _ in at]].reset_index(drop=True)
    for place, j in enumerate(j for _, j in at):
        column = blanked.iloc[:, j]
        gap = np.arange(len(blanked)) == place
        blanked = blanked.assign(**{blanked.columns[j]: column.mask(gap)})
    filled, uncertainty = model.impute(blanked, return_uncertainty=True)
    return [
        guess(filled.iloc[place, j], uncertainty[place, j], model.feature_types[X.columns[j]])
        for place, (_, j) in enumerate(at)
    ]


def guess(value, uncertainty: float, kind: str) -> str:
    """A value that was filled in, with its uncertainty: a standard deviation, or the probability of the category."""
    if kind in ("real", "count"):
        return f"{brief(value)} ± {brief(float(f'{uncertainty:.2g}'))}"
    return f"{brief(value)} ({1.0 - uncertainty:.0%})"
