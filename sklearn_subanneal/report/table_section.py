"""The first section of a report: how the file was read, what was set aside or taken for missing, and the columns."""

from __future__ import annotations

from sklearn_subanneal.report.column_types import ColumnDescription
from sklearn_subanneal.report.findings import Findings
from sklearn_subanneal.report.markup import Markup, counted, element, join_markup, listed, paragraph, table

MOST_COLUMNS_LISTED, MOST_SET_ASIDE, MOST_MARKS = 300, 100, 6


def describe_table(found: Findings) -> Markup:
    """The section on the columns of the table and their types."""
    source = found.source
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
        for column in source.columns[:MOST_COLUMNS_LISTED]
    ]
    shown = "" if len(rows) == len(source.columns) else f" (the first {len(rows):,} of {len(source.columns):,} shown)"
    return join_markup(
        *([paragraph(f"How the file was read: {'; '.join(source.notes)}.")] if source.notes else []),
        *_set_aside(source.set_aside, n_rows),
        *_taken_for_missing(source.columns),
        paragraph(
            "If a type is wrong, run the command again with ",
            element("code", "--types COLUMN=TYPE"),
            ", or edit ",
            element("a", found.files["types"], href=found.files["types"]),
            " and pass it by ",
            element("code", f"--types {found.files['types']}"),
            "; codes and grades should be categorical, names of rows a label.",
        ),
        table(
            "Columns, their types and the reasons" + shown,
            ("column", "type", "reason", "missing", "distinct", "values"),
            rows,
            (3, 4),
        ),
    )


def missing_share(part: int, whole: int) -> str:
    """A number of missing cells, and its share."""
    return f"{part:,} ({part / whole:.1%})" if part else "0"


def mark_text(column: ColumnDescription) -> str:
    """What was taken for a missing cell in a column, as one line.

    Examples
    --------
    >>> from sklearn_subanneal.report.column_types import ColumnDescription
    >>> from sklearn_subanneal.report.table_section import mark_text
    >>> mark_text(ColumnDescription("age", "real", "", 3, 40, "", {"-999": 2, "n/a": 1}))
    "age: '-999' in 2 cells, 'n/a' in 1 cell"
    """
    marks = [f"{mark!r} in {counted(count, 'cell')}" for mark, count in column.marks.items()]
    return f"{column.name}: {listed(marks, MOST_MARKS)}"


def _set_aside(columns: list[ColumnDescription], n_rows: int) -> list[Markup]:
    if not columns:
        return [paragraph("All columns are modelled.")]
    text = "1 column is" if len(columns) == 1 else f"{len(columns):,} columns are"
    rows = [(column.name, _role(column), column.reason) for column in columns[:MOST_SET_ASIDE]]
    more = "" if len(rows) == len(columns) else f" (the first {len(rows)} of {len(columns):,})"
    return [
        paragraph(
            f"{text} set aside: not modelled, and in no result below. To have one modelled, declare its type, as by ",
            element("code", f"--types {_shell(columns[0].name)}=categorical"),
            ".",
        ),
        table(f"Columns that are set aside{more}", ("column", "used as", "reason"), rows),
    ]


def _taken_for_missing(columns: list[ColumnDescription]) -> list[Markup]:
    marked = [column for column in columns if column.marks]
    if not marked:
        return []
    mark = next(iter(marked[0].marks))
    return [
        paragraph(
            "Taken for missing cells, beside empty ones: ",
            element("b", "; ".join(mark_text(column) for column in marked[:MOST_SET_ASIDE])),
            ". If one of them is a value, pass it by --keep, as by ",
            element("code", f"--keep {_shell(mark)}" if not mark.startswith("-") else f"--keep={_shell(mark)}"),
            ".",
        )
    ]


def _role(column: ColumnDescription) -> str:
    return "name of the rows" if column.kind == "label" else "not used"


def _shell(text: str) -> str:
    return text if text.isalnum() else "'" + text.replace("'", "'\\''") + "'"
