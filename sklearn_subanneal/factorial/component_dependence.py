"""Signs that components are mixed up: activations that depend on each other, and products of them in the residual.

In the model activations are independent. If a fitted component is active where either of two true ones is, or only
where both are, then fitted activations are correlated, and what the components leave unexplained depends on which of
them are active *together*.
"""

from __future__ import annotations

import numpy as np


def correlations(activations: np.ndarray) -> np.ndarray:
    """Absolute correlations of the activations (n_components, n) of each two components; 0 on the diagonal."""
    centered, variances = _centered(activations)
    out = np.abs(centered @ centered.T / len(centered.T)) / np.sqrt(variances[:, None] * variances)
    np.fill_diagonal(out, 0.0)
    return out


def interactions(residual: np.ndarray, activations: np.ndarray) -> np.ndarray:
    """How much of the residual is a product of two activations, for each two components.

    Parameters
    ----------
    residual : ndarray of shape (n, n_features)
    activations : ndarray of shape (n_components, n)

    Returns
    -------
    interactions : ndarray of shape (n_components, n_components)
        Mean over features of the chi-squared statistic of the covariance of residual and product: about 1 if there is
        none. 0 on the diagonal.
    """
    centered, _ = _centered(activations)
    n_components, n = centered.shape
    least = np.finfo(float).tiny
    scale = n * float(residual.var()) * residual.shape[1]
    out = np.zeros((n_components, n_components))
    for k in range(n_components):
        products = centered[k] * centered[:k]
        products -= products.mean(axis=1, keepdims=True)
        variances = np.einsum("jn,jn->j", products, products) / n
        sums = products @ residual
        out[k, :k] = out[:k, k] = np.einsum("jd,jd->j", sums, sums) / np.maximum(scale * variances, least)
    return out


def ranked_pairs(strength: np.ndarray, least: float) -> list[tuple[int, int]]:
    """Pairs of components with a strength above ``least``, the strongest first."""
    first, second = np.triu_indices(len(strength), 1)
    values = strength[first, second]
    order = np.argsort(-values, kind="stable")
    return [(int(first[i]), int(second[i])) for i in order if values[i] > least]


def _centered(activations):
    """Centred activations in float64, and their variances, positive."""
    centered = activations - activations.mean(axis=1, keepdims=True, dtype=np.float64)
    return centered, np.maximum(np.einsum("kn,kn->k", centered, centered) / centered.shape[1], 1e-12)
