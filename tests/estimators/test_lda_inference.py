"""A fitted VariationalTemperingLDA: arrays of the topics, which are kept, and topic proportions of many documents."""

from __future__ import annotations

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.special import digamma
from sklearn.base import clone
from support.topic_corpora import planted, same

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.topic_scores import split_words
from sklearn_subanneal.topics.word_statistics import Topics


@pytest.fixture(scope="module")
def X():
    return planted()


# --- Arrays of the topics ------------------------------------------------------------------------------------------

ARRAYS = ("components_", "topic_word_", "exp_dirichlet_component_")


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_topics_are_computed_once(X, name):
    model = VariationalTemperingLDA(4, max_iter=2, random_state=0).fit(X)
    array = getattr(model, name)
    assert getattr(model, name) is array and array.flags.c_contiguous and array.shape == (4, 40)
    with pytest.raises(ValueError, match="read-only"):
        array /= 2.0
    before = array.copy()
    model.partial_fit(X[:100])
    after = getattr(model, name)
    np.testing.assert_array_equal(array, before)
    assert np.abs(after - before).max() > 1e-3
    # What is kept is that of the present topics.
    np.testing.assert_array_equal(after, getattr(pickle.loads(pickle.dumps(model)), name))
    assert getattr(model.fit(X[:200]), name) is not after


def test_arrays_of_topics_are_not_in_pickles(X):
    model = VariationalTemperingLDA(4, max_iter=2, random_state=0).fit(X)
    size = len(pickle.dumps(model))
    for name in ARRAYS:
        getattr(model, name)
    assert len(pickle.dumps(model)) == size
    assert not hasattr(clone(model), "components_")
    for other in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.components_, model.components_)
    other = copy.deepcopy(model)
    other.partial_fit(X[:50])
    assert (other.components_ != model.components_).any()


def test_arrays_of_topics_follow_every_change():
    topics = Topics(np.random.default_rng(0).random((30, 4)), 0.1, "plug-in")

    def by_hand():
        topics.table *= 2.0
        topics.recount()

    changes = (
        lambda: topics.blend(np.array([2, 5]), np.ones((2, 4)), 0.5),
        lambda: topics.part(np.array([[0, 1]]), sparse.csr_matrix(np.eye(1, 30)), 0.5),
        by_hand,
    )
    for change in changes:
        before = topics.kept("means")
        change()
        assert (topics.kept("means") != before).any()
        np.testing.assert_array_equal(topics.kept("means"), topics.means())


def test_arrays_of_topics_need_no_other_memory():
    topics = Topics(np.ones((30_000, 20), np.float32), 0.1, "plug-in")
    size = topics.table.nbytes
    for name in ("pseudo_counts", "means", "exp_expected_logs"):
        tracemalloc.start()
        try:
            getattr(topics, name)()
            assert tracemalloc.get_traced_memory()[1] < 1.5 * size
        finally:
            tracemalloc.stop()


# --- Topic proportions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_proportions_do_not_depend_on_the_other_documents(X, dtype):
    model = VariationalTemperingLDA(4, max_iter=2, random_state=0).fit(X)
    X = X.astype(dtype)
    whole = model.transform(X, normalize=False)
    for size in (1, 7, 130):
        parts = [model.transform(X[at : at + size], normalize=False) for at in range(0, 400, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(model.set_params(n_jobs=3).transform(X, normalize=False), whole)


def test_double_precision_of_documents_is_that_of_their_proportions(X):
    model = VariationalTemperingLDA(4, max_iter=2, mean_change_tol=1e-10, max_doc_update_iter=5000, random_state=0)
    model.fit(X)
    double = copy.deepcopy(model)
    double._topics = Topics(model._topics.table.astype(np.float64), model._topics.prior, "plug-in")
    # Sums of the statistics that are updated in each step differ from sums of the table by its rounding, 1e-7.
    double._topics.scale, double._topics.totals = model._topics.scale, model._topics.totals
    found, expected = (some.transform(X.astype(np.float64)) for some in (model, double))
    assert found.dtype == np.float64
    # Single precision would differ by 1e-7 at least.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(X.astype(np.float64)), double.score_samples(X.astype(np.float64)))


@pytest.mark.parametrize("update", ["plug-in", "variational"])
def test_proportions_are_a_fixed_point_of_the_bound(X, update):
    model = VariationalTemperingLDA(
        4, max_iter=2, topic_update=update, mean_change_tol=1e-10, max_doc_update_iter=5000, random_state=0
    ).fit(X)
    documents = X[:40].astype(np.float64)
    gamma = model.transform(documents, normalize=False)
    words = model.topic_word_ if update == "plug-in" else model.exp_dirichlet_component_
    for document, own, factor in zip(documents.toarray(), gamma, np.exp(digamma(gamma)), strict=True):
        shares = factor[:, None] * words
        shares /= shares.sum(axis=0)
        np.testing.assert_allclose(own, model.doc_topic_prior_ + shares @ document, rtol=1e-6)


def test_proportions_at_their_means_predict_words_better():
    rng = np.random.default_rng(0)
    topics = 0.4 * rng.dirichlet(np.full(200, 0.05), 8) + 0.6 * rng.dirichlet(np.ones(200))
    lengths = rng.integers(10, 40, 1500)
    proportions = rng.dirichlet(np.full(8, 0.2), 1500)
    documents = [rng.multinomial(n, row @ topics) for n, row in zip(lengths, proportions, strict=True)]
    words = sparse.csr_matrix(documents, dtype=np.float32)
    model = VariationalTemperingLDA(8, random_state=0).fit(words[:1200])
    observed, held_out = split_words(words[1200:], rng)
    score = model.document_completion_score(observed, held_out)
    fitted = model._fitted_model(1e-4)
    step = fitted.infer(observed, model._topics.mean_weights)
    variational = step.gamma / step.gamma.sum(axis=1, keepdims=True)
    n_tokens = held_out.sum()
    by_bound = float((held_out.multiply(np.log(variational @ model.topic_word_))).sum() / n_tokens)
    assert score > by_bound + 0.02
    # That of the true topics and proportions is out of reach.
    assert score < float((held_out.multiply(np.log(proportions[1200:] @ topics))).sum() / n_tokens)


def test_default_tolerances(X):
    default, set_to = (
        VariationalTemperingLDA(4, max_iter=2, mean_change_tol=tol, random_state=0) for tol in (None, 1e-3)
    )
    same(default.fit(X), set_to.fit(X))
    np.testing.assert_array_equal(default.score_samples(X), set_to.score_samples(X))
    assert (default.transform(X) != set_to.transform(X)).any()
    set_to.set_params(mean_change_tol=1e-2)
    np.testing.assert_array_equal(default.transform(X), set_to.transform(X))
    assert default.document_completion_score(X) == set_to.document_completion_score(X)
