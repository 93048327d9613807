"""VariationalTemperingLDA with data types, pickles, callbacks, data frames, grid search and pyLDAvis."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from support.topic_corpora import planted, same

from sklearn_subanneal import TraceMonitor, VariationalTemperingLDA
from sklearn_subanneal.variational import GeometricCooling, LinearCooling

UPDATES = ["plug-in", "variational"]


@pytest.fixture(scope="module")
def X():
    return planted()


def test_types(X):
    model = VariationalTemperingLDA(4, max_iter=5, random_state=0)
    single = model.fit(X)
    expected = single.components_
    assert expected.dtype == np.float32 and single.transform(X).dtype == np.float32
    integers = model.fit(X.astype(np.int64))
    np.testing.assert_array_equal(integers.components_, expected)
    assert integers.transform(X.astype(np.int64)).dtype == np.float64
    np.testing.assert_allclose(integers.transform(X.astype(np.int64)).sum(axis=1), 1.0, rtol=1e-12)
    double = model.fit(X.astype(np.float64))
    assert double.components_.dtype == np.float64 and double.transform(X).dtype == np.float32
    np.testing.assert_allclose(double.topic_word_, expected / expected.sum(axis=1, keepdims=True), atol=1e-2)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    same(model.fit(wide), model.fit(X.toarray()))
    same(model.fit(wide.tocsc()), model.fit(sparse.csr_array(X)))


def test_entries_twice_and_zeros_are_one_count(X):
    X = X[:20]
    halves = sparse.csr_matrix((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    halves.data[:2] = [X.data[0], 0.0]
    model = VariationalTemperingLDA(3, max_iter=3, random_state=0)
    expected = model.fit(X).components_
    np.testing.assert_array_equal(model.fit(halves).components_, expected)
    assert halves.nnz == 2 * X.nnz


@pytest.mark.parametrize("tempering", ["annealed", "global", "local"])
def test_pickles(X, tempering, tmp_path):
    model = VariationalTemperingLDA(4, tempering=tempering, random_state=0)
    for fitted in (model.fit(X), clone(model).partial_fit(X)):
        path = tmp_path / "model.joblib"
        joblib.dump(fitted, path)
        same(fitted, joblib.load(path))
        again = pickle.loads(pickle.dumps(fitted))
        same(fitted, again)
        np.testing.assert_array_equal(fitted.transform(X), again.transform(X))
    same(fitted.partial_fit(X), again.partial_fit(X))


def test_documents_mapped_from_disk(X, tmp_path):
    arrays = []
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(X, name))
        arrays.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    mapped = sparse.csr_matrix(tuple(arrays), shape=X.shape)
    model = VariationalTemperingLDA(4, max_iter=3, random_state=0)
    same(model.fit(mapped), clone(model).fit(X))


def test_callbacks(X):
    monitor = TraceMonitor(X_held_out=X[:50])
    model = VariationalTemperingLDA(4, max_iter=5, random_state=0).set_callbacks(monitor)
    same(model.fit(X), VariationalTemperingLDA(4, max_iter=5, random_state=0).fit(X))
    log = monitor.get_logs()
    assert log["sweep"].tolist() == [1, 2, 3, 4, 5]
    assert (log["inverse_temperature"] <= 1.0).all()
    assert log["held_out_score"][-1] == pytest.approx(model.score(X[:50]))
    assert log["held_out_score"][-1] > log["held_out_score"][0]
    chunked = TraceMonitor()
    late = LinearCooling(1.6, 0.8)
    VariationalTemperingLDA(4, max_iter=2, temperature_schedule=late).set_callbacks(chunked).fit_chunks(
        [X[:100], X[100:]]
    )
    assert chunked.get_logs()["progress"].tolist() == [0.5, 1.0]


def test_a_callback_may_end_the_fit(X):
    model = VariationalTemperingLDA(4, max_iter=6, tempering="none", random_state=0)
    assert model.set_callbacks(Stop()).fit(X).n_iter_ == 2


@pytest.mark.parametrize("tempering", ["annealed", "none"])
def test_a_fit_ends_when_held_out_documents_gain_no_more(X, tempering):
    """But not while it is annealed: scores at different temperatures can't be compared."""
    idle = TraceMonitor(X_held_out=X[:50], monitor="held_out_score", patience=2, tol=1e9)
    model = VariationalTemperingLDA(4, max_iter=20, tempering=tempering, random_state=0)
    model.set_callbacks(idle).fit(X)
    hot = int(np.sum(idle.get_logs()["inverse_temperature"] < 1.0))
    assert hot == (5 if tempering == "annealed" else 0)
    assert model.n_iter_ == hot + 3


