"""Topics: sufficient statistics of the words of each topic, with lazy decay, and the word weights that they give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import psi

from sklearn_subanneal.annealing.threads import share_tasks
from sklearn_subanneal.topics._word_tables import add_to_rows, word_weights

# Below this the common factor of the statistics is multiplied out, long before it could underflow.
SMALLEST_SCALE = 1e-12
# Tokens of a topic that starts later, as a share of those of a topic on average: it soon forgets a few.
MASS_OF_NEW = 0.25
# Words that a thread takes at a time, and that are transposed at a time.
WORDS_A_TASK = 1024


class Topics:
    """Statistics of the words of all topics, one row a word, and the weights that follow from them.

    The statistics S, expected counts of a word in a topic, are ``scale * table``: when all of them decay only ``scale``
    changes, so that a minibatch touches no other words than its own.

    Parameters
    ----------
    table : ndarray of shape (n_words, n_topics)
        Statistics without the prior; kept, and changed in place.
    prior : float or array-like of shape (n_words,)
        Parameter eta of the Dirichlet prior of each topic.
    update : {"plug-in", "variational"}
        Weight of a word in a topic: the mean (S + eta) / sum(S + eta), or exp(E[log beta]) under the Dirichlet
        distribution with parameter S + eta.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics.word_statistics import Topics
    >>> topics = Topics(np.array([[3.0, 0.0], [1.0, 0.0]]), prior=1.0, update="plug-in")
    >>> topics.means()
    array([[0.66666667, 0.33333333],
           [0.5       , 0.5       ]])
    >>> topics.blend(np.array([1]), np.array([[2.0, 6.0]]), step=0.5)
    >>> topics.pseudo_counts()
    array([[2.5, 2.5],
           [1. , 4. ]])
    """

    def __init__(self, table: NDArray, prior: ArrayLike, update: str):
        self.table = table
        self.prior = np.broadcast_to(np.asarray(prior, dtype=np.float64), len(table))
        self.update = update
        self.scale = 1.0
        self._kept: dict[str, NDArray] = {}
        self.recount()

    def __getstate__(self) -> dict:
        return {**vars(self), "_kept": {}}

    def get_state(self) -> dict:
        """The statistics as arrays and a number; the table is not copied."""
        return {"table": self.table, "scale": self.scale, "totals": self.totals}

    def with_state(self, state: dict) -> Topics:
        """Topics with the statistics that ``get_state`` gave, and the same prior and update."""
        topics = Topics(np.ascontiguousarray(state["table"]), self.prior, self.update)
        topics.scale, topics.totals = state["scale"], state["totals"]
        return topics

    @classmethod
    def start(cls, table: NDArray, prior: ArrayLike, update: str, dtype, generator) -> Topics:
        """Statistics (n_words, n_topics) times random numbers near 1, so that no two topics are equal."""
        table = np.ascontiguousarray(table, dtype=dtype)
        table *= generator.gamma(100.0, 0.01, table.shape)
        return cls(table, prior, update)

    @staticmethod
    def apart(groups: sparse.csr_matrix, n_tokens: float, own_words: float) -> NDArray:
        """Statistics to start from: a share of the words of a group of documents each, and else those of all groups.

        Parameters
        ----------
        groups : csr_matrix of shape (n_topics, n_words)
            Word counts of the groups; one may be empty.
        n_tokens : float
            Tokens of the corpus, in the statistics of all topics together.
        own_words : float
            Share of the words of the group.
        """
        total = np.asarray(groups.sum(axis=0), dtype=np.float64).ravel() + SMALLEST_SCALE
        return _mixed(groups, total, own_words) * (max(n_tokens, 1.0) / groups.shape[0])

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return self.table.shape[0]

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return self.table.shape[1]

    def recount(self) -> None:
        """Recompute the sum of the statistics of every topic, after ``table`` was changed from outside."""
        self.totals = self.scale * self.table.sum(axis=0, dtype=np.float64)
        self._kept.clear()

    def kept(self, name: str) -> NDArray:
        """An array of the topics, computed once and kept, not in pickles, until the statistics change.

        Parameters
        ----------
        name : {"pseudo_counts", "means", "exp_expected_logs"}
            The method that computes it.

        Returns
        -------
        array : ndarray of shape (n_topics, n_words)
            Read-only. It does not change with the statistics.
        """
        if name not in self._kept:
            array = getattr(self, name)()
            array.flags.writeable = False
            self._kept[name] = array
        return self._kept[name]

    def _masses(self) -> NDArray:
        """Parameters of each topic's Dirichlet distribution, summed over the words."""
        return self.totals + self.prior.sum()

    def _table(self, words: NDArray | None, rho: float | None, update: str, n_threads: int, dtype=None) -> NDArray:
        words = np.arange(self.n_words) if words is None else words
        out = np.empty((len(words), self.n_topics), self.table.dtype if dtype is None else dtype)
        prior, masses = self.prior[words], self._masses()

        def fill(some: slice) -> None:
            table, places = self.table, words[some]
            if table.dtype != out.dtype:
                table, places = table[places].astype(out.dtype), np.arange(len(places))
            word_weights(table, places, self.scale, prior[some], masses, update, rho, out[some])

        _by_words(fill, len(words), n_threads)
        return out

    def log_weights(self, words: NDArray | None = None, n_threads: int = 1, dtype=None) -> NDArray:
        """Log of the untempered weights.

        Parameters
        ----------
        words : ndarray of int, shape (n,), default=None
            Some words; None: all.
        n_threads : int, default=1
        dtype : dtype, default=None
            float32 or float64; None: that of the statistics.

        Returns
        -------
        log_weights : ndarray of shape (n, n_topics)
        """
        return self._table(words, None, self.update, n_threads, dtype)

    def relative_weights(
        self, words: NDArray | None = None, inverse_temperature: float = 1.0, n_threads: int = 1, dtype=None
    ) -> NDArray:
        """Weights to the power of the inverse temperature, up to a factor for each word; shape (n, n_topics).

        The factors cancel in the fit of documents, and keep the weights from being denormal.
        """
        return self._table(words, inverse_temperature, self.update, n_threads, dtype)

    def mean_weights(self, words: NDArray | None = None, n_threads: int = 1, dtype=None) -> NDArray:
        """Mean probabilities of some words, or all, under every topic.

        Parameters
        ----------
        words : ndarray of int, shape (n,), default=None
            Some words; None: all.
        n_threads : int, default=1
        dtype : dtype, default=None
            float32 or float64; None: that of the statistics.

        Returns
        -------
        weights : ndarray of shape (n, n_topics)
        """
        return self._table(words, 1.0, "plug-in", n_threads, dtype)

    def shares(self) -> NDArray:
        """Statistics divided by their sum, shape (n_words, n_topics)."""
        return self.table * self.table.dtype.type(self.scale / max(self.totals.sum(), SMALLEST_SCALE))

    def blend(
        self,
        words: NDArray | None,
        statistics: NDArray,
        step: float,
        ratio: float = 1.0,
        n_threads: int = 1,
        growth: float = 1.0,
    ) -> None:
        """Take a step from the statistics S towards those of a minibatch: (1 - step) growth S + step ratio S_batch.

        Parameters
        ----------
        words : ndarray of distinct int, shape (n,), or None
            The words of the minibatch, or None for all; the statistics of others are zero.
        statistics : ndarray of shape (n, n_topics)
        step : float
            In [0, 1].
        ratio : float, default=1.0
            Documents of the corpus for each document of the minibatch.
        n_threads : int, default=1
        growth : float, default=1.0
            Documents of the corpus for each one that the present statistics stand for.
        """
        self._kept.clear()
        kept = (1.0 - step) * growth
        if step >= 1.0:
            self.table[...], self.scale = 0.0, 1.0
        else:
            self.scale *= kept
            if self.scale < SMALLEST_SCALE:
                self.table *= self.table.dtype.type(self.scale)
                self.scale = 1.0
        words = np.arange(self.n_words) if words is None else words
        factor = step * ratio / self.scale
        _by_words(lambda some: add_to_rows(self.table, words[some], statistics[some], factor), len(words), n_threads)
        self.totals = kept * self.totals + step * ratio * statistics.sum(axis=0, dtype=np.float64)

    def part(self, pairs: NDArray, counts: sparse.csr_matrix, own_words: float) -> None:
        """Merge each pair of topics into its first one; the second one starts anew, as in :meth:`replace`.

        Parameters
        ----------
        pairs : ndarray of int, shape (n_pairs, 2)
            No topic is in two of them.
        counts : csr_matrix of shape (n_pairs, n_words)
        own_words : float
        """
        kept, free = pairs.T
        self.table[:, kept] += self.table[:, free]
        self.replace(free, counts, own_words)

    def replace(self, topics: NDArray, counts: sparse.csr_matrix, own_words: float) -> None:
        """Start some topics anew from some documents.

        Parameters
        ----------
        topics : ndarray of int, shape (n,)
        counts : csr_matrix of shape (n, n_words)
            Word counts of the documents for each new topic.
        own_words : float
            Share of these words in the new topics, each of which has a quarter of the mean number of tokens; the rest
            are those of all other topics.
        """
        self.table[:, topics] = 0.0
        everything = self.table.sum(axis=1, dtype=np.float64)
        self.table[:, topics] = _mixed(counts, everything, own_words) * (MASS_OF_NEW * everything.sum() / self.n_topics)
        self.recount()

    def halved(self, topics: NDArray, shares: NDArray) -> Topics:
        """The topics, and further ones, which take a share of each word from some of them.

        Parameters
        ----------
        topics : ndarray of distinct int, shape (n,)
        shares : ndarray of shape (n, n_words)
        """
        table = self.table * self.table.dtype.type(self.scale)
        taken = (table[:, topics] * shares.T).astype(table.dtype)
        table[:, topics] -= taken
        return Topics(np.hstack([table, taken]), self.prior, self.update)

    def without(self, removed: NDArray) -> Topics:
        """The topics without some of them, whose numbers are given."""
        table = np.delete(self.table, removed, axis=1) * self.table.dtype.type(self.scale)
        return Topics(np.ascontiguousarray(table), self.prior, self.update)

    def pseudo_counts(self) -> NDArray:
        """Dirichlet parameters S + eta of every topic, shape (n_topics, n_words)."""
        return self._by_topic(self._pseudo_counts)

    def means(self) -> NDArray:
        """Probabilities of the words in every topic, shape (n_topics, n_words)."""
        return self._by_topic(lambda some: self.mean_weights(np.arange(some.start, min(some.stop, self.n_words))))

    def exp_expected_logs(self) -> NDArray:
        """exp(E[log probability of a word]) in every topic, shape (n_topics, n_words)."""
        masses = psi(self._masses())
        return self._by_topic(lambda some: np.exp(psi(self._pseudo_counts(some).astype(np.float64)) - masses))

    def _pseudo_counts(self, some: slice) -> NDArray:
        return self.table[some] * self.table.dtype.type(self.scale) + self.prior[some, None].astype(self.table.dtype)

    def _by_topic(self, rows: Callable[[slice], NDArray]) -> NDArray:
        """Rows of words, computed and transposed some at a time, so that no second array of their size is needed."""
        out = np.empty((self.n_topics, self.n_words), self.table.dtype)
        for start in range(0, self.n_words, WORDS_A_TASK):
            some = slice(start, start + WORDS_A_TASK)
            out[:, some] = rows(some).T
        return out


def _mixed(counts, everything, share):
    """Probabilities (n_words, n_groups): a share of the words of each group, and for the rest those of everything."""
    everything = everything.astype(counts.dtype)[:, None]
    own = counts.toarray().T
    own += SMALLEST_SCALE * everything
    own *= share / own.sum(axis=0)
    own += (1.0 - share) / everything.sum() * everything
    return own


def _by_words(task: Callable[[slice], None], n_words: int, n_threads: int) -> None:
    """Call ``task`` for slices of the words, on threads; the words are independent of one another."""
    n_tasks = -(-n_words // WORDS_A_TASK)
    share_tasks(lambda number: task(slice(WORDS_A_TASK * number, WORDS_A_TASK * (number + 1))), n_tasks, n_threads)
