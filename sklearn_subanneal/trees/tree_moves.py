"""TreeGuided, TreeGuidedSimilar, TreeGuidedPaper and IncrementalHierarchy: the parameter objects of these moves."""

from __future__ import annotations

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures import row_moves
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.mixtures.move import ClusterMove, Move
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior
from sklearn_subanneal.trees._tree_guided import TreeGuidedKernel
from sklearn_subanneal.trees._tree_guided_paper import TreeGuidedPaperKernel
from sklearn_subanneal.trees._tree_guided_similar import TreeGuidedSimilarKernel

# Proposals of TreeGuided after a cycle through the rows: one more for so many rows, from the fewest to the most. They
# cost little, and splits and merges are what a chain needs that is stuck after the annealing.
FEWEST_PROPOSALS, ROWS_OF_A_PROPOSAL, MOST_PROPOSALS = 24, 50, 60


class TreeGuided(ClusterMove):
    """Split-merge proposals with splits suggested by a tree over some rows of the cluster; exact.

    Most proposals to merge two clusters are rejected before a row is visited. The cluster to merge with is often the
    one that a random row would join next.

    Parameters
    ----------
    n_proposals : int or None, default=None
        Proposals after each cycle through the rows. None: 24 to 60 by the number of rows.
    subset_size : int, default=50
        Maximum number of rows of a tree: trees over all rows of large clusters cost more than they gain.

    References
    ----------
    J. Lee, S. Choi (2015), Tree-guided MCMC inference for normalized random measure mixture models, NeurIPS; corrected
    and extended.

    Examples
    --------
    >>> from sklearn_subanneal.trees import TreeGuided
    >>> TreeGuided(subset_size=20)
    TreeGuided(subset_size=20)
    """

    in_views = False

    def __init__(self, n_proposals: int | None = None, subset_size: int = 50):
        self.n_proposals = n_proposals
        self.subset_size = subset_size

    def count(self, n_assigned: int, most: int = MOST_PROPOSALS) -> int:
        """Number of proposals after a cycle through this many rows, of which most end before the rows are visited."""
        if self.n_proposals is not None:
            return self.n_proposals
        return min(FEWEST_PROPOSALS + n_assigned // ROWS_OF_A_PROPOSAL, most)

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        super().check(prior, models)
        self._check_integer("subset_size", 2)

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return TreeGuidedKernel(columns, n_rows, subset_size=self.subset_size)


class TreeGuidedSimilar(ClusterMove):
    """Split-merge proposals in which trees suggest splits and the similarity of clusters suggests merges; exact.

    The published sampler, corrected so that it leaves the posterior invariant.

    Parameters
    ----------
    n_proposals : int or None, default=None
        Proposals after each cycle through the rows. None: as many as cost little, 2 to 16 by the number of rows.
    subset_size : int, default=50
        Maximum number of rows of a tree.
    n_scans : int, default=1
        Scans of Gibbs sampling between the two parts before the last one, which is the proposal.

    References
    ----------
    J. Lee, S. Choi (2015), Tree-guided MCMC inference for normalized random measure mixture models, NeurIPS; corrected.

    Examples
    --------
    >>> from sklearn_subanneal.trees import TreeGuidedSimilar
    >>> TreeGuidedSimilar(n_proposals=5)
    TreeGuidedSimilar(n_proposals=5)
    """

    in_views = False

    def __init__(self, n_proposals: int | None = None, subset_size: int = 50, n_scans: int = 1):
        self.n_proposals = n_proposals
        self.subset_size = subset_size
        self.n_scans = n_scans

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        super().check(prior, models)
        self._check_integer("subset_size", 2)
        self._check_integer("n_scans", 0)

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return TreeGuidedSimilarKernel(columns, n_rows, subset_size=self.subset_size, n_scans=self.n_scans)


class TreeGuidedPaper(Move):
    """The tree-guided sampler as printed in the paper, which is *biased*: draws have too few clusters.

    Meant to reproduce the paper, and to search for a mode.

    Parameters
    ----------
    n_proposals : int, default=20
        Proposals to split or merge clusters in each sweep.

    References
    ----------
    J. Lee, S. Choi (2015), Tree-guided MCMC inference for normalized random measure mixture models, NeurIPS.

    Examples
    --------
    >>> from sklearn_subanneal.trees import TreeGuidedPaper
    >>> TreeGuidedPaper(n_proposals=10)
    TreeGuidedPaper(n_proposals=10)
    """

    kind = "rows"
    replaces_gibbs = True
    in_views = False

    def __init__(self, n_proposals: int = 20):
        self.n_proposals = n_proposals

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        self._check_integer("n_proposals", 0)

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return TreeGuidedPaperKernel(columns, n_rows, n_proposals=self.n_proposals)


class IncrementalHierarchy(Move):
    """Incremental Bayesian hierarchical clustering: rows are inserted into a forest whose trees are the clusters.

    No sampler but a point estimate, one for each chain; it cannot be combined with other moves. Hyperparameters are
    learned from forests over 1,000 rows, or in a smaller table from the first forest over all of them.

    Parameters
    ----------
    n_rebuilds : int or None, default=None
        How often the forest is built anew, from rows in a random order and with hyperparameters drawn given the best
        one before. The one with the largest log joint density is kept. None: 16 times in tables of up to 1,000 rows,
        16,000 / n_samples times in larger ones. ``partial_fit`` does not build it anew.

    References
    ----------
    J. Lee, S. Choi (2014), Incremental tree-based inference with dependent normalized random measures, AISTATS.

    Examples
    --------
    >>> from sklearn_subanneal.trees import IncrementalHierarchy
    >>> IncrementalHierarchy(n_rebuilds=4)
    IncrementalHierarchy(n_rebuilds=4)
    """

    kind = "rows"
    in_views = False
    alone = True

    def __init__(self, n_rebuilds: int | None = None):
        self.n_rebuilds = n_rebuilds

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        if self.n_rebuilds is not None:
            self._check_integer("n_rebuilds", 0)

    def rebuilds_of(self, n_rows: int) -> int:
        """How often a forest over so many rows is built anew."""
        return min(16, 16_000 // n_rows) if self.n_rebuilds is None else self.n_rebuilds

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return MoveKernel()


NAMED = row_moves.NAMED | {
    "tree-guided": TreeGuided,
    "tree-guided-similar": TreeGuidedSimilar,
    "tree-guided-paper": TreeGuidedPaper,
    "incremental-hierarchy": IncrementalHierarchy,
}