def test_progress_bar(X, capsys):
    pytest.importorskip("rich")
    model = VariationalTemperingLDA(4, max_iter=3, random_state=0).set_callbacks(ProgressBar())
    same(model.fit(X), VariationalTemperingLDA(4, max_iter=3, random_state=0).fit(X))
    assert "VariationalTemperingLDA" in capsys.readouterr().out


class Stop:
    """Ends a fit after two passes."""

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        return bool(metadata) and metadata["trace"]["sweep"] == 2

    def teardown(self, estimator, context):
        pass


def test_perplexity_tolerance_ends_the_fit(X, capsys):
    model = VariationalTemperingLDA(4, max_iter=40, evaluate_every=1, perp_tol=0.5, verbose=1, random_state=0).fit(X)
    assert 5 < model.n_iter_ < 40
    assert f"iteration: {model.n_iter_} of max_iter: 40, E[1/T]: 1.0000, perplexity: " in capsys.readouterr().out


def test_grid_search_and_frames(X):
    X = pd.DataFrame(X.toarray().astype(int), columns=[f"w{v}" for v in range(40)])
    search = GridSearchCV(
        VariationalTemperingLDA(4, max_iter=3, random_state=0),
        {"tempering": ["none", "annealed"], "temperature_schedule": [LinearCooling(1.5), GeometricCooling(2.0)]},
        cv=2,
    ).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    nested = GridSearchCV(
        VariationalTemperingLDA(4, max_iter=3, temperature_schedule=LinearCooling()),
        {"temperature_schedule__start": [1.0, 2.0]},
        cv=2,
    ).fit(X)
    assert nested.best_params_["temperature_schedule__start"] in (1.0, 2.0)
    model = search.best_estimator_.set_output(transform="pandas")
    proportions = model.transform(X)
    assert list(proportions.columns) == [f"variationaltemperinglda{k}" for k in range(4)]
    words = model.top_words(3)
    assert words.shape == (4, 3) and words[0, 0].startswith("w")
    assert model.coherence(X, 5).shape == (4,)
    assert (model.coherence(X, 5) <= 1.0).all()
    assert VariationalTemperingLDA(4, random_state=0).fit(X.to_numpy()).top_words(2, X.columns).shape == (4, 2)


def test_names_of_topics(X):
    model = VariationalTemperingLDA(3, max_iter=1, random_state=0).fit(X)
    names = [f"variationaltemperinglda{k}" for k in range(3)]
    assert model.get_feature_names_out().tolist() == names
    polars = pytest.importorskip("polars")
    assert model.set_output(transform="polars").transform(X).columns == names
    frame = polars.DataFrame(X.toarray(), schema=[f"w{v}" for v in range(40)])
    assert model.fit(frame).feature_names_in_[3] == "w3"


def test_pyldavis(X):
    pyldavis = pytest.importorskip("pyLDAvis")
    lda_model = pytest.importorskip("pyLDAvis.lda_model")
    words = [f"word{v:02d}" for v in range(40)]
    texts = [" ".join(np.repeat(words, row)) for row in X.toarray().astype(int)]
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(texts)
    model = VariationalTemperingLDA(4, random_state=0).fit(counts)
    prepared = lda_model.prepare(model, counts, vectorizer, n_jobs=1)
    assert prepared.topic_coordinates.Freq.sum() == pytest.approx(100.0)
    assert set(prepared.topic_info.Term) <= set(words)
    assert "word07" in pyldavis.prepared_data_to_html(prepared)


def test_what_displays_read(X):
    """pyLDAvis reads components_ and transform, row-normalised, and nothing else."""
    model = VariationalTemperingLDA(4, random_state=0).fit(X)
    assert model.components_.shape == (4, 40) and model.n_components == 4
    np.testing.assert_allclose(
        model.components_ / model.components_.sum(axis=1, keepdims=True), model.topic_word_, rtol=1e-5
    )
    np.testing.assert_allclose(model.transform(X, normalize=False).sum(axis=1), X.sum(axis=1).A1 + 1.0, rtol=1e-5)
    with pytest.raises(AttributeError, match="before it is fitted"):
        _ = VariationalTemperingLDA().components_
    assert not hasattr(VariationalTemperingLDA(), "topic_word_")
