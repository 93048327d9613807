"""Metadata of rows, weights and strata, which estimators give to the fit of the model inside."""

from __future__ import annotations

from sklearn.utils import check_consistent_length

from sklearn_subanneal.annealing.subsampling import checked_strata
from sklearn_subanneal.tables.row_weights import checked_weights, repeated_rows


def row_metadata(X, sample_weight, strata) -> dict:
    """Checked weights and strata of the rows of X, by the names that ``fit`` has for them; without those not needed.

    Raises
    ------
    ValueError
        If there is not one for each row, or the weights are no weights.
    """
    found = {"sample_weight": checked_weights(X, sample_weight), "strata": checked_strata(X, strata)}
    return {name: values for name, values in found.items() if values is not None}


def with_own_weights(model, of_rows: dict) -> dict:
    """The metadata of the rows of X, with the weights by which a model was fitted to them before, if it has some.

    Parameters
    ----------
    model : CrossCat
        Fitted to X.
    of_rows : dict of str to ndarray of shape (n_rows,)
        As of :func:`row_metadata`.

    Raises
    ------
    ValueError
        If one of them is 0: no draw has that row.
    """
    if "sample_weight" in of_rows or model._copies.weights is None:
        return of_rows
    if model._copies.absent.size:
        raise ValueError(
            f"estimator is frozen, and was fitted with sample_weight=0 for {model._copies.absent.size} rows, which "
            "its draws do not have: fit it to X without these rows, or give estimator the unfitted model"
        )
    return {**of_rows, "sample_weight": model._copies.weights}


def present_rows(X, y, sample_weight, strata) -> tuple:
    """The rows of positive weight.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples, ...) or None
    sample_weight, strata : array-like of shape (n_samples,) or None

    Returns
    -------
    X, y
        The rows and their targets.
    of_rows : dict of str to ndarray of shape (n_rows,)
        As of :func:`row_metadata`; the weights are positive.
    present : ndarray of bool, shape (n_samples,), or None
        Which rows these are; None: all.
    """
    of_rows = row_metadata(X, sample_weight, strata)
    if "sample_weight" not in of_rows or of_rows["sample_weight"].all():
        return X, y, of_rows, None
    present = of_rows["sample_weight"] > 0
    if y is not None:
        check_consistent_length(y, present)
        y = y[present]
    return repeated_rows(X, present), y, {name: values[present] for name, values in of_rows.items()}, present
