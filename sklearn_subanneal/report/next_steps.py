"""find_next_steps: what to do after reading a report, with commands that can be copied."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.mixtures.stacking import LEAST_WEIGHT
from sklearn_subanneal.report.number_digits import DIGITS_SHOWN, decimals_of
from sklearn_subanneal.report.types_file import NAME as FILE_OF_TYPES
from sklearn_subanneal.report.wording import listed

if TYPE_CHECKING:
    import pandas as pd

    from sklearn_subanneal.report.findings import Findings

MOST_NAMES, MORE_CHAINS, MORE_EFFORT, LONGER = 5, 8, 5, 4
COMMAND = "sklearn-subanneal"


@dataclass(frozen=True)
class NextStep:
    """One thing to do.

    Attributes
    ----------
    text : str
    commands : list of str
        Lines for a shell.
    """

    text: str
    commands: list[str]


def find_next_steps(found: Findings) -> list[NextStep]:
    """What to do next, the most urgent first.

    Parameters
    ----------
    found : Findings
    """
    folder = _quoted(found.folder)
    lines = " --skip-bad-lines" if found.source.options.skip_bad_lines else ""
    table = f"{_quoted(found.source.name)}{lines}"
    # What the user said of the columns, and how the table was read.
    known = f"{_quoted(found.source.name)} --types {_quoted(f'{found.folder}/{FILE_OF_TYPES}')}{lines}"
    steps, fit = [], "" if found.covariance_type == "auto" else f" --covariance {found.covariance_type}"
    if found.structure.cautions:
        what, options = "more work in each run of the model", f"--effort {MORE_EFFORT}"
        if sum(weight >= LEAST_WEIGHT for weight in found.structure.chain_weights) < 2:
            what, options = (
                "more runs of the model, from other random numbers",
                f"--chains {MORE_CHAINS} --seed {found.seed + 1}",
            )
        elif found.time_limit is not None:
            what, options = "more time", f"--time-limit {LONGER * found.time_limit:g}"
        again = f"{COMMAND} report {known} {options}{fit} -o {_quoted(found.folder + '-longer')}"
        steps.append(NextStep(f"Make the report again with {what}; keep what both reports say.", [again]))
    if found.source.step > 1:
        text = (
            f"Only {len(found.source.frame):,} of {found.source.n_rows_of_file:,} rows were used, for want of time. A "
            "report without --time-limit uses all of them"
        )
        whole = [f"{COMMAND} report {known}{fit} -o {_quoted(found.folder + '-whole')}"]
        steps.append(NextStep(f"{text}.", whole))
    steps += _reading_steps(found, f"{known}{fit}")
    cells = found.anomalies.cells[:2]
    if cells:
        names = [f"{cell.column} in {found.source.row_names[cell.row]}" for cell in cells]
        steps.append(NextStep(f"Look up the oddest cells where the data came from: {'; '.join(names)}.", []))
    question = _question(found)
    if question:
        steps.append(
            NextStep(
                "Ask the model questions of your own. For example:", [f"{COMMAND} ask {folder} {_quoted(question)}"]
            )
        )
    if found.imputation.missing.any():
        draws = f"{COMMAND} impute {table} completed.csv --model {folder} --draws 20"
        text = (
            "If you compute on with the filled-in cells, do not take the guesses as observed: "
            f"{found.files['uncertainty']} says how far off they may be, and several filled-in tables, each analysed, "
            "show what the guesses change."
        )
        steps.append(NextStep(text, [draws]))
    if "detector" in found.files:
        steps.append(
            NextStep("When new rows come, compare them with this table.", [f"{COMMAND} check new.csv --model {folder}"])
        )
    steps.append(
        NextStep(
            "Before you act on a dependence, ask what else could bring it about: the report shows which columns go "
            "together, not which one is the cause.",
            [],
        )
    )
    return steps


def _reading_steps(found: Findings, table: str) -> list[NextStep]:
    unused = [column.name for column in found.source.set_aside if column.kind != "label"]
    marked = [column.name for column in found.source.columns if column.marks]
    steps = []
    if unused:
        names = listed(unused, MOST_NAMES)
        text = f"{counted(len(unused), 'column')} took no part: {names}. If one matters, say what it is."
        kind, folder = _quoted(f"{unused[0]}=categorical"), _quoted(f"{found.folder}-types")
        steps.append(NextStep(text, [f"{COMMAND} report {table} --types {kind} -o {folder}"]))
    if marked:
        names = listed(marked, MOST_NAMES)
        text = f"Check what was taken for missing in {names}; it is listed in the section on the table."
        steps.append(NextStep(text, []))
    return steps


def _question(found: Findings) -> str:
    """A question on the strongest dependence that can be put as a condition; empty if there is none."""
    for pair in found.structure.pairs:
        columns = [found.source.frame[name] for name in (pair.one, pair.other)]
        kinds = [found.source.feature_types[name] for name in (pair.one, pair.other)]
        if any("`" in name or "\n" in name for name in (pair.one, pair.other)) or "datetime" in kinds:
            continue
        events = [_event(series, kind) for series, kind in zip(columns, kinds, strict=True)]
        if all(events):
            return f"probability of {events[0]} given {events[1]}"
    return ""


def _event(series: pd.Series, kind: str) -> str:
    """That a column has its most frequent category, or is above its median; empty if it cannot be written."""
    name = f"`{series.name}`"
    if kind in ("real", "skewed", "count", "semicontinuous", "cyclic"):
        return f"{name} > {_threshold(series)}" if series.dtype.kind in "iuf" else ""
    value = series.mode().iloc[0]
    if isinstance(value, str):
        return f"{name} == {value!r}" if value.isprintable() else ""
    if not isinstance(value, int | float | np.number | np.bool_):
        return ""
    return f"{name} == {_in_full(value)}"


def _threshold(series: pd.Series) -> str:
    """About the median of a column, in so many digits that it is near to its numbers."""
    numbers = series.dropna().to_numpy(np.float64)
    median = float(np.median(numbers))
    decimals = max(decimals_of(np.ptp(numbers), DIGITS_SHOWN), decimals_of(median, DIGITS_SHOWN), 0)
    return _in_full(round(median, decimals))


def _in_full(number) -> str:
    """A number with all of its digits, as an event has it."""
    is_whole = isinstance(number, int | np.integer | np.bool_) or float(number).is_integer()
    return repr(int(number)) if is_whole else repr(float(number))


def _quoted(text: str) -> str:
    return shlex.quote(text)
