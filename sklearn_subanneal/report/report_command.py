"""The command ``report``: reads a table, fits the model, and writes the folder of a report."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from sklearn_subanneal.plotting.checks import require_matplotlib
from sklearn_subanneal.report.folder import write_report
from sklearn_subanneal.report.given_table import given_plan, given_source, given_types, speaker
from sklearn_subanneal.report.learning import learn
from sklearn_subanneal.report.progress_line import ProgressLine
from sklearn_subanneal.report.table_lines import print_columns
from sklearn_subanneal.report.templates import require_jinja2


def report_on_table(given: argparse.Namespace) -> int:
    """Write a report, and give the exit code 0."""
    require_jinja2()
    if given.plots:
        _use_matplotlib()
    say, started = speaker(given), time.perf_counter()
    name = given.table.name.split(".")[0] or "table"
    folder = given.output or Path(f"{name}-report")
    check_folder(folder, given.force)
    plan = given_plan(given)
    source = given_source(given.table, given, given_types(given.types), plan.most_cells)
    print_columns(source, say)
    progress = ProgressLine(sys.stderr, given.quiet)
    learned = learn(source, plan, progress, time.perf_counter() - started)
    progress.end()
    say(
        "Stopped early. Writing the report from the draws so far, at least one of each chain."
        if learned.was_stopped
        else f"Fitted in {learned.seconds:.1f} s."
    )
    try:
        paths = write_report(source, plan, learned, folder, given.plots, given.raw, given.detector)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the model is in {folder}, the report is incomplete") from None
    say("\n  ".join([f"Wrote, {time.perf_counter() - started:.1f} s after the start:", *map(str, paths)]))
    return 0


def check_folder(folder: Path, is_forced: bool) -> None:
    """Refuse, before the fit, a folder that cannot be written or has files."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: name another folder by --output")
    if not is_forced and folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(
            f"{folder} has files: name another folder by --output, or pass --force to write over them"
        )
    present = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    if not os.access(present, os.W_OK):
        raise PermissionError(f"{present} is not writable: name another folder by --output")


def _use_matplotlib() -> None:
    require_matplotlib("sklearn-subanneal report", "pip install 'sklearn-subanneal[report]', or pass --no-plots")
    import matplotlib

    # Files are written: no screen is needed.
    matplotlib.use("agg")
