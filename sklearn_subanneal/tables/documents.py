"""Bags of words: checking and reading of sparse word counts, and the schema of a table of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from sklearn_subanneal.tables.unreadable import refuse_unreadable

# Maximum count of one word in all documents: kernels keep 1 + its count in int32.
MOST_OF_A_WORD = 2**31 - 2
# Maximum number of words in all documents: with more, log Gamma has errors of hundredths.
MOST_WORDS = 2**40
# What to do with texts.
COUNTS = "count the words of texts by sklearn.feature_extraction.text.CountVectorizer, and pass its counts"
REMEDY = "divide the counts by a common factor, or model them as columns of type 'count' or 'real'"


@dataclass(frozen=True, eq=False)
class Documents:
    """Bags of words as one typed column, with the length and the slices of rows that arrays have.

    Attributes
    ----------
    counts : csr_array of int32, shape (n_rows, n_words)
        Each word of a row once, in order, with a positive count.
    """

    counts: sparse.csr_array

    def __len__(self) -> int:
        return self.counts.shape[0]

    def __getitem__(self, rows) -> Documents:
        return Documents(self.counts[rows])

    @property
    def lengths(self) -> np.ndarray:
        """Words of each bag, with repetition, int64."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.int64)).ravel()


def joined(one: np.ndarray | Documents, other: np.ndarray | Documents) -> np.ndarray | Documents:
    """Concatenation of the rows of two typed columns."""
    if isinstance(one, Documents):
        return Documents(sparse.vstack([one.counts, other.counts], format="csr"))
    return np.concatenate([one, other])


class DocumentTable:
    """The schema of a table of documents: one column, the bags of words, which has no name."""

    columns: tuple = ()
    names: tuple = ()
    kinds: tuple = ()
    parts: tuple = ()

    @property
    def reasons(self) -> dict[str, str]:
        """Empty: there are no columns with a type of their own."""
        return {}

    def encode(self, estimator, X, unseen: str = "missing") -> list[Documents]:
        """Type new bags of words."""
        return read_documents(estimator, X, reset=False)


def checked_counts(X) -> sparse.csr_array:
    """Counts of words in the form that the kernels read; X is not changed.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_words)

    Returns
    -------
    counts : csr_array of int32, shape (n_rows, n_words)
        In canonical format, without zeros.

    Raises
    ------
    ValueError
        If X holds a number that is not an integer from 0, or counts, or sums of counts, that are too large.

    Examples
    --------
    >>> from sklearn_subanneal.tables.documents import checked_counts
    >>> checked_counts([[0.0, 2.0], [1.0, 0.0]]).data
    array([2, 1], dtype=int32)
    """
    counts = sparse.csr_array(X)
    _check_values(counts)
    # A copy: sorting the words of a row works in place.
    counts = sparse.csr_array((counts.data.astype(np.int64), counts.indices, counts.indptr), counts.shape, copy=True)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    _check_sums(counts)
    return sparse.csr_array((counts.data.astype(np.int32), counts.indices, counts.indptr), counts.shape)


def _check_values(counts):
    data = counts.data
    if data.dtype.kind == "b":
        return
    wrong = np.flatnonzero((data < 0) | (data > MOST_OF_A_WORD) | (data != np.floor(data)))
    if not wrong.size:
        return
    value, column = data[wrong[0]].item(), counts.indices[wrong[0]]
    row = np.searchsorted(counts.indptr, wrong[0], side="right") - 1
    if value > MOST_OF_A_WORD:
        raise ValueError(
            f"X holds {value!r} in row {row}, column {column}; a word may occur at most {MOST_OF_A_WORD} times: "
            f"{REMEDY}."
        )
    raise ValueError(
        f"X holds {value!r}, but a bag of words takes counts of words, integers from 0; pass raw counts, as of "
        "CountVectorizer, or choose other feature_types."
    )


def _check_sums(counts):
    occurrences = np.asarray(counts.sum(axis=0)).ravel()
    if occurrences.size and occurrences.max() > MOST_OF_A_WORD:
        raise ValueError(
            f"the word of X in column {occurrences.argmax()} occurs {occurrences.max()} times in all rows together, "
            f"and may occur at most {MOST_OF_A_WORD} times: {REMEDY}."
        )
    if (n_words := int(occurrences.sum())) > MOST_WORDS:
        raise ValueError(f"X holds {n_words} words in all rows together, and may hold at most {MOST_WORDS}: {REMEDY}.")


def read_documents(estimator, X, *, reset: bool) -> list[Documents]:
    """Read bags of words as a single typed column.

    Parameters
    ----------
    estimator : estimator
        Its number of features is set by `fit`, and checked afterwards.
    X : array-like or sparse matrix of shape (n_samples, n_words)
        How often each word occurs in each document.
    reset : bool
        Whether `fit` is reading.

    Returns
    -------
    arrays : list of one Documents

    Raises
    ------
    ValueError
        If X is no table of counts, or has too large ones. A word that does not occur has the count 0: none is missing.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_subanneal.tables.documents import read_documents
    >>> [documents] = read_documents(BaseEstimator(), [[0, 2, 1], [0, 0, 4]], reset=True)
    >>> documents.lengths
    array([3, 4])
    """
    refuse_unreadable(X, remedy=COUNTS)
    X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype="numeric")
    counts = checked_counts(X)
    if reset and not counts.nnz:
        raise ValueError("X holds no word, all counts are 0; fit on documents that are not empty.")
    return [Documents(counts)]
