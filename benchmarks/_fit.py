"""One annealed fit of a large table, with its CPU time and peak memory."""

from __future__ import annotations

import numpy as np
from _common import Clock, PeakMemory


def timed_fit(model, X, typed_bytes: int, score_rows) -> dict:
    """Fit a model and measure it; ``score_rows`` are scored after the clock has stopped."""
    with PeakMemory() as memory, Clock() as clock:
        model.fit(X)
    return {
        "cpu_seconds": clock.cpu,
        "wall_seconds": clock.wall,
        "peak_above_table_mb": None if memory.bytes is None else memory.bytes / 2**20,
        "peak_over_typed_data": None if memory.bytes is None else memory.bytes / typed_bytes,
        **({"n_views": model.n_views_} if hasattr(model, "n_views_") else {}),
        "n_clusters": model.n_clusters_,
        "sweeps": len(model.trace_),
        "score": model.score(score_rows),
    }


def native_bytes(frame) -> int:
    """Bytes of the columns of a DataFrame in their native types, without the index."""
    return int(frame.memory_usage(index=False).sum())


def planted_categories(n_rows: int, n_categories, n_clusters: int, seed: int):
    """Codes (n_rows, n_columns), int8, of a planted mixture whose columns have the given numbers of categories."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(n_clusters, size=n_rows, p=rng.dirichlet(np.full(n_clusters, 2.0)))
    out = np.empty((n_rows, len(n_categories)), np.int8, order="F")
    for j, n_values in enumerate(n_categories):
        cumulative = rng.dirichlet(np.full(n_values, 0.3), n_clusters).cumsum(axis=1)
        uniform = rng.random(n_rows)
        codes = np.zeros(n_rows, np.int8)
        for value in range(n_values - 1):
            codes += uniform > cumulative[labels, value]
        out[:, j] = codes
    return out
