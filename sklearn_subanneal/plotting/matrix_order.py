"""Orders of the rows of a similarity matrix that place similar rows next to each other."""

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from sklearn_subanneal.posterior import relabel

# The time of optimal leaf ordering grows with the cube of the number of leaves.
_MOST_LEAVES_REORDERED = 300


def block_order(matrix: NDArray, labels: NDArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Order the rows by cluster, similar clusters side by side, and the core of each cluster first.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_rows)
        Similarities in [0, 1].
    labels : ndarray of shape (n_rows,)
        Clusters of the rows.

    Returns
    -------
    order : ndarray of shape (n_rows,)
        Indices of the rows in their new order.
    sizes : ndarray of shape (n_clusters,)
        Sizes of the clusters in the new order.
    """
    labels = relabel(labels)
    n_clusters = int(labels.max()) + 1
    member = np.zeros((n_clusters, len(labels)))
    member[labels, np.arange(len(labels))] = 1.0
    member /= member.sum(axis=1, keepdims=True)
    to_clusters = member @ matrix
    position = np.arange(n_clusters)
    if n_clusters > 2:
        distance = 1.0 - to_clusters @ member.T
        np.fill_diagonal(distance, 0.0)
        condensed = squareform(distance, checks=False)
        tree = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
        leaves = leaves_list(tree)
        # Either direction of the leaves is optimal: take the one with the larger clusters first.
        position[leaves if leaves[0] < leaves[-1] else leaves[::-1]] = np.arange(n_clusters)
    strength = to_clusters[labels, np.arange(len(labels))]
    order = np.lexsort((-strength, position[labels]))
    return order, np.bincount(position[labels])


def tree_order(matrix: NDArray) -> NDArray[np.intp]:
    """Order the rows by the leaves of average linkage of 1 - matrix, a symmetric matrix with ones on its diagonal."""
    if len(matrix) < 2:
        return np.arange(len(matrix))
    distance = squareform(1.0 - matrix, checks=False)
    tree = linkage(distance, "average", optimal_ordering=len(matrix) <= _MOST_LEAVES_REORDERED)
    return leaves_list(tree).astype(np.intp)
