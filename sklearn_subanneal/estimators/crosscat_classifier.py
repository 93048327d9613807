"""CrossCatClassifier: cross-categorization with the class as an additional column."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from sklearn_subanneal._core.fit_decorators import fit_context, with_callbacks
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._row_metadata import present_rows
from sklearn_subanneal.estimators._target_columns import TargetColumns
from sklearn_subanneal.tables.cells import is_missing_value
from sklearn_subanneal.tables.unreadable import as_array
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.pool_learning import learned_pool


class CrossCatClassifier(ClassifierMixin, TargetColumns):
    """Classification by cross-categorization.

    The class is a categorical column beside those of X in a :class:`CrossCat` of the joint table. Each view of a draw
    gives probabilities of the classes: those in the clusters to which the observed cells of a row belong. Views say
    different things of the class, whether they have it or not, and so do chains, in which other columns are together.
    What they say is multiplied in a logarithmic opinion pool (Genest and Zidek, 1986), with weights of the chains,
    ``chain_weights_``, of the views without the class, ``view_weight_``, and with powers of the densities of the cells
    of each column, ``column_powers_``. What a column says of the class beyond the clusters comes from the densities of
    its cells in the classes, as in naive Bayes, with powers ``class_powers_``. All are learned from up to 2,000
    training rows, each predicted by the others: a joint model gives all columns the same importance, whether they say
    anything about the class or not. For the plain posterior predictive distribution use
    ``crosscat_.predict_column_proba``. Columns may be of any type, and cells may be missing. The types of the columns
    are those that ``estimator`` declares or chooses.

    Parameters
    ----------
    estimator : CrossCat or None, default=None
        The model of the joint table; its ``feature_types`` are those of X. None: ``CrossCat()``.
    random_state : int, RandomState instance, Generator or None, default=None
        Takes the place of the estimator's, unless None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    crosscat_ : CrossCat
        Fitted on [X | y], rows of weight 0 left out. The last column is y: in DataFrames the class, in arrays its index
        in ``classes_``.
    chain_weights_ : ndarray of shape (n_chains,)
        Weights of the chains in the pool, positive. Their sum is about 1 if the chains say the same of the class, and
        more if they say different things, or are less certain than the training rows allow.
    view_weight_ : float
        Weight of what views without the class say of it. It is about 1 if they are independent of the view of the class
        given the class, and less if they repeat it.
    column_powers_ : dict of str to float
        Power of each modelled column of X in the evidence for the clusters: 1 counts as in the joint model, and 0 does
        not count. Joint reals have the same power.
    class_powers_ : dict of str to float
        Power, from 0 to 1, of the density of each modelled column of X in the classes (Zaidi et al., 2013): 0 where the
        clusters say all, and 1 for all columns is naive Bayes.
    feature_types_, feature_type_reasons_ : dict of str to str
        Type of each column of X, and the reason for it, by name.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import CrossCat, CrossCatClassifier
    >>> y = np.repeat(["a", "b"], 30)
    >>> X = 6.0 * (y == "b")[:, None] + np.random.default_rng(0).normal(size=(60, 2))
    >>> model = CrossCatClassifier(CrossCat(n_chains=2), random_state=0).fit(X, y)
    >>> model.predict([[0.0, np.nan], [6.0, 6.0]])
    array(['a', 'b'], dtype='<U1')

    References
    ----------
    V. Mansinghka, P. Shafto, E. Jonas, C. Petschulat, M. Gasner, J. B. Tenenbaum (2016), CrossCat: a fully Bayesian
    nonparametric method for analyzing heterogeneous, high dimensional data, JMLR 17(138), 1-49.

    C. Genest, J. V. Zidek (1986), Combining probability distributions: a critique and an annotated bibliography,
    Statistical Science 1, 114-135.

    N. A. Zaidi, J. Cerquides, M. J. Carman, G. I. Webb (2013), Alleviating naive Bayes attribute independence
    assumption by attribute weighting, JMLR 14, 1947-1988.
    """

    # They are predicted by a few draws, and take less time than those of a regression.
    _most_left_out = 2000

    @with_callbacks
    # The parameters of the inner estimator are the user's as well.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None, strata=None) -> Self:
        """Fit the joint table.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            NaN, None and NA are missing cells.
        y : array-like of shape (n_samples,)
            Classes, all known.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers: a row of weight w is modelled as w equal rows, exactly as if X and y had them, and takes as long;
            one of weight 0 is left out. None: all weights are 1.
        strata : array-like of shape (n_samples,), default=None
            The stratum of each row, as the ``fit`` of :class:`CrossCat` takes them. None: those of the ``subsampling``
            of ``estimator``, if any.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X is no table, y are no classes, or the weights or strata are not as described.
        """
        given = as_array(y, "y") if isinstance(y, list | tuple) else y
        _refuse_missing(given)
        y = column_or_1d(given, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        X, y, of_rows, present = present_rows(X, y, sample_weight, strata)
        classes, codes = np.unique(y, return_inverse=True)
        with unchanged_on_failure(self):
            # Before the fit, in which callbacks may predict.
            self.classes_ = classes
            return self._fit(X, [codes.astype(np.int32)], of_rows, present, "categorical", classes.astype(object))

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class given the observed cells of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        arrays, inner = self._encoded(X), self.crosscat_
        (target,) = self._targets()
        with inner._average() as average:
            if self.chain_weights_ is None:
                return average.predict(arrays, target)[0]
            return self._pool.probabilities(average, arrays)

    def _learn_from_left_out(self, arrays):
        inner, target = self.crosscat_, len(arrays) - 1
        left_out = LeftOutRows(*inner._some_seen_rows(arrays, self._most_left_out))
        labels = [own for result in inner._results for own in result.labels]
        modelled = [array[inner._copies.rows] for array in arrays]
        self._pool = learned_pool(inner._models, inner._draws, labels, modelled, left_out, target)
        self.chain_weights_, self.view_weight_ = self._pool.chain_weights, self._pool.view_weight
        names = self._part_names()
        self.column_powers_ = dict(zip(names, self._pool.powers[:-1].tolist(), strict=True))
        self.class_powers_ = dict(zip(names, self._pool.class_powers[:-1].tolist(), strict=True))

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]


def _refuse_missing(y):
    """Of classes that are no numbers; scikit-learn compares them with one another, and not all can be compared."""
    cells = np.asarray(y)
    if cells.dtype.kind == "O":
        missing = cells.ndim > 0 and any(map(is_missing_value, cells.ravel()))
    else:
        missing = cells.dtype.kind in "mM" and np.isnat(cells).any()
    if missing:
        raise ValueError("Input y contains NaN: leave out the rows without a class, or make it a class of its own")
