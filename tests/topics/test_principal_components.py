"""Principal components of documents: equal to those of a dense decomposition, and those of chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence
from support.topic_corpora import mixed_topics

from sklearn_subanneal.topics import principal_components
from sklearn_subanneal.topics.principal_components import PrincipalComponents, value_of_chance


def scaled(numbers):
    lengths, frequencies = numbers.sum(axis=1), numbers.sum(axis=0)
    return numbers / np.sqrt(lengths + lengths.mean())[:, None] / np.sqrt(frequencies + frequencies.mean())


def counts(shape, seed=1):
    rng = np.random.default_rng(seed)
    return sparse.csr_matrix(rng.poisson(1.0 + 3.0 * rng.random((shape[0], 1)), shape), dtype=np.float32)


@pytest.mark.parametrize("shape", [(40, 25), (25, 40)])
def test_components_are_those_of_the_scaled_numbers(shape):
    X = counts(shape)
    left, values, right = np.linalg.svd(scaled(X.toarray().astype(float)))
    found = PrincipalComponents.of(X, 5)
    # The same plane, whatever the axes in it.
    np.testing.assert_allclose(found.documents @ found.documents.T / shape[0], left[:, :5] @ left[:, :5].T, atol=1e-4)
    np.testing.assert_allclose(found.words @ found.words.T / shape[1], right[:5].T @ right[:5], atol=1e-4)
    np.testing.assert_allclose(np.sort(found.values), np.sort(values[:5]), rtol=1e-6)
    # The loadings of documents and of words are of the same component, with the same sign.
    parts = found.documents * found.values / np.sqrt(shape[0]) @ (found.words.T / np.sqrt(shape[1]))
    np.testing.assert_allclose(parts, left[:, :5] * values[:5] @ right[:5], atol=1e-4)


@pytest.mark.parametrize("documents", [np.zeros((4, 3)), np.ones((1, 3)), np.ones((5, 1)), np.eye(6), np.ones((9, 7))])
def test_few_components(documents):
    X = sparse.csr_matrix(documents.astype(np.float32))
    found = PrincipalComponents.of(X, 6)
    assert found.documents.shape == (documents.shape[0], len(found.values))
    assert found.words.shape == (documents.shape[1], len(found.values))
    assert 1 <= len(found.values) <= max(np.linalg.matrix_rank(documents), 1)
    assert np.isfinite(value_of_chance(X, np.random.default_rng(0)))


def test_value_of_chance_is_that_of_independent_words():
    rng = np.random.default_rng(2)
    likely = rng.dirichlet(np.ones(1500)) * 20.0
    X = sparse.csr_matrix(rng.poisson(np.outer(rng.uniform(0.5, 1.5, 600), likely)), dtype=np.float32).sign()
    own = np.linalg.svd(scaled(X.toarray()), compute_uv=False)
    chance = [value_of_chance(X, np.random.default_rng(seed)) for seed in range(5)]
    # Words are independent in these documents, too. That some are dealt twice makes the value a little too large.
    assert 0.98 * own[1] < np.mean(chance) < 1.08 * own[1]
    assert own[0] > 1.2 * np.max(chance)


class DealsTwice:
    """In place of a random generator: each word comes twice in a row."""

    def permutation(self, words):
        return (np.arange(len(words), dtype=words.dtype) // 2) % 20

    def standard_normal(self, size):
        return np.random.default_rng(0).standard_normal(size)


def test_a_word_that_is_dealt_twice_counts_once():
    X = counts((30, 20)).sign()
    dealt = np.zeros((30, 20))
    dealt[np.repeat(np.arange(30), np.diff(X.indptr)), DealsTwice().permutation(X.indices)] = 1.0
    assert dealt.any(axis=0).all() and dealt.sum() < 0.6 * X.nnz
    values = np.linalg.svd(scaled(dealt), compute_uv=False)
    assert value_of_chance(X, DealsTwice()) == pytest.approx(values[1], rel=1e-3)


def test_topics_exceed_chance_and_further_components_do_not():
    X, _ = mixed_topics(6, 900, 300)
    presence = X.sign()
    values = np.sort(PrincipalComponents.of(presence, 12).values)[::-1]
    chance = value_of_chance(presence, np.random.default_rng(0))
    assert values[5] > 1.05 * chance
    assert values[6] < 1.05 * chance


@pytest.mark.parametrize("n_components", [4, 250])
def test_values_that_do_not_converge(monkeypatch, n_components):
    def fails(*args, **kwargs):
        raise ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))

    X, _ = mixed_topics(4, 300, 260)
    before = PrincipalComponents.of(X, 4)
    monkeypatch.setattr(principal_components, "svds", fails)
    found = PrincipalComponents.of(X, n_components)
    order, own = np.argsort(-found.values)[:4], np.argsort(-before.values)
    np.testing.assert_allclose(found.values[order], before.values[own], rtol=1e-3)
    # No component exceeds chance if that is not known.
    assert value_of_chance(X, np.random.default_rng(0)) == np.inf
