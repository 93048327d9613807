"""The tables of a page: views, clusters, dependence, anomalies, missing cells and convergence."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.estimators._contradictions import Contradictions
from sklearn_subanneal.report.anomalies import prediction_text
from sklearn_subanneal.report.clusters import ViewSummary
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.findings import Findings
from sklearn_subanneal.report.number_digits import DIGITS_SHOWN, decimals_of
from sklearn_subanneal.report.page_table import Marked, PageTable, remark_of
from sklearn_subanneal.report.pair_facts import p_text
from sklearn_subanneal.report.wording import listed

MOST_IMPUTED_ROWS, MOST_IMPUTED_COLUMNS = 15, 10
# Pairs of columns with a line of their own; those with larger p-values are listed by their first columns.
MOST_LINES = 100


def view_table(views: list[ViewSummary]) -> PageTable | None:
    """The views of several columns; None if there is none."""
    rows = [
        (view.number, len(view.columns), view.n_clusters, "; ".join(view.columns))  # names may contain commas
        for view in views
        if len(view.columns) > 1
    ]
    caption = "Views: columns that go together"
    return (
        PageTable(caption, ("view", "columns", "groups of rows", "names of the columns"), rows, (0, 1, 2))
        if rows
        else None
    )


def columns_alone(views: list[ViewSummary], tests: Contradictions) -> tuple[list[str], list[str]]:
    """The columns that are alone in their view, and those of them that a test finds dependent on another one."""
    alone = {view.columns[0]: view.names[0] for view in views if len(view.columns) == 1}
    dependent = {name for pair in tests.pairs for name in (pair.one, pair.other)}
    return list(alone), [column for column, name in alone.items() if name in dependent]


def cluster_table(found: Findings, view: ViewSummary) -> PageTable:
    """The largest clusters of a view."""
    names = found.source.row_names
    rows = [
        (
            cluster.number,
            f"{len(cluster.rows):,}",
            f"{cluster.confidence:.2f}",
            "; ".join(trait.text for trait in cluster.traits) or "close to the average",
            "; ".join(str(name) for name in names[cluster.rows[:3]]),  # names may contain commas
        )
        for cluster in view.clusters
    ]
    rest = len(found.source.frame) - sum(len(cluster.rows) for cluster in view.clusters)
    many = view.n_clusters - len(view.clusters)
    tail = f"; {many} more have {counted(rest, 'row')} together" if many else ""
    return PageTable(
        f"{counted(view.n_clusters, 'group')} of rows in view {view.number}, the largest first{tail}",
        ("group", "rows", "stability", "differences from the other rows", "first rows"),
        rows,
        (0, 1, 2),
    )


def pair_table(found: Findings) -> PageTable | None:
    """The most related pairs of columns; None if no two are related."""
    structure = found.structure
    rows = [(pair.one, pair.other, f"{pair.relatedness:.2f}", f"{pair.share:.0%}") for pair in structure.pairs]
    caption = "The strongest dependences" + remark_of(
        structure.n_related, len(found.source.modelled), "among the", "columns"
    )
    heads = ("column", "column", "strength, 0 to 1", "share of draws in one view")
    return PageTable(caption, heads, rows, (2, 3)) if rows else None


def understated_table(found: Findings) -> PageTable | None:
    """Pairs of columns whose dependence the model understates."""
    pairs = found.understated[:MOST_LINES]
    rows = [(pair.one, pair.other, f"{pair.in_table:.2f}", f"{pair.in_model:.2f}") for pair in pairs]
    caption = "Dependences that the model understates" + remark_of(len(rows), len(found.understated))
    heads = ("column", "column", "strength in the table", "in the model")
    return PageTable(caption, heads, rows, (2, 3)) if rows else None


def contradiction_tables(tests: Contradictions) -> list[PageTable]:
    """All pairs of columns that the model keeps apart although a test finds them dependent."""
    lines = [
        (
            pair.one,
            pair.other,
            pair.test,
            p_text(pair.p_value).removeprefix("p ").removeprefix("= "),
            f"{pair.share:.0%}",
        )
        for pair in tests.pairs[:MOST_LINES]
    ]
    further: dict[str, list[str]] = {}
    for pair in tests.pairs[MOST_LINES:]:
        further.setdefault(pair.one, []).append(pair.other)
    out = [
        PageTable(
            "Further dependent pairs: p-values, multiplied by the number of tests",
            ("column", "column", "test", "p-value", "share of draws in one view"),
            lines,
            (3, 4),
        )
    ]
    if further:
        out.append(
            PageTable(
                f"{counted(len(tests.pairs) - len(lines), 'more pair')} with larger p-values",
                ("column", "columns that it depends on"),
                [(one, "; ".join(others)) for one, others in further.items()],
            )
        )
    return out if lines else []


def cell_table(found: Findings) -> PageTable | None:
    """The most improbable cells; None if no cell is improbable."""
    names = found.source.row_names
    rows = [
        (names[cell.row], cell.column, cell.value, cell.expected, f"{cell.nats:.1f}") for cell in found.anomalies.cells
    ]
    caption = (
        "Odd cells, a few of each column: the value, and what would be expected from the rest of the row"
        + scored_remark(found)
    )
    return PageTable(caption, ("row", "column", "value", "expected", "surprise"), rows, (4,)) if rows else None


def row_table(found: Findings) -> PageTable:
    """The most improbable rows."""
    names = found.source.row_names
    rows = [
        (names[row.row], f"{row.nats:.1f}", ", ".join(f"{name} ({nats:.1f})" for name, nats in row.cells))
        for row in found.anomalies.rows
    ]
    return PageTable(
        "Odd rows, and their oddest cells" + scored_remark(found), ("row", "surprise", "cells"), rows, (1,)
    )


def singleton_table(found: Findings) -> PageTable | None:
    """Rows alone in their cluster; None if there is none."""
    names, anomalies = found.source.row_names, found.anomalies
    rows = [(names[own.row], own.view, f"{own.share:.0%}", listed(own.columns, 6)) for own in anomalies.singletons]
    caption = "Rows that are like no other row" + remark_of(len(rows), anomalies.n_singletons)
    return PageTable(caption, ("row", "view", "share of draws", "columns"), rows, (1, 2)) if rows else None


def scored_remark(found: Findings) -> str:
    """A remark if not all rows were searched for anomalies."""
    return remark_of(found.anomalies.n_scored, len(found.source.frame), "among", "evenly spaced rows")


def filled_rows_table(found: Findings) -> PageTable | None:
    """Rows with imputed cells; None if no cell is missing."""
    imputed, names = found.imputation, found.source.row_names
    if not imputed.missing.any():
        return None
    kinds, in_column = found.source.feature_types, imputed.missing.sum(axis=0)
    fullest, n_columns = np.argsort(-in_column, kind="stable"), int((in_column > 0).sum())
    columns = np.sort(fullest[: min(MOST_IMPUTED_COLUMNS, n_columns)])
    rows = np.flatnonzero(imputed.missing[:, columns].any(axis=1))
    numbers = imputed.values.iloc[:, columns].select_dtypes("number")
    decimals = {name: 0 for name in imputed.values} | {
        name: decimals_of(float(numbers[name].max() - numbers[name].min()), DIGITS_SHOWN) for name in numbers
    }

    def cell(i, j):
        column = imputed.values.columns[j]
        if not imputed.missing[i, j]:
            return brief(imputed.table[column].iloc[i], decimals[column])
        return Marked(prediction_text(imputed.values.iloc[i, j], imputed.uncertainty.iloc[i, j], kinds[column]))

    shown = rows[:MOST_IMPUTED_ROWS]
    return PageTable(
        "Rows with imputed cells, which are marked"
        + remark_of(len(shown), len(rows))
        + remark_of(len(columns), n_columns, "the", "columns, those with most missing cells"),
        ("row", *imputed.values.columns[columns]),
        [(names[i], *(cell(i, j) for j in columns)) for i in shown],
    )


def convergence_table(found: Findings) -> PageTable:
    """Convergence diagnostics of the quantities that were followed."""
    rows = [
        (
            name.replace("_", " "),
            brief(mean),
            brief(deviation),
            "" if np.isnan(size) else f"{size:.0f}",
            "" if np.isnan(rhat) else f"{rhat:.2f}",
        )
        for name, mean, deviation, size, rhat in found.structure.convergence
    ]
    return PageTable(
        "Quantities that were followed, for statisticians",
        ("quantity", "mean", "standard deviation", "effective sample size", "R-hat"),
        rows,
        (1, 2, 3, 4),
    )
