"""Topics that are mixtures are halved, missing ones are found, and twins that are both needed stay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support.topic_corpora import mixed_topics

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics import topic_revision
from sklearn_subanneal.topics.corpus import MemoryCorpus, Totals
from sklearn_subanneal.topics.document_prior import DocumentPrior
from sklearn_subanneal.topics.measures import affinities
from sklearn_subanneal.topics.residuals import Residual
from sklearn_subanneal.topics.topic_passes import LearningRun
from sklearn_subanneal.topics.topic_removal import mean_log_likelihood
from sklearn_subanneal.topics.twin_trial import TwinTrial
from sklearn_subanneal.topics.word_statistics import Topics


def topics_of(words, n_tokens):
    return Topics(np.ascontiguousarray((words * n_tokens / len(words)).T, dtype=np.float32), 0.05, "plug-in")


def pairs(n_topics, n_documents, n_words, seed=0):
    """Documents in which topics come in pairs, three tokens of one to one of the other, and the topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.05), n_topics) * 0.7 + rng.dirichlet(np.full(n_words, 1.0)) * 0.3
    theta = rng.dirichlet(np.full(n_topics, 0.1), n_documents)
    theta = 0.75 * theta + 0.25 * theta[:, np.arange(n_topics) ^ 1]
    rows = [rng.multinomial(rng.integers(40, 120), row @ topics) for row in theta]
    return sparse.csr_matrix(np.array(rows, dtype=np.float32)), topics


@pytest.fixture(scope="module")
def corpus():
    X, truth = mixed_topics(8, 1500, 200)
    return X, truth, np.full(8, 0.1)


def test_direction_of_most_variation_is_the_first_eigenvector():
    rng = np.random.default_rng(0)
    proportions, words = rng.dirichlet(np.ones(2), 200), rng.dirichlet(np.ones(12), 2).T
    counts = rng.poisson(8.0 * proportions @ words.T)
    counts[:12] += 6 * (np.arange(12) < 3)
    found = Residual.of(sparse.csr_matrix(counts.astype(float)), proportions, words, rng)
    lengths = counts.sum(axis=1, keepdims=True)
    units = np.sqrt(counts.sum() / counts.sum(axis=0))
    residuals = (counts - lengths * (proportions @ words.T)) * units / np.sqrt(lengths)
    products = residuals.T @ residuals - np.diag((counts**2 * units**2 / lengths).sum(axis=0))
    values, vectors = np.linalg.eigh(products)
    assert found.variation == pytest.approx(values[-1], rel=1e-3)
    assert abs(np.corrcoef(found.of_documents, residuals @ vectors[:, -1])[0, 1]) > 0.999
    # The few documents with further words are far in the direction.
    assert found.skewness > 1.0
    assert set(np.argsort(-found.of_documents)[:8].tolist()) <= set(range(12))


def test_a_mixture_of_two_topics_is_halved(corpus):
    X, truth, _ = corpus
    merged = np.vstack([truth[2:], truth[:2].mean(axis=0)])
    topics = topics_of(merged, X.sum())
    mixed, shares = topic_revision.mixed_topics(topics, X, np.full(7, 0.1), np.random.default_rng(0))
    assert mixed.tolist() == [6]
    halved = topics.halved(mixed, shares)
    np.testing.assert_allclose(halved.table[:, [6, 7]].sum(axis=1), topics.table[:, 6], rtol=1e-4)
    found = affinities(truth[:2], halved.means()[[6, 7]])
    assert found.max(axis=1).min() > affinities(truth[:2], merged[6:]).max() + 0.01
    assert found.argmax(axis=1).tolist() in ([0, 1], [1, 0])


def test_topics_of_which_none_is_a_mixture_stay(corpus):
    X, truth, prior = corpus
    mixed, shares = topic_revision.mixed_topics(topics_of(truth, X.sum()), X, prior, np.random.default_rng(0))
    assert len(mixed) == len(shares) == 0


def test_words_of_a_missing_topic(corpus):
    X, truth, prior = corpus
    rng = np.random.default_rng(0)
    counts = topic_revision.words_of_missing(topics_of(truth[1:], X.sum()), X, prior[1:], rng)
    assert affinities(truth, counts[None]).argmax() == 0
    assert topic_revision.words_of_missing(topics_of(truth, X.sum()), X, prior, rng) is None


