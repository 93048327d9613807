"""The grammar of questions about events: text as an event, by Python's parser and a list of admitted nodes.

Nothing is evaluated: the text becomes a syntax tree, and every node that is not admitted is refused.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Callable, Collection
from unicodedata import normalize

from sklearn_subanneal.mixtures.events import AllOf, AnyOf, Complement, Event

# Longer texts are refused, and those that are nested deeper.
MOST_CHARACTERS, MOST_DEPTH = 10_000, 50
# A string, or what may stand outside of strings and needs a look: a name in backticks, a comment.
TOKEN = r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|`([^`]*)`|([`#])"""
OPERATORS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NEGATED = {"!=": "==", "not in": "in", "is not": "is"}
MISSING = "missing"
# Of Python's keywords.
WORDS_OF_EVENTS = {"and", "or", "not", "in", "is", "True", "False", "None"}
WORDS = {"true": True, "false": False}
REMEDY = (
    "An event is made of comparisons of a column with a value, such as age >= 60, 18 <= age < 65, smoker == 'yes' or "
    "state in ['TX', 'OR'], joined by and, or, not and parentheses; names with spaces are in backticks."
)

Compare = Callable[[str, str, object, str], Event]


def parsed_event(text: str, names: Collection[str], compare: Compare) -> Event:
    """The event that a text describes.

    Parameters
    ----------
    text : str
    names : collection of str
        Names of the columns.
    compare : callable
        ``compare(name, operator, value, place)`` is the event of one comparison. The operator is one of <, <=, >, >=
        and == with a number, a string or a bool; "in" with a list of these; "is missing" and "is true" with None.
        ``place`` is the text of the comparison, for error messages.

    Returns
    -------
    event : Event

    Raises
    ------
    ValueError
        If the text is not of this grammar.

    Examples
    --------
    >>> from sklearn_subanneal.estimators._event_text import parsed_event
    >>> parsed_event("not (0 < `the age` or sex in ['m'])", ["the age", "sex"], lambda *args: print(args))
    ('the age', '>', 0, '0 < `the age`')
    ('sex', 'in', ['m'], "sex in ['m']")
    Complement(event=AnyOf(events=(None, None)))
    """
    if not isinstance(text, str):
        raise ValueError(f"event must be a string, got {text!r}. {REMEDY}")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"event has {len(text):,} characters, and may have {MOST_CHARACTERS:,}: ask in parts.")
    return _Reader(text, names, compare).event()


