"""Small tables for tests of Gaussian processes."""

from __future__ import annotations

import numpy as np


def table(n=30, n_features=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, (n, n_features))
    return X, 10.0 + 3.0 * np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)
