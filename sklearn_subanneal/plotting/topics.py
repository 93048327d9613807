"""TopicsDisplay: the most probable words of topics as bar charts."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.style import BAR_COLOR, DARK, axes_for, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES_PER_TOPIC, _INCHES_PER_WORD = 1.3, 0.2
_BAR = 0.92


class TopicsDisplay:
    """The most probable words of topics, one column for each topic; lengths of bars are proportional to probabilities.

    Made by :meth:`from_estimator`.

    Parameters
    ----------
    words : ndarray of shape (n_topics, n_words)
        The words of every topic, the most probable first.
    probabilities : ndarray of shape (n_topics, n_words)
        Their probabilities in the topic.
    topics : ndarray of shape (n_topics,)
        The numbers of the topics.
    shares : ndarray of shape (n_topics,), default=None
        Share of the tokens that each topic has.

    Attributes
    ----------
    bars_ : list of matplotlib BarContainer
        The bars of every topic; that of its most probable word fills the column.
    texts_ : list of list of matplotlib Text
        The words on them.
    ax_ : matplotlib Axes
        The axes with the bars.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingLDA
    >>> from sklearn_subanneal.plotting import TopicsDisplay
    >>> X = np.kron(np.eye(2, dtype=int), np.full((30, 3), 2)) + np.array([2, 0, 0, 0, 0, 0])
    >>> model = VariationalTemperingLDA(n_components=2, random_state=0).fit(X)
    >>> display = TopicsDisplay.from_estimator(model, n_words=2, feature_names=list("abcdef"))
    >>> display.words.shape, str(display.words[0, 0])
    ((2, 2), 'a')
    """

    def __init__(self, words: NDArray, probabilities: NDArray, topics: NDArray, shares: NDArray | None = None) -> None:
        self.words = words
        self.probabilities = probabilities
        self.topics = topics
        self.shares = shares

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        n_words: int = 10,
        max_topics: int = 12,
        feature_names: ArrayLike | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "TopicsDisplay":
        """Plot the topics of a fitted model, those with most tokens first.

        Parameters
        ----------
        estimator : fitted estimator
            A :class:`~sklearn_subanneal.VariationalTemperingLDA`.
        n_words : int, default=10
            How many words of each topic to show.
        max_topics : int, default=12
            How many of the largest topics to show.
        feature_names : array-like of shape (n_features,), default=None
            The words; None takes the column names of the training documents, or the numbers of the words.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure, as wide as the topics need.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        TopicsDisplay

        Raises
        ------
        ValueError
            If the estimator is not fitted, or the names are not those of its features.
        """
        if not hasattr(estimator, "topic_word_"):
            raise ValueError(f"estimator must have topic_word_, {type(estimator).__name__} has none; fit it first.")
        sizes = estimator.components_.sum(axis=1, dtype=np.float64)
        topics = np.argsort(-sizes, kind="stable")[:max_topics]
        words = estimator.top_words(n_words, feature_names)[topics]
        probabilities = -np.sort(-estimator.topic_word_, axis=1)[topics, :n_words]
        return cls(words, probabilities, topics, sizes[topics] / sizes.sum()).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **bar_kw: Any) -> "TopicsDisplay":
        """Draw the words and their bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure, as wide as the topics need.
        **bar_kw
            Passed to :meth:`matplotlib.axes.Axes.barh`.

        Returns
        -------
        TopicsDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        is_new, ax = ax is None, axes_for(self, ax)
        n_topics, n_words = self.words.shape
        if is_new:
            self.figure_.set_size_inches(1.0 + _INCHES_PER_TOPIC * n_topics, 0.8 + _INCHES_PER_WORD * n_words)
        ranks = np.arange(n_words)
        style = {"color": BAR_COLOR, "alpha": 0.5, "height": 0.85, **bar_kw}
        self.bars_, self.texts_ = [], []
        for column, (words, probabilities) in enumerate(zip(self.words, self.probabilities, strict=True)):
            self.bars_.append(ax.barh(ranks, _BAR * probabilities / probabilities[0], left=column, **style))
            self.texts_.append(
                [
                    ax.text(column + 0.03, rank, str(word), va="center", fontsize="small", color=DARK)
                    for rank, word in enumerate(words)
                ]
            )
        labels = [f"{topic}" for topic in self.topics]
        if self.shares is not None:
            labels = [f"{label}: {share:.1%}" for label, share in zip(labels, self.shares, strict=True)]
        ax.set_xticks(np.arange(n_topics) + _BAR / 2, labels)
        ax.xaxis.tick_top()
        ax.tick_params(length=0)
        ax.set(yticks=[], xlim=(0, n_topics), ylim=(n_words - 0.5, -0.5), xlabel="topics, those with most tokens first")
        tidy(ax, "top", "right", "bottom", "left")
        return self
