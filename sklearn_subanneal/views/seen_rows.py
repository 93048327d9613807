"""SeenRows: the cluster of each training row in each view and draw, and the sampled values of its missing reals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.joint_real import modelled_cells
from sklearn_subanneal.mixtures.parts import joint_members
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.views.draws import ViewsDraw


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Training rows: their clusters in each draw, and where each draw has their missing cells of joint reals.

    Attributes
    ----------
    labels : list of ndarray of int, shape (n_views, n_rows)
        For each draw, the cluster of each row in each view.
    joint : list of int
        The joint reals of the table.
    cells : ndarray of shape (n_rows, n_joint)
        Their cells in standard units as the chains saw them, NaN where missing.
    places : ndarray of int, shape (n_rows, n_joint)
        Index of each missing cell in the array ``filled`` of the draws; the entries of observed cells are not used.
    """

    labels: list[np.ndarray]
    joint: list[int]
    cells: np.ndarray
    places: np.ndarray

    @classmethod
    def of(
        cls, models: list[ColumnModel], labels: list[np.ndarray], arrays: list[np.ndarray], copies: RowCopies
    ) -> SeenRows:
        """All rows of the training table.

        Parameters
        ----------
        models : list of ColumnModel
            One for each column of the table.
        labels
            See the attributes.
        arrays : list of ndarray of shape (n_rows,)
            Typed columns.
        copies : RowCopies
            The rows that the chains modelled. A row is seen as its first copy was.
        """
        joint = joint_members(models, range(len(models)))
        cells = modelled_cells([models[j] for j in joint], [array[copies.rows] for array in arrays])
        places = (np.cumsum(np.isnan(cells)) - 1).reshape(cells.shape)
        return cls(labels, joint, copies.of_table(cells.T, np.nan).T, copies.of_table(places.T, -1).T)

    def take(self, rows: np.ndarray | slice) -> SeenRows:
        """Some of the rows."""
        return SeenRows([own[:, rows] for own in self.labels], self.joint, self.cells[rows], self.places[rows])

    def of_draws(self, numbers: np.ndarray) -> SeenRows:
        """The same rows in some of the draws."""
        return replace(self, labels=[self.labels[s] for s in numbers])

    def completed(self, draw: ViewsDraw) -> Callable[[list[int], np.ndarray], np.ndarray]:
        """A function of columns and rows: joint reals (n_rows, n_columns), the missing ones as a draw has them."""

        def cells(columns, rows):
            at = np.ix_(rows, [self.joint.index(j) for j in columns])
            own, missing = self.cells[at], np.isnan(self.cells[at])
            if missing.any():
                own[missing] = draw.filled[self.places[at][missing]]
            return own

        return cells
