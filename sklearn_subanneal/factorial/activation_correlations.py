"""Correlations of activations: a sign that components are mixed up.

In the model activations are independent. If a fitted component is active where either of two true ones is, or only
where both are, then fitted activations are correlated.
"""

from __future__ import annotations

import numpy as np


def correlations(activations: np.ndarray) -> np.ndarray:
    """Absolute correlations of the activations (n_components, n) of each two components; 0 on the diagonal."""
    centered = activations - activations.mean(axis=1, keepdims=True, dtype=np.float64)
    # Of a component that is never active, or always, the variance is zero.
    variances = np.maximum(np.einsum("kn,kn->k", centered, centered) / centered.shape[1], 1e-12)
    out = np.abs(centered @ centered.T / len(centered.T)) / np.sqrt(variances[:, None] * variances)
    np.fill_diagonal(out, 0.0)
    return out


def ranked_pairs(strength: np.ndarray, least: float) -> list[tuple[int, int]]:
    """Pairs of components with a strength above ``least``, the strongest first."""
    first, second = np.triu_indices(len(strength), 1)
    values = strength[first, second]
    order = np.argsort(-values, kind="stable")
    return [(int(first[i]), int(second[i])) for i in order if values[i] > least]
