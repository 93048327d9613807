"""The command ``ask``: probabilities and quantiles of a fitted model."""

from __future__ import annotations

import argparse

from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.question import Question


def ask_model(given: argparse.Namespace) -> int:
    """Print the answers, and give the exit code 0."""
    model = open_model(given.model).model
    for text in given.question:
        asked = Question.of(text)
        for level, value in asked.answer(model):
            if given.quiet:
                # A quantile may be a level, a text.
                shown = value if isinstance(value, str) else f"{value:.6g}"
                print(shown if level is None else f"{level:g}\t{shown}", flush=True)
            elif level is None:
                condition = f" given {asked.condition}" if asked.condition else ""
                print(f"The probability of {asked.about}{condition} is {brief(value)}.", flush=True)
            else:
                print(f"{asked.about} is at most {brief(value)} with probability {level:g}.", flush=True)
    return 0
