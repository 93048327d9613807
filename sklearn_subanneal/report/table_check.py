"""TableCheck: drift and odd rows of a new table, and which of them are more than chance."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import betabinom

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.new_table import NewTable
from sklearn_subanneal.report.number_digits import DIGITS_OF_DIFFERENCE, decimals_of

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.estimators import CrossCatDetector
    from sklearn_subanneal.estimators._drift import ColumnDrift
    from sklearn_subanneal.estimators._reasons import CellReason

# New values of a column that are listed, and odd rows of which the reasons are computed.
MOST_VALUES, MOST_REASONS = 20, 1000


@dataclass(frozen=True)
class OddRow:
    """A row that few training rows are as odd as.

    Attributes
    ----------
    number : int
        From 0.
    p_value : float
    reasons : list of CellReason
        Empty beyond the thousand oddest rows.
    """

    number: int
    p_value: float
    reasons: list[CellReason]

    @property
    def text(self) -> str:
        """Its most surprising cells, with what was expected."""
        cells = []
        for own in self.reasons:
            # Of numbers, the ends of the interval in which the cell is expected.
            width = own.high - own.low if isinstance(own.low, float) else 0.0
            decimals = decimals_of(width, DIGITS_OF_DIFFERENCE)
            value, expected = _shown(own.value, decimals), _shown(own.expected, decimals)
            cells.append(f"{own.column} is {value}" + (f", expected {expected}" if expected != value else ""))
        return "; ".join(cells)


@dataclass(frozen=True)
class TableCheck:
    """What differs in a new table.

    Attributes
    ----------
    level : float
        Probability of a finding of each kind in a table that is like the training table.
    drifts : list of ColumnDrift
        Of the columns that differ, the most different first.
    rows : list of OddRow
        With a p-value of at most the level, the oddest first.
    n_rows : int
    n_expected : float
        Number of such rows that are expected.
    new_values : dict of str to dict
        Categories that are new, by column, and in how many cells.
    findings : list of str
        What is more than chance, in words; empty if nothing is.
    """

    level: float
    drifts: list[ColumnDrift]
    rows: list[OddRow]
    n_rows: int
    n_expected: float
    new_values: dict[str, dict] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    def rows_table(self, new: NewTable) -> pd.DataFrame:
        """The odd rows with their p-values and reasons, and their cells."""
        import pandas as pd

        at = [row.number for row in self.rows]
        reasons = [row.text for row in self.rows]
        names = [name if name not in new.frame else f"{name} (check)" for name in ("row", "p", "reasons")]
        columns = [[row + 1 for row in at], [row.p_value for row in self.rows], reasons]
        found = pd.DataFrame(dict(zip(names, columns, strict=True)))
        return pd.concat([found, new.frame.iloc[at].reset_index(drop=True)], axis=1)


def check_table(detector: CrossCatDetector, new: NewTable, level: float) -> TableCheck:
    """Compare a new table with the training table of a detector.

    A column has drifted if its p-value, times the number of columns, is at most ``level``. Rows are odd if the share of
    training rows that are as odd is at most ``level``; there are too many of them if so many or more have at most this
    probability. For rows that are like the training rows their number has a beta-binomial distribution: the share of
    all rows that are below the score of rank r of n training rows is Beta(r, n + 1 - r). Categories that are new, and
    cells that are no values of their column, or contradict another one, are always findings.

    Parameters
    ----------
    detector : CrossCatDetector
    new : NewTable
    level : float

    Returns
    -------
    TableCheck

    References
    ----------
    V. Vovk (2012), Conditional validity of inductive conformal predictors, Proceedings of Machine Learning Research 25,
    475-490, for the beta distribution.
    """
    X = new.X
    n_rows = len(X)
    drifts = [own for own in detector.drift(X) if own.p_value * X.shape[1] <= level]
    p_values = detector.p_values(X)
    at = np.flatnonzero(p_values <= level)
    at = at[np.argsort(p_values[at], kind="stable")]
    reasons: dict[int, list] = {int(row): [] for row in at}
    for reason in detector.reasons(X, rows=at[:MOST_REASONS]) if at.size else []:
        reasons[int(reason.row)].append(reason)
    rows = [OddRow(row, float(p_values[row]), own) for row, own in reasons.items()]
    n_training = len(detector.training_scores_)
    # A new row is odd if its score is below the training score of this rank, which has a beta distribution.
    rank = int(np.floor(level * (n_training + 1.0) + 1e-9))
    new_values = _new_values(detector.crosscat_._table.columns, X)
    findings = []
    if drifts:
        findings.append(f"{counted(len(drifts), 'column')} with drift")
    if rows and betabinom.sf(len(rows) - 1, n_rows, rank, n_training + 1 - rank) <= level:
        findings.append(f"{counted(len(rows), 'odd row')}, more than chance")
    if new_values:
        findings.append(f"new values in {counted(len(new_values), 'column')}")
    if new.unreadable:
        findings.append(f"unreadable cells in {counted(len(new.unreadable), 'column')}")
    if new.contradictions:
        findings.append(f"contradictions in {counted(len(new.contradictions), 'column')}")
    return TableCheck(level, drifts, rows, n_rows, n_rows * rank / (n_training + 1.0), new_values, findings)


def _shown(value, decimals: int) -> str:
    """A cell as text: dates by their own clock, and without a time of day that all have."""
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    if isinstance(value, datetime.datetime | np.datetime64):
        return str(np.datetime64(value, "s")).replace("T", " ").removesuffix(" 00:00:00")
    return brief(value, decimals)


def _new_values(columns, X) -> dict[str, dict]:
    found = {}
    for column in columns:
        if column.categories is not None and column.type.coded:
            cells = X[column.name].dropna()
            counts = cells[~cells.isin(column.categories.tolist())].value_counts()
            if len(counts):
                found[column.name] = {value: int(count) for value, count in counts.iloc[:MOST_VALUES].items()}
    return found
