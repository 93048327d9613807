"""VariationalTemperingLDA: planted topics, batch and stream learning, agreement with scikit-learn, priors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation
from support.topic_corpora import planted, same

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics import topic_scores
from sklearn_subanneal.topics.document_prior import DocumentPrior
from sklearn_subanneal.topics.topic_learner import TopicLearner
from sklearn_subanneal.topics.topic_settings import TEMPERINGS
from sklearn_subanneal.topics.word_statistics import Topics
from sklearn_subanneal.variational import ConstantStep, FixedTemperature, LinearCooling

UPDATES = ["plug-in", "variational"]


@pytest.fixture(scope="module")
def X():
    return planted()


@pytest.mark.parametrize(
    ("update", "tempering"),
    [
        ("plug-in", "annealed"),
        ("variational", "global"),
        ("plug-in", "local"),
        ("variational", "none"),
        pytest.param("variational", "annealed", marks=pytest.mark.slow),
        pytest.param("plug-in", "global", marks=pytest.mark.slow),
        pytest.param("variational", "local", marks=pytest.mark.slow),
        pytest.param("plug-in", "none", marks=pytest.mark.slow),
    ],
)
def test_planted_topics_are_found(X, tempering, update):
    model = VariationalTemperingLDA(4, tempering=tempering, topic_update=update, random_state=0).fit(X)
    mass = model.topic_word_.reshape(4, 4, 10).sum(axis=2)
    assert (mass.max(axis=1) > 0.95).all() and len(set(mass.argmax(axis=1))) == 4
    assert np.quantile(model.inverse_temperatures_[-1], 0.5) > 0.95
    assert model.document_completion_score(X) > -2.9


@pytest.mark.parametrize("tempering", ["global-paper", "local-paper"])
def test_the_printed_temperings_do_not_cool(X, tempering):
    model = VariationalTemperingLDA(4, tempering=tempering, random_state=0, max_iter=10).fit(X)
    assert np.max(model.inverse_temperatures_[-1]) < 0.5


def test_temperatures_follow_the_schedule(X):
    schedule = LinearCooling(3.0, 0.5)
    model = VariationalTemperingLDA(4, temperature_schedule=schedule, max_iter=10, batch_size=50, random_state=0).fit(X)
    assert len(model.inverse_temperatures_) == model.n_batch_iter_ == 80
    np.testing.assert_allclose(1.0 / model.inverse_temperatures_, schedule.temperature(np.linspace(0.0, 1.0, 80)))
    local = VariationalTemperingLDA(4, tempering="local", max_iter=2, batch_size=50, random_state=0).fit(X)
    assert local.inverse_temperatures_.shape == (16, 3)
    assert (np.diff(local.inverse_temperatures_, axis=1) >= 0.0).all()


@pytest.mark.parametrize("update", UPDATES)
def test_learned_in_batch(X, update):
    model = VariationalTemperingLDA(
        4, topic_update=update, learning_method="batch", max_iter=200, random_state=0, tol=1e-3
    ).fit(X)
    assert 100 < model.n_iter_ < 200
    # The schedule is over before learning may end.
    assert model.inverse_temperatures_[-1] == 1.0
    np.testing.assert_allclose(model.components_.sum(), X.sum() + model.topic_word_prior_ * 4 * 40, rtol=1e-5)


def test_batches_settle_at_temperatures_that_are_never_1(X):
    model = VariationalTemperingLDA(
        4, tempering="local", learning_method="batch", max_iter=100, random_state=0, tol=0.01
    ).fit(X)
    assert 50 <= model.n_iter_ < 100
    assert model.inverse_temperatures_[-1].min() < 1.0


def test_the_bound_is_that_of_scikit_learn(X):
    """At T = 1, for the same topics and the same documents' distributions."""
    X = X[:100].astype(np.float64)
    # In 100 iterations some documents of scikit-learn do not converge.
    converged = {"mean_change_tol": 1e-9, "max_doc_update_iter": 10000, "random_state": 0}
    theirs = LatentDirichletAllocation(4, max_iter=3, **converged).fit(X)
    ours = VariationalTemperingLDA(4, topic_update="variational", **converged).fit(X)
    ours._topics = Topics(np.ascontiguousarray(theirs.components_.T) - 0.25, 0.25, "variational")
    np.testing.assert_allclose(ours.components_, theirs.components_)
    np.testing.assert_allclose(ours.exp_dirichlet_component_, theirs.exp_dirichlet_component_)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-6)
    bound = ours.score(X) + topic_scores.topics_bound(ours._topics)
    assert bound == pytest.approx(theirs.score(X), rel=1e-9)


