"""Which topics are nearly the same: affinities of topics, and twins."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Two topics with a larger affinity are twins.
TWIN_AFFINITY = 0.8


def affinities(topics: ArrayLike, others: ArrayLike | None = None) -> NDArray:
    """Bhattacharyya affinity of topics: the sum over words of the square root of p(word | topic) p(word | other topic).

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words)
        Weights of the words, not negative; each topic is divided by its sum.
    others : array-like of shape (n_others, n_words) or None, default=None
        None: ``topics``.

    Returns
    -------
    affinities : ndarray of shape (n_topics, n_others)
        From 0, no word in common, to 1, equal.

    References
    ----------
    A. Bhattacharyya (1943), On a measure of divergence between two statistical populations defined by their probability
    distributions, Bulletin of the Calcutta Mathematical Society 35.

    Examples
    --------
    >>> from sklearn_subanneal.topics.measures import affinities
    >>> affinities([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    roots = [_roots(given) for given in (topics, topics if others is None else others)]
    if roots[0].shape[1] != roots[1].shape[1]:
        raise ValueError(
            f"others must have the words of topics, {roots[0].shape[1]}, got {roots[1].shape[1]}; give both the same "
            "vocabulary"
        )
    return roots[0] @ roots[1].T


def twin_pairs(topics: ArrayLike, threshold: float = TWIN_AFFINITY) -> NDArray:
    """Pairs of topics with an affinity above the threshold, the most similar ones first, each topic in at most one.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words)
    threshold : float, default=0.8

    Returns
    -------
    pairs : ndarray of int, shape (n_pairs, 2)
    """
    upper = np.triu(affinities(topics), 1)
    pairs, used = [], set()
    for pair in np.argwhere(upper > threshold)[np.argsort(-upper[upper > threshold], kind="stable")].tolist():
        if used.isdisjoint(pair):
            pairs.append(pair)
            used.update(pair)
    return np.array(pairs, np.intp).reshape(-1, 2)


def n_twins(topics: ArrayLike, threshold: float = TWIN_AFFINITY) -> int:
    """Number of topics that have a twin: another topic to which their affinity is above the threshold.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words)
    threshold : float, default=0.8

    Returns
    -------
    n : int

    Examples
    --------
    >>> from sklearn_subanneal.topics.measures import n_twins
    >>> n_twins([[5.0, 5.0, 0.0], [4.0, 6.0, 0.0], [0.0, 0.0, 1.0]])
    2
    """
    similar = affinities(topics) > threshold
    np.fill_diagonal(similar, False)
    return int(similar.any(axis=1).sum())


def _roots(topics: ArrayLike) -> NDArray:
    """Square roots of the probabilities of words."""
    topics = np.asarray(topics)
    if topics.ndim != 2 or not np.isfinite(topics).all() or (topics < 0.0).any():
        raise ValueError(
            "topics must be weights of words that are finite and not negative, of shape (n_topics, n_words); pass "
            "topic_word_ or components_"
        )
    sums = topics.sum(axis=1, keepdims=True)
    return np.sqrt(topics / np.where(sums > 0.0, sums, 1.0))
