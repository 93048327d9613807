"""The sections of a report: what is said of what was found. Nothing is computed here."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.report.findings import Findings
from sklearn_subanneal.report.markup import Markup, counted, element, figure, joined, listed, paragraph, table
from sklearn_subanneal.report.source import brief
from sklearn_subanneal.report.structure import LARGEST_RHAT
from sklearn_subanneal.report.surprises import guess

MOST_ROWS_OF_GAPS, MOST_COLUMNS_OF_GAPS, MOST_COLUMNS_LISTED = 15, 10, 300


def describe_table(found: Findings) -> Markup:
    """Its columns and their types."""
    columns, n_rows = found.source.columns, len(found.source.frame)
    rows = [
        (
            column.name,
            column.kind,
            column.reason,
            _share(column.n_missing, n_rows),
            f"{column.n_distinct:,}",
            column.values,
        )
        for column in columns[:MOST_COLUMNS_LISTED]
    ]
    left_out = [column.name for column in columns if not column.is_modelled]
    note = f"Not learned: {listed(left_out, 8)}. " if left_out else "All columns were learned. "
    return joined(
        paragraph(
            note,
            "Where a type is not what you mean, run again with ",
            element("code", "--types COLUMN=TYPE"),
            "; codes and grades should be categorical, names of rows a label.",
        ),
        table(
            "Columns, the types they were given and why" + _of(len(rows), len(columns)),
            ("column", "type", "because", "missing", "distinct", "values"),
            rows,
            (3, 4),
        ),
    )


def describe_views(found: Findings) -> Markup:
    """Which columns belong together."""
    several = [view for view in found.views if len(view.columns) > 1]
    alone = [name for view in found.views if len(view.columns) == 1 for name in view.columns]
    rows = [(view.number, len(view.columns), view.n_clusters, ", ".join(view.columns)) for view in several]
    parts = [
        paragraph(
            "Columns in one view depend on one another, through clusters of the rows that they share; columns in "
            "different views are independent as far as the model can tell."
        ),
        _picture(found, "views"),
    ]
    if rows:
        parts.append(
            table("Views of several columns", ("view", "columns", "clusters", "which columns"), rows, (0, 1, 2))
        )
    if alone:
        parts.append(
            paragraph(
                f"In a view of their own, and so independent of all others: {listed(alone, 40)}. "
                "Numbers of which most are the same may end there although they do depend on others; bin them "
                "and declare them categorical to see."
            )
        )
    return joined(*parts)


def describe_clusters(found: Findings) -> Markup:
    """Which rows belong together, and why."""
    shown, names = [view for view in found.views if view.clusters], found.source.row_names
    parts = [
        paragraph(
            "Each view has clusters of its own. For each are given its rows, how far the draws agree that they "
            "are together, and the columns in which it differs most from all other rows. The clusters of every "
            "row are in ",
            _link(found, "clusters"),
            ".",
        ),
    ]
    if not shown:
        parts.append(paragraph("No view has several columns: there is nothing to describe."))
    for view in shown:
        rows = [
            (
                cluster.number,
                f"{len(cluster.rows):,}",
                f"{cluster.confidence:.2f}",
                "; ".join(trait.text for trait in cluster.traits) or "close to the average",
                "; ".join(str(name) for name in names[cluster.rows[:3]]),  # names of people have commas
            )
            for cluster in view.clusters
        ]
        rest = len(found.source.frame) - sum(len(cluster.rows) for cluster in view.clusters)
        many = view.n_clusters - len(view.clusters)
        tail = f"; {many} more have {counted(rest, 'row')} together" if many else ""
        parts += [
            element("h3", f"View {view.number}: {listed(view.columns, 5)}"),
            table(
                f"{counted(view.n_clusters, 'cluster')}, the largest first{tail}",
                ("cluster", "rows", "agreement", "what tells it from the others", "such as"),
                rows,
                (0, 1, 2),
            ),
        ]
    many = sum(len(view.columns) > 1 for view in found.views) - len(shown)
    if many > 0:
        parts.append(paragraph(f"{counted(many, 'view')} of fewer columns are not shown."))
    return joined(*parts)


def describe_dependence(found: Findings) -> Markup:
    """Which pairs of columns are related."""
    structure = found.structure
    rows = [(pair.one, pair.other, f"{pair.relatedness:.2f}", f"{pair.share:.0%}") for pair in structure.pairs]
    n_columns = len(found.source.modelled)
    return joined(
        paragraph(
            "Relatedness is mutual information on the scale of a correlation, from 0 to 1. A share between 0 and "
            "100% says that the draws differ on whether the two belong together. Columns that are kept apart may "
            "still be correlated, if others explain each of them better; ask for a report on a few of them to "
            "see."
        ),
        _picture(found, "dependence"),
        table(
            "The most related pairs of columns" + _of(structure.n_related, n_columns, "among the", "columns"),
            ("column", "column", "relatedness", "share of draws in one view"),
            rows,
            (2, 3),
        )
        if rows
        else paragraph("No two columns are related."),
    )


def describe_anomalies(found: Findings) -> Markup:
    """Cells and rows that were not to be expected."""
    names, odd = found.source.row_names, found.surprises
    scored = _of(odd.n_scored, len(found.source.frame), "among", "evenly spaced rows")
    cells = [(names[cell.row], cell.column, cell.value, cell.expected, f"{cell.nats:.1f}") for cell in odd.cells]
    rows = [
        (names[row.row], f"{row.nats:.1f}", ", ".join(f"{name} ({nats:.1f})" for name, nats in row.cells))
        for row in odd.rows
    ]
    alone = [(names[loner.row], loner.view, f"{loner.share:.0%}", listed(loner.columns, 6)) for loner in odd.loners]
    return joined(
        paragraph(
            "Cells and rows that the rest of the table does not let expect: errors, or what is worth a look. "
            "Surprise is in nats beyond what is usual in the column, or for a row; 2.3 nats are ten times less "
            "probable. The chains have seen every row: one so extreme that they gave it a cluster to itself surprises "
            "them less than it should, so these rows are listed as well."
        ),
        table(
            "Odd cells, a few of each column: what is there, and what the rest of the row suggests" + scored,
            ("row", "column", "value", "expected", "surprise"),
            cells,
            (4,),
        )
        if cells
        else paragraph("No cell is odd."),
        table("Odd rows, and their oddest cells" + scored, ("row", "surprise", "oddest cells"), rows, (1,)),
        table(
            "Rows alone in their cluster" + _of(len(alone), odd.n_alone),
            ("row", "view", "share of draws", "columns"),
            alone,
            (1, 2),
        )
        if alone
        else paragraph("No row is alone in its cluster in most draws."),
    )


def describe_missing(found: Findings) -> Markup:
    """What was filled in."""
    gaps, names = found.gaps, found.source.row_names
    if not gaps.missing.any():
        return paragraph("There are none in the columns that were learned.")
    kinds, in_column = found.source.feature_types, gaps.missing.sum(axis=0)
    fullest = np.argsort(-in_column, kind="stable")
    columns = np.sort(fullest[: min(MOST_COLUMNS_OF_GAPS, (in_column > 0).sum())])
    rows = np.flatnonzero(gaps.missing[:, columns].any(axis=1))

    def cell(i, j):
        column = gaps.values.columns[j]
        if not gaps.missing[i, j]:
            return brief(gaps.table[column].iloc[i])
        text = guess(gaps.values.iloc[i, j], gaps.uncertainty.iloc[i, j], kinds[column])
        return element("mark", text, title="filled in")

    shown = rows[:MOST_ROWS_OF_GAPS]
    files = [_link(found, name) for name in ("imputed", "uncertainty")]
    n_cells, n_rows = int(gaps.missing.sum()), int(gaps.missing.any(axis=1).sum())
    return joined(
        paragraph(
            f"{counted(n_cells, 'cell')} in {counted(n_rows, 'row')} were filled in, given the other cells of their "
            "rows: numbers by their mean, with its standard deviation; categories by the most probable one, with its "
            "probability. The whole table is in ",
            files[0],
            ", standard deviations (for categories, probabilities of being wrong) in ",
            files[1],
            ".",
        ),
        table(
            "Rows with cells filled in, which are marked"
            + _of(len(shown), len(rows))
            + _of(len(columns), int((in_column > 0).sum()), "the", "columns, those with most gaps"),
            ("row", *gaps.values.columns[columns]),
            [(names[i], *(cell(i, j) for j in columns)) for i in shown],
        ),
    )


def describe_convergence(found: Findings) -> Markup:
    """Whether the chains agree."""
    structure = found.structure
    rows = [
        (
            name.replace("_", " "),
            brief(mean),
            brief(deviation),
            "" if np.isnan(size) else f"{size:.0f}",
            "" if np.isnan(rhat) else f"{rhat:.2f}",
        )
        for name, mean, deviation, size, rhat in structure.convergence
    ]
    if len(structure.log_joints) < 2 or all(np.isnan(rhat) for *_, rhat in structure.convergence):
        verdict = "There is nothing to compare: this takes two chains (--chains) and several draws of each."
    elif structure.n_unsettled:
        verdict = (
            f"On {structure.n_unsettled} of {counted(len(rows), 'quantity')} the chains do not agree "
            f"(R-hat above {LARGEST_RHAT}); on tables of many columns that is usual. What is said here averages over "
            "them. More chains (--chains) make the averages better."
        )
    else:
        verdict = "The chains agree on all of these quantities."
    parts = [
        paragraph(verdict),
        paragraph(
            f"Of {counted(structure.n_together + structure.n_apart + structure.n_disputed, 'pair')} of columns, "
            f"{structure.n_together:,} are in one view in all draws, {structure.n_apart:,} in none, and on "
            f"{structure.n_disputed:,} the draws differ."
        ),
        paragraph(
            f"Log joint density of each chain, on average: {', '.join(map(brief, structure.log_joints))}. A "
            "chain far below the others is stuck."
        ),
        _picture(found, "traces"),
        table(
            "Draws of the chains: R-hat is near 1 where they agree, the effective size says how many independent "
            "draws theirs are worth",
            ("quantity", "mean", "standard deviation", "effective size", "R-hat"),
            rows,
            (1, 2, 3, 4),
        ),
    ]
    if found.was_stopped:
        parts.insert(0, element("p", "The chains were stopped before their time: trust this less.", class_="warning"))
    return joined(*parts)


def describe_making(found: Findings) -> Markup:
    """How the report was made, and how to go on."""
    code = (
        "import joblib\nimport pandas as pd\n\n"
        f"model = joblib.load({found.files['model']!r})\n"
        f"table = {found.source.reading}\n"
        "X = table[list(model.feature_names_in_)]\n"
        "model.predict_views(X), model.impute(X), model.surprisal(X)"
    )
    return joined(
        paragraph(
            "A CrossCat, a Bayesian model that partitions the columns into views and the rows of each view into "
            "clusters, was sampled by several Markov chains. Views and clusters shown are those of the draw that "
            "represents them best; all else averages over the draws."
        ),
        table("Settings and versions", ("what", "value"), found.facts.items()),
        paragraph(
            "The model is in ",
            _link(found, "model"),
            ". It answers more questions than this page. (Load models "
            "only from people whom you trust: they are pickles.)",
        ),
        element("pre", element("code", code), tabindex="0"),
    )


def _picture(found: Findings, name: str) -> Markup:
    if name not in found.pictures:
        return Markup("")
    picture = found.pictures[name]
    return figure(picture.source, picture.alt, picture.caption)


def _link(found: Findings, name: str) -> Markup:
    return element("a", found.files[name], href=found.files[name])


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if part else "0"


def _of(shown: int, number: int, before: str = "the first", after: str = "shown") -> str:
    """A remark where not all are shown."""
    return "" if shown == number else f" ({before} {shown:,} of {number:,} {after})"
