"""What a question is about, and what it takes for known: cells, which may have no probability, and other events."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.report.question import REMEDY, Question, given_cells


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    X = pd.DataFrame(
        {
            "income": 1234500.0 + 60.0 * group + rng.normal(size=80),
            "x": 3.0 * group + rng.normal(size=80),
            "age": 40.0 + 10.0 * group + rng.normal(size=80),
            "kind": np.array(["u and v", "w"])[group],
        }
    )
    settings = {"n_chains": 1, "n_draws": 2, "max_sweeps": 3, "effort": 0.2, "random_state": 0}
    return CrossCat(covariance_type="diag", **settings).fit(X)


def answer(model, text):
    return Question.of(text).answer(model)


@pytest.mark.parametrize(
    ("condition", "cells", "rest"),
    [
        ("income == 1234567 and x > 1", {"income": 1234567}, "x > 1"),
        ("x > 1 and kind == 'u and v' and age < 45", {"kind": "u and v"}, "x > 1 and age < 45"),
        ("income == 1234567 and (x > 1 or kind == 'w')", {"income": 1234567}, "x > 1 or kind == 'w'"),
        ("income == 1234567 and income > 0", {"income": 1234567}, "income > 0"),
        ("age == 41 and not kind == 'w'", {"age": 41}, "not kind == 'w'"),
    ],
)
def test_cells_among_other_events(model, condition, cells, rest):
    """A cell has its density, which is 0 as the probability of an event."""
    both, known = model.probability([f"(age > 42) and ({rest})", rest], given=cells)
    assert answer(model, f"probability of age > 42 given {condition}") == [(None, pytest.approx(both / known))]


def test_a_cell_is_given_only_where_all_conditions_hold_together(model):
    """Not beside an alternative, and not within parentheses, which may be a part of one."""
    for condition in ("kind == 'w' and x > 1 or age < 45", "(x > 1 and kind == 'w') or age < 45"):
        both, known = model.probability([f"(x > 0) and ({condition})", condition])
        assert answer(model, f"x > 0 given {condition}") == [(None, pytest.approx(both / known))]
        assert given_cells(condition) is None
    for condition in ("x == 1 and", "and x == 1", "x == 1 and and age == 3", "x == 1 and x == 2"):
        assert given_cells(condition) is None


def test_the_median_is_one_number(model):
    asked = "What is the median of age given kind == 'w'?"
    assert answer(model, asked) == [(0.5, model.conditional_quantiles("age", [0.5], given={"kind": "w"})[0])]
    assert [level for level, _ in answer(model, "quantiles of age")] == [0.05, 0.25, 0.5, 0.75, 0.95]


def test_what_is_proposed_can_be_asked(model):
    """After the refusal of a question, too."""
    with pytest.raises(ValueError, match="Quantiles are known given single values") as refused:
        answer(model, "quantiles of income given age > 40")
    assert "the condition has 'age > 40'" in str(refused.value)
    proposed = re.findall(r'"(.*?)"', REMEDY)
    assert len(proposed) == 2
    columns = {"smoker == 'yes'": "kind == 'w'", "city == 'Bonn'": "x > 1"}
    for text in proposed:
        for old, new in columns.items():
            text = text.replace(old, new)
        assert answer(model, text)
