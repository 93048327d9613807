"""The arguments of the commands, with their help and examples."""

from __future__ import annotations

import argparse
from pathlib import Path

from sklearn_subanneal._core.version import __version__
from sklearn_subanneal.report.completion import SHELLS

_KINDS = "CSV and other text, JSON, xlsx, ods, Parquet, Feather, Stata or SAS; may be compressed"
_CODES = "Exit codes: 0 fine, 1 something was found (check), 2 wrong arguments or files, 130 interrupted."
_EXAMPLES = """\
examples:
  sklearn-subanneal report patients.csv
  sklearn-subanneal types patients.xlsx --sheet 2 -o types.toml
  sklearn-subanneal impute patients.csv complete.csv
  sklearn-subanneal check new.csv --model patients-report
  sklearn-subanneal ask patients-report "probability of age > 60 given smoker == 'yes'"
  sklearn-subanneal sample patients-report -n 1000 -o synthetic.csv

"""


def command_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    out = argparse.ArgumentParser(
        prog="sklearn-subanneal",
        description="Reports on tables, imputation, checks of new tables, samples and answers, by CrossCat.",
        epilog=_EXAMPLES + _CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    out.add_argument("--version", action="version", version=f"sklearn_subanneal {__version__}")
    commands = out.add_subparsers(required=True, metavar="COMMAND", dest="command")
    _add_report(commands)
    _add_types(commands)
    _add_impute(commands)
    _add_check(commands)
    _add_sample(commands)
    _add_ask(commands)
    _add_completion(commands)
    return out


def _command(commands, name: str, about: str, description: str, examples: str, remark: str = ""):
    lines = "".join(f"  sklearn-subanneal {example}\n" for example in examples.splitlines())
    return commands.add_parser(
        name,
        help=about,
        description=description,
        epilog=f"examples:\n{lines}\n{remark + ' ' if remark else ''}{_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_report(commands) -> None:
    own = _command(
        commands,
        "report",
        "write a report on a table",
        "Write a report on a table: views of the columns, clusters of the rows, dependence, anomalies, and\n"
        "imputed missing cells; and save the model.",
        "report patients.csv\nreport survey.xlsx --sheet Answers --types rating=ordinal -o survey\n"
        "report sensors.csv.gz --missing -1 --time-limit 600",
        "Ctrl-C ends the fit early, and the report is made from the draws so far, at least one a chain; a second "
        "Ctrl-C aborts.\n",
    )
    own.add_argument("table", type=Path, help=_KINDS)
    own.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="default: TABLE-report")
    _add_reading(own)
    _add_fit(own)
    own.add_argument(
        "--detector",
        action="store_true",
        default=None,
        help="save what the command check needs (default: of tables of at most 10,000 rows without a time limit)",
    )
    own.add_argument("--no-detector", dest="detector", action="store_false", default=None, help="do not save it")
    own.add_argument("--force", action="store_true", help="write into a folder that has files already")
    _add_raw(own)
    own.add_argument("--no-plots", dest="plots", action="store_false", help="no pictures; matplotlib is not needed")
    _add_quiet(own)


def _add_types(commands) -> None:
    own = _command(
        commands,
        "types",
        "show how a table is read, without fitting a model",
        "Show how a table is read: the type of each column with the reason, what is set aside, and what is taken\n"
        "for missing; and write a types file, which can be edited and passed to other commands.",
        "types patients.csv\ntypes patients.csv -o types.toml\nreport patients.csv --types types.toml",
    )
    own.add_argument("table", type=Path, help=_KINDS)
    own.add_argument("-o", "--output", type=Path, metavar="FILE", help="the types file to write")
    _add_reading(own)
    own.add_argument("--force", action="store_true", help="write over an existing file")
    _add_quiet(own)


def _add_impute(commands) -> None:
    own = _command(
        commands,
        "impute",
        "fill the missing cells of a table",
        "Fill the missing cells of a table, by a model that is fitted to it, or by that of a report.",
        "impute patients.csv complete.csv\nimpute patients.csv complete.xlsx --uncertainty uncertainty.csv\n"
        "impute new.csv complete.csv --model patients-report\nimpute patients.csv drawn.csv --draws 20",
        "The kind of the file that is written is that of its name.",
    )
    own.add_argument("table", type=Path, help=_KINDS)
    own.add_argument("output", type=Path, help="to write: csv, tsv, json, jsonl, xlsx, ods, parquet, feather or dta")
    own.add_argument("--model", type=Path, metavar="FOLDER", help="of a report (default: a new model is fitted)")
    own.add_argument("--uncertainty", type=Path, metavar="FILE", help="write the uncertainty of each imputed cell")
    own.add_argument(
        "--draws", type=int, metavar="N", help="draw the cells from the posterior, and write N tables, OUTPUT-1, ..."
    )
    _add_reading(own)
    _add_fit(own)
    own.add_argument("--force", action="store_true", help="write over existing files")
    _add_raw(own)
    _add_quiet(own)


def _add_check(commands) -> None:
    own = _command(
        commands,
        "check",
        "compare a new table with that of a report",
        "Compare a new table with the one of a report: columns that drifted, odd rows, new categories, and cells that\n"
        "are no values of their column.",
        "check new.csv --model patients-report\ncheck new.csv --model patients-report -o odd.csv --level 0.001\n"
        "check new.csv --model patients-report --quiet || echo 'the table differs'",
    )
    own.add_argument("table", type=Path, help=_KINDS)
    own.add_argument("--model", type=Path, required=True, metavar="FOLDER", help="the folder of a report")
    own.add_argument(
        "--level",
        type=float,
        default=0.01,
        metavar="P",
        help="probability of false alarms of each kind (default: 0.01)",
    )
    own.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the odd rows, with the reasons")
    _add_reading(own)
    own.add_argument("--force", action="store_true", help="write over an existing file")
    _add_raw(own)
    _add_quiet(own)


def _add_sample(commands) -> None:
    own = _command(
        commands,
        "sample",
        "draw rows from the model of a report",
        "Draw rows from the model of a report: synthetic rows with the types and dependence of the table.",
        "sample patients-report -n 1000 -o synthetic.csv\n"
        "sample patients-report --given \"smoker == 'yes' and age == 40\"",
    )
    own.add_argument("model", type=Path, help="the folder of a report")
    own.add_argument("-n", "--rows", dest="n_rows", type=int, default=10, metavar="N", help="default: 10")
    own.add_argument("--given", metavar="CELLS", help="cells that all rows have, as \"age == 40 and smoker == 'yes'\"")
    own.add_argument("--keep-missing", action="store_true", help="with missing cells, as the table has them")
    own.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same rows (default: 0)")
    own.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: CSV on the screen")
    own.add_argument("--force", action="store_true", help="write over an existing file")
    _add_raw(own)
    _add_quiet(own)


def _add_ask(commands) -> None:
    own = _command(
        commands,
        "ask",
        "ask the model of a report",
        "Ask the model of a report about a new row: for probabilities of events, and quantiles of columns of numbers.",
        "ask patients-report \"probability of age > 60 and smoker == 'yes'\"\n"
        "ask patients-report \"probability of income > 3000 given city in ['Bonn', 'Ulm']\"\n"
        'ask patients-report "quantiles of income given age == 40"',
        "Questions are parsed, and never evaluated.",
    )
    own.add_argument("model", type=Path, help="the folder of a report")
    own.add_argument("question", nargs="+", help="each in quotes")
    own.add_argument("-q", "--quiet", action="store_true", help="print numbers only")


def _add_completion(commands) -> None:
    own = _command(
        commands,
        "completion",
        "print a script by which a shell completes commands and options",
        "Print a script by which a shell completes commands and options; its first lines say how to use it.",
        "completion bash\ncompletion zsh\ncompletion fish",
    )
    own.add_argument("shell", choices=SHELLS)


def _add_reading(own: argparse.ArgumentParser) -> None:
    group = own.add_argument_group("how the table is read")
    group.add_argument(
        "-t",
        "--types",
        action="append",
        default=[],
        metavar="COLUMN=TYPE",
        help="real, categorical, boolean, count, cyclic (with its period: cyclic:24), ordinal, semicontinuous, "
        "skewed, datetime, label (names the rows) or ignore; or a types file; may be repeated",
    )
    group.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="a text or number that means a missing cell, beside the usual ones; may be repeated",
    )
    group.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="TEXT",
        help="a text or number that is a value, though it looks like a missing cell; may be repeated",
    )
    group.add_argument("--encoding", metavar="NAME", help="of a text, such as cp1252 (default: found out)")
    group.add_argument("--decimal", metavar="MARK", help="mark before decimals, . or , (default: found out)")
    group.add_argument("--sheet", metavar="NAME", help="name or number of a sheet (default: the largest)")
    group.add_argument("--header", choices=("yes", "no"), help="whether there is a line of names (default: found out)")
    order = group.add_mutually_exclusive_group()
    order.add_argument("--day-first", action="store_true", default=None, help="04/03/2021 is 4 March")
    order.add_argument("--month-first", dest="day_first", action="store_false", default=None, help="it is April 3")
    group.add_argument(
        "--skip-bad-lines",
        action="store_true",
        help="leave out lines with too many cells, or, between spaces, too few, and say so",
    )
    group.add_argument(
        "--max-gib", type=float, default=4.0, metavar="N", help="refuse a table that unfolds to more (default: 4)"
    )


