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
    'or for the quantiles of a column, as in "quantiles of income given age > 40". Names with spaces are in backticks, '
    "and texts in quotes."
)
# Quoted texts and names in backticks, in which no word of the question is looked for.
_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`""")
_START = re.compile(r"\s*(?:what\s+is\s+)?(?:the\s+)?(probability|quantiles?|median)\s+(?:of|that)\s+", re.IGNORECASE)
_CELL = re.compile(r"\s*(?:`([^`]*)`|([^\W\d]\w*))\s*==?\s*(.+?)\s*", re.DOTALL)
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


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
    """

    kind: str
    about: str
    condition: str = ""

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
        Question(kind='probability', about='age > 60', condition="smoker == 'yes'")
        """
        start = _START.match(text)
        kind = "probability" if start is None or start[1].lower() == "probability" else "quantiles"
        text = text[start.end() if start else 0 :].strip().removesuffix("?").strip()
        about, condition = _parts(text, "given")
        if not about:
            raise ValueError(f"The question is empty. {REMEDY}")
        return cls(kind, about, condition)

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
        evidence = given_cells(self.condition)
        if self.kind == "probability":
            if evidence is not None:
                return [(None, model.probability(self.about, given=evidence or None))]
            both, known = model.probability([f"({self.about}) and ({self.condition})", self.condition])
            if not known > 0.0:
                raise ValueError(
                    f"The condition {self.condition!r} has probability 0, so nothing is known given it: name a cell "
                    "of a column of numbers by ==, or a range."
                )
            return [(None, float(min(both / known, 1.0)))]
        if evidence is None:
            raise ValueError("Quantiles are known given single values, as in given age == 40 and smoker == 'yes'.")
        values = model.conditional_quantiles(self.column, QUANTILES, given=evidence or None)
        return list(zip(QUANTILES, values.tolist(), strict=True))


def given_cells(condition: str) -> dict | None:
    """The cells that a condition such as "age == 40 and smoker == 'yes'" gives; None if it is another event.

    Nothing is evaluated: a value is a number, a quoted text, true or false.

    Examples
    --------
    >>> from sklearn_subanneal.report.question import given_cells
    >>> given_cells("age == 40 and `first name` == 'Ann'"), given_cells("age > 40"), given_cells("")
    ({'age': 40, 'first name': 'Ann'}, None, {})
    """
    cells: dict = {}
    while condition:
        part, condition = _parts(condition, "and")
        found = _CELL.fullmatch(part)
        if found is None:
            return None
        name, text = found[1] if found[1] is not None else found[2], found[3]
        if text.lower() in ("true", "false"):
            value = text.lower() == "true"
        else:
            try:
                value = ast.literal_eval(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                return None
        if not isinstance(value, str | int | float) or name in cells:
            return None
        cells[name] = value
    return cells


def _parts(text: str, word: str) -> tuple[str, str]:
    """What stands before and after a word that is not quoted."""
    masked = _QUOTED.sub(lambda found: "\0" * len(found[0]), text)
    found = re.search(rf"(?:^|\s){word}(?=\s|$)", masked, re.IGNORECASE)
    if found is None:
        return text.strip(), ""
    return text[: found.start()].strip(), text[found.end() :].strip()
