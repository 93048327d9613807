"""Mixtures of tables: the partition of the rows with its prior and its columns, and the moves that sample it."""

from sklearn_subanneal.mixtures.move import ClusterMove, Move, check_moves, resolve_moves
from sklearn_subanneal.mixtures.row_moves import NAMED, Gibbs, Slice, SplitMerge

__all__ = ["NAMED", "ClusterMove", "Gibbs", "Move", "Slice", "SplitMerge", "check_moves", "resolve_moves"]
