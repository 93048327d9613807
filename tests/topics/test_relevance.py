"""Relevance of words to topics, against its definition and against pyLDAvis."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest

from sklearn_subanneal.topics import relevance

TOPICS = np.random.default_rng(0).dirichlet(np.full(30, 0.3), 4)
SHARES = np.array([0.5, 0.2, 0.2, 0.1])


@pytest.mark.parametrize("weight", [0, 0.3, 1.0])
def test_relevance_is_its_definition(weight):
    found = relevance(TOPICS, weight, shares=SHARES)
    for k, topic in enumerate(TOPICS):
        for w, p in enumerate(topic):
            corpus = sum(SHARES[j] * TOPICS[j][w] for j in range(4))
            assert found[k, w] == pytest.approx(weight * log(p) + (1 - weight) * log(p / corpus), rel=1e-12)


def test_topics_have_equal_shares_if_none_are_given():
    np.testing.assert_allclose(relevance(TOPICS, 0.4), relevance(TOPICS, 0.4, shares=np.full(4, 3.0)))


@pytest.mark.parametrize("weight", [0.0, 0.6, 1.0])
def test_words_of_probability_zero_are_last(weight):
    # The last word is in no topic, and the one before it only in a topic without tokens.
    topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    found = relevance(topics, weight, shares=[1.0, 0.0])
    assert (found == -inf).tolist() == (topics == 0.0).tolist()
    assert not np.isnan(found).any()


def test_order_of_words_is_that_of_pyldavis():
    pyldavis = pytest.importorskip("pyLDAvis")
    pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    proportions, lengths = rng.dirichlet(np.full(4, 0.5), 50), rng.integers(5, 60, 50)
    vocabulary = [f"w{word}" for word in range(30)]
    prepared = pyldavis.prepare(
        TOPICS, proportions, lengths, vocabulary, np.ones(30), n_jobs=1, sort_topics=False, start_index=0
    )
    for weight in (0.0, 0.2, 0.6, 1.0):
        ranked = np.argsort(-relevance(TOPICS, weight, shares=lengths @ proportions), axis=1)
        for topic in range(4):
            # They round logarithms to four digits: words that are nearly equal may change places.
            theirs = prepared.sorted_terms(topic, weight)["Term"].tolist()
            assert theirs[:8] == [vocabulary[word] for word in ranked[topic, :8]]


@pytest.mark.parametrize("weight", [-0.1, 1.1, True, "0.5", float("nan")])
def test_wrong_weights(weight):
    with pytest.raises(ValueError, match=r"must be from 0 to 1, got "):
        relevance(TOPICS, weight)


def test_wrong_shares():
    with pytest.raises(ValueError, match=r"shares must have shape \(4,\), one for each topic, got \(3,\)"):
        relevance(TOPICS, shares=SHARES[:3])
