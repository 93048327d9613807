"""CoupledBlock: draws and densities of the joint reals of a view, for mutual information of two groups of columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from sklearn_subanneal.mixtures.parts import Part


class CoupledBlock:
    """Joint reals of which some are in group 0 or 1, some in group 2, on which these depend, and some are known.

    Parameters
    ----------
    part : Part
        The block of all these columns.
    groups : sequence of collection of int
        The columns of the three groups.
    known : mapping of int to ndarray of shape (1, 1)
        Cells that are known, in standard units.
    n_clusters : int
    """

    def __init__(self, part: Part, groups: Sequence[Collection[int]], known: Mapping[int, np.ndarray], n_clusters: int):
        self.statistics, self.n_clusters = part.statistics, n_clusters
        self.at = [np.array([m in group for m in part.members]) for group in groups]
        self.known = np.array([known[m].item() if m in known else np.nan for m in part.members])

    def unknown(self, n_rows: int) -> np.ndarray:
        """Rows (n_rows, width) of which nothing is observed but the known cells."""
        return np.tile(self.known, (n_rows, 1))

    def draw(self, values: np.ndarray, clusters: np.ndarray, groups: Sequence[int], generator) -> np.ndarray:
        """Rows with the cells of some groups drawn from a cluster for each row, given the other observed cells."""
        drawn = self.statistics.draws(clusters.astype(np.int32), values.copy(), generator)
        return np.where(np.any([self.at[group] for group in groups], axis=0), drawn, values)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density of the observed cells given the known ones, (n_rows, n_clusters)."""
        return self._log_density(values) - self._log_density(self.known[None])

    def log_densities(self, values: np.ndarray) -> tuple[np.ndarray, ...]:
        """Log densities of complete rows in each cluster, all given the known cells.

        Returns
        -------
        first, second, third, both : ndarray of shape (n_rows, n_clusters)
            Of groups 0 and 1, each given group 2, of group 2, and the log of p(0, 1 | 2) / (p(0 | 2) p(1 | 2)).
        """
        a, b, _ = self.at
        given = self._log_density(np.where(a | b, np.nan, values))
        with_a = self._log_density(np.where(b, np.nan, values)) - given
        with_b = self._log_density(np.where(a, np.nan, values)) - given
        both = self._log_density(values) - given - with_a - with_b
        return with_a, with_b, given - self._log_density(self.known[None]), both

    def _log_density(self, values):
        return self.statistics.log_densities(values, self.n_clusters)