@pytest.mark.parametrize("n_documents", [0, 1, 2])
def test_hardly_any_documents(n_documents):
    X = sparse.csr_matrix(np.ones((n_documents, 5), np.float32))
    topics = topics_of(np.full((3, 5), 0.2), 15.0)
    mixed, _ = topic_revision.mixed_topics(topics, X, np.full(3, 0.1), np.random.default_rng(0))
    assert len(mixed) == 0
    assert topic_revision.words_of_missing(topics, X, np.full(3, 0.1), np.random.default_rng(0)) is None


def test_prior_of_halves():
    values = np.array([0.2, 0.4, 0.6])
    given, divided = DocumentPrior(values), DocumentPrior(values, divided=True)
    learned = DocumentPrior(values, learned=True)
    for prior in (given, divided, learned):
        prior.halve(np.array([1]))
    np.testing.assert_allclose(given.values, [0.2, 0.4, 0.6, 0.4])
    np.testing.assert_allclose(learned.values, [0.2, 0.2, 0.6, 0.2])
    assert divided.values.sum() == pytest.approx(1.2)


def run_of(X, n_topics, seed, table=None):
    """A run before its first pass, from given statistics."""
    settings, generator = VariationalTemperingLDA(n_topics)._settings(), np.random.default_rng(seed)
    totals = Totals.of_corpus(X, n_topics)
    passes = settings.passes(totals, generator)
    learner = settings.learner(passes, totals, removal=table is None)
    if table is not None:
        learner.topics.table[:] = table
        learner.topics.recount()
    return LearningRun(learner, MemoryCorpus(X, 64, generator), passes)


def test_similar_topics_that_are_both_needed_stay():
    X, truth = pairs(6, 800, 120)
    similar = 0.75 * truth + 0.25 * truth[np.arange(6) ^ 1]
    run = run_of(X, 6, 0, (similar * X.sum() / 6).T)
    learner, before = run.learner, run.learner.topics.means()
    trial = TwinTrial(learner, run.passes.documents, run.passes.generator)
    trial.start(0.85)
    assert not np.allclose(learner.topics.means(), before, rtol=0.1)
    for documents in MemoryCorpus(X, 64).batches():
        learner.learn(documents, documents.shape[0] / 800, 1.0)
    trial.judge()
    assert trial.refused
    np.testing.assert_allclose(learner.topics.means(), before, rtol=1e-5)
    trial.start(0.85)
    np.testing.assert_allclose(learner.topics.means(), before, rtol=1e-5)


@pytest.mark.parametrize(("loss", "refused"), [(0.002, False), (0.005, True)])
def test_a_small_loss_without_twins_is_accepted(corpus, loss, refused):
    X, truth, _ = corpus
    run = run_of(X, 8, 0, (np.vstack([truth[1:], truth[1:2]]) * X.sum() / 8).T)
    trial = TwinTrial(run.learner, run.passes.documents, run.passes.generator)
    trial.start(0.85)
    state = trial.get_state()
    now = mean_log_likelihood(run.learner.topics, run.passes.documents.documents, run.learner.prior.values)
    trial.set_state(state | {"before": state["before"] | {"likelihood": now + loss}})
    trial.judge()
    assert trial.refused == refused


def test_a_missing_topic_takes_the_place_of_a_twin(corpus):
    X, truth, _ = corpus
    doubled = np.vstack([truth[1:], truth[1:2]])
    run = run_of(X, 8, 0, (doubled * X.sum() / 8).T)
    trial = TwinTrial(run.learner, run.passes.documents, run.passes.generator)
    trial.start(0.85)
    for _ in range(3):
        for documents in MemoryCorpus(X, 64).batches():
            run.learner.learn(documents, documents.shape[0] / 1500, 1.0)
    trial.judge()
    assert not trial.refused
    assert affinities(truth, run.learner.topics.means()).max(axis=1).min() > 0.9


def test_runs_resume_bit_for_bit_within_revisions_and_trials():
    X, _ = pairs(10, 600, 200, seed=1)
    whole = run_of(X, 10, 3)
    states = []
    whole.report = lambda record: bool(states.append(_copied(whole.get_state())))
    whole.run()
    expected = whole.learner.topics.means()
    for number in (len(states) // 2, len(states) - 5, len(states) - 2):
        again = run_of(X, 10, 3)
        again.set_state(states[number])
        again.run()
        assert again.number == whole.number
        np.testing.assert_array_equal(again.learner.topics.means(), expected)


def _copied(value):
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_topics_that_come_in_pairs_are_found(seed):
    X, truth = pairs(10, 1200, 600, seed)
    model = VariationalTemperingLDA(10, random_state=seed).fit(X)
    assert (affinities(truth, model.topic_word_).max(axis=1) > 0.9).all()
