"""The types file: types of columns and how the file is read, as TOML to be edited and passed to the command again."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn_subanneal.files import ReadingOptions
from sklearn_subanneal.report.column_types import TYPES

if TYPE_CHECKING:
    from sklearn_subanneal.report.source import Source

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
_HEAD = """\
# Types of the columns of {name}, and how it is read. To change them, edit this file, and run
#     sklearn-subanneal report {name} --types {file}
# Types are {types}.
"""


@dataclass(frozen=True)
class TypesFile:
    """What a types file says.

    Attributes
    ----------
    types : dict of str to str
        By the names of the columns.
    reading : dict of str to object
        Options of :class:`~sklearn_subanneal.files.ReadingOptions`.
    """

    types: dict[str, str] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)


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
        lines.append(f'{_quoted(column.name)} = "{column.kind}"  # {_without_control(reason)}')
    reading = {name: getattr(source.options, name) for name in READING}
    chosen = {name: value for name, value in reading.items() if value not in (None, ())}
    lines += ["", "[reading]", "# encoding, decimal, sheet, header, day_first; missing and keep are lists of texts."]
    lines += [f"{name} = {_written(value)}" for name, value in chosen.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


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
    unknown = set(content) - {"columns", "reading"}
    types, reading = content.get("columns", {}), content.get("reading", {})
    if unknown or not isinstance(types, dict) or not isinstance(reading, dict):
        raise ValueError(f"{path} must have the tables [columns] and [reading], and has {sorted(content)}.")
    for name, kind in types.items():
        if not isinstance(kind, str):
            raise ValueError(f"{path} has {kind!r} for column {name!r}: a type is one of {', '.join(TYPES)}.")
    for name, value in reading.items():
        if name not in READING:
            raise ValueError(f"{path} has the option {name!r} in [reading]: options are {', '.join(READING)}.")
        are_texts = not isinstance(value, list) or all(isinstance(text, str) for text in value)
        if not isinstance(value, READING[name]) or not are_texts:
            raise ValueError(f"{path} has {name} = {value!r}, which is no {READING[name].__name__} of texts.")
    return TypesFile(dict(types), {name: tuple(own) if isinstance(own, list) else own for name, own in reading.items()})


def with_given(options: ReadingOptions, reading: dict[str, Any]) -> ReadingOptions:
    """The options of a types file, with those in their place that differ from the default."""
    default = ReadingOptions()
    given = {own.name: getattr(options, own.name) for own in fields(options)}
    merged = {
        name: value if value != getattr(default, name) else reading.get(name, value) for name, value in given.items()
    }
    for name in ("missing", "keep"):
        merged[name] = tuple(dict.fromkeys((*reading.get(name, ()), *given[name])))
    return ReadingOptions(**merged)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _written(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(_quoted, value))}]" if isinstance(value, tuple) else _quoted(str(value))


def _without_control(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
