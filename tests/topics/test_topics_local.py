"""The local step of topic models against plain numpy: updates, dropped topics, temperatures, threads, and its bits."""

from __future__ import annotations

import doctest
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from oracles import reference_topics as reference
from scipy.sparse import csr_matrix
from scipy.special import digamma

from sklearn_subanneal.topics import _fit_documents, _word_tables
from sklearn_subanneal.topics._fit_documents import fit_documents, sweeps

ROOT = Path(__file__).resolve().parents[2]
DTYPES = [np.float32, np.float64]


def corpus(n_documents=40, n_words=90, n_topics=13, seed=0):
    """(documents, statistics of the topics they were drawn from); one document is empty, one long, one of one token."""
    rng = np.random.default_rng(seed)
    beta = 0.99 * rng.dirichlet(np.full(n_words, 0.2), n_topics) + 0.01 / n_words
    lengths = rng.integers(1, 90, n_documents)
    lengths[:3] = 0, 700, 1
    counts = [rng.multinomial(n, rng.dirichlet(np.full(n_topics, 0.2)) @ beta * (1 - 1e-9)) for n in lengths]
    documents = csr_matrix(np.array(counts))
    return documents, np.ascontiguousarray(documents.sum() / n_topics * beta.T)


def fitted(documents, weights, prior, rho, dtype=np.float64, tol=1e-3, max_iter=200, start=None, **more):
    """(gamma, statistics, iterations) by the kernel, from gamma = 1."""
    weights = np.ascontiguousarray(weights, dtype)
    gamma = np.ones((documents.shape[0], weights.shape[1]), dtype) if start is None else start.astype(dtype)
    statistics = np.zeros_like(weights)
    n_iter = fit_documents(
        documents.indptr,
        documents.indices,
        documents.data,
        weights,
        gamma,
        prior,
        rho,
        max_iter,
        tol,
        statistics,
        **more,
    )
    return gamma, statistics, n_iter


def truth(documents, logs, prior, rho, tol=1e-3, max_iter=200, factor="digamma"):
    """The same by plain numpy."""
    start = np.ones((documents.shape[0], logs.shape[1]))
    return reference.fit_documents(
        documents.indptr, documents.indices, documents.data, logs, start, prior, rho, max_iter, tol, factor
    )


@pytest.mark.parametrize("update", ["plug-in", "variational"])
@pytest.mark.parametrize("factor", ["digamma", "mean"])
@pytest.mark.parametrize("rho", [1.0, 0.6, "each"])
@pytest.mark.parametrize("logarithms", [False, True])
def test_updates(update, factor, rho, logarithms):
    documents, statistics = corpus()
    if rho == "each":
        if not logarithms:
            pytest.skip("needs logarithms")
        rho = np.random.default_rng(1).uniform(0.5, 1.0, documents.shape[0])
    logs, prior = reference.log_weights(statistics, 0.02, update), np.linspace(0.03, 0.09, statistics.shape[1])
    expected = truth(documents, logs, prior, rho, 0.0, 25, factor)
    given = logs if logarithms else np.exp(rho * logs), prior, rho
    for dtype, bound in ((np.float64, 1e-12), (np.float32, 1e-5)):
        gamma, sums, n_iter = fitted(
            documents, *given, dtype, 0.0, max_iter=25, factor=factor, log_weights=logarithms, drop=0.0
        )
        assert gamma.dtype == sums.dtype == dtype and n_iter.dtype == np.int32
        np.testing.assert_allclose(gamma, expected[0], rtol=20 * bound, atol=20 * bound)
        np.testing.assert_allclose(sums, expected[1], rtol=20 * bound, atol=20 * bound)
    stopped = truth(documents, logs, prior, rho, factor=factor)
    gamma, _, n_iter = fitted(documents, *given, factor=factor, log_weights=logarithms, drop=0.0)
    np.testing.assert_allclose(gamma, stopped[0], rtol=1e-9)
    assert np.array_equal(n_iter, stopped[2])


