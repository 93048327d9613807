"""Bags of words with large counts, their kernels, and their marginal likelihood by SciPy."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from sklearn_subanneal.columns._bag_data import BagOfWordsData
from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics

# No word may occur more often in all rows together.
LARGEST = 2**31 - 2


def statistics_of(counts, beta=0.3, grids=None):
    return BagOfWordsStatistics(BagOfWordsData(counts), {"beta": beta, "n_words": counts.shape[1]}, grids)


def log_marginal(counts, beta=0.3):
    """Log marginal likelihood of the rows as one cluster, by SciPy."""
    words = np.sum(counts, axis=0, dtype=float)
    n_words = len(words)
    return (
        np.sum(gammaln(beta + words) - gammaln(beta)) + gammaln(n_words * beta) - gammaln(n_words * beta + sum(words))
    )


def with_a_large_count(count, n_rows=12, n_words=5):
    counts = np.random.default_rng(0).poisson(2.0, (n_rows, n_words)).astype(np.int64)
    counts[3, 1] = count
    counts[7, 1] = count // 3
    counts[3, 4] = 1
    return counts
