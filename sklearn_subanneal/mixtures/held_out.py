"""HeldOut: what the draws of a mixture say of rows that are held out, their densities and their cells one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.mixtures.predictive import ensemble_of_mixtures

# Cells of so many groups of columns are hidden in turn, and predicted from the others.
N_GROUPS = 4
# An error below this share of the standard deviation of its column is none.
NO_ERROR = 1e-3


@dataclass(frozen=True)
class HeldOut:
    """Predictions of rows that a chain has not seen.

    Attributes
    ----------
    log_densities : ndarray of shape (n_rows,)
    errors : ndarray of shape (n_rows, n_columns)
        Absolute errors of the cells of some real columns, predicted from cells of other columns, in standard deviations
        of the column; NaN where the cell is missing.
    """

    log_densities: np.ndarray
    errors: np.ndarray

    @classmethod
    def of(cls, models, draws, arrays: Sequence[np.ndarray], columns: Sequence[int]) -> HeldOut:
        """Predictions of rows by the draws of a chain.

        Parameters
        ----------
        models, draws
            Of a mixture.
        arrays : sequence of ndarray of shape (n_rows,)
            The rows as typed columns.
        columns : sequence of int
            Places of the real columns whose cells are predicted.
        """
        average, errors = ensemble_of_mixtures(models, draws), np.empty((len(arrays[0]), len(columns)))
        for group in range(min(N_GROUPS, len(columns))):
            hidden = set(columns[group::N_GROUPS])
            filled, _ = average.impute(
                [np.full_like(array, np.nan) if j in hidden else array for j, array in enumerate(arrays)]
            )
            for place in range(group, len(columns), N_GROUPS):
                j = columns[place]
                known = arrays[j][~np.isnan(arrays[j])]
                with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                    errors[:, place] = np.abs(filled[j] - arrays[j]) / (known.std() if len(known) else np.nan)
        return cls(average.score(arrays), errors)


def log_gain(ours: Sequence[HeldOut], others: Sequence[HeldOut]) -> float:
    """By how much one model predicts held-out rows better than another, in nats per row.

    The mean of the differences of the log densities, and for each column the logarithm of the ratio of the mean errors:
    what the densities of single cells would gain if they were as wide as the errors say. Where values repeat, clusters
    of single values have any density, and only the errors tell whether such a model predicts anything.

    Parameters
    ----------
    ours, others : sequence of HeldOut
        Of the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.mixtures.held_out import HeldOut, log_gain
    >>> ours = HeldOut(np.array([-1.0, -2.0]), np.array([[0.1], [0.3]]))
    >>> round(log_gain([ours], [HeldOut(np.array([-1.5, -2.0]), np.array([[0.2], [0.6]]))]), 2)  # 1 / 4 + log(2)
    0.94
    """
    densities = [np.concatenate([own.log_densities for own in found]) for found in (ours, others)]
    errors = [_mean_errors(np.vstack([own.errors for own in found])) for found in (ours, others)]
    # A row of density 0 under both, and a column without finite errors, say nothing.
    with np.errstate(invalid="ignore"):
        of_rows = np.nan_to_num(densities[0] - densities[1], nan=0.0).mean()
        of_cells = np.nan_to_num(np.log(errors[1] + NO_ERROR) - np.log(errors[0] + NO_ERROR), nan=0.0).sum()
    return float(of_rows + of_cells)


def _mean_errors(errors: np.ndarray) -> np.ndarray:
    """Mean error of each column, NaN where no cell is known."""
    known = ~np.isnan(errors)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return np.where(known, errors, 0.0).sum(axis=0) / known.sum(axis=0)
