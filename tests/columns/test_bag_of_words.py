"""Bags of words with counts of any size: exact where they are taken, refused by name where they are not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import gammaln
from sklearn.base import BaseEstimator, clone
from support.large_counts import LARGEST, log_marginal, statistics_of, with_a_large_count

from sklearn_subanneal import SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.columns._bag_data import BagOfWordsData
from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics
from sklearn_subanneal.columns.bag_of_words import estimated_repetition, log_repetitions
from sklearn_subanneal.columns.binding import bind_bags
from sklearn_subanneal.tables.documents import Documents, read_documents


def run(code):
    """Run code in a process of its own that may take 2 GiB of memory; a crash is a failed assertion."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", limit + textwrap.dedent(code)],
        capture_output=True, text=True, timeout=120, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"the process ended by {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


# --- Counts that are taken --------------------------------------------------------------------------------------


@pytest.mark.skipif("SUBANNEAL_SANITIZED" in os.environ, reason="the shadow of a sanitizer exceeds any limit of memory")
def test_kernels_survive_large_counts():
    run("""
        import numpy as np
        from support.large_counts import statistics_of, with_a_large_count

        for count in (10**5, 3 * 10**6, 10**7, 10**8, 10**9):
            counts = with_a_large_count(count)
            column = statistics_of(counts, grids={"beta": [0.1, 0.3, 1.0]})
            column.rebuild(np.arange(len(counts)) % 3)
            for row in range(len(counts)):
                column.scores(row, 8)
            column.learn(3, np.random.default_rng(0))
            column.twin().rebuild(np.zeros(len(counts), int))
    """)


@pytest.mark.slow
def test_estimators_survive_large_counts():
    labels = run("""
        import numpy as np
        from sklearn_subanneal import TreeGuidedNRMM
        from support.large_counts import with_a_large_count

        for count in (10**7, 10**8, 10**9):
            X = with_a_large_count(count, n_rows=40)
            model = TreeGuidedNRMM(feature_types="bag-of-words", n_chains=1, n_draws=2, random_state=0).fit(X)
            assert np.isfinite(model.log_joint_).all() and np.isfinite(model.score_samples(X)).all()
            assert model.sample(20, random_state=0).sum(axis=1).max() <= X.sum(axis=1).max()
            print(model.labels_[3] == model.labels_[7])
    """)
    assert labels.split() == ["True"] * 3


