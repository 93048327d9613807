"""Cross-categorization: a partition of the columns into views, and a mixture of the rows in each view."""

from sklearn_subanneal.views.column_moves import (
    NAMED,
    ColumnBirthDeath,
    ColumnBlocks,
    ColumnGibbs,
    ColumnGroups,
    ColumnMove,
    ColumnPacing,
    ViewSplitMerge,
    check_view_moves,
)

__all__ = [
    "NAMED",
    "ColumnBirthDeath",
    "ColumnBlocks",
    "ColumnGibbs",
    "ColumnGroups",
    "ColumnMove",
    "ColumnPacing",
    "ViewSplitMerge",
    "check_view_moves",
]
