"""ViewsDraw: one posterior draw of a cross-categorization as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.parts import joint_members


@dataclass(frozen=True)
class ViewsDraw:
    """One state of a chain.

    Attributes
    ----------
    column_labels : ndarray of int32, shape (n_columns,)
        View of each column, 0..n_views-1 without gaps.
    views : list of Draw
        The mixture of each view; its ``columns`` are those of the view, in the order of the table, but for its joint
        reals, whose block is the last.
    prior : dict
        Parameters of the prior of the column partition.
    log_joint : float
    filled : ndarray of shape (n_missing,) or None
        The missing cells of joint reals as the statistics of the blocks have them, in standard units: row by row, and
        in the order of the table.
    weight : float, default=1.0
        In averages over draws; positive.
    """

    column_labels: np.ndarray
    views: list[Draw]
    prior: dict
    log_joint: float
    filled: np.ndarray | None = None
    weight: float = 1.0

    def members(self, view: int) -> np.ndarray:
        """The columns of a view, in the order of the table."""
        return np.flatnonzero(self.column_labels == view)

    def reordered(self, column_labels: np.ndarray) -> ViewsDraw:
        """The same state with its views in the order of these labels, another naming of the same partition."""
        first = [np.flatnonzero(column_labels == view)[0] for view in range(len(self.views))]
        views = [self.views[self.column_labels[j]] for j in first]
        return replace(self, column_labels=np.asarray(column_labels, np.int32), views=views)

    def column_parameters(self, models: list[ColumnModel]) -> list[dict]:
        """Hyperparameters of each column in standard units, in the order of the table."""
        out: list[dict] = [{}] * len(models)
        for v, view in enumerate(self.views):
            members = self.members(v)
            block = joint_members(models, members)
            states = iter(view.columns)
            for j in members:
                if not models[j].joint:
                    out[j] = next(states)["parameters"]
            for i, j in enumerate(block):
                out[j] = _parameters_of_real(view.columns[-1]["parameters"], i)
        return out


def _parameters_of_real(block: dict, i: int) -> dict:
    """Hyperparameters of one column of a block: those of its marginal."""
    nu = block["nu"] - len(block["mu"]) + 1
    return {"mu": block["mu"][i], "kappa": block["kappa"], "sigma2": block["psi"][i, i] / nu, "nu": nu}
