"""Refinements: what observed cells say of missing ones beyond the posterior predictive, learned from training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.views.logarithmic_pool import LogarithmicPool, pooled_probabilities
from sklearn_subanneal.views.residual_regression import Regressors, ResidualRegression


@dataclass(frozen=True, eq=False)
class Refinements:
    """Better predictions of missing cells, for some of the columns of a table.

    Attributes
    ----------
    draws : ndarray of int
        Numbers of the draws of which the pools are.
    pools : sequence of LogarithmicPool
        Of columns of categories, booleans or levels.
    regressors : Regressors or None
        None: there are no regressions.
    regressions : sequence of ResidualRegression
        Of columns of numbers.
    """

    draws: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    pools: Sequence[LogarithmicPool] = ()
    regressors: Regressors | None = None
    regressions: Sequence[ResidualRegression] = ()

    def room(self, n_rows: int) -> dict[int, np.ndarray]:
        """Where :meth:`Ensemble.impute` writes predictions that are not rounded, by column."""
        return {regression.column: np.empty((n_rows, 1)) for regression in self.regressions}

    def refine(
        self,
        average: Ensemble,
        arrays: list[np.ndarray],
        filled: list[np.ndarray],
        uncertainty: list[np.ndarray],
        predicted: dict[int, np.ndarray],
    ) -> None:
        """Write better predictions of missing cells, and their uncertainty, over those of an ensemble.

        Parameters
        ----------
        average : Ensemble
            Of all draws.
        arrays, filled, uncertainty : list of ndarray of shape (n_rows,)
            What :meth:`Ensemble.impute` took, and what it gave.
        predicted : dict of int to ndarray of shape (n_rows, 1)
            Of the columns that have regressions, what it gave before it was rounded.
        """
        values = None
        if any(is_missing(arrays[regression.column]).any() for regression in self.regressions):
            values = self.regressors.values(filled)
        for regression in self.regressions:
            j = regression.column
            rows, model = np.flatnonzero(is_missing(arrays[j])), average.model_at(j)[1]
            if rows.size:
                cells = regression.corrected(model, predicted[j][rows, 0], uncertainty[j][rows], values[rows])
                filled[j][rows] = cells
                uncertainty[j][rows] *= regression.remaining
        rows = [np.flatnonzero(is_missing(arrays[pool.column])) for pool in self.pools]
        for pool, some, shares in pooled_probabilities(self.pools, average, arrays, rows, self.draws):
            value, spread = average.model_at(pool.column)[1].summary(shares, None)
            filled[pool.column][some], uncertainty[pool.column][some] = value[:, 0], spread[:, 0]
