"""Tables of the columns of a file: their types, what was set aside, and what was taken for missing."""

from __future__ import annotations

import shlex

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.column_types import ColumnDescription
from sklearn_subanneal.report.page_table import PageTable, remark_of
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.report.wording import listed

MOST_SET_ASIDE, MOST_MARKS = 100, 6


def column_table(source: Source) -> PageTable:
    """All columns with their types and the reasons."""
    n_rows = len(source.frame)
    rows = [
        (
            column.name,
            column.kind,
            column.reason,
            missing_share(column.n_missing, n_rows),
            f"{column.n_distinct:,}",
            column.values,
        )
        for column in source.columns
    ]
    return PageTable(
        "Columns, their types and the reasons",
        ("column", "type", "reason", "missing cells", "distinct values", "values"),
        rows,
        (3, 4),
    )


def set_aside_table(source: Source) -> PageTable | None:
    """The columns that are not modelled; None if all are."""
    columns = source.set_aside
    rows = [(column.name, _role(column), column.reason) for column in columns[:MOST_SET_ASIDE]]
    caption = "Columns that are set aside" + remark_of(len(rows), len(columns))
    return PageTable(caption, ("column", "used as", "reason"), rows) if rows else None


def missing_marks(source: Source) -> tuple[str, str] | None:
    """What was taken for missing, beside empty cells, and an option that takes the first back; None if nothing."""
    marked = [column for column in source.columns if column.marks]
    if not marked:
        return None
    mark = next(iter(marked[0].marks))
    option = f"--keep {shlex.quote(mark)}" if not mark.startswith("-") else f"--keep={shlex.quote(mark)}"
    return "; ".join(mark_text(column) for column in marked[:MOST_SET_ASIDE]), option


def missing_share(part: int, whole: int) -> str:
    """A number of missing cells, and its share."""
    return f"{part:,} ({part / whole:.1%})" if part else "0"


def mark_text(column: ColumnDescription) -> str:
    """What was taken for a missing cell in a column, as one line.

    Examples
    --------
    >>> from sklearn_subanneal.report.column_tables import mark_text
    >>> from sklearn_subanneal.report.column_types import ColumnDescription
    >>> mark_text(ColumnDescription("age", "real", "", 3, 40, "", {"-999": 2, "n/a": 1}))
    "age: '-999' in 2 cells, 'n/a' in 1 cell"
    """
    marks = [f"{mark!r} in {counted(count, 'cell')}" for mark, count in column.marks.items()]
    return f"{column.name}: {listed(marks, MOST_MARKS)}"


def _role(column: ColumnDescription) -> str:
    return "name of the rows" if column.kind == "label" else "not used"
