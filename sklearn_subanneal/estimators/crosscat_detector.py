"""CrossCatDetector, an outlier detector for tables of mixed types that says which cells make a row odd."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal._core.constraints import HasMethods, NumberRange
from sklearn_subanneal._core.fit_decorators import fit_context
from sklearn_subanneal._core.random_states import RANDOM_STATE, seeded_generator
from sklearn_subanneal.estimators._cell_errors import MISSING, CellErrors
from sklearn_subanneal.estimators._cell_units import CellUnits
from sklearn_subanneal.estimators._drift import DriftQueries, TrainingCells, gaps_of_columns
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._inner_model import fitted_inner
from sklearn_subanneal.estimators._judged_rows import JudgedRows
from sklearn_subanneal.estimators._left_out_scores import ScoreCalibration, parts_left_out
from sklearn_subanneal.estimators._presentation import Presentation
from sklearn_subanneal.estimators._reasons import CellReason, reasons_of_cells
from sklearn_subanneal.estimators._row_metadata import present_rows, with_own_weights
from sklearn_subanneal.tables.row_indices import row_indices
from sklearn_subanneal.views.training_row_index import TrainingRowIndex

# Quantiles of training cells that attributes report, and those of training rows by which the two measures of a row are
# compared: the outliers among these rows should be above them.
USUAL_AND_LARGE = (0.5, 0.95)
UNITS = (0.5, 0.8)
LEAST_UNIT = 1e-6
# The clusters that do not count hold this many times as many rows as are outliers, and at most so large a share: a rare
# group may be in several of them, and other small clusters come before it. This is a limit for all views together: most
# rows would otherwise be odd in one of many views, and no row would stand out.
RARE_ROWS, MOST_RARE = 2.0, 0.5


class CrossCatDetector(DriftQueries, JudgedRows, OutlierMixin, Presentation, BaseEstimator):
    """Outliers of a table of mixed types: rows that are improbable given the others, and the cells that make them so.

    A row is odd if it is improbable as a whole, or if one of its cells is, given the others. As a whole, it is compared
    with the common clusters of a :class:`CrossCat`: the smallest clusters of each view do not count, in all views
    together at most twice the share ``contamination`` of the rows and at most half of them, so that rare groups are
    odd, too. A cell is judged by how much more probable it is as an error, a cell of another row or any value of the
    column, than given the rest of its row. A row that has the cells of a training row is judged by the other training
    rows. New rows are somewhat odder than these in small tables, since they have had no part in clusters and
    hyperparameters; by how much is learned from training rows that are left out of other models.

    Parameters
    ----------
    estimator : CrossCat, default=None
        The model, which is cloned. None: ``CrossCat()``. A fitted model in a ``sklearn.frozen.FrozenEstimator`` is
        taken as it is: ``fit`` must then be given its training table, without weights or strata. The model must have
        got this table by ``fit``, not by ``partial_fit`` or in shards; its weights count, and none may be 0.
    contamination : float, default=0.1
        Share of the training rows that are outliers, above 0 and at most 0.5. Of new rows that are like the training
        rows, about the same share are outliers.
    n_calibration : int, default=400
        About so many training rows are left out of other models of one chain, a quarter of the table at a time, so that
        scores of new rows can be compared with those of training rows: one more model in tables of 1,600 rows or more,
        at most four. 0: none, and new rows like the training rows are outliers too often. With a time limit, such a
        model has a quarter of it.
    random_state : int, RandomState instance, Generator or None, default=None
        Of the fit, in place of that of ``estimator``.

    Attributes
    ----------
    crosscat_ : CrossCat
        The fitted model.
    offset_ : float
        Rows with lower scores are outliers: the quantile ``contamination`` of the scores of training rows.
    training_scores_ : ndarray of shape (n_samples,)
        Scores of the training rows, each by the others; rows of weight 0 are left out.
    usual_surprisal_, large_surprisal_ : ndarray of shape (n_features,)
        Median and 95 % quantile of the surprisal of the training cells of each column, in nats.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    A. E. Gelfand, D. K. Dey, H. Chang (1992), Model determination using predictive distributions with implementation
    via sampling-based methods, Bayesian Statistics 4, 147-167. V. Vovk, A. Gammerman, G. Shafer (2005), Algorithmic
    Learning in a Random World, Springer, section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import CrossCat, CrossCatDetector
    >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
    >>> X = np.column_stack([x, x > 4.0])
    >>> X[0, 1] = 1.0
    >>> detector = CrossCatDetector(CrossCat(feature_types={1: "categorical"}, n_chains=2), random_state=0).fit(X)
    >>> int(detector.score_samples(X).argmin())
    0
    >>> reason = detector.reasons(X, rows=[0])[0]
    >>> reason.column, reason.value, reason.expected
    ('x1', 1.0, 0.0)
    """

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "novelty", "surprisal"]), None],
        "contamination": [NumberRange(Real, 0, 0.5, closed="right")],
        "n_calibration": [NumberRange(Integral, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(self, estimator=None, *, contamination: float = 0.1, n_calibration: int = 400, random_state=None):
        self.estimator = estimator
        self.contamination = contamination
        self.n_calibration = n_calibration
        self.random_state = random_state

    @property
    def _presented(self):
        return self.crosscat_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, sample_weight=None, strata=None) -> Self:
        """Fit the model, and score each row by the others.

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
            If X is no table, or weights, strata or a parameter are not as described.
        """
        with unchanged_on_failure(self):
            X, _, of_rows, present = present_rows(X, None, sample_weight, strata)
            self.crosscat_ = model = fitted_inner(self, X, present, **of_rows)
            of_rows = with_own_weights(model, of_rows)
            self._rare_share = min(RARE_ROWS * self.contamination, MOST_RARE)
            arrays = model._encode(X, scored=True)
            self._known = TrainingRowIndex.of(arrays, model._seen_rows(arrays))
            # Equal rows are judged as one of them, as they are later.
            surprisal, alone, copies = self._surprisal(arrays), self._alone(arrays), np.arange(len(arrays[0]))
            if "sample_weight" in of_rows:
                copies = np.repeat(copies, of_rows["sample_weight"])
            judged = np.where(np.isnan(surprisal).all(axis=0), 0.0, surprisal)[copies]
            self.usual_surprisal_, self.large_surprisal_ = np.nanquantile(judged, USUAL_AND_LARGE, axis=0)
            of_copies = [array[copies] for array in arrays], surprisal[copies]
            self._errors = CellErrors.of(model._table, model._models, *of_copies, alone[copies])
            self._cell_units = CellUnits.of(model._table, model._models, *of_copies)
            parts = self._improbabilities(arrays, self._errors.log_odds(arrays, surprisal, alone))
            self._units = np.quantile(parts[copies], UNITS, axis=0)
            self.training_scores_ = self._scores(parts)
            self._sorted_scores = np.sort(self.training_scores_[copies])
            self.offset_ = float(np.quantile(self._sorted_scores, self.contamination))
            source = model.random_state if self.random_state is None else self.random_state
            seed = int(seeded_generator(source).integers(2**31))
            left_out = parts_left_out(self, X, of_rows, self._known.places(arrays), seed)
            self._calibration = ScoreCalibration.of_parts(left_out, self._sorted_scores)
            without_units = self._cell_units.of_cells(*of_copies)
            compared = TrainingCells.of(model._table, of_copies[0], without_units, gaps_of_columns(model, X)[copies])
            self._compared = compared.with_optimism([part.excess for part in left_out])
        return self

    def score_samples(self, X) -> np.ndarray:
        """The less, the odder a row is.

        Minus the larger of two measures, the row's improbability (-log density under the common clusters) and the
        largest ``excess`` of its cells (see :meth:`reasons`). The improbability is such that rows with different cells
        can be compared, in any units of the columns: for a cell that has a density it has what is beyond the usual
        surprisal of such cells, and for a missing cell what is usual for those of its column. Each measure is given in
        units in which 0 is the median of the training rows and 1 their 80 % quantile. A new row gets the score of
        training rows that are as odd; one with impossible cells (a 2 among zeros and ones, a logarithm of another
        amount) less than all of them.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self._calibrated(X)[0]

    def decision_function(self, X) -> np.ndarray:
        """Scores less ``offset_``: negative for outliers.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X) -> np.ndarray:
        """-1 for outliers, 1 for all other rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int, shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def fit_predict(self, X, y=None, sample_weight=None, strata=None) -> np.ndarray:
        """The outliers of the table to which the model is fitted: ``fit(X).predict(X)``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : None
            Ignored.
        sample_weight, strata : array-like of shape (n_samples,), default=None
            As in :meth:`fit`.

        Returns
        -------
        labels : ndarray of int, shape (n_samples,)
        """
        return self.fit(X, None, sample_weight, strata).predict(X)

    def p_values(self, X) -> np.ndarray:
        """Share of the training rows that are as odd as each row, or odder.

        A training row is one of them: the oddest of n has 1 / n. A new row counts as one row more, and has at least
        1 / (n + 1). If it is like the training rows, this is uniform between 0 and 1: at most a share p of such rows
        has a p-value of p or less.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
        """
        scores, is_new = self._calibrated(X)
        n_odder = np.searchsorted(self._sorted_scores, scores, side="right")
        return (n_odder + is_new) / (len(self._sorted_scores) + is_new)

    def reasons(self, X, rows=None, n_reasons: int = 3) -> list[CellReason]:
        """The cells that make rows odd, with what the other cells of each row let expect.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        rows : array-like of int or bool, default=None
            Indices of the rows, or a mask. None: the outliers, the oddest first.
        n_reasons : int, default=3
            Cells of each row, the one that is most probably an error first.

        Returns
        -------
        reasons : list of CellReason
            With ``row``, ``column``, ``value``, ``expected``, ``low``, ``high`` (None for a category), ``surprisal``
            and ``excess``; ``pandas.DataFrame(reasons)`` is a table.

        Raises
        ------
        ValueError
            If ``rows`` are no rows of X, or ``n_reasons`` is no positive integer.
        """
        check_is_fitted(self)
        checked_integer("n_reasons", n_reasons)
        arrays = self.crosscat_._encode(X, scored=True)
        if rows is None:
            scores = self.score_samples(X)
            rows = np.argsort(scores, kind="stable")[: int((scores < self.offset_).sum())]
        else:
            rows = row_indices("rows", rows, len(arrays[0]), "X")
        if not rows.size:
            return []
        cells = [array[rows] for array in arrays]
        surprisal = self._surprisal(cells)
        excess = self._errors.log_odds(cells, surprisal, self._alone(cells))
        impossible = self.crosscat_._table.impossible(self.crosscat_, X)[rows]
        surprisal[impossible] = excess[impossible] = np.inf
        order = np.argsort(-excess, axis=1, kind="stable")[:, :n_reasons]
        at = np.repeat(np.arange(len(rows)), order.shape[1]), order.ravel()
        at = tuple(index[excess[at] > MISSING] for index in at)
        evidence = self.crosscat_._encode(X)
        return reasons_of_cells(self.crosscat_, X, evidence, self._known, rows[at[0]], at[1], surprisal[at], excess[at])

    def _calibrated(self, X):
        """Scores, of new rows those of training rows that are as odd, and which rows are new."""
        check_is_fitted(self)
        scores, is_new, *_ = self._scores_of(X)
        scores[is_new] = self._calibration(scores[is_new])
        n_impossible = self.crosscat_._table.impossible(self.crosscat_, X).sum(axis=1)
        odder = np.minimum(scores, self._sorted_scores[0]) - n_impossible
        # Such a cell counts as missing, as one of a training row may be.
        return np.where(n_impossible > 0, odder, scores), is_new | (n_impossible > 0)

    def _scores_of(self, X):
        """Scores, of new rows before they are calibrated; which rows are new; their typed cells and their surprisal."""
        arrays = self.crosscat_._encode(X, scored=True)
        places = self._known.places(arrays)
        scores, is_new = self.training_scores_[places], places < 0
        cells = [array[is_new] for array in arrays]
        surprisal = np.empty((0, len(self.usual_surprisal_)))
        if is_new.any():
            surprisal = self._surprisal(cells)
            excess = self._errors.log_odds(cells, surprisal, self._alone(cells))
            scores[is_new] = self._scores(self._improbabilities(cells, excess))
        return scores, is_new, cells, surprisal

    def _scores(self, parts) -> np.ndarray:
        """Scores from the improbabilities of rows as wholes and of their oddest cells, (n_rows, 2)."""
        usual, large = self._units
        return -((parts - usual) / np.maximum(large - usual, LEAST_UNIT)).max(axis=1)