def test_one_variational_step_is_that_of_scikit_learn(X):
    """Batch learning without temperature from the same topics, documents fitted to convergence."""
    X = X[:100].astype(np.float64)
    converged = {"mean_change_tol": 1e-10, "max_doc_update_iter": 1000, "random_state": 0}
    first, second = (LatentDirichletAllocation(4, max_iter=n, **converged).fit(X).components_ for n in (4, 5))
    prior, whole = DocumentPrior(np.full(4, 0.25)), {"step_size": ConstantStep(), "temperature_step": ConstantStep()}
    topics = Topics(np.ascontiguousarray(first.T) - 0.25, 0.25, "variational")
    learner = TopicLearner(topics, prior, temperature=FixedTemperature(), **whole, max_iter=1000, tol=1e-10)
    learner.learn(X, 1.0, 0.0)
    np.testing.assert_allclose(topics.pseudo_counts(), second, rtol=1e-7)
    assert np.abs(second - first).max() > 0.1


def test_score_is_of_the_documents_alone(X):
    model = VariationalTemperingLDA(4, random_state=0).fit(X)
    bounds = model.score_samples(X)
    assert bounds.shape == (400,) and (bounds < 0.0).all()
    assert model.score(X) == pytest.approx(bounds.sum())
    assert model.score(X[:7]) == pytest.approx(bounds[:7].sum())
    assert model.perplexity(X[:7]) == pytest.approx(np.exp(-bounds[:7].sum() / X[:7].sum()))
    assert model.bound_ == pytest.approx(model.perplexity(X))
    # Ten words of each topic, and the mixing of topics: the perplexity of a single document is nothing absurd.
    assert 8.0 < model.perplexity(X[:1]) < 40.0


def test_completion_predicts_what_is_held_out(X):
    model = VariationalTemperingLDA(4, random_state=0).fit(X)
    score = model.document_completion_score(X)
    assert score == model.document_completion_score(X, random_state=0)
    observed, held_out = topic_scores.split_words(X, np.random.RandomState(0))
    assert score == pytest.approx(model.document_completion_score(observed, held_out))
    assert score > np.log(1.0 / 40.0) + 0.5
    with pytest.raises(ValueError, match="X_held_out must have the shape of X"):
        model.document_completion_score(observed, held_out[:3])
    with pytest.raises(ValueError, match="no token can be held out"):
        model.document_completion_score(sparse.csr_matrix((2, 40)))


@pytest.mark.parametrize(
    "tempering",
    [pytest.param(name, marks=() if name in ("annealed", "local") else pytest.mark.slow) for name in TEMPERINGS],
)
def test_same_bits_for_any_number_of_threads(X, tempering):
    few = {"temperatures": [1.0, 2.0, 5.0], "tempering": tempering, "max_iter": 3, "random_state": 3}
    fits = [VariationalTemperingLDA(5, n_jobs=n_jobs, **few).fit(X) for n_jobs in (None, 2, 3)]
    for other in fits[1:]:
        same(fits[0], other)
        np.testing.assert_array_equal(fits[0].transform(X), other.transform(X))
    assert (clone(fits[0]).set_params(random_state=4).fit(X).components_ != fits[0].components_).any()


