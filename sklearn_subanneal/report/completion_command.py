"""The command ``completion``: prints the script by which a shell completes commands and options."""

from __future__ import annotations

import argparse

from sklearn_subanneal.report.command_parser import command_parser
from sklearn_subanneal.report.completion import completion_script


def print_completion(given: argparse.Namespace) -> int:
    """Print the script, and give the exit code 0."""
    print(completion_script(command_parser(), given.shell), end="")
    return 0