@pytest.mark.parametrize("count", [5, 10**5, 10**6, 10**8, LARGEST // 2])
def test_large_counts_have_their_density(count):
    counts = with_a_large_count(count)
    column, labels = statistics_of(counts), np.arange(len(counts)) % 3
    labels[-2:] = -1
    column.rebuild(labels)
    # Both sides are differences of log Gammas, whose last digits are lost.
    error = {"rtol": 1e-13, "atol": 8 * np.finfo(float).eps * gammaln(3.0 * counts.sum())}
    exact = np.array([log_marginal(counts[labels == k]) for k in range(3)])
    assert_allclose(column.log_marginals(3), exact, **error)
    both = log_marginal(counts[(labels == 0) | (labels == 1)])
    assert_allclose(column.log_marginal_together(0, 1), both, **error)
    new = np.array([[0, count, 2, 0, 1], [1, 0, 0, 3, 0]])
    more = np.array([[log_marginal(np.vstack([counts[labels == k], row])) for k in range(3)] for row in new])
    assert_allclose(column.log_densities(new, 3), more - exact, **error)
    more = np.array([log_marginal(np.vstack([counts[labels == k], counts[-2]])) for k in range(3)])
    assert_allclose([column.log_predictive_of(len(counts) - 2, k) for k in range(3)], more - exact, **error)


@pytest.mark.parametrize("count", [10**5, 10**7, 10**9])
def test_clusters_that_differ_by_few_nats_are_seen_to_differ(count):
    # float32 has steps of 64 nats at 1e9 nats: the scores of long bags must be those of small numbers.
    counts = np.array([[count, count], [count + 40, count], [count, count], [count // 7, count // 7]]) // 4
    column = statistics_of(counts)
    column.rebuild([0, 1, -1, -1])
    for row in (2, 3):
        exact = [log_marginal(counts[[k, row]]) - log_marginal(counts[[k]]) for k in (0, 1)]
        scores = column.scores(row, 2).astype(float)
        assert_allclose(scores[1] - scores[0], exact[1] - exact[0], atol=2e-15 * abs(exact[0]) + 1e-3)
    # The row's own cluster is scored in the same units.
    column.rebuild([0, 1, 0, 1])
    own = column.leave_one_out(np.array([2], np.int32), np.array([0], np.int32))[0]
    column.rebuild([0, 1, -1, 1])
    assert_allclose(own, column.scores(2, 1)[0], atol=1e-2)


def test_beta_given_large_counts_has_its_posterior():
    counts, betas = with_a_large_count(10**7), np.array([0.09, 0.1, 0.12])
    counts = np.vstack([counts, counts])
    column = statistics_of(counts, grids={"beta": betas})
    labels = np.arange(len(counts)) % 3
    column.rebuild(labels)
    logs = [sum(log_marginal(counts[labels == k], beta) for k in range(3)) for beta in betas]
    exact = np.exp(logs - np.max(logs)) / np.exp(logs - np.max(logs)).sum()
    assert exact.max() < 0.95
    rng, seen = np.random.default_rng(1), []
    for _ in range(1500):
        column.learn(3, rng)
        seen.append(column.parameters["beta"])
    frequency = (np.array(seen)[:, None] == betas).mean(axis=0)
    assert_allclose(frequency, exact, atol=0.05)


def test_totals_of_rows_and_clusters_are_beyond_32_bits():
    counts = np.full((4, 8), LARGEST // 4)
    column = statistics_of(counts)
    column.rebuild(np.zeros(4, int))
    assert counts[0].sum() > 2**31
    assert_allclose(column.log_marginals(1), [log_marginal(counts)], rtol=1e-13)
    [documents] = read_documents(BaseEstimator(), counts, reset=True)
    assert_array_equal(documents.lengths, counts.sum(axis=1))
    # Rows that are taken out leave no trace.
    for row in range(4):
        column.remove_row(row, 0)
    assert column.log_marginals(1) == 0.0


@pytest.mark.parametrize("counts", [np.full((4, 3), LARGEST // 4), np.diag(np.full(3, LARGEST))], ids=["all", "one"])
def test_states_hold_as_many_words_as_documents(counts):
    column, restored = statistics_of(counts), statistics_of(counts)
    column.rebuild(np.arange(len(counts)) % 3)

    def restores(extra):
        """Whether a state is, with so many occurrences of the first word in a further cluster."""
        try:
            state = column.get_state(3)
            state["times"], state["word"] = np.append(state["times"], extra), np.append(state["word"], 0)
            state["start"] = np.append(state["start"], len(state["times"]))
            restored.set_state(state)
        except ValueError:
            return False
        return True

    left = LARGEST - counts[:, 0].sum()
    assert restores(left)
    assert_array_equal(restored.log_marginals(3), column.log_marginals(3))
    # Not even clusters that could each count a word: they may be merged.
    assert not restores(left + 1)


@pytest.mark.parametrize("estimator", [TreeGuidedNRMM, SubsampleAnnealedDPMM])
def test_documents_of_more_words_than_32_bits_count(estimator):
    model = estimator("dp", feature_types="bag-of-words", n_chains=1, n_draws=2, max_sweeps=3, random_state=0)
    # Of two topics, which both have the first word.
    counts = np.array([[1, 2, 0], [1, 0, 2]] * 2) * (LARGEST // 8)
    assert np.isfinite(model.fit(2 * counts).score_samples(counts)).all()
    for fit in (clone(model).fit, clone(model).partial_fit):
        batches = fit(counts)
        assert np.isfinite(batches.partial_fit(counts).score_samples(counts)).all()
        with pytest.raises(ValueError, match=r"^(X and the rows before it hold a|the) word .* occurs .* divide the"):
            batches.partial_fit(counts // 8)
        assert np.isfinite(batches.score_samples(counts)).all()


def test_long_bags_are_drawn_from_the_predictive():
    # Counts of a word in a bag of n words are beta-binomial; long bags are drawn otherwise than short ones.
    counts, n_draws = np.array([[6, 2, 0]]), 3000
    column = statistics_of(counts, beta=0.5)
    column.rebuild([0])
    slots = np.zeros(n_draws, np.int32)
    shares = {}
    for length in (2000, 2**30):
        bags = column.draw_bags(slots, np.full(n_draws, length), np.random.default_rng(3))
        assert_array_equal(bags.sum(axis=1), np.full(n_draws, length))
        shares[length] = bags.toarray() / length
    exact = (counts[0] + 0.5) / 9.5
    for share in shares.values():
        assert_allclose(share.mean(axis=0), exact, atol=4 * np.sqrt(0.25 / 10.5 / n_draws))
        assert_allclose(share.var(axis=0), exact * (1 - exact) / 10.5, rtol=0.12, atol=1e-4)


def test_short_and_long_bags_are_drawn_in_one_call():
    column = statistics_of(np.array([[6, 2, 0]]))
    column.rebuild([0])
    lengths = np.array([3, 2**33, 0, 5])
    bags = column.draw_bags(np.zeros(4, np.int32), lengths, np.random.default_rng(0))
    assert_array_equal(bags.sum(axis=1), lengths)


# --- Words that documents repeat ----------------------------------------------------------------------------------


def log_of_sequence(words, concentration, weights):
    """Log probability of the words of a document in their order, a word it has not being new from a cluster's urn."""
    out, new = 0.0, []
    for t, word in enumerate(words):
        if word in words[:t]:
            out += np.log(words[:t].count(word) / (concentration + t))
        else:
            share = (weights[word] + new.count(word)) / (weights.sum() + len(new))
            out += np.log(concentration / (concentration + t) * share)
            new.append(word)
    return out


@pytest.mark.parametrize("words", [[2, 0, 2, 2, 1, 0], [1, 1], [0], []])
def test_a_document_has_the_density_of_its_urns(words):
    base, weights, concentration = np.array([2.0, 0.5, 0.3, 1.2]), np.array([3.0, 0.4, 1.0, 0.2]), 1.7
    [model] = bind_bags(4, feature_params={"bag-of-words": {"beta": 0.8, "base": base}})
    model = replace(model, parameters=model.parameters | {"repetition": concentration})
    # A cluster whose counts are three times the words that it has.
    documents = Documents(sparse.csr_array(np.array([np.bincount(words, minlength=4)])))
    column = model.statistics(model.data([Documents(sparse.csr_array(np.tile(weights > 0.9, (3, 1)).astype(int)))]))
    column.rebuild(np.zeros(3, int))
    own = 0.8 * base / base.mean() + 3.0 * (weights > 0.9)
    found = column.log_densities(model.values([documents]), 1)[0, 0] + model.log_jacobian(documents)[0]
    assert_allclose(found, log_of_sequence(words, concentration, own), rtol=1e-12, atol=1e-12)


def test_repetitions_are_estimated_by_their_likelihood():
    # Documents of urns with this concentration over a vocabulary so large that no new word is one of the document's.
    rng, concentration = np.random.default_rng(0), 30.0
    rows = []
    for _ in range(300):
        words = []
        for t in range(100):
            is_copy = rng.random() * (concentration + t) < t
            words.append(words[rng.integers(t)] if is_copy else int(rng.integers(10**6)))
        rows.append(np.unique(words, return_counts=True))
    start = np.append(0, np.cumsum([len(words) for words, _ in rows]))
    words, counts = (np.concatenate(part) for part in zip(*rows, strict=True))
    bags = Documents(sparse.csr_array((counts, words, start), (300, 10**6)))
    found = estimated_repetition(bags)
    # The information of a document about the logarithm of the concentration.
    t = np.arange(100)
    information = 300 * np.sum(concentration * t / (concentration + t) ** 2)
    assert abs(np.log(found / concentration)) < 4 / np.sqrt(information)
    nearby = [log_repetitions(bags, factor * found).sum() for factor in (0.99, 1.0, 1.01)]
    assert max(nearby) == nearby[1]


def test_documents_that_are_drawn_repeat_their_words():
    # The second of two words is the first one again if it is copied, or drawn once more from the cluster.
    base, counts, n_draws, concentration = np.array([2.0, 0.5, 0.5]), np.array([[4, 0, 1]]), 160_000, 1.5
    parameters = {"beta": 0.7, "n_words": 3, "base": base / base.mean(), "repetition": concentration}
    column = BagOfWordsStatistics(BagOfWordsData(counts), parameters)
    column.rebuild([0])
    weights = 0.7 * base / base.mean() + counts[0]
    total = weights.sum()
    again = weights / total * (1 + concentration * (weights + 1) / (total + 1)) / (1 + concentration)
    bags = column.draw_bags(np.zeros(n_draws, np.int32), np.full(n_draws, 2), np.random.default_rng(0)).toarray()
    assert_allclose((bags == 2).mean(axis=0), again, atol=4 * np.sqrt(0.25 / n_draws))
    first = column.draw_bags(np.zeros(n_draws, np.int32), np.ones(n_draws, int), np.random.default_rng(1)).toarray()
    assert_allclose(first.mean(axis=0), weights / total, atol=4 * np.sqrt(0.25 / n_draws))
    # Long bags are drawn otherwise; the variance of the share of a word is that of the two urns.
    share = column.draw_bags(np.zeros(3000, np.int32), np.full(3000, 2**30), np.random.default_rng(2)).toarray() / 2**30
    mean = weights / total
    assert_allclose(share.mean(axis=0), mean, atol=0.02)
    assert_allclose(share.var(axis=0), again - mean**2, rtol=0.1)


def test_beta_has_its_posterior_on_a_long_grid():
    # It is drawn among neighbours, and goes through the whole grid.
    counts, betas = np.array([[1, 0, 2, 0], [0, 1, 1, 0], [2, 0, 0, 1]]), np.geomspace(0.2, 3.0, 8)
    base = np.array([1.6, 0.8, 1.2, 0.4])
    column = BagOfWordsStatistics(BagOfWordsData(counts), {"beta": 0.2, "n_words": 4, "base": base}, {"beta": betas})
    column.rebuild([0, 1, 0])
    logs = [
        sum(
            np.sum(gammaln(beta * base + own) - gammaln(beta * base))
            + gammaln(4 * beta)
            - gammaln(4 * beta + own.sum())
            for own in (counts[0] + counts[2], counts[1])
        )
        for beta in betas
    ]
    exact = np.exp(logs - np.max(logs)) / np.exp(logs - np.max(logs)).sum()
    rng, seen = np.random.default_rng(1), []
    for _ in range(20_000):
        column.learn(2, rng)
        seen.append(column.parameters["beta"])
    assert_allclose((np.array(seen)[:, None] == betas).mean(axis=0), exact, atol=0.02)


# --- Counts that are refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "count",
    [LARGEST + 1, 2**31, 3 * 10**9, 2**32 + 1, 2**63 - 1, np.uint64(2**63), 2.0**31, 2.0**63],
    ids=str,
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_counts_that_are_too_large_are_named(count, container):
    X = np.array([[1, 2], [0, 3], [4, 0]], dtype=np.asarray(count).dtype)
    X[2, 1] = count
    message = rf"X holds .* in row 2, column 1; .* at most {LARGEST}"
    with pytest.raises(ValueError, match=message):
        read_documents(BaseEstimator(), container(X), reset=True)
    with pytest.raises(ValueError, match=message):
        BagOfWordsData(container(X))


def test_sums_that_are_too_large_are_named():
    X = np.full((3, 2), 10**9)
    X[:, 0] = 1
    for read in (BagOfWordsData, lambda X: read_documents(BaseEstimator(), X, reset=True)):
        with pytest.raises(ValueError, match=f"column 1 .* 3000000000 .* at most {LARGEST}"):
            read(X)
        with pytest.raises(ValueError, match=f"1200000000000 words .* at most {2**40}"):
            read(np.full((1, 600), 2 * 10**9))


def test_the_sums_of_repeated_entries_are_checked():
    twice = sparse.csr_array((np.full(2, LARGEST), np.zeros(2, int), [0, 2]), (1, 2))
    with pytest.raises(ValueError, match="column 0"):
        BagOfWordsData(twice)
    huge = sparse.csr_array((np.full(2, 2**62), np.zeros(2, int), [0, 2]), (1, 2))
    with pytest.raises(ValueError, match="row 0, column 0"):
        BagOfWordsData(huge)


@pytest.mark.parametrize("values", [[-1.0, 2.0], [0.5, 2.0]])
def test_kernels_refuse_what_is_no_count(values):
    with pytest.raises(ValueError, match="X holds"):
        BagOfWordsData(np.array([values]))


def test_the_matrix_of_the_caller_is_left_alone():
    # Rows whose words are out of order, and twice.
    def matrix():
        return sparse.csr_array(([1, 2, 3, 4, 5], [2, 0, 1, 0, 1], [0, 2, 5]), (2, 3))

    X = matrix()
    [documents] = read_documents(BaseEstimator(), X, reset=True)
    BagOfWordsData(documents.counts)
    BagOfWordsData(X)
    assert_array_equal(X.indices, matrix().indices)
    assert_array_equal(X.data, matrix().data)
    assert_array_equal(documents.counts.toarray(), matrix().toarray())
