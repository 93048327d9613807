"""Pairs of columns that the model keeps apart, and that a test finds dependent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sklearn_subanneal import CrossCat
from sklearn_subanneal.diagnostics.pair_tests import pairwise_tests
from sklearn_subanneal.estimators._contradictions import N_SECTORS, Contradiction, Contradictions, find_contradictions
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.report.section_tables import MOST_LINES, contradiction_tables
from sklearn_subanneal.report.templates import render


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


def test_semicontinuous_columns_are_tested_by_their_numbers():
    """Half of the cells are 0, whatever the other column is; the rest follow it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "fee": np.where(np.arange(300) % 2, 0.0, 9.0 + x + 0.1 * rng.normal(size=300))})
    settings = {"n_chains": 1, "n_draws": 1, "random_state": 0, "moves": [Gibbs()], "column_start": "separate"}
    model = CrossCat(feature_types=["real", "semicontinuous"], **settings).fit(frame)
    assert list(model.part_types_) == ["x", "fee (atom)", "fee (rest)"]
    found = find_contradictions(model, frame)
    assert found.tests.p_values[0, 1] == pytest.approx(stats.spearmanr(frame["x"], frame["fee"]).pvalue, rel=0.05)


def test_pairs_of_columns_that_stay_apart(frame):
    """A chain that cannot move columns: all are independent in the model, and six pairs are not."""
    model = fit(frame, moves=[Gibbs()], column_start="separate")
    found = find_contradictions(model, frame)
    assert found.n_tested == 15
    pairs = {(pair.one, pair.other): pair for pair in found.pairs}
    dependent = {("x", "follows"), ("x", "group"), ("x", "flag"), ("follows", "group"), ("follows", "flag")}
    assert set(pairs) == dependent | {("group", "flag")}
    assert [pair.p_value for pair in found.pairs] == sorted(pair.p_value for pair in found.pairs)
    # Ranks among all observed cells of a column, in the rows in which both are observed.
    both = frame.rank(numeric_only=True).dropna()
    wanted = {
        ("x", "follows"): ("rank correlation", stats.pearsonr(both["x"], both["follows"]).pvalue),
        ("follows", "group"): (
            "Kruskal-Wallis",
            stats.kruskal(*(own["follows"] for _, own in frame.groupby("group"))).pvalue,
        ),
        ("group", "flag"): ("chi-square", stats.chi2_contingency(pd.crosstab(frame["group"], frame["flag"])).pvalue),
    }
    for names, (test, p_value) in wanted.items():
        assert pairs[names].test == test and pairs[names].share == 0.0
        assert pairs[names].p_value == pytest.approx(15.0 * p_value, rel=1e-6, abs=0.0)


def test_names_of_grades_are_tested_as_categories():
    """The grade is modelled; by ranks it is independent of a cost that is least in the middle."""
    rng = np.random.default_rng(0)
    grade = np.repeat(np.arange(1, 8), 40)
    cost = np.abs(grade - 4.0) + rng.normal(size=len(grade))
    frame = pd.DataFrame({"grade": grade, "name": np.array(list("tuvwxyz"))[grade - 1], "cost": cost})
    settings = {"n_chains": 1, "n_draws": 1, "random_state": 0, "moves": [Gibbs()], "column_start": "separate"}
    model = CrossCat(feature_types={"grade": "ordinal"}, **settings).fit(frame)
    assert model._table.columns[1].derivation.source == 0
    found = find_contradictions(model, frame)
    assert [(pair.one, pair.other, pair.test) for pair in found.pairs] == [("name", "cost", "Kruskal-Wallis")]
    wanted = stats.kruskal(*(own["cost"] for _, own in frame.groupby("name"))).pvalue
    assert found.pairs[0].p_value == pytest.approx(2.0 * wanted, rel=1e-6, abs=0.0)


def test_angles_are_tested_as_sectors(frame):
    """The dependence on a cyclic column, in which the lowest and the highest angles are alike."""
    angle = frame["angle"].to_numpy()
    near = frame.assign(follows=np.cos(angle) + 0.3 * np.random.default_rng(5).normal(size=len(angle)))
    found = find_contradictions(fit(near, moves=[Gibbs()], column_start="separate"), near)
    pair = next(pair for pair in found.pairs if pair.other == "angle")
    sector = pd.qcut(angle, N_SECTORS, labels=False)
    wanted = stats.kruskal(*(own for _, own in near["follows"].groupby(sector))).pvalue
    assert (pair.one, pair.test) == ("follows", "Kruskal-Wallis")
    assert pair.p_value == pytest.approx(15.0 * wanted, rel=1e-6, abs=0.0)


def test_pairs_that_the_page_shows_apart_are_tested(frame):
    """Most draws have them in one view, and the representative draw has not."""
    model = fit(frame, moves=[Gibbs()], column_start="together")
    assert find_contradictions(model, frame).n_tested == 0
    labels = model.column_labels_.copy()
    labels[1] = 1
    model.n_views_, model.column_labels_ = 2, labels
    found = find_contradictions(model, frame)
    assert found.n_tested == 5
    assert {frozenset((pair.one, pair.other)) for pair in found.pairs} == {
        frozenset({"follows", name}) for name in ("x", "group", "flag")
    }


def test_pairs_in_one_view_are_not_tested(frame):
    found = find_contradictions(fit(frame, moves=[Gibbs()], column_start="together"), frame)
    assert found.n_tested == 0 and not found.pairs


