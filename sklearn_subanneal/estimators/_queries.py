"""PredictiveQueries, methods of a fitted CrossCat: densities, samples and predictions."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import checked_flag
from sklearn_subanneal.estimators import _parts
from sklearn_subanneal.estimators._evidence import as_evidence, column_index, evidence, unknown_where_given
from sklearn_subanneal.estimators._imputations import Imputations
from sklearn_subanneal.estimators._questions import Questions
from sklearn_subanneal.estimators._sampling import sampling_generator, with_missing_cells
from sklearn_subanneal.mixtures.ensemble import Ensemble, missing
from sklearn_subanneal.mixtures.limited_rows import limited_rows
from sklearn_subanneal.tables.date_dtypes import with_zone
from sklearn_subanneal.views.views_predictive import ensemble_of_views, united


class PredictiveQueries(Imputations, Questions):
    """Conditional and predictive distributions: a mixin for an estimator whose draws are those of views.

    It reads ``_table``, ``_models``, ``_flat_draws()``, ``_encode(X, scored=)`` and ``_are_seen(arrays, seen)``. Every
    answer is of one distribution, the posterior predictive averaged over draws and chains, and its conditionals. In one
    draw, with cluster weights w and views v, log p(x) = sum_v log sum_k w_vk prod_j p(x_j | cluster k of v), where j is
    a column, or the block of all joint reals of the view.

    References
    ----------
    V. Mansinghka, P. Shafto, E. Jonas, C. Petschulat, M. Gasner, J. B. Tenenbaum (2016), CrossCat: a fully Bayesian
    nonparametric method for analyzing heterogeneous, high dimensional data, JMLR 17(138), 1-49.
    """

    def score_samples(self, X, given=None) -> np.ndarray:
        """Log posterior predictive density of each row, averaged over draws and chains, in the units of the data.

        Missing cells are marginalised; a category, boolean or count has a probability, a real a density. A cell of a
        semicontinuous column has a probability where it is an atom, and a density elsewhere. All categories that
        ``fit`` did not see are one value: with the known ones, their probabilities add up to 1. A date has the product
        of the densities of its parts, per day. A row with all cells missing scores 0 if there is no missing indicator.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        given : array-like or DataFrame of shape (1, n_features) or (n_samples, n_features), or dict, default=None
            Evidence: log p(X | given) is returned. A table like X, missing where nothing is given, with one row for all
            rows of X or one for each; or a dict from names or indices of columns to values. A cell that is in X as well
            counts as given.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            If the evidence names an unknown column, is contradictory to X, or is outside a column's domain.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> X = np.repeat([[0.0], [8.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
        >>> model = CrossCat(n_chains=2, random_state=0).fit(X)
        >>> near, far = model.score_samples([[0.0, np.nan], [8.0, np.nan]], given={1: 1.0})
        >>> bool(near > far)
        True
        """
        arrays = self._encode(X, scored=True)
        cells = None
        if given is not None:
            cells = evidence(self, self._table, given, len(arrays[0]))
            arrays = unknown_where_given(self._table, arrays, cells)
        if cells is None:
            return self._by_rows(Ensemble.score, arrays)
        return self._by_rows(Ensemble.score, united(self._models, arrays, cells)) - self._by_rows(Ensemble.score, cells)

    def sample(self, n_samples: int = 1, given=None, random_state=None, *, keep_missing: bool = False):
        """Draw rows from the posterior predictive distribution, given some cells.

        Reals and counts are at most as far beyond the training cells as their range: others are drawn again, given the
        other cells of their rows, as the tails of new and of small clusters are too heavy for any moments. Where all
        training cells are whole numbers, drawn ones are rounded.

        Parameters
        ----------
        n_samples : int, default=1
        given : dict, or array-like or DataFrame of shape (1, n_features), default=None
            Evidence, as in :meth:`score_samples`: all rows have these cells.
        random_state : int, RandomState instance, Generator or None, default=None
        keep_missing : bool, default=False
            Whether cells are missing as in the training table. False: no cell is, but for columns with a missing
            indicator. True: those of other columns are as well, each row with the pattern of a training row, the donor.
            Donors have the given cells, which are never missing. Of them one is drawn that is in the row's cluster in
            the view with the most missing cells, and, among these, in that of the view with the next most, and so on,
            as far as there are any. So cells that are missing together stay so, and missing cells depend on the values
            of a row by way of its clusters only. Values are drawn as if cells were missing at random.

        Returns
        -------
        X : ndarray or DataFrame of shape (n_samples, n_features)
            Samples in the container type that ``fit`` received.

        Raises
        ------
        ValueError
            If ``n_samples`` is no positive integer, or the evidence is not as described.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> rows = model.sample(100, given={1: 1.0}, random_state=0)
        >>> bool(np.median(rows[:, 0]) > 7.0)
        True
        """
        check_is_fitted(self)
        generator, keep_missing = (
            sampling_generator(n_samples, random_state),
            checked_flag("keep_missing", keep_missing),
        )
        cells = None if given is None else evidence(self, self._table, given, 1)
        made = np.ones((1, len(self._table.parts)), bool) if cells is None else missing(cells)
        with self._average() as average:
            rows = limited_rows(average, n_samples, generator, cells)
            if keep_missing:
                rows, made = with_missing_cells(self, average, rows, made, cells, generator)
        return self._table.decode(rows, made=made)

    def predict_column(self, column, X) -> np.ndarray:
        """Predict one column from the others.

        Parameters
        ----------
        column : str or int
            Its name or index.
        X : array-like or DataFrame of shape (n_samples, n_features)
            The table, the column itself included; its cells are ignored, and may be missing.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            The posterior mean of a real or a count, the most probable value of a categorical, ordinal or boolean
            column, a date as ``impute`` has it, in its time zone. Of a skewed column the median; with full covariance
            the mean of its transformed cells, transformed back, which may be far from the median if several clusters
            are probable (``conditional_quantiles`` has that). With full covariance, the mean of each draw is at most as
            far beyond the cells of ``fit`` as these are from one another.

        Raises
        ------
        ValueError
            If there is no such column.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> model.predict_column(1, [[0.0, np.nan], [8.0, np.nan]])
        array([0., 1.])
        """
        j, values = self._given_others(column, X)
        found = self._table.columns[j]
        if values.dtype.kind == "M":
            return with_zone(values, found.dtype, self._table.container)
        return values if found.categories is None else found.categories[values.argmax(axis=1)]

    def predict_column_proba(self, column, X) -> np.ndarray:
        """Probabilities of the values of one categorical, ordinal or boolean column, given the others.

        Parameters
        ----------
        column : str or int
            Its name or index.
        X : array-like or DataFrame of shape (n_samples, n_features)
            The table, the column itself included; its cells are ignored, and may be missing.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_categories)
            In the order of :meth:`column_categories`, given that the value is one of them.

        Raises
        ------
        ValueError
            If there is no such column, or it has no categories.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> bool(model.predict_column_proba(1, [[8.0, np.nan]])[0, 1] > 0.9)
        True
        """
        self.column_categories(column)
        return self._given_others(column, X)[1]

    def column_categories(self, column) -> np.ndarray:
        """The values of a categorical, ordinal or boolean column, in the order of :meth:`predict_column_proba`.

        They are those that occur, and those that a categorical dtype declares (of pandas, or an Enum of polars).

        Parameters
        ----------
        column : str or int
            Its name or index.

        Returns
        -------
        categories : ndarray of shape (n_categories,)

        Raises
        ------
        ValueError
            If there is no such column, or it has no categories.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> model.column_categories("x1")
        array([0., 1.])
        """
        check_is_fitted(self)
        found = self._table.columns[column_index(self._table, "column", column)]
        if found.categories is None:
            raise ValueError(
                f"Column {found.name!r} is {found.kind} and has no categories; use predict_column for its mean, or "
                "declare it 'categorical' in feature_types"
            )
        return found.categories.copy()

    def _new_average(self):
        return ensemble_of_views(self._models, self._flat_draws())

    def _given_others(self, column, X):
        """Index of a column, and its predictive distribution given the other columns."""
        check_is_fitted(self)
        j = column_index(self._table, "column", column)
        arrays = self._table.encode(self, X, as_evidence(self.unseen), without=j)
        with self._average() as average:
            return j, _parts.predicted_column(self._table, average, arrays, j)
