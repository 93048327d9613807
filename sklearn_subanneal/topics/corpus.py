"""The documents of a fit, in memory or streamed, as the minibatches of each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy import sparse


def batch_starts(n_documents: int, batch_size: int) -> np.ndarray:
    """Bounds of the fewest minibatches of at most ``batch_size`` documents, as equal as they can be.

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
        Shuffles the documents anew for each pass; None: the order of the matrix.
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
    """Documents in chunks that are read anew in each pass; no more than a chunk and a minibatch are in memory.

    Parameters
    ----------
    chunks : callable
        Without arguments; an iterator of the chunks, csr_matrix of shape (any, n_words), already validated.
    n_documents : int
        Of all chunks.
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
            If the chunks have not as many documents as they should.
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
