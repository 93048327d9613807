"""Topics that are missed least are removed from too many, or all that the documents do not support."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import psi
from support.tiers import quick_only
from support.topic_corpora import mixed_topics, topics_of_common_words

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.corpus import MemoryCorpus, Totals
from sklearn_subanneal.topics.document_prior import DocumentPrior
from sklearn_subanneal.topics.measures import affinities
from sklearn_subanneal.topics.topic_passes import LearningRun
from sklearn_subanneal.topics.topic_removal import removal_losses, topics_to_remove, unsupported_topics
from sklearn_subanneal.topics.topic_settings import FEWEST_PASSES
from sklearn_subanneal.topics.word_statistics import Topics


def table_of(topics, n_tokens):
    return np.ascontiguousarray((topics * n_tokens).T)


def fitted_likelihoods(X, words, prior, n_iter=300):
    """Log-likelihoods of documents at the means of fitted proportions; plain loops over the fixed point."""
    out = []
    for counts in X.toarray():
        gamma = np.full(len(prior), prior[0] + counts.sum() / len(prior))
        for _ in range(n_iter):
            weights = np.exp(psi(gamma) - psi(gamma.sum())) * words
            gamma = prior + counts @ (weights / weights.sum(axis=1, keepdims=True))
        out.append(counts @ np.log(words @ (gamma / gamma.sum())))
    return np.array(out)


def test_loss_is_that_of_documents_fitted_without_the_topic():
    X, truth = mixed_topics(4, 30, 30, seed=1, length=200)
    X = X.astype(np.float64)
    topics = Topics(table_of(truth, X.sum() / 4), 0.01, "plug-in")
    prior = np.full(4, 0.3)
    losses, heirs = removal_losses(topics, X, prior)
    words = topics.mean_weights()
    before = fitted_likelihoods(X, words, prior).sum()
    for topic in range(4):
        others = np.delete(np.arange(4), topic)
        after = fitted_likelihoods(X, words[:, others], prior[others]).sum()
        assert losses[topic] == pytest.approx(before - after, rel=0.05)
        assert heirs[topic] != topic


def test_loss_is_for_all_tokens_of_the_topics():
    X, truth = mixed_topics(3, 40, 20)
    small, large = (Topics(table_of(truth, n), 1e-6, "plug-in") for n in (1000.0, 5000.0))
    prior = np.full(3, 0.2)
    one, five = (removal_losses(topics, X.astype(np.float64), prior)[0] for topics in (small, large))
    np.testing.assert_allclose(five, 5.0 * one, rtol=1e-3)


def test_one_of_two_equal_topics_is_not_missed():
    X, truth = mixed_topics(3, 200, 40)
    topics = Topics(table_of(np.vstack([truth, truth[:1]]), X.sum() / 4), 0.01, "plug-in")
    losses, heirs = removal_losses(topics, X.astype(np.float64), np.full(4, 0.1))
    assert (heirs[0], heirs[3]) == (3, 0)
    assert max(losses[0], losses[3]) < 0.02 * min(losses[1], losses[2])


def test_only_one_of_two_equal_topics_is_removed():
    X, truth = mixed_topics(3, 200, 40)
    doubled = np.vstack([truth, truth[:1]])
    topics = Topics(table_of(doubled, X.sum() / 4), 0.01, "plug-in")
    removed = topics_to_remove(topics, X.astype(np.float64), np.full(4, 0.1), 2)
    assert {0, 3} & set(removed.tolist())
    assert not {0, 3} <= set(removed.tolist())


def test_a_topic_of_no_documents_is_the_first_to_go():
    X, truth = mixed_topics(4, 300, 60)
    mixed = truth[:4].mean(axis=0, keepdims=True)
    topics = Topics(table_of(np.vstack([truth, mixed]), X.sum() / 5), 0.01, "plug-in")
    documents, prior = X.astype(np.float64), np.full(5, 0.1)
    assert topics_to_remove(topics, documents, prior, 1).tolist() == [4]
    assert unsupported_topics(topics, documents, prior).tolist() == [4]
    supported = Topics(table_of(truth, X.sum() / 4), 0.01, "plug-in")
    assert len(unsupported_topics(supported, documents, prior[:4])) == 0


def test_topics_that_are_left_keep_their_statistics():
    table = np.arange(1.0, 13.0).reshape(3, 4)
    topics = Topics(table.copy(), 0.1, "plug-in")
    topics.blend(np.array([1]), np.zeros((1, 4)), step=0.5)
    left = topics.without(np.array([0, 2]))
    np.testing.assert_allclose(left.means(), topics.means()[[1, 3]])
    np.testing.assert_allclose(left.totals, topics.totals[[1, 3]])


def test_prior_of_topics_that_are_left():
    values = np.array([0.1, 0.2, 0.3, 0.4])
    prior, divided = DocumentPrior(values), DocumentPrior(values, divided=True)
    for each in (prior, divided):
        each.keep(np.array([1, 3]))
    np.testing.assert_allclose(prior.values, [0.2, 0.4])
    np.testing.assert_allclose(divided.values, [1 / 3, 2 / 3])


@pytest.mark.parametrize("options", [{}, {"doc_topic_prior": "learn"}, {"learning_method": "batch"}, {"tol": 0.5}])
def test_as_many_topics_as_wanted_are_left(options):
    X, _ = mixed_topics(5, 150, 60)
    model = VariationalTemperingLDA(7, random_state=0, **options).fit(X)
    assert model.components_.shape == (7, 60)
    assert model.n_components_ == 7
    assert model.transform(X).shape == (150, 7)
    expected = 1 / 7 if options.get("doc_topic_prior") is None else None
    assert expected is None or model.doc_topic_prior_ == pytest.approx(expected)
    by_parts = VariationalTemperingLDA(7, random_state=0, total_samples=150, max_iter=20)
    assert by_parts.partial_fit(X[:100]).partial_fit(X[100:]).components_.shape == (7, 60)


def test_as_many_as_wanted_after_an_early_end():
    X, _ = mixed_topics(5, 150, 60)
    settings, generator = VariationalTemperingLDA(7)._settings(), np.random.default_rng(0)
    totals = Totals.of_corpus(X, 7)
    passes = settings.passes(totals, generator)
    learner = settings.learner(passes, totals, removal=True)
    assert learner.topics.n_topics == 9
    run = LearningRun(learner, MemoryCorpus(X, 64), passes, lambda record: record["sweep"] == 2)
    run.run()
    assert run.number == 2
    assert learner.topics.n_topics == 7


def test_few_passes_have_no_time_for_removal():
    X, _ = mixed_topics(5, 150, 60)
    for max_iter in (FEWEST_PASSES - 1, FEWEST_PASSES):
        model = VariationalTemperingLDA(6, max_iter=max_iter, random_state=0).fit(X)
        assert model.components_.shape == (6, 60)


@pytest.mark.parametrize(
    "n_topics, n_documents, n_words", [(12, 1000, 400), pytest.param(25, 3000, 600, marks=pytest.mark.slow)]
)
def test_all_planted_topics_are_found(n_topics, n_documents, n_words):
    for seed in range(2):
        X, truth = mixed_topics(n_topics, n_documents, n_words, seed)
        model = VariationalTemperingLDA(n_topics, random_state=seed).fit(X)
        assert (affinities(truth, model.topic_word_).max(axis=1) > 0.9).all()


@pytest.mark.slow
def test_nearly_all_of_fifty_planted_topics_are_found():
    found = []
    for seed in range(5):
        X, truth = mixed_topics(50, 5000, 2000, seed)
        model = VariationalTemperingLDA(50, random_state=seed).fit(X)
        found.append(int((affinities(truth, model.topic_word_).max(axis=1) > 0.9).sum()))
    assert min(found) >= 48
    assert np.median(found) == 50


def test_number_of_topics_is_learned():
    X, truth = mixed_topics(3, 300, 100, seed=2)
    model = VariationalTemperingLDA("learn", max_components=20, random_state=0).fit(X)
    assert model.n_components_ == 3
    assert (affinities(truth, model.topic_word_).max(axis=1) > 0.9).all()
    assert VariationalTemperingLDA("learn", max_components=2, random_state=0).fit(X).n_components_ <= 2


# Few documents tell the fifty topics apart: each has 80 tokens of several topics.
@pytest.mark.slow
@pytest.mark.parametrize(
    "n_topics, n_documents, n_words, within",
    [(10, 1000, 500, 0.2), (25, 3000, 600, 0.2), (35, 4000, 1500, 0.2), (50, 5000, 2000, 0.25)],
)
def test_larger_numbers_of_topics_are_learned(n_topics, n_documents, n_words, within):
    for seed in range(3):
        X, _ = mixed_topics(n_topics, n_documents, n_words, seed)
        model = VariationalTemperingLDA("learn", random_state=seed).fit(X)
        assert abs(model.n_components_ - n_topics) <= within * n_topics


# Documents seem to have too few of such topics, so that many of them would predict worse than few.
@pytest.mark.parametrize("seed", quick_only(range(7), 0))
def test_the_number_of_topics_of_common_words_is_learned(seed):
    X = topics_of_common_words(16, 1000, seed)
    model = VariationalTemperingLDA("learn", max_components=40, random_state=seed).fit(X)
    assert abs(model.n_components_ - 16) <= 0.2 * 16


def test_a_learned_number_needs_topics_that_start_from_documents():
    X, _ = mixed_topics(3, 60, 30)
    for options in ({"init": "random"}, {"doc_topic_prior": np.full(100, 0.1)}):
        with pytest.raises(ValueError, match='n_components="learn" needs init="documents" and a doc_topic_prior'):
            VariationalTemperingLDA("learn", **options).fit(X)
