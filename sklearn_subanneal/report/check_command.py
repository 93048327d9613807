"""The command ``check``: whether a new table is like the one to which a model was fitted."""

from __future__ import annotations

import argparse

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.given_table import for_types, new_table_options, speaker
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.new_table import read_new_table
from sklearn_subanneal.report.table_check import TableCheck, check_table
from sklearn_subanneal.report.table_lines import print_unreadable
from sklearn_subanneal.report.table_writer import check_output, write_table
from sklearn_subanneal.report.wording import listed

FINE, FOUND = 0, 1
MOST_COLUMNS, MOST_ROWS, MOST_VALUES = 20, 15, 5


def check_new_table(given: argparse.Namespace) -> int:
    """Print what differs; give the exit code 0 if nothing does, 1 otherwise."""
    say = speaker(given)
    if not 0.0 < given.level < 1.0:
        raise ValueError(f"--level must be between 0 and 1, got {given.level}")
    if given.output is not None:
        check_output(given.output, given.force)
    folder = for_types(open_model(given.model, with_detector=True), given.types)
    new = read_new_table(given.table, folder, new_table_options(given, folder.types))
    found = check_table(folder.detector, new, given.level)
    say(f"{new.name}: {counted(len(new.X), 'row')}, against the table of {folder.name}, at level {given.level:g}.")
    print_unreadable(new, say)
    _print_findings(found, say)
    if given.output is not None:
        say(f"Wrote {write_table(found.rows_table(new), given.output, given.raw)}")
    say("Fine: nothing was found." if not found.findings else f"Found: {'; '.join(found.findings)}.")
    return FOUND if found.findings else FINE


def _print_findings(found: TableCheck, say) -> None:
    for name, values in found.new_values.items():
        texts = [f"{value!r} in {counted(count, 'cell')}" for value, count in values.items()]
        say(f"Column {name} has values that are new: {listed(texts, MOST_VALUES)}")
    for drift in found.drifts[:MOST_COLUMNS]:
        tests = {"cells": drift.p_cells, "missing cells": drift.p_missing, "dependence": drift.p_given_others}
        what = min(tests, key=tests.get)
        say(f"Column {drift.column} differs, p = {brief(drift.p_value)} for it alone; most in its {what}")
    if not found.n_expected:
        say("Odd rows: of so few training rows none can tell at this level; raise --level to find any.")
        return
    say(
        f"Odd rows: {counted(len(found.rows), 'row')} of {found.n_rows:,} with p of {found.level:g} or less; "
        f"{brief(found.n_expected)} are expected of a table that is like it."
    )
    for row in found.rows[:MOST_ROWS]:
        say(f"  row {row.number + 1}: p = {brief(row.p_value)}; {row.text}")
    if len(found.rows) > MOST_ROWS:
        say(f"  ... and {len(found.rows) - MOST_ROWS:,} more; --output writes all")
