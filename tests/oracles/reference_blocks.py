"""Real columns that are one Gaussian block in each view: their likelihood, and the exact posterior of the views.

In a view with the real columns B, a cluster's mean and covariance are NIW(mu_B, kappa, psi_B, nu + |B| - 1) with
psi_ij = nu sqrt(sigma2_i sigma2_j) R_ij: the block of fewer columns is the marginal of that of more columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from oracles.enumeration import blocks, product_grid
from oracles.views_enumeration import ExactViews, grid_views
from scipy import stats
from scipy.special import logsumexp, softmax

# Correlations of the prior are at most this.
SHRINKAGE = 1.0 - 1e-4


def correlation_of_vectors(vectors: np.ndarray, n_shared: int) -> np.ndarray:
    """Return R of shape (n, n): SHRINKAGE times the products of the shared parts of vectors of length 1."""
    vectors = np.asarray(vectors, dtype=float)
    correlation = np.eye(len(vectors))
    for i, v in enumerate(vectors):
        for j, w in enumerate(vectors[:i]):
            product = v[:n_shared] @ w[:n_shared] / np.sqrt((v @ v) * (w @ w))
            correlation[i, j] = correlation[j, i] = SHRINKAGE * product
    return correlation


def block_prior(params: Mapping[str, Any], correlation: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return the hyperparameters of the kind "gaussian" for the real columns of one view.

    Parameters
    ----------
    params : mapping
        "mu" and "sigma2" of shape (..., b), "kappa" and "nu" of shape (...), as a single real column has them.
    correlation : array of shape (b, b)
        R; None: no correlations.

    Examples
    --------
    >>> block_prior({"mu": [0.0, 0.0], "sigma2": [1.0, 4.0], "kappa": 0.5, "nu": 2.0})["psi"]
    array([[2., 0.],
           [0., 8.]])
    """
    own = {name: np.asarray(value, dtype=float) for name, value in params.items()}
    b = own["mu"].shape[-1]
    unit = np.sqrt(own["nu"][..., None] * own["sigma2"])
    psi = unit[..., :, None] * unit[..., None, :] * (np.eye(b) if correlation is None else correlation)
    return {"mu": own["mu"], "kappa": own["kappa"], "psi": psi, "nu": own["nu"] + b - 1}


def log_regression(y: np.ndarray, x: np.ndarray, prior: Mapping[str, Any]) -> float:
    """Return log p(y | x) of a column that joins the block of other columns in one cluster.

    With the prior NIW(mu, kappa, psi, nu) of x and y together, y last, this is a conjugate regression:
    s2 ~ InvGamma(nu / 2, psi_yy.x / 2), b | s2 ~ N(psi_xx^-1 psi_xy, s2 psi_xx^-1), a | s2, b ~ N(mu_y - b'mu_x,
    s2 / kappa), y = a + b'x + e, e ~ N(0, s2). Integrated out, y is a multivariate t. Rows in which y is missing do
    not count; x must be complete.

    Parameters
    ----------
    y : array of shape (n,)
    x : array of shape (n, b)
    prior : mapping
        "mu" (b + 1,), "kappa", "psi" (b + 1, b + 1), "nu".

    Examples
    --------
    >>> from oracles.reference import log_marginal
    >>> prior = block_prior({"mu": [0.0], "sigma2": [1.0], "kappa": 1.0, "nu": 3.0})
    >>> alone = {"mu": 0.0, "sigma2": 1.0, "kappa": 1.0, "nu": 3.0}
    >>> y = np.array([0.3, -1.0])
    >>> bool(np.isclose(log_regression(y, np.empty((2, 0)), prior), log_marginal("real", y, alone)))
    True
    """
    seen = ~np.isnan(y)
    if not seen.any():
        return 0.0
    y, x = y[seen], x[seen]
    mu, kappa, psi, nu = (np.asarray(prior[name], dtype=float) for name in ("mu", "kappa", "psi", "nu"))
    inverse = np.linalg.inv(psi[:-1, :-1])
    slope = inverse @ psi[:-1, -1]
    rest = psi[-1, -1] - psi[-1, :-1] @ slope
    away = x - mu[:-1]
    spread = np.eye(len(y)) + 1.0 / kappa + away @ inverse @ away.T
    return float(stats.multivariate_t.logpdf(y, mu[-1] + away @ slope, rest / nu * spread, df=float(nu)))