def test_partial_fit_learns(X):
    model = VariationalTemperingLDA(4, random_state=0)
    for _ in range(6):
        for start in range(0, 400, 50):
            model.partial_fit(X[start : start + 50])
    assert model.n_batch_iter_ == 48
    assert model.document_completion_score(X) > -2.9
    np.testing.assert_array_equal(model.inverse_temperatures_, 1.0)


def test_partial_fit_with_a_plan_is_fit(X):
    settings = {"max_iter": 4, "batch_size": 50, "random_state": 0, "shuffle": False}
    planned = VariationalTemperingLDA(4, total_samples=400, temperature_schedule=LinearCooling(1.7, 0.5), **settings)
    for _ in range(4):
        planned.partial_fit(X)
    assert planned.n_iter_ == 4 and planned.inverse_temperatures_[0] < 0.7 and planned.inverse_temperatures_[-1] == 1.0
    fitted = clone(planned).fit(X)
    np.testing.assert_allclose(planned.topic_word_, fitted.topic_word_, atol=0.02)


@pytest.mark.parametrize("total_samples", [None, 400])
def test_calls_are_counted_after_the_passes_of_a_fit(X, total_samples):
    model = VariationalTemperingLDA(4, max_iter=3, total_samples=total_samples, random_state=0).fit(X)
    for n_iter in (4, 5):
        assert model.partial_fit(X[:50]).n_iter_ == n_iter
    assert model.fit(X).n_iter_ == 3
    stream = VariationalTemperingLDA(4, random_state=0).partial_fit(X[:50])
    assert stream.n_iter_ == 1 and stream.partial_fit(X[50:90]).n_iter_ == 2


def test_streams_remember_whatever_the_method():
    """Of two halves of the documents, with words of their own, the second does not replace what the first taught."""
    rng = np.random.default_rng(0)
    first, second = (
        np.hstack([rng.poisson(3.0, (60, 10)) * own, rng.poisson(3.0, (60, 10)) * (1 - own)]) for own in (1, 0)
    )
    for method in ("online", "batch"):
        model = VariationalTemperingLDA(2, learning_method=method, random_state=0)
        model.partial_fit(np.vstack([first, second])).partial_fit(second)
        # Ten words each, of equal probability.
        assert model.perplexity(first) < 14.0


def test_topics_of_a_stream_have_all_of_its_tokens():
    X = np.repeat(np.eye(10), 64, axis=0) * 5
    model = VariationalTemperingLDA(1, random_state=0)
    for number, part in enumerate(np.split(X, 10), 1):
        tokens = model.partial_fit(part).components_[0] - model.topic_word_prior_
        # Up to the random numbers near 1 of the start.
        assert tokens.sum() == pytest.approx(number * 320, rel=0.03)
    # Documents count in proportion to the number of those before them; topics have started from the first ones.
    np.testing.assert_allclose(tokens[2:] / tokens[2], np.arange(3, 11) / 3, rtol=0.02)
    # The words of the last half, and then more of them.
    for first in (
        VariationalTemperingLDA(1, random_state=0).fit(X),
        VariationalTemperingLDA(1, random_state=0).partial_fit(X),
    ):
        before = first.components_[0] - first.topic_word_prior_
        tokens = first.partial_fit(X[320:]).components_[0] - first.topic_word_prior_
        assert tokens.sum() == pytest.approx(4800, rel=0.01)
        assert (tokens[5:] > before[5:]).all() and (tokens[:5] < before[:5] + 10).all()


def test_streams_count_the_documents_of_a_plan():
    X = np.repeat(np.eye(2), 64, axis=0) * 5
    model = VariationalTemperingLDA(1, tempering="none", total_samples=256, random_state=0).partial_fit(X)
    assert (model.components_[0] - model.topic_word_prior_).sum() == pytest.approx(1280, rel=0.1)
    tokens = model.set_params(total_samples=None).partial_fit(X).components_[0] - model.topic_word_prior_
    assert tokens.sum() == pytest.approx(1280, rel=0.1)


