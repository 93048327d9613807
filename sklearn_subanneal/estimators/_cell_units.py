"""CellUnits: surprisals of cells and improbabilities of rows that do not depend on the units of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.estimators._cell_errors import atoms_of_models, kinds_of_cells
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.schema import Table


@dataclass(frozen=True, eq=False)
class CellUnits:
    """What makes rows comparable that have cells with a density in different columns.

    The surprisal of a cell that has a density depends on the unit of its column; that of a category, a count, an atom
    of a semicontinuous column or a missing cell does not. So such a surprisal is taken relative to the usual one of the
    cells of the column that have a density, the median; as far as this is the improbability of having a density at all,
    and not an atom, it stays. What is then usual for a column is also added to the improbability of a row for each
    missing cell, so that rows with and without it can be compared.

    Attributes
    ----------
    table : Table
    atoms : list of ndarray or None
        The atoms of semicontinuous columns that are modelled as one column.
    of_density : ndarray of shape (n_columns,)
        The usual surprisal of a cell with a density, as far as it is due to the density; 0 where no cell has one.
    usual : ndarray of shape (n_columns,)
        The median surprisal of the cells, those with a density less ``of_density``.
    """

    table: Table
    atoms: list[np.ndarray | None]
    of_density: np.ndarray
    usual: np.ndarray

    @classmethod
    def of(cls, table: Table, models: list[ColumnModel], arrays: list[np.ndarray], surprisal: np.ndarray) -> Self:
        """Those of a table, by some of its rows.

        Parameters
        ----------
        table : Table
        models : list of ColumnModel
        arrays : list of ndarray of shape (n_rows,)
            Typed columns of the parts.
        surprisal : ndarray of shape (n_rows, n_columns)
            -log p(cell | the rest of the row), in the units of the data; NaN where there is nothing to judge.
        """
        zeros = np.zeros(len(table.columns))
        found = cls(table, atoms_of_models(table, models), zeros, zeros)
        known, has_density = ~np.isnan(surprisal), found._has_density(arrays)
        of_density = np.array([_median(own[has]) for own, has in zip(surprisal.T, has_density.T, strict=True)])
        shares = has_density.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        of_density += np.log(np.where(shares > 0.0, shares, 1.0))
        found = cls(table, found.atoms, of_density, zeros)
        rest = found.of_cells(arrays, surprisal)
        usual = np.array([_median(own[is_known]) for own, is_known in zip(rest.T, known.T, strict=True)])
        return cls(table, found.atoms, of_density, usual)

    def of_cells(self, arrays: list[np.ndarray], surprisal: np.ndarray) -> np.ndarray:
        """Surprisals of the cells of some rows, (n_rows, n_columns), without the units of the columns."""
        return surprisal - self._has_density(arrays) * self.of_density

    def of_rows(self, arrays: list[np.ndarray], improbability: np.ndarray) -> np.ndarray:
        """The improbabilities of some rows, (n_rows,), -log densities in the units of the data, made comparable."""
        has_density = self._has_density(arrays)
        out = improbability.copy()
        for j, (column, at) in enumerate(zip(self.table.columns, self.table.places, strict=True)):
            # A function of another column is modelled by that column, and in no density.
            if column.derivation is None:
                gaps = np.all([is_missing(arrays[p]) for p in at], axis=0)
                out += gaps * self.usual[j] - has_density[:, j] * self.of_density[j]
        return out

    def _has_density(self, arrays) -> np.ndarray:
        """Which cells have a density, (n_rows, n_columns)."""
        out = np.zeros((len(arrays[0]), len(self.atoms)), bool)
        for j, at in enumerate(self.table.places):
            if any(arrays[p].dtype.kind == "f" for p in at):
                cells = arrays[at[0]]
                out[:, j] = ~is_missing(cells) & (kinds_of_cells(self.table.modelled(j), self.atoms[j], cells) == 0)
        return out


def _median(values: np.ndarray) -> float:
    """0 if there are none."""
    return float(np.median(values)) if len(values) else 0.0
