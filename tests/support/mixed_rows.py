"""Rows of a planted mixture with columns of several types, gaps, and a rare category."""

from __future__ import annotations

import numpy as np
import pandas as pd

N_GROUPS = 6


def mixed_rows(n_rows, seed):
    """Six groups in five columns of four types; cells are missing, and one category is rare."""
    rng = np.random.default_rng(seed)
    group = rng.integers(N_GROUPS, size=n_rows)
    centers = np.random.default_rng(1).normal(scale=4.0, size=(N_GROUPS, 2))
    frame = pd.DataFrame(centers[group] + rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    frame.loc[rng.random(n_rows) < 0.05, "a"] = np.nan
    names = np.array(["red", "green", "blue"])
    frame["c"] = names[np.where(rng.random(n_rows) < 0.8, group % 3, rng.integers(3, size=n_rows))]
    frame.loc[n_rows - 3, "c"] = "never seen before"
    frame["d"] = rng.poisson(2.0 + 5.0 * (group > 2))
    frame["e"] = (rng.random(n_rows) < 0.2 + 0.6 * (group % 2)).astype(bool)
    return frame, group
