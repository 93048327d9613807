"""Rows: the rows of a fit, as they are, or as their coordinates in the span of few singular vectors."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils.extmath import randomized_svd

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.component_factors import Components

# Singular vectors are exact if rows or features are not more than this.
MOST_EXACT = 500


@dataclass(frozen=True)
class Rows:
    """Rows of a fit.

    K components span K dimensions at most. In the span of the K largest right singular vectors of the rows an iteration
    takes K / n_features of the time, and its bound is that of all cells, with the means of the components limited to
    the span.

    Attributes
    ----------
    values : ndarray of shape (n, n_dimensions)
        The rows, or their coordinates.
    n_features : int
        Features of the rows themselves.
    squares : ndarray of float64, shape (n,), or None
        Squared length of each row, if ``values`` are coordinates.
    basis : ndarray of shape (n_dimensions, n_features) or None
        Orthonormal vectors that the coordinates refer to.
    """

    values: np.ndarray
    n_features: int
    squares: np.ndarray | None = None
    basis: np.ndarray | None = None

    @classmethod
    def of(cls, X: np.ndarray | Rows) -> Rows:
        """The rows (n, n_features) as they are."""
        return X if isinstance(X, Rows) else cls(X, X.shape[1])

    @classmethod
    def in_span(cls, X: np.ndarray, n_dimensions: int) -> Rows:
        """Coordinates of the rows (n, n_features) in the span of their ``n_dimensions`` largest singular vectors."""
        basis = singular_vectors(X, n_dimensions).astype(X.dtype)
        squares = np.einsum("nd,nd->n", X, X, dtype=np.float64)
        return cls(np.ascontiguousarray(X @ basis.T), X.shape[1], squares, basis)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index) -> Rows:
        squares = None if self.squares is None else self.squares[index]
        return replace(self, values=self.values[index], squares=squares)

    def statistics(self, activations: np.ndarray) -> ActivationStatistics:
        """Sufficient statistics with activation probabilities (n_components, n)."""
        square = None if self.squares is None else float(self.squares.sum())
        return ActivationStatistics.of(self.values, activations, square)

    def unexplained(self) -> float:
        """Squared length of all rows outside of the span."""
        if self.squares is None:
            return 0.0
        inside = np.einsum("nd,nd->", self.values, self.values, dtype=np.float64)
        return max(float(self.squares.sum() - inside), 0.0)

    def lift(self, components: Components) -> Components:
        """The components with means in the space of the rows themselves; a copy."""
        lifted = deepcopy(components)
        if self.basis is not None:
            lifted.means = components.means @ self.basis.astype(np.float64)
        return lifted


def singular_vectors(X: np.ndarray, n_vectors: int) -> np.ndarray:
    """The right singular vectors of the largest singular values, not centred, (n_vectors, n_features)."""
    n_vectors = min(n_vectors, *X.shape)
    if min(X.shape) > MOST_EXACT:
        return randomized_svd(X, n_vectors, n_iter=4, random_state=0)[2]
    if X.shape[1] <= X.shape[0]:
        return np.linalg.eigh((X.T @ X).astype(np.float64))[1][:, ::-1][:, :n_vectors].T
    return np.linalg.svd(X.astype(np.float64), full_matrices=False)[2][:n_vectors]
