"""EventColumns: comparisons of columns of the user's table with values, as events about the modelled columns."""

from __future__ import annotations

import math
import operator
from difflib import get_close_matches

import numpy as np

from sklearn_subanneal.columns.atom_split import REST, AtomSplit
from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.estimators._evidence import MOST_NAMES, column_index
from sklearn_subanneal.mixtures.events import AllOf, AnyOf, Condition, Event
from sklearn_subanneal.tables.column import ABSENT, PRESENT, Column
from sklearn_subanneal.tables.schema import Table
from sklearn_subanneal.tables.value_order import is_number

ORDERED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class EventColumns:
    """The columns of a table, and the events of comparisons of them.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table: Table):
        self.table, self.places, self.names = table, table.places, table.names
        self._numbers = {name: j for j, name in enumerate(self.names)}

    def compare(self, name: str, operation: str, value, place: str) -> Event:
        """The event of one comparison, as :func:`parsed_event` asks for it.

        A cell that is missing fulfils no comparison but "is missing", where its column has a missing indicator; where
        it has none, the event is about the value that the cell has.

        Raises
        ------
        ValueError
            If there is no such column, or the comparison does not suit its type.
        """
        j = self._numbers[name] if name in self._numbers else column_index(self.table, "event", name)
        column, at, place = self.table.columns[j], self.places[j], f"event has {_shortened(place)!r}"
        if operation == "is missing":
            if column.indicator is None:
                raise ValueError(
                    f"{place}, but no missing cells are modelled in column {name!r}: fit with "
                    f"missing_indicator=[{name!r}] or 'missing-only'."
                )
            return Condition(at[-1], frozenset([ABSENT]))
        if column.is_empty:
            raise ValueError(f"{place}, but column {name!r} had no value in fit: leave it out of the event.")
        if column.split is not None and not isinstance(column.split, AtomSplit):
            raise ValueError(
                f"{place}, but column {name!r} is {column.kind}, modelled by several parts that do not determine one "
                "another: such columns can only be evidence. For questions about it, fit with the numbers of days as a "
                "column of reals."
            )
        if operation == "is true":
            if column.kind != "boolean":
                raise ValueError(
                    f"{place}, but column {name!r} is {column.kind}, not boolean: compare it with a value."
                )
            operation, value = "==", True
        values, source = value if operation == "in" else [value], self.table.modelled(j)
        if operation == "in":
            operation = "=="
        if column.categories is not None:
            own = frozenset().union(*(_codes(column, operation, one, place) for one in values))
            event = Condition(at[0], codes_of_source(column, own))
        else:
            intervals = [_interval(column, operation, one, place) for one in values]
            events = [in_interval(source, at, interval_of_source(column, own)) for own in intervals]
            event = events[0] if len(events) == 1 else AnyOf(tuple(events))
        if column.indicator is None:
            return event
        return AllOf((Condition(at[-1], frozenset([PRESENT])), event))


def _shortened(text):
    return text if len(text) <= 80 else f"{text[:77]}..."


def in_interval(column: Column, at: list[int], interval: Interval) -> Event:
    """That a number is in an interval; a semicontinuous one is an atom that is in it, or the rest that is."""
    if column.split is None:
        return Condition(at[0], interval)
    atoms = np.flatnonzero(interval.contains(column.split.atoms)) + REST + 1
    rest = AllOf((Condition(at[0], frozenset([REST])), Condition(at[1], interval)))
    return AnyOf((Condition(at[0], frozenset(atoms.tolist())), rest))


def codes_of_source(column: Column, codes: frozenset[int]) -> frozenset[int]:
    """The codes of the modelled column that stand for codes of a column, which may be a function of it."""
    if column.derivation is None:
        return codes
    own = column.derivation.function.backward(np.array(sorted(codes), int))
    return frozenset(own.tolist())


def interval_of_source(column: Column, interval: Interval) -> Interval:
    """The interval of the modelled column that stands for one of a column, which may be a function of it."""
    if column.derivation is None:
        return interval
    function = column.derivation.function
    low, high = (function.end_of_source(own) for own in (interval.low, interval.high))
    if low == high and np.isinf(low):
        # The function has no such values.
        return Interval(0.0, 0.0)
    if function.falls:
        return Interval(high, low, interval.has_high, interval.has_low)
    return Interval(low, high, interval.has_low, interval.has_high)


def order_of(column: Column) -> np.ndarray | None:
    """The codes of the categories in their order, that of the levels or of numbers; None if they have none."""
    if column.type.ordered:
        return np.arange(len(column.categories))
    return np.argsort(column.categories, kind="stable") if _are_numbers(column.categories.tolist()) else None


def _are_numbers(categories: list) -> bool:
    """Whether all are numbers; false and true are 0 and 1."""
    return all(isinstance(one, bool) or is_number(one) for one in categories)


def _interval(column, operation, value, place):
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(
            f"{place}, but column {column.name!r} is {column.kind} and {value!r} is no number: compare it with one."
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{place}, with a number that is too large: leave the comparison out.")
    if operation == "==":
        return Interval(number, number, True, True)
    if operation in ("<", "<="):
        return Interval(high=number, has_high=operation == "<=")
    return Interval(low=number, has_low=operation == ">=")


def _codes(column, operation, value, place):
    """Codes of the categories of which a comparison is true."""
    categories = column.categories.tolist()
    if operation in ORDERED and order_of(column) is None:
        raise ValueError(
            f"{place}, but column {column.name!r} is {column.kind}, whose categories are texts without an order: use "
            "== or in, or declare it 'ordinal' (by feature_types, or in the command by --types for a new fit)."
        )
    codes = range(len(categories))
    if value in categories and (operation not in ORDERED or column.type.ordered):
        compare = ORDERED.get(operation, operator.eq)
        return {code for code in codes if compare(code, categories.index(value))}
    # A number between levels has a place only where they ascend: grades may run from 5 to 1.
    ascend = not column.type.ordered or (_are_numbers(categories) and categories == sorted(categories))
    if operation in ORDERED and isinstance(value, int | float) and _are_numbers(categories) and ascend:
        return {code for code in codes if ORDERED[operation](categories[code], value)}
    near = get_close_matches(str(value), [str(one) for one in categories], MOST_NAMES, cutoff=0.0)
    # The categories most like the value, as they are written in an event.
    listed = [repr(one) for text in near for one in categories if str(one) == text]
    more = ", ..." * (len(listed) < len(categories))
    raise ValueError(
        f"{place}, but {value!r} is no category of column {column.name!r}. Categories are {', '.join(listed)}{more}."
    )
