"""CellErrors: how much more probable each cell of a table is as an error than given the rest of its row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.semicontinuous import Semicontinuous
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.schema import Table

# Share of the errors that are any value; the others are those of another row.
ANY_VALUE = 0.2
# In place of the log odds of a missing cell.
MISSING = -1e6
LEAST_SHARE = 1e-12


@dataclass(frozen=True, eq=False)
class CellErrors:
    """What errors in the cells of each column look like.

    An erroneous cell has the value of the same column in another row, or, in a share ``ANY_VALUE`` of the errors, any
    value, all with the geometric mean of the column's density, or of the probability of its categories. In a
    semicontinuous column these are the means of each atom and of the other cells. An erroneous category is not the
    right one. The odds that a cell is an error, in units of those of any cell, are its density as an error over that
    given the rest of the row.

    Attributes
    ----------
    table : Table
    typical : list of ndarray
        For each column, the mean of the log density of its training cells by themselves, or of those of each kind.
    atoms : list of ndarray or None
        The atoms of semicontinuous columns that are modelled as one column.
    counts : list of ndarray of int or None
        How many training cells have each category; None for a column of numbers.
    """

    table: Table
    typical: list[np.ndarray]
    atoms: list[np.ndarray | None]
    counts: list[np.ndarray | None]

    @classmethod
    def of(cls, table: Table, models: list[ColumnModel], arrays, surprisal, alone) -> CellErrors:
        """Those of a table by its training rows, with ``arrays``, ``surprisal`` and ``alone`` of :meth:`log_odds`."""
        typical, atoms, counts = [], atoms_of_models(table, models), []
        for j, at in enumerate(table.places):
            column = table.modelled(j)
            own = np.flatnonzero(~np.isnan(surprisal[:, j]))
            cells, logs = arrays[at[0]][own], alone[own, j]
            kinds = kinds_of_cells(column, atoms[j], cells)
            sums = np.bincount(kinds, logs, 1), np.bincount(kinds, minlength=1)
            typical.append(sums[0] / np.maximum(sums[1], 1))
            few = column.categories
            counts.append(None if few is None else np.bincount(cells[cells >= 0].astype(int), minlength=len(few)))
        return cls(table, typical, atoms, counts)

    def log_odds(self, arrays: list[np.ndarray], surprisal: np.ndarray, alone: np.ndarray) -> np.ndarray:
        """Log of the density of each cell as an error over its density given the rest of the row.

        Parameters
        ----------
        arrays : list of ndarray of shape (n_rows,)
            Typed columns of the parts.
        surprisal, alone : ndarray of shape (n_rows, n_columns)
            -log p(cell | the rest of the row), NaN where the cell is missing, and log p(cell).

        Returns
        -------
        log_odds : ndarray of shape (n_rows, n_columns)
            ``MISSING`` for a missing cell.
        """
        out = np.empty_like(surprisal)
        for j, (column, at) in enumerate(zip(self.table.columns, self.table.places, strict=True)):
            if column.derivation is not None:
                # What is odd about it is odd about the column of which it is a function.
                out[:, j] = np.nan
                continue
            cells, counts, other = arrays[at[0]], self.counts[j], alone[:, j]
            anything = self.typical[j].take(kinds_of_cells(column, self.atoms[j], cells), mode="clip")
            if counts is not None:
                # The right category is taken to be the most frequent other one, where that matters.
                most = _most_frequent_others(counts, cells.astype(int)) / max(counts.sum(), 1)
                other = other - np.log(np.maximum(1.0 - most, LEAST_SHARE))
            errors = np.logaddexp(np.log(1.0 - ANY_VALUE) + other, np.log(ANY_VALUE) + anything)
            out[:, j] = errors + surprisal[:, j]
            if counts is not None:
                out[:, j] += np.log(np.maximum(-np.expm1(-surprisal[:, j]), LEAST_SHARE))
        return np.nan_to_num(out, nan=MISSING)


def atoms_of_models(table: Table, models: list[ColumnModel]) -> list[np.ndarray | None]:
    """For each column of the table its atoms, if it is a semicontinuous one that is modelled as one column."""
    firsts = (models[at[0]] for at in table.places)
    return [model.atoms if isinstance(model, Semicontinuous) else None for model in firsts]


def kinds_of_cells(column: Column, atoms: np.ndarray | None, cells: np.ndarray) -> np.ndarray:
    """Which atom of a semicontinuous column each cell is, 1, 2, ..., or 0: none; 0 in all other columns."""
    if atoms is not None:
        at = np.searchsorted(atoms, cells).clip(max=len(atoms) - 1)
        return np.where(atoms[at] == cells, at + 1, 0)
    if column.split is not None and cells.dtype.kind != "f":
        # The codes of its first part.
        return np.maximum(cells, 0).astype(int)
    return np.zeros(len(cells), int)


def _most_frequent_others(counts: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """For each code, the count of the most frequent other category."""
    order = np.argsort(-counts, kind="stable")
    second = counts[order[1]] if len(order) > 1 else 0
    return np.where(codes == order[0], second, counts[order[0]])
