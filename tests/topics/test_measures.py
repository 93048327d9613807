"""Measures of topics: coherence against plain Python and against gensim, diversity, twins, matched topics."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from sklearn_subanneal.topics.measures import affinities, coherence, diversity, matched_affinities, n_twins
from sklearn_subanneal.topics.similar_topics import twin_pairs

VOCABULARY = [f"w{number}" for number in range(30)]
TOP = [["w0", "w1", "w2", "w3"], ["w3", "w20", "w7", "w29"], ["w5", "w6", "w25", "w1"]]


def texts(longest=25, replace=False, n=60):
    """Texts of 0 to ``longest`` tokens, in which a word occurs once unless ``replace``; earlier words are commoner."""
    rng = np.random.default_rng(0)
    shares = np.linspace(2.0, 0.2, 30) / np.linspace(2.0, 0.2, 30).sum()
    return [rng.choice(VOCABULARY, rng.integers(longest), replace=replace, p=shares).tolist() for _ in range(n)]


def counts(documents):
    return sparse.csr_matrix([[text.count(word) for word in VOCABULARY] for text in documents], dtype=float)


def windows(documents, width):
    for text in documents:
        for start in range(max(len(text) - width + 1, 1)):
            yield set(text[start : start + width])


def by_hand(words, sets, measure):
    """The definitions, pair by pair."""
    sets = list(sets)

    def p(*some):
        return sum(set(some) <= own for own in sets) / len(sets)

    def npmi(v, w):
        return (np.log(p(v, w) + 1e-12) - np.log(p(v) * p(w))) / -np.log(p(v, w) + 1e-12)

    if measure == "npmi":
        return np.mean([npmi(v, w) for v, w in combinations(words, 2)])
    if measure == "u_mass":
        return np.mean([np.log((p(v, w) + 1e-12) / p(v)) for v, w in combinations(words, 2)])
    vectors = np.array([[npmi(v, w) for w in words] for v in words])
    whole = vectors.sum(axis=0)
    return np.mean([own @ whole / np.linalg.norm(own) / np.linalg.norm(whole) for own in vectors])


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("measure, width", [("npmi", 10), ("c_v", 12), ("u_mass", 100)])
def test_coherence_is_its_definition(measure, width, replace):
    documents = texts(replace=replace)
    expected = [by_hand(words, windows(documents, width), measure) for words in TOP]
    np.testing.assert_allclose(coherence(TOP, documents, measure, window=width), expected, rtol=1e-12)


@pytest.mark.parametrize("measure", ["npmi", "c_v", "u_mass"])
def test_counts_are_whole_texts(measure):
    documents = texts(replace=True)
    numbers = [[VOCABULARY.index(word) for word in words] for words in TOP]
    expected = coherence(TOP, documents, measure, window=None)
    np.testing.assert_allclose(coherence(numbers, counts(documents), measure), expected, rtol=1e-12)
    np.testing.assert_allclose(coherence(numbers, counts(documents).toarray(), measure), expected, rtol=1e-12)


def test_coherence_does_not_depend_on_how_windows_are_summed(monkeypatch):
    expected = coherence(TOP, texts(), "npmi")
    monkeypatch.setattr("sklearn_subanneal.topics.cooccurrence.ENTRIES_AT_ONCE", 50)
    np.testing.assert_allclose(coherence(TOP, iter(texts()), "npmi"), expected, rtol=1e-12)


@pytest.mark.parametrize("measure", ["npmi", "c_v", "u_mass"])
def test_coherence_equals_that_of_gensim(measure):
    models, corpora = pytest.importorskip("gensim.models"), pytest.importorskip("gensim.corpora")
    documents = texts(n=100)
    dictionary = corpora.Dictionary(documents)
    bags = [dictionary.doc2bow(text) for text in documents]
    lda = models.LdaModel(bags, 5, id2word=dictionary, random_state=0)
    top = [[word for word, _ in lda.show_topic(topic, 8)] for topic in range(5)]
    name = {"npmi": "c_npmi"}.get(measure, measure)
    theirs = models.CoherenceModel(
        topics=top, texts=documents, corpus=bags, dictionary=dictionary, coherence=name, processes=1
    )
    np.testing.assert_allclose(coherence(top, documents, measure), theirs.get_coherence_per_topic(), atol=1e-9)


def test_words_that_occur_nowhere():
    documents = texts()
    for measure, least in (("npmi", -1.0), ("c_v", -1.0), ("u_mass", np.log(1e-12))):
        found = coherence([["w0", "w1", "never"], ["never", "nor", "this"]], documents, measure)
        assert found[1] == least
        assert np.isfinite(found[0])
    np.testing.assert_allclose(
        coherence([["w0", "w1", "never"]], documents, "npmi"), coherence([["w0", "w1"]], documents, "npmi")
    )


def test_one_word_of_a_topic_occurs():
    documents = texts()
    for measure, least in (("npmi", -1.0), ("c_v", -1.0), ("u_mass", np.log(1e-12))):
        np.testing.assert_array_equal(coherence([["w0", "never"], ["nor", "w1"]], documents, measure), least)


def test_words_in_every_document():
    documents = [["a", "b", *own] for own in ("c", "cd", "d", "e")]
    assert coherence([["a", "b"]], documents, "npmi") == 1.0
    assert coherence([["a", "b"]], documents, "c_v") == pytest.approx(1.0)
    # Of a word that is everywhere others do not depend.
    np.testing.assert_allclose(coherence([["a", "c"], ["d", "b"]], documents, "npmi"), 0.0, atol=1e-11)
    three = np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(coherence([["a", "b", "c"]], documents, "npmi"), three.mean(), atol=1e-11)


@pytest.mark.parametrize("measure", ["npmi", "c_v", "u_mass"])
def test_words_with_several_entries_in_a_document(measure):
    X = counts(texts(replace=True))
    halves = sparse.csr_matrix((np.repeat(X.data / 2.0, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    assert not halves.has_canonical_format
    np.testing.assert_array_equal(
        coherence([[0, 1, 2], [3, 20, 7]], halves, measure), coherence([[0, 1, 2], [3, 20, 7]], X, measure)
    )
    # The matrix is not changed.
    assert halves.nnz == 2 * X.nnz


def test_wrong_arguments_of_coherence():
    with pytest.raises(ValueError, match="measure must be one of"):
        coherence(TOP, texts(), "c_uci")
    with pytest.raises(ValueError, match="at least 2 words"):
        coherence([["w0"]], texts())
    with pytest.raises(ValueError, match="numbers of the 30 columns"):
        coherence([[0, 30]], counts(texts()))
    with pytest.raises(ValueError, match="give tokens with texts"):
        coherence(TOP, counts(texts()))


def test_texts_that_are_no_tokens():
    """Letters of a string are no tokens of it."""
    with pytest.raises(ValueError, match=r"'cat dog'; give its tokens, as text\.split\(\)"):
        coherence([["cat", "dog"]], ["cat dog", "dog"])
    with pytest.raises(ValueError, match="window must be"):
        coherence([["cat", "dog"]], [["cat", "dog"]], window=0)


def test_diversity():
    assert diversity([[0, 1], [2, 3]]) == 1.0
    assert diversity([[0, 1], [1, 0], [0, 1]]) == pytest.approx(1 / 3)


def test_affinities_and_twins():
    topics = np.array([[8.0, 2.0, 0.0, 0.0], [0.8, 0.2, 0.0, 0.0], [7.0, 3.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    found = affinities(topics)
    assert found[0, 1] == pytest.approx(1.0)
    assert found[0, 2] == pytest.approx(np.sqrt(0.8 * 0.7) + np.sqrt(0.2 * 0.3))
    assert found[0, 3] == 0.0
    assert n_twins(topics) == 3
    assert n_twins(topics, 0.999) == 2
    assert n_twins(topics[[0, 3]]) == 0
    # The two that are equal; the third one has no partner left.
    assert twin_pairs(topics).tolist() == [[0, 1]]
    assert twin_pairs(topics[2:]).shape == (0, 2)


def test_matched_affinities_are_of_the_best_matching():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(20, 0.2), 5)
    order = np.array([3, 0, 4, 1, 2])
    np.testing.assert_allclose(matched_affinities(topics, topics[order]), 1.0)
    assert len(matched_affinities(topics, topics[:3])) == 3
    # One good match each, where the best of each alone would be the same topic twice.
    close = [[0.5, 0.5, 0.0], [0.4, 0.6, 0.0]]
    assert matched_affinities(close, [[0.45, 0.55, 0.0], [0.0, 0.2, 0.8]]).min() < 0.5


@pytest.mark.parametrize("wrong", [[1.0, 2.0], [[1.0, -1.0]], [[np.nan, 1.0]]])
def test_wrong_topics(wrong):
    with pytest.raises(ValueError, match="topics must be weights"):
        affinities(wrong)


def test_topics_of_different_vocabularies():
    with pytest.raises(ValueError, match="same vocabulary"):
        affinities(np.ones((2, 3)), np.ones((2, 4)))
