"""Corpora drawn from known topics, and the comparison of two fitted topic models."""

import numpy as np
from scipy import sparse


def planted(n_documents=400):
    """Documents of four planted topics over 40 words, each on 10 of them; float32 counts."""
    generator = np.random.default_rng(0)
    topics = np.kron(np.eye(4), np.full(10, 0.1))
    theta = generator.dirichlet(np.full(4, 0.1), n_documents)
    rows = [generator.multinomial(generator.integers(20, 60), row @ topics) for row in theta]
    return sparse.csr_matrix(np.array(rows), dtype=np.float32)


def mixed_topics(n_topics, n_documents, n_words, seed=0, length=80):
    """Documents of topics that share a third of their words, and the topics; float32 counts."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.05), n_topics) * 0.7 + rng.dirichlet(np.full(n_words, 1.0)) * 0.3
    theta = rng.dirichlet(np.full(n_topics, 0.1), n_documents)
    rows = [rng.multinomial(rng.integers(length // 2, 3 * length // 2), row @ topics) for row in theta]
    return sparse.csr_matrix(np.array(rows, dtype=np.float32)), topics


def topics_of_common_words(n_topics, n_documents, seed=0, length=60, common=0.6):
    """Documents of topics that share most of their words, whose frequencies are those of a language; float32 counts."""
    rng = np.random.default_rng(seed)
    n_words = 100 + 20 * n_topics
    frequencies = 1.0 / np.arange(10, n_words + 10)
    own = rng.gamma(0.05, 1.0, (n_topics, n_words)) * frequencies
    topics = (1.0 - common) * own / own.sum(axis=1, keepdims=True) + common * frequencies / frequencies.sum()
    theta = rng.dirichlet(np.full(n_topics, 0.1), n_documents)
    return sparse.csr_matrix(np.array([rng.multinomial(length, row @ topics) for row in theta], dtype=np.float32))


def same(one, other):
    """Two topic models are the same to the last bit."""
    np.testing.assert_array_equal(one.components_, other.components_)
