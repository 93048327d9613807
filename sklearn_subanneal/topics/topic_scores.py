"""Scores of topics: bounds of documents and topics, held-out splits, and top words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, psi

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal.topics._word_sums import log_likelihoods
from sklearn_subanneal.topics._word_tables import tempered

__all__ = [
    "dirichlet_divergences",
    "document_bounds",
    "document_lengths",
    "expected_logs",
    "log_likelihoods",
    "split_words",
    "top_words",
    "topics_bound",
]


def document_lengths(documents: sparse.csr_matrix) -> NDArray:
    """Number of tokens of each document, float64."""
    return np.asarray(documents.sum(axis=1, dtype=np.float64)).ravel()


def expected_logs(parameters: NDArray) -> NDArray:
    """E[log x] of Dirichlet distributions, one a row, in float64."""
    parameters = parameters.astype(np.float64)
    return psi(parameters) - psi(parameters.sum(axis=1, keepdims=True))


def dirichlet_divergences(parameters: NDArray, prior: NDArray) -> NDArray:
    """Kullback-Leibler divergence of Dirichlet distributions, one a row of ``parameters``, from their prior.

    Parameters
    ----------
    parameters : ndarray of shape (n, m)
    prior : ndarray of shape (m,)

    Returns
    -------
    divergences : ndarray of float64, shape (n,)
    """
    parameters = parameters.astype(np.float64)
    divergences = ((parameters - prior) * expected_logs(parameters)).sum(axis=1)
    divergences -= (gammaln(parameters) - gammaln(prior)).sum(axis=1)
    return divergences + gammaln(parameters.sum(axis=1)) - gammaln(prior.sum())


def document_bounds(
    documents: sparse.csr_matrix,
    log_weights: NDArray,
    gamma: NDArray,
    prior: NDArray,
    inverse_temperature: float = 1.0,
    n_threads: int = 1,
) -> NDArray:
    """Bound on the log probability of each document, given the topics, with the assignments z at their optimum.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
    log_weights : ndarray of shape (n_words, n_topics)
        Log of the topics' weights.
    gamma : ndarray of shape (n_documents, n_topics)
        Dirichlet parameters of the documents' topic proportions.
    prior : ndarray of shape (n_topics,)
    inverse_temperature : float, default=1.0
    n_threads : int, default=1

    Returns
    -------
    bounds : ndarray of float64, shape (n_documents,)
    """
    # The largest weight of a word or a document is factored out and added as a logarithm, which float32 may not hold.
    log_mixing = expected_logs(gamma)
    largest = log_mixing.max(axis=1, keepdims=True)
    mixing = np.exp(inverse_temperature * (log_mixing - largest))
    bounds = log_likelihoods(documents, tempered(log_weights, inverse_temperature), mixing, n_threads)
    scales = inverse_temperature * log_weights.max(axis=1).astype(np.float64)
    bounds += documents @ scales
    bounds += inverse_temperature * largest[:, 0] * document_lengths(documents)
    return bounds - dirichlet_divergences(gamma, prior)


def topics_bound(topics) -> float:
    """Terms of the topics in the bound: minus their divergence from the prior, or the log prior of plug-in topics.

    The log prior of a plug-in topic is that which its updates maximise, sum of eta_v log beta_v, without normaliser.
    """
    if topics.update == "plug-in":
        return float(topics.prior @ topics.log_weights().astype(np.float64).sum(axis=1))
    return -float(dirichlet_divergences(topics.pseudo_counts(), topics.prior).sum())


def split_words(documents: sparse.csr_matrix, generator) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Split the distinct words of every document into random halves; the first, to be observed, has the odd one.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
    generator : numpy.random.RandomState or Generator

    Returns
    -------
    observed, held_out : csr_matrix of shape (n_documents, n_words)
    """
    lengths = np.diff(documents.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    # Ranks of random numbers within each row.
    order = np.lexsort((generator.uniform(size=len(rows)), rows))
    ranks = np.empty(len(rows), dtype=np.intp)
    ranks[order] = np.arange(len(rows)) - np.repeat(documents.indptr[:-1], lengths)
    first = ranks < np.repeat((lengths + 1) // 2, lengths)
    return _kept(documents, first, rows), _kept(documents, ~first, rows)


def _kept(documents, kept, rows):
    """Some of the entries of a sparse matrix."""
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=documents.shape[0]))])
    return sparse.csr_matrix((documents.data[kept], documents.indices[kept], indptr), shape=documents.shape)


def top_words(probabilities: NDArray, n_words: int) -> NDArray:
    """Indices of the most probable words of every topic, the most probable first.

    Parameters
    ----------
    probabilities : ndarray of shape (n_topics, n_words)
        Or any increasing function of them.
    n_words : int

    Returns
    -------
    words : ndarray of int, shape (n_topics, n_words)
    """
    checked_integer("n_words", n_words)
    return np.argsort(-probabilities, axis=1, kind="stable")[:, :n_words]
