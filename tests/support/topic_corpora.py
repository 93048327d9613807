"""A corpus drawn from known topics, and the comparison of two fitted topic models."""

import numpy as np
from scipy import sparse


def planted(n_documents=400):
    """Documents of four planted topics over 40 words, each on 10 of them; float32 counts."""
    generator = np.random.default_rng(0)
    topics = np.kron(np.eye(4), np.full(10, 0.1))
    theta = generator.dirichlet(np.full(4, 0.1), n_documents)
    rows = [generator.multinomial(generator.integers(20, 60), row @ topics) for row in theta]
    return sparse.csr_matrix(np.array(rows), dtype=np.float32)


def same(one, other):
    """Two topic models are the same to the last bit."""
    np.testing.assert_array_equal(one.components_, other.components_)
