"""The table, the types and the settings of the fit that the arguments of a command name."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from sklearn_subanneal.report.learning import Plan
from sklearn_subanneal.report.source import Source, read_source
from sklearn_subanneal.report.types_file import TypesFile, read_types


def speaker(given: argparse.Namespace) -> Callable[..., None]:
    """A function that prints, or nothing if the command is to be quiet."""
    # Flushed, for readers at the other end of a pipe.
    return (lambda *text: None) if given.quiet else functools.partial(print, flush=True)


def given_types(texts: Sequence[str]) -> TypesFile:
    """The types that --types names: COLUMN=TYPE counts before a types file, and the later one before the earlier.

    Raises
    ------
    ValueError
        If a text is neither.
    OSError
        If there is no such file.
    """
    found, of_columns = TypesFile(), {}
    for text in texts:
        column, equals, kind = text.rpartition("=")
        if equals:
            of_columns[column] = kind
        elif text.lower().endswith(".toml") or Path(text).is_file():
            found = read_types(text).over(found)
        else:
            raise ValueError(f"--types must be COLUMN=TYPE, or a file such as types.toml, got {text!r}")
    return replace(found, types=found.types | of_columns)


def given_source(path: Path, given: argparse.Namespace, types: TypesFile, most_cells: float = inf) -> Source:
    """The table in a file, read as the arguments and the types file say; of one of more cells, evenly spaced rows.

    Raises
    ------
    ValueError
        If an argument or the file is not as it must be.
    """
    return read_source(path, types, most_cells=most_cells, **reading_options(given, types))


def given_plan(given: argparse.Namespace) -> Plan:
    """The settings of the fit that the arguments name."""
    return Plan(
        n_chains=given.chains,
        seed=given.seed,
        time_limit=given.time_limit,
        n_jobs=given.jobs,
        covariance_type=given.covariance,
        effort=given.effort,
        max_sweeps=given.max_sweeps,
    )


def reading_options(given: argparse.Namespace, types: TypesFile) -> dict:
    """The options by which a table is read, those of the command before those of the types file."""
    header = {"yes": True, "no": False, None: None}[given.header]
    options = {
        "encoding": given.encoding,
        "decimal": given.decimal,
        "sheet": given.sheet,
        "header": header,
        "day_first": given.day_first,
    }
    options = {name: types.reading.get(name) if value is None else value for name, value in options.items()}
    for name in ("missing", "keep"):
        options[name] = tuple(dict.fromkeys((*types.reading.get(name, ()), *getattr(given, name))))
    return options | {"skip_bad_lines": given.skip_bad_lines, "max_bytes": int(given.max_gib * 2**30)}
