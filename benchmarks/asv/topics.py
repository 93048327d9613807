"""Timing of the local step of topic models."""

import time

import numpy as np
from scipy import sparse

from sklearn_subanneal.topics._fit_documents import fit_documents

N_DOCUMENTS, N_WORDS = 200, 2000


class LocalStep:
    """Planted topics, and documents of 100 different words."""

    params, param_names, timer = [[20, 100], ["float32", "float64"]], ["n_topics", "dtype"], time.process_time

    def setup(self, n_topics, dtype):
        rng = np.random.default_rng(0)
        topics = rng.dirichlet(np.full(N_WORDS, 0.05), n_topics)
        shares = rng.dirichlet(np.full(n_topics, 0.1), N_DOCUMENTS)
        self.documents = sparse.csr_array(rng.poisson(120.0 * shares @ topics))
        self.weights = np.ascontiguousarray(topics.T + 1e-6, dtype)
        self.prior = np.full(n_topics, 0.1)

    def time_fit_documents(self, n_topics, dtype):
        documents, gamma = self.documents, np.ones((N_DOCUMENTS, n_topics), dtype)
        sums = np.zeros_like(self.weights)
        fit_documents(
            documents.indptr, documents.indices, documents.data, self.weights, gamma, self.prior, 1.0, 100, 1e-3, sums
        )
