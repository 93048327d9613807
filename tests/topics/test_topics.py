"""Topics, their inference and their scores against a numpy reference, and their invariants."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from oracles import reference_topics as reference
from scipy import sparse
from scipy.special import logsumexp

from sklearn_subanneal.topics import topic_scores as scores
from sklearn_subanneal.topics._word_sums import joint_energies
from sklearn_subanneal.topics.corpus import MemoryCorpus, StreamedCorpus, batch_starts
from sklearn_subanneal.topics.document_prior import DocumentPrior
from sklearn_subanneal.topics.local_step import collapsed_energies, expected_joints, local_step, used_words
from sklearn_subanneal.topics.local_temperatures import LocalTemperatures
from sklearn_subanneal.topics.topic_learner import TopicLearner
from sklearn_subanneal.topics.word_statistics import Topics
from sklearn_subanneal.variational import ConstantStep, FixedTemperature, PassFraction

UPDATES = ["plug-in", "variational"]


def corpus(n_documents=30, n_words=25, rate=0.4, seed=0, dtype=np.float64):
    """Counts, with an empty document and an unused word."""
    X = np.random.default_rng(seed).poisson(rate, (n_documents, n_words)).astype(dtype)
    X[3] = 0.0
    X[:, 7] = 0.0
    return sparse.csr_matrix(X)


def topics(update, n_words=25, n_topics=4, seed=1, eta=0.3, dtype=np.float64):
    table = np.random.default_rng(seed).gamma(1.0, 2.0, (n_words, n_topics)).astype(dtype)
    return Topics(table, eta, update)


@pytest.mark.parametrize("update", UPDATES)
def test_weights_are_tempered_expectations(update):
    eta = np.linspace(0.1, 0.5, 25)
    state = topics(update, eta=eta)
    expected = reference.log_weights(state.table, eta, update)
    words = np.array([4, 2, 20])
    np.testing.assert_allclose(state.log_weights(), expected, rtol=1e-12)
    for rho in (0.6, 1.0):
        ratios = state.relative_weights(words, rho) / np.exp(rho * expected[words])
        np.testing.assert_allclose(ratios, np.repeat(ratios[:, :1], 4, axis=1), rtol=1e-12)
    np.testing.assert_allclose(state.means().sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("update", UPDATES)
def test_words_are_shared_by_threads(update):
    rng = np.random.default_rng(0)
    words = np.sort(rng.choice(5000, 3500, replace=False))
    batch = rng.gamma(1.0, 1.0, (3500, 4)).astype(np.float32)
    states = [topics(update, 5000, dtype=np.float32) for _ in range(2)]
    expected = 0.7 * states[0].table
    expected[words] += 0.6 * batch
    for state, n_threads in zip(states, (1, 3), strict=True):
        state.blend(words, batch, 0.3, 2.0, n_threads)
    one, other = states
    np.testing.assert_array_equal(one.table, other.table)
    np.testing.assert_allclose(one.pseudo_counts(), expected.T + 0.3, rtol=1e-5)
    logs = reference.log_weights(expected, 0.3, update)
    np.testing.assert_allclose(one.log_weights(words), logs[words], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(one.relative_weights(words, 0.7), other.relative_weights(words, 0.7, 3))
    np.testing.assert_array_equal(one.log_weights(), other.log_weights(n_threads=3))
    assert other.log_weights(words, 2)[-1] == pytest.approx(one.log_weights()[words[-1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lazy_decay_is_decay(dtype):
    generator = np.random.default_rng(0)
    state = topics("plug-in", dtype=dtype)
    dense = state.table.astype(np.float64)
    for step in [*generator.uniform(0.05, 0.9, 60), 1.0, 0.3]:
        words = np.sort(generator.choice(25, 8, replace=False))
        added = generator.gamma(1.0, 1.0, (8, 4))
        state.blend(words, added.astype(dtype), step, ratio=3.0)
        dense *= 1.0 - step
        dense[words] += step * 3.0 * added
    np.testing.assert_allclose(state.pseudo_counts(), (dense + 0.3).T, rtol=1e-12 if dtype == np.float64 else 1e-5)
    np.testing.assert_allclose(state.totals, dense.sum(axis=0), rtol=1e-5)
    before = state.totals.copy()
    state.recount()
    np.testing.assert_allclose(state.totals, before, rtol=1e-5)


def test_decay_never_underflows():
    state = topics("plug-in", dtype=np.float32)
    for _ in range(300):
        state.blend(np.array([0]), np.ones((1, 4), dtype=np.float32), 0.5)
    assert state.scale > 1e-20 and np.isfinite(state.table).all()
    np.testing.assert_allclose(state.totals, 1.0, rtol=1e-5)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("rho", [1.0, 0.6])
def test_local_step_is_the_reference(update, rho):
    X, state, prior = corpus(), topics(update), np.array([0.1, 0.2, 0.3, 0.4])
    step = local_step(X, state, prior, rho, max_iter=50, tol=1e-9, statistics=True, drop=0.0)
    logs = reference.log_weights(state.table, 0.3, update)
    start = prior + rho * np.asarray(X.sum(axis=1)) / 4
    gamma, statistics, _ = reference.fit_documents(X.indptr, X.indices, X.data, logs, start, prior, rho, 50, 1e-9)
    np.testing.assert_allclose(step.gamma, gamma, rtol=1e-8)
    np.testing.assert_allclose(step.gamma[3], prior)
    assert 7 not in step.words
    full = np.zeros_like(statistics)
    full[step.words] = step.statistics
    np.testing.assert_allclose(full, statistics, rtol=1e-7, atol=1e-12)


def test_temperatures_of_documents_are_their_own():
    X, state, prior = corpus(), topics("plug-in"), np.full(4, 0.25)
    rho = np.linspace(0.4, 1.0, 30)
    step = local_step(X, state, prior, rho, max_iter=60, tol=1e-9, statistics=True, drop=0.0)
    one = local_step(X[12:13], state, prior, rho[12], max_iter=60, tol=1e-9, drop=0.0)
    np.testing.assert_allclose(step.gamma[12], one.gamma[0], rtol=1e-9)
    assert step.statistics.sum() == pytest.approx(rho @ np.asarray(X.sum(axis=1)).ravel())


def test_used_words_keeps_the_counts():
    X = corpus()
    words, narrow = used_words(X)
    np.testing.assert_array_equal(narrow.toarray(), X.toarray()[:, words])


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("temperature", [1.0, 1.5, 4.0])
def test_the_annealed_bound_never_falls_in_batch_learning(update, temperature):
    X = corpus(60, 25, 0.6)
    prior = np.full(4, 0.25)
    learner = TopicLearner(
        topics(update),
        DocumentPrior(prior),
        temperature=FixedTemperature(temperature),
        step_size=ConstantStep(),
        temperature_step=ConstantStep(),
        max_iter=200,
        tol=1e-10,
    )
    rho = 1.0 / temperature
    bounds = []
    for _ in range(25):
        step = local_step(X, learner.topics, prior, rho, max_iter=200, tol=1e-10, drop=0.0)
        bounds.append(
            scores.document_bounds(step.documents, learner.topics.log_weights(step.words), step.gamma, prior, rho).sum()
            + scores.topics_bound(learner.topics)
        )
        learner.learn(X, 1.0, 0.0)
    assert np.diff(bounds).min() > -1e-7
    assert bounds[-1] > bounds[0]


@pytest.mark.parametrize("update", UPDATES)
def test_document_bounds_are_the_reference(update):
    X, state, prior, rho = corpus(), topics(update), np.array([0.1, 0.2, 0.3, 0.4]), 0.7
    step = local_step(X, state, prior, rho)
    bounds = scores.document_bounds(step.documents, state.log_weights(step.words), step.gamma, prior, rho)
    logs = reference.log_weights(state.table, 0.3, update)
    for d in range(X.shape[0]):
        row = X[d]
        expected = reference.document_bound(row.data, logs[row.indices], step.gamma[d], prior, rho)
        assert bounds[d] == pytest.approx(expected, abs=1e-9)
    assert bounds[3] == pytest.approx(0.0, abs=1e-12)


def test_topics_bound_is_the_reference():
    state = topics("variational")
    assert scores.topics_bound(state) == pytest.approx(reference.topics_bound(state.table, 0.3))


def test_energies():
    X, state, prior = corpus(), topics("variational"), np.full(4, 0.25)
    step = local_step(X, state, prior, 0.8)
    theta = step.gamma / step.gamma.sum(axis=1, keepdims=True)
    logs = reference.log_weights(state.table, 0.3, "variational")
    collapsed, joint = collapsed_energies(step, state), expected_joints(step, state, np.array([0.8]))
    for d in (0, 3, 29):
        row = X[d]
        expected = sum(n * np.log(theta[d] @ state.means()[:, v]) for n, v in zip(row.data, row.indices, strict=True))
        assert collapsed[d] == pytest.approx(expected)
        phi = reference.responsibilities(logs[row.indices], step.gamma[d], 0.8)
        mixing = scores.expected_logs(step.gamma[d : d + 1])[0]
        assert joint[d] == pytest.approx((row.data[:, None] * phi * (mixing + logs[row.indices])).sum())


@pytest.mark.parametrize("update", UPDATES)
def test_bounds_in_single_precision_know_words_that_training_did_not(update):
    """exp(E[log beta]) of such a word is e^-110 here, which float32 does not hold."""
    X, prior = sparse.csr_matrix(np.array([[3.0, 0.0, 2.0], [0.0, 4.0, 0.0]])), np.full(2, 0.01)
    bounds = []
    for dtype in (np.float32, np.float64):
        state = Topics(np.array([[5000.0, 3.0], [40.0, 9000.0], [0.0, 0.0]], dtype), 0.01, update)
        step = local_step(X, state, prior, tol=1e-6)
        bounds.append(scores.document_bounds(step.documents, state.log_weights(step.words), step.gamma, prior))
    np.testing.assert_allclose(bounds[0], bounds[1], rtol=1e-4)


def log_likelihoods(X, weights, mixing):
    """The same by plain numpy."""
    return np.array([row.data @ np.log(weights[row.indices] @ theta) for row, theta in zip(X, mixing, strict=True)])


def expected_log_joints(X, logs, log_mixing, rho):
    """The same by plain numpy."""
    out = np.zeros(X.shape[0])
    for d, row in enumerate(X):
        joint = logs[row.indices] + log_mixing[d]
        shares = np.exp(rho[d] * joint - logsumexp(rho[d] * joint, axis=1, keepdims=True))
        out[d] = row.data @ (shares * joint).sum(axis=1)
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_words", "n_topics"), [(1, 1), (9, 5), (64, 8), (67, 13), (110, 13), (300, 40), (400, 300)])
def test_sums_over_words(n_words, n_topics, dtype):
    """Whole and broken blocks of words, of four and of three vectors; broken vectors of topics; an empty document."""
    rng = np.random.default_rng(n_words)
    X = sparse.csr_matrix(rng.poisson(rng.choice([0.0, 0.3, 3.0], (70, 1)), (70, n_words)).astype(dtype))
    X = sparse.vstack([X, sparse.csr_matrix((1, n_words), dtype=dtype)], format="csr")
    weights = rng.dirichlet(np.full(n_words, 0.2), n_topics).T.astype(dtype) + dtype(1e-6)
    mixing = rng.dirichlet(np.full(n_topics, 0.2), 71).astype(dtype)
    rho, tolerance = rng.uniform(0.3, 1.0, 71), 1e-12 if dtype == np.float64 else 2e-5
    logs, log_mixing = np.log(weights.astype(float)), np.log(mixing.astype(float) + 1e-5)
    cases = [
        (
            lambda n: scores.log_likelihoods(X, weights, mixing, n),
            log_likelihoods(X, weights.astype(float), mixing.astype(float)),
        ),
        (
            lambda n: joint_energies(X, logs.astype(dtype), log_mixing.astype(dtype), rho, n),
            expected_log_joints(X, logs, log_mixing, rho),
        ),
    ]
    for kernel, expected in cases:
        np.testing.assert_allclose(kernel(1), expected, rtol=tolerance, atol=tolerance)
        assert kernel(1)[-1] == 0.0
        for n_threads in (2, 5):
            np.testing.assert_array_equal(kernel(n_threads), kernel(1))


def test_sums_over_words_refuse_what_does_not_fit():
    X = sparse.csr_matrix(np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"shapes \(4, n_topics\) and \(3, n_topics\).*got \(5, 2\) and \(3, 2\)"):
        scores.log_likelihoods(X, np.ones((5, 2)), np.ones((3, 2)))
    X.indices[0] = 4
    with pytest.raises(ValueError, match="indices from 0 to 3"):
        scores.log_likelihoods(X, np.ones((4, 2)), np.ones((3, 2)))


def test_log_likelihood_of_an_impossible_word_is_a_number():
    X = sparse.csr_matrix(np.array([[1.0]]))
    assert np.isfinite(scores.log_likelihoods(X, np.zeros((1, 2)), np.ones((1, 2)))).all()


def test_learned_prior_finds_the_planted_one():
    generator = np.random.default_rng(0)
    planted = np.array([0.1, 0.5, 2.0])
    counts = np.array([generator.multinomial(60, theta) for theta in generator.dirichlet(planted, 3000)])
    prior = DocumentPrior(np.full(3, 0.4), learned=True)
    for _ in range(40):
        prior.update(prior.values + counts, counts.sum(axis=1), 1.0, 1.0, 1.0)
    np.testing.assert_allclose(prior.values, planted, rtol=0.1)
    early = DocumentPrior(np.full(3, 0.4), learned=True)
    early.update(early.values + counts, counts.sum(axis=1), 1.0, 0.4, 1.0)
    np.testing.assert_array_equal(early.values, 0.4)


def test_local_temperatures_are_their_optimum():
    temperatures = np.array([1.0, 1.3, 2.0])
    log_c = np.array([0.0, 1.1, 3.0])
    energies, n = np.array([-30.0, -90.0]), np.array([12.0, 12.0])
    logs = energies[:, None] / temperatures - n[:, None] * log_c
    r = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    local = LocalTemperatures(temperatures, log_c)
    start = local.inverse_temperature
    np.testing.assert_allclose(local.of_documents(energies, n), r @ (1.0 / temperatures))
    # A step of a half: the mean energy of a token, now twice as low, comes half the way.
    again = LocalTemperatures(temperatures, log_c)
    again.of_documents(energies / 2.0, n)
    np.testing.assert_allclose(again.of_documents(energies, n, 0.5), local.of_documents(energies + 0.25 * 60.0, n, 1.0))
    local = LocalTemperatures(temperatures, log_c)
    local.of_documents(energies, n)
    mean = float((r @ (1.0 / temperatures)).mean())
    assert local.inverse_temperature == pytest.approx(0.9 * start + 0.1 * mean)


def test_printed_local_temperatures_heat():
    local = LocalTemperatures([1.0, 2.0, 10.0], np.zeros(3), paper=True)
    np.testing.assert_allclose(local.of_documents(np.array([-500.0]), np.array([50.0])), 0.1, atol=1e-3)


def test_halves_of_documents():
    X = corpus()
    observed, held_out = scores.split_words(X, np.random.default_rng(0))
    np.testing.assert_array_equal((observed + held_out).toarray(), X.toarray())
    assert observed.multiply(held_out).nnz == 0
    np.testing.assert_array_equal(np.diff(observed.indptr), (np.diff(X.indptr) + 1) // 2)
    other, _ = scores.split_words(X, np.random.default_rng(1))
    assert (other != observed).nnz > 0


def test_top_words():
    np.testing.assert_array_equal(scores.top_words(np.array([[0.1, 0.7, 0.2]]), 2), [[1, 2]])


def test_batches_hold_every_document_once():
    X = corpus()
    assert np.diff(batch_starts(30, 8)).tolist() == [7, 8, 7, 8]
    shuffled = MemoryCorpus(X, 8, np.random.default_rng(0))
    batches = list(shuffled.batches())
    assert [batch.shape[0] for batch in batches] == [7, 8, 7, 8]
    rows = sparse.vstack(batches).toarray()
    assert sorted(map(tuple, rows)) == sorted(map(tuple, X.toarray()))
    assert (rows != X.toarray()).any()


@pytest.mark.parametrize("bounds", [[0, 30], [0, 1, 2, 17, 30], [0, 11, 11, 30]])
def test_streamed_batches_are_those_in_memory(bounds):
    X = corpus()
    chunks = [X[start:stop] for start, stop in pairwise(bounds)]
    streamed = StreamedCorpus(lambda: iter(chunks), 30, 8)
    for _ in range(2):
        for one, other in zip(streamed.batches(), MemoryCorpus(X, 8).batches(), strict=True):
            np.testing.assert_array_equal(one.toarray(), other.toarray())


@pytest.mark.parametrize("n_documents", [29, 31])
def test_a_stream_of_another_length_is_refused(n_documents):
    streamed = StreamedCorpus(lambda: iter([corpus()]), n_documents, 8)
    with pytest.raises(ValueError, match=r"same .* documents in every pass"):
        list(streamed.batches())


def test_a_minibatch_stands_for_its_share_of_the_corpus():
    X, state = corpus(), topics("plug-in")
    old = state.totals.copy()
    steps = {"step_size": PassFraction(), "temperature_step": PassFraction()}
    learner = TopicLearner(state, DocumentPrior(np.full(4, 0.25)), temperature=FixedTemperature(2.0), **steps)
    learner.learn(X[:10], 10 / 40, progress=0.0)
    step = 1.0 - np.exp(-2.0 * 0.25)
    expected = (1.0 - step) * old.sum() + step * 4.0 * 0.5 * X[:10].sum()
    assert state.totals.sum() == pytest.approx(expected)
    assert learner.trace == [0.5] and learner.n_batches == 1
