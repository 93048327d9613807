"""ComponentTree: components of a mixture merged one pair after the other, those that overlap most first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_subanneal._core.arguments import shortened


@dataclass(frozen=True)
class ComponentTree:
    """A tree of merges of components.

    Make it by :meth:`of`, from how far components overlap, or by :meth:`consensus`, from groups in many draws.

    Attributes
    ----------
    merges : ndarray of int, shape (n_components - 1, 2)
        What is merged in each step: components 0 to n_components - 1, and n_components + i, the result of step i.
    overlaps : ndarray of shape (n_components - 1,)
        The share of one of the two that would be taken for the other. Of a consensus: the share of the draws that have
        rows of both in one group.
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
        joint = np.asarray(overlaps, np.float64) * weights[:, None]
        return cls._of_joint(joint, weights, lambda joint, total: joint / total[:, None])

    @classmethod
    def consensus(
        cls, labels: ArrayLike, draws: ArrayLike, weights: ArrayLike, row_weights: ArrayLike | None = None
    ) -> ComponentTree:
        """The tree of components whose rows are in one group in most draws (average linkage over pairs of rows).

        Parameters
        ----------
        labels : array-like of int, shape (n_samples,)
            Component of each row, 0, 1, ...; each has rows.
        draws : array-like of int, shape (n_draws, n_samples)
            Group of each row in each draw.
        weights : array-like of shape (n_draws,)
            Weights of the draws.
        row_weights : array-like of shape (n_samples,) or None, default=None
            How often each row counts; None: once.

        References
        ----------
        A. Fred and A. K. Jain (2005), Combining multiple clusterings using evidence accumulation, IEEE Transactions on
        Pattern Analysis and Machine Intelligence 27, 835-850.

        Examples
        --------
        >>> from sklearn_subanneal.posterior import ComponentTree
        >>> tree = ComponentTree.consensus([0, 0, 1, 2], [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1]], [1, 1, 2])
        >>> tree.merges.tolist(), tree.overlaps.round(3).tolist()
        ([[1, 2], [0, 3]], [0.75, 0.375])
        """
        labels, weights = np.asarray(labels), np.asarray(weights, np.float64)
        rows = np.ones(len(labels)) if row_weights is None else np.asarray(row_weights, np.float64)
        sizes = np.bincount(labels, rows)
        together = np.zeros((len(sizes), len(sizes)))
        for groups, weight in zip(np.asarray(draws), weights / weights.sum(), strict=True):
            shared = np.zeros((len(sizes), int(groups.max()) + 1))
            np.add.at(shared, (labels, groups), rows)
            together += weight * (shared @ shared.T)
        return cls._of_joint(together, sizes, lambda joint, total: joint / np.outer(total, total))

    @classmethod
    def _of_joint(cls, joint: NDArray, weights: NDArray, share: Callable[[NDArray, NDArray], NDArray]) -> ComponentTree:
        """Merges by the largest share, where what two groups have in common and their weights add up."""
        joint, total = joint.copy(), weights.copy()
        numbers, alive, n = np.arange(len(weights)), np.ones(len(weights), bool), len(weights)
        merges, found = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
        for step in range(n - 1):
            shares = share(joint, total)
            np.fill_diagonal(shares, -1.0)
            shares[~alive] = shares[:, ~alive] = -1.0
            a, b = sorted(np.unravel_index(shares.argmax(), shares.shape))
            found[step] = max(shares[a, b], shares[b, a])
            merges[step] = sorted((numbers[a], numbers[b]))
            joint[a] += joint[b]
            joint[:, a] += joint[:, b]
            total[a] += total[b]
            alive[b], numbers[a] = False, n + step
        return cls(merges, found, weights / weights.sum())

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
        elif isinstance(n_groups, Integral) and not isinstance(n_groups, bool) and 1 <= n_groups <= n:
            n_merges = n - n_groups
        else:
            raise ValueError(f"n_groups must be from 1 to {n}, the number of components, got {shortened(n_groups)}")
        owner = np.arange(n)
        for step, pair in enumerate(self.merges[:n_merges]):
            owner[np.isin(owner, pair)] = n + step
        _, groups = np.unique(owner, return_inverse=True)
        order = np.argsort(-np.bincount(groups, self.weights), kind="stable")
        return np.argsort(order)[groups]

    def linkage(self) -> NDArray:
        """The tree for :func:`scipy.cluster.hierarchy.dendrogram`; heights are -log10 of the overlaps, or shares.

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
