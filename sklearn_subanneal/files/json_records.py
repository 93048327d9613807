"""Tables in JSON: records, one record a line, columns, or records inside of an object."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn_subanneal.tables.exact_integers import exact_integers, long_integers
from sklearn_subanneal.tables.numerals import LARGEST_EXACT

if TYPE_CHECKING:
    import pandas as pd

REMEDY = "save it as a list of records, such as [{...}, {...}], or one record a line"


def json_table(text: str, notes: list[str]) -> pd.DataFrame:
    """The table in a text of JSON; objects in cells become columns, lists become texts.

    Parameters
    ----------
    text : str
    notes : list of str
        Where the records were found is added.

    Raises
    ------
    ValueError
        If the text is no JSON, or holds no table.
    """
    import pandas as pd

    try:
        content = json.loads(text, parse_int=_whole)
    except RecursionError as error:
        raise ValueError(f"it is nested too deeply: {REMEDY}") from error
    except ValueError:
        content = _lines(text)
        notes.append("one record of JSON a line")
    frame = _frame(content, notes)
    if frame is None:
        raise ValueError(f"it has no list of records: {REMEDY}")
    # By their places: names may occur twice.
    for at, name in enumerate(frame.columns):
        column = frame.iloc[:, at]
        if column.dtype == object and column.map(lambda cell: isinstance(cell, _Large)).any():
            column = _with_integers(column)
            frame.isetitem(at, column)
        if column.dtype == object and column.map(lambda cell: isinstance(cell, list | dict)).any():
            frame.isetitem(at, column.map(lambda cell: _joined(cell) if isinstance(cell, list | dict) else cell))
            notes.append(f"the lists in column {name!r} were made texts")
    return pd.DataFrame(frame)


@dataclass(frozen=True)
class _Large:
    """A whole number with more digits than floating point keeps, which pandas would make it beside a missing cell."""

    number: int

    def __str__(self) -> str:
        return str(self.number)


def _whole(text: str) -> int | _Large:
    number = int(text)
    return number if abs(number) <= LARGEST_EXACT else _Large(number)


def _with_integers(column: pd.Series) -> pd.Series:
    """A column with whole numbers in place of large ones: as pandas has it, but for such as would lose digits."""
    import pandas as pd

    cells = [cell.number if isinstance(cell, _Large) else cell for cell in column]
    out, objects = (pd.Series(cells, column.index, dtype, name=column.name) for dtype in (None, object))
    if out.dtype.kind != "f" or long_integers(objects) is None:
        return out
    exact = exact_integers(objects)
    return objects if exact is None else exact


def _lines(text: str) -> list:
    out = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                out.append(json.loads(line, parse_int=_whole))
            except (ValueError, RecursionError) as error:
                raise ValueError(f"line {number} is no JSON ({error})") from error
    return out


def _frame(content: Any, notes: list[str]) -> pd.DataFrame | None:
    """The table of what JSON holds; None if that is none."""
    import pandas as pd

    if isinstance(content, list) and content and all(isinstance(record, dict) for record in content):
        return pd.json_normalize(content, sep=".")
    if isinstance(content, list) and len(content) > 1 and all(isinstance(row, list) for row in content):
        names = content[0]
        if all(isinstance(name, str) for name in names) and all(len(row) == len(names) for row in content):
            return pd.DataFrame(content[1:], columns=names)
    if not isinstance(content, dict) or not content:
        return None
    if isinstance(content.get("columns"), list) and isinstance(content.get("data"), list):
        return pd.DataFrame(content["data"], columns=content["columns"])
    values = list(content.values())
    if all(isinstance(cells, list) and not any(isinstance(cell, dict) for cell in cells) for cells in values):
        if len({len(cells) for cells in values}) == 1 and values[0]:
            return pd.DataFrame(content)
    inner = {name: value for name, value in content.items() if isinstance(value, list) and len(value) > 1}
    tables = {name: frame for name, value in inner.items() if (frame := _frame(value, [])) is not None}
    if tables:
        name = max(tables, key=lambda own: tables[own].size)
        left_out = [own for own in content if own != name]
        rest = f"; {', '.join(map(repr, left_out[:5]))} were left out" if left_out else ""
        notes.append(f"the records in {name!r}{rest}")
        return tables[name]
    if all(isinstance(cells, dict) for cells in values):
        # Of pandas: columns by row, if their keys are the same and count the rows; otherwise rows by key.
        keys = [list(cells) for cells in values]
        if all(own == keys[0] for own in keys) and keys[0] == [str(row) for row in range(len(keys[0]))]:
            return pd.DataFrame(content).reset_index(drop=True)
        frame = pd.json_normalize(values, sep=".")
        frame.insert(0, "key" if "key" not in frame else "key of the row", list(content))
        return frame
    return None


def _joined(cell) -> str:
    if isinstance(cell, list) and not any(isinstance(own, list | dict) for own in cell):
        return "; ".join(map(str, cell))
    return json.dumps(cell, ensure_ascii=False, default=lambda own: own.number)
