"""Running statistics after very many rows taken out and added: every type of column, also with hard cells."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from statistics_drift import BAR, CASES, N_ROWS, drift_of, statistics_of
from support.tiers import quick_only

from sklearn_subanneal.columns.binding import KINDS

PAIRS = [(case, n) for case in CASES for n in (100_000, 10_000_000)]


@pytest.mark.parametrize(("case", "n_pairs"), quick_only(PAIRS, *(pair for pair in PAIRS if pair[1] == 100_000)))
def test_statistics_are_those_of_a_rebuild(case, n_pairs):
    found = drift_of(case, n_pairs)
    assert found["column"] < BAR
    assert found["marginal"] < BAR
    # Coefficients of rows that are scored are float32, about 1e-7 of terms of some units.
    assert found["score"] < 1e-5


def test_all_types_are_tested():
    kinds = {"gaussian" if kind == "block" else kind for kind, *_ in CASES.values()}
    assert kinds == set(KINDS)


def test_factors_of_a_block_are_made_anew_at_intervals():
    """Each change of rank one rounds the factor; after 4096 of them it is that of the sums, to the bit."""
    statistics, slots = statistics_of("block-one"), np.zeros(N_ROWS, np.int32)
    statistics.rebuild(slots)
    rows = np.random.default_rng(0).integers(N_ROWS, size=2048).astype(np.int32)
    rounded = []
    for part in (rows[:2000], rows[2000:]):
        statistics.reassign_rows(part, np.zeros(len(part), np.int32), slots)
        fresh = statistics.twin()
        fresh.set_state(statistics.get_state(1))
        rounded.append(statistics.log_marginals(1) - fresh.log_marginals(1))
    assert rounded[0] != 0.0
    assert_array_equal(rounded[1], 0.0)