def _add_fit(own: argparse.ArgumentParser) -> None:
    group = own.add_argument_group("fit")
    group.add_argument("--chains", type=int, default=4, metavar="N", help="independent chains (default: 4)")
    group.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="limit of the time from start to end (default: none)"
    )
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed gives the same results (default: 0)"
    )
    group.add_argument(
        "--covariance",
        choices=("auto", "full", "diag"),
        default="auto",
        help="of columns of numbers within a cluster; with diag there are more views, which can be read, and the model "
        "is often less accurate (default: auto, which is full for tables of moderate size)",
    )
    group.add_argument(
        "--effort",
        type=float,
        default=1.0,
        metavar="X",
        help="work of each chain, without a time limit: 5 does about five times as much (default: 1)",
    )
    group.add_argument(
        "--max-sweeps",
        type=int,
        metavar="N",
        help="most passes over all rows by which a chain that still improves goes on, without a time limit (default: "
        "about as many as do the work of its start once more)",
    )
    group.add_argument("--jobs", type=int, metavar="N", help="chains that run at once (default: as many as processors)")


def _add_raw(own: argparse.ArgumentParser) -> None:
    own.add_argument(
        "--raw",
        action="store_true",
        help="write texts to CSV as they are; without it, those that a spreadsheet would take for formulas are marked "
        "by an apostrophe",
    )


def _add_quiet(own: argparse.ArgumentParser) -> None:
    own.add_argument("-q", "--quiet", action="store_true", help="print errors only")
