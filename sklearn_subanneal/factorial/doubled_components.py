"""Components of which two could be replaced by a single one."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.factorial.activation_correlations import correlations, ranked_pairs
from sklearn_subanneal.factorial.block_search import MOST_ROWS, block_of, refit
from sklearn_subanneal.factorial.factorial_fit import FactorialFit

# Pairs are examined whose means have a larger cosine, or whose activations a larger absolute correlation.
ALIKE = 0.9


def doubled_components(X: np.ndarray, fitted: FactorialFit) -> list[tuple[int, int]]:
    """Pairs of components where a single one, active where either is, gives at least the same bound.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        The rows of the fit.
    fitted : FactorialFit

    Returns
    -------
    pairs : list of (int, int)
        Of pairs with a component in common, one.
    """
    stride = -(-len(X) // MOST_ROWS)
    rows, activations, means = X[::stride], fitted.activations[:, ::stride], fitted.components.means
    directions = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), np.finfo(float).tiny)
    doubled: list[tuple[int, int]] = []
    for pair in ranked_pairs(np.maximum(directions @ directions.T, correlations(activations)), ALIKE):
        if any(set(pair) & set(other) for other in doubled):
            continue
        block = block_of(fitted.components, rows, activations, pair)
        one = activations[list(pair)].max(axis=0)
        if refit(block, np.stack([one, np.zeros_like(one)])).bound >= block.bound:
            doubled.append(pair)
    return doubled
