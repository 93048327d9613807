"""The command line ``sklearn-subanneal``: its commands, messages, errors and exit codes."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module

from sklearn_subanneal.report.command_parser import command_parser

#: Exit codes: all went well; `check` found something; an argument or a file is wrong; the user interrupted.
FINE, FOUND, WRONG, INTERRUPTED = 0, 1, 2, 130
# The module and the function of each command.
COMMANDS = {
    "report": ("report_command", "report_on_table"),
    "types": ("types_command", "show_types"),
    "impute": ("impute_command", "impute_table"),
    "check": ("check_command", "check_new_table"),
    "sample": ("sample_command", "sample_rows"),
    "ask": ("ask_command", "ask_model"),
    "completion": ("completion_command", "print_completion"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Arguments without the name of the program; None: those of the process.

    Returns
    -------
    status : int
        0; 1 if ``check`` found something; 2 after an error; 130 after an interrupt.
    """
    for stream in (sys.stdout, sys.stderr):
        # Names that the encoding of a console does not have are written with backslashes, and do not end a command.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    given = command_parser().parse_args(arguments)
    try:
        # Imported here, so that --help is fast.
        module, function = COMMANDS[given.command]
        command = getattr(import_module(f"sklearn_subanneal.report.{module}"), function)
        with warnings.catch_warnings():
            # Commands that read a new table say so themselves.
            warnings.filterwarnings("ignore", "X contradicts functions", UserWarning)
            return command(given)
    except BrokenPipeError:
        # The reader at the other end of a pipe has seen enough.
        sys.stderr.close()
        return FINE
    except (ValueError, OSError, ImportError, TypeError) as error:
        print(f"sklearn-subanneal: {error}", file=sys.stderr)
        return WRONG
    except Exception as error:
        # Whatever nobody foresaw: Python would exit as if `check` had found something.
        traceback.print_exc()
        print(
            f"sklearn-subanneal: {type(error).__name__}: {error}; this is an error of the program: please report it, "
            "with the lines above",
            file=sys.stderr,
        )
        return WRONG
    except KeyboardInterrupt as interrupt:
        print(f"sklearn-subanneal: interrupted; {str(interrupt) or 'nothing was written'}", file=sys.stderr)
        return INTERRUPTED