@pytest.mark.parametrize("n_topics", [1, 2, 7, 8, 9, 40])
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_number_of_topics_and_of_words(n_topics, dtype):
    for n_words in (1, 2, 5, 30):
        documents, statistics = corpus(12, n_words, n_topics)
        logs, prior = reference.log_weights(statistics, 0.1, "plug-in"), np.full(n_topics, 0.1)
        # Where a document is undecided between topics, each iteration multiplies the differences of rounding.
        max_iter, bound = (20, 1e-11) if dtype == np.float64 else (5, 1e-5)
        expected = truth(documents, logs, prior, 1.0, 0.0, max_iter)
        gamma, sums, _ = fitted(documents, np.exp(logs), prior, 1.0, dtype, 0.0, max_iter, drop=0.0)
        np.testing.assert_allclose(gamma, expected[0], rtol=bound, atol=bound)
        np.testing.assert_allclose(sums, expected[1], rtol=bound, atol=bound)


@pytest.mark.parametrize("n_topics", [300, 600, 1100])
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_of_fewer_words_if_there_are_many_topics(n_topics, dtype):
    documents, statistics = corpus(12, 200, n_topics)
    logs, prior = reference.log_weights(statistics, 0.1, "plug-in"), np.full(n_topics, 0.1)
    max_iter, bound = (5, 1e-11) if dtype == np.float64 else (2, 1e-5)
    expected = truth(documents, logs, prior, 1.0, 0.0, max_iter)
    gamma, sums, _ = fitted(documents, np.exp(logs), prior, 1.0, dtype, 0.0, max_iter, drop=0.0)
    np.testing.assert_allclose(gamma, expected[0], rtol=bound, atol=bound)
    np.testing.assert_allclose(sums, expected[1], rtol=bound, atol=bound)


