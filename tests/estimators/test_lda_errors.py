"""Errors of VariationalTemperingLDA name parameter and remedy; failed and interrupted fits leave a consistent state."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from support.topic_corpora import planted, same

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.topic_settings import TEMPERINGS
from sklearn_subanneal.topics.word_statistics import Topics
from sklearn_subanneal.variational import CoolingSchedule, LinearCooling

UPDATES = ["plug-in", "variational"]


@pytest.fixture(scope="module")
def X():
    return planted()


@pytest.mark.parametrize("tempering", TEMPERINGS)
def test_degenerate_corpora(tempering):
    few = {"temperatures": [1.0, 2.0, 5.0], "max_iter": 3, "random_state": 0}
    model = VariationalTemperingLDA(tempering=tempering, **few)
    for X in (np.zeros((5, 4)), np.ones((4, 1)), np.array([[0, 3, 0], [0, 0, 0]])):
        fitted = model.fit(X)
        assert np.isfinite(fitted.components_).all() and np.isfinite(fitted.bound_)
        np.testing.assert_allclose(fitted.transform(X).sum(axis=1), 1.0)
    one = clone(model).set_params(n_components=1).fit(np.array([[2, 1, 0], [1, 0, 0]]))
    np.testing.assert_array_equal(one.transform(np.array([[0, 1, 1]])), [[1.0]])
    np.testing.assert_allclose(fitted.transform([[0, 0, 0]]), 0.1)


def test_the_vocabulary_must_stay(X):
    model = VariationalTemperingLDA(4, random_state=0).partial_fit(X)
    with pytest.raises(ValueError, match="X has 39 features, but VariationalTemperingLDA is expecting 40"):
        model.partial_fit(X[:, :39])
    with pytest.raises(ValueError, match="expecting 40"):
        model.transform(X[:, :39])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature_schedule": LinearCooling(0.5, 0.5)}, "start must be a temperature of at least 1"),
        ({"temperature_schedule": LinearCooling(2.0, 1.5)}, r"share must be in \(0, 1\]"),
        ({"temperature_schedule": LinearCooling}, "LinearCooling"),
        ({"tempering": "hot"}, "'tempering' parameter"),
        ({"tempering": "global", "temperatures": [0.5, 1.0]}, "temperatures must be finite and increase from 1"),
        ({"tempering": "local", "temperatures": [2.0, 1.0]}, "temperatures must be finite and increase from 1"),
        (
            {"doc_topic_prior": [0.1, 0.2]},
            "doc_topic_prior must be a number from 1e-10 to .*, or one for each of 4",
        ),
        ({"doc_topic_prior": [0.1, 0.2, 0.3, -1.0]}, "doc_topic_prior must be"),
        ({"doc_topic_prior": "auto"}, "'doc_topic_prior' parameter"),
        ({"topic_word_prior": np.ones(3)}, "topic_word_prior must be"),
        ({"topic_word_prior": ["a"] * 40}, "topic_word_prior must be a number"),
        ({"doc_topic_prior": 1e-50}, r"doc_topic_prior must be a number from 1e-10 to 1e\+10, .*got 1e-50"),
        ({"tempering": "global", "temperatures": []}, r"temperatures must be finite .*got \[\]; give np.geomspace"),
        ({"tempering": "local", "temperatures": [1.0, np.nan]}, "temperatures must be finite"),
        ({"tempering": "global", "temperatures": [[1.0, 2.0]]}, "temperatures must be finite"),
        ({"max_iter": 0}, "'max_iter' parameter"),
    ],
)
def test_bad_parameters(X, settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        VariationalTemperingLDA(4, **settings).fit(X)


class At(CoolingSchedule):
    """A schedule with the same value throughout."""

    def __init__(self, value=2.0):
        self.value = value

    def temperature(self, progress):
        return self.value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2.0, "must reach 1 at progress 1, got"),
        (0.5, "must give finite temperatures of at least 1, got .*0.5.*; raise them"),
        (np.nan, "must give finite temperatures"),
        ("hot", "must give a number for each progress"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_what_schedules_must_be(X, value, message, method):
    model = VariationalTemperingLDA(4, temperature_schedule=At(value))
    with pytest.raises(ValueError, match=rf"temperature_schedule=At\(.*\) {message}"):
        getattr(model, method)(X)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("tempering", ["local", "local-paper", "global-paper"])
def test_topics_are_counted_at_temperature_1(X, tempering):
    model = VariationalTemperingLDA("learn", tempering=tempering)
    with pytest.raises(ValueError, match=f"not reached by tempering='{tempering}'; take one of .*'annealed'"):
        model.fit(X)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_bad_counts(value, form):
    X = np.ones((5, 4))
    X[2, 1] = value
    model = VariationalTemperingLDA(2).fit(np.ones((5, 4)))
    with pytest.raises(ValueError, match=r"Negative values in data|NaN|infinity"):
        VariationalTemperingLDA(2).fit(form(X))
    with pytest.raises(ValueError, match=r"Negative values in data|NaN|infinity"):
        model.transform(form(X))


def test_huge_counts_are_refused(X):
    with pytest.raises(ValueError, match=r"fewer than 1e\+12 in all, got .*; divide them"):
        VariationalTemperingLDA(4).fit(1e30 * X)


@pytest.mark.parametrize("weights", ["thirds", "tf-idf"])
def test_numbers_that_are_not_whole_count_as_so_many_tokens(X, weights):
    Y = X / 3.0 if weights == "thirds" else TfidfTransformer(norm=None).fit_transform(X)
    model = VariationalTemperingLDA(4, random_state=0).fit(Y)
    mass = model.topic_word_.reshape(4, 4, 10).sum(axis=2)
    assert (mass.max(axis=1) > 0.9).all() and len(set(mass.argmax(axis=1))) == 4
    np.testing.assert_allclose(model.transform(Y, normalize=False).sum(axis=1), Y.sum(axis=1).A1 + 1.0, rtol=1e-5)


def test_the_vocabulary_must_stay_by_name(X):
    frame = pd.DataFrame(X[:50].toarray(), columns=[f"w{v}" for v in range(40)])
    model = VariationalTemperingLDA(4, random_state=0).partial_fit(frame)
    before = model.components_
    with pytest.raises(ValueError, match="must be in the same order"):
        model.partial_fit(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- z\n.*yet now missing:\n- w3"):
        model.partial_fit(frame.rename(columns={"w3": "z"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.fit_chunks([frame, frame[frame.columns[::-1]]])
    np.testing.assert_array_equal(model.components_, before)
    assert model.partial_fit(frame).n_batch_iter_ == 2


def test_chunks_are_no_matrix(X):
    model = VariationalTemperingLDA(4, max_iter=1, random_state=0)
    for chunks in (X, X.toarray(), pd.DataFrame(X.toarray()), "ab"):
        with pytest.raises(ValueError, match=r"chunks must be an iterable of matrices, got a .*; give it to fit"):
            model.fit_chunks(chunks)
    same(model.fit_chunks([X.toarray().tolist()]), clone(model).fit_chunks([X]))


def test_top_words_say_what_they_need(X):
    model = VariationalTemperingLDA(4, max_iter=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"feature_names must have shape \(40,\), a name for each feature, got \(2,\)"):
        model.top_words(3, ["a", "b"])
    for n_words in (0, 2.5, True):
        with pytest.raises(ValueError, match="n_words must be an integer of at least 1, got"):
            model.top_words(n_words)
    assert model.top_words(99).shape == (4, 40)


def test_a_failed_fit_leaves_the_model(X, monkeypatch):
    model = VariationalTemperingLDA(4, random_state=0).fit(X)
    before = model.components_
    with pytest.raises(ValueError):
        model.fit(-X)
    with pytest.raises(ValueError):
        model.fit_chunks([X[:, :5], X])
    with pytest.raises(ValueError):
        clone(model).set_params(doc_topic_prior=[1.0]).fit(X)
    np.testing.assert_array_equal(model.components_, before)
    calls = []

    def interrupt(*arguments, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    original = Topics.blend
    monkeypatch.setattr(Topics, "blend", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :30])
    np.testing.assert_array_equal(model.components_, before)
    assert model.n_features_in_ == 40
    calls.clear()
    partial = VariationalTemperingLDA(4, batch_size=50, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        partial.partial_fit(X)
    assert partial.n_batch_iter_ == 3
    assert partial._n_seen == 150
    assert np.isfinite(partial.transform(X)).all()
    assert partial.partial_fit(X).n_batch_iter_ == 11


def test_an_interrupt_within_a_step_leaves_consistent_topics(X, monkeypatch):
    original = Topics.blend

    def interrupted(self, words, statistics, step, *more):
        totals = self.totals
        original(self, words, statistics, step, *more)
        self.totals = totals
        raise KeyboardInterrupt

    monkeypatch.setattr(Topics, "blend", interrupted)
    model = VariationalTemperingLDA(4, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X)
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1.0, rtol=1e-5)


LONG_JOBS = """
import sys, threading, time
import numpy as np
from scipy import sparse
from sklearn_subanneal import VariationalTemperingFMM, VariationalTemperingLDA

