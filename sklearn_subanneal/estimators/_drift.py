"""Drift: whether new rows have another distribution than training rows, column by column."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from scipy.stats import chi2_contingency, fisher_exact, ks_2samp, norm
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.columns.categorical import Boolean, Categorical
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.schema import Table

# Training rows, evenly spaced, with which new ones are compared, at most.
MOST_COMPARED = 5000
# Larger surprisals of cells count as much as this quantile of those of training rows.
LARGEST_QUANTILE = 0.99
# Rare values are counted together until so many are expected in either table, as a chi-square test needs.
LEAST_EXPECTED = 5.0
# Mean surprisals that differ by hundredths of a nat are no drift. Those of a constant column are the same in all rows.
SMALL_DIFFERENCE = 0.01


class ColumnDrift(NamedTuple):
    """How much a column of new rows differs from that of training rows.

    Attributes
    ----------
    column : str
    p_value : float
        Of the hypothesis that the column does not differ: three times the least of the others, at most 1.
    p_cells, p_missing, p_given_others : float
        Of the observed cells (Kolmogorov-Smirnov; for categories, chi-square, and Fisher's exact test of the share of
        new ones), of the share of missing cells (Fisher), and of the mean surprisal of cells given the others of their
        rows, of dependence: a z test, in which new rows may be as much more surprising than training rows as rows that
        were left out of other models. Categories that no other training row has have no part in the last. Where a
        column is a function of another one in ``fit``, the two have one model, and each is tested in the rows in which
        it has a cell itself; cells that contradict the function count as missing.
    """

    column: str
    p_value: float
    p_cells: float
    p_missing: float
    p_given_others: float


@dataclass(frozen=True, eq=False)
class TrainingCells:
    """Cells of training rows, and their surprisal, as new rows are compared with them.

    Attributes
    ----------
    table : Table
    cells : list of ndarray of shape (n_rows,)
        Typed columns of some rows.
    surprisal : ndarray of shape (n_rows, n_columns)
        Given the other cells and rows, without the units of the columns: cells that have a density and atoms of a
        column are averaged. NaN for missing cells, and for categories that no other row has.
    largest : ndarray of shape (n_columns,)
        Larger surprisals count as much as these.
    counts : dict of int to ndarray
        How often each category of each part that has categories occurs in the training table.
    optimism, variance : ndarray of shape (n_columns,)
        By how much the mean surprisal of new rows is expected to be higher, and the variance of this estimate.
    gaps : ndarray of bool, shape (n_rows, n_columns)
        Which cells are missing, as :func:`gaps_of_columns` gives them.
    """

    table: Table
    cells: list[np.ndarray]
    surprisal: np.ndarray
    largest: np.ndarray
    counts: dict[int, np.ndarray]
    optimism: np.ndarray
    variance: np.ndarray
    gaps: np.ndarray

    @classmethod
    def of(cls, table: Table, cells: Sequence[np.ndarray], surprisal: np.ndarray, gaps: np.ndarray) -> Self:
        """Those of all training rows.

        Parameters
        ----------
        table : Table
        cells : list of ndarray of shape (n_rows,)
        surprisal : ndarray of shape (n_rows, n_columns)
        gaps : ndarray of bool, shape (n_rows, n_columns)
        """
        counts = {
            place: np.bincount(cells[place][cells[place] >= 0])
            for place, part in enumerate(table.parts)
            if part.kind in (Categorical.kind, Boolean.kind)
        }
        surprisal = _without_lone(table, cells, _of_own_cells(table, surprisal, gaps), counts, 2)
        some = slice(None, None, -(-len(surprisal) // MOST_COMPARED))
        n_columns, largest = surprisal.shape[1], np.full(surprisal.shape[1], np.inf)
        for j in np.flatnonzero(~np.isnan(surprisal).all(axis=0)):
            largest[j] = np.nanquantile(surprisal[:, j], LARGEST_QUANTILE)
        nothing = np.zeros(n_columns)
        cells = [own[some] for own in cells]
        return cls(table, cells, surprisal[some], largest, counts, nothing, nothing, gaps[some])

    def excess(
        self, cells: Sequence[np.ndarray], surprisal: np.ndarray, gaps: np.ndarray, is_new: np.ndarray
    ) -> np.ndarray:
        """By how much rows of another table are more surprising: mean, its variance, and number of cells, by column.

        The arguments are those of :meth:`drifts`.
        """
        found = np.zeros((3, len(self.largest)))
        surprisal = _of_own_cells(self.table, surprisal, gaps)
        surprisal = _without_lone(self.table, cells, surprisal, self.counts, np.where(is_new, 1, 2))
        for j, largest in enumerate(self.largest):
            own, others = (np.minimum(s[~np.isnan(s[:, j]), j], largest) for s in (self.surprisal, surprisal))
            if min(len(own), len(others)) >= 2:
                variance = own.var(ddof=1) / len(own) + others.var(ddof=1) / len(others)
                found[:, j] = others.mean() - own.mean(), variance, len(others)
        return found

    def with_optimism(self, excesses: Sequence[np.ndarray]) -> Self:
        """The same, with the excess of rows that were left out of models of some rows each, as they have found it."""
        means, variances, numbers = np.moveaxis(np.reshape(excesses, (-1, 3, len(self.largest))), 1, 0)
        total = np.maximum(numbers.sum(axis=0), 1.0)
        optimism = np.sum(numbers * means, axis=0) / total
        return replace(self, optimism=optimism, variance=np.sum(numbers**2 * variances, axis=0) / total**2)

    def drifts(
        self, cells: Sequence[np.ndarray], surprisal: np.ndarray, gaps: np.ndarray, is_new: np.ndarray
    ) -> list[ColumnDrift]:
        """Each column of another table against the training table, those that differ most first.

        Parameters
        ----------
        cells : list of ndarray of shape (n_rows,)
        surprisal : ndarray of shape (n_rows, n_columns)
        gaps : ndarray of bool, shape (n_rows, n_columns)
        is_new : ndarray of bool, shape (n_rows,)
            The rows that are no training rows.
        """
        share_new = is_new.mean() if len(is_new) else 0.0
        mean, variance, numbers = self.excess(cells, surprisal, gaps, is_new)
        deviation = np.sqrt(variance + share_new**2 * self.variance + SMALL_DIFFERENCE**2)
        z = (mean - share_new * self.optimism) / deviation
        given = np.where(numbers > 0.0, 2.0 * norm.sf(np.abs(z)), 1.0)
        out = []
        for j, (column, at) in enumerate(zip(self.table.columns, self.table.places, strict=True)):
            # Parts may have cells that another column fills; an indicator is in all rows.
            seen = [(~self.gaps[:, j], ~gaps[:, j])] * len(at)
            if column.indicator is not None:
                seen[-1] = slice(None), slice(None)
            of_cells = len(at) * min(
                self._p_of_part(p, self.cells[p][own], cells[p][other], is_new[other])
                for p, (own, other) in zip(at, seen, strict=True)
            )
            missing = _p_of_counts(*(np.bincount(own[:, j], minlength=2) for own in (self.gaps, gaps)))
            found = [min(float(p), 1.0) for p in (of_cells, missing, given[j])]
            out.append(ColumnDrift(column.name, min(3.0 * min(found), 1.0), *found))
        return sorted(out, key=lambda drift: drift.p_value)

    def _p_of_part(self, place: int, some: np.ndarray, others: np.ndarray, is_new: np.ndarray) -> float:
        cells, own = (x[~is_missing(x)] for x in (some, others))
        if not len(cells) or not len(own):
            return 1.0
        if cells.dtype.kind == "f":
            return ks_2samp(cells, own).pvalue
        if place not in self.counts:
            # Counts may be large, and few of them occur.
            p, unseen = ks_2samp(cells, own).pvalue, np.empty(0, int)
        else:
            counts = self.counts[place]
            p = _p_of_unseen(counts, others[is_new & ~is_missing(others)])
            unseen = np.flatnonzero(_occurrences(counts, own) == 0)
        # A code stands for all categories that are new.
        own = np.delete(own, unseen)
        values, codes = np.unique(np.concatenate([cells, own]), return_inverse=True)
        some, new = (np.bincount(x, minlength=len(values)) for x in np.split(codes, [len(cells)]))
        return min(2.0 * min(p, _p_of_counts(*_with_rest(some, new, len(unseen)))), 1.0)


class DriftQueries:
    """The method that compares a new table with the training table: a mixin for a fitted detector.

    It reads ``crosscat_``, ``_known``, the index of its training rows, ``_compared``, its :class:`TrainingCells`,
    ``_cell_units``, and ``_surprisal(arrays)``.
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
        gaps = gaps_of_columns(self.crosscat_, X)
        surprisal = self._cell_units.of_cells(arrays, self._surprisal(arrays))
        return self._compared.drifts(arrays, surprisal, gaps, self._known.places(arrays) < 0)


