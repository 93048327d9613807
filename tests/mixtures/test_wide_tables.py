"""Rows of thousands of columns: sums of their scores, in single precision, must not drift."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP

N_COLUMNS, N_LEVELS, ALPHA, N_DRAWS = 3000, 10, 0.1, 4000


@pytest.mark.parametrize("is_own", [False, True])
def test_a_row_joins_another_one_or_a_new_cluster_by_their_probabilities(is_own):
    """The second row has as many cells of the first as make its cluster about as probable as a new one."""
    total = ALPHA * N_LEVELS
    match, miss = np.log((ALPHA + 1.0) / (total + 1.0)), np.log(ALPHA / (total + 1.0))
    new = -np.log(N_LEVELS)
    n_equal = round(N_COLUMNS * (new - miss) / (match - miss))
    first = np.random.default_rng(0).integers(N_LEVELS, size=N_COLUMNS)
    second = np.where(np.arange(N_COLUMNS) < n_equal, first, (first + 1) % N_LEVELS)
    columns = [
        CategoricalStatistics(CategoricalData(np.array(cells, np.int8)), {"alpha": np.full(N_LEVELS, ALPHA)})
        for cells in zip(first, second, strict=True)
    ]
    log_odds = n_equal * match + (N_COLUMNS - n_equal) * miss - N_COLUMNS * new
    probability = 1.0 / (1.0 + np.exp(-log_odds))
    mixture, generator = Mixture(columns, CRP(1.0).bind(False), 2), np.random.default_rng(1)
    mixture.set_labels(np.array([1 if is_own else -1, 0], np.int32), generator)
    row, none = np.zeros(1, np.int32), np.full(1, -1, np.int32)
    n_joined = 0
    for _ in range(N_DRAWS):
        churn(mixture, row if is_own else none, row, 1.0, generator)
        n_joined += mixture.n_clusters == 1
        if not is_own:
            churn(mixture, row, none, 1.0, generator)
    assert abs(n_joined / N_DRAWS - probability) < 4.0 * np.sqrt(probability * (1.0 - probability) / N_DRAWS)
