"""DataFrames of topics, of their summary and of shares of documents; the arguments of pyLDAvis."""

from __future__ import annotations

import inspect
import json
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from support.topic_corpora import planted

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics import document_shares, relevance, to_pyldavis, topic_summary, topics_to_frame
from sklearn_subanneal.topics.measures import coherence

pd = pytest.importorskip("pandas")
X = planted(200)
NAMES = np.array([f"w{v}" for v in range(40)])


def texts(n=60):
    rng = np.random.default_rng(0)
    subjects = ["cat dog pet fur paw tail", "bond stock bank fund rate loan"]
    drawn = [" ".join(rng.choice(subjects[i % 2].split(), rng.integers(3, 15))) for i in range(n)]
    return pd.Series(drawn, index=[f"text {i}" for i in range(n)])


@pytest.fixture(scope="module")
def model():
    return VariationalTemperingLDA(4, max_iter=5, random_state=0).fit(X)


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(CountVectorizer(), VariationalTemperingLDA(2, random_state=0)).fit(texts())


def test_frame_of_topics(model):
    frame = topics_to_frame(model, NAMES, 6)
    assert frame.columns.tolist() == ["topic", "rank", "word", "probability"] and len(frame) == 24
    top = model.top_words(6, NAMES)
    for topic in range(4):
        own = frame[frame["topic"] == topic]
        assert own["rank"].tolist() == [1, 2, 3, 4, 5, 6]
        assert own["word"].tolist() == top[topic].tolist()
        expected = [model.topic_word_[topic, NAMES.tolist().index(word)] for word in own["word"]]
        assert own["probability"].tolist() == expected
    wide = frame.pivot(index="rank", columns="topic", values="word")
    np.testing.assert_array_equal(wide.to_numpy().T, top)


def test_words_by_relevance(model):
    frame = topics_to_frame(model, NAMES, 40, relevance_weight=0.3)
    shares = model.components_.sum(axis=1) / model.components_.sum()
    ranked = np.argsort(-relevance(model.topic_word_, 0.3, shares=shares), axis=1, kind="stable")
    assert frame["word"].tolist() == NAMES[ranked].ravel().tolist()
    assert frame["word"].tolist() != topics_to_frame(model, NAMES, 40)["word"].tolist()


def test_names_of_words(model, pipeline):
    assert topics_to_frame(model)["word"].dtype.kind == "i"
    fitted = VariationalTemperingLDA(2, random_state=0).fit(pd.DataFrame(X.toarray(), columns=NAMES))
    assert set(topics_to_frame(fitted)["word"]) <= set(NAMES)
    assert topics_to_frame(fitted, NAMES[::-1])["word"].tolist() != topics_to_frame(fitted)["word"].tolist()
    assert set(topics_to_frame(pipeline, n_words=99)["word"]) == set(pipeline[0].get_feature_names_out())


def test_summary(model):
    summary = topic_summary(model, X, NAMES, 5, coherence="npmi")
    theta, lengths = model.transform(X), np.asarray(X.sum(axis=1)).ravel()
    shares = [sum(lengths * theta[:, topic]) / sum(lengths) for topic in range(4)]
    assert (
        summary.index.tolist() == sorted(range(4), key=lambda topic: -shares[topic]) and summary.index.name == "topic"
    )
    by_topic = summary.sort_index()
    np.testing.assert_allclose(by_topic["token_share"], shares, rtol=1e-5)
    np.testing.assert_allclose(by_topic["n_documents"], theta.sum(axis=0), rtol=1e-5)
    assert by_topic["words"].tolist() == [" ".join(words) for words in model.top_words(5, NAMES)]
    np.testing.assert_allclose(by_topic["coherence"], model.coherence(X, 5), rtol=1e-12)


def test_summary_without_documents(model):
    summary = topic_summary(model, n_words=3)
    assert summary.columns.tolist() == ["token_share", "words"]
    sizes = model.components_.sum(axis=1, dtype=float)
    np.testing.assert_allclose(summary["token_share"].sort_index(), sizes / sizes.sum(), rtol=1e-6)
    assert summary["token_share"].is_monotonic_decreasing


def test_coherence_is_that_of_the_words_shown(model):
    found = topic_summary(model, X, NAMES, 4, relevance_weight=0.0, coherence="c_v").sort_index()
    words = [[NAMES.tolist().index(word) for word in own.split()] for own in found["words"]]
    np.testing.assert_allclose(found["coherence"], coherence(words, X, "c_v"), rtol=1e-12)


def test_shares_of_documents_have_the_index_of_the_texts(pipeline):
    corpus = texts().sample(frac=1.0, random_state=0)
    shares = document_shares(pipeline, corpus)
    assert shares.index.equals(corpus.index) and shares.columns.tolist() == [0, 1]
    np.testing.assert_allclose(shares, pipeline.transform(corpus), rtol=1e-6)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    counts = pipeline[0].transform(corpus)
    pd.testing.assert_frame_equal(document_shares(pipeline[-1], counts, index=corpus.index), shares)
    assert document_shares(pipeline[-1], counts).index.equals(pd.RangeIndex(60))
    assert document_shares(pipeline, corpus.tolist()).index.equals(pd.RangeIndex(60))
    frame = pd.DataFrame(counts.toarray(), corpus.index)
    assert document_shares(pipeline[-1], frame).index.equals(corpus.index)


