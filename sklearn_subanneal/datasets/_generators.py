"""Generators of tables from known mixtures, with the true labels and densities."""

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import Bunch

_CATEGORIES = 5
_LEAST_PROBABILITY = 1e-300


def make_gaussian_mixture(
    n_samples: int = 50_000,
    n_features: int = 10,
    n_clusters: int = 30,
    *,
    covariance_type: str = "full",
    separation: float = 4.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a table from a mixture of Gaussians, with the true density at each row.

    The weights are Dirichlet(2, ..., 2), the means N(0, separation^2) in each coordinate. A full covariance is
    A A' / n_features + 0.2 I with standard normal A; a diagonal one has standard deviations uniform on (0.3, 1.5).

    Parameters
    ----------
    n_samples : int, default=50_000
        Number of rows.
    n_features : int, default=10
        Number of columns.
    n_clusters : int, default=30
        Number of mixture components.
    covariance_type : {"full", "diag"}, default="full"
        Whether the features are correlated within a cluster.
    separation : float, default=4.0
        Standard deviation of the cluster means.
    random_state : int, Generator or None, default=None
        Seed or generator. The same seed gives the same table.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    labels : ndarray of int of shape (n_samples,)
        The cluster of each row.
    log_density : ndarray of shape (n_samples,)
        The log density of the mixture at each row.

    Raises
    ------
    ValueError
        If `covariance_type` is unknown.

    Examples
    --------
    >>> from sklearn_subanneal.datasets import make_gaussian_mixture
    >>> X, labels, log_density = make_gaussian_mixture(100, 2, 3, random_state=0)
    >>> X.shape, log_density.shape
    ((100, 2), (100,))
    """
    if covariance_type not in ("full", "diag"):
        raise ValueError(f'covariance_type must be "full" or "diag", got {covariance_type!r}.')
    rng = np.random.default_rng(random_state)
    weights = rng.dirichlet(np.full(n_clusters, 2.0))
    means = rng.normal(0, separation, (n_clusters, n_features))
    if covariance_type == "full":
        factors = rng.normal(size=(n_clusters, n_features, n_features))
        covariances = factors @ factors.transpose(0, 2, 1) / n_features + 0.2 * np.eye(n_features)
    else:
        covariances = np.stack([np.diag(rng.uniform(0.3, 1.5, n_features) ** 2) for _ in range(n_clusters)])
    labels = rng.choice(n_clusters, n_samples, p=weights)
    cholesky = np.linalg.cholesky(covariances)
    noise = rng.normal(size=(n_samples, n_features))
    X = np.empty((n_samples, n_features))
    log_joint = np.empty((n_samples, n_clusters))
    for k in range(n_clusters):
        rows = labels == k
        X[rows] = means[k] + np.einsum("ij,nj->ni", cholesky[k], noise[rows])
    for k in range(n_clusters):
        whitened = np.linalg.solve(cholesky[k], (X - means[k]).T)
        log_determinant = np.log(np.diag(cholesky[k])).sum()
        log_joint[:, k] = np.log(weights[k]) - 0.5 * (whitened**2).sum(axis=0) - log_determinant
        log_joint[:, k] -= 0.5 * n_features * np.log(2 * np.pi)
    return X, labels, logsumexp(log_joint, axis=1)


def make_planted_views(
    n_samples: int = 10_000,
    n_features: int = 40,
    n_clusters: Sequence[int] = (4, 7, 12, 20),
    *,
    missing: float = 0.0,
    as_frame: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Draw a table of mixed types whose columns belong to independent views, each with its own clusters of the rows.

    Column j belongs to view j mod n_views. Within a view the types of the columns repeat: real, real, categorical
    (five values), boolean. View weights are Dirichlet(3, ..., 3); real clusters have means N(0, 9) and standard
    deviations uniform on (0.5, 1.2), category probabilities are Dirichlet(1/2, ..., 1/2), boolean ones Beta(1/2, 1/2).

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of rows.
    n_features : int, default=40
        Number of columns.
    n_clusters : sequence of int, default=(4, 7, 12, 20)
        Number of clusters in each view.
    missing : float, default=0.0
        Probability that a cell is missing, independently of all else.
    as_frame : bool, default=False
        Whether to give the data as a pandas DataFrame.
    random_state : int, Generator or None, default=None
        Seed or generator. The same seed gives the same table.

    Returns
    -------
    views : Bunch
        With

        data : ndarray of float64 or pandas.DataFrame of shape (n_samples, n_features)
            The table, categories and booleans as integers from 0, NaN for missing. The columns of a DataFrame are
            c000, c001, ...
        feature_types : list of str of length n_features
            "real", "categorical" or "boolean" for each column, as estimators take it.
        column_labels : ndarray of int of shape (n_features,)
            The view of each column.
        row_labels : ndarray of int of shape (n_samples, n_views)
            The cluster of each row in each view.
        log_density : ndarray of shape (n_samples,)
            The true log density at each complete row.

    Raises
    ------
    ImportError
        If `as_frame` is True and pandas is not installed.

    Examples
    --------
    >>> from sklearn_subanneal.datasets import make_planted_views
    >>> views = make_planted_views(100, 4, (2, 3), random_state=0)
    >>> views.column_labels
    array([0, 1, 0, 1])
    >>> views.row_labels.shape
    (100, 2)
    """
    rng = np.random.default_rng(random_state)
    column_labels = np.arange(n_features) % len(n_clusters)
    members, log_joint = [], []
    for k in n_clusters:
        weights = rng.dirichlet(np.full(k, 3.0))
        members.append(rng.choice(k, size=n_samples, p=weights))
        log_joint.append(np.tile(np.log(weights), (n_samples, 1)))
    columns, feature_types = [], []
    for j, view in enumerate(column_labels):
        kind = ("real", "real", "categorical", "boolean")[(j // len(n_clusters)) % 4]
        values, log_likelihood = _DRAWS[kind](rng, members[view], n_clusters[view])
        columns.append(values)
        feature_types.append(kind)
        log_joint[view] += log_likelihood
    hidden = rng.random((n_samples, n_features)) < missing if missing else None
    return Bunch(
        data=_framed(columns, hidden) if as_frame else _stacked(columns, hidden),
        feature_types=feature_types,
        column_labels=column_labels,
        row_labels=np.stack(members, axis=1),
        log_density=sum(logsumexp(scores, axis=1) for scores in log_joint),
    )


def _draw_real(rng, labels, n_clusters):
    """A column of normals, and the log density of its cells in each cluster."""
    means, deviations = rng.normal(0, 3, n_clusters), rng.uniform(0.5, 1.2, n_clusters)
    values = means[labels] + deviations[labels] * rng.normal(size=labels.size)
    scores = -0.5 * ((values[:, np.newaxis] - means) / deviations) ** 2 - np.log(deviations) - 0.5 * np.log(2 * np.pi)
    return values, scores


def _draw_categorical(rng, labels, n_clusters):
    """A column of categories, and the log probability of its cells in each cluster."""
    probabilities = rng.dirichlet(np.full(_CATEGORIES, 0.5), n_clusters)
    cumulative = probabilities[labels].cumsum(axis=1)
    # Rounding may leave the last cumulative probability below one.
    values = (rng.random(labels.size)[:, np.newaxis] > cumulative).sum(axis=1).clip(0, _CATEGORIES - 1)
    return values, np.log(np.maximum(probabilities[:, values].T, _LEAST_PROBABILITY))


def _draw_boolean(rng, labels, n_clusters):
    """A column of zeros and ones, and the log probability of its cells in each cluster."""
    probabilities = rng.beta(0.5, 0.5, n_clusters)
    values = (rng.random(labels.size) < probabilities[labels]).astype(np.int64)
    scores = np.where(values[:, np.newaxis] == 1, probabilities, 1 - probabilities)
    return values, np.log(np.maximum(scores, _LEAST_PROBABILITY))


_DRAWS = {"real": _draw_real, "categorical": _draw_categorical, "boolean": _draw_boolean}


def _stacked(columns: list[np.ndarray], hidden: np.ndarray | None) -> np.ndarray:
    data = np.stack(columns, axis=1).astype(np.float64)
    if hidden is not None:
        data[hidden] = np.nan
    return data


def _framed(columns: list[np.ndarray], hidden: np.ndarray | None):
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: install it, or set as_frame=False.") from error
    frame = pd.DataFrame({f"c{j:03d}": values for j, values in enumerate(columns)})
    return frame if hidden is None else frame.mask(hidden)