def gaps_of_columns(model, X) -> np.ndarray:
    """Which cells of a table are missing, each column by itself.

    A gap that a function of the column fills is one, and so is a cell of such a function that contradicts the column.

    Parameters
    ----------
    model : CrossCat
    X : array-like or DataFrame of shape (n_rows, n_columns)
        A table that the model has encoded: what there is to warn of was said then.

    Returns
    -------
    gaps : ndarray of bool, shape (n_rows, n_columns)
    """
    is_function = [column.derivation is not None for column in model._table.columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        gaps = model._table.gaps(model, X, model.unseen)
    if any(is_function):
        gaps |= model._table.impossible(model, X) & is_function
    return gaps


def _of_own_cells(table, surprisal, gaps):
    """Surprisals, NaN where another column says the cell; that of an indicator is there wherever the cell is not."""
    return np.where(gaps & [column.indicator is None for column in table.columns], np.nan, surprisal)


def _without_lone(table, cells, surprisal, counts, least):
    """Surprisals, NaN where a category occurs less often in the training table than ``least`` times."""
    out = surprisal.copy()
    for j, at in enumerate(table.places):
        for place in (p for p in at if p in counts):
            out[_occurrences(counts[place], cells[place]) < least, j] = np.nan
    return out


def _occurrences(counts, codes):
    """How often categories occur in the training table; those that do not, and missing cells, 0 times."""
    return np.append(counts, 0)[np.where(codes < 0, len(counts), np.minimum(codes, len(counts)))]


def _p_of_unseen(counts, codes):
    """Of the share of categories that are new, by that of categories that no other training row has."""
    lone, unseen = counts[counts == 1].sum(), np.sum(_occurrences(counts, codes) == 0)
    return _p_of_counts(np.array([lone, counts.sum() - lone]), np.array([unseen, len(codes) - unseen]))


def _with_rest(some, new, n_unseen):
    """Counts of values in two tables, of which rare ones, and those that are unseen, are counted together."""
    n = some.sum(), new.sum() + n_unseen
    share = min(n) / sum(n)
    expected = (some + new) * share
    is_rare = expected < LEAST_EXPECTED
    if 0.0 < expected[is_rare].sum() + n_unseen * share < LEAST_EXPECTED and not is_rare.all():
        is_rare[np.argmin(np.where(is_rare, np.inf, expected))] = True
    return np.append(some[~is_rare], some[is_rare].sum()), np.append(new[~is_rare], new[is_rare].sum() + n_unseen)


def _p_of_counts(some, others):
    counts = np.stack([some, others])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2 or not counts.sum(axis=1).all():
        return 1.0
    return fisher_exact(counts).pvalue if counts.shape[1] == 2 else chi2_contingency(counts, correction=False).pvalue
