"""New topics where the present ones do not suffice: halves of those that are mixtures, and words that none explains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal.topics.residuals import Residual
from sklearn_subanneal.topics.topic_removal import fitted_sample
from sklearn_subanneal.topics.word_statistics import Topics

# Tokens that are less likely than this to be of a topic, and documents with fewer tokens of it, tell little of it.
LEAST_SHARE, FEWEST_TOKENS = 0.05, 2.0
# A topic is a mixture if the variation of its words is this number of median absolute deviations above the median.
MIXED = 6.0
# At most this share of the topics are halved at a time.
MOST_HALVED = 0.2
# The halves start further apart than the documents on either side are: their odds to this power.
SHARPNESS = 3.0
# Words are of a missing topic if the documents that have them are few, which makes their residuals skewed.
SKEWED = 1.0
# Documents whose words start a missing topic.
DOCUMENTS_OF_MISSING = 20


class HalvedTopics(NamedTuple):
    """Topics that are mixtures of two, and the share (n_topics, n_words) of the second one in each word."""

    topics: NDArray
    shares: NDArray


def mixed_topics(
    topics: Topics, documents: sparse.csr_matrix, prior: NDArray, generator: np.random.Generator
) -> HalvedTopics:
    """Topics whose words vary together from document to document far more than those of most topics.

    Parameters
    ----------
    topics : Topics
    documents : csr_matrix of shape (n_documents, n_words)
        Of many, some are used.
    prior : ndarray of shape (n_topics,)
        Dirichlet prior of topic proportions.
    generator : numpy.random.Generator
    """
    variations, shares = np.full(topics.n_topics, -np.inf), np.zeros((topics.n_topics, topics.n_words))
    for topic, (words, counts) in enumerate(_counts_of_topics(topics, documents, prior)):
        if counts.shape[0] < 2:
            continue
        total = np.asarray(counts.sum(axis=0)).ravel()
        mean = (total / total.sum())[:, None]
        residual = Residual.of(counts, np.ones((counts.shape[0], 1)), mean, generator)
        variations[topic] = residual.variation
        second = np.asarray(counts[residual.of_documents > 0.0].sum(axis=0)).ravel()
        share = float(np.clip(second.sum() / total.sum(), 0.01, 0.99))
        odds = (second + share) / (total - second + 1.0 - share) * (1.0 - share) / share
        shares[topic] = share
        shares[topic, words] = share * odds**SHARPNESS / (share * odds**SHARPNESS + 1.0 - share)
    seen = variations[np.isfinite(variations)]
    if not len(seen):
        return HalvedTopics(np.empty(0, np.intp), shares[:0])
    limit = np.median(seen) + MIXED * np.median(np.abs(seen - np.median(seen)))
    mixed = np.argsort(-variations, kind="stable")[: max(int(MOST_HALVED * topics.n_topics), 1)]
    mixed = mixed[variations[mixed] > limit]
    return HalvedTopics(mixed, shares[mixed])


def words_of_missing(
    topics: Topics, documents: sparse.csr_matrix, prior: NDArray, generator: np.random.Generator
) -> NDArray | None:
    """Word counts (n_words,) of documents that share words that no topic explains; None if there are no such documents.

    Parameters
    ----------
    topics : Topics
    documents : csr_matrix of shape (n_documents, n_words)
        Of many, some are used.
    prior : ndarray of shape (n_topics,)
    generator : numpy.random.Generator
    """
    step, words, _ = fitted_sample(topics, documents, prior)
    filled = np.flatnonzero(np.diff(step.documents.indptr))
    if not len(filled):
        return None
    some, gamma = step.documents[filled], step.gamma[filled].astype(np.float64)
    residual = Residual.of(some, gamma / gamma.sum(axis=1, keepdims=True), words.astype(np.float64), generator)
    if residual.skewness < SKEWED:
        return None
    members = np.argsort(-residual.of_documents, kind="stable")[:DOCUMENTS_OF_MISSING]
    counts = np.zeros(topics.n_words, topics.table.dtype)
    counts[step.words] = np.asarray(some[members].sum(axis=0)).ravel()
    return counts


def _counts_of_topics(topics, documents, prior):
    """Of each topic, the words of the sample and the expected counts of those that are likely to be of the topic."""
    step, words, _ = fitted_sample(topics, documents, prior)
    narrow = step.documents
    rows, columns = np.repeat(np.arange(narrow.shape[0]), np.diff(narrow.indptr)), narrow.indices
    by_topic, by_word = np.ascontiguousarray(step.gamma.T), np.ascontiguousarray(words.T)
    total = np.zeros(len(rows), by_word.dtype)
    for own, weights in zip(by_topic, by_word, strict=True):
        total += own[rows] * weights[columns]
    for own, weights in zip(by_topic, by_word, strict=True):
        share = own[rows] * weights[columns] / total
        likely = np.flatnonzero(share > LEAST_SHARE)
        expected = (narrow.data[likely] * share[likely]).astype(np.float64)
        counts = sparse.csr_matrix((expected, (rows[likely], columns[likely])), shape=narrow.shape)
        yield step.words, counts[np.asarray(counts.sum(axis=1)).ravel() >= FEWEST_TOKENS]
