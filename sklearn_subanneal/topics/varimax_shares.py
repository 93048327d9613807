"""Shares of documents in groups of words that occur together: principal components, rotated by varimax."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import svd
from scipy.sparse.linalg import ArpackNoConvergence, svds
from sklearn.utils.extmath import randomized_svd

from sklearn_subanneal._core.blas import one_blas_thread

# Of more components than this, a randomized algorithm is several times as fast, but not exact where singular values are
# nearly equal; and the number of its iterations.
MOST_EXACT, POWER_ITERATIONS = 150, 7
# Components are kept if their singular value is at least this share of the largest.
LEAST_VALUE = 1e-5
# The rotation ends when an iteration raises the criterion by less than this share, or after so many iterations, and of
# many components when the number of iterations times that of components is the last number.
TOLERANCE, ITERATIONS, MOST_PRODUCT = 1e-4, 100, 15_000
# Loadings are raised to this power, so that a document counts most where it belongs.
POWER = 3


def varimax_shares(documents: sparse.csr_matrix, n_groups: int) -> NDArray[np.float32]:
    """How much of each document belongs to each of some groups.

    The square roots of the counts, divided by the roots of their sums over each document and over each word, are
    decomposed into principal components. (With the counts themselves, some components would be single documents that
    repeat a word.) If most documents have few topics, their loadings on the right axes are sparse: *varimax* rotates
    the components until they are, and each axis stands for a topic then. Where documents have several topics, groups of
    similar documents are mixtures of topics; axes are not.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
        Counts of words.
    n_groups : int

    Returns
    -------
    shares : ndarray of shape (n_documents, n_groups), float32
        Not negative; the sum of a row is 1. If the counts have fewer components than there are groups, the last groups
        have no share.

    References
    ----------
    H. F. Kaiser (1958), The varimax criterion for analytic rotation in factor analysis, Psychometrika 23, 187-200.

    K. Rohe, M. Zeng (2023), Vintage factor analysis with varimax performs statistical inference, Journal of the Royal
    Statistical Society B 85(4), 1037-1060.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from sklearn_subanneal.topics.varimax_shares import varimax_shares
    >>> documents = csr_matrix(np.kron(np.eye(2), np.full((3, 2), 4.0)))
    >>> varimax_shares(documents, 2).argmax(axis=1).tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    """
    shares = np.zeros((documents.shape[0], n_groups), np.float32)
    with one_blas_thread():
        loadings = _components(documents, n_groups)
        loadings = loadings @ _varimax(loadings)
    # An axis may point either way: of few large loadings, the sum of the cubes is positive.
    loadings *= np.where((loadings**3).sum(axis=0) < 0.0, -1.0, 1.0)
    shares[:, : loadings.shape[1]] = np.maximum(loadings, 0.0) ** POWER
    total = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, total, out=np.full_like(shares, 1.0 / n_groups), where=total > 0.0)


def _components(documents, n_components):
    """Loadings of the documents on the first principal components, each of mean square 1."""
    roots = documents.astype(np.float32)
    roots.data **= 0.5
    lengths = np.asarray(roots.sum(axis=1), np.float64).ravel()
    frequencies = np.asarray(roots.sum(axis=0), np.float64).ravel()
    if not lengths.any():
        return np.zeros((len(lengths), 1), np.float32)
    # The means are added since the shortest documents and the rarest words would else be components of their own.
    left, right = (sparse.diags((sums + sums.mean()) ** -0.5) for sums in (lengths, frequencies))
    scaled = (left @ roots @ right).astype(np.float32).tocsr()
    directions, values = _leading(scaled, min(n_components, *scaled.shape))
    return directions[:, values >= LEAST_VALUE * values.max()] * np.float32(np.sqrt(len(lengths)))


def _leading(matrix, n_components):
    """The left singular vectors of the largest singular values, and these."""
    if n_components < min(MOST_EXACT, *matrix.shape):
        first = np.random.Generator(np.random.PCG64(0)).standard_normal(min(matrix.shape)).astype(matrix.dtype)
        with suppress(ArpackNoConvergence):
            return svds(matrix, n_components, v0=first, random_state=0)[:2]
    further = n_components // 2
    return randomized_svd(matrix, n_components, n_oversamples=further, n_iter=POWER_ITERATIONS, random_state=0)[:2]


def _varimax(loadings):
    """The rotation (n_components, n_components) after which the variance of the squared loadings is largest."""
    rotation, criterion = np.eye(loadings.shape[1], dtype=loadings.dtype), 0.0
    for _ in range(min(ITERATIONS, max(MOST_PRODUCT // loadings.shape[1], 1))):
        rotated = loadings @ rotation
        squares = rotated * rotated
        gradient = loadings.T @ (rotated * (squares - squares.mean(axis=0)))
        left, values, right = svd(gradient)
        if values.sum() < criterion * (1.0 + TOLERANCE):
            break
        rotation, criterion = left @ right, values.sum()
    return rotation
