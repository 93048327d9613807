"""Move, the base class of all moves (parameter objects for scikit-learn), and the resolution of their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import ClassVar

from sklearn.base import BaseEstimator

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.partitions._gibbs_type import PartitionPrior


class Move(BaseEstimator):
    """Base class of the moves that a chain makes in each cycle through its rows.

    A move is a set of parameters; :meth:`bind` makes the kernel of one chain from it. Each exact move alone leaves the
    posterior invariant, so that they may be made in any order and number.

    Attributes
    ----------
    kind : {"rows", "clusters", "columns"}
        "rows": moves every row once; a chain has one of these. "clusters": proposals to split or merge clusters of
        rows. "columns": moves of columns between the views of a cross-categorization.
    replaces_gibbs : bool
        For moves of the rows: whether `sweep` of the kernel replaces Gibbs sampling once all rows are in the subsample.
        Until then rows leave and enter one by one, and are assigned as in Gibbs sampling.
    in_views : bool
        Whether the move can be made in the views of a cross-categorization, each of which has some of the columns.
    alone : bool
        Whether it cannot be combined with other moves.
    """

    kind: ClassVar[str]
    replaces_gibbs: ClassVar[bool] = False
    in_views: ClassVar[bool] = True
    alone: ClassVar[bool] = False

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        """Raise ValueError if a parameter is invalid, or if the move does not suit the prior or a column.

        Called before a chain starts, so that no chain fails later.

        Parameters
        ----------
        prior : PartitionPrior
            Prior of the partition of the rows; for moves of columns, that of the columns.
        models : list of ColumnModel
        """

    def bind(self, columns: list, n_rows: int, twins: dict | None = None) -> MoveKernel:
        """The kernel that makes the moves of one chain.

        Parameters
        ----------
        columns : list of ColumnStatistics
        n_rows : int
        twins : dict or None, default=None
            Further statistics of each column, by the identity of the column, whose hyperparameters the caller keeps
            equal to those of the column: proposals are tried out in these. None: the kernel makes its own.
        """
        raise TypeError(f"{type(self).__name__} must say how it is bound to columns")

    def _check_integer(self, name: str, least: int, optional: bool = False) -> None:
        """Refuse a parameter that is not an integer of at least ``least``, or None where it is optional."""
        value = getattr(self, name)
        if value is None and optional:
            return
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            allowed = f"an integer of at least {least}" + (" or None" if optional else "")
            raise ValueError(f"{name} of {type(self).__name__} must be {allowed}, got {value!r}")


class ClusterMove(Move):
    """Base class of the moves that propose to split and merge clusters of rows after each cycle.

    A subclass has the parameter ``n_proposals``: proposals after each cycle, or None.

    Attributes
    ----------
    pace : float
        Used if ``n_proposals`` is None: number of proposals relative to that of a move which always visits all rows of
        its clusters.
    """

    kind = "clusters"
    pace: ClassVar[float] = 1.0

    def check(self, prior: PartitionPrior, models: list[ColumnModel]) -> None:
        self._check_integer("n_proposals", 0, optional=True)

    def count(self, n_assigned: int, most: int = 16) -> int:
        """Number of proposals after a cycle through this many rows; ``most``: if ``n_proposals`` is None.

        It depends on the number of rows alone: were it to depend on the partition, the chain would not be exact.
        """
        if self.n_proposals is not None:
            return self.n_proposals
        # A proposal visits the rows of its clusters, and is rarely accepted if the clusters are large.
        return round(self.pace * min(max(20_000 // max(n_assigned, 1), 2), most))


def resolve_moves(
    moves: str | Sequence[str | Move], default: Sequence[Move], named: Mapping[str, type[Move]]
) -> tuple[Move, ...]:
    """The moves that a parameter ``moves`` stands for.

    Parameters
    ----------
    moves : "default" or sequence of Move or str
        In the order in which a chain makes them. A name stands for the move with its default parameters.
    default : sequence of Move
        Moves that "default" stands for.
    named : mapping of str to subclass of Move

    Returns
    -------
    moves : tuple of Move

    Raises
    ------
    ValueError
        If it is no such sequence, a name is unknown, there is not exactly one move of the rows, or moves cannot be
        combined.

    Examples
    --------
    >>> from sklearn_subanneal.mixtures import NAMED, Gibbs, SplitMerge, resolve_moves
    >>> resolve_moves(["gibbs", SplitMerge(n_proposals=5)], [Gibbs()], NAMED)
    (Gibbs(), SplitMerge(n_proposals=5))
    """
    if isinstance(moves, str) and moves == "default":
        return tuple(default)
    if isinstance(moves, str) or not isinstance(moves, Sequence):
        raise ValueError(
            f'moves must be "default" or a list of moves, each an object or one of {sorted(named)}; got {moves!r}'
        )
    resolved = []
    for move in moves:
        if isinstance(move, str) and move in named:
            resolved.append(named[move]())
        elif isinstance(move, Move):
            resolved.append(move)
        elif isinstance(move, type) and issubclass(move, Move):
            raise ValueError(f"moves has the class {move.__name__}; write {move.__name__}()")
        else:
            raise ValueError(f"moves has {move!r}, which is neither a move nor one of {sorted(named)}")
    of_rows = [move for move in resolved if move.kind == "rows"]
    if len(of_rows) != 1:
        found = ", ".join(type(move).__name__ for move in of_rows) or "none"
        raise ValueError(f"moves must have exactly one move of the rows, as Gibbs(), but has {found}: {moves!r}")
    if of_rows[0].alone and len(resolved) > 1:
        raise ValueError(f"{type(of_rows[0]).__name__} cannot be combined with other moves; got {moves!r}")
    return tuple(resolved)


def check_moves(moves: Sequence[Move], prior: PartitionPrior, models: list[ColumnModel]) -> None:
    """Raise ValueError if one of the moves of a mixture is invalid, or does not suit its prior or columns."""
    for move in moves:
        if move.kind == "columns":
            raise ValueError(
                f"{type(move).__name__} moves columns between views, and a mixture has but one view; leave it out of "
                "moves, or take CrossCat"
            )
        move.check(prior, models)