class _Reader:
    def __init__(self, text, names, compare):
        self.names, self.compare = names, compare
        # Names in backticks are replaced by words that are nowhere in the text, as Python's parser reads it.
        self.prefix = "column"
        while self.prefix in normalize("NFKC", text):
            self.prefix += "_"
        self.quoted: list[str] = []
        # Columns such as `class`, which Python would take for a word of its own.
        own = [name for name in names if keyword.iskeyword(name) and name not in WORDS_OF_EVENTS]
        token = re.compile(rf"{TOKEN}|\b({'|'.join(own) or '(?!)'})\b")
        self.source = token.sub(self._replaced, text.replace("\n", " ").replace("\r", " ")).strip()

    def _replaced(self, found):
        string, name, wrong, word = found.groups()
        name = word if name is None else name
        if wrong is not None:
            what = "a backtick that is not closed" if wrong == "`" else "'#', and comments are not admitted"
            raise ValueError(f"event has {what}, at character {found.start()}. {REMEDY}")
        if string is not None:
            return string
        self.quoted.append(name)
        return f" {self.prefix}{len(self.quoted) - 1} "

    def event(self) -> Event:
        try:
            with warnings.catch_warnings():
                # Of odd escape sequences in strings.
                warnings.simplefilter("ignore")
                tree = ast.parse(self.source, mode="eval")
        except SyntaxError as error:
            hint = " Equality is written ==." if re.search(r"(?<![<>=!])=(?!=)", self.source) else ""
            raise ValueError(f"event is not understood: {self._restored(str(error.msg))}.{hint} {REMEDY}") from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise ValueError(
                f"event is not understood: it is nested too deeply, or has odd characters. {REMEDY}"
            ) from error
        return self._read(tree.body, 0)

    def _read(self, node, depth) -> Event:
        if depth > MOST_DEPTH:
            raise ValueError(f"event is nested deeper than {MOST_DEPTH} levels: ask in parts.")
        if isinstance(node, ast.BoolOp):
            join = AllOf if isinstance(node.op, ast.And) else AnyOf
            return join(tuple(self._read(value, depth + 1) for value in node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Complement(self._read(node.operand, depth + 1))
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            pairs = zip(sides, node.ops, sides[1:], strict=False)
            events = tuple(self._compared(left, OPERATORS[type(op)], right, node) for left, op, right in pairs)
            return events[0] if len(events) == 1 else AllOf(events)
        if (name := self._column(node)) is not None:
            return self.compare(name, "is true", None, self._place(node))
        raise self._refused(node, "is no comparison")

    def _compared(self, left, operator, right, node):
        place, name, other = self._place(node), self._column(left), self._column(right)
        if name is not None and other is not None and _is_word(right):
            # Such a word is itself beside a column, though there is a column of its name, which may be in backticks.
            other = None
        elif name is not None and other is not None and _is_word(left):
            name = None
        if name is not None and other is not None:
            for text in (other, name):
                if text not in self.names:
                    raise self._refused(
                        node, f"compares a column with {text}, which is no column: write texts in quotes, '{text}'"
                    )
            raise self._refused(node, "compares two columns, but a column can be compared with values only")
        if name is None and other is None:
            raise self._refused(node, "has a comparison without a column on one side")
        if name is None:
            if operator not in MIRRORED:
                raise self._refused(node, "has the column on the wrong side: it must be on the left")
            name, operator, right = other, MIRRORED[operator], left
        is_negated = operator in NEGATED
        operator = NEGATED.get(operator, operator)
        if operator == "is":
            if not (isinstance(right, ast.Name) and right.id == MISSING):
                raise self._refused(
                    node, "has 'is', which can be followed by missing or not missing only (else use ==)"
                )
            event = self.compare(name, "is missing", None, place)
        elif operator == "in":
            if not isinstance(right, ast.List | ast.Tuple | ast.Set):
                raise self._refused(node, "must have values in brackets after 'in'")
            event = self.compare(name, operator, [self._literal(value) for value in right.elts], place)
        else:
            event = self.compare(name, operator, self._literal(right), place)
        return Complement(event) if is_negated else event

    def _column(self, node):
        """The name of a column, as it is written; None if the node is something else."""
        if not isinstance(node, ast.Name):
            return None
        if node.id.startswith(self.prefix):
            return self.quoted[int(node.id.removeprefix(self.prefix))]
        # Python's parser has put the name into the form NFKC, in which a micro sign is the Greek letter.
        if (written := ast.get_source_segment(self.source, node)) in self.names:
            return written
        if node.id in self.names:
            return node.id
        same = [name for name in self.names if normalize("NFKC", name) == node.id]
        if len(same) == 1:
            return same[0]
        return None if _is_word(node) else node.id

    def _literal(self, node):
        """A number, a string or a bool."""
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign, number = (-1 if isinstance(node.op, ast.USub) else 1), node.operand
            if isinstance(number, ast.Constant) and type(number.value) in (int, float):
                return sign * number.value
        elif isinstance(node, ast.Constant) and type(node.value) in (str, bool, int, float):
            return node.value
        elif isinstance(node, ast.Name) and node.id in WORDS:
            return WORDS[node.id]
        elif (isinstance(node, ast.Name) and node.id == MISSING) or (
            isinstance(node, ast.Constant) and node.value is None
        ):
            raise self._refused(node, "is no value; write `is missing` or `is not missing`")
        raise self._refused(node, "is no value: a value is a number, a string in quotes, true or false")

    def _place(self, node):
        return self._restored(ast.get_source_segment(self.source, node) or "")

    def _restored(self, text):
        return re.sub(rf" ?{self.prefix}(\d+) ?", lambda found: f"`{self.quoted[int(found[1])]}`", text)

    def _refused(self, node, problem):
        place = self._place(node)
        place = place if len(place) <= 80 else f"{place[:77]}..."
        return ValueError(f"event has {place!r}, which {problem}. {REMEDY}")


def _is_word(node) -> bool:
    """Whether it is a word of this grammar that is no keyword of Python, and so might be a name."""
    return isinstance(node, ast.Name) and node.id in {MISSING, *WORDS}
