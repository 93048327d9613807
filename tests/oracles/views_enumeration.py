"""The exact posterior of a cross-categorization: all partitions of a few columns, and of the rows in every view."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from oracles.enumeration import ExactMixture, Partition, blocks, fixed_mixture, grid_mixture, log_eppf, partitions
from oracles.reference import Column
from scipy.special import logsumexp, softmax

ViewsState = tuple[Partition, tuple[Partition, ...]]


@dataclass(frozen=True, kw_only=True)
class ExactViews(ExactMixture):
    """A cross-categorization of at most about five rows and four columns, whose posterior is a sum over all states.

    Build it with `fixed_views` or `grid_views`. Every view has its own (alpha, d) with the prior of an `ExactMixture`,
    so that given the partition of the columns the views are independent:
    p(columns, rows) ~ sum_{alpha_f, d_f} eppf(columns) prod_views p(rows of the view, cells of its columns) ** beta.
    The inherited methods (evidence, conditional densities, moments of cells) sum over all states.

    Parameters
    ----------
    columns, axes, concentrations, discounts, prior_shape, beta
        As in `ExactMixture`; the prior of the rows is that of every view.
    column_concentrations, column_discounts : arrays of shape (n_column_prior,)
        The product grid of (alpha, d) of the partition of the columns.
    column_prior_shape : tuple
        Numbers of their concentrations and of their discounts.

    References
    ----------
    Mansinghka et al. (2016), CrossCat, Journal of Machine Learning Research 17(138), section 2.
    """

    column_concentrations: np.ndarray
    column_discounts: np.ndarray
    column_prior_shape: tuple[int, int]

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    @cached_property
    def column_states(self) -> list[Partition]:
        """All partitions of the columns, in the order of `log_joint`; `states` are those of the rows of one view."""
        return list(partitions(self.n_columns))

    @cached_property
    def _log_column_prior(self) -> np.ndarray:
        grid = self.column_concentrations, self.column_discounts
        return np.array([log_eppf([len(b) for b in blocks(s)], *grid) for s in self.column_states])

    def log_view(self, members: Sequence[int], replaced: Mapping[int, np.ndarray] | None = None) -> np.ndarray:
        """Return log p(rows, cells of the columns `members`) of one view, shape (n_row_partitions,)."""
        others = {j: np.zeros((len(self.states), 1)) for j in range(self.n_columns) if j not in members}
        return super().log_joint({**(replaced or {}), **others})

    def log_joint(self, replaced: Mapping[int, np.ndarray] | None = None) -> np.ndarray:
        """Return log p(column partition, data), shape (n_column_partitions,), the rows of every view summed out."""
        prior = logsumexp(self._log_column_prior, axis=1) - np.log(self._log_column_prior.shape[1])
        views = {b: logsumexp(self.log_view(b, replaced)) for s in self.column_states for b in blocks(s)}
        return prior + [sum(views[b] for b in blocks(state)) for state in self.column_states]

    def posterior(self) -> dict[ViewsState, float]:
        """Return the probability of every (column partition, row partitions of its views in order)."""
        law: dict[ViewsState, float] = {}
        for state, log_prior in zip(self.column_states, self._log_columns_given_data, strict=True):
            views = [softmax(self.log_view(members)) for members in blocks(state)]
            for rows in itertools.product(range(len(self.states)), repeat=len(views)):
                probability = np.exp(log_prior) * np.prod([own[r] for own, r in zip(views, rows, strict=True)])
                law[state, tuple(self.states[r] for r in rows)] = float(probability)
        return law

    @cached_property
    def _log_columns_given_data(self) -> np.ndarray:
        return self.log_joint() - self.log_evidence

    def law(self, column: int = 0) -> dict[tuple[Partition, Partition], float]:
        """Return the probability of every (column partition, row partition of the view of `column`)."""
        law = {}
        for state, log_prior in zip(self.column_states, self._log_columns_given_data, strict=True):
            members = next(b for b in blocks(state) if column in b)
            probabilities = np.exp(log_prior) * softmax(self.log_view(members))
            law |= {(state, rows): float(p) for rows, p in zip(self.states, probabilities, strict=True)}
        return law

    def dependence(self) -> np.ndarray:
        """Return the probability that two columns share a view, shape (n_columns, n_columns)."""
        labels = np.array(self.column_states)
        together = labels[:, :, None] == labels[:, None, :]
        return np.einsum("s,sij->ij", np.exp(self._log_columns_given_data), together)

    # --- hyperparameters ---

    def column_prior_posterior(self) -> np.ndarray:
        """Return p(alpha, d of the column partition | data), shape (n_concentrations, n_discounts)."""
        given = softmax(self._log_column_prior, axis=1)
        return (np.exp(self._log_columns_given_data) @ given).reshape(self.column_prior_shape)

    def prior_posterior(self, column: int = 0) -> np.ndarray:
        """Return p(alpha, d of the view of `column` | data), shape (n_concentrations, n_discounts)."""
        rows = np.reshape(list(self.law(column).values()), (len(self.column_states), -1)).sum(axis=0)
        return (rows @ softmax(self._log_prior, axis=1)).reshape(self.prior_shape)

    def hyperparameter_posteriors(self, column: int) -> dict[str, list[np.ndarray]]:
        """Return the posterior marginal of each hyperparameter of a column: one array per coordinate."""
        points = self._log_likelihoods[column].T[:, :, None]
        joint = softmax([logsumexp(self.log_joint({column: point})) for point in points])
        joint = joint.reshape([length for _, length in self.axes[column]])
        marginals: dict[str, list[np.ndarray]] = {}
        for axis, (name, _) in enumerate(self.axes[column]):
            others = tuple(other for other in range(joint.ndim) if other != axis)
            marginals.setdefault(name, []).append(joint.sum(axis=others))
        return marginals

    # --- prediction ---

    def log_predictive(self, new_rows: Sequence[np.ndarray]) -> np.ndarray:
        """Return log p(new row | data) of each new row alone, as a ratio of evidences, shape (n_new,).

        `new_rows` holds, column by column, the new cells; missing ones are marginalised. The difference of two such
        rows, of which one shows fewer cells, is a conditional density.
        """
        self._check_unheated()
        wider = []
        for cells in zip(*new_rows, strict=True):
            columns = [
                (kind, np.append(np.asarray(x, dtype=float), cell), params)
                for (kind, x, params), cell in zip(self.columns, cells, strict=True)
            ]
            wider.append(replace(self, columns=columns).log_evidence)
        return np.array(wider) - self.log_evidence


def fixed_views(
    columns: Sequence[Column],
    row_prior: tuple[float, float],
    column_prior: tuple[float, float],
    beta: float = 1.0,
) -> ExactViews:
    """Return the exact cross-categorization with all hyperparameters known; the priors are pairs (alpha, d).

    Examples
    --------
    >>> flags = ("boolean", [1, 0], {"alpha": 1.0, "beta": 1.0})
    >>> views = fixed_views([flags, flags], (1.0, 0.0), (1.0, 0.0))
    >>> len(views.posterior())  # one view of two partitions, or two of them
    6
    """
    return _with_column_prior(
        fixed_mixture(columns, *row_prior, beta), *(np.array([value]) for value in column_prior), (1, 1)
    )


def grid_views(
    columns: Sequence[tuple[str, np.ndarray, Mapping[str, Any]]],
    row_prior_grid: Mapping[str, Any],
    column_prior_grid: Mapping[str, Any],
    beta: float = 1.0,
) -> ExactViews:
    """Return the exact cross-categorization with all hyperparameters on grids, given as to `grid_mixture`."""
    alpha, d = (np.atleast_1d(np.asarray(column_prior_grid[name], dtype=float)) for name in ("alpha", "d"))
    mesh = np.meshgrid(alpha, d, indexing="ij")
    rows = grid_mixture(columns, row_prior_grid, beta)
    return _with_column_prior(rows, mesh[0].ravel(), mesh[1].ravel(), (len(alpha), len(d)))


def _with_column_prior(rows, concentrations, discounts, shape):
    return ExactViews(
        rows.columns,
        rows.axes,
        rows.concentrations,
        rows.discounts,
        rows.prior_shape,
        rows.beta,
        column_concentrations=concentrations,
        column_discounts=discounts,
        column_prior_shape=shape,
    )
