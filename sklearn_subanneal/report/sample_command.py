"""The command ``sample``: rows drawn from a fitted model."""

from __future__ import annotations

import argparse
import sys

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.clock_columns import with_clock_times
from sklearn_subanneal.report.given_table import speaker
from sklearn_subanneal.report.learned_ranges import learned_ranges
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.number_digits import rounded_numbers
from sklearn_subanneal.report.question import given_cells
from sklearn_subanneal.report.replaced_columns import with_columns
from sklearn_subanneal.report.spreadsheet_cells import marked_table
from sklearn_subanneal.report.table_writer import check_output, write_table


def sample_rows(given: argparse.Namespace) -> int:
    """Write sampled rows, and give the exit code 0."""
    if given.n_rows < 1:
        raise ValueError(f"--rows must be a positive number, got {given.n_rows}")
    cells = given_cells(given.given or "")
    if cells is None:
        raise ValueError(
            f"--given must name cells, as in \"age == 40 and smoker == 'yes'\", got {given.given!r}: texts are in "
            "quotes, names with spaces in backticks"
        )
    if given.output is not None:
        check_output(given.output, given.force)
    folder = open_model(given.model)
    rows = folder.model.sample(
        given.n_rows, given=cells or None, random_state=given.seed, keep_missing=given.keep_missing
    )
    ranges = learned_ranges(folder.model)
    drawn = [name for name in rows.select_dtypes("float") if name not in cells]
    numbers = {name: rows[name].to_numpy("float64", na_value=float("nan")) for name in drawn}
    rows = with_columns(rows, {name: rounded_numbers(own, ranges.get(name, 0.0)) for name, own in numbers.items()})
    rows = with_clock_times(rows, folder.types.spelling)
    if given.output is None:
        if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
            # A file or another program gets what a file would have, whatever consoles write here.
            sys.stdout.reconfigure(encoding="utf-8")
        (rows if given.raw else marked_table(rows)).to_csv(sys.stdout, index=False, lineterminator="\n")
    else:
        speaker(given)(f"Wrote {counted(given.n_rows, 'row')}: {write_table(rows, given.output, given.raw)}")
    return 0
