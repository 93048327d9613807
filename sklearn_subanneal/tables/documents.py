"""Bags of words: reading of sparse counts, and the schema that replaces that of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data


@dataclass(frozen=True, eq=False)
class Documents:
    """Bags of words as one typed column, with `len` and slices of rows like the arrays of other columns.

    Attributes
    ----------
    counts : csr_array of int32, shape (n_rows, n_words)
    """

    counts: sparse.csr_array

    def __len__(self) -> int:
        return self.counts.shape[0]

    def __getitem__(self, rows) -> Documents:
        return Documents(self.counts[rows])

    @property
    def lengths(self) -> np.ndarray:
        """Words of each bag, with repetition."""
        return np.asarray(self.counts.sum(axis=1)).ravel()


def joined(one: np.ndarray | Documents, other: np.ndarray | Documents) -> np.ndarray | Documents:
    """Concatenation of the rows of two typed columns."""
    if isinstance(one, Documents):
        return Documents(sparse.vstack([one.counts, other.counts], format="csr"))
    return np.concatenate([one, other])


class DocumentTable:
    """The schema of bags of words, which replaces that of a table; there are no named columns."""

    columns: tuple = ()
    names: tuple = ()
    kinds: tuple = ()

    def encode(self, estimator, X, unseen: str = "missing") -> list[Documents]:
        """Type new bags of words."""
        return read_documents(estimator, X, reset=False)


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
        If X is no table of counts. A word that does not occur has the count 0: none is missing.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_subanneal.tables.documents import read_documents
    >>> [documents] = read_documents(BaseEstimator(), [[0, 2, 1], [0, 0, 4]], reset=True)
    >>> documents.lengths
    array([3, 4])
    """
    X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype="numeric")
    counts = sparse.csr_array(X)
    if wrong := counts.data[(counts.data < 0) | (counts.data != np.floor(counts.data))].tolist():
        raise ValueError(
            f'X holds {wrong[0]!r}, but feature_types="bag-of-words" takes counts of words, integers from 0; pass raw '
            "counts, as of CountVectorizer, or declare other feature_types."
        )
    counts = sparse.csr_array((counts.data.astype(np.int32), counts.indices, counts.indptr), counts.shape)
    if reset and not counts.sum():
        raise ValueError("X holds no word, all counts are 0; fit on documents that are not empty.")
    return [Documents(counts)]
