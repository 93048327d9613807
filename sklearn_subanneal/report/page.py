"""page: the web page of a report, from its results and templates."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.chart import chart_of
from sklearn_subanneal.report.column_tables import column_table, missing_marks, set_aside_table
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.distributions import MOST_ROWS
from sklearn_subanneal.report.findings import Findings
from sklearn_subanneal.report.next_steps import find_next_steps
from sklearn_subanneal.report.page_table import PageTable
from sklearn_subanneal.report.section_tables import (
    cell_table,
    cluster_table,
    columns_alone,
    contradiction_tables,
    convergence_table,
    filled_rows_table,
    pair_table,
    row_table,
    singleton_table,
    understated_table,
    view_table,
)
from sklearn_subanneal.report.structure import LARGEST_RHAT
from sklearn_subanneal.report.templates import render

CONTENTS = {
    "findings": "Key findings",
    "next": "What to do next",
    "columns": "The table and its columns",
    "views": "Views: columns that go together",
    "clusters": "Groups of similar rows",
    "distributions": "Distributions by group",
    "dependence": "Dependence between columns",
    "anomalies": "Odd cells and rows",
    "missing": "Missing cells",
    "convergence": "How far the runs agree",
    "words": "What the words mean",
    "making": "Method and settings",
}


def page(found: Findings) -> str:
    """The page as HTML, with its style, script and pictures embedded.

    Parameters
    ----------
    found : Findings

    Raises
    ------
    ImportError
        If jinja2 is not installed.
    """
    source, missing, n_rows = found.source, found.imputation.missing, len(found.source.frame)
    described = [view for view in found.views if view.clusters]
    alone, alone_but_dependent = columns_alone(found.views, found.contradictions)
    return render(
        "page.html",
        found=found,
        contents=CONTENTS,
        n_rows=n_rows,
        missing_share=f"{missing.mean():.1%}",
        cautions=_cautions(found),
        steps=find_next_steps(found),
        set_aside_table=set_aside_table(source),
        missing_marks=missing_marks(source),
        column_table=column_table(source),
        view_table=view_table(found.views),
        alone=alone,
        alone_but_dependent=alone_but_dependent,
        cluster_tables=[(view, cluster_table(found, view)) for view in described],
        n_other_views=sum(len(view.columns) > 1 for view in found.views) - len(described),
        blocks=_blocks(found),
        n_counted=len(range(0, n_rows, -(-n_rows // MOST_ROWS))),
        pair_table=pair_table(found),
        contradiction_tables=contradiction_tables(found.contradictions),
        understated_table=understated_table(found),
        cell_table=cell_table(found),
        row_table=row_table(found),
        singleton_table=singleton_table(found),
        filled_rows=filled_rows_table(found),
        n_missing=int(missing.sum()),
        n_incomplete=int(missing.any(axis=1).sum()),
        problems=found.structure.problems,
        verdict=_verdict(found),
        log_joints=[brief(mean) for mean in found.structure.log_joints],
        weights=[f"{weight:.0%}" for weight in found.structure.chain_weights],
        convergence_table=convergence_table(found),
        settings_table=PageTable("Settings and versions", ("setting", "value"), list(found.facts.items())),
        code=_code(found),
    )


def _cautions(found: Findings) -> list[str]:
    """What makes the results less reliable than they look."""
    stopped = ["The fit was interrupted: the results are less reliable."] if found.was_stopped else []
    return stopped + found.structure.cautions


def _blocks(found: Findings) -> list[tuple]:
    """Of each view with groups, and of all other columns: the view, its legend, its columns and their charts."""
    cards = [(column, chart_of(column)) for column in found.distributions]
    out = []
    for view in found.views:
        own = [card for card in cards if card[0].view == view.number and len(card[0].groups) > 1]
        if own:
            column, chart = own[0]
            sizes = [group.n_rows for group in column.groups]
            out.append((view, list(zip(chart.rows, sizes, strict=True)), own))
    rest = [card for card in cards if len(card[0].groups) == 1]
    return [*out, (None, [], rest)] if rest else out


def _verdict(found: Findings) -> str:
    structure = found.structure
    if len(structure.log_joints) < 2 or all(np.isnan(rhat) for *_, rhat in structure.convergence):
        return "R-hat cannot be computed: it needs two chains (--chains) and several draws of each."
    if structure.n_unsettled:
        return (
            f"The chains disagree on {structure.n_unsettled} of {counted(len(structure.convergence), 'quantity')} that "
            f"were followed (R-hat above {LARGEST_RHAT}), as is usual for tables of many columns. The results are "
            "averages over the chains; more chains (--chains) make them more precise."
        )
    return "The chains agree on all quantities that were followed."


def _code(found: Findings) -> str:
    return (
        "import sklearn_subanneal\nfrom sklearn_subanneal.report import read_source\n\n"
        f"model = sklearn_subanneal.load({found.files['model']!r})\n"
        f"X = read_source({found.source.name!r}, {found.files['types']!r}).X\n"
        "model.predict_views(X), model.impute(X), model.surprisal(X)"
    )
