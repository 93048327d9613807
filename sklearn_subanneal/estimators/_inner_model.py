"""The model inside an estimator that adds another interface to it."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.annealing.subsampling import Subsampling
from sklearn_subanneal.estimators.crosscat import CrossCat
from sklearn_subanneal.shards import ShardedTable
from sklearn_subanneal.tables.unreadable import no_array


def unfitted_inner(outer, present: np.ndarray | None = None):
    """The model of ``outer.estimator``, cloned, as it is fitted to some rows of a table.

    Parameters
    ----------
    outer : estimator
        With the parameters ``estimator`` (None: ``CrossCat()``) and ``random_state``, which replaces that of the model.
    present : ndarray of bool, shape (n_samples,), or None
        The rows of the table to which the model is fitted: labels of its subsampling are those of the whole table.
        None: all.

    Raises
    ------
    ValueError
        If the model is frozen.
    """
    if isinstance(outer.estimator, FrozenEstimator):
        raise ValueError(
            f"{type(outer).__name__} fits its model to X and y together, so that estimator cannot be frozen: give it "
            "the unfitted model"
        )
    model = CrossCat() if outer.estimator is None else clone(outer.estimator)
    if outer.random_state is not None:
        model.set_params(random_state=outer.random_state)
    if present is not None and isinstance(model.subsampling, Subsampling):
        model.set_params(subsampling=model.subsampling.of_copies(np.flatnonzero(present), len(present)))
    return model


def fitted_inner(outer, X, present: np.ndarray | None = None, **of_rows):
    """The model of ``outer.estimator``, cloned and fitted, or as it is if it is frozen; ``outer`` gets its features.

    Parameters
    ----------
    outer, present
        As of :func:`unfitted_inner`.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The rows that are present.
    of_rows : array-like of shape (n_samples,)
        What else its ``fit`` is given, by name.

    Raises
    ------
    ValueError
        If X is a ``ShardedTable``; or if a frozen model was not fitted to X, or its draws do not have these rows, or
        weights or strata are given with it.
    """
    if isinstance(X, ShardedTable):
        # The model would be fitted to it, in vain.
        raise no_array(X)
    if isinstance(outer.estimator, FrozenEstimator):
        model = outer.estimator.estimator
        check_is_fitted(model)
        if of_rows:
            raise ValueError("estimator is frozen, and is not fitted again: pass neither sample_weight nor strata")
        if isinstance(model, CrossCat) and model._fitted_identity is None:
            raise ValueError(
                "estimator is frozen, and was fitted by partial_fit or in shards: its draws do not have the rows of X "
                "and no others, so that it cannot predict each row by the others; give estimator the unfitted model"
            )
        model._training_cells(X)
    else:
        model = unfitted_inner(outer, present)
        model.fit(X, **of_rows)
    outer.n_features_in_ = model.n_features_in_
    vars(outer).pop("feature_names_in_", None)
    if hasattr(model, "feature_names_in_"):
        outer.feature_names_in_ = model.feature_names_in_
    return model
