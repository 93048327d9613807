"""The command line ``sklearn-subanneal report table.csv``: arguments, messages and errors."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sklearn_subanneal._core.version import __version__
from sklearn_subanneal.plotting.checks import require_matplotlib

# Columns listed on the screen; the report has all.
MOST_LISTED = 40
SECONDS_BETWEEN_LINES = 5.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Arguments without the name of the program; None: those of the process.

    Returns
    -------
    status : int
        0; 1 after an error, 130 after an interrupt.
    """
    given = _parser().parse_args(arguments)
    try:
        return _report(given)
    except (ValueError, OSError, ImportError) as error:
        print(f"sklearn-subanneal: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        print(f"sklearn-subanneal: interrupted; {interrupt or 'nothing was written'}", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sklearn-subanneal", description="Reports on tables by CrossCat.")
    parser.add_argument("--version", action="version", version=f"sklearn_subanneal {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    report = commands.add_parser(
        "report",
        help="write a report on a table",
        description="Write a report on a table: views of the columns, clusters of the rows, dependence, anomalies, and "
        "imputed missing cells; and save the model.",
        epilog="Ctrl-C ends the fit early, and the report is made from one draw of each chain; a second Ctrl-C aborts.",
    )
    report.add_argument("table", type=Path, help="CSV, TSV or Parquet, with a line of names")
    report.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="default: TABLE-report")
    report.add_argument(
        "-t",
        "--types",
        action="append",
        default=[],
        metavar="COLUMN=TYPE",
        help="real, categorical, boolean, count, cyclic, ordinal, semicontinuous, skewed, datetime, label (names "
        "the rows) or ignore; may be repeated",
    )
    report.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="a text that means a missing cell; may be repeated",
    )
    report.add_argument("--chains", type=int, default=4, metavar="N", help="independent chains (default: 4)")
    report.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="limit of the time from start to end (default: none)"
    )
    report.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed gives the same report (default: 0)"
    )
    report.add_argument(
        "--jobs", type=int, metavar="N", help="chains that run at once (default: as many as processors)"
    )
    report.add_argument("--force", action="store_true", help="write into a folder that has files already")
    report.add_argument(
        "--raw",
        action="store_true",
        help="write texts to CSV as they are; without it, those that a spreadsheet would take for formulas are marked "
        "by an apostrophe",
    )
    report.add_argument(
        "--max-gib", type=float, default=4.0, metavar="N", help="refuse a table that unfolds to more (default: 4)"
    )
    report.add_argument("--no-plots", dest="plots", action="store_false", help="no pictures; matplotlib is not needed")
    report.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    return parser


def _report(given: argparse.Namespace) -> int:
    # Imported here, so that --help is fast.
    from sklearn_subanneal.report import Plan, learn, read_source, write_report

    if given.plots:
        _use_matplotlib()
    # Flushed, for readers at the other end of a pipe.
    say = (lambda *text: None) if given.quiet else functools.partial(print, flush=True)
    started = time.perf_counter()
    name = given.table.name.split(".")[0] or "table"
    folder = given.output or Path(f"{name}-report")
    _check_folder(folder, given.force)
    types = dict(map(_column_and_type, given.types))
    source = read_source(given.table, types, given.missing, int(given.max_gib * 2**30))
    _describe(source, say)
    plan = Plan(n_chains=given.chains, seed=given.seed, time_limit=given.time_limit, n_jobs=given.jobs)
    progress = ProgressLine(sys.stderr, given.quiet)
    learned = learn(source, plan, progress, time.perf_counter() - started)
    progress.end()
    say(
        "Stopped early. Writing the report from one draw of each chain."
        if learned.was_stopped
        else f"Fitted in {learned.seconds:.1f} s."
    )
    try:
        paths = write_report(source, plan, learned, folder, given.plots, given.raw)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the model is in {folder}, the report is incomplete") from None
    say("\n  ".join([f"Wrote, {time.perf_counter() - started:.1f} s after the start:", *map(str, paths)]))
    return 0


def _check_folder(folder: Path, is_forced: bool) -> None:
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


def _column_and_type(text: str) -> tuple[str, str]:
    column, equals, kind = text.rpartition("=")
    if not equals:
        raise ValueError(f"--types must be COLUMN=TYPE, got {text!r}")
    return column, kind


def _describe(source, say) -> None:
    n_missing = int(source.X.isna().to_numpy().sum())
    say(
        f"{source.name}: {len(source.frame):,} rows, {len(source.columns)} columns, {len(source.modelled)} of them "
        f"modelled; {n_missing:,} of their cells are missing ({n_missing / source.X.size:.1%})."
    )
    width = min(max(len(column.name) for column in source.columns), 32)
    for column in source.columns[:MOST_LISTED]:
        gaps = f"; {column.n_missing:,} missing" if column.n_missing else ""
        say(f"  {column.name[:32]:{width}}  {column.kind:11}  {column.reason}{gaps}")
    if len(source.columns) > MOST_LISTED:
        say(f"  ... and {len(source.columns) - MOST_LISTED} more, in the report")


class ProgressLine:
    """Prints the progress of the fit: one line that changes on a terminal, a line every few seconds elsewhere.

    Parameters
    ----------
    stream : text file
    is_quiet : bool
    """

    def __init__(self, stream, is_quiet: bool = False):
        self.stream = stream
        self.is_quiet = is_quiet
        self._is_terminal = stream.isatty()
        self._printed = time.perf_counter()
        self._width = 0

    def __call__(self, progress: float, text: str, is_urgent: bool) -> None:
        """Print progress, unless the last line is too recent and this one is not urgent."""
        now = time.perf_counter()
        is_recent = now - self._printed < (0.1 if self._is_terminal else SECONDS_BETWEEN_LINES)
        if self.is_quiet or (is_recent and not is_urgent):
            return
        self._printed = now
        line = f"Fitting: {progress:4.0%}  {text}"
        self.stream.write(f"\r{line:{self._width}}" if self._is_terminal else f"{line}\n")
        self.stream.flush()
        self._width = len(line)

    def end(self) -> None:
        """End the line that changes."""
        if self._is_terminal and self._width:
            self.stream.write("\n")
