"""Corpora of documents, in memory or streamed in chunks, divided into minibatches for each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_subanneal.topics.document_groups import EvenSample, sample_limit

NO_CHUNKS = "chunks must hold at least one chunk of documents, got none"


def count_words(documents: sparse.csr_matrix) -> NDArray:
    """Number of tokens of each word, float64."""
    return np.bincount(documents.indices, weights=documents.data, minlength=documents.shape[1])


def batch_starts(n_documents: int, batch_size: int) -> np.ndarray:
    """Boundaries of the fewest minibatches of at most ``batch_size`` documents, of nearly equal sizes.

    Examples
    --------
    >>> from sklearn_subanneal.topics.corpus import batch_starts
    >>> batch_starts(10, 4)
    array([ 0,  3,  6, 10])
    """
    n_batches = -(-n_documents // batch_size)
    return np.arange(n_batches + 1) * n_documents // n_batches


class MemoryCorpus:
    """Documents in one matrix, which may be mapped from disk: only a minibatch is copied.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
    batch_size : int
    generator : numpy.random.Generator or None
        Shuffles the documents for each pass; None: the order of the matrix.
    """

    def __init__(self, documents: sparse.csr_matrix, batch_size: int, generator=None):
        self.documents = documents
        self.n_documents = documents.shape[0]
        self._starts = batch_starts(self.n_documents, batch_size)
        self._generator = generator

    def batches(self) -> Iterator[sparse.csr_matrix]:
        """The minibatches of one pass."""
        if len(self._starts) == 2:
            yield self.documents
            return
        order = None if self._generator is None else self._generator.permutation(self.n_documents)
        for start, stop in zip(self._starts[:-1], self._starts[1:], strict=True):
            yield self.documents[slice(start, stop) if order is None else order[start:stop]]


class StreamedCorpus:
    """Documents in chunks that are read again in each pass; a chunk and a minibatch are in memory.

    Parameters
    ----------
    chunks : callable
        Without arguments; an iterator of the chunks, csr_matrix of shape (any, n_words), already validated.
    n_documents : int
        Number of documents in all chunks.
    batch_size : int
    """

    def __init__(self, chunks: Callable[[], Iterable], n_documents: int, batch_size: int):
        self._chunks = chunks
        self.n_documents = n_documents
        self._starts = batch_starts(n_documents, batch_size)

    def batches(self) -> Iterator[sparse.csr_matrix]:
        """The minibatches of one pass: those of a MemoryCorpus of all chunks in their order.

        Raises
        ------
        ValueError
            If the chunks do not have ``n_documents`` documents.
        """
        sizes = iter(np.diff(self._starts))
        wanted, waiting, n_waiting, n_seen = next(sizes), [], 0, 0
        for chunk in self._chunks():
            n_seen += chunk.shape[0]
            if n_seen > self.n_documents:
                break
            at = 0
            while chunk.shape[0] - at + n_waiting >= wanted:
                taken = chunk[at : at + wanted - n_waiting]
                at += wanted - n_waiting
                yield sparse.vstack([*waiting, taken], format="csr") if waiting else taken
                waiting, n_waiting = [], 0
                wanted = next(sizes, np.inf)
            if at < chunk.shape[0]:
                waiting.append(chunk[at:])
                n_waiting += chunk.shape[0] - at
        if n_seen != self.n_documents:
            raise ValueError(
                f"chunks must hold the same {self.n_documents} documents in every pass, got "
                f"{'more' if n_seen > self.n_documents else n_seen}; give total_samples the right number, and an "
                "iterable that can be read again"
            )


class Totals(NamedTuple):
    """What is known of a corpus before the first pass: its documents and words, and a sample of its documents."""

    n_documents: float
    word_counts: NDArray
    sample: sparse.csr_matrix

    @classmethod
    def of_corpus(cls, documents: sparse.csr_matrix, n_topics: int, n_documents: float | None = None) -> Totals:
        """Those of documents; or of so many, of which these are the first."""
        sample = EvenSample(sample_limit(n_topics))
        sample.add(documents)
        n_documents = n_documents or documents.shape[0]
        return cls(n_documents, count_words(documents) * (n_documents / documents.shape[0]), sample.documents())

    @property
    def mean_length(self) -> float:
        """Tokens of a document on average."""
        return self.word_counts.sum() / self.n_documents


class Chunks(NamedTuple):
    """A stream of documents: ``read`` gives an iterator of all chunks, as CSR."""

    read: Callable[[], Iterator[sparse.csr_matrix]]
    totals: Totals


def open_chunks(
    chunks: Iterable,
    validate: Callable[[Iterable, bool], Iterator],
    total_samples: float | None,
    n_passes: int | None,
    n_sampled: int,
) -> Chunks:
    """Read the chunks once to count their documents, or check that one pass over an iterator is enough.

    Parameters
    ----------
    chunks : iterable of {array-like, sparse matrix}
    validate : callable
        ``validate(chunks, reset)`` yields the chunks as CSR; with ``reset`` the first one determines the features.
    total_samples : float or None
        Number of all documents, if known.
    n_passes : int or None
        Passes over the documents, if given.
    n_sampled : int
        Most documents in the sample: evenly spaced, or of an iterator the first ones, which are read ahead.

    Raises
    ------
    ValueError
        If there are no documents, chunks differ in width, or they cannot be read as often as needed.
    """
    if isinstance(chunks, str) or hasattr(chunks, "shape"):
        raise ValueError(
            f"chunks must be an iterable of matrices, got a {type(chunks).__name__}; give it to fit, or as [X]"
        )
    once = iter(chunks) is chunks
    if once and (total_samples is None or n_passes != 1):
        raise ValueError(
            "chunks is an iterator, which can be read only once; give total_samples and max_iter=1, or something "
            "that can be read again, such as a list or an object with __iter__"
        )
    source = validate(chunks, True)
    if once:
        return _read_ahead(source, int(total_samples), n_sampled)
    word_counts, sample = 0.0, EvenSample(n_sampled)
    for chunk in source:
        sample.add(chunk)
        word_counts = word_counts + count_words(chunk)
    if not sample.n_seen:
        raise ValueError(NO_CHUNKS)
    return Chunks(lambda: validate(chunks, False), Totals(sample.n_seen, word_counts, sample.documents()))


def _read_ahead(source, n_documents, n_sampled):
    """Chunks of an iterator, whose first documents are read ahead, and stand for all of them."""
    head, n_read = [], 0
    while n_read < n_sampled and (chunk := next(source, None)) is not None:
        head.append(chunk)
        n_read += chunk.shape[0]
    if not head:
        raise ValueError(NO_CHUNKS)
    sample = sparse.vstack(head, format="csr")[:n_sampled]
    word_counts = count_words(sample) * (n_documents / sample.shape[0])
    return Chunks(lambda: chain(head, source), Totals(n_documents, word_counts, sample))
