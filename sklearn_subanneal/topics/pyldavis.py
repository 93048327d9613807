"""The arguments of pyLDAvis, which makes an interactive page of topics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_subanneal.topics.described_topics import DescribedTopics


def to_pyldavis(estimator, X, feature_names: ArrayLike | None = None) -> dict:
    """Arguments of ``pyLDAvis.prepare``: ``pyLDAvis.prepare(**to_pyldavis(estimator, X, feature_names))``.

    By default pyLDAvis numbers topics from 1, by size; with ``sort_topics=False, start_index=0`` they have the numbers
    that they have in the model. pyLDAvis need not be installed to make the arguments.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        A :class:`~sklearn_subanneal.VariationalTemperingLDA`, scikit-learn's ``LatentDirichletAllocation``, or a
        pipeline that ends in one of them.
    X : array-like, sparse matrix, or texts for a pipeline that takes them
        The training documents, or others.
    feature_names : array-like of shape (n_features,), default=None
        The words. None: those of the pipeline's vectorizer, the column names of the training documents, or numbers.

    Returns
    -------
    arguments : dict
        "topic_term_dists", ndarray of shape (n_topics, n_features); "doc_topic_dists", ndarray of shape
        (n_documents, n_topics); "doc_lengths", tokens, ndarray of shape (n_documents,); "vocab", list of str; and
        "term_frequency", occurrences in X, ndarray of shape (n_features,). Rows of the first two sum to 1.

    Raises
    ------
    ValueError
        If the estimator is not fitted, has a single topic (pyLDAvis draws distances between topics), X has no words, or
        the names are not those of its features.

    References
    ----------
    C. Sievert, K. Shirley (2014), LDAvis: a method for visualizing and interpreting topics, Workshop on interactive
    language learning, visualization, and interfaces, ACL.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingLDA
    >>> from sklearn_subanneal.topics import to_pyldavis
    >>> X = np.kron(np.eye(2, dtype=int), np.full((30, 3), 2))
    >>> lda = VariationalTemperingLDA(n_components=2, random_state=0).fit(X)
    >>> arguments = to_pyldavis(lda, X, list("abcdef"))
    >>> arguments["topic_term_dists"].shape, arguments["doc_topic_dists"].shape, arguments["vocab"]
    ((2, 6), (60, 2), ['a', 'b', 'c', 'd', 'e', 'f'])
    """
    topics = DescribedTopics.of_estimator(estimator, X, feature_names)
    if len(topics.probabilities) < 2:
        raise ValueError(
            "estimator must have at least 2 topics for pyLDAvis, which draws distances between them, got 1; use "
            "TopicsDisplay"
        )
    return {
        "topic_term_dists": _normalised(topics.probabilities),
        "doc_topic_dists": _normalised(topics.proportions),
        "doc_lengths": _sums(topics.counts, axis=1),
        "vocab": [str(name) for name in topics.names],
        "term_frequency": _sums(topics.counts, axis=0),
    }


def _normalised(rows):
    rows = rows.astype(np.float64)
    return rows / rows.sum(axis=1, keepdims=True)


def _sums(counts, axis):
    return np.asarray(counts.sum(axis=axis, dtype=np.float64)).ravel()
