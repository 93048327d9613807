"""Question: what a user asks a model in words, as "probability of age > 60 given smoker == 'yes'"."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn_subanneal.estimators import CrossCat

REMEDY = (
    "Ask for the probability of an event, as in \"probability of age > 60 and smoker == 'yes' given city == 'Bonn'\", "
    'or for the quantiles of a column, as in "quantiles of income given age == 40". Names with spaces are in '
    "backticks, and texts in quotes."
)
# Quoted texts and names in backticks, in which no word of the question is looked for.
_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`""")
_START = re.compile(r"\s*(?:what\s+is\s+)?(?:the\s+)?(probability|quantiles?|median)\s+(?:of|that)\s+", re.IGNORECASE)
_CELL = re.compile(r"\s*(?:`([^`]*)`|([^\W\d]\w*))\s*==?\s*(.+?)\s*", re.DOTALL)
_AND, _OR = re.compile(r"\band\b", re.IGNORECASE), re.compile(r"\bor\b", re.IGNORECASE)
QUANTILES, MEDIAN = (0.05, 0.25, 0.5, 0.75, 0.95), (0.5,)


@dataclass(frozen=True)
class Question:
    """A question about a new row.

    Attributes
    ----------
    kind : {"probability", "quantiles"}
    about : str
        An event, or the name of a column.
    condition : str
        An event that is known to occur; empty if there is none.
    levels : tuple of float
        Of quantiles; empty of a probability.
    """

    kind: str
    about: str
    condition: str = ""
    levels: tuple[float, ...] = ()

    @property
    def column(self) -> str:
        """The name of the column whose quantiles are asked for."""
        return self.about[1:-1] if self.about.startswith("`") and self.about.endswith("`") else self.about

    @classmethod
    def of(cls, text: str) -> Question:
        """The question in a text; an event alone asks for its probability.

        Raises
        ------
        ValueError
            If it is empty.

        Examples
        --------
        >>> from sklearn_subanneal.report.question import Question
        >>> Question.of("probability of age > 60 given smoker == 'yes'")
        Question(kind='probability', about='age > 60', condition="smoker == 'yes'", levels=())
        """
        start = _START.match(text)
        word = "probability" if start is None else start[1].lower()
        levels = {"probability": (), "median": MEDIAN}.get(word, QUANTILES)
        text = text[start.end() if start else 0 :].strip().removesuffix("?").strip()
        about, condition = _parts(text, "given")
        if not about:
            raise ValueError(f"The question is empty. {REMEDY}")
        return cls("quantiles" if levels else "probability", about, condition, levels)

    def answer(self, model: CrossCat) -> list[tuple[float | None, float]]:
        """The probability, with None before it, or the quantiles, each after its level.

        Raises
        ------
        ValueError
            If an event or column is not as it must be, or the condition has probability 0.
        """
        try:
            return self._answered(model)
        except ValueError as error:
            raise ValueError(f"{error} {'' if 'joined by and' in str(error) else REMEDY}".strip()) from error

    def _answered(self, model):
        cells, rest = _divided(self.condition)
        if self.kind == "quantiles":
            if rest:
                raise ValueError(
                    "Quantiles are known given single values, as in given age == 40 and smoker == 'yes', and the "
                    f"condition has {rest!r}."
                )
            values = model.conditional_quantiles(self.column, self.levels, given=cells or None)
            return list(zip(self.levels, values.tolist(), strict=True))
        if not rest:
            return [(None, model.probability(self.about, given=cells or None))]
        both, known = model.probability([f"({self.about}) and ({rest})", rest], given=cells or None)
        if not known > 0.0:
            raise ValueError(
                f"The condition {self.condition!r} has probability 0, so nothing is known given it: name a cell "
                "of a column of numbers by ==, or a range."
            )
        return [(None, float(min(both / known, 1.0)))]


def given_cells(condition: str) -> dict | None:
    """The cells that a condition such as "age == 40 and smoker == 'yes'" gives; None if it is another event.

    Nothing is evaluated: a value is a number, a quoted text, true or false.

    Examples
    --------
    >>> from sklearn_subanneal.report.question import given_cells
    >>> given_cells("age == 40 and `first name` == 'Ann'"), given_cells("age > 40"), given_cells("")
    ({'age': 40, 'first name': 'Ann'}, None, {})
    """
    cells, rest = _divided(condition)
    return None if rest else cells


def _divided(condition: str) -> tuple[dict, str]:
    """The cells that a condition gives, and the rest of it: an event, or an empty text.

    The probability of a cell of a column of numbers is 0, so that a condition with one is not only an event.
    """
    masked, cells, rest, start = _masked(condition), {}, [], 0
    if not condition or _OR.search(masked):
        return {}, condition
    for found in [*_AND.finditer(masked), None]:
        part, start = condition[start : found.start() if found else None].strip(), found.end() if found else 0
        cell = _cell(part)
        if not part or (cell is not None and cell[0] in cells):
            return {}, condition
        if cell is None:
            rest.append(part)
        else:
            cells[cell[0]] = cell[1]
    return cells, " and ".join(rest)


def _cell(part: str) -> tuple[str, str | float] | None:
    """The column and the value of a cell that is given; None of another event."""
    found = _CELL.fullmatch(part)
    if found is None:
        return None
    name, text = found[1] if found[1] is not None else found[2], found[3]
    if text.lower() in ("true", "false"):
        return name, text.lower() == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return (name, value) if isinstance(value, str | int | float) else None


def _masked(text: str) -> str:
    """A text of the same length without what is quoted or in parentheses."""
    out, depth = [], 0
    for character in _QUOTED.sub(lambda found: "\0" * len(found[0]), text):
        depth += character in "(["
        out.append("\0" if depth else character)
        depth -= character in ")]" and depth > 0
    return "".join(out)


def _parts(text: str, word: str) -> tuple[str, str]:
    """What stands before and after a word that is neither quoted nor in parentheses."""
    found = re.search(rf"(?:^|\s){word}(?=\s|$)", _masked(text), re.IGNORECASE)
    if found is None:
        return text.strip(), ""
    return text[: found.start()].strip(), text[found.end() :].strip()
