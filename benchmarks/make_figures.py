"""Draws every figure of the four papers: runs the benchmarks without JSON, draws from the JSON, and writes a page.

`make figures` runs this script. JSON is in OUTPUT/figures/json/, pictures and index.html are in OUTPUT/figures/; with
--quick both are below OUTPUT/quick/. A benchmark with JSON of the same command, package and scripts is not run again.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from _common import note, pyplot
from figures.catalogue import FIGURES, PAPERS, minutes, runs_of
from figures.page import page
from figures.running import read, run_missing, skipped


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--quick", action="store_true", help="a trial on small sizes, with meaningless results")
    given.add_argument("--only", nargs="+", choices=list(FIGURES), metavar="NAME", help=", ".join(FIGURES))
    given.add_argument("--fresh", action="store_true", help="run every benchmark again")
    given.add_argument("--draw", action="store_true", help="run no benchmark; draw from the existing JSON")
    given.add_argument(
        "--jobs", type=int, default=min(2, os.cpu_count() or 1), help="number of benchmarks run in parallel"
    )
    given.add_argument("--output", type=Path, default=Path("output"))
    arguments = given.parse_args()

    output = arguments.output / "quick" if arguments.quick else arguments.output
    folder = output / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    names = arguments.only or list(FIGURES)
    papers = [replace(of, figures=[figure for figure in of.figures if figure.name in names]) for of in PAPERS]
    papers = [of for of in papers if of.figures]
    runs = runs_of(figure for of in papers for figure in of.figures)
    failed = {}
    if not arguments.draw:
        if not arguments.quick:
            note(f"{len(runs)} runs of some {minutes(runs, arguments.jobs):.0f} minutes, less those that are there")
        failed = run_missing(runs, folder / "json", arguments.quick, arguments.jobs, arguments.fresh)
    documents, missing = collect(runs, folder / "json", failed)
    pictures = draw(papers, documents, folder)
    partly = {run.name: skipped(run, folder / "json") for run in runs if run.name in documents}
    text = page(papers, documents, missing, partly, pictures, arguments.quick)
    (folder / "index.html").write_text(text, encoding="utf-8")
    for name, problem in missing.items():
        note(f"without {name}: {problem}")
    print(folder / "index.html")
    return 1 if failed else 0


def collect(runs, folder: Path, failed: dict[str, str]) -> tuple[dict, dict[str, str]]:
    """JSON documents with results, and the reasons why other runs have none."""
    documents, missing = {}, dict(failed)
    for run in runs:
        document = read(run, folder)
        if run.name in failed:
            continue
        if document is None:
            missing[run.name] = "it was not run"
        elif not document["results"]:
            missing[run.name] = document.get("skipped", f"it has no results; {run.name}.log says why")
        else:
            documents[run.name] = document
    return documents, missing


def draw(papers, documents: dict, folder: Path) -> dict[str, Path]:
    """Draw the figures for which there are results."""
    plt, pictures = pyplot(), {}
    for figure in (figure for of in papers for figure in of.figures):
        found = {run.name: documents[run.name] for run in figure.runs if run.name in documents}
        if figure.draw is None or not found:
            continue
        pictures[figure.name] = folder / f"{figure.name}.png"
        drawn = figure.draw(found)
        drawn.savefig(pictures[figure.name], dpi=110, bbox_inches="tight")
        plt.close(drawn)
    return pictures


if __name__ == "__main__":
    sys.exit(main())
