"""The table, the types and the settings of the fit that the arguments of a command name."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from sklearn_subanneal.report.learning import Plan
from sklearn_subanneal.report.model_folder import ModelFolder
from sklearn_subanneal.report.source import Source, read_source
from sklearn_subanneal.report.types_file import TypesFile, read_types

# Names of columns in a message.
MOST_NAMED = 20
# Options that say how a model is fitted, and nothing of one that is.
OF_FIT = ("chains", "time_limit", "covariance", "effort", "max_sweeps", "jobs")


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


def for_types(folder: ModelFolder, texts: Sequence[str]) -> ModelFolder:
    """A fitted model, for which tables are read as --types says, and else as its types file does.

    Raises
    ------
    ValueError
        If a text is no such option, declares a type that the model does not have, or names another column.
    OSError
        If there is no such file.
    """
    own, known = given_types(texts), folder.types
    types = {**folder.model.feature_types_, **known.types}
    for name in {**own.types, **own.levels}:
        if any(
            name in new and new[name] != old.get(name) for new, old in ((own.types, types), (own.levels, known.levels))
        ):
            raise ValueError(
                f"--types declares {name!r} otherwise than the model in {folder.name} has it: leave the type out, or "
                "make another report with it."
            )
    modelled = {column.name for column in folder.model._table.columns}
    for table in ("missing", "spelling", "numbers"):
        for name in getattr(own, table):
            if name not in modelled and name not in getattr(known, table):
                raise ValueError(
                    f"[{table}] names the column {name!r}, which the model in {folder.name} does not have; it has "
                    f"{sorted(modelled)[:MOST_NAMED]}."
                )
    # That of the report's own file was found in its table, and is none that the user says of another.
    decimal = own.reading.get("decimal")
    return replace(folder, types=own.over(known), decimal=None if decimal == known.reading.get("decimal") else decimal)


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


def refuse_fit_options(given: argparse.Namespace, unset: argparse.Namespace) -> None:
    """Refuse options of a fit beside a model that has been fitted.

    Parameters
    ----------
    given, unset : Namespace
        The arguments of a command, and those of one without options.

    Raises
    ------
    ValueError
        If there is one.
    """
    for name in OF_FIT:
        if getattr(given, name) != getattr(unset, name):
            raise ValueError(
                f"--{name.replace('_', '-')} is of a fit, and the model in {given.model} has been fitted: leave it "
                "out, or leave --model out, to fit a model to the table."
            )


def new_table_options(given: argparse.Namespace, types: TypesFile) -> dict:
    """The same for a table that a model has not seen, which may show another mark before decimals than is known."""
    return reading_options(given, types) | {"decimal": given.decimal}


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
