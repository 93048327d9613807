"""Gibbs, Slice and SplitMerge: the parameter objects of the moves of a mixture's rows."""

from __future__ import annotations

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.mixtures._slice import SliceKernel
from sklearn_subanneal.mixtures._split_merge import SplitMergeKernel
from sklearn_subanneal.mixtures.move import ClusterMove, Move
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior


class Gibbs(Move):
    """Gibbs sampling: each row in turn chooses its cluster by its conditional distribution given all other rows.

    The parameters of the clusters are integrated out. It suits every prior and every type of column.

    References
    ----------
    R. M. Neal (2000), Markov chain sampling methods for Dirichlet process mixture models, Journal of Computational and
    Graphical Statistics 9, 249-265, algorithm 3. doi:10.1080/10618600.2000.10474879

    Examples
    --------
    >>> from sklearn_subanneal.mixtures import Gibbs
    >>> Gibbs()
    Gibbs()
    """

    kind = "rows"

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return MoveKernel()


class Slice(Move):
    """Slice sampling: each row chooses among the clusters and empty atoms whose mass is above a random threshold.

    The masses of the atoms of the random measure are drawn, the parameters of the clusters stay integrated out. Needs a
    prior that is a normalized random measure: CRP, NGGP or NIG, not a Pitman-Yor process with a discount.

    Parameters
    ----------
    max_atoms : int, default=1000000
        Bound for the number of empty atoms. Where it is met the smallest are left out, and the sweep is not exact; the
        trace counts such sweeps as ``n_overflows``.

    References
    ----------
    J. E. Griffin, S. G. Walker (2011), Posterior simulation of normalized random measure mixtures, Journal of
    Computational and Graphical Statistics 20, 241-259. doi:10.1198/jcgs.2010.08176

    Examples
    --------
    >>> from sklearn_subanneal.mixtures import Slice
    >>> Slice(max_atoms=1000)
    Slice(max_atoms=1000)
    """

    kind = "rows"
    replaces_gibbs = True

    def __init__(self, max_atoms: int = 1_000_000):
        self.max_atoms = max_atoms

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        self._check_integer("max_atoms", 1)
        if not prior.is_random_measure:
            raise ValueError(
                "Slice needs a partition that is that of a normalized random measure, and a Pitman-Yor process with a "
                "discount is not; take CRP(), NGGP() or NIG() as the prior, or Gibbs() in place of Slice()"
            )

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return SliceKernel(columns, n_rows, self.max_atoms)


class SplitMerge(ClusterMove):
    """Split-merge proposals: a cluster is split in two, or two are merged, accepted by Metropolis and Hastings.

    A split allocates the rows of the cluster one after the other to the two parts, each by its conditional probability.

    Parameters
    ----------
    n_proposals : int or None, default=None
        Proposals after each cycle through the rows. None: as many as cost little, 2 to 16 by the number of rows; in
        each view of a cross-categorization 2, or up to 6 if there are real columns with full covariance and few views.
    n_scans : int or None, default=None
        Scans of Gibbs sampling between the two parts that follow the allocation. None: 5; 2 if there are reals, and
        none if they are joint, or if the rows are documents.

    References
    ----------
    S. Jain, R. M. Neal (2004), A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture
    model, Journal of Computational and Graphical Statistics 13, 158-182. doi:10.1198/1061860043001

    D. B. Dahl (2005), Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet process
    mixture models, technical report, Texas A&M University.

    Examples
    --------
    >>> from sklearn_subanneal.mixtures import SplitMerge
    >>> SplitMerge(n_proposals=10, n_scans=3)
    SplitMerge(n_proposals=10, n_scans=3)
    """

    def __init__(self, n_proposals: int | None = None, n_scans: int | None = None):
        self.n_proposals = n_proposals
        self.n_scans = n_scans

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        super().check(prior, models)
        self._check_integer("n_scans", 0, optional=True)

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return SplitMergeKernel(columns, n_rows, twins, -1 if self.n_scans is None else self.n_scans)


NAMED = {"gibbs": Gibbs, "slice": Slice, "split-merge": SplitMerge}
