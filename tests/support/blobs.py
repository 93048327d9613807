"""Points in well separated clusters."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics


def blobs(n_rows, n_blobs=5, width=2, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 8, (n_blobs, width))
    labels = rng.integers(0, n_blobs, n_rows)
    return centers[labels] + rng.normal(size=(n_rows, width)), labels


def gaussian(X):
    width = X.shape[1]
    return GaussianStatistics(GaussianData(X), {"mu": np.zeros(width), "kappa": 0.1, "psi": np.eye(width), "nu": 5.0})
