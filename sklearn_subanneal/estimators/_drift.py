"""Drift: whether new rows have another distribution than training rows, column by column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp, ttest_ind
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.schema import Table

# Training rows, evenly spaced, with which new ones are compared, at most.
MOST_COMPARED = 5000
# Larger surprisals of training cells count as much as this quantile of them.
LARGEST_QUANTILE = 0.99


class ColumnDrift(NamedTuple):
    """How much a column of new rows differs from that of training rows.

    Attributes
    ----------
    column : str
    p_value : float
        Of the hypothesis that the column does not differ: three times the least of the others, at most 1.
    p_cells, p_missing, p_given_others : float
        Of the observed cells (Kolmogorov-Smirnov, or chi-square for categories), of the share of missing cells
        (chi-square), and of the mean surprisal of cells given the others of their rows (Welch's test): of dependence.
    """

    column: str
    p_value: float
    p_cells: float
    p_missing: float
    p_given_others: float


class DriftQueries:
    """The method that compares a new table with the training table: a mixin for a fitted detector.

    It reads ``crosscat_``, ``_compared``, typed training cells and their surprisal, and ``_surprisal(arrays)``.
    """

    def drift(self, X) -> list[ColumnDrift]:
        """Whether a new table differs from the training table, column by column.

        Three tests of each column compare the new rows with training rows: their cells, the share of missing cells, and
        the surprisal of cells given the others of their rows, which differs where the dependence on other columns does.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        drifts : list of ColumnDrift
            With ``column``, ``p_value`` (for the three tests together), ``p_cells``, ``p_missing`` and
            ``p_given_others``, the columns that differ most first; ``pandas.DataFrame(drifts)`` is a table. With many
            columns, multiply the p-values by their number.
        """
        check_is_fitted(self)
        arrays = self.crosscat_._encode(X, scored=True)
        training, surprisal = self._compared
        return column_drifts(self.crosscat_._table, training, arrays, surprisal, self._surprisal(arrays))


def column_drifts(table: Table, training, new, surprisal, new_surprisal) -> list[ColumnDrift]:
    """Each column of new rows against that of training rows, those that differ most first.

    Parameters
    ----------
    table : Table
    training, new : list of ndarray
        Typed columns.
    surprisal, new_surprisal : ndarray of shape (n_rows, n_columns) and (n_new, n_columns)
        Training rows given the others; NaN where missing.
    """
    out = []
    for j, (name, at) in enumerate(zip(table.names, table.places, strict=True)):
        cells = min(_p_of_cells(training[p], new[p]) for p in at) * len(at)
        gaps = _p_of_counts(*(np.bincount(is_missing(own[at[0]]), minlength=2) for own in (training, new)))
        given = _p_of_means(*(own[~np.isnan(own[:, j]), j] for own in (surprisal, new_surprisal)))
        found = [min(float(p), 1.0) for p in (cells, gaps, given)]
        out.append(ColumnDrift(name, min(3.0 * min(found), 1.0), *found))
    return sorted(out, key=lambda drift: drift.p_value)


def _p_of_cells(cells, others):
    cells, others = (own[~is_missing(own)] for own in (cells, others))
    if cells.dtype.kind == "f":
        return _p_of_numbers(cells, others)
    # Counts may be large, and few of them occur.
    values, codes = np.unique(np.concatenate([cells, others]), return_inverse=True)
    return _p_of_counts(*(np.bincount(own, minlength=len(values)) for own in np.split(codes, [len(cells)])))


def _p_of_numbers(some, others):
    return ks_2samp(some, others).pvalue if len(some) and len(others) else 1.0


def _p_of_means(some, others):
    """Of surprisals, of which a few may be very large, and many nearly equal."""
    if min(len(some), len(others)) < 2:
        return 1.0
    most = np.quantile(some, LARGEST_QUANTILE)
    some, others = np.minimum(some, most), np.minimum(others, most)
    same = some.var() + others.var() == 0.0
    return float(some.mean() == others.mean()) if same else ttest_ind(some, others, equal_var=False).pvalue


def _p_of_counts(some, others):
    counts = np.stack([some, others])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2 or not counts.sum(axis=1).all():
        return 1.0
    return chi2_contingency(counts, correction=False).pvalue