@pytest.mark.parametrize("dtype", DTYPES)
def test_empty_documents_and_words(dtype):
    documents, statistics = corpus(n_words=400)
    logs, prior = reference.log_weights(statistics, 0.02, "plug-in"), np.linspace(0.1, 0.2, 13)
    gamma, sums, n_iter = fitted(documents, np.exp(logs), prior, 1.0, dtype)
    assert n_iter[0] == 0 and (n_iter[1:] > 0).all()
    assert np.array_equal(gamma[0], prior.astype(dtype))
    lengths, occurrences = (np.asarray(documents.sum(axis=axis)).ravel() for axis in (1, 0))
    assert (occurrences == 0).any() and not sums[occurrences == 0].any()
    # All tokens are given to topics, and no others.
    np.testing.assert_allclose(gamma.sum(axis=1) - prior.sum(), lengths, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(sums.sum(axis=1), occurrences, rtol=1e-5)
    nothing = csr_matrix((0, 400))
    assert fitted(nothing, np.exp(logs), prior, 1.0, dtype)[0].shape == (0, 13)


def test_statistics_are_added_and_may_be_left_out():
    documents, statistics = corpus()
    weights, prior = np.exp(reference.log_weights(statistics, 0.02, "plug-in")), np.full(13, 0.1)
    _, once, n_iter = fitted(documents, weights, prior, 0.8)
    gamma, twice = np.ones((40, 13)), once.copy()
    arguments = (documents.indptr, documents.indices, documents.data, weights)
    fit_documents(*arguments, gamma, prior, 0.8, 200, 1e-3, twice)
    np.testing.assert_allclose(twice, 2 * once)
    alone = np.ones((40, 13))
    assert np.array_equal(fit_documents(*arguments, alone, prior, 0.8, 200, 1e-3), n_iter)
    assert np.array_equal(alone, gamma)


def test_more_documents_than_are_added_up_at_once():
    documents, statistics = corpus(2300, 50, 5)
    logs, prior = reference.log_weights(statistics, 0.02, "plug-in"), np.full(5, 0.1)
    whole = fitted(documents, np.exp(logs), prior, 1.0)
    parts = [fitted(documents[at : at + 100], np.exp(logs), prior, 1.0) for at in range(0, 2300, 100)]
    assert np.array_equal(whole[0], np.concatenate([part[0] for part in parts]))
    np.testing.assert_allclose(whole[1], sum(part[1] for part in parts), rtol=1e-12)


# --- Stopping and dropping --------------------------------------------------------------------------------------


def test_it_stops_where_it_says():
    documents, statistics = corpus()
    weights, prior = np.exp(reference.log_weights(statistics, 0.02, "plug-in")), np.full(13, 0.1)
    gamma, _, n_iter = fitted(documents, weights, prior, 1.0, drop=0.0, tol=1e-4)
    assert n_iter.max() < 200 and len(set(n_iter.tolist())) > 3
    for d in (3, 7, int(n_iter.argmax())):
        one = documents[d]
        before = fitted(one, weights, prior, 1.0, drop=0.0, tol=0.0, max_iter=n_iter[d] - 1)[0]
        earlier = fitted(one, weights, prior, 1.0, drop=0.0, tol=0.0, max_iter=n_iter[d] - 2)[0]
        assert np.array_equal(
            fitted(one, weights, prior, 1.0, drop=0.0, tol=0.0, max_iter=n_iter[d])[0], gamma[d : d + 1]
        )
        assert np.abs(gamma[d] - before).mean() < 1e-4 <= np.abs(before - earlier).mean()
    assert (fitted(documents, weights, prior, 1.0, max_iter=3, tol=0.0)[2][1:] == 3).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("update", ["plug-in", "variational"])
def test_dropped_topics_are_within_the_tolerance(alpha, update, dtype):
    documents, statistics = corpus(60, 200, 50, seed=3)
    logs, prior = reference.log_weights(statistics, 0.02, update), np.full(50, alpha)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    for rho in (1.0, 0.7):
        all_topics, all_sums, all_iter = fitted(documents, weights**rho, prior, rho, dtype, drop=0.0)
        gamma, sums, n_iter = fitted(documents, weights**rho, prior, rho, dtype)
        # The tolerance is 1e-3 a topic on average; topics left out are a tenth of that away at most.
        assert np.abs(gamma - all_topics).mean(axis=1).max() < 1e-3
        assert np.abs(sums - all_sums).sum() < 1e-3 * gamma.size
        assert np.abs(n_iter - all_iter).max() <= 2
        np.testing.assert_allclose(gamma.sum(axis=1), all_topics.sum(axis=1), rtol=1e-5)
        left_out = gamma[1:] == prior.astype(dtype)
        assert left_out.any() or alpha == 1.0
        assert (all_topics[1:] - prior)[left_out].max(initial=0.0) < 1e-3


def test_a_topic_that_comes_back_is_not_dropped():
    # At first the second topic has 0.05 tokens, less than drop * tol = 0.1, and it ends with all.
    weights, start = np.full((1, 16), 1e-12), np.full((1, 16), 0.2)
    weights[0, :2], start[0, 0] = (0.1, 1.0), 40.0
    one = csr_matrix([[40.0]])
    for dtype in DTYPES:
        first = fitted(one, weights, np.full(16, 0.2), 1.0, dtype, 0.0, 1, start, drop=0.0)[0]
        assert first[0, 1] - 0.2 < 0.1
        gamma = fitted(one, weights, np.full(16, 0.2), 1.0, dtype, 1e-2, 200, start, drop=10.0)[0]
        np.testing.assert_allclose(gamma, [[0.2, 40.2, *[0.2] * 14]], atol=0.1)


def test_the_bound_of_a_document_never_falls():
    documents, statistics = corpus()
    prior = np.linspace(0.05, 0.2, 13)
    for update in ("plug-in", "variational"):
        logs = reference.log_weights(statistics, 0.05, update)
        for rho in (1.0, 0.5):
            for d in (1, 5, 9):
                one = documents[d]
                gamma, bounds = np.ones((1, 13)), []
                for _ in range(30):
                    bounds.append(reference.document_bound(one.data, logs[one.indices], gamma[0], prior, rho))
                    gamma = fitted(one, np.exp(rho * logs), prior, rho, start=gamma, max_iter=1, drop=0.0)[0]
                assert np.diff(bounds).min() > -1e-10 and bounds[-1] > bounds[0] + 0.1


# --- Extrapolation ----------------------------------------------------------------------------------------------


def undecided():
    """(documents, weights, prior) whose plain updates converge slowly: two topics of three differ little."""
    rng = np.random.default_rng(11)
    beta = rng.dirichlet(np.full(50, 0.3), 3)
    beta[1] = 0.8 * beta[0] + 0.2 * beta[1]
    counts = [rng.multinomial(80, rng.dirichlet(np.ones(3)) @ beta * (1 - 1e-9)) for _ in range(30)]
    return csr_matrix(np.array(counts)), np.ascontiguousarray(beta.T), np.full(3, 0.5)


def test_extrapolated_updates():
    documents, weights, prior = undecided()
    jumps, shortened = 0, 0
    for d in range(documents.shape[0]):
        one = documents[d]
        for max_iter in (1, 2, 3, 4, 7, 12, 16):
            expected, lengths = reference.extrapolated_document(
                one.data, np.log(weights)[one.indices], np.ones(3), prior, max_iter, 1e-9, 0.02
            )
            gamma, _, n_iter = fitted(one, weights, prior, 1.0, tol=1e-9, max_iter=max_iter, drop=0.0, settled=0.02)
            np.testing.assert_allclose(gamma[0], expected, rtol=1e-6)
            assert n_iter[0] <= max_iter
        jumps, shortened = jumps + len(lengths), shortened + (np.diff(lengths) < 0).sum()
    # Extrapolations were made, and some of the longest were made shorter.
    assert jumps > 100 and shortened > 5


@pytest.mark.parametrize("update", ["plug-in", "variational"])
def test_extrapolation_ends_at_the_fixed_point_of_the_updates(update):
    documents, statistics = corpus(60, 200, 30, seed=3)
    logs, prior = reference.log_weights(statistics, 0.02, update), np.full(30, 0.05)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    plain, _, many = fitted(documents, weights, prior, 1.0, tol=1e-10, max_iter=20000)
    gamma, _, few = fitted(documents, weights, prior, 1.0, tol=1e-10, max_iter=20000, settled=0.005)
    np.testing.assert_allclose(gamma, plain, atol=1e-5)
    assert few.sum() < 0.7 * many.sum() and many.max() < 20000
    # At the tolerance of users it is nearer to the fixed point than plain updates are.
    loose, _, _ = fitted(documents, weights, prior, 1.0)
    near, _, _ = fitted(documents, weights, prior, 1.0, settled=0.005)
    assert np.abs(near - plain).sum() < 0.9 * np.abs(loose - plain).sum()


@pytest.mark.parametrize("dtype", DTYPES)
def test_updates_are_plain_until_they_settle(dtype):
    documents, weights, prior = undecided()
    for settled in (0.0, 1e-12):
        plain = fitted(documents, weights, prior, 1.0, dtype, tol=1e-4, max_iter=40)
        found = fitted(documents, weights, prior, 1.0, dtype, tol=1e-4, max_iter=40, settled=settled)
        assert all(np.array_equal(one, other) for one, other in zip(plain, found, strict=True))
    changed = fitted(documents, weights, prior, 1.0, dtype, tol=1e-4, max_iter=40, settled=0.02)
    assert changed[2].sum() < plain[2].sum()


@pytest.mark.parametrize("log_weights", [False, True])
def test_numbers_that_float32_can_not_hold(log_weights):
    # exp(E log beta) of words unseen under a sparse prior is exp(-500): rows are relative to their largest weight.
    documents, statistics = corpus(30, 60, 8)
    statistics[:, 4:] = 0.0
    logs, prior = reference.log_weights(statistics, 0.002, "variational"), np.full(8, 0.002)
    expected = truth(documents, logs, prior, 1.0)
    weights = logs if log_weights else _word_tables.tempered(logs.astype(np.float32), 1.0)
    gamma, sums, _ = fitted(documents, weights, prior, 1.0, np.float32, log_weights=log_weights)
    assert np.isfinite(gamma).all() and np.isfinite(sums).all()
    np.testing.assert_allclose(gamma[3:].sum(axis=1), expected[0][3:].sum(axis=1), rtol=1e-5)
    # Some documents are on the edge between two fixed points; nearly all end where float64 does.
    assert (np.abs(gamma - expected[0]).max(axis=1) < 0.05).mean() > 0.9


# --- Threads and bits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("each", [False, True])
def test_threads_change_no_bit(dtype, each):
    documents, statistics = corpus(300, 120, 20)
    logs, prior = reference.log_weights(statistics, 0.02, "plug-in"), np.full(20, 0.05)
    rho = np.random.default_rng(2).uniform(0.5, 1.0, 300) if each else 0.9
    for settled in (0.0, 0.005):
        options = {"log_weights": True, "settled": settled}
        runs = [fitted(documents, logs, prior, rho, dtype, n_threads=n, **options) for n in (1, 2, 3, 7)]
        for run in runs[1:]:
            assert all(np.array_equal(one, other) for one, other in zip(runs[0], run, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sweeps_add_in_the_stated_order(dtype):
    rng = np.random.default_rng(4)
    lanes = 8 if dtype == np.float32 else 4
    for n, n_topics in ((1, 1), (8, 8), (15, 16), (24, 3), (33, 65), (40, 300)):
        table = rng.random((n, n_topics)).astype(dtype)
        counts, factors = rng.integers(0, 5, n).astype(dtype), rng.random(n_topics).astype(dtype)
        normalisers = np.zeros(n, dtype)
        for k in range(n_topics):
            normalisers = normalisers + factors[k] * table[:, k]
        ratios = counts / normalisers
        sums = np.zeros((lanes, n_topics), dtype)
        for v in range(n):
            sums[v % lanes] += ratios[v] * table[v]
        totals = (sums[0] + sums[2]) + (sums[1] + sums[3])
        if lanes == 8:
            totals = totals + ((sums[4] + sums[6]) + (sums[5] + sums[7]))
        found = sweeps(table, counts, factors)
        assert np.array_equal(found[0], ratios) and np.array_equal(found[1], totals)


BITS = """
import hashlib
import numpy as np
from sklearn_subanneal.topics._fit_documents import fit_documents
from sklearn_subanneal.topics._word_tables import tempered, word_weights
rng = np.random.default_rng(0)
statistics = rng.gamma(0.1, 10.0, (500, 37))
n = rng.integers(1, 200, 100)
indptr = np.concatenate([[0], np.cumsum(n)])
indices = np.concatenate([rng.permutation(500)[:m] for m in n])
counts = rng.integers(1, 6, indptr[-1])
digest = hashlib.sha256()
for dtype in (np.float32, np.float64):
    for update in ("plug-in", "variational"):
        for rho in (1.0, 0.6, None):
            eta, totals = np.full(500, 0.03), statistics.sum(axis=0) + 15
            weights = word_weights(statistics.astype(dtype), np.arange(500), 1.0, eta, totals, update, rho)
            gamma, sums = np.ones((100, 37), dtype), np.zeros((500, 37), dtype)
            each = rho or rng.uniform(0.5, 1.0, 100)
            fit_documents(indptr, indices, counts, weights, gamma, np.full(37, 0.02), each, 100, 1e-3, sums,
                          log_weights=rho is None, settled=0.0 if rho == 0.6 else 0.01)
            assert np.isfinite(sums).all()
            for array in (weights, gamma, sums):
                digest.update(array.tobytes())
print(digest.hexdigest())
"""


def digest(path):
    environment = {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run([sys.executable, "-c", BITS], capture_output=True, text=True, env=environment, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_plain_loops_give_the_same_bits(tmp_path):
    pytest.importorskip("Cython")
    if not (ROOT / "setup.py").exists() or platform.machine() != "x86_64":
        pytest.skip("needs the source tree, and x86-64")
    shutil.copy(ROOT / "setup.py", tmp_path)
    package = tmp_path / "sklearn_subanneal"
    for room in ("_core", "topics"):
        shutil.copytree(
            ROOT / "sklearn_subanneal" / room, package / room, ignore=shutil.ignore_patterns("*.so", "__pycache__")
        )
    (package / "annealing").mkdir()
    shutil.copy(ROOT / "sklearn_subanneal" / "annealing" / "threads.py", package / "annealing")
    for name in ("__init__.py", "__init__.pxd"):
        (package / name).touch()
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=tmp_path,
        env={**os.environ, "CFLAGS": "-DSUBANNEAL_BASELINE"},
        check=True,
        capture_output=True,
    )
    assert digest(tmp_path) == digest(Path(_fit_documents.__file__).parents[2])


# --- Tables -----------------------------------------------------------------------------------------------------


def arguments(dtype):
    rng = np.random.default_rng(5)
    return np.concatenate([np.exp(rng.uniform(-7, 25, 100_000)), rng.uniform(0.5, 4.0, 100_000)]).astype(dtype)


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 4.0), (np.float64, 8.0)])
def test_digamma(dtype, bound):
    x = arguments(dtype)
    exact, precision = digamma(x.astype(float)), np.finfo(dtype).eps
    scale = np.maximum(np.maximum(np.abs(np.log(x.astype(float) + 4)), 1 / x.astype(float)), 1.0)
    assert (np.abs(_word_tables.digamma(x) - exact) / scale).max() <= bound * precision
    for rho in (1.0, 0.37):
        exponent = rho * exact
        kept = exponent > -80
        relative = np.abs(_word_tables.exp_digamma(x, rho)[kept] / np.exp(exponent[kept]) - 1)
        assert (relative / (1 + np.abs(exponent[kept]))).max() <= bound * precision
    assert _word_tables.exp_digamma(np.array([1e-4], dtype))[0] < 1e-37


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("update", ["plug-in", "variational"])
def test_word_weights(dtype, update):
    _, statistics = corpus()
    eta = np.random.default_rng(6).uniform(0.01, 0.1, len(statistics))
    words, total = np.array([70, 2, 31]), statistics.sum(axis=0) + eta.sum()
    expected = reference.log_weights(statistics, eta, update)[words]
    given = ((statistics / 4.0).astype(dtype), words, 4.0, eta[words], total, update)
    bound = 2e-6 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(_word_tables.word_weights(*given), expected, rtol=bound, atol=bound)
    for rho in (1.0, 0.5):
        weights = _word_tables.word_weights(*given, rho)
        relative = weights / weights.max(axis=1, keepdims=True)
        exact = np.exp(rho * (expected - expected.max(axis=1, keepdims=True)))
        np.testing.assert_allclose(relative, exact, rtol=50 * bound, atol=1e-16)
        logs = np.ascontiguousarray(expected, dtype)
        np.testing.assert_allclose(_word_tables.tempered(logs, rho), exact, rtol=50 * bound, atol=1e-16)
    if update == "plug-in":
        np.testing.assert_allclose(_word_tables.word_weights(*given, 1.0), np.exp(expected), rtol=50 * bound)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_rows_of_words(dtype, index):
    rng = np.random.default_rng(7)
    indices = rng.choice([3, 5, 8, 13], 50).astype(index)
    words, places = _word_tables.distinct_words(indices, 20)
    assert words.tolist() == sorted(set(indices.tolist())) and np.array_equal(words[places], indices)
    table, batch = rng.random((20, 5)).astype(dtype), rng.random((len(words), 5)).astype(dtype)
    expected = table.copy()
    expected[words] += dtype(0.25) * batch
    _word_tables.add_to_rows(table, words.astype(index), batch, 0.25)
    assert np.array_equal(table, expected)
    assert [len(part) for part in _word_tables.distinct_words(np.zeros(0, index), 4)] == [0, 0]


# --- Bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones((4, 2), np.int64)}, "weights must be float32 or float64"),
        ({"weights": np.ones((4, 0))}, "at least one topic"),
        ({"weights": np.ones((2, 4)).T}, "C order"),
        ({"gamma": np.ones((2, 2), np.float32)}, "gamma must be float64"),
        ({"gamma": np.zeros((2, 2))}, "gamma must be positive"),
        ({"gamma": np.full((2, 2), np.nan)}, "gamma must be positive"),
        ({"statistics": np.ones((3, 2))}, "statistics must be"),
        ({"prior": np.ones(3)}, "prior must have one value a topic"),
        ({"prior": np.array([1.0, 0.0])}, "prior must be positive"),
        ({"indices": np.array([0, 4, 1])}, "indices must be rows"),
        ({"indices": np.array([0, -1, 1])}, "indices must be rows"),
        ({"counts": np.array([1.0, -1.0, 1.0])}, "counts must not be negative"),
        ({"counts": np.array([1.0, np.nan, 1.0])}, "counts must not be negative"),
        ({"indptr": np.array([0, 2, 4])}, "CSR"),
        ({"indptr": np.array([0, 3, 2])}, "CSR"),
        ({"inverse_temperature": np.ones(2)}, "log_weights=True"),
        ({"inverse_temperature": 0.0}, "inverse_temperature must be positive"),
        ({"factor": "mode"}, "factor must be"),
    ],
)
def test_bad_input(change, message):
    given = {
        "indptr": np.array([0, 2, 3]),
        "indices": np.array([0, 3, 1]),
        "counts": np.ones(3),
        "weights": np.ones((4, 2)),
        "gamma": np.ones((2, 2)),
        "prior": np.ones(2),
        "inverse_temperature": 1.0,
        "max_iter": 5,
        "tol": 1e-3,
    }
    fit_documents(**given)
    with pytest.raises(ValueError, match=message):
        fit_documents(**{**given, **change})


def test_read_only_results_are_refused():
    gamma = np.ones((1, 2))
    gamma.flags.writeable = False
    with pytest.raises(ValueError, match="gamma must be writeable"):
        fit_documents([0, 1], [0], [1.0], np.ones((1, 2)), gamma, np.ones(2), 1.0, 5, 1e-3)


@pytest.mark.parametrize("module", [_fit_documents, _word_tables])
def test_examples(module):
    assert doctest.testmod(module).failed == 0
