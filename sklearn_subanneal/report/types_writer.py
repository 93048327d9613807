"""write_types: the types of the columns of a table and how it was read, as a types file."""

from __future__ import annotations

import json
from pathlib import Path

from sklearn_subanneal.report.column_types import TYPES
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.report.types_file import READING
from sklearn_subanneal.report.written_numbers import WrittenNumbers

# Texts of a column that are offered as levels.
_OFFERED = range(3, 13)
_HEAD = """\
# Types of the columns of {name}, and how it is read. To change them, edit this file, and run
#     sklearn-subanneal report {name} --types {file}
# Types are {types};
# cyclic:24 is a cyclic column with the period 24, as of hours; auto is a column whose type is chosen by its values, and
# which may be a function of another column: the model has such columns once.
"""


def write_types(source: Source, path: str | Path) -> Path:
    """Write the types of the columns of a table, with the reasons, and how it was read.

    Parameters
    ----------
    source : Source
    path : str or Path
        An existing file is replaced.

    Returns
    -------
    path : Path
    """
    path = Path(path)
    lines = [_HEAD.format(name=source.name.replace("\n", " "), file=path.name, types=", ".join(TYPES)), "[columns]"]
    for column in source.columns:
        reason = " ".join(column.reason.split())
        lines.append(f'{_quoted(column.name)} = "{column.declaration}"  # {_without_control(reason)}')
    reading = {name: getattr(source.options, name) for name in READING}
    orders = {column.day_first for column in source.columns if column.day_first is not None}
    if reading["day_first"] is None and len(orders) == 1:
        (reading["day_first"],) = orders
    # New tables, of few rows, may not show what this one did.
    reading["decimal"] = reading["decimal"] or source.decimal
    chosen = {name: value for name, value in reading.items() if value not in (None, ())}
    lines += ["", "[reading]", "# encoding, decimal, sheet, header, day_first; missing and keep are lists of texts."]
    lines += [f"{name} = {_written(value)}" for name, value in chosen.items()]
    lines += ["", "[missing]", "# What means a missing cell in a column, beside empty cells."]
    lines += [f"{_quoted(own.name)} = {_written(tuple(own.marks))}" for own in source.columns if own.marks]
    lines += [
        "",
        "[spelling]",
        '# What texts spell: a "number", "duration" (in seconds), "time of day" (in hours) or "tick" (empty means no).',
    ]
    lines += [f"{_quoted(own.name)} = {_written(own.meaning)}" for own in source.columns if own.meaning]
    lines += [
        "",
        "[numbers]",
        "# How numbers are written, by which the cells of new tables are read: the unit behind them, whether there are",
        "# scales such as k, and the mark before decimals if it is not that of the table.",
    ]
    decimal = reading["decimal"]
    written = {own.name: WrittenNumbers.of(own.spelling, decimal).entries for own in source.modelled}
    lines += [f"{_quoted(name)} = {_written(entries)}" for name, entries in written.items() if entries]
    lines += [
        "",
        "[levels]",
        "# Texts with an order, from the lowest to the highest; their column is ordinal. For one that is below a #:",
        "# take the # away, and put its texts in order.",
    ]
    lines += [f"{_quoted(own.name)} = {_written(own.levels)}" for own in source.columns if own.levels]
    lines += [f"# {_quoted(name)} = {_written(texts)}" for name, texts in _offered_levels(source).items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _offered_levels(source: Source) -> dict[str, tuple[str, ...]]:
    """The texts of the columns of a few categories, of which the user may know an order."""
    few = [own for own in source.modelled if own.kind == "categorical" and own.n_distinct in _OFFERED]
    found = {own.name: tuple(sorted(source.frame[own.name].dropna().unique(), key=str)) for own in few}
    return {name: texts for name, texts in found.items() if all(isinstance(text, str) for text in texts)}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _written(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_written(own)}" for name, own in value.items()) + "}"
    return f"[{', '.join(map(_quoted, value))}]" if isinstance(value, tuple) else _quoted(str(value))


def _without_control(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
