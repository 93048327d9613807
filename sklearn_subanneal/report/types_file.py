"""The types file: types of columns and how the file is read, as TOML to be edited and passed to the command again."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from sklearn_subanneal.report.boolean_texts import TICK
from sklearn_subanneal.report.column_types import TYPES
from sklearn_subanneal.report.written_numbers import WrittenNumbers
from sklearn_subanneal.tables.spelling import DURATION, NUMBER, TIME_OF_DAY

NAME = "types.toml"
# Options that a types file has; the others are of one run.
READING = {
    "encoding": str,
    "decimal": str,
    "sheet": str,
    "header": bool,
    "day_first": bool,
    "missing": list,
    "keep": list,
}
_WORDS = {str: "text", bool: "true or false", list: "list of texts"}
TABLES = ("columns", "reading", "missing", "spelling", "levels", "numbers")
MEANINGS = (NUMBER, DURATION, TIME_OF_DAY, TICK)


@dataclass(frozen=True)
class TypesFile:
    """What a types file says.

    Attributes
    ----------
    types : dict of str to str
        By the names of the columns.
    reading : dict of str to object
        Options of :class:`~sklearn_subanneal.files.ReadingOptions`.
    missing : dict of str to tuple of str
        What means a missing cell, by the names of the columns.
    spelling : dict of str to str
        What texts spell, a "number", a "duration", a "time of day" or a "tick", by the names of the columns.
    levels : dict of str to tuple of str
        Texts with an order, from the lowest to the highest, by the names of the columns, which are ordinal.
    numbers : dict of str to WrittenNumbers
        How numbers are written that are not as programs write them, by the names of the columns.
    """

    types: dict[str, str] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: dict[str, WrittenNumbers] = field(default_factory=dict)

    def over(self, other: TypesFile) -> TypesFile:
        """This file, and what another says of which it says nothing."""
        return TypesFile(*({**getattr(other, own.name), **getattr(self, own.name)} for own in fields(self)))


def read_types(path: str | Path) -> TypesFile:
    """Read a types file.

    Raises
    ------
    ValueError
        If it is no types file, or has an unknown entry.
    OSError
        If it cannot be read.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no types file, since it is not TOML ({error}): correct that line.") from error
    if set(content) - set(TABLES) or not all(isinstance(table, dict) for table in content.values()):
        raise ValueError(f"{path} may have the tables {', '.join(TABLES)}, and has {sorted(content)}.")
    types, reading, missing, spelling, levels, numbers = (content.get(name, {}) for name in TABLES)
    for name, kind in types.items():
        if not isinstance(kind, str):
            raise ValueError(f"{path} has {kind!r} for column {name!r}: a type is one of {', '.join(TYPES)}.")
    for name, value in reading.items():
        if name not in READING:
            raise ValueError(f"{path} has the option {name!r} in [reading]: options are {', '.join(READING)}.")
        if not isinstance(value, READING[name]) or not _are_texts(value):
            raise ValueError(f"{path} has {name} = {value!r} in [reading], which is no {_WORDS[READING[name]]}.")
    for name, marks in missing.items():
        if not isinstance(marks, list) or not _are_texts(marks):
            raise ValueError(f"{path} has {marks!r} for column {name!r} in [missing]: give a list of texts.")
    for name, meaning in spelling.items():
        if meaning not in MEANINGS:
            raise ValueError(f"{path} has {meaning!r} for column {name!r} in [spelling]: give {', '.join(MEANINGS)}.")
    for name, own in levels.items():
        if not isinstance(own, list) or not _are_texts(own):
            raise ValueError(
                f"{path} has {own!r} for column {name!r} in [levels]: give a list of texts, each in quotes, from the "
                "lowest to the highest."
            )
    written = {}
    for name, own in numbers.items():
        try:
            written[name] = WrittenNumbers.parse(own)
        except ValueError as error:
            raise ValueError(f"{path} has {own!r} for column {name!r} in [numbers]: {error}.") from None
    # A type that was chosen, and written, before this was said of the column.
    types = {
        name: kind
        for name, kind in types.items()
        if not (name in levels and kind == "categorical")
        and not (spelling.get(name) == DURATION and kind.startswith("cyclic"))
    }
    reading, missing, levels = (
        {name: _frozen(own) for name, own in table.items()} for table in (reading, missing, levels)
    )
    return TypesFile(types, reading, missing, spelling, levels, written)


def _frozen(value):
    return tuple(value) if isinstance(value, list) else value


def _are_texts(value) -> bool:
    return not isinstance(value, list) or all(isinstance(text, str) for text in value)
