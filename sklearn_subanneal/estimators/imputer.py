"""BayesianImputer, a transformer that fills the missing cells of tables of mixed types."""

from __future__ import annotations

from math import inf
from numbers import Integral
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import LARGEST, checked_flag
from sklearn_subanneal._core.constraints import HasMethods, NumberRange
from sklearn_subanneal._core.fit_decorators import fit_context
from sklearn_subanneal._core.random_states import RANDOM_STATE
from sklearn_subanneal.estimators._evidence import as_evidence
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._filled_tables import unmodelled_cells
from sklearn_subanneal.estimators._imputations import Imputations
from sklearn_subanneal.estimators._inner_model import fitted_inner
from sklearn_subanneal.estimators._mixture_imputations import NOTHING_TO_FILL, MixtureImputations
from sklearn_subanneal.estimators._presentation import Presentation
from sklearn_subanneal.estimators._row_metadata import row_metadata
from sklearn_subanneal.tables.indicator_columns import with_indicators


class BayesianImputer(OneToOneFeatureMixin, TransformerMixin, Presentation, BaseEstimator):
    """Imputation of missing cells by a nonparametric Bayesian model of the whole table.

    The model describes how all columns depend on one another, whatever their types, and needs neither a column without
    missing cells nor an encoding of categories. Single imputation predicts each missing cell; multiple imputation draws
    it from the posterior, several times.

    With a :class:`CrossCat`, the predictions of single imputation are refined. In a cross-categorization each column is
    in one view, and depends on those of other views not at all, though they may say something of it, too. So what the
    observed cells say beyond the model is learned from training rows, each predicted by the others. Categories,
    booleans and levels are predicted as by :class:`CrossCatClassifier`: by a logarithmic opinion pool of all views and
    of single columns (Genest and Zidek, 1986), one for each column. Of numbers (real and skewed columns and counts),
    the errors of the model, in units of its standard deviations, are predicted by a ridge regression on all other
    columns, a case of stacking (Wolpert, 1992), where that lowers the errors of rows that are left out. Of categories
    and levels, at most 100 columns are refined, those that miss most cells in ``fit``. Dates, angles and semicontinuous
    columns are filled as by :meth:`CrossCat.impute`, and the draws of multiple imputation are those of the posterior.
    All this is learned after the fit of the model, of columns that miss many cells first; with a ``time_limit`` of the
    model, as long again as one chain may take, and then no further column is begun.

    Parameters
    ----------
    estimator : CrossCat, SubsampleAnnealedDPMM or TreeGuidedNRMM, default=None
        The model, which is cloned. None: ``CrossCat()``. A fitted model in a ``sklearn.frozen.FrozenEstimator`` is
        taken as it is: ``fit`` must then be given its training table, without weights or strata, and a ``CrossCat``
        must have got this table by ``fit``, not by ``partial_fit`` or in shards.
    sample_posterior : bool, default=False
        Whether ``transform`` draws missing cells from the posterior, in place of the mean or the most probable value.
    n_imputations : int, default=20
        Number of tables that :meth:`sample_imputations` gives.
    add_indicator : bool, default=False
        Whether the output has a column more for each one that misses cells in ``fit``, which is true (in arrays 1)
        where a cell was missing.
    random_state : int, RandomState instance, Generator or None, default=None
        Of the fit, in place of that of ``estimator``, and of the draws.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    indicated_ : ndarray of int
        Indices of the columns that miss cells in ``fit``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    See Also
    --------
    CrossCat.impute : Imputations by the posterior predictive distribution alone.
    sklearn_subanneal.posterior.pool_fits : Analyses of several imputations, pooled.

    References
    ----------
    D. B. Rubin (1987), Multiple imputation for nonresponse in surveys, Wiley.

    C. Genest, J. V. Zidek (1986), Combining probability distributions: a critique and an annotated bibliography,
    Statistical Science 1, 114-135.

    D. H. Wolpert (1992), Stacked generalization, Neural Networks 5, 241-259.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import BayesianImputer, CrossCat
    >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
    >>> X = np.column_stack([x, x > 4.0])
    >>> X[0, 1] = X[40, 1] = np.nan
    >>> imputer = BayesianImputer(CrossCat(feature_types={1: "categorical"}, n_chains=2), random_state=0)
    >>> imputer.fit_transform(X)[[0, 40], 1]
    array([0., 1.])
    """

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "impute", "sample_imputations"]), None],
        "sample_posterior": ["boolean"],
        "n_imputations": [NumberRange(Integral, 1, LARGEST, closed="both")],
        "add_indicator": ["boolean"],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        estimator=None,
        *,
        sample_posterior: bool = False,
        n_imputations: int = 20,
        add_indicator: bool = False,
        random_state=None,
    ):
        self.estimator = estimator
        self.sample_posterior = sample_posterior
        self.n_imputations = n_imputations
        self.add_indicator = add_indicator
        self.random_state = random_state

    @property
    def _presented(self):
        return self.estimator_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, sample_weight=None, strata=None) -> Self:
        """Fit the model to the table.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            NaN, None and NA are missing cells.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers: a row of weight w is modelled as w equal rows, and one of weight 0 is left out. None: all
            weights are 1.
        strata : array-like of shape (n_samples,), default=None
            The stratum of each row, as the ``fit`` of :class:`CrossCat` takes them. None: those of the ``subsampling``
            of ``estimator``, if any.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If ``estimator`` is no such model, or one of documents, X is no table, weights or strata are not as
            described, or X has a column with the name of an indicator.
        """
        self._check_estimator()
        with unchanged_on_failure(self):
            of_rows = row_metadata(X, sample_weight, strata)
            self.estimator_ = fitted_inner(self, X, **of_rows)
            # Those that the model has got, by weights of this fit or of its own.
            modelled = np.delete(self._missing(X), self.estimator_._copies.absent, axis=0)
            self.indicated_ = np.flatnonzero(modelled.any(axis=0))
            # Equal names are refused before there is more to learn.
            self.get_feature_names_out()
            is_refined = isinstance(self.estimator_, Imputations)
            self._refinements = None
            if is_refined:
                limit = self.estimator_.time_limit
                self._refinements = self.estimator_._refinements(X, inf if limit is None else limit)
        return self

    def _check_estimator(self):
        model = self.estimator.estimator if isinstance(self.estimator, FrozenEstimator) else self.estimator
        if not isinstance(model, Imputations | MixtureImputations | None):
            raise ValueError(
                "estimator must be a CrossCat, a SubsampleAnnealedDPMM or a TreeGuidedNRMM, or such a model in a "
                f"FrozenEstimator, got {self.estimator!r}"
            )
        if isinstance(model, MixtureImputations) and model._has_documents:
            raise ValueError(NOTHING_TO_FILL.format(type(self).__name__))

    def transform(self, X) -> Any:
        """Fill the missing cells.

        Of the table that ``fit`` was given, each row is imputed by the other rows (`CrossCat`). Observed cells stay,
        categories that ``fit`` did not see as well, unless the model has ``unseen="missing"``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        filled : ndarray or DataFrame of shape (n_samples, n_features_out)
            In the container of ``fit``, with its types, or in that of ``set_output``. With ``add_indicator``, columns
            whose labels are no strings have the names of :meth:`get_feature_names_out`.
        """
        check_is_fitted(self)
        if self.sample_posterior:
            (filled,) = self.estimator_.sample_imputations(X, 1, self.random_state)
        else:
            filled = self.impute(X)
        filled = self._finished(filled, X)
        # As ``set_output`` says, or else the configuration.
        container = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        # Left to scikit-learn, dates become numbers, and all columns objects, or of one type.
        if container == "pandas" and nw.dependencies.is_polars_dataframe(filled):
            return filled.to_pandas()
        return filled

    def impute(self, X, return_uncertainty: bool = False):
        """Fill the missing cells by their best prediction, whatever ``sample_posterior`` says, without indicators.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        return_uncertainty : bool, default=False

        Returns
        -------
        filled : ndarray or DataFrame of shape (n_samples, n_features)
            In the container of ``fit``, with its types.
        uncertainty : ndarray of shape (n_samples, n_features)
            Only if ``return_uncertainty``: the standard deviation of reals, counts and, in days, dates, and for
            categories the probability that the value is another; 0 where the cell was observed.
        """
        check_is_fitted(self)
        if self._refinements is None:
            return self.estimator_.impute(X, return_uncertainty)
        return_uncertainty = checked_flag("return_uncertainty", return_uncertainty)
        return self.estimator_._imputed(X, return_uncertainty, refinements=self._refinements)

    def sample_imputations(self, X) -> list:
        """Multiple imputation: ``n_imputations`` tables whose missing cells are drawn from the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        tables : list of ndarray or DataFrame of shape (n_samples, n_features_out)
            For :func:`~sklearn_subanneal.posterior.pool_fits`.
        """
        check_is_fitted(self)
        tables = self.estimator_.sample_imputations(X, self.n_imputations, self.random_state)
        return [self._finished(table, X) for table in tables]

    def _missing(self, X):
        """Which cells of X are missing, (n_rows, n_columns): those that are filled."""
        model = self.estimator_
        gaps = model._table.gaps(model, X, as_evidence(model.unseen))
        return gaps & ~unmodelled_cells(model, X, gaps).rows

    def _finished(self, filled, X):
        if not self.add_indicator:
            return filled
        missing = self._missing(X)[:, self.indicated_]
        return with_indicators(filled, missing, self.get_feature_names_out())

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the columns of the output.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            As in scikit-learn: None, or the names of ``fit``.

        Returns
        -------
        names : ndarray of str objects
            Those of the input, and for indicators ``missingindicator_`` before the name.
        """
        names = super().get_feature_names_out(input_features)
        if not self.add_indicator:
            return names
        added = [f"missingindicator_{name}" for name in names[self.indicated_]]
        if common := set(added).intersection(names):
            raise ValueError(
                f"add_indicator=True adds a column {min(common)!r}, and X has a column of that name: rename it, or set "
                "add_indicator=False"
            )
        return np.append(names, added).astype(object)
