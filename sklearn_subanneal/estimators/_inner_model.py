"""The model inside an estimator that adds another interface to it."""

from __future__ import annotations

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.estimators.crosscat import CrossCat


def fitted_inner(outer, X, **of_rows):
    """The model of ``outer.estimator``, cloned and fitted, or as it is if it is frozen; ``outer`` gets its features.

    Parameters
    ----------
    outer : estimator
        With the parameters ``estimator`` (None: ``CrossCat()``) and ``random_state``, which replaces that of the model.
    X : array-like or DataFrame of shape (n_samples, n_features)
    of_rows : array-like of shape (n_samples,)
        What else its ``fit`` is given, by name.

    Raises
    ------
    ValueError
        If a frozen model was not fitted to X, or its draws do not have these rows, or weights or strata are given with
        it.
    """
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
        model = CrossCat() if outer.estimator is None else clone(outer.estimator)
        if outer.random_state is not None:
            model.set_params(random_state=outer.random_state)
        model.fit(X, **of_rows)
    outer.n_features_in_ = model.n_features_in_
    vars(outer).pop("feature_names_in_", None)
    if hasattr(model, "feature_names_in_"):
        outer.feature_names_in_ = model.feature_names_in_
    return model
