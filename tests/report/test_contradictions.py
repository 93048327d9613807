"""Pairs of columns that the model keeps apart, and that a test finds dependent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sklearn_subanneal import CrossCat
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.report.contradiction_tables import MOST_LINES, describe_contradictions
from sklearn_subanneal.report.contradictions import (
    Contradiction,
    Contradictions,
    dependence_test,
    find_contradictions,
)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    return pd.DataFrame(
        {
            "x": np.where(rng.random(300) < 0.1, np.nan, x),
            "follows": x + 0.5 * rng.normal(size=300),
            "noise": rng.normal(size=300),
            "group": np.where(x > 0.5, "high", np.where(x < -0.5, "low", "middle")),
            "flag": x + rng.normal(size=300) > 0.0,
            "angle": rng.uniform(0.0, 6.0, size=300),
        }
    )


def fit(frame, **settings):
    types = ["real", "real", "real", "categorical", "boolean", "cyclic"]
    return CrossCat(feature_types=types, n_chains=1, n_draws=2, random_state=0, **settings).fit(frame)


def test_pairs_of_columns_that_stay_apart(frame):
    """A chain that cannot move columns: all are independent in the model, and five pairs are not."""
    model = fit(frame, moves=[Gibbs()], column_start="separate")
    found = find_contradictions(model, frame, 10)
    assert found.n_tested == 10  # Five columns, without the cyclic one.
    pairs = {(pair.one, pair.other): pair for pair in found.pairs}
    dependent = {("x", "follows"), ("x", "group"), ("x", "flag"), ("follows", "group"), ("follows", "flag")}
    assert set(pairs) == dependent | {("group", "flag")}
    assert [pair.p_value for pair in found.pairs] == sorted(pair.p_value for pair in found.pairs)
    both = frame.dropna()
    wanted = {
        ("x", "follows"): ("rank correlation", stats.spearmanr(both["x"], both["follows"]).pvalue),
        ("follows", "group"): (
            "Kruskal-Wallis",
            stats.kruskal(*(own["follows"] for _, own in frame.groupby("group"))).pvalue,
        ),
        ("group", "flag"): ("chi-square", stats.chi2_contingency(pd.crosstab(frame["group"], frame["flag"])).pvalue),
    }
    for names, (test, p_value) in wanted.items():
        assert pairs[names].test == test and pairs[names].share == 0.0
        assert pairs[names].p_value == pytest.approx(10.0 * p_value, rel=1e-6, abs=0.0)
    # Only some columns.
    assert find_contradictions(model, frame, 2).n_tested == 1


def test_pairs_in_one_view_are_not_tested(frame):
    found = find_contradictions(fit(frame, moves=[Gibbs()], column_start="together"), frame, 10)
    assert found.n_tested == 0 and not found.pairs


def test_nothing_to_test():
    rng = np.random.default_rng(1)
    numbers, constant, nothing = rng.normal(size=30), np.zeros(30), np.full(30, np.nan)
    for one in (constant, nothing, np.where(np.arange(30) < 2, numbers, np.nan)):
        for is_categorical in ((False, False), (True, False), (False, True), (True, True)):
            assert dependence_test(one, numbers > 0.0, *is_categorical)[1] == 1.0


def test_rare_levels_are_taken_together():
    codes = np.repeat([0.0, 1.0, 2.0, 3.0], [40, 40, 2, 2])
    other = np.tile([0.0, 1.0], 42)
    lumped = np.minimum(codes, 2.0)
    wanted = stats.chi2_contingency(pd.crosstab(lumped, other)).pvalue
    # Four rows are still fewer than five, but they are the last level.
    assert dependence_test(codes, other, True, True) == ("chi-square", pytest.approx(wanted))


def test_p_values_of_independent_columns_are_uniform():
    rng = np.random.default_rng(2)
    for is_categorical in ((False, False), (True, False), (True, True)):
        p_values = [
            dependence_test(rng.integers(3, size=200) + 0.0, rng.integers(4, size=200) + 0.0, *is_categorical)[1]
            for _ in range(300)
        ]
        assert stats.kstest(p_values, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("n_pairs", [MOST_LINES, MOST_LINES + 1, MOST_LINES + 30])
def test_every_pair_is_in_the_report(n_pairs):
    pairs = [Contradiction(f"a{i // 7}_", f"b{i}_", "chi-square", 1e-20 * (i + 1), 0.0) for i in range(n_pairs)]
    markup = describe_contradictions(Contradictions(pairs, 500))
    assert all(f"{pair.other}" in markup and f"{pair.one}" in markup for pair in pairs)
    further = n_pairs - MOST_LINES
    assert (f"{further} more pair" in markup) == (further > 0)
    # A line of its own for the first ones.
    assert markup.count("chi-square") == MOST_LINES
