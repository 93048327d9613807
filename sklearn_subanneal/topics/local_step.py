"""The local step of topic models: topic proportions and energies of documents for fixed topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal.topics._fit_documents import fit_documents
from sklearn_subanneal.topics._word_sums import joint_energies
from sklearn_subanneal.topics._word_tables import distinct_words
from sklearn_subanneal.topics.topic_scores import document_lengths, expected_logs, log_likelihoods
from sklearn_subanneal.topics.word_statistics import Topics


class LocalStep(NamedTuple):
    """Variational distributions of documents, and their statistics of the topics.

    The columns of ``documents`` are the words that occur in them, whose numbers in the vocabulary are ``words``;
    ``statistics`` has a row for each of these.
    """

    documents: sparse.csr_matrix
    words: NDArray
    gamma: NDArray
    statistics: NDArray | None


def used_words(documents: sparse.csr_matrix) -> tuple[NDArray, sparse.csr_matrix]:
    """The words that occur in documents, and the documents with only these words as columns."""
    words, places = distinct_words(documents.indices, documents.shape[1])
    narrow = sparse.csr_matrix((documents.data, places, documents.indptr), shape=(documents.shape[0], len(words)))
    return words, narrow


def local_step(
    documents: sparse.csr_matrix,
    topics: Topics,
    prior: NDArray,
    inverse_temperature=1.0,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
    n_threads: int = 1,
    gamma: NDArray | None = None,
    statistics: bool = False,
    weights: Callable | None = None,
    drop: float = 0.1,
    settled: float = 0.0,
    factor: str = "digamma",
) -> LocalStep:
    """Fit the topic proportions of documents, with fixed topics.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
    topics : Topics
    prior : ndarray of shape (n_topics,)
        Parameter alpha of the Dirichlet prior of topic proportions.
    inverse_temperature : float or ndarray of shape (n_documents,), default=1.0
    max_iter, tol, n_threads, drop, settled, factor
        As of :func:`~sklearn_subanneal.topics._fit_documents.fit_documents`.
    gamma : ndarray of shape (n_documents, n_topics), default=None
        Start of the iterations; None: tokens spread evenly over the topics.
    statistics : bool, default=False
        Whether to sum the statistics of the topics.
    weights : callable, default=None
        Called with an array of words and ``n_threads``; its weights are used in place of those of the topics, and their
        type is that of the computation.

    Returns
    -------
    LocalStep
    """
    words, narrow = used_words(documents)
    each = np.ndim(inverse_temperature) > 0
    if weights is not None:
        table = weights(words, n_threads=n_threads)
    elif each:
        table = topics.log_weights(words, n_threads)
    else:
        table = topics.relative_weights(words, inverse_temperature, n_threads)
    dtype = table.dtype
    if gamma is None:
        gamma = prior + (inverse_temperature * document_lengths(documents) / topics.n_topics)[:, None]
    gamma = np.array(gamma, dtype=dtype, order="C")
    sums = np.zeros(table.shape, dtype=dtype) if statistics else None
    fit_documents(
        narrow.indptr,
        narrow.indices,
        narrow.data,
        table,
        gamma,
        prior,
        inverse_temperature,
        max_iter,
        tol,
        statistics=sums,
        n_threads=n_threads,
        log_weights=each,
        drop=drop,
        settled=settled,
        factor=factor,
    )
    return LocalStep(narrow, words, gamma, sums)


def collapsed_energies(step: LocalStep, topics: Topics, n_threads: int = 1) -> NDArray:
    """Log-likelihood of each document under its mean topic proportions and the mean topics, float64."""
    proportions = step.gamma / step.gamma.sum(axis=1, keepdims=True)
    return log_likelihoods(step.documents, topics.mean_weights(step.words, n_threads), proportions, n_threads)


def expected_joints(step: LocalStep, topics: Topics, inverse_temperature: NDArray, n_threads: int = 1) -> NDArray:
    """E[log p(words, assignments)] of each document, the energy of the paper; float64."""
    logs = topics.log_weights(step.words, n_threads)
    return joint_energies(step.documents, logs, expected_logs(step.gamma), inverse_temperature, n_threads)
