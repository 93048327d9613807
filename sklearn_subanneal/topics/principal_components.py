"""PrincipalComponents of documents, with loadings of documents and of words; and the largest value by chance."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, svds
from sklearn.utils.extmath import randomized_svd

# Of more components than this, a randomized algorithm is several times as fast, but not exact where singular values are
# nearly equal; and the number of its iterations.
MOST_EXACT, POWER_ITERATIONS = 150, 7
# PrincipalComponents are kept if their singular value is at least this share of the largest.
LEAST_VALUE = 1e-5
# The value of chance need not be more exact than this.
TOLERANCE_OF_CHANCE = 0.1


class PrincipalComponents(NamedTuple):
    """Principal components of counts, or of other numbers for the words of documents.

    The numbers are divided by the roots of their sums over each document and over each word, to which the means are
    added, since the shortest documents and the rarest words would else be components of their own.

    Attributes
    ----------
    documents : ndarray of shape (n_documents, n_components)
        Loadings, of mean square 1.
    words : ndarray of shape (n_words, n_components)
        Loadings, of mean square 1.
    values : ndarray of shape (n_components,)
        Singular values.
    """

    documents: NDArray
    words: NDArray
    values: NDArray

    @classmethod
    def of(cls, numbers: sparse.csr_matrix, n_components: int) -> PrincipalComponents:
        """At most ``n_components`` of them: documents may have fewer.

        Parameters
        ----------
        numbers : csr_matrix of shape (n_documents, n_words)
            Not negative.
        n_components : int
        """
        n_documents, n_words = numbers.shape
        if not numbers.nnz:
            return cls(np.zeros((n_documents, 1), np.float32), np.zeros((n_words, 1), np.float32), np.zeros(1))
        left, values, right = _leading(_scaled(numbers), min(n_components, n_documents, n_words))
        kept = values >= LEAST_VALUE * values.max()
        return cls(
            left[:, kept] * np.float32(np.sqrt(n_documents)),
            right[kept].T * np.float32(np.sqrt(n_words)),
            values[kept],
        )


def value_of_chance(presence: sparse.csr_matrix, generator: np.random.Generator) -> float:
    """The largest singular value, but for that of the frequencies of words, where these occur independently.

    The words are dealt anew to the documents, to each as many as it has, but that one that is dealt twice counts once;
    so the value is too large where some words are in most documents. That a component is real if its value exceeds
    that of such data is parallel analysis (Horn 1965).

    Parameters
    ----------
    presence : csr_matrix of shape (n_documents, n_words)
        1 for each word of a document.
    generator : numpy.random.Generator

    References
    ----------
    J. L. Horn (1965), A rationale and test for the number of factors in factor analysis, Psychometrika 30, 179-185.
    """
    if min(presence.shape) < 3 or not presence.nnz:
        return 0.0
    words = generator.permutation(presence.indices)
    dealt = sparse.csr_matrix((np.ones(len(words), np.float32), words, presence.indptr), presence.shape)
    dealt.sum_duplicates()
    scaled = _scaled(dealt.sign())
    first = generator.standard_normal(min(scaled.shape)).astype(scaled.dtype)
    with suppress(ArpackNoConvergence):
        values = svds(scaled, 2, v0=first, tol=TOLERANCE_OF_CHANCE, return_singular_vectors=False, random_state=0)
        return float(values.min())
    return np.inf


def _scaled(numbers):
    """The numbers, divided by the roots of their sums over each document and over each word."""
    sums = (np.asarray(numbers.sum(axis=axis), np.float64).ravel() for axis in (1, 0))
    left, right = (sparse.diags((own + own.mean()) ** -0.5) for own in sums)
    return (left @ numbers @ right).astype(np.float32).tocsr()


def _leading(matrix, n_components):
    """Singular vectors and values of the largest singular values."""
    if n_components < min(MOST_EXACT, *matrix.shape):
        first = np.random.Generator(np.random.PCG64(0)).standard_normal(min(matrix.shape)).astype(matrix.dtype)
        with suppress(ArpackNoConvergence):
            return svds(matrix, n_components, v0=first, random_state=0)
    further = n_components // 2
    return randomized_svd(matrix, n_components, n_oversamples=further, n_iter=POWER_ITERATIONS, random_state=0)
