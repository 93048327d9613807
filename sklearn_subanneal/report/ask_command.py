"""The command ``ask``: probabilities and quantiles of a fitted model."""

from __future__ import annotations

import argparse

from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.learned_ranges import learned_ranges
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.number_digits import DIGITS_SHOWN, decimals_of, rounded_numbers
from sklearn_subanneal.report.question import Question


def ask_model(given: argparse.Namespace) -> int:
    """Print the answers, and give the exit code 0."""
    model = open_model(given.model).model
    ranges = learned_ranges(model)
    for text in given.question:
        asked = Question.of(text)
        spread = ranges.get(asked.column, 0.0)
        for level, value in asked.answer(model):
            if given.quiet:
                # A quantile may be a level, a text.
                shown = value if isinstance(value, str) else f"{rounded_numbers([value], spread)[0]:.15g}"
                print(shown if level is None else f"{level:g}\t{shown}", flush=True)
            elif level is None:
                condition = f" given {asked.condition}" if asked.condition else ""
                print(f"The probability of {asked.about}{condition} is {brief(value)}.", flush=True)
            else:
                shown = brief(value, decimals_of(spread, DIGITS_SHOWN))
                print(f"{asked.about} is at most {shown} with probability {level:g}.", flush=True)
    return 0
