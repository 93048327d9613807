"""Rotation by varimax, until each document or each word has large loadings on few components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

# The rotation ends when an iteration raises the criterion by less than this share, or after so many iterations, and of
# many components when the number of iterations times that of components is the last number.
TOLERANCE, ITERATIONS, MOST_PRODUCT = 1e-4, 100, 15_000


def varimax_shares(loadings: NDArray, n_groups: int, power: float = 1.0) -> NDArray[np.float32]:
    """How much of each document, or of each word, belongs to each of some groups, which are rotated components.

    If most rows have few topics, their loadings on the right axes are sparse: *varimax* rotates the components until
    they are, and each axis stands for a topic then. Where documents have several topics, groups of similar documents
    are mixtures of topics; axes are not.

    Parameters
    ----------
    loadings : ndarray of shape (n_rows, n_components)
        Of documents or words on principal components, the columns orthogonal and of equal length.
    n_groups : int
        At least the number of components; the other groups have no share.
    power : float, default=1.0
        Loadings are raised to this power: the larger, the more a row counts most where it belongs.

    Returns
    -------
    shares : ndarray of shape (n_rows, n_groups), float32
        Not negative; the sum of a row is 1.

    References
    ----------
    H. F. Kaiser (1958), The varimax criterion for analytic rotation in factor analysis, Psychometrika 23, 187-200.

    K. Rohe, M. Zeng (2023), Vintage factor analysis with varimax performs statistical inference, Journal of the Royal
    Statistical Society B 85(4), 1037-1060.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics.varimax import varimax_shares
    >>> loadings = np.kron([[1.2, 0.5], [0.5, -1.2]], np.ones((3, 1)))
    >>> varimax_shares(loadings, 2).argmax(axis=1).tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    """
    shares = np.zeros((len(loadings), n_groups), np.float32)
    rotated = loadings @ varimax_rotation(loadings)
    # An axis may point either way: of few large loadings, the sum of the cubes is positive.
    rotated *= np.where((rotated**3).sum(axis=0) < 0.0, -1.0, 1.0)
    shares[:, : rotated.shape[1]] = np.maximum(rotated, 0.0) ** power
    total = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, total, out=np.full_like(shares, 1.0 / n_groups), where=total > 0.0)


def varimax_rotation(loadings: NDArray) -> NDArray:
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