def test_what_is_known_of_a_whole_fit_goes_with_it(X):
    model = VariationalTemperingLDA(3, max_iter=2, random_state=0).fit(X)
    assert model.bound_ > 1.0 and model.converged_ in (True, False)
    model.fit_chunks([X[:100]])
    assert not hasattr(model, "bound_") and hasattr(model, "converged_")
    model.fit(X).partial_fit(X[:50])
    assert not hasattr(model, "bound_") and not hasattr(model, "converged_")


@pytest.mark.parametrize("method", ["online", "batch"])
def test_learning_goes_on_after_fit(X, method):
    max_iter = 100 if method == "batch" else 15
    model = VariationalTemperingLDA(4, learning_method=method, max_iter=max_iter, random_state=0).fit(X)
    before, n_batches = model.topic_word_, model.n_batch_iter_
    model.partial_fit(X[:40])
    assert model.n_batch_iter_ == n_batches + 1
    assert model.inverse_temperatures_[-1] == 1.0
    change = np.abs(model.topic_word_ - before).sum(axis=1)
    assert (change > 0.0).all() and (change < 0.3).all()
    # A fit is always anew.
    same(model.fit(X), clone(model).fit(X))


def test_chunks_are_the_whole(X):
    model = VariationalTemperingLDA(4, shuffle=False, max_iter=5, batch_size=64, random_state=0)
    whole = clone(model).fit(X)
    chunks = [X[:7], X[7:7], X[7:300].toarray(), X[300:]]
    same(whole, clone(model).fit_chunks(chunks))
    # The temperature depends on the words of all chunks.
    inferred = clone(model).set_params(tempering="global")
    same(clone(inferred).fit(X), inferred.fit_chunks(chunks))
    one_pass = clone(model).set_params(max_iter=1, total_samples=400)
    same(clone(one_pass).fit(X), one_pass.fit_chunks(iter(chunks)))
    with pytest.raises(ValueError, match="can be read only once"):
        model.fit_chunks(iter(chunks))
    with pytest.raises(ValueError, match="at least one chunk"):
        model.fit_chunks([])
    with pytest.raises(ValueError, match="expecting 40"):
        model.fit_chunks([X, X[:, :39]])
    with pytest.raises(ValueError, match="needs all documents at once"):
        clone(model).set_params(learning_method="batch").fit_chunks(chunks)
    with pytest.raises(ValueError, match="same 500 documents"):
        clone(one_pass).set_params(total_samples=500).fit_chunks(iter(chunks))


def test_learned_prior(X):
    unequal = X[np.r_[0:400, np.flatnonzero(X[:, :10].sum(axis=1).A1 > 0.9 * X.sum(axis=1).A1).repeat(5)]]
    model = VariationalTemperingLDA(4, doc_topic_prior="learn", max_iter=40, tempering="none", random_state=0).fit(
        unequal
    )
    assert model.doc_topic_prior_.shape == (4,)
    first = model.topic_word_[:, :10].sum(axis=1).argmax()
    assert model.doc_topic_prior_.argmax() == first
    assert model.doc_topic_prior_[first] > 1.3 * np.delete(model.doc_topic_prior_, first).max()


def test_given_priors(X):
    eta = np.full(40, 0.1)
    eta[5] = 30.0
    model = VariationalTemperingLDA(4, doc_topic_prior=[0.1, 0.2, 0.3, 4.0], topic_word_prior=eta, random_state=0).fit(
        X
    )
    np.testing.assert_array_equal(model.topic_word_prior_, eta)
    np.testing.assert_allclose(model.transform(np.zeros((1, 40)))[0], np.array([0.1, 0.2, 0.3, 4.0]) / 4.6)
    assert (model.components_[:, 5] >= 30.0).all()
    assert VariationalTemperingLDA(4, doc_topic_prior=0.5).fit(X).doc_topic_prior_ == 0.5
