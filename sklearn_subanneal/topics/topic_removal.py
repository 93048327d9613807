"""Which topics to remove when there are too many: those without which documents lose the least likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal.topics._fit_documents import fit_documents
from sklearn_subanneal.topics.local_step import local_step
from sklearn_subanneal.topics.topic_scores import log_likelihoods
from sklearn_subanneal.topics.word_statistics import Topics

# Distinct words of the documents in which the likelihood is computed, at most.
MOST_ENTRIES = 400_000
# Documents with fewer tokens of a topic hardly change without it.
FEW_TOKENS = 0.5
# Iterations of fitting documents: with all topics, and then without one of them.
ITERATIONS, MORE_ITERATIONS, TOLERANCE = 20, 5, 1e-2


def topics_to_remove(topics: Topics, documents: sparse.csr_matrix, prior: NDArray, n_topics: int) -> NDArray:
    """Topics with the least losses, at most ``n_topics``, none of which is the heir of another one.

    Parameters
    ----------
    topics : Topics
    documents : csr_matrix of shape (n_documents, n_words)
    prior : ndarray of shape (n_topics,)
        Dirichlet prior of topic proportions.
    n_topics : int

    Returns
    -------
    removed : ndarray of int
        At least one.
    """
    losses, heirs = removal_losses(topics, documents, prior)
    return _without_heirs(losses, heirs, n_topics)


def unsupported_topics(topics: Topics, documents: sparse.csr_matrix, prior: NDArray) -> NDArray:
    """Topics whose loss is less than their words cost by the Bayesian information criterion, the least supported first.

    A topic costs half the logarithm of its number of tokens for each of its words.

    Parameters
    ----------
    topics : Topics
    documents : csr_matrix of shape (n_documents, n_words)
    prior : ndarray of shape (n_topics,)

    Returns
    -------
    unsupported : ndarray of int
        At most a quarter of the topics, and none that is the heir of another one; possibly none.

    References
    ----------
    G. Schwarz (1978), Estimating the dimension of a model, Annals of Statistics 6.
    """
    if topics.n_topics == 1:
        return np.empty(0, np.intp)
    losses, heirs = removal_losses(topics, documents, prior)
    counts = topics.table.astype(np.float64) * topics.scale
    # A word of which less than one token is expected counts in part.
    n_words = (counts / (counts + 1.0)).sum(axis=0)
    support = losses / np.maximum(0.5 * n_words * np.log(topics.totals + 1.0), 1e-12)
    return _without_heirs(support, heirs, min(int(np.sum(support < 1.0)), max(topics.n_topics // 4, 1)))


def _without_heirs(scores, heirs, n_topics):
    """The topics with the least scores, at most so many, but for the heir of one that is among them."""
    removed, kept = [], set()
    for topic in np.argsort(scores, kind="stable").tolist():
        if len(removed) < n_topics and topic not in kept and heirs[topic] not in removed:
            removed.append(topic)
            kept.add(int(heirs[topic]))
    return np.array(removed, np.intp)


def removal_losses(topics: Topics, documents: sparse.csr_matrix, prior: NDArray) -> tuple[NDArray, NDArray]:
    """Log-likelihood that documents lose without a topic, when other topics explain its words as well as they can.

    Parameters
    ----------
    topics : Topics
    documents : csr_matrix of shape (n_documents, n_words)
        Of many, some are used.
    prior : ndarray of shape (n_topics,)

    Returns
    -------
    losses : ndarray of float64, shape (n_topics,)
        In nats, for all tokens of the topics.
    heirs : ndarray of int, shape (n_topics,)
        The topic that takes over the most tokens of each.
    """
    step, words, before = fitted_sample(topics, documents, prior)
    narrow = step.documents
    losses, heirs = np.zeros(topics.n_topics), np.zeros(topics.n_topics, np.intp)
    for topic in range(topics.n_topics):
        tokens = step.gamma[:, topic] - prior[topic]
        users = np.flatnonzero(tokens > FEW_TOKENS)
        some, own = narrow[users], step.gamma[users]
        own[:, topic] = 0.0
        gamma = own * (1.0 + tokens[users] / own.sum(axis=1)).astype(own.dtype)[:, None]
        # Without weights of its words the topic takes no tokens, as if it were not there; nothing is copied.
        gamma[:, topic], weights = prior[topic], words[:, topic].copy()
        words[:, topic] = 0.0
        fit_documents(some.indptr, some.indices, some.data, words, gamma, prior, 1.0, MORE_ITERATIONS, TOLERANCE)
        gamma[:, topic] = 0.0
        after = log_likelihoods(some, words, gamma / gamma.sum(axis=1, keepdims=True))
        words[:, topic] = weights
        losses[topic] = (before[users] - after).sum()
        gained = (gamma - own).sum(axis=0)
        gained[topic] = -np.inf
        heirs[topic] = gained.argmax()
    return losses * (topics.totals.sum() / max(narrow.data.sum(dtype=np.float64), 1.0)), heirs


def mean_log_likelihood(topics: Topics, documents: sparse.csr_matrix, prior: NDArray) -> float:
    """Mean log-likelihood of a token of documents, some of many, with topic proportions fitted to them; nats."""
    step, _, values = fitted_sample(topics, documents, prior)
    return float(values.sum() / max(step.documents.data.sum(dtype=np.float64), 1.0))


def fitted_sample(topics, documents, prior):
    """The local step of some documents, the probabilities of their words, and the log-likelihood of each document."""
    documents = documents[:: max(-(-documents.nnz // MOST_ENTRIES), 1)]
    step = local_step(documents, topics, prior, max_iter=ITERATIONS, tol=TOLERANCE)
    words = topics.mean_weights(step.words)
    return step, words, log_likelihoods(step.documents, words, step.gamma / step.gamma.sum(axis=1, keepdims=True))
