"""Posterior draws of scalar quantities by name, and their export to ArviZ."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.posterior.labels import check_draws, encode_labels


def scalar_draws(estimator: Any, *, columns: bool = True) -> dict[str, NDArray]:
    """Posterior draws of every scalar quantity of a fitted estimator, by name.

    Parameters
    ----------
    estimator : fitted estimator
        With `posterior_labels_`, and `posterior_column_labels_`, `log_joint_`, `hyperparameters_` if it has them.
    columns : bool, default=True
        Whether scalar hyperparameters of columns are included, under names like "age.mu"; those with one value per
        category never are.

    Returns
    -------
    dict of str to ndarray of shape (n_chains, n_draws)
        "n_clusters", "n_views", "log_joint", and the hyperparameters, for example "concentration".

    Raises
    ------
    ValueError
        If the estimator is not fitted or keeps no posterior draws.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from sklearn_subanneal.posterior import scalar_draws
    >>> hyperparameters = {"concentration": np.array([[1.0, 2.0]]),
    ...                    "columns": {"age": {"mu": np.array([[0.5, 0.25]])}}}
    >>> fitted = SimpleNamespace(posterior_labels_=np.array([[[0, 0, 1], [0, 1, 2]]]),
    ...                          log_joint_=np.array([[-3.5, -4.0]]), hyperparameters_=hyperparameters)
    >>> for name, draws in scalar_draws(fitted).items():
    ...     print(name, draws)
    n_clusters [[2 3]]
    log_joint [[-3.5 -4. ]]
    concentration [[1. 2.]]
    age.mu [[0.5  0.25]]
    """
    if not hasattr(estimator, "posterior_labels_"):
        raise ValueError(
            f"estimator must have posterior draws (posterior_labels_), {type(estimator).__name__} has none; "
            "fit it first, and use one of the MCMC estimators."
        )
    labels = check_draws(estimator.posterior_labels_, "posterior_labels_")
    shape = labels.shape[:2]
    flat = labels.reshape(-1, labels.shape[-1])
    draws = {"n_clusters": np.array([len(encode_labels(draw).sizes) for draw in flat]).reshape(shape)}
    if hasattr(estimator, "posterior_column_labels_"):
        views = [len(encode_labels(draw).sizes) for chain in estimator.posterior_column_labels_ for draw in chain]
        draws["n_views"] = np.array(views).reshape(shape)
    if hasattr(estimator, "log_joint_"):
        draws["log_joint"] = np.asarray(estimator.log_joint_)
    hyperparameters = dict(getattr(estimator, "hyperparameters_", {}))
    of_columns = hyperparameters.pop("columns", {})
    draws.update({name: np.asarray(values) for name, values in hyperparameters.items()})
    for column, parameters in of_columns.items() if columns else ():
        draws.update({f"{column}.{name}": np.asarray(values) for name, values in parameters.items()})
    return {name: values for name, values in draws.items() if values.shape == shape}


def to_arviz(estimator: Any) -> Any:
    """Export the scalar posterior draws of a fitted estimator to ArviZ.

    Parameters
    ----------
    estimator : fitted estimator
        As in :func:`scalar_draws`, whose names become the variables.

    Returns
    -------
    arviz.InferenceData (ArviZ before 1.0) or xarray.DataTree (since)
        With a group "posterior" whose variables have dimensions (chain, draw).

    Raises
    ------
    ImportError
        If ArviZ is not installed.
    ValueError
        If the estimator keeps no posterior draws.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from sklearn_subanneal.posterior import to_arviz
    >>> fitted = SimpleNamespace(posterior_labels_=np.zeros((2, 10, 5), dtype=np.int32))
    >>> to_arviz(fitted).posterior["n_clusters"].shape
    (2, 10)
    """
    try:
        import arviz
    except ImportError as error:
        raise ImportError("to_arviz needs ArviZ: pip install arviz.") from error

    draws = scalar_draws(estimator)
    if int(arviz.__version__.partition(".")[0]) >= 1:
        return arviz.from_dict({"posterior": draws})
    return arviz.from_dict(posterior=draws)
