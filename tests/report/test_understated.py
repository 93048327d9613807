"""Dependences that are stronger in the table than in the model, and how strong they are in the table."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from sklearn_subanneal.diagnostics.pair_tests import PairTests, pairwise_tests
from sklearn_subanneal.estimators._contradictions import Contradiction, Contradictions
from sklearn_subanneal.report.key_findings import CERTAIN, _of_understated
from sklearn_subanneal.report.section_tables import understated_table
from sklearn_subanneal.report.understated import Understated, find_understated


def strength(one, other, *is_categorical):
    return pairwise_tests([np.asarray(one, float), np.asarray(other, float)], is_categorical).strengths[0, 1]


def test_two_orders_have_the_correlation_of_normal_variables():
    x, y = np.random.default_rng(0).multivariate_normal([0.0, 0.0], [[1.0, -0.6], [-0.6, 1.0]], 20_000).T
    assert strength(np.exp(x), y**3, False, False) == pytest.approx(0.6, abs=0.02)


def test_two_sets_of_categories_have_their_mutual_information():
    """Equal fair booleans have log 2 nats; of independent ones chance alone is left, which is subtracted."""
    rng = np.random.default_rng(0)
    flags = np.arange(400) % 2
    assert strength(flags, 1 - flags, True, True) == pytest.approx(np.sqrt(1.0 - np.exp(-2.0 * np.log(2.0))), abs=0.002)
    independent = [strength(*rng.integers(5, size=(2, 400)), True, True) for _ in range(200)]
    # Without the subtraction, the mean is about sqrt(16 / 400).
    assert np.mean(np.square(independent)) < 0.01


def test_an_order_and_categories_have_the_correlation_ratio():
    rng = np.random.default_rng(0)
    groups = rng.integers(3, size=3000)
    values = np.array([0.0, 3.0, 1.0])[groups] + rng.normal(size=3000)
    ranks = stats.rankdata(values)
    within = sum(((ranks[groups == k] - ranks[groups == k].mean()) ** 2).sum() for k in range(3))
    ratio = np.sqrt(1.0 - within / ((ranks - ranks.mean()) ** 2).sum())
    for one, other, kinds in ((groups, values, (True, False)), (values, groups, (False, True))):
        assert strength(one, other, *kinds) == pytest.approx(ratio, abs=0.002)
    assert strength(rng.integers(3, size=3000), values, True, False) < 0.06


def contradictions(strengths, p_values, pairs=()):
    n = len(strengths)
    tests = PairTests(np.array(p_values), np.full((n, n), np.nan), np.ones(n, bool), np.array(strengths))
    return Contradictions(list(pairs), 0, tests)


def test_pairs_that_are_told():
    names, sure, unsure = list("abcd"), 1e-9, 1e-3
    strengths, p_values = np.full((4, 4), 0.6), np.full((4, 4), sure)
    strengths[0, 2] = 0.9
    # By chance, perhaps: times the number of six pairs it is above 0.001.
    p_values[1, 2] = unsure
    related = {(0, 1): 0.1, (0, 2): 0.3, (1, 2): 0.0, (1, 3): 0.5, (2, 3): 0.0}
    apart = [Contradiction("c", "d", "chi-square", 1e-8, 0.0)]
    found = find_understated(names, SimpleNamespace(related=related), contradictions(strengths, p_values, apart))
    assert found == [Understated("a", "c", 0.9, 0.3), Understated("a", "b", 0.6, 0.1)]


def test_sentence_and_table():
    found = [Understated("a", "c", 0.9, 0.3), Understated("a", "b", 0.6, 0.1)]
    (finding,) = _of_understated(found)
    assert finding.strength == CERTAIN and finding.section == "dependence"
    assert finding.text == (
        "a and c depend on each other more strongly than the model says: strength 0.90 in the table, 0.30 in the "
        "model; likewise 1 more pair."
    )
    assert not list(_of_understated([]))
    table = understated_table(SimpleNamespace(understated=found))
    assert [list(row) for row in table.rows] == [["a", "c", "0.90", "0.30"], ["a", "b", "0.60", "0.10"]]
    assert understated_table(SimpleNamespace(understated=[])) is None