# --- The exact posterior ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JointReals:
    """The real columns of a table, with grids of their hyperparameters: one value each where they are known.

    Parameters
    ----------
    places : tuple of int
        Their places in the table, of length D.
    cells : array of shape (n_rows, D)
        Missing cells are NaN; they are integrated out.
    grids : mapping
        "mu" and "sigma2" (D, n_grid) of each column, "kappa" and "nu" (n_grid,) of each view. As in all grids, the
        prior is uniform, independent for each column and view.
    vectors : array of shape (D, q), optional
        Of the correlations, which are known.
    n_shared : int, default=0
        Number of their coordinates that columns share.
    """

    places: tuple[int, ...]
    cells: np.ndarray
    grids: Mapping[str, Any]
    vectors: np.ndarray | None = None
    n_shared: int = 0

    @property
    def subsets(self) -> list[tuple[int, ...]]:
        """All blocks that a view can have: positions among the joint reals."""
        n = len(self.places)
        return [tuple(i for i in range(n) if code >> i & 1) for code in range(1, 2**n)]

    def among(self, members: Sequence[int]) -> tuple[int, ...]:
        """Return the block of a view, given its columns in the table."""
        return tuple(i for i, place in enumerate(self.places) if place in members)

    def grid(self, block: tuple[int, ...]) -> tuple[dict[str, np.ndarray], list[tuple[str, int]]]:
        """Return the prior of a block at all points of its grid, and the axes of the grid (see `product_grid`)."""
        own = {name: [self.grids[name][i] for i in block] for name in ("mu", "sigma2")}
        points, axes = product_grid("gaussian", own | {name: self.grids[name] for name in ("kappa", "nu")})
        shared = None
        if self.vectors is not None:
            shared = correlation_of_vectors(np.asarray(self.vectors)[list(block)], self.n_shared)
        return block_prior(points, shared), axes


@dataclass(frozen=True, kw_only=True)
class ExactBlockViews(ExactViews):
    """A cross-categorization whose real columns are one Gaussian block in each view; build it with `block_views`.

    Parameters
    ----------
    columns, ... : as in `ExactViews`
        Those that are joint reals have no cells here.
    reals : JointReals
    """

    reals: JointReals

    @cached_property
    def _log_blocks(self) -> dict[tuple[int, ...], np.ndarray]:
        """Log likelihood of each block given each partition of the rows, (n_row_partitions, n_grid)."""
        tables = {}
        for block in self.reals.subsets:
            prior, _ = self.reals.grid(block)
            tables[block] = self._membership @ self._table(
                "gaussian", self.reals.cells[:, list(block)], prior, self._subsets
            )
        return tables

    def log_view(self, members, replaced=None):
        others = super().log_view(members, replaced)
        block = self.reals.among(members)
        if not block:
            return others
        table = self._log_blocks[block]
        return others + logsumexp(table, axis=1) - np.log(table.shape[1])

    def real_posteriors(self, i: int) -> dict[str, np.ndarray]:
        """Return the posterior marginals of mu and sigma2 of joint real i, and of kappa and nu of its view."""
        place, grids = self.reals.places[i], self.reals.grids
        sizes = {name: len(grids[name][i] if name in ("mu", "sigma2") else grids[name]) for name in grids}
        marginals = {name: np.zeros(size) for name, size in sizes.items()}
        for state, log_p in zip(self.column_states, self._log_columns_given_data, strict=True):
            members = next(b for b in blocks(state) if place in b)
            block = self.reals.among(members)
            others = ExactViews.log_view(self, members)
            axes = self.reals.grid(block)[1]
            law = np.exp(log_p) * softmax(logsumexp(others[:, None] + self._log_blocks[block], axis=0))
            law = law.reshape([length for _, length in axes])
            for name in grids:
                own = [axis for axis, (other, _) in enumerate(axes) if other == name]
                axis = own[block.index(i)] if name in ("mu", "sigma2") else own[0]
                marginals[name] += law.sum(axis=tuple(other for other in range(law.ndim) if other != axis))
        return marginals

    def log_density_of_cell(self, row: int, i: int, values: Sequence[float]) -> np.ndarray:
        """Return log p(cell = value | all other cells) of a joint real's cell, at each of `values`."""
        self._check_unheated()
        logs = []
        for value in [np.nan, *values]:
            cells = self.reals.cells.copy()
            cells[row, i] = value
            logs.append(replace(self, reals=replace(self.reals, cells=cells)).log_evidence)
        return np.array(logs[1:]) - logs[0]


def block_views(
    others: Mapping[int, tuple[str, np.ndarray, Mapping[str, Any]]],
    reals: JointReals,
    row_prior_grid: Mapping[str, Any],
    column_prior_grid: Mapping[str, Any],
    beta: float = 1.0,
) -> ExactBlockViews:
    """Return the exact cross-categorization of joint reals and other columns.

    Parameters
    ----------
    others : mapping
        Place in the table and (kind, x, grids) of each other column, the grids as `grid_mixture` takes them.
    reals : JointReals
    row_prior_grid, column_prior_grid : mapping
        1-D grids "alpha" and "d".
    beta : float, default=1.0
        Inverse temperature.
    """
    # A real column without cells has the likelihood 1.
    empty = np.full(len(reals.cells), np.nan)
    silent = ("real", empty, {"mu": [0.0], "kappa": [1.0], "sigma2": [1.0], "nu": [1.0]})
    columns = [others.get(place, silent) for place in range(len(others) + len(reals.places))]
    views = grid_views(columns, row_prior_grid, column_prior_grid, beta)
    return ExactBlockViews(**{field.name: getattr(views, field.name) for field in fields(views)}, reals=reals)