def test_models_of_scikit_learn():
    theirs = LatentDirichletAllocation(3, random_state=0, max_iter=3).fit(X)
    frame = topics_to_frame(theirs, NAMES, 5)
    means = theirs.components_ / theirs.components_.sum(axis=1, keepdims=True)
    assert frame["word"].tolist() == NAMES[np.argsort(-means, axis=1)[:, :5]].ravel().tolist()
    np.testing.assert_allclose(frame["probability"], -np.sort(-means, axis=1)[:, :5].ravel())
    np.testing.assert_allclose(
        topic_summary(theirs, X)["n_documents"].sort_index(), theirs.transform(X).sum(axis=0), rtol=1e-5
    )


def test_one_topic():
    one = VariationalTemperingLDA(1, max_iter=2, random_state=0).fit(X)
    assert topic_summary(one, X)["token_share"].tolist() == [1.0]
    assert topics_to_frame(one, n_words=3)["topic"].tolist() == [0, 0, 0]
    assert (document_shares(one, X) == 1.0).all(axis=None)
    with pytest.raises(ValueError, match=r"at least 2 topics for pyLDAvis, .* got 1; use TopicsDisplay"):
        to_pyldavis(one, X)


def test_arguments_of_pyldavis(model):
    arguments = to_pyldavis(model, X, NAMES)
    assert arguments["vocab"] == NAMES.tolist() and {type(word) for word in arguments["vocab"]} == {str}
    np.testing.assert_allclose(arguments["topic_term_dists"], model.topic_word_, rtol=1e-5)
    np.testing.assert_allclose(arguments["doc_topic_dists"], model.transform(X), rtol=1e-5)
    for name in ("topic_term_dists", "doc_topic_dists"):
        np.testing.assert_allclose(arguments[name].sum(axis=1), 1.0, rtol=1e-12)
    assert arguments["doc_lengths"].tolist() == X.toarray().sum(axis=1).tolist()
    assert arguments["term_frequency"].tolist() == X.toarray().sum(axis=0).tolist()
    dense = to_pyldavis(model, X.toarray().astype(int))
    assert dense["vocab"] == [str(word) for word in range(40)]
    np.testing.assert_array_equal(dense["term_frequency"], arguments["term_frequency"])


def test_pyldavis_takes_the_arguments(model, pipeline):
    pyldavis = pytest.importorskip("pyLDAvis")
    required = {
        name for name, one in inspect.signature(pyldavis.prepare).parameters.items() if one.default is one.empty
    }
    for estimator, documents, names in ((model, X, NAMES), (pipeline, texts(), None)):
        arguments = to_pyldavis(estimator, documents, names)
        assert set(arguments) == required
        prepared = pyldavis.prepare(**arguments, n_jobs=1)
        summary = topic_summary(estimator, documents, names, 5)
        # By default they number topics by size, from 1.
        assert [number - 1 for number in prepared.topic_order] == summary.index.tolist()
        np.testing.assert_allclose(prepared.topic_coordinates["Freq"], 100 * summary["token_share"], rtol=1e-5)
        for number, words in enumerate(summary["words"], 1):
            assert " ".join(prepared.sorted_terms(number, 1)["Term"][:5]) == words
        assert json.loads(prepared.to_json())["R"] == min(30, len(arguments["vocab"]))


def test_words_that_do_not_occur_do_not_trouble_pyldavis(model):
    pyldavis = pytest.importorskip("pyLDAvis")
    few = sparse.csr_matrix(X[:5] * sparse.diags_array((np.arange(40) < 30).astype(float)))
    prepared = pyldavis.prepare(**to_pyldavis(model, few, NAMES), n_jobs=1)
    assert np.isfinite(prepared.topic_info[["logprob", "loglift"]].to_numpy()).all()


def test_frames_say_what_they_need(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for function in (topics_to_frame, topic_summary, document_shares):
        with pytest.raises(ImportError, match=f"{function.__name__} needs pandas: pip install pandas"):
            function(model, X)
    assert len(to_pyldavis(model, X)["vocab"]) == 40


def test_errors_name_the_parameter(model, pipeline):
    unfitted = make_pipeline(CountVectorizer(), VariationalTemperingLDA())
    cases = [
        (lambda: topics_to_frame(VariationalTemperingLDA()), "must have topic_word_, .*fit it first"),
        (lambda: topics_to_frame(unfitted), "VariationalTemperingLDA has neither: fit it first"),
        (lambda: topics_to_frame(CountVectorizer()), "CountVectorizer has neither"),
        (
            lambda: topics_to_frame(model, NAMES[:3]),
            r"feature_names must have shape \(40,\), .* got \(3,\); pass those",
        ),
        (lambda: topics_to_frame(model, n_words=0), "n_words must be an integer of at least 1, got 0"),
        (lambda: topics_to_frame(model, relevance_weight=2), "must be from 0 to 1, got 2"),
        (lambda: topic_summary(model, coherence="npmi"), "coherence='npmi' needs documents: pass X"),
        (lambda: topic_summary(model, X, coherence="pmi"), "measure must be one of .* got 'pmi'"),
        (lambda: topic_summary(model, X[:3] * 0), "3 documents have no words"),
        (lambda: document_shares(model, X, index=[1]), "index must have an entry for each of 200 documents, got 1"),
        (lambda: document_shares(pipeline[-1], X), "40 features"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
