"""TopicsDisplay: the words of topics as bars, their sizes, and their prevalence in groups of documents or over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.style import axes_for
from sklearn_subanneal.plotting.topic_cells import CellGrid, CellWriter
from sklearn_subanneal.topics import Prevalence, topic_prevalence
from sklearn_subanneal.topics.described_topics import DescribedTopics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More labels than these are not read in a cell.
_MOST_LABELS = 20


class TopicsDisplay:
    """Topics as cells of words, the largest first, so that they can be read without code.

    A cell has the number of the topic and its share of the tokens, which the dark line below shows too, relative to
    the largest topic, the expected number of documents, and the top words with their probabilities. Bars are
    proportional to the probabilities within a topic. Below may be the prevalence of the topic, the mean of its
    proportions in groups of documents (points) or over time (a curve), with one standard error to either side.

    Made by :meth:`from_estimator` or :meth:`from_arrays`.

    Parameters
    ----------
    words : ndarray of shape (n_topics, n_words)
        The words of every topic, the most relevant first.
    probabilities : ndarray of shape (n_topics, n_words)
        Their probabilities in the topic.
    topics : ndarray of shape (n_topics,)
        The numbers of the topics.
    shares : ndarray of shape (n_topics,), default=None
        Share of the tokens that each topic has.
    n_documents : ndarray of shape (n_topics,), default=None
        Expected number of documents of each topic: the sum of its proportions.
    prevalence : Prevalence, default=None
        Of these topics, as of :func:`~sklearn_subanneal.topics.topic_prevalence`.
    n_topics_in_all : int, default=None
        How many topics there are, if some are not shown.

    Attributes
    ----------
    headers_ : list of matplotlib Text
        The number of every topic.
    sizes_ : list of matplotlib Text
        Its share of the tokens and its expected number of documents, as far as they are known.
    bars_ : list of matplotlib BarContainer
        The bars of every topic, all relative to that of its most probable word.
    texts_ : list of list of matplotlib Text
        The words on them, shortened if they are too long.
    prevalence_axes_ : list of matplotlib Axes
        The axes with the prevalence of every topic; empty if there is none.
    ax_ : matplotlib Axes
        The axes with the cells.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingLDA
    >>> from sklearn_subanneal.plotting import TopicsDisplay
    >>> X = np.kron(np.eye(2, dtype=int), np.full((30, 3), 2)) + np.array([2, 0, 0, 0, 0, 0])
    >>> model = VariationalTemperingLDA(n_components=2, random_state=0).fit(X)
    >>> display = TopicsDisplay.from_estimator(model, X, n_words=2, feature_names=list("abcdef"))
    >>> display.words.shape, str(display.words[0, 0])
    ((2, 2), 'a')
    >>> display.n_documents.round()
    array([30., 30.])
    """

    def __init__(
        self,
        words: NDArray,
        probabilities: NDArray,
        topics: NDArray,
        shares: NDArray | None = None,
        *,
        n_documents: NDArray | None = None,
        prevalence: Prevalence | None = None,
        n_topics_in_all: int | None = None,
    ) -> None:
        self.words = words
        self.probabilities = probabilities
        self.topics = topics
        self.shares = shares
        self.n_documents = n_documents
        self.prevalence = prevalence
        self.n_topics_in_all = n_topics_in_all

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike | None = None,
        *,
        n_words: int = 10,
        max_topics: int | None = 12,
        feature_names: ArrayLike | None = None,
        relevance_weight: float = 1.0,
        groups: ArrayLike | None = None,
        period: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> TopicsDisplay:
        """Plot the topics of a fitted model, those with most tokens first.

        Parameters
        ----------
        estimator : fitted estimator or Pipeline
            A :class:`~sklearn_subanneal.VariationalTemperingLDA`, scikit-learn's ``LatentDirichletAllocation``, or a
            pipeline that ends in one of them.
        X : array-like, sparse matrix, or texts for a pipeline that takes them; default=None
            Documents, from which sizes and prevalence are computed. None: sizes are those of the training documents,
            tokens only.
        n_words : int, default=10
            How many words of each topic to show.
        max_topics : int or None, default=12
            How many of the largest topics to show; None: all.
        feature_names : array-like of shape (n_features,), default=None
            The words; None takes those of the pipeline's vectorizer, the column names of the training documents, or
            the numbers of the words.
        relevance_weight : float, default=1.0
            1 shows the most probable words. Less, such as 0.6, prefers words that tell topics apart; see
            :func:`~sklearn_subanneal.topics.relevance`. Bars show probabilities in any case.
        groups : array-like of shape (n_documents,), default=None
            A label, number or date of each document of X, for the prevalence of topics; see
            :func:`~sklearn_subanneal.topics.topic_prevalence`.
        period : {"day", "week", "month", "quarter", "year"}, default=None
            The period of dates; None chooses one.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure, as large as the topics need.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        TopicsDisplay

        Raises
        ------
        ValueError
            If the estimator is not fitted, the names are not those of its features, or a parameter is not as
            described.
        """
        if groups is not None and X is None:
            raise ValueError("groups are those of documents: pass X, the documents, too.")
        topics = DescribedTopics.of_estimator(estimator, X, feature_names)
        display = cls._of_topics(topics, n_words, max_topics, relevance_weight, groups, period)
        return display.plot(ax, **kwargs)

    @classmethod
    def from_arrays(
        cls,
        probabilities: ArrayLike,
        proportions: ArrayLike | None = None,
        *,
        lengths: ArrayLike | None = None,
        n_words: int = 10,
        max_topics: int | None = 12,
        feature_names: ArrayLike | None = None,
        relevance_weight: float = 1.0,
        groups: ArrayLike | None = None,
        period: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> TopicsDisplay:
        """Plot topics that are given as arrays, those of any package.

        Parameters
        ----------
        probabilities : array-like of shape (n_topics, n_features)
            Weights of the words; each topic is divided by its sum.
        proportions : array-like of shape (n_documents, n_topics), default=None
            Weights of the topics in documents; each document is divided by its sum. None: sizes are not shown, and
            topics keep their order.
        lengths : array-like of shape (n_documents,), default=None
            Numbers of tokens, by which documents count in the shares of topics; None: all the same.
        n_words, max_topics, feature_names, relevance_weight, groups, period, ax, **kwargs
            As of :meth:`from_estimator`.

        Returns
        -------
        TopicsDisplay

        Raises
        ------
        ValueError
            If the shapes do not agree, weights are negative or all zero, or a parameter is not as described.

        Examples
        --------
        >>> from sklearn_subanneal.plotting import TopicsDisplay
        >>> display = TopicsDisplay.from_arrays(
        ...     [[0.1, 0.9], [0.8, 0.2]], [[0.3, 0.7], [0.4, 0.6]], feature_names=["cat", "bond"], n_words=1
        ... )
        >>> display.topics.tolist(), display.words[:, 0].tolist(), display.shares.round(2).tolist()
        ([1, 0], ['cat', 'bond'], [0.65, 0.35])
        """
        if groups is not None and proportions is None:
            raise ValueError("groups are those of documents: pass proportions, the documents' weights of topics, too.")
        topics = DescribedTopics.of_arrays(probabilities, feature_names, proportions, lengths)
        display = cls._of_topics(topics, n_words, max_topics, relevance_weight, groups, period)
        return display.plot(ax, **kwargs)

    @classmethod
    def _of_topics(cls, described, n_words, max_topics, relevance_weight, groups, period) -> TopicsDisplay:
        if max_topics is not None and max_topics < 1:
            raise ValueError(f"max_topics must be at least 1, or None for all, got {max_topics}.")
        topics = described.largest()[:max_topics]
        words = described.top_words(n_words, relevance_weight)[topics]
        known = described.proportions is not None
        prevalence = None
        if groups is not None:
            prevalence = topic_prevalence(described.proportions[:, topics], groups, period=period)
            n_groups = len(prevalence.groups)
            if n_groups > _MOST_LABELS and not prevalence.is_continuous:
                raise ValueError(
                    f"groups must be at most {_MOST_LABELS} labels, got {n_groups}; merge the rare ones, or use "
                    "topic_prevalence for a table of all."
                )
        elif period is not None:
            raise ValueError(f"period={period!r} needs groups, the date of each document.")
        return cls(
            described.names[words],
            described.probabilities[topics[:, None], words],
            topics,
            None if described.shares is None else described.shares[topics],
            n_documents=described.n_documents[topics] if known else None,
            prevalence=prevalence,
            n_topics_in_all=len(described.probabilities),
        )

    def plot(self, ax: Axes | None = None, *, n_columns: int | None = None, **bar_kw: Any) -> TopicsDisplay:
        """Draw the cells.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure, as large as the topics need.
        n_columns : int, default=None
            Topics side by side; None makes the whole somewhat wider than high.
        **bar_kw
            Passed to :meth:`matplotlib.axes.Axes.barh` for the bars of the words.

        Returns
        -------
        TopicsDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `n_columns` is not positive.
        """
        if n_columns is not None and n_columns < 1:
            raise ValueError(f"n_columns must be at least 1, got {n_columns}.")
        is_new, ax = ax is None, axes_for(self, ax)
        grid = CellGrid.of(*self.words.shape, self.prevalence, n_columns)
        grid.fit(ax, self._note(), is_new)
        writer = CellWriter(ax, grid)
        self.headers_, self.sizes_, self.bars_, self.texts_, self.prevalence_axes_ = [], [], [], [], []
        for number, topic in enumerate(self.topics):
            sizes, relative = [], 0.0
            if self.shares is not None:
                sizes, relative = [f"{self.shares[number]:.1%}"], self.shares[number] / self.shares.max()
            if self.n_documents is not None:
                sizes.append(f"{self.n_documents[number]:,.0f} docs")
            title, detail = writer.heading(number, f"Topic {topic}", " · ".join(sizes), relative)
            self.headers_.append(title)
            self.sizes_.append(detail)
            bars, texts = writer.words(number, self.words[number], self.probabilities[number], bar_kw)
            self.bars_.append(bars)
            self.texts_.append(texts)
            if self.prevalence is not None:
                self.prevalence_axes_.append(writer.prevalence(number, self.prevalence, number))
        return self

    def _note(self) -> str:
        """What the numbers in the cells are."""
        parts = []
        if self.n_topics_in_all is not None and self.n_topics_in_all > len(self.topics):
            parts.append(f"The {len(self.topics)} largest of {self.n_topics_in_all} topics.")
        sizes = ["share of the tokens"] * (self.shares is not None)
        sizes += ["expected number of documents"] * (self.n_documents is not None)
        if sizes:
            parts.append(f"Above each line: {', '.join(sizes)}.")
        parts.append("Beside each word: its probability in the topic.")
        if self.prevalence is not None:
            those = f"of each {self.prevalence.period or 'group'}"
            parts.append(f"Below: mean share of the topic in the documents {those}, ± its standard error.")
        return " ".join(parts)