def p_value_of(one, other, *is_categorical):
    return float(pairwise_tests([np.asarray(one, float), np.asarray(other, float)], is_categorical).p_values[0, 1])


def test_nothing_to_test():
    rng = np.random.default_rng(1)
    numbers, constant, nothing = rng.normal(size=30), np.zeros(30), np.full(30, np.nan)
    for one in (constant, nothing, np.where(np.arange(30) < 2, numbers, np.nan)):
        for is_categorical in ((False, False), (True, False), (False, True), (True, True)):
            assert p_value_of(one, numbers > 0.0, *is_categorical) == 1.0


def test_rare_levels_are_taken_together():
    codes = np.repeat([0.0, 1.0, 2.0, 3.0], [40, 40, 2, 2])
    other = np.tile([0.0, 1.0], 42)
    lumped = np.minimum(codes, 2.0)
    wanted = stats.chi2_contingency(pd.crosstab(lumped, other)).pvalue
    # Four rows are still fewer than five, but they are the last level.
    assert p_value_of(codes, other, True, True) == pytest.approx(wanted)
    numbers = np.random.default_rng(3).normal(size=84)
    wanted = stats.kruskal(*(numbers[lumped == level] for level in range(3))).pvalue
    assert p_value_of(codes, numbers, True, False) == pytest.approx(wanted)


def reference(one, other, is_categorical):
    """The p-value of one pair in plain scipy, by ranks among all observed cells of a column."""
    one, other = (np.asarray(own, float) for own in (one, other))
    ranked = [pd.Series(own).rank().to_numpy() for own in (one, other)]
    both = ~(np.isnan(one) | np.isnan(other))
    if all(is_categorical):
        return stats.chi2_contingency(pd.crosstab(one[both], other[both])).pvalue
    if not any(is_categorical):
        return stats.pearsonr(ranked[0][both], ranked[1][both]).pvalue
    levels, scores = (one[both], ranked[1][both]) if is_categorical[0] else (other[both], ranked[0][both])
    parts = [scores[levels == level] for level in np.unique(levels)]
    between = sum(len(part) * (part.mean() - scores.mean()) ** 2 for part in parts)
    return stats.chi2.sf(between / scores.var(ddof=1), len(parts) - 1)


def test_all_pairs_at_once_are_as_one_by_one():
    rng = np.random.default_rng(7)
    shared, n_rows = rng.normal(size=400), 400
    is_categorical = [False, True, False, True, False, True, False]
    columns = []
    for j, kind in enumerate(is_categorical):
        values = 0.2 * shared + rng.normal(size=n_rows)
        values = np.digitize(values, [-0.5, 0.6][: 1 + j % 2]).astype(float) if kind else values.round(j % 3)
        columns.append(np.where(rng.random(n_rows) < 0.1 * j, np.nan, values))
    found = pairwise_tests(columns, is_categorical)
    assert np.array_equal(found.p_values, found.p_values.T) and (np.diag(found.p_values) == 1.0).all()
    for i in range(7):
        for j in range(i):
            wanted = reference(columns[i], columns[j], (is_categorical[i], is_categorical[j]))
            assert found.p_values[i, j] == pytest.approx(wanted, rel=1e-6), (i, j)
    whole = pairwise_tests([columns[0], shared], [False, False])
    assert whole.correlations[0, 1] == pytest.approx(stats.spearmanr(columns[0], shared).statistic)
    assert found.name(0, 1) == "Kruskal-Wallis" and np.isnan(found.correlations[0, 1])


@pytest.mark.parametrize("is_categorical", [(False, False), (True, True)])
def test_a_coincidence_of_rare_cells_is_no_proof(is_categorical):
    """One cell of a thousand differs in both columns, in the same row: chance does this once in a thousand times."""
    one = np.zeros(1000)
    one[17] = 1.0
    assert p_value_of(one, one, *is_categorical) >= 1e-3 * (1.0 - 1e-9)
    # Three of them: by Fisher's exact test.
    one[[5, 600]] = 1.0
    table = [[997, 0], [0, 3]]
    assert p_value_of(one, one, *is_categorical) == pytest.approx(stats.fisher_exact(table).pvalue)


def test_p_values_of_independent_columns_are_uniform():
    rng = np.random.default_rng(2)
    for is_categorical in ((False, False), (True, False), (True, True)):
        p_values = [
            p_value_of(rng.integers(3, size=200), rng.integers(4, size=200), *is_categorical) for _ in range(300)
        ]
        assert stats.kstest(p_values, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("n_pairs", [MOST_LINES, MOST_LINES + 1, MOST_LINES + 30])
def test_every_pair_is_in_the_report(n_pairs):
    pairs = [Contradiction(f"a{i // 7}_", f"b{i}_", "chi-square", 1e-20 * (i + 1), 0.0) for i in range(n_pairs)]
    tables = contradiction_tables(Contradictions(pairs, 500, pairwise_tests([np.zeros(3)], [False])))
    markup = "".join(render("table.html", table=table) for table in tables)
    assert all(f"{pair.other}" in markup and f"{pair.one}" in markup for pair in pairs)
    further = n_pairs - MOST_LINES
    assert (f"{further} more pair" in markup) == (further > 0)
    # A line of its own for the first ones.
    assert markup.count("chi-square") == MOST_LINES
