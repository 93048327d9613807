"""ViewsDraw: one posterior draw of a cross-categorization as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.mixtures.mixture_chain import Draw


@dataclass(frozen=True)
class ViewsDraw:
    """One state of a chain.

    Attributes
    ----------
    column_labels : ndarray of int32, shape (n_columns,)
        View of each column, 0..n_views-1 without gaps.
    views : list of Draw
        The mixture of each view; its ``columns`` are those of the view, in the order of the table.
    prior : dict
        Parameters of the prior of the column partition.
    log_joint : float
    filled : ndarray of float64, or None
        The present values of the missing cells of joint reals, in standard units, row after row; None if there are no
        joint reals.
    """

    column_labels: np.ndarray
    views: list[Draw]
    prior: dict
    log_joint: float
    filled: np.ndarray | None = None

    def members(self, view: int) -> np.ndarray:
        """The columns of a view, in the order of the table."""
        return np.flatnonzero(self.column_labels == view)

    def reordered(self, column_labels: np.ndarray) -> ViewsDraw:
        """The same state with its views in the order of these labels, another naming of the same partition."""
        first = [np.flatnonzero(column_labels == view)[0] for view in range(len(self.views))]
        views = [self.views[self.column_labels[j]] for j in first]
        return ViewsDraw(np.asarray(column_labels, np.int32), views, self.prior, self.log_joint)

    def column_states(self) -> list[dict]:
        """State of the statistics of each column, in the order of the table."""
        states = [iter(view.columns) for view in self.views]
        return [next(states[view]) for view in self.column_labels]
