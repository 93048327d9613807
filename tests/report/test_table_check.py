"""Odd rows are more than chance as often as the level says, of tables that are like the training table."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from sklearn_subanneal.report.new_table import NewTable
from sklearn_subanneal.report.table_check import OddRow, check_table


class ScoredRows:
    """A detector whose scores are the cells, of training rows and new ones from one distribution."""

    def __init__(self, training):
        self.training_scores_ = training
        self.crosscat_ = SimpleNamespace(_table=SimpleNamespace(columns=[]))

    def drift(self, X):
        return []

    def p_values(self, X):
        n_odder = (self.training_scores_[None, :] <= X["x"].to_numpy()[:, None]).sum(axis=1)
        return (n_odder + 1.0) / (len(self.training_scores_) + 1.0)

    def reasons(self, X, rows):
        return []


def checks(n_training, n_rows, level, repetitions, seed):
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        X = pd.DataFrame({"x": rng.normal(size=n_rows)})
        yield check_table(ScoredRows(rng.normal(size=n_training)), NewTable("new", X, X), level)


def test_false_alarms_have_at_most_the_probability_of_the_level():
    for n_training, n_rows, level in ((100, 400, 0.05), (300, 50, 0.1), (199, 199, 0.01)):
        found = list(checks(n_training, n_rows, level, 600, n_training))
        n_alarms = sum(bool(own.findings) for own in found)
        # Once in a thousand, if it is right.
        assert n_alarms <= binom.isf(1e-3, 600, level)
        mean = np.mean([sum(row.p_value <= level for row in own.rows) for own in found])
        assert abs(mean - found[0].n_expected) < 0.35 * found[0].n_expected


def test_levels_that_no_row_can_reach():
    """Of 50 training rows, a p-value is at least 1 / 51."""
    found = next(checks(50, 30, 0.01, 1, 0))
    assert found.n_expected == 0.0 and not found.findings and not found.rows


def test_more_odd_rows_than_chance():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"x": np.concatenate([rng.normal(size=90), np.full(30, -9.0)])})
    found = check_table(ScoredRows(rng.normal(size=200)), NewTable("new", X, X), 0.01)
    assert any("odd rows, more than chance" in text for text in found.findings)
    assert {row.number for row in found.rows} >= set(range(90, 120))


@pytest.mark.filterwarnings("error")
def test_dates_are_told_by_their_own_clock():
    """Not by that of UTC: half an hour before midnight in Berlin is of the same day."""
    late, day = pd.Timestamp("2024-03-01 23:30", tz="Europe/Berlin"), np.datetime64("2024-03-02T00:00:00")
    reason = SimpleNamespace(column="seen", value=late, expected=day, low=day, high=day)
    assert OddRow(0, 0.001, [reason]).text == "seen is 2024-03-01 23:30:00, expected 2024-03-02"
