"""The command ``impute``: a table with its missing cells filled."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.clock_columns import with_clock_times
from sklearn_subanneal.report.command_parser import command_parser
from sklearn_subanneal.report.given_table import (
    for_types,
    given_plan,
    given_source,
    given_types,
    new_table_options,
    refuse_fit_options,
    speaker,
)
from sklearn_subanneal.report.imputation import completed_table, impute_missing
from sklearn_subanneal.report.learned_ranges import learned_ranges
from sklearn_subanneal.report.learning import learn
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.new_table import read_new_table
from sklearn_subanneal.report.progress_line import ProgressLine
from sklearn_subanneal.report.table_lines import print_columns, print_unreadable
from sklearn_subanneal.report.table_writer import check_output, write_table


def impute_table(given: argparse.Namespace) -> int:
    """Write the imputed table or tables, and give the exit code 0."""
    say = speaker(given)
    if given.draws is not None and given.draws < 1:
        raise ValueError(f"--draws must be a positive number of tables, got {given.draws}")
    if given.model is not None:
        refuse_fit_options(given, command_parser().parse_args(["impute", "table", "output"]))
    outputs = _outputs(given.output, given.draws)
    if given.uncertainty is not None and _place(given.uncertainty) in map(_place, outputs):
        raise ValueError(
            f"--uncertainty names {given.uncertainty}, where the completed table is written: name another file"
        )
    for path in (*outputs, *([given.uncertainty] if given.uncertainty else [])):
        check_output(path, given.force)
    if given.model is None:
        frame, X, model, spelling = _fitted(given, say)
    else:
        frame, X, model, spelling = _read(given, say)
    missing = X.isna().to_numpy()
    ranges = learned_ranges(model)
    if given.draws is None:
        imputed = impute_missing(model, frame, X, given.model is None and given.time_limit is None, ranges)
        tables, uncertainty = [imputed.table], imputed.uncertainty
    else:
        drawn = model.sample_imputations(X, given.draws, given.seed)
        tables = [completed_table(frame, X, filled, ranges) for filled in drawn]
        uncertainty = None
    for table, path in zip(tables, outputs, strict=True):
        write_table(with_clock_times(table, spelling, X), path, given.raw)
    say(f"Imputed {counted(int(missing.sum()), 'cell')} of {counted(X.shape[1], 'column')}.")
    if given.uncertainty is not None:
        if uncertainty is None:
            uncertainty = impute_missing(model, frame, X).uncertainty
        outputs.append(write_table(uncertainty, given.uncertainty, given.raw))
    say("\n  ".join(["Wrote", *map(str, outputs)]))
    return 0


def _outputs(output: Path, n_draws: int | None) -> list[Path]:
    """The files to write: several have numbers before the suffix."""
    if n_draws is None:
        return [output]
    name, dot, suffixes = output.name.partition(".")
    return [output.with_name(f"{name}-{draw}{dot}{suffixes}") for draw in range(1, n_draws + 1)]


def _place(path: Path) -> str:
    """What is equal for two names of one file."""
    return os.path.normcase(path.resolve())


def _fitted(given, say):
    started = time.perf_counter()
    source = given_source(given.table, given, given_types(given.types))
    print_columns(source, say)
    progress = ProgressLine(sys.stderr, given.quiet)
    learned = learn(source, given_plan(given), progress, time.perf_counter() - started)
    progress.end()
    return source.frame, source.X, learned.model, source.spelling


def _read(given, say):
    folder = for_types(open_model(given.model), given.types)
    new = read_new_table(given.table, folder, new_table_options(given, folder.types))
    print_unreadable(new, say)
    if new.unused:
        say(f"Not in the model, and left as they are: {', '.join(new.unused[:20])}")
    return new.frame, new.X, folder.model, folder.types.spelling
