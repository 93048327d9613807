"""Trees over rows: incremental hierarchical clustering, and split-merge moves guided by trees."""

from sklearn_subanneal.trees.hierarchy import Hierarchy
from sklearn_subanneal.trees.tree_moves import (
    NAMED,
    IncrementalHierarchy,
    TreeGuided,
    TreeGuidedPaper,
    TreeGuidedSimilar,
)

__all__ = ["NAMED", "Hierarchy", "IncrementalHierarchy", "TreeGuided", "TreeGuidedPaper", "TreeGuidedSimilar"]