rng = np.random.default_rng(0)
indices = rng.integers(2_000, size=20_000 * 40)
X = sparse.csr_matrix((np.ones(len(indices), np.float32), indices, np.arange(0, len(indices) + 1, 40)), (20_000, 2_000))
X.sum_duplicates()
rows = rng.normal(size=(5_000, 256))
endless = {"max_iter": 10**6, "random_state": 0}
jobs = [
    (VariationalTemperingLDA(50, n_jobs=2, **endless), X),
    (VariationalTemperingLDA(50, learning_method="batch", tempering="global", n_jobs=2, **endless), X),
    (VariationalTemperingLDA(50, tempering="local", **endless), X),
    (VariationalTemperingFMM(40, tol=0.0, **endless), rows),
]
for model, data in jobs:
    print("ready", flush=True)
    try:
        model.fit(data)
    except KeyboardInterrupt:
        others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
        print("interrupted", len(others), hasattr(model, "n_features_in_"), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT that a parent could send")
def test_an_interrupt_ends_an_endless_fit():
    """And its threads; the model is as it was before. Without the interrupt each fit would take days."""
    with subprocess.Popen([sys.executable, "-c", LONG_JOBS], stdout=subprocess.PIPE, text=True) as process:
        # A fit that goes on is killed: no line comes, and the comparison fails.
        guard = threading.Timer(120.0, process.kill)
        guard.start()
        try:
            for _ in range(4):
                assert process.stdout.readline() == "ready\n"
                time.sleep(0.4)
                assert process.poll() is None
                process.send_signal(signal.SIGINT)
                # A fit that goes on for seconds is killed as well.
                prompt = threading.Timer(20.0, process.kill)
                prompt.start()
                assert process.stdout.readline() == "interrupted 0 False\n"
                prompt.cancel()
            assert process.wait() == 0
        finally:
            guard.cancel()
            process.kill()
