"""MixtureImputations, methods of a fitted mixture: missing cells filled by their prediction, or by several draws."""

from __future__ import annotations

from sklearn_subanneal._core.arguments import checked_flag
from sklearn_subanneal.estimators._filled_tables import filled_table, filled_tables
from sklearn_subanneal.estimators._parts import filled_parts
from sklearn_subanneal.estimators._sampling import sampling_generator
from sklearn_subanneal.mixtures.limited_rows import limited_imputations

NOTHING_TO_FILL = "{} has nothing to fill: a word that does not occur in a document has the count 0."


class MixtureImputations:
    """Single and multiple imputation of rows that count as new: a mixin for an estimator whose draws are mixtures.

    It reads ``_table``, ``_average()``, ``_encode(X)`` and ``_has_documents``.
    """

    def impute(self, X, return_uncertainty: bool = False):
        """Fill the missing cells of X, given the other cells of their rows.

        Reals are filled by their posterior mean (of the direction, where they are cyclic; an atom of a semicontinuous
        column takes its place if its probability is at least 0.9), skewed columns by the median, of columns with at
        most 20 numbers that repeat by the nearest of these (or an atom of probability 0.5), columns of whole numbers
        and counts by the mean rounded, ordinal columns by the median level, categories by the most probable one, dates
        by one near the mean that agrees with the other parts. Each row counts as one that ``fit`` has not seen: its
        missing cells are predicted by the conditional of the density that ``score_samples`` gives. With full
        covariance, skewed cells are filled by their mean, transformed, and transformed back; and the mean of each draw
        is limited to the range of the training cells, its standard deviation to the length of that range. Observed
        cells stay, as in :meth:`CrossCat.impute`.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        return_uncertainty : bool, default=False

        Returns
        -------
        filled : ndarray or DataFrame of shape (n_samples, n_features)
        uncertainty : ndarray of shape (n_samples, n_features)
            Only if ``return_uncertainty``: posterior standard deviation of reals, counts and, in days, dates (the
            variance of a cluster with fewer than three degrees of freedom is taken as for three), and for categories
            the probability that the value is another; 0 where the cell was observed.
        """
        if self._has_documents:
            raise ValueError(NOTHING_TO_FILL.format("impute"))
        return_uncertainty = checked_flag("return_uncertainty", return_uncertainty)
        arrays = self._encode(X)
        with self._average() as average:
            filled, uncertainty = filled_parts(self._table, average, arrays)
        return filled_table(self, X, arrays, filled, uncertainty, return_uncertainty)

    def sample_imputations(self, X, n_imputations: int = 20, random_state=None) -> list:
        """Multiple imputation: copies of X in which missing cells are drawn from the posterior.

        Each row counts as one that ``fit`` has not seen, and has its own draw, by the density of its observed cells.
        :meth:`CrossCat.sample_imputations` is more exact: training rows share what is not known of their clusters.
        Reals are drawn as those of :meth:`sample`.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        n_imputations : int, default=20
        random_state : int, RandomState instance, Generator or None, default=None

        Returns
        -------
        tables : list of ndarray or DataFrame of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            If ``n_imputations`` is no positive integer, or X are documents.
        """
        if self._has_documents:
            raise ValueError(NOTHING_TO_FILL.format("sample_imputations"))
        arrays = self._encode(X)
        generator = sampling_generator(n_imputations, random_state, "n_imputations")
        with self._average() as average:
            tables = [limited_imputations(average, arrays, generator) for _ in range(n_imputations)]
        return filled_tables(self, X, arrays, tables)
