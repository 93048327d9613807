"""FactorialModel, the methods of a fitted VariationalTemperingFMM: activations of rows, reconstructions, densities."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from sklearn_subanneal._core.blas import one_blas_thread
from sklearn_subanneal.annealing.reporter import ChainCallbacksMixin
from sklearn_subanneal.estimators._presentation import Presentation
from sklearn_subanneal.factorial.row_search import infer_rows
from sklearn_subanneal.tables.unreadable import refuse_unreadable, within

# Far from where squares of cells, or their reciprocals, leave the range of floating point.
LARGEST_CELL = 1e30
# Beyond this, or below its reciprocal, squares leave the range of float32.
LARGEST_SINGLE = 1e15


def validate_rows(estimator, X, reset: bool) -> np.ndarray:
    """Validated rows, float64 or float32; ValueError if a cell is too large."""
    refuse_unreadable(X)
    X = validate_data(estimator, X, dtype=[np.float64, np.float32], order="C", reset=reset)
    return within("X", X, LARGEST_CELL)


def rows_to_learn(estimator, X, reset: bool) -> np.ndarray:
    """Validated rows of a fit: of float32 only if their squares, in units of the noise, are in its range."""
    X = validate_rows(estimator, X, reset)
    if X.dtype == np.float32:
        largest = float(np.abs(X).max()) or 1.0
        sizes = [largest]
        if estimator.noise_variance != "learn":
            sizes += [np.sqrt(estimator.noise_variance), largest / np.sqrt(estimator.noise_variance)]
        if not all(1.0 / LARGEST_SINGLE <= size <= LARGEST_SINGLE for size in sizes):
            return X.astype(np.float64)
    return X


class FactorialModel(
    ChainCallbacksMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Presentation, BaseEstimator
):
    """Base of VariationalTemperingFMM: tags, and the methods that use the fitted components, ``_components``."""

    _main_display = "ComponentsDisplay"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self):
        return len(self.components_)

    def _infer(self, X):
        """Rows in float64, their activations (n_components, n_samples), and the dtype of the result."""
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False)
        rows = X.astype(np.float64, copy=False)
        with one_blas_thread():
            return rows, infer_rows(self._components, rows, self._search), X.dtype

    def transform(self, X) -> np.ndarray:
        """Probability that each component is active in each row, given the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        activations : ndarray of shape (n_samples, n_components)
        """
        _, activations, dtype = self._infer(X)
        return np.ascontiguousarray(activations.T, dtype=dtype)

    def predict(self, X) -> np.ndarray:
        """Which components are active in each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        active : ndarray of int64, shape (n_samples, n_components)
            1 where a component is more probably active than not.
        """
        return (self._infer(X)[1].T > 0.5).astype(np.int64)

    def inverse_transform(self, X) -> np.ndarray:
        """Rows without noise, from their activations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            As returned by ``transform`` or ``predict``.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        refuse_unreadable(X)
        activations = check_array(X, dtype=[np.float64, np.float32])
        if activations.shape[1] != len(self.components_):
            raise ValueError(
                f"X must have a column for each of the {len(self.components_)} components, got {activations.shape[1]}; "
                "give what transform returned"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            rows = activations @ self.components_
        if not np.isfinite(rows).all():
            raise ValueError("X holds activations beyond the range of its dtype; give what transform returned")
        return rows

    def score_samples(self, X) -> np.ndarray:
        """Lower bound of the log density of each row, given q of the components, at temperature 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        bounds : ndarray of shape (n_samples,)
        """
        rows, activations, _ = self._infer(X)
        return self._components.row_bounds(rows, activations)

    def score(self, X, y=None) -> float:
        """Mean of ``score_samples(X)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        score : float
        """
        return float(np.mean(self.score_samples(X)))
