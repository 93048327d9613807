"""ClassDensities: densities of the cells of rows in the classes, of each column alone, as in naive Bayes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows


@dataclass(frozen=True, eq=False)
class ClassDensities:
    """Posterior predictive of each column in each class, as if the classes were the clusters of all columns.

    Attributes
    ----------
    models : list of ColumnModel
        One for each column of the table.
    states : dict of int to dict
        For each column but the class, the state of its statistics: slot k has the training rows of class k.
    sizes : ndarray of int, shape (n_classes,)
        Number of these rows.
    """

    models: list[ColumnModel]
    states: dict[int, dict]
    sizes: np.ndarray

    @classmethod
    def of(
        cls, models: list[ColumnModel], parameters: list[dict], arrays: list[np.ndarray], column: int
    ) -> ClassDensities:
        """Those of a training table.

        Parameters
        ----------
        models : list of ColumnModel
        parameters : list of dict
            Hyperparameters of each column.
        arrays : list of ndarray of shape (n_rows,)
            Typed columns.
        column : int
            The class, known in all rows.
        """
        states, sizes = {}, np.bincount(arrays[column], minlength=models[column].n_values)
        for j in (j for j in range(len(models)) if j != column):
            statistics = models[j].statistics(models[j].data(arrays), parameters[j])
            statistics.rebuild(arrays[column])
            states[j] = statistics.get_state(len(sizes))
        return cls(models, states, sizes)

    def of_cells(self, cells: DistinctRows, columns: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Some columns, with the log densities of their cells (n_rows, n_classes), one row if all cells are equal."""
        for j in columns:
            yield j, cells.spread(j, self._statistics(j).log_densities(cells.values[j], len(self.sizes)))

    def left_out(self, arrays: list[np.ndarray], classes: np.ndarray) -> np.ndarray:
        """Log densities of training rows, each left out of its own class.

        Parameters
        ----------
        arrays : list of ndarray of shape (n_rows,)
            Typed columns of these rows.
        classes : ndarray of int, shape (n_rows,)

        Returns
        -------
        log_densities : ndarray of shape (n_columns - 1, n_rows, n_classes)
        """
        rows, own = np.arange(len(classes), dtype=np.int32), classes.astype(np.int32)
        alone = self.sizes[own] == 1
        out = np.empty((len(self.states), len(rows), len(self.sizes)))
        for i, j in enumerate(self.states):
            statistics = self._statistics(j, arrays)
            # The last slot is empty, as is the class of a single row without this row.
            densities = statistics.log_densities(self.models[j].values(arrays), len(self.sizes) + 1)
            out[i] = densities[:, :-1]
            out[i, rows[alone], own[alone]] = densities[alone, -1]
            out[i, rows[~alone], own[~alone]] = statistics.leave_one_out(rows[~alone], own[~alone])
        return out

    def _statistics(self, j, arrays=None):
        data = None if arrays is None else self.models[j].data(arrays)
        statistics = self.models[j].statistics(data, self.states[j]["parameters"])
        statistics.set_state(self.states[j])
        return statistics
