"""Sufficient statistics of a factorial mixture: sums over rows of E[z], E[z] x and E[z z'], and the entropy of q(z)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr

# Rows at a time, so that memory does not depend on their number.
ROWS = 4096


@dataclass
class ActivationStatistics:
    """Sufficient statistics of the components in some rows and their activations, float64.

    Attributes
    ----------
    n_rows : float
    square : float
        Sum of the squares of all cells.
    sums : ndarray of shape (n_components, n_features)
        sum_n E[z_nk] x_n.
    pairs : ndarray of shape (n_components, n_components)
        sum_n E[z_nj z_nk]: on the diagonal, the expected number of rows with each component.
    entropy : float
        Entropy of q(z), summed over all rows.
    """

    n_rows: float
    square: float
    sums: np.ndarray
    pairs: np.ndarray
    entropy: float

    @classmethod
    def of(cls, X: np.ndarray, activations: np.ndarray) -> ActivationStatistics:
        """Statistics of rows (n, n_features) with activation probabilities ``activations`` (n_components, n)."""
        n_components = len(activations)
        sums, pairs = np.zeros((n_components, X.shape[1])), np.zeros((n_components, n_components))
        # In float64: a sum in float32 is off by more than the squared error, where columns are far from 0.
        for first in range(0, len(X), ROWS):
            rows = slice(first, first + ROWS)
            present = activations[:, rows].astype(np.float64, copy=False)
            sums += present @ X[rows].astype(np.float64, copy=False)
            pairs += present @ present.T
        np.fill_diagonal(pairs, activations.sum(axis=1, dtype=np.float64))
        return cls(
            float(len(X)),
            float(np.einsum("nd,nd->", X, X, dtype=np.float64)),
            sums,
            pairs,
            row_entropies(activations).sum(),
        )

    def blend(self, other: ActivationStatistics, step: float, n_rows: float) -> ActivationStatistics:
        """A step towards the statistics ``other``, both scaled to ``n_rows`` rows."""
        old, new = (1.0 - step) * n_rows / self.n_rows, step * n_rows / other.n_rows
        mixed = [
            old * getattr(self, name) + new * getattr(other, name) for name in ("square", "sums", "pairs", "entropy")
        ]
        return ActivationStatistics(float(n_rows), *mixed)


def row_entropies(activations: np.ndarray) -> np.ndarray:
    """Entropy of q(z) of each row, from probabilities (n_components, n); float64 of shape (n,)."""
    return (entr(activations) + entr(1.0 - activations)).sum(axis=0, dtype=np.float64)
