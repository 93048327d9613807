"""The sections of a report as HTML: texts and tables of results that are already computed."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.report.anomalies import prediction_text
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.contradiction_tables import describe_contradictions
from sklearn_subanneal.report.findings import Findings
from sklearn_subanneal.report.markup import Markup, counted, element, figure, join_markup, listed, paragraph, table
from sklearn_subanneal.report.structure import LARGEST_RHAT

MOST_IMPUTED_ROWS, MOST_IMPUTED_COLUMNS = 15, 10


def describe_views(found: Findings) -> Markup:
    """The section on the views."""
    several = [view for view in found.views if len(view.columns) > 1]
    alone = [name for view in found.views if len(view.columns) == 1 for name in view.columns]
    rows = [(view.number, len(view.columns), view.n_clusters, ", ".join(view.columns)) for view in several]
    parts = [
        paragraph(
            "Columns in one view depend on one another through the clusters of rows that they share; columns in "
            "different views are independent in this model",
            "." if not found.contradictions.pairs else _but_dependent(found),
        ),
        _picture(found, "views"),
    ]
    if rows:
        parts.append(
            table("Views of several columns", ("view", "columns", "clusters", "names of the columns"), rows, (0, 1, 2))
        )
    if alone:
        parts.append(
            paragraph(
                f"Alone in their view, and so independent of all others: {listed(alone, 40)}. A column of numbers of "
                "which most are equal may be alone although it depends on others; to check, bin it and declare it "
                "categorical."
            )
        )
    return join_markup(*parts)


def describe_clusters(found: Findings) -> Markup:
    """The section on the clusters of each view."""
    shown, names = [view for view in found.views if view.clusters], found.source.row_names
    parts = [
        paragraph(
            "Each view has its own clusters. For each cluster: the number of its rows, the agreement of the draws "
            "that these rows are together, and the columns that differ most from all other rows. The clusters of "
            "all rows are in ",
            _link(found, "clusters"),
            ".",
        ),
    ]
    if not shown:
        parts.append(paragraph("No view has several columns, so no clusters are described."))
    for view in shown:
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
        parts += [
            element("h3", f"View {view.number}: {listed(view.columns, 5)}"),
            table(
                f"{counted(view.n_clusters, 'cluster')}, the largest first{tail}",
                ("cluster", "rows", "agreement", "differences from the other rows", "first rows"),
                rows,
                (0, 1, 2),
            ),
        ]
    many = sum(len(view.columns) > 1 for view in found.views) - len(shown)
    if many > 0:
        parts.append(paragraph(f"{counted(many, 'view')} with fewer columns are not shown."))
    return join_markup(*parts)


def describe_dependence(found: Findings) -> Markup:
    """The section on the dependence between columns."""
    structure = found.structure
    rows = [(pair.one, pair.other, f"{pair.relatedness:.2f}", f"{pair.share:.0%}") for pair in structure.pairs]
    n_columns = len(found.source.modelled)
    return join_markup(
        paragraph(
            "Relatedness is mutual information on the scale of a correlation, from 0 to 1. If the share of draws is "
            "between 0 and 100%, the draws disagree on whether the two columns depend on each other."
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
        describe_contradictions(found.contradictions),
    )


def _but_dependent(found: Findings) -> Markup:
    n_pairs = len(found.contradictions.pairs)
    return join_markup(
        f", but {counted(n_pairs, 'pair')} of them {'is' if n_pairs == 1 else 'are'} ",
        element("a", "dependent by a test", href="#dependence"),
        ".",
    )


def describe_anomalies(found: Findings) -> Markup:
    """The section on improbable cells and rows."""
    names, anomalies = found.source.row_names, found.anomalies
    scored = _of(anomalies.n_scored, len(found.source.frame), "among", "evenly spaced rows")
    cells = [(names[cell.row], cell.column, cell.value, cell.expected, f"{cell.nats:.1f}") for cell in anomalies.cells]
    rows = [
        (names[row.row], f"{row.nats:.1f}", ", ".join(f"{name} ({nats:.1f})" for name, nats in row.cells))
        for row in anomalies.rows
    ]
    alone = [
        (names[singleton.row], singleton.view, f"{singleton.share:.0%}", listed(singleton.columns, 6))
        for singleton in anomalies.singletons
    ]
    return join_markup(
        paragraph(
            "Cells and rows that are improbable given the rest of the table: they may be errors, or of interest. "
            "Surprisal is minus the log probability density in nats, in excess of the median of the column, or of all "
            "rows; 2.3 nats more are ten times less probable. Rows that have a cluster of their own are listed as well."
        ),
        table(
            "Improbable cells, a few of each column: the value, and the prediction from the rest of the row" + scored,
            ("row", "column", "value", "expected", "surprisal"),
            cells,
            (4,),
        )
        if cells
        else paragraph("No cell is improbable."),
        table("Improbable rows, and their most improbable cells" + scored, ("row", "surprisal", "cells"), rows, (1,)),
        table(
            "Rows alone in their cluster" + _of(len(alone), anomalies.n_singletons),
            ("row", "view", "share of draws", "columns"),
            alone,
            (1, 2),
        )
        if alone
        else paragraph("No row is alone in its cluster in most draws."),
    )


def describe_missing(found: Findings) -> Markup:
    """The section on missing cells and their imputation."""
    imputed, names = found.imputation, found.source.row_names
    if not imputed.missing.any():
        return paragraph("The modelled columns have no missing cells.")
    kinds, in_column = found.source.feature_types, imputed.missing.sum(axis=0)
    fullest = np.argsort(-in_column, kind="stable")
    columns = np.sort(fullest[: min(MOST_IMPUTED_COLUMNS, (in_column > 0).sum())])
    rows = np.flatnonzero(imputed.missing[:, columns].any(axis=1))

    def cell(i, j):
        column = imputed.values.columns[j]
        if not imputed.missing[i, j]:
            return brief(imputed.table[column].iloc[i])
        text = prediction_text(imputed.values.iloc[i, j], imputed.uncertainty.iloc[i, j], kinds[column])
        return element("mark", text, title="imputed")

    shown = rows[:MOST_IMPUTED_ROWS]
    files = [_link(found, name) for name in ("imputed", "uncertainty")]
    n_cells, n_rows = int(imputed.missing.sum()), int(imputed.missing.any(axis=1).sum())
    return join_markup(
        paragraph(
            f"{counted(n_cells, 'missing cell')} in {counted(n_rows, 'row')} are imputed given the other cells of "
            "their rows: numbers by their mean, with the standard deviation; categories by the most probable one, with "
            "its probability. The complete table is in ",
            files[0],
            ", standard deviations (for categories, probabilities of being wrong) in ",
            files[1],
            ".",
        ),
        table(
            "Rows with imputed cells, which are marked"
            + _of(len(shown), len(rows))
            + _of(len(columns), int((in_column > 0).sum()), "the", "columns, those with most missing cells"),
            ("row", *imputed.values.columns[columns]),
            [(names[i], *(cell(i, j) for j in columns)) for i in shown],
        ),
    )


def describe_convergence(found: Findings) -> Markup:
    """The section on the agreement of the chains."""
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
        verdict = "R-hat cannot be computed: it needs two chains (--chains) and several draws of each."
    elif structure.n_unsettled:
        verdict = (
            f"The chains disagree on {structure.n_unsettled} of {counted(len(rows), 'quantity')} "
            f"(R-hat above {LARGEST_RHAT}), as is usual for tables of many columns. The results above are averages "
            "over the chains; more chains (--chains) make them more precise."
        )
    else:
        verdict = "The chains agree on all of these quantities."
    parts = [
        *(element("p", problem, class_="warning") for problem in structure.problems),
        paragraph(verdict),
        paragraph(
            f"Of {counted(structure.n_together + structure.n_apart + structure.n_disputed, 'pair')} of columns, "
            f"{structure.n_together:,} are in one view in all draws, {structure.n_apart:,} in no draw, and "
            f"{structure.n_disputed:,} in some draws."
        ),
        paragraph(
            f"Mean log joint density of each chain: {', '.join(map(brief, structure.log_joints))}. Weights of the "
            f"chains in the results: {', '.join(f'{weight:.0%}' for weight in structure.chain_weights)}. A chain that "
            "predicts the rows of the table badly, each by the others, has little weight."
        ),
        _picture(found, "traces"),
        table(
            "Posterior mean and standard deviation, effective sample size (the number of independent draws of the same "
            "precision) and R-hat (near 1 where the chains agree)",
            ("quantity", "mean", "standard deviation", "effective sample size", "R-hat"),
            rows,
            (1, 2, 3, 4),
        ),
    ]
    if found.was_stopped:
        parts.insert(0, element("p", "The fit was interrupted: the results are less reliable.", class_="warning"))
    return join_markup(*parts)


def describe_making(found: Findings) -> Markup:
    """The section on the model, the settings, and the use of the saved model."""
    code = (
        "import sklearn_subanneal\nfrom sklearn_subanneal.report import read_source\n\n"
        f"model = sklearn_subanneal.load({found.files['model']!r})\n"
        f"X = read_source({found.source.name!r}, {found.files['types']!r}).X\n"
        "model.predict_views(X), model.impute(X), model.surprisal(X)"
    )
    return join_markup(
        paragraph(
            "CrossCat, a Bayesian model that partitions the columns into views and the rows of each view into "
            "clusters, was sampled by several Markov chains. The views and clusters shown are those of the "
            "representative draw; all other results are averages over the draws."
        ),
        table("Settings and versions", ("setting", "value"), found.facts.items()),
        paragraph(
            "The model is in ",
            _link(found, "model"),
            ", for further queries. It holds numbers and names only: to load it runs no code.",
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


def _of(shown: int, number: int, before: str = "the first", after: str = "shown") -> str:
    """A remark if not all are shown."""
    return "" if shown == number else f" ({before} {shown:,} of {number:,} {after})"
