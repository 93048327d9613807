"""Documents that are elsewhere, in parts that the workers of Dask keep, and their corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal._core.dask_tasks import Tasks
from sklearn_subanneal.topics.corpus import NO_CHUNKS, Totals, batch_starts, count_words
from sklearn_subanneal.topics.document_groups import even_stride
from sklearn_subanneal.topics.local_step import LocalStep, local_step
from sklearn_subanneal.topics.topic_scores import document_lengths

# Documents that are fitted by one task. Statistics are summed piece by piece, in their order, so that their bits depend
# neither on the number of workers nor on the parts.
PIECE = 512
# Minibatches of a pass, if they are not smaller then.
BATCHES, FEWEST_DOCUMENTS = 50, 64


class _Known(NamedTuple):
    """What is known of a part: tokens of its documents, and of each word."""

    lengths: NDArray
    word_counts: NDArray


class _Present(NamedTuple):
    """What documents are fitted by: arguments of ``local_step``, and whether the proportions are wanted."""

    topics: object
    prior: NDArray
    inverse_temperature: float
    options: dict
    wants_gamma: bool


class RemoteDocuments:
    """A minibatch of documents on workers.

    Parameters
    ----------
    tasks : Tasks
    pieces : list of (list of (slice, Future))
        Of each piece, rows of the parts that it is of.
    lengths : ndarray of shape (n_documents,)
        Tokens of each document.
    n_words : int
    """

    def __init__(self, tasks: Tasks, pieces: list, lengths: NDArray, n_words: int):
        self.tasks, self.pieces, self.lengths = tasks, pieces, lengths
        self.shape = (len(lengths), n_words)

    def local_step(self, topics, prior: NDArray, inverse_temperature: float, wants_gamma: bool, **options) -> LocalStep:
        """Topic proportions, and statistics of topics, as of :func:`local_step`; without the documents."""
        present = self.tasks.send(_Present(topics, prior, inverse_temperature, options, wants_gamma))
        fitted = [
            self.tasks.submit(_fit_piece, present, [rows for rows, _ in piece], *(part for _, part in piece))
            for piece in self.pieces
        ]
        found = self.tasks.results(fitted)
        words = np.unique(np.concatenate([own for own, _, _ in found]))
        statistics = np.zeros((len(words), topics.n_topics), found[0][2].dtype)
        for own, _, more in found:
            statistics[np.searchsorted(words, own)] += more
        gamma = np.concatenate([own for _, own, _ in found]) if wants_gamma else None
        return LocalStep(None, words, gamma, statistics)


class RemoteCorpus:
    """Documents in parts on workers, which fit the topic proportions; the topics are learned in this process.

    Parameters
    ----------
    tasks : Tasks
    parts : sequence of Future
        Word counts in their order, csr_matrix of shape (any, n_words); None: no documents.
    n_sampled : int
        Most documents in the sample of ``totals``.
    batch_size : int or None
        Documents in a minibatch; None: a fiftieth of them, so that all workers have some of each, but at least 64.

    Attributes
    ----------
    n_documents : int
    totals : Totals
        As of the same documents in chunks.

    Raises
    ------
    ValueError
        If there are no documents, or parts differ in width.
    """

    def __init__(self, tasks: Tasks, parts: Sequence, n_sampled: int, batch_size: int | None = None):
        self.tasks = tasks
        known = tasks.results([tasks.submit(_known, part) for part in parts])
        # Parts without documents are dropped.
        parts = [part for part, own in zip(parts, known, strict=True) if own is not None]
        known = [own for own in known if own is not None]
        if not known:
            raise ValueError(NO_CHUNKS)
        widths = {len(own.word_counts) for own in known}
        if len(widths) > 1:
            raise ValueError(f"chunks must have the same number of features, got {sorted(widths)}; give equal ones")
        sizes = np.array([len(own.lengths) for own in known], int)
        self.n_documents = int(sizes.sum())
        (self.n_words,) = widths
        self._lengths = np.concatenate([own.lengths for own in known])
        self._parts, self._ends = parts, np.cumsum(sizes)
        batch_size = batch_size or max(-(-self.n_documents // BATCHES), FEWEST_DOCUMENTS)
        self._starts = batch_starts(self.n_documents, batch_size)
        sampled = self._taken(np.arange(0, self.n_documents, even_stride(self.n_documents, n_sampled)))
        self.totals = Totals(self.n_documents, np.sum([own.word_counts for own in known], axis=0), sampled)

    def batches(self) -> Iterator[RemoteDocuments]:
        """The minibatches of one pass, in the order of the documents."""
        for start, stop in zip(self._starts[:-1], self._starts[1:], strict=True):
            pieces = [self._covering(at, min(at + PIECE, stop)) for at in range(start, stop, PIECE)]
            yield RemoteDocuments(self.tasks, pieces, self._lengths[start:stop], self.n_words)

    def _covering(self, start: int, stop: int) -> list:
        """Rows of the parts that have the documents from start to stop."""
        first, last = np.searchsorted(self._ends, [start, stop - 1], side="right")
        begins = self._ends - np.diff(self._ends, prepend=0)
        rows = [slice(max(start - int(begins[i]), 0), stop - int(begins[i])) for i in range(first, last + 1)]
        return list(zip(rows, self._parts[first : last + 1], strict=True))

    def _taken(self, numbers: NDArray) -> sparse.csr_matrix:
        part_of = np.searchsorted(self._ends, numbers, side="right")
        begins = self._ends - np.diff(self._ends, prepend=0)
        taken = [
            self.tasks.submit(_rows, self._parts[i], numbers[part_of == i] - begins[i]) for i in np.unique(part_of)
        ]
        return sparse.vstack(self.tasks.results(taken), format="csr")


def _known(documents) -> _Known | None:
    return None if documents is None else _Known(document_lengths(documents), count_words(documents))


def _rows(documents, rows):
    return documents[rows]


def _fit_piece(present: _Present, rows: list[slice], *parts) -> tuple:
    """The words of a piece, its topic proportions if they are wanted, and the statistics of the topics."""
    documents = sparse.vstack([part[own] for part, own in zip(parts, rows, strict=True)], format="csr")
    step = local_step(
        documents, present.topics, present.prior, present.inverse_temperature, statistics=True, **present.options
    )
    return step.words, step.gamma if present.wants_gamma else None, step.statistics
