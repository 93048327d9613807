"""The command ``types``: shows how a table is read, and writes a types file to be edited."""

from __future__ import annotations

import argparse

from sklearn_subanneal.report.given_table import given_source, given_types, speaker
from sklearn_subanneal.report.table_lines import print_columns
from sklearn_subanneal.report.types_writer import write_types


def show_types(given: argparse.Namespace) -> int:
    """Print the types, and write them; give the exit code 0."""
    say = speaker(given)
    if given.output is not None and given.output.exists() and not given.force:
        raise FileExistsError(f"{given.output} exists: name another file by --output, or pass --force")
    source = given_source(given.table, given, given_types(given.types))
    print_columns(source, say)
    if given.output is not None:
        say(f"Wrote {write_types(source, given.output)}; edit it, and pass it by --types.")
    return 0
