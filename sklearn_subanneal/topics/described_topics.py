"""DescribedTopics: the topics of any fitted model with the names of their words, their sizes, and their documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from sklearn_subanneal.topics import topic_scores
from sklearn_subanneal.topics.word_relevance import relevance


@dataclass(frozen=True, eq=False)
class DescribedTopics:
    """Topics, and what is known of them; by :meth:`of_estimator` or :meth:`of_arrays`.

    Attributes
    ----------
    probabilities : ndarray of shape (n_topics, n_words)
        Of the words in each topic.
    names : ndarray of shape (n_words,)
        The words, or their numbers.
    shares : ndarray of shape (n_topics,) or None
        Share of the tokens that each topic has.
    proportions : ndarray of float64, shape (n_documents, n_topics), or None
        Topic proportions of documents.
    counts : {ndarray, sparse matrix} of shape (n_documents, n_words) or None
        The words of these documents.
    """

    probabilities: NDArray
    names: NDArray
    shares: NDArray | None = None
    proportions: NDArray | None = None
    counts: object = None

    @classmethod
    def of_estimator(cls, estimator, X=None, feature_names: ArrayLike | None = None) -> DescribedTopics:
        """Topics of a fitted estimator, or of a pipeline that ends in one.

        Parameters
        ----------
        estimator : fitted estimator or Pipeline
            With ``topic_word_``, or with ``components_`` that are word weights, and ``transform``.
        X : array-like, sparse matrix, or texts if the pipeline takes them; default=None
            Documents. With them, the size of a topic is the mean of its proportions, weighted by the lengths of the
            documents; without, its share of the sum of ``components_``.
        feature_names : array-like of shape (n_words,), default=None
            None: those that the first steps of the pipeline or the estimator have, or else numbers.

        Raises
        ------
        ValueError
            If the estimator is not fitted or has no topics, or the names are not those of its features.
        """
        before, model = (estimator[:-1], estimator[-1]) if isinstance(estimator, Pipeline) else ((), estimator)
        probabilities = getattr(model, "topic_word_", None)
        weights = getattr(model, "components_", None)
        if weights is None:
            raise ValueError(
                f"estimator must have topic_word_, or components_ of word weights; {type(model).__name__} has neither: "
                "fit it first"
            )
        if probabilities is None:
            probabilities = weights / weights.sum(axis=1, keepdims=True)
        if feature_names is None:
            named = len(before) and hasattr(before, "get_feature_names_out")
            feature_names = before.get_feature_names_out() if named else getattr(model, "feature_names_in_", None)
        names = _names(feature_names, probabilities.shape[1])
        if X is None:
            sizes = weights.sum(axis=1, dtype=np.float64)
            return cls(probabilities, names, sizes / sizes.sum())
        given = before.transform(X) if len(before) else X
        counts = check_array(given, accept_sparse="csr", input_name="X")
        proportions = np.asarray(model.transform(given), dtype=np.float64)
        lengths = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
        return cls(probabilities, names, _token_shares(proportions, lengths), proportions, counts)

    @classmethod
    def of_arrays(
        cls,
        probabilities: ArrayLike,
        feature_names: ArrayLike | None = None,
        proportions: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> DescribedTopics:
        """Topics and topic proportions as arrays, those of any package.

        Parameters
        ----------
        probabilities : array-like of shape (n_topics, n_words)
            Weights of the words, not negative; each topic is divided by its sum.
        feature_names : array-like of shape (n_words,), default=None
            None: numbers.
        proportions : array-like of shape (n_documents, n_topics), default=None
            Weights of the topics, not negative; each document is divided by its sum.
        lengths : array-like of shape (n_documents,), default=None
            Tokens of the documents; None: all have the same number.

        Raises
        ------
        ValueError
            If the shapes do not agree, or a row has negative weights or none.
        """
        probabilities = _distributions(probabilities, "probabilities")
        names = _names(feature_names, probabilities.shape[1])
        if proportions is None:
            return cls(probabilities, names)
        proportions = _distributions(proportions, "proportions")
        n_documents, n_topics = proportions.shape
        if n_topics != len(probabilities):
            raise ValueError(
                f"proportions must have a column for each of {len(probabilities)} topics, got {n_topics}; give "
                "documents as rows"
            )
        lengths = np.ones(n_documents) if lengths is None else np.asarray(lengths, dtype=np.float64)
        if lengths.shape != (n_documents,):
            raise ValueError(f"lengths must have shape ({n_documents},), one for each document, got {lengths.shape}")
        return cls(probabilities, names, _token_shares(proportions, lengths), proportions)

    @property
    def n_documents(self) -> NDArray | None:
        """Expected number of documents of each topic, the sum of its proportions; None without documents."""
        return None if self.proportions is None else self.proportions.sum(axis=0)

    def largest(self) -> NDArray:
        """Numbers of the topics, those with most tokens first; in their own order if sizes are not known."""
        n_topics = len(self.probabilities)
        return np.arange(n_topics) if self.shares is None else np.argsort(-self.shares, kind="stable")

    def top_words(self, n_words: int, relevance_weight: float = 1.0) -> NDArray:
        """Numbers of the most relevant words of each topic, (n_topics, n_words), the most relevant first."""
        ranked = relevance(self.probabilities, relevance_weight, shares=self.shares)
        return topic_scores.top_words(ranked, n_words)


def _names(feature_names, n_words) -> NDArray:
    if feature_names is None:
        return np.arange(n_words)
    names = np.asarray(feature_names)
    if names.shape != (n_words,):
        raise ValueError(
            f"feature_names must have shape ({n_words},), a name for each feature, got {names.shape}; pass those of "
            "the vectorizer, get_feature_names_out()"
        )
    return names


def _token_shares(proportions, lengths) -> NDArray:
    if not lengths.sum() > 0.0:
        raise ValueError(f"{len(lengths)} documents have no words: give documents with words of the vocabulary")
    return lengths @ proportions / lengths.sum()


def _distributions(weights, name) -> NDArray:
    weights = check_array(weights, dtype=np.float64, input_name=name)
    sums = weights.sum(axis=1, keepdims=True)
    if weights.min() < 0.0 or not sums.min() > 0.0:
        wrong = int(np.argmax((weights.min(axis=1) < 0.0) | (sums[:, 0] <= 0.0)))
        raise ValueError(
            f"{name} must be weights, not negative and not all zero in a row; row {wrong} is not: give probabilities"
        )
    return weights / sums
