"""Topics, their summary and the topic proportions of documents as pandas DataFrames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_subanneal.topics import measures
from sklearn_subanneal.topics.described_topics import DescribedTopics


def topics_to_frame(
    estimator, feature_names: ArrayLike | None = None, n_words: int = 10, *, relevance_weight: float = 1.0
):
    """The top words of each topic with their probabilities, one row for each.

    ``frame.pivot(index="rank", columns="topic", values="word")`` has a column of words for each topic.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        A :class:`~sklearn_subanneal.VariationalTemperingLDA`, scikit-learn's ``LatentDirichletAllocation``, or a
        pipeline that ends in one of them.
    feature_names : array-like of shape (n_features,), default=None
        The words. None: those of the pipeline's vectorizer, the column names of the training documents, or numbers.
    n_words : int, default=10
    relevance_weight : float, default=1.0
        1 ranks words by probability; less, down to 0, prefers words that tell topics apart. See
        :func:`~sklearn_subanneal.topics.relevance`.

    Returns
    -------
    frame : pandas DataFrame of shape (n_topics * n_words, 4)
        With the columns "topic" (its number in the model), "rank" (from 1), "word" and "probability".

    Raises
    ------
    ImportError
        If pandas is not installed.
    ValueError
        If the estimator is not fitted, or a parameter is not as described.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn_subanneal import VariationalTemperingLDA
    >>> from sklearn_subanneal.topics import topics_to_frame
    >>> texts = 20 * ["dog cat dog dog cat", "stock bond stock bond stock"]
    >>> lda = VariationalTemperingLDA(n_components=2, random_state=0)
    >>> frame = topics_to_frame(make_pipeline(CountVectorizer(), lda).fit(texts), n_words=1)
    >>> frame.columns.tolist(), sorted(frame["word"])
    (['topic', 'rank', 'word', 'probability'], ['dog', 'stock'])
    """
    pd = _pandas("topics_to_frame")
    topics = DescribedTopics.of_estimator(estimator, feature_names=feature_names)
    words = topics.top_words(n_words, relevance_weight)
    n_topics, n_words = words.shape
    return pd.DataFrame(
        {
            "topic": np.repeat(np.arange(n_topics), n_words),
            "rank": np.tile(np.arange(1, n_words + 1), n_topics),
            "word": topics.names[words.ravel()],
            "probability": np.take_along_axis(topics.probabilities, words, axis=1).ravel(),
        }
    )


def topic_summary(
    estimator,
    X=None,
    feature_names: ArrayLike | None = None,
    n_words: int = 10,
    *,
    relevance_weight: float = 1.0,
    coherence: str | None = None,
):
    """One row for each topic: its size, its top words and, if asked for, their coherence; the largest topics first.

    Parameters
    ----------
    estimator, feature_names, n_words, relevance_weight
        As of :func:`topics_to_frame`.
    X : array-like, sparse matrix, or texts for a pipeline that takes them; default=None
        Documents, of which sizes are computed. None: sizes are those of the training documents, tokens only.
    coherence : {"npmi", "c_v", "u_mass"} or None, default=None
        The coherence of the words shown, by the documents ``X``; see
        :func:`~sklearn_subanneal.topics.measures.coherence`.

    Returns
    -------
    frame : pandas DataFrame, indexed by the number of the topic
        With the columns "token_share" (from 0 to 1), "n_documents" (expected number of documents, the sum of the
        topic's proportions; only with ``X``), "words" (joined by spaces) and "coherence" (if asked for).

    Raises
    ------
    ImportError
        If pandas is not installed.
    ValueError
        If the estimator is not fitted, or a parameter is not as described.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingLDA
    >>> from sklearn_subanneal.topics import topic_summary
    >>> X = np.kron(np.eye(2, dtype=int), np.full((30, 3), 2))
    >>> lda = VariationalTemperingLDA(n_components=2, random_state=0).fit(X)
    >>> frame = topic_summary(lda, X, list("abcdef"), n_words=3, coherence="npmi")
    >>> frame["n_documents"].round().tolist(), frame.columns.tolist()
    ([30.0, 30.0], ['token_share', 'n_documents', 'words', 'coherence'])
    """
    pd = _pandas("topic_summary")
    if coherence is not None and X is None:
        raise ValueError(f"coherence={coherence!r} needs documents: pass X")
    topics = DescribedTopics.of_estimator(estimator, X, feature_names)
    words = topics.top_words(n_words, relevance_weight)
    columns = {"token_share": topics.shares}
    if X is not None:
        columns["n_documents"] = topics.n_documents
    columns["words"] = [" ".join(map(str, own)) for own in topics.names[words]]
    if coherence is not None:
        columns["coherence"] = measures.coherence(words, topics.counts, coherence)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(words), name="topic")).iloc[topics.largest()]


def document_shares(estimator, X, *, index=None) -> Any:
    """Topic proportions of documents, with the index of the documents.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        As of :func:`topics_to_frame`.
    X : array-like, sparse matrix, DataFrame, or Series of texts for a pipeline that takes them
        Documents.
    index : pandas Index or sequence of length n_documents, default=None
        Names of the documents. None: the index of X if it is of pandas, or else numbers.

    Returns
    -------
    frame : pandas DataFrame of shape (n_documents, n_topics)
        Rows sum to 1; columns are the numbers of the topics.

    Raises
    ------
    ImportError
        If pandas is not installed.
    ValueError
        If the estimator is not fitted, or ``index`` has not one entry for each document.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingLDA
    >>> from sklearn_subanneal.topics import document_shares
    >>> X = np.kron(np.eye(2, dtype=int), np.full((2, 3), 9))
    >>> lda = VariationalTemperingLDA(n_components=2, random_state=0).fit(X)
    >>> frame = document_shares(lda, X, index=["a", "b", "c", "d"])
    >>> frame.loc["d"].round(1).max()
    np.float64(1.0)
    """
    pd = _pandas("document_shares")
    if index is None and isinstance(X, (pd.Series, pd.DataFrame)):
        index = X.index
    shares = DescribedTopics.of_estimator(estimator, X).proportions
    if index is not None and len(index) != len(shares):
        raise ValueError(f"index must have an entry for each of {len(shares)} documents, got {len(index)}")
    return pd.DataFrame(shares, index=index, columns=pd.RangeIndex(shares.shape[1], name="topic"))


def _pandas(caller: str):
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{caller} needs pandas: pip install pandas.") from error
    return pd
