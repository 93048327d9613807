"""Relevance of words to topics: a compromise between their probability in the topic and their lift."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray


def relevance(topics: ArrayLike, weight: float = 0.6, *, shares: ArrayLike | None = None) -> NDArray:
    """Relevance of each word to each topic, ``weight * log p(w | k) + (1 - weight) * log(p(w | k) / p(w))``.

    With a weight of 1 words rank by their probability in the topic, so that words which are frequent everywhere are at
    the top of many topics. With 0 they rank by *lift*, how much more probable they are in the topic than in the corpus,
    so that rare words are at the top.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words)
        Probabilities of the words, p(w | k).
    weight : float, default=0.6
        From 0 to 1; called lambda in the paper, where readers recognised topics best with 0.6.
    shares : array-like of shape (n_topics,) or None, default=None
        Shares of the tokens that topics have; the corpus has the word probabilities p(w) = sum_k share_k p(w | k).
        None: all topics have the same.

    Returns
    -------
    relevances : ndarray of float64, shape (n_topics, n_words)
        -inf for words of probability 0.

    Raises
    ------
    ValueError
        If the weight is not in [0, 1], or there is not one share for each topic.

    References
    ----------
    C. Sievert, K. Shirley (2014), LDAvis: a method for visualizing and interpreting topics, Workshop on interactive
    language learning, visualization, and interfaces, ACL; equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics import relevance
    >>> topics = [[0.5, 0.4, 0.1], [0.5, 0.1, 0.4]]
    >>> np.argmax(relevance(topics, 1.0), axis=1), np.argmax(relevance(topics, 0.5), axis=1)
    (array([0, 0]), array([1, 2]))
    """
    if isinstance(weight, bool) or not isinstance(weight, Real) or not 0.0 <= weight <= 1.0:
        raise ValueError(
            f"The weight of relevance must be from 0 to 1, got {weight!r}; 1 ranks words by probability, 0.6 prefers "
            "those that tell topics apart"
        )
    topics = np.asarray(topics, dtype=np.float64)
    n_topics = len(topics)
    shares = np.full(n_topics, 1.0 / n_topics) if shares is None else np.asarray(shares, dtype=np.float64)
    if shares.shape != (n_topics,):
        raise ValueError(f"shares must have shape ({n_topics},), one for each topic, got {shares.shape}")
    with np.errstate(divide="ignore"):
        relevances = np.log(topics)
        if weight < 1.0:
            # A word that no topic with tokens has is not in the corpus.
            corpus = shares / shares.sum() @ topics
            relevances -= (1.0 - weight) * np.log(np.where(corpus > 0.0, corpus, 1.0))
    return relevances
