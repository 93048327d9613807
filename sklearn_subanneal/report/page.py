"""The web page of a report: head, table of contents, and order of the sections."""

from __future__ import annotations

from importlib.resources import files

from sklearn_subanneal.report.findings import Findings
from sklearn_subanneal.report.markup import Markup, element, join_markup, paragraph
from sklearn_subanneal.report.sections import (
    describe_anomalies,
    describe_clusters,
    describe_convergence,
    describe_dependence,
    describe_making,
    describe_missing,
    describe_views,
)
from sklearn_subanneal.report.table_section import describe_table


def page(found: Findings) -> str:
    """The page as HTML, with its style and pictures embedded."""
    sections = {
        "findings": ("Key findings", _describe_findings(found)),
        "table": ("The table", describe_table(found)),
        "views": ("Views: groups of dependent columns", describe_views(found)),
        "clusters": ("Clusters: groups of similar rows", describe_clusters(found)),
        "dependence": ("Dependence between columns", describe_dependence(found)),
        "anomalies": ("Anomalies", describe_anomalies(found)),
        "missing": ("Missing cells", describe_missing(found)),
        "convergence": ("Convergence", describe_convergence(found)),
        "making": ("Method and settings", describe_making(found)),
    }
    title = f"Report on {found.source.name}"
    contents = (element("li", element("a", head, href=f"#{key}")) for key, (head, _) in sections.items())
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(files("sklearn_subanneal.report").joinpath("report.css").read_text(encoding="utf-8"))),
    )
    body = element(
        "body",
        element(
            "header",
            element("h1", title),
            _facts(found),
            *_cautions(found),
            element("nav", element("ul", *contents), aria_label="Contents"),
        ),
        element(
            "main", *(element("section", element("h2", head), text, id=key) for key, (head, text) in sections.items())
        ),
        element("footer", paragraph("Made by sklearn_subanneal.")),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _cautions(found: Findings) -> list[Markup]:
    """What makes the results less reliable than they look."""
    problems = found.structure.problems
    if not problems:
        return []
    text = f"Trust the views and clusters less than the averages over the chains. {' '.join(problems)} "
    return [element("p", text, element("a", "More on convergence", href="#convergence"), ".", class_="warning")]


def _describe_findings(found: Findings) -> Markup:
    items = (
        element(
            "li",
            element("a", own.text, href=f"#{own.section}"),
            " ",
            element("span", own.strength, class_=f"strength {own.strength.split()[-1]}"),
        )
        for own in found.key_findings
    )
    return join_markup(
        element("ol", *items, class_="findings"),
        paragraph(
            "Certain: facts of the table, or what nearly all draws of every chain and a test that knows nothing of the "
            "model say. Likely: what most draws of every chain say, but no proof. Chains disagree: take it as a hint. "
            "No sentence says which column is the cause of another."
        ),
    )


def _facts(found: Findings) -> Markup:
    n_rows, n_missing = len(found.source.frame), int(found.imputation.missing.sum())
    facts = {
        "rows": f"{n_rows:,}",
        "columns modelled": f"{len(found.source.modelled):,}",
        "columns set aside": f"{len(found.source.set_aside):,}",
        "cells missing": f"{n_missing:,} ({n_missing / found.imputation.missing.size:.1%})",
        "views": str(len(found.views)),
        "clusters in the largest view": str(found.views[0].n_clusters),
    }
    return element(
        "dl",
        *(element("div", element("dt", term), element("dd", text)) for term, text in facts.items()),
        class_="facts",
    )
