"""The page of all figures as one HTML file: pictures, claims with their results, tables."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from figures.figure import Claim, Figure, Found, Paper
from figures.markup import Markup, element, join_markup, table

STYLE = """
.yes { color: #00724f; font-weight: 600; } .no { color: #a33c00; font-weight: 600; } .part { font-weight: 600; }
.claims table { width: 100%; } .claims td { max-width: none; } td.verdict { white-space: nowrap; }
nav p { max-width: none; margin: .2rem 0; }
@media (prefers-color-scheme: dark) { .yes { color: #57c79d; } .no { color: #ffa268; } }
"""
TRIAL = "This is a trial on small sizes with meaningless results; the captions describe the full run."


def page(
    papers: Sequence[Paper],
    documents: Found,
    missing: dict[str, str],
    partly: dict[str, list[str]],
    pictures: dict[str, Path],
    trial: bool,
) -> str:
    """The page of these papers.

    Parameters
    ----------
    papers : sequence of Paper
    documents : dict of str to dict
        Those of the benchmarks, by the names of their runs.
    missing : dict of str to str
        Why there is no document, by the names of the other runs.
    partly : dict of str to list of str
        What the runs went on without.
    pictures : dict of str to Path
        PNG files by the names of their figures.
    trial : bool
    """
    style = files("sklearn_subanneal.report").joinpath("templates", "report.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", "Figures of the four papers"),
        element("style", Markup(style + STYLE)),
    )
    body = element(
        "body",
        element(
            "header",
            element("h1", "Figures of the four papers"),
            element("p", TRIAL, class_="warning") if trial else "",
            element(
                "p",
                "Every figure is drawn by “make figures” from the JSON of the benchmarks. For each claim of a paper "
                "the page has the result of this run; whether it is reproduced is computed from the JSON, too.",
            ),
            machine(documents),
            element("nav", *(contents(of) for of in papers), aria_label="Contents"),
        ),
        element("main", *(section(of, documents, missing, partly, pictures) for of in papers)),
        element("footer", element("p", "Made by sklearn_subanneal.")),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def machine(documents: Found) -> Markup:
    """Where the first of the runs was made."""
    if not documents:
        return element("p", "No benchmark has results.")
    of = next(iter(documents.values()))["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in of["versions"].items())
    return element("p", f"{of['cpu']}, {of['cores']} cores, Python {of['python']}; {versions}.", class_="note")


def contents(paper: Paper) -> Markup:
    """Links to the figures of a paper."""
    links = [element("a", figure.title, href=f"#{figure.name}") for figure in paper.figures]
    rest = (part for link in links[1:] for part in ("; ", link))
    return element("p", element("strong", paper.title), ": ", links[0], *rest, ".")


def section(paper: Paper, documents: Found, missing: dict, partly: dict, pictures: dict[str, Path]) -> Markup:
    parts = [described(figure, documents, missing, partly, pictures.get(figure.name)) for figure in paper.figures]
    rest = element("p", f"Omitted: {paper.left_out}", class_="note") if paper.left_out else ""
    return element("section", element("h2", paper.title), *parts, rest, id=paper.name)


def described(figure: Figure, documents: Found, missing: dict, partly: dict, picture: Path | None) -> Markup:
    """A figure with its caption, its claims and whether they are reproduced, and the differences from the paper."""
    found = {run.name: documents[run.name] for run in figure.runs if run.name in documents}
    parts = [element("h3", figure.title)]
    if picture:
        source = "data:image/png;base64," + base64.b64encode(picture.read_bytes()).decode()
        parts.append(element("div", element("img", src=source, alt=figure.title), class_="scroll"))
    parts.append(element("figcaption", *code(figure.shows)))
    for run in figure.runs:
        if run.name in missing:
            parts.append(element("p", f"Without {run.name}: {missing[run.name]}.", class_="warning"))
        parts += [element("p", f"{line}.", class_="warning") for line in partly.get(run.name, [])]
    if found:
        parts += [
            claimed(figure.claims(found)),
            *(table(of.caption, of.heads, of.rows, range(1, len(of.heads))) for of in figure.tables(found)),
        ]
    if figure.differs:
        items = (element("li", *code(text)) for text in figure.differs)
        parts += [element("p", "Differences from the paper, and their reasons:"), element("ul", *items)]
    parts.append(made(figure, found))
    return element("figure", *parts, id=figure.name)


def claimed(claims: list[Claim]) -> Markup:
    """A row for each claim, with the reason if it does not hold in all cases."""
    if not claims:
        return Markup("")
    kinds = {"yes": "yes", "no": "no"}
    rows = [
        [
            claim.text,
            claim.found,
            element("td", element("span", claim.verdict, class_=kinds.get(claim.verdict, "part")), class_="verdict"),
            "" if claim.verdict == "yes" else claim.why,
        ]
        for claim in claims
    ]
    heads = ["claim", "here", "reproduced", "why not"]
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return element("div", table("Claims of the paper, and results of this run", heads, rows), class_="claims")


def made(figure: Figure, found: Found) -> Markup:
    """The commands, and the seconds that they took."""
    lines = []
    for run in figure.runs:
        if run.name in found:
            document = found[run.name]
            lines.append(f"benchmarks/{' '.join(document['command'])}   # {document['cpu_seconds']:.0f} CPU seconds")
    return element("pre", "\n".join(lines)) if lines else Markup("")


def code(text: str) -> list[Markup]:
    """Text in which the parts between backquotes are code."""
    parts = text.split("`")
    return [element("code", part) if number % 2 else join_markup(part) for number, part in enumerate(parts)]
