"""Topics start apart, from groups of documents; those that are nearly the same are parted, and the fit says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from support.topic_corpora import mixed_topics

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics import document_groups
from sklearn_subanneal.topics.document_groups import DocumentGroups, EvenSample
from sklearn_subanneal.topics.measures import affinities, n_twins
from sklearn_subanneal.topics.topic_settings import (
    MORE_PASSES,
    default_cooling,
    default_passes,
    default_word_prior,
    own_words,
)
from sklearn_subanneal.topics.word_statistics import MASS_OF_NEW, Topics


@pytest.mark.parametrize("cuts", [[], [10], [1, 2, 3, 50, 51]])
def test_sample_is_even_however_the_stream_is_cut(cuts):
    numbers = np.arange(1, 71)
    for limit in (1, 7, 35, 70, 100):
        sample = EvenSample(limit)
        for part in np.split(numbers, cuts):
            sample.add(sparse.csr_matrix(part[:, None]))
        kept = sample.documents().toarray().ravel()
        stride = 1
        while -(-70 // stride) > limit:
            stride *= 2
        assert kept.tolist() == numbers[::stride].tolist()
        assert sample.n_seen == 70


def test_groups_find_documents_that_are_alike():
    blocks = np.kron(np.eye(3, dtype=int), np.ones((1, 4), int))
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.poisson(3.0 * blocks[rng.permutation(60) % 3] + 0.05), dtype=np.float32)
    counts = DocumentGroups(X).word_counts(3).toarray()
    np.testing.assert_allclose(counts.sum(axis=0), X.toarray().sum(axis=0), rtol=1e-5)
    shares = counts / counts.sum(axis=1, keepdims=True)
    assert sorted(shares.reshape(3, 3, 4).sum(axis=2).argmax(axis=1)) == [0, 1, 2]
    assert shares.reshape(3, 3, 4).sum(axis=2).max(axis=1).min() > 0.9


def test_few_groups_are_of_words_where_components_exceed_chance(monkeypatch):
    X, truth = mixed_topics(6, 900, 300)
    for n_groups, most, of_words in ((6, 6, True), (6, 5, False), (24, 24, False)):
        monkeypatch.setattr(document_groups, "MOST_OF_WORDS", most)
        groups = DocumentGroups(X).word_counts(n_groups).toarray()
        np.testing.assert_allclose(groups.sum(axis=0), X.toarray().sum(axis=0), rtol=1e-4)
        # How often documents repeat their words does not change groups of words.
        repeated = X.copy()
        repeated.data *= np.random.default_rng(0).integers(1, 4, len(repeated.data))
        other = DocumentGroups(repeated).word_counts(n_groups).toarray()
        shares, others = (found / np.maximum(found.sum(axis=0), 1e-9) for found in (groups, other))
        assert np.allclose(shares, others, atol=1e-4) == of_words
        found = affinities(truth, groups / groups.sum(axis=1, keepdims=True))
        assert found.max(axis=1).min() > 0.9
        assert len(set(found.argmax(axis=1))) == 6


def test_documents_that_repeat_a_word_are_no_groups():
    X, _ = mixed_topics(6, 900, 300)
    repeated = X.tolil()
    for document in range(0, 900, 45):
        repeated[document, document // 3] = 60.0
    groups = DocumentGroups(repeated.tocsr()).word_counts(24).toarray()
    assert (groups.max(axis=1) / groups.sum(axis=1)).max() < 0.2


def test_further_groups_are_far_from_topics():
    X = sparse.csr_matrix(np.kron(np.eye(4), np.full((20, 3), 2.0)), dtype=np.float32)
    topics = np.kron(np.eye(4), np.full(3, 1 / 3))
    found = DocumentGroups(X).more_word_counts(topics[:2], 2, np.random.default_rng(0)).toarray()
    assert sorted(found.reshape(2, 4, 3).sum(axis=2).argmax(axis=1)) == [2, 3]


@pytest.mark.parametrize("n_documents", [0, 1, 3])
def test_fewer_documents_than_topics(n_documents):
    X = sparse.csr_matrix(np.ones((max(n_documents, 1), 6), np.float32) * (n_documents > 0))
    counts = DocumentGroups(X).word_counts(5)
    assert counts.shape == (5, 6)
    topics = Topics.start(Topics.apart(counts, X.sum(), 0.5), 0.2, "plug-in", np.float32, np.random.default_rng(0))
    assert np.isfinite(topics.means()).all()
    assert len(np.unique(topics.means(), axis=0)) == 5


def test_start_has_a_share_of_own_words_and_all_tokens():
    counts = sparse.csr_matrix([[6.0, 2.0, 0.0], [0.0, 0.0, 8.0]])
    rows = []
    for seed in range(200):
        topics = Topics.start(Topics.apart(counts, 100.0, 0.2), 0.1, "plug-in", np.float64, np.random.default_rng(seed))
        rows.append(topics.table.T)
        assert topics.totals == pytest.approx(topics.table.sum(axis=0))
    everything = np.array([6.0, 2.0, 8.0]) / 16
    own = np.array([[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]])
    expected = 50.0 * (0.2 * own + 0.8 * everything)
    np.testing.assert_allclose(np.mean(rows, axis=0), expected, rtol=0.03)


def test_twins_are_merged_and_new_topics_start():
    table = np.array([[4.0, 3.0, 0.0], [2.0, 1.5, 1.0], [0.0, 0.0, 9.0], [0.5, 0.5, 0.5]])
    topics = Topics(table.copy(), 0.1, "plug-in")
    topics.part(np.array([[0, 1]]), sparse.csr_matrix([[0.0, 0.0, 0.0, 2.0]]), 0.8)
    np.testing.assert_allclose(topics.table[:, 0], table[:, 0] + table[:, 1])
    np.testing.assert_allclose(topics.table[:, 2], table[:, 2])
    everything = topics.table[:, [0, 2]].sum(axis=1)
    expected = MASS_OF_NEW * (0.8 * np.eye(4)[3] + 0.2 * everything / everything.sum()) * everything.sum() / 3
    np.testing.assert_allclose(topics.table[:, 1], expected)
    np.testing.assert_allclose(topics.totals, topics.table.sum(axis=0))


@pytest.mark.parametrize("tempering", ["annealed", pytest.param("none", marks=pytest.mark.slow)])
def test_default_finds_planted_topics_without_twins(tempering):
    X, truth = mixed_topics(12, 900, 300)
    for seed in range(3):
        model = VariationalTemperingLDA(12, tempering=tempering, random_state=seed).fit(X)
        assert model.converged_
        assert n_twins(model.topic_word_) == 0
        found = affinities(truth, model.topic_word_).max(axis=1)
        assert (found > 0.9).all()


def test_twins_that_are_left_are_said():
    rng = np.random.default_rng(0)
    # All documents are of one topic.
    X = sparse.csr_matrix(rng.poisson(5.0, (80, 12)), dtype=np.float32)
    with pytest.warns(ConvergenceWarning, match="topics are nearly the same as another one.*smaller n_components"):
        model = VariationalTemperingLDA(4, max_iter=3, random_state=0).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 3
    with pytest.warns(ConvergenceWarning, match="nearly the same"):
        model = VariationalTemperingLDA(4, random_state=0).fit(X)
    assert model.n_iter_ == default_passes(80, X.sum() / 80) + MORE_PASSES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert VariationalTemperingLDA(1, random_state=0).fit(X).converged_


def test_random_start_is_left_to_itself():
    X, truth = mixed_topics(12, 900, 300)
    model = VariationalTemperingLDA(12, init="random", max_iter=1, tempering="none", random_state=0)
    with pytest.warns(ConvergenceWarning, match="of 12 topics are nearly the same"):
        model.fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = VariationalTemperingLDA(12, init="random", random_state=0).fit(X)
    assert model.n_iter_ == default_passes(900, X.sum() / 900)
    assert (affinities(truth, model.topic_word_).max(axis=1) > 0.9).sum() >= 8


def test_the_prior_of_topics_grows_with_the_tokens_of_each_word_and_topic():
    assert default_word_prior(200.0, 10, 10) == pytest.approx(0.06)
    # Within limits, and from the number of topics alone if tokens are still to come.
    assert default_word_prior(10.0, 10, 10) == 0.02
    assert default_word_prior(1e6, 10, 10) == 0.1
    assert default_word_prior(None, 20, 10) == 0.05


def test_defaults_depend_on_the_corpus():
    assert default_passes(100, 50) > default_passes(20_000, 50) == default_passes(1_000_000, 50)
    assert default_passes(5000, 2000) > default_passes(5000, 300) == default_passes(5000, 20)
    starts = [default_cooling(length, 10).start for length in (1, 50, 200, 1000, 10_000)]
    assert starts[0] == starts[1] == 2.0
    assert starts[3] == starts[4] == pytest.approx(1.2)
    assert 1.2 < starts[2] < 2.0
    assert 1.0 < default_cooling(50, 1).start < 2.0
    shares = [default_cooling(50, passes).share for passes in (1, 4, 6, 10, 20, 40)]
    assert shares == [0.5, 0.5, 0.5, 0.4, 0.25, 0.125]
    assert default_cooling(50, 40, batch=True).share == 0.5
    assert own_words(1.0, 1e6) == pytest.approx(0.02)
    assert own_words(1000.0, 60.0) == pytest.approx(0.006)
    assert own_words(30.0, 1e6) == own_words(1000.0, 6000.0) == 0.6


def test_stream_of_one_pass_by_plan_finds_planted_topics():
    X, truth = mixed_topics(12, 3000, 300)
    order = np.random.default_rng(1).permutation(3000)
    planned = VariationalTemperingLDA(12, total_samples=3000, max_iter=1, random_state=0)
    unplanned = VariationalTemperingLDA(12, random_state=0)
    for rows in np.array_split(order, 10):
        planned.partial_fit(X[rows])
        unplanned.partial_fit(X[rows])
    found, without = (affinities(truth, model.topic_word_).max(axis=1).mean() for model in (planned, unplanned))
    assert found > 0.9
    # Without a plan the temperature is 1 throughout, which suits these well separated topics slightly better.
    assert found > without - 0.03
