"""Imputations, methods of a fitted CrossCat: missing cells filled by their best prediction, or by several draws."""

from __future__ import annotations

from math import inf

import numpy as np

from sklearn_subanneal._core.arguments import checked_flag
from sklearn_subanneal.annealing import clock
from sklearn_subanneal.estimators import _parts
from sklearn_subanneal.estimators._filled_tables import filled_table, filled_tables
from sklearn_subanneal.estimators._sampling import sampling_generator
from sklearn_subanneal.mixtures.ensemble import missing
from sklearn_subanneal.mixtures.limited_rows import limited_imputations
from sklearn_subanneal.mixtures.missing_cells import spread_draws
from sklearn_subanneal.views.column_pools import learned_pools
from sklearn_subanneal.views.imputations import imputed_table
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.refinements import Refinements
from sklearn_subanneal.views.residual_regression import learned_regressions
from sklearn_subanneal.views.views_predictive import ensemble_of_views, left_out

NO_REFINEMENTS = Refinements()
# Among so many training rows, evenly spaced, are those from which refinements are learned.
MOST_LEFT_OUT = 20_000


class Imputations:
    """Single and multiple imputation: a mixin for an estimator whose draws are those of views.

    It reads ``_table``, ``_models``, ``_draws``, ``_flat_draws()``, ``_draw_weights()``, ``_encode(X)``, ``_results``,
    ``_copies``, ``_seen_rows(arrays)`` and ``_are_seen(arrays, seen)``.
    """

    def impute(self, X, return_uncertainty: bool = False, *, seen: bool | None = None):
        """Fill the missing cells of X, given the other cells of their rows.

        Reals are filled by their posterior mean (of the direction, where they are cyclic; an atom of a semicontinuous
        column takes its place if its probability is at least 0.9), skewed columns by the median, of columns with at
        most 20 numbers that repeat by the nearest of these (or an atom of probability 0.5), columns of whole numbers
        and counts by the mean rounded, ordinal columns by the median level, categories by the most probable one, dates
        by one near the mean that agrees with the other parts, under the conditional of the density that
        ``score_samples`` reports: the weight of a draw is the density of all observed cells of the row, which is exact
        for new rows. With full covariance, the mean of each draw is limited to the range of the training cells, and its
        standard deviation to the length of that range; :meth:`predict_column` may leave it.

        Observed cells stay, also those that count as missing, such as a category that ``fit`` did not see: these are
        filled with ``unseen="missing"``, or if their column cannot hold them, such as a text among numbers. Integers
        beyond 2**53, which the model rounds, stay in columns of a DataFrame whose dtype has such.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        return_uncertainty : bool, default=False
        seen : bool or None, default=None
            Whether the rows of X are rows that ``fit`` was given. Its draws know them already, and count equally. None:
            whether X is the table that ``fit`` was given. If it is, each row is imputed by the other rows of its
            clusters.

        Returns
        -------
        filled : ndarray or DataFrame of shape (n_samples, n_features)
        uncertainty : ndarray of shape (n_samples, n_features)
            Only if ``return_uncertainty``: posterior standard deviation of reals, counts and, in days, dates (the
            variance of a cluster with fewer than three degrees of freedom is taken as for three), and for categories
            the probability that the value is another; 0 where the cell was observed.

        See Also
        --------
        BayesianImputer : Better predictions, which are learned, in addition, from the errors of the model.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> filled, uncertainty = model.impute([[8.0, np.nan], [0.0, 0.0]], return_uncertainty=True)
        >>> filled
        array([[8., 1.],
               [0., 0.]])
        >>> bool(0.0 < uncertainty[0, 1] < 0.5)
        True
        """
        return_uncertainty = checked_flag("return_uncertainty", return_uncertainty)
        seen = seen if seen is None else checked_flag("seen", seen)
        return self._imputed(X, return_uncertainty, seen)

    def _imputed(self, X, return_uncertainty=False, seen=None, refinements=NO_REFINEMENTS):
        """What ``impute`` gives, but refined."""
        arrays = self._encode(X)
        # Of the training table itself, it is known which row is in which clusters, and each is left out of its own.
        is_whole = (seen is None or seen) and self._are_seen(arrays, None)
        with self._average() as average:
            if is_whole:
                filled, uncertainty = self._impute_left_out(average, arrays, refinements)
            else:
                filled, uncertainty = self._filled(average, arrays, bool(seen), refinements)
        return filled_table(self, X, arrays, filled, uncertainty, return_uncertainty)

    def _filled(self, average, arrays, seen, refinements):
        predicted = refinements.room(len(arrays[0]))
        filled, spreads = _parts.filled_parts(self._table, average, arrays, seen, predicted=predicted)
        refinements.refine(average, arrays, filled, spreads, predicted)
        return filled, spreads

    def _impute_left_out(self, average, arrays, refinements):
        """As ``_filled``, each row of the training table left out of its clusters in each draw.

        Given a draw, the cluster of a row and its missing cells then have their conditional distribution given all
        else. The statistics of the clusters have values for the missing cells, those of the row itself among them.
        """
        rows = np.flatnonzero(missing(arrays).any(axis=1))
        absent = np.isin(rows, self._copies.absent)
        filled, spreads = [np.array(a) for a in arrays], [np.zeros(len(a)) for a in arrays]
        for some, is_new in ((rows[~absent], False), (rows[absent], True)):
            if not some.size:
                continue
            cells, used = [array[some] for array in arrays], average
            if not is_new:
                used = left_out(self._models, self._flat_draws(), self._seen_rows(arrays).take(some), cells)
            imputed = self._filled(used, cells, not is_new, refinements)
            for whole, own in zip((filled, spreads), imputed, strict=True):
                for column, values in zip(whole, own, strict=True):
                    column[some] = values
        return filled, spreads

    def _refinements(self, X, seconds: float = inf) -> Refinements:
        """Those of the columns of the training table X that are neither split nor derived.

        After half of the time no further pool is begun, and at its end no further regression.
        """
        start = clock.now()
        arrays, models = self._encode(X), self._models
        columns = [
            at[0]
            for column, at in zip(self._table.columns, self._table.places, strict=True)
            if column.split is None and column.derivation is None
        ]
        labels = [own for result in self._results for own in result.labels]
        left_out = LeftOutRows(*self._some_seen_rows(arrays, MOST_LEFT_OUT))
        modelled = [array[self._copies.rows] for array in arrays]
        discrete = [j for j in columns if models[j].discrete]
        return Refinements(
            *learned_pools(models, self._draws, labels, modelled, left_out, discrete, start + seconds / 2.0),
            *learned_regressions(models, self._flat_draws(), left_out, columns, start + seconds),
        )

    def sample_imputations(self, X, n_imputations: int = 20, random_state=None) -> list:
        """Multiple imputation: copies of X in which missing cells are drawn from the posterior.

        Analyses of each of them, pooled by :func:`~sklearn_subanneal.posterior.pool_estimates`, account for what is not
        known of the missing cells; those of one table by :meth:`impute`, which has the most probable values, do not.

        If X is the table that ``fit`` was given, each copy belongs to one draw of the posterior, evenly spaced over the
        chains by their weights, and the missing cells of all rows are drawn together: they share what is not known of
        their clusters. New rows are independent of one another: each has its own draw, by the density of its observed
        cells. Real and skewed cells with full covariance are drawn within the range of the training cells of their
        column, and other numbers at most as far beyond it as it is wide: cells beyond are drawn again. Where all
        training cells are whole numbers, drawn ones are rounded. Observed cells stay as in :meth:`impute`.

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
            If ``n_imputations`` is no positive integer.

        References
        ----------
        D. B. Rubin (1987), Multiple imputation for nonresponse in surveys, Wiley.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> X = np.repeat([0.0, 8.0], 30)[:, None] + np.random.default_rng(0).normal(size=(60, 2))
        >>> X[5, 1] = np.nan
        >>> tables = CrossCat(n_chains=2, random_state=0).fit(X).sample_imputations(X, 50, random_state=0)
        >>> values = np.array([table[5, 1] for table in tables])
        >>> bool(0.5 < values.std() < 2.0 and abs(values.mean()) < 1.0)
        True
        """
        arrays = self._encode(X)
        generator = sampling_generator(n_imputations, random_state, "n_imputations")
        if self._are_seen(arrays, None):
            numbers = spread_draws(self._draw_weights().ravel(), n_imputations, generator)
            tables = [self._imputed_table(arrays, number, generator) for number in numbers]
        else:
            with self._average() as average:
                tables = [limited_imputations(average, arrays, generator) for _ in range(n_imputations)]
        return filled_tables(self, X, arrays, tables)

    def _imputed_table(self, arrays, number, generator):
        """The training table by the draw of this number; rows of weight 0 are new to it."""
        draw, chain = self._flat_draws()[number], number // len(self._draws[0])
        labels = self._results[chain].labels[number % len(self._draws[0])]
        modelled = [array[self._copies.rows] for array in arrays]
        filled = imputed_table(self._models, draw, labels, modelled, generator)
        filled = [self._copies.of_table(cells, 0) for cells in filled]
        if (absent := self._copies.absent).size:
            average = ensemble_of_views(self._models, [draw])
            drawn = limited_imputations(average, [array[absent] for array in arrays], generator)
            for cells, own in zip(filled, drawn, strict=True):
                cells[absent] = own
        return filled
