"""Hierarchy: a fitted tree over rows with its clusters, exported to SciPy and Newick formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Hierarchy:
    """A binary tree over rows; its lower merges are within clusters, the others between them.

    Attributes
    ----------
    rows : ndarray of int32, shape (n_rows,)
        The rows at the leaves, increasing; leaf i is row ``rows[i]``. A row of weight w has w leaves.
    children : ndarray of int32, shape (n_rows - 1, 2)
        The two nodes joined by each merge: i < n_rows is a leaf, n_rows + i the result of merge i. The last
        n_clusters - 1 merges join clusters.
    log_d : ndarray of shape (n_rows - 1,)
        Log dissimilarity of the nodes joined: the log odds against a single cluster.
    n_clusters : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.trees.hierarchy import Hierarchy
    >>> tree = Hierarchy(np.arange(3), np.array([[0, 2], [1, 3]]), np.array([-1.5, 2.0]), n_clusters=2)
    >>> tree.labels, tree.newick()
    (array([0, 1, 0], dtype=int32), '(1:2.1269,(0:0.2014,2:0.2014):1.9255);')
    """

    rows: np.ndarray
    children: np.ndarray
    log_d: np.ndarray
    n_clusters: int

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each leaf, int32; clusters are numbered by their first leaf."""
        n = len(self.rows)
        above = np.arange(2 * n - 1 if n else 0)
        for merge in range(n - self.n_clusters):
            above[self.children[merge]] = n + merge
        for node in range(len(above) - 1, -1, -1):
            above[node] = above[above[node]]
        _, first, inverse = np.unique(above[:n], return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse].astype(np.int32)

    @property
    def heights(self) -> np.ndarray:
        """Height of each merge, (n_rows - 1,): minus the log probability of one cluster, log(1 + d).

        Heights are made monotone: a merge is at least as high as the merges below it.
        """
        n = len(self.rows)
        heights = np.concatenate([np.zeros(n), np.logaddexp(0.0, self.log_d)])
        for merge, pair in enumerate(self.children):
            heights[n + merge] = max(heights[n + merge], heights[pair].max())
        return heights[n:]

    @property
    def sizes(self) -> np.ndarray:
        """Number of rows below each merge, (n_rows - 1,)."""
        n = len(self.rows)
        sizes = np.ones(2 * n - 1 if n else 0, int)
        for merge, pair in enumerate(self.children):
            sizes[n + merge] = sizes[pair].sum()
        return sizes[n:]

    def linkage(self) -> np.ndarray:
        """The tree as a linkage matrix of SciPy's, (n_rows - 1, 4): `scipy.cluster.hierarchy` draws and cuts it.

        Its merges are sorted by height, as SciPy requires.

        Raises
        ------
        ValueError
            If there are fewer than two rows: SciPy has no linkage matrix of a single leaf.
        """
        n = len(self.rows)
        if n < 2:
            raise ValueError(f"a linkage needs at least 2 rows, got {n}; insert more")
        heights = self.heights
        order = np.argsort(heights, kind="stable")
        place = np.empty(2 * n - 1, int)
        place[:n] = np.arange(n)
        place[n + order] = n + np.arange(n - 1)
        return np.column_stack([np.sort(place[self.children[order]], axis=1), heights[order], self.sizes[order]])

    def newick(self, names: Sequence[str] | None = None, precision: int = 4) -> str:
        """The tree in Newick's format, branch lengths being differences of height.

        Parameters
        ----------
        names : sequence of str, default=None
            Name of each leaf, in quotes where readers would else take it apart, or an underscore for a blank; None: the
            numbers of the rows.
        precision : int, default=4
            Decimals of the lengths.

        Raises
        ------
        ValueError
            If the number of names is not the number of leaves.
        """
        n = len(self.rows)
        names = [str(row) for row in self.rows] if names is None else [_quoted(str(name)) for name in names]
        if len(names) != n:
            raise ValueError(f"names has {len(names)} entries, but the tree has {n} leaves; give one a leaf")
        heights = np.concatenate([np.zeros(n), self.heights])
        text = dict(enumerate(names))
        for merge, pair in enumerate(self.children):
            top = heights[n + merge]
            text[n + merge] = (
                "(" + ",".join(f"{text.pop(node)}:{top - heights[node]:.{precision}f}" for node in pair.tolist()) + ")"
            )
        return "".join(text.values()) + ";"


def _quoted(name: str) -> str:
    """A name as Newick takes it: in quotes if it is empty, or has a character that would mean something else."""
    return name if re.fullmatch(r"[^\s()\[\]{}:;,'_]+", name) else "'" + name.replace("'", "''") + "'"
