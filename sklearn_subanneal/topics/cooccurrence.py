"""How often words occur, alone and together, in documents given as counts or in windows over texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Entries of one sparse array of windows and words.
ENTRIES_AT_ONCE = 2_000_000


class Cooccurrence(NamedTuple):
    """``counts[i, j]`` of ``n_windows`` windows contain both word i and word j, and ``counts[i, i]`` word i."""

    counts: NDArray
    n_windows: int


def in_documents(documents: sparse.csr_matrix, words: NDArray) -> Cooccurrence:
    """Co-occurrence of some words, numbers of columns, in documents."""
    columns = documents[:, words]
    # A copy, in which a word that has several entries in a document gets one.
    columns.sum_duplicates()
    present = sparse.csr_matrix(
        ((columns.data > 0).astype(float), columns.indices, columns.indptr), shape=columns.shape
    )
    return Cooccurrence((present.T @ present).toarray(), documents.shape[0])


def in_texts(texts: Iterable, words: list[str], window: int | None) -> Cooccurrence:
    """Co-occurrence of some words in all windows of so many tokens over texts.

    A text of fewer tokens, or any if ``window`` is None, is one window.

    Parameters
    ----------
    texts : iterable of sequence of str
        The tokens of each text, in their order.
    words : list of str
    window : int or None
    """
    counts, n_windows = np.zeros((len(words), len(words))), 0
    for present in _windows(texts, {word: number for number, word in enumerate(words)}, window):
        counts += (present.T @ present).toarray()
        n_windows += present.shape[0]
    return Cooccurrence(counts, n_windows)


def _windows(texts, numbers, window) -> Iterator[sparse.csr_matrix]:
    """Which words each window contains, arrays (n_windows, n_words) of some texts at a time."""
    rows, columns, n_rows, n_entries = [], [], 0, 0
    for text in texts:
        if isinstance(text, str):
            raise ValueError(f"documents has a text that is a string, {text[:40]!r}; give its tokens, as text.split()")
        found = np.array([(place, numbers[token]) for place, token in enumerate(text) if token in numbers])
        found = found.reshape(-1, 2).astype(np.int64)
        width = len(text) if window is None else window
        n_own = max(len(text) - width + 1, 1)
        first, last = np.maximum(found[:, 0] - width + 1, 0), np.minimum(found[:, 0], n_own - 1)
        lengths = last - first + 1
        ends = np.cumsum(lengths)
        within = np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)
        rows.append(n_rows + np.repeat(first, lengths) + within)
        columns.append(np.repeat(found[:, 1], lengths))
        n_rows, n_entries = n_rows + n_own, n_entries + len(within)
        if n_entries > ENTRIES_AT_ONCE:
            yield _present(rows, columns, n_rows, len(numbers))
            rows, columns, n_rows, n_entries = [], [], 0, 0
    if n_rows:
        yield _present(rows, columns, n_rows, len(numbers))


def _present(rows, columns, n_rows, n_words):
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    out = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n_rows, n_words))
    # Entries of a word that occurs more than once in a window are summed.
    out.data[:] = 1.0
    return out
