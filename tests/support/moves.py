"""Lists of moves that tests of the estimators share."""

from __future__ import annotations

from sklearn_subanneal.mixtures import Gibbs, Slice, SplitMerge
from sklearn_subanneal.trees import IncrementalHierarchy, TreeGuided, TreeGuidedPaper, TreeGuidedSimilar
from sklearn_subanneal.views import ColumnBirthDeath, ColumnBlocks, ColumnGibbs, ColumnGroups

COLUMN_MOVES = {
    "prior": ColumnGibbs("prior", n_auxiliary=2),
    "data-driven": ColumnGibbs(),
    "birth-death": ColumnBirthDeath(),
    "block": ColumnBlocks(),
    "group": ColumnGroups(),
}
# The rows move as by default, and the columns in one way.
VIEW_MOVES = {name: [Gibbs(), SplitMerge(n_proposals=2), move] for name, move in COLUMN_MOVES.items()}

EXACT_MOVES = {
    "tree-guided": [Gibbs(), TreeGuided()],
    "tree-guided-similar": [Gibbs(), TreeGuidedSimilar()],
    "split-merge": [Gibbs(), SplitMerge(n_scans=1)],
    "gibbs": [Gibbs()],
    "slice": [Slice()],
}
FOREST = [IncrementalHierarchy()]
PAPER = [TreeGuidedPaper()]
