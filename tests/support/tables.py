"""Small tables for tests of the estimators: three groups of rows, and missing cells."""

import numpy as np

NAN = np.nan


def blobs(n_rows=90, n_columns=2, gap=8.0, seed=0):
    """Three groups, row i in group i % 3."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)) + gap * (np.arange(n_rows) % 3)[:, None]


def with_gaps(X, share=0.1, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, NAN, X)
