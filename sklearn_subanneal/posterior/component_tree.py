"""ComponentTree: components of a mixture merged one pair after the other, those that overlap most first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class ComponentTree:
    """A tree of merges of components.

    Make it by :meth:`of`, from how far components overlap.

    Attributes
    ----------
    merges : ndarray of int, shape (n_components - 1, 2)
        What is merged in each step: components 0 to n_components - 1, and n_components + i, the result of step i.
    overlaps : ndarray of shape (n_components - 1,)
        The share of one of the two that would be taken for the other.
    weights : ndarray of shape (n_components,)
        Shares of the components in the mixture.

    References
    ----------
    C. Hennig (2010), Methods for merging Gaussian mixture components, Advances in Data Analysis and Classification 4,
    3-34.
    """

    merges: NDArray
    overlaps: NDArray
    weights: NDArray

    @classmethod
    def of(cls, overlaps: ArrayLike, weights: ArrayLike) -> ComponentTree:
        """The tree of components that overlap.

        Parameters
        ----------
        overlaps : array-like of shape (n_components, n_components)
            Entry (a, b) is the mean probability that a row of component a belongs to b.
        weights : array-like of shape (n_components,)
            Positive: shares in which rows count as they do in the overlaps.

        Examples
        --------
        >>> from sklearn_subanneal.posterior import ComponentTree
        >>> tree = ComponentTree.of([[0.8, 0.2, 0.0], [0.3, 0.7, 0.0], [0.0, 0.001, 0.999]], [0.4, 0.3, 0.3])
        >>> tree.merges.tolist(), tree.overlaps.tolist()
        ([[0, 1], [2, 3]], [0.3, 0.001])
        >>> tree.groups(min_overlap=0.01)
        array([0, 0, 1])
        """
        weights = np.asarray(weights, np.float64) / np.sum(weights)
        joint, total = np.asarray(overlaps, np.float64) * weights[:, None], weights.copy()
        numbers, alive, n = np.arange(len(weights)), np.ones(len(weights), bool), len(weights)
        merges, found = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
        for step in range(n - 1):
            shares = joint / total[:, None]
            np.fill_diagonal(shares, -1.0)
            shares[~alive] = shares[:, ~alive] = -1.0
            a, b = sorted(np.unravel_index(shares.argmax(), shares.shape))
            found[step] = max(shares[a, b], shares[b, a])
            merges[step] = sorted((numbers[a], numbers[b]))
            joint[a] += joint[b]
            joint[:, a] += joint[:, b]
            total[a] += total[b]
            alive[b], numbers[a] = False, n + step
        return cls(merges, found, weights)

    def groups(self, min_overlap: float = 0.002, n_groups: int | None = None) -> NDArray[np.int64]:
        """The group of each component, the largest group first.

        Parameters
        ----------
        min_overlap : float, default=0.002
            Merges go on as long as the overlap is at least this.
        n_groups : int or None, default=None
            The number of groups, in place of ``min_overlap``.

        Returns
        -------
        groups : ndarray of int64, shape (n_components,)

        Raises
        ------
        ValueError
            If ``n_groups`` is not from 1 to the number of components.
        """
        n = len(self.weights)
        if n_groups is None:
            below = np.flatnonzero(self.overlaps < min_overlap)
            n_merges = below[0] if below.size else n - 1
        elif 1 <= n_groups <= n:
            n_merges = n - n_groups
        else:
            raise ValueError(f"n_groups must be from 1 to {n}, the number of components, got {n_groups!r}")
        owner = np.arange(n)
        for step, pair in enumerate(self.merges[:n_merges]):
            owner[np.isin(owner, pair)] = n + step
        _, groups = np.unique(owner, return_inverse=True)
        order = np.argsort(-np.bincount(groups, self.weights), kind="stable")
        return np.argsort(order)[groups]

    def linkage(self) -> NDArray:
        """The tree for :func:`scipy.cluster.hierarchy.dendrogram`; heights are -log10 of the overlaps.

        Where a later merge has the larger overlap, its height is that of the merge before.

        Returns
        -------
        linkage : ndarray of shape (n_components - 1, 4)
        """
        sizes = np.ones(len(self.weights) + len(self.merges))
        for step, pair in enumerate(self.merges):
            sizes[len(self.weights) + step] = sizes[pair].sum()
        heights = np.maximum.accumulate(np.maximum(-np.log10(np.maximum(self.overlaps, 1e-300)), 0.0))
        return np.column_stack([self.merges, heights, sizes[len(self.weights) :]])
