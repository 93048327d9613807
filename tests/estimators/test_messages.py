"""What is wrong with a table or an argument is told by every estimator: the column or parameter, and the remedy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from support.scale_models import ALL, MIXTURES, SUPERVISED, TOPICS, fitted

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 2))
COUNTS = RNG.poisson(2.0, (20, 6)).astype(float)
# The remedy for words depends on what an estimator can read.
VECTORIZER = r"count the words of texts by sklearn\.feature_extraction\.text\.CountVectorizer"
NUMBERS = r"convert the cells to numbers, with NaN where one is missing"
FRAME = rf"{NUMBERS}, or pass a DataFrame, whose columns may hold words and dates"


@cache
def mixture(name):
    return fitted(name, X)


def remedy(name):
    if name in TOPICS:
        return VECTORIZER
    return NUMBERS if name in ("factorial", "process") else FRAME


def refused(name, table, match):
    model = ALL[name]()
    y = [np.arange(len(table)) % 2] if name in SUPERVISED else []
    with pytest.raises(ValueError, match=rf"(?s){match}"):
        model.fit(table, *y)


@pytest.mark.parametrize("name", ALL)
def test_words_in_an_array_of_objects(name):
    refused(
        name,
        np.array([["red", 1.0], ["blue", 2.0]] * 10, object),
        rf"X holds 'red', which is no number.*{remedy(name)}",
    )


@pytest.mark.parametrize("name", TOPICS)
def test_texts_for_a_topic_model(name):
    refused(name, ["the cat sat", "on the mat"] * 5, rf"X holds 'the cat sat', which is no number.*{VECTORIZER}")
    refused(name, pd.DataFrame({"text": ["the cat sat"] * 5}), rf"'text' of X holds 'the cat sat'.*{VECTORIZER}")


@pytest.mark.parametrize("name", ALL)
def test_integers_of_400_digits(name):
    refused(name, [[10**400, 1]] * 20, rf"X holds 10+\.\.\.0+, which is no number .*{remedy(name)}")
    told = (
        r"'a'( of X)? holds (10+\.\.\.0+, which is no number|a number too large for floating point: divide the column)"
    )
    refused(name, pd.DataFrame({"a": [10**400, 1] * 10, "b": range(20)}), told)


@pytest.mark.parametrize("name", ALL)
def test_names_that_occur_twice(name):
    table = pd.DataFrame(COUNTS[:, :2], columns=["a", "a"])
    refused(name, table, r"X has two columns of the name 'a': rename one of them, or drop it")


@pytest.mark.parametrize("rows", [[20], [-21], [0.5], ["a"], [[0]], [True], [None], {"a": 1}, 10**400], ids=str)
@pytest.mark.parametrize("name", MIXTURES)
def test_rows_that_are_not_there(name, rows):
    with pytest.raises(ValueError, match=r"rows must be indices from 0 to 19"):
        mixture(name).co_clustering(rows=rows)


@pytest.mark.parametrize("number", [True, False, 0, -1, 1.5, "3", None, 10**400, np.nan])
@pytest.mark.parametrize("name", MIXTURES)
def test_numbers_of_samples(name, number):
    with pytest.raises(ValueError, match=r"n_samples must be an integer (of at least|from) 1"):
        mixture(name).sample(number)
