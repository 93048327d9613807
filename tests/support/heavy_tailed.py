"""Tables that are too small for their tails: training rows surprise a model less than new rows do."""

from __future__ import annotations

import numpy as np


def heavy_tailed(n_rows, seed):
    """Eight columns of two factors, in which a hundred rows say little of the tails."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_rows, 2)) @ np.random.default_rng(5).normal(size=(2, 8))
    return factors + 0.5 * rng.normal(size=(n_rows, 8)) * rng.gamma(2.0, 0.5, size=(n_rows, 1))
