"""ColumnGibbs and the other parameter objects of the moves of columns between views; ColumnPacing; their checks."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import ClassVar

from sklearn.base import BaseEstimator

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures import row_moves
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.mixtures.move import Move
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior
from sklearn_subanneal.views._column_blocks import ColumnBlocksKernel
from sklearn_subanneal.views._column_groups import ColumnGroupsKernel
from sklearn_subanneal.views._single_columns import ColumnBirthDeathKernel, ColumnGibbsKernel
from sklearn_subanneal.views._view_split_merge import ViewSplitMergeKernel

# Where the row partitions of new views come from.
NEW_VIEWS = ("data-driven", "prior")


class ColumnMove(Move):
    """Base class of the moves of columns between views. Each alone leaves the posterior invariant."""

    kind = "columns"

    def count(self, n_columns: int, share: float = 1.0) -> int:
        """Number of proposals in a round of moves, or in a part of one that costs this share of it."""
        return max(round(share * self._count_all(n_columns)), 1)

    def _count_all(self, n_columns: int) -> int:
        """Number of proposals in a whole round."""
        return n_columns


class ColumnGibbs(ColumnMove):
    """Gibbs sampling of the view of each column, among the present views and some new ones (Neal's algorithm 8).

    Parameters
    ----------
    new_views : {"data-driven", "prior"}, default="data-driven"
        Row partitions of new views: allocated sequentially given the column, and weighted so that this is exact; or
        drawn from the prior, which are rarely accepted if there are many rows.
    n_auxiliary : int, default=1
        New views proposed to each column; "prior" needs more of them than "data-driven".

    References
    ----------
    R. M. Neal (2000), Markov chain sampling methods for Dirichlet process mixture models, Journal of Computational and
    Graphical Statistics 9, 249-265, algorithm 8. doi:10.1080/10618600.2000.10474879

    V. Mansinghka et al. (2016), CrossCat: a fully Bayesian nonparametric method for analyzing heterogeneous, high
    dimensional data, JMLR 17.

    Examples
    --------
    >>> from sklearn_subanneal.views import ColumnGibbs
    >>> ColumnGibbs("prior", n_auxiliary=2)
    ColumnGibbs(n_auxiliary=2, new_views='prior')
    """

    def __init__(self, new_views: str = "data-driven", n_auxiliary: int = 1):
        self.new_views = new_views
        self.n_auxiliary = n_auxiliary

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        if self.new_views not in NEW_VIEWS:
            raise ValueError(f"new_views of ColumnGibbs must be one of {NEW_VIEWS}, got {self.new_views!r}")
        self._check_integer("n_auxiliary", 1)

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return ColumnGibbsKernel(self.n_auxiliary, self.new_views == "data-driven")


class ColumnBirthDeath(ColumnMove):
    """Births of views for single columns, with row partitions from the prior, and their deaths.

    As many Metropolis-Hastings proposals as there are columns.

    References
    ----------
    F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing,
    AISTATS, section 4.

    Examples
    --------
    >>> from sklearn_subanneal.views import ColumnBirthDeath
    >>> ColumnBirthDeath()
    ColumnBirthDeath()
    """

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return ColumnBirthDeathKernel()


class ColumnBlocks(ColumnMove):
    """All columns choose among the views and a pool of new ones, several times from one table of likelihoods.

    The new views, which the columns share, have row partitions from the prior.

    Parameters
    ----------
    n_pool : int, default=32
        New views in the pool.

    References
    ----------
    S. Favaro, Y. W. Teh (2013), MCMC for normalized random measure mixture models, Statistical Science 28, 335-359
    (the algorithm "Reuse"). doi:10.1214/13-STS422

    Examples
    --------
    >>> from sklearn_subanneal.views import ColumnBlocks
    >>> ColumnBlocks(n_pool=8)
    ColumnBlocks(n_pool=8)
    """

    # Sweeps over the columns for each table of likelihoods, whose computation takes most of the time.
    n_sweeps: ClassVar[int] = 4

    def __init__(self, n_pool: int = 32):
        self.n_pool = n_pool

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        self._check_integer("n_pool", 1)

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return ColumnBlocksKernel(self.n_pool, self.n_sweeps)

    def _count_all(self, n_columns: int) -> int:
        return 1


class ColumnGroups(ColumnMove):
    """Proposals that a set of columns leaves its view together for a new one, or that a whole view joins another.

    Needed where columns are nearly functions of one another.

    Parameters
    ----------
    n_proposals : int, default=2
        Proposals in a round of moves.

    Examples
    --------
    >>> from sklearn_subanneal.views import ColumnGroups
    >>> ColumnGroups(n_proposals=3)
    ColumnGroups(n_proposals=3)
    """

    def __init__(self, n_proposals: int = 2):
        self.n_proposals = n_proposals

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        self._check_integer("n_proposals", 1)

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return ColumnGroupsKernel()

    def _count_all(self, n_columns: int) -> int:
        return self.n_proposals


class ViewSplitMerge(ColumnMove):
    """Proposals that a view is split, or two are merged, with new partitions of all their rows.

    Needed where two views should be one and each has clusters that are wrong.

    Parameters
    ----------
    n_proposals : int, default=1
        Proposals in a round of moves.

    Examples
    --------
    >>> from sklearn_subanneal.views import ViewSplitMerge
    >>> ViewSplitMerge(n_proposals=2)
    ViewSplitMerge(n_proposals=2)
    """

    def __init__(self, n_proposals: int = 1):
        self.n_proposals = n_proposals

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        self._check_integer("n_proposals", 1)

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        return ViewSplitMergeKernel()

    def _count_all(self, n_columns: int) -> int:
        return self.n_proposals


class ColumnPacing(BaseEstimator):
    """How often the moves of columns are made.

    Parameters
    ----------
    rest_above : int or None, default=2000
        Columns rest while the subsample has more rows than this and grows. They move again once all rows are assigned,
        a random part of them after each cycle, so that this costs no more than at this size. At least 1; None: they
        never rest.
    patience : int or None, default=8
        After a move has moved no column this many times in a row, it is made in every second cycle only, after as many
        more in every fourth, down to every sixteenth; when a column moves, in every one again. While draws are made,
        the pace stays as it is, but a move is made in every fourth cycle at least. None: every cycle.
    from_share : float, default=0
        Columns rest while the subsample has less than this share of the rows. If they start in one view, they stay
        there until its clusters are known.

    Examples
    --------
    >>> from sklearn_subanneal.views import ColumnPacing
    >>> ColumnPacing(rest_above=None)
    ColumnPacing(rest_above=None)
    """

    def __init__(self, rest_above: int | None = 2000, patience: int | None = 8, from_share: float = 0.0):
        self.rest_above = rest_above
        self.patience = patience
        self.from_share = from_share

    def check(self) -> None:
        """Raise ValueError if a parameter is invalid."""
        # With 0 rows, columns would rest for ever.
        for name, wanted in (("rest_above", "a number of rows, at least 1,"), ("patience", "an integer of at least 1")):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < 1):
                raise ValueError(f"{name} of ColumnPacing must be {wanted} or None, got {value!r}")
        share = self.from_share
        if isinstance(share, bool) or not isinstance(share, Real) or not 0.0 <= share <= 1.0:
            raise ValueError(f"from_share of ColumnPacing must be a number between 0 and 1, got {share!r}")

    def parts(self, n_assigned: int, n_rows: int) -> bool:
        """Whether columns that rest in one view part now, if nearly every row is alone in it.

        That is so when they would move, but in a large table while a round of moves is cheap: the time for a cycle of
        rows that are alone grows with their square, and columns that part must find their views before they rest again.
        """
        first = self.from_share * n_rows
        if self.rest_above is not None:
            first = min(first, 0.5 * self.rest_above)
        return self.from_share > 0.0 and first <= n_assigned < n_rows

    def interval(self, n_quiet: int, arrived: bool) -> int:
        """Cycles from one time that a move is made to the next, after it has moved no column so many times."""
        return 1 if self.patience is None else 2 ** min(n_quiet // self.patience, 2 if arrived else 4)

    def share(self, n_assigned: int, complete: bool) -> float:
        """The part of a round of moves to make with this many rows assigned; ``complete`` if these are all rows."""
        if self.rest_above is None or n_assigned <= self.rest_above:
            return 1.0
        return self.rest_above / n_assigned if complete else 0.0


NAMED = row_moves.NAMED | {
    "column-gibbs": ColumnGibbs,
    "column-birth-death": ColumnBirthDeath,
    "column-blocks": ColumnBlocks,
    "column-groups": ColumnGroups,
    "view-split-merge": ViewSplitMerge,
}


def check_view_moves(
    moves: Sequence[Move], column_prior: PartitionPrior, row_prior: PartitionPrior, models: list[ColumnModel]
) -> None:
    """Raise ValueError if a move of a cross-categorization is invalid, or does not suit a prior or a column.

    Parameters
    ----------
    moves : sequence of Move
    column_prior, row_prior : PartitionPrior
    models : list of ColumnModel
    """
    for name, prior in (("column_partition", column_prior), ("row_partition", row_prior)):
        if prior.has_auxiliary:
            raise ValueError(
                f"{name} must have predictive probabilities that depend on nothing but the sizes of its clusters, and "
                "those of NGGP and NIG depend on an auxiliary variable; take CRP() or PitmanYor()"
            )
    for model in models:
        if not model.single:
            raise ValueError(
                f"{model.name!r} is a block of columns, and views are partitions of single columns; model its columns "
                "one by one, for instance with covariance_type='diag'"
            )
    for move in moves:
        if not move.in_views:
            raise ValueError(
                f"{type(move).__name__} cannot be made in the views of a cross-categorization; leave it out of moves, "
                "or take SplitMerge() or Gibbs()"
            )
        move.check(column_prior if move.kind == "columns" else row_prior, models)
