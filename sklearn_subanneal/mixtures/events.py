"""Events about the cells of a row, joined by and, or and not, and the disjoint boxes of which they consist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.mixtures.parts import Values

# Limits of the work for one event: models that it is about, boxes, and steps of the search for them.
MOST_MODELS, MOST_BOXES, MOST_STEPS = 200, 10_000, 3_000_000


@dataclass(frozen=True)
class Condition:
    """The event that the cell of a model has one of some codes, or is a number of an interval.

    Attributes
    ----------
    model : int
        Its index.
    values : frozenset of int, or Interval
        Codes of a discrete type, or numbers in the units of the data.
    """

    model: int
    values: frozenset[int] | Interval


@dataclass(frozen=True)
class AllOf:
    """The event that all of some events occur; without any, the sure event."""

    events: tuple

    is_all = True


@dataclass(frozen=True)
class AnyOf:
    """The event that at least one of some events occurs; without any, the impossible event."""

    events: tuple

    is_all = False


@dataclass(frozen=True)
class Complement:
    """The event that another event does not occur."""

    event: object


Event = Condition | AllOf | AnyOf | Complement


def disjoint_boxes(
    event: Event, n_values: Mapping[int, int], known: Mapping[int, float] | None = None
) -> list[dict[int, Values]]:
    """Boxes without common points whose union is an event.

    The event is decomposed by Shannon's expansion: the values of one model after the other are divided into sets within
    which the truth of the event depends on the other models in the same way.

    Parameters
    ----------
    event : Event
    n_values : mapping of int to int
        For each discrete model that has conditions, the number of its codes; the others are numbers.
    known : mapping of int to float, or None
        Cells that have been observed, by model: codes, or numbers in the units of the data.

    Returns
    -------
    boxes : list of dict of int to (frozenset of int, or tuple of Interval)
        For models, the codes or the disjoint intervals in which their cells are; those of the others are free.

    Raises
    ------
    ValueError
        If there are conditions on more than 200 models, or more than 10,000 boxes, or it takes too long to find them.

    Examples
    --------
    >>> from sklearn_subanneal.columns.intervals import Interval
    >>> from sklearn_subanneal.mixtures.events import AnyOf, Condition, disjoint_boxes
    >>> either = AnyOf((Condition(0, Interval(low=3.0)), Condition(1, frozenset([2]))))
    >>> for box in disjoint_boxes(either, {1: 4}):
    ...     print(box)
    {0: (Interval(low=-inf, high=3.0, has_low=False, has_high=True),), 1: frozenset({2})}
    {0: (Interval(low=3.0, high=inf, has_low=False, has_high=False),)}
    """
    if isinstance(event, Condition) and event.model not in (known or {}):
        box = _box_of_condition(event, n_values)
        if box is not None:
            return [box]
    axes = _axes(event, n_values)
    if len(axes) > MOST_MODELS:
        raise ValueError(
            f"The event is about {len(axes)} columns, and at most {MOST_MODELS} are possible: ask about fewer."
        )
    node = _node(event, axes, True)
    for m, value in (known or {}).items():
        if m in axes:
            node = _substituted(node, m, axes[m].cell(value))
    found = _Expansion(axes).boxes(node)
    return [{m: axes[m].values(cells) for m, cells in box.items()} for box in found]


def _box_of_condition(condition, n_values):
    """The box of a condition that is neither sure nor impossible, as most questions are; else None."""
    values, m = condition.values, condition.model
    if isinstance(values, Interval):
        return {m: (values,)} if np.isinf(values.low) != np.isinf(values.high) else None
    return {m: values} if 0 < len(values) < n_values[m] else None


@dataclass(frozen=True, eq=False)
class _Codes:
    """The values of a discrete model; each is a cell of the decomposition."""

    n_cells: int

    def cell(self, value):
        return int(value)

    def cells(self, codes):
        return codes

    def values(self, cells):
        return frozenset(cells)


@dataclass(frozen=True, eq=False)
class _Line:
    """The real line, cut at the ends of all intervals: cell 2i is the gap before end i, and cell 2i + 1 that end."""

    ends: np.ndarray

    @property
    def n_cells(self):
        return 2 * len(self.ends) + 1

    def cell(self, value):
        at = int(np.searchsorted(self.ends, value))
        return 2 * at + int(at < len(self.ends) and self.ends[at] == value)

    def cells(self, interval):
        first = 0 if interval.low == -np.inf else self.cell(interval.low) + (not interval.has_low)
        end = self.n_cells if interval.high == np.inf else self.cell(interval.high) + interval.has_high
        return frozenset(range(first, end))

    def values(self, cells):
        cells = np.array(sorted(cells))
        firsts = cells[np.diff(cells, prepend=-2) > 1]
        lasts = cells[np.diff(cells, append=self.n_cells + 1) > 1]
        # A gap is without the ends on its sides, and an end is an interval with both of its ends.
        below, above = np.concatenate([[-np.inf], self.ends]), np.append(self.ends, np.inf)
        return tuple(
            Interval(
                float(self.ends[a // 2] if a % 2 else below[a // 2]),
                float(self.ends[b // 2] if b % 2 else above[b // 2]),
                bool(a % 2),
                bool(b % 2),
            )
            for a, b in zip(firsts, lasts, strict=True)
        )


def _conditions(event) -> Iterator[Condition]:
    if isinstance(event, Condition):
        yield event
    else:
        for part in [event.event] if isinstance(event, Complement) else event.events:
            yield from _conditions(part)


def _axes(event, n_values):
    """How the values of each model that has conditions are divided."""
    ends: dict[int, set[float]] = {}
    for condition in _conditions(event):
        own = ends.setdefault(condition.model, set())
        if isinstance(condition.values, Interval):
            own |= {condition.values.low, condition.values.high} - {-np.inf, np.inf}
    return {m: _Codes(n_values[m]) if m in n_values else _Line(np.array(sorted(own))) for m, own in ends.items()}


def _node(event, axes, wanted):
    """The event, or else its complement, in normal form.

    It is True, False, (model, cells) for a condition, or (is_all, set of nodes), of which the former is bool, not int.
    """
    if isinstance(event, Complement):
        return _node(event.event, axes, not wanted)
    if isinstance(event, Condition):
        axis = axes[event.model]
        cells = frozenset(axis.cells(event.values))
        return _bounded(event.model, cells if wanted else frozenset(range(axis.n_cells)) - cells, axis.n_cells)
    return _joined(event.is_all == wanted, (_node(part, axes, wanted) for part in event.events))


def _bounded(model, cells, n_cells):
    if not cells:
        return False
    return True if len(cells) == n_cells else (model, cells)


def _joined(is_all, nodes):
    kept = set()
    for node in nodes:
        if isinstance(node, bool):
            if node is not is_all:
                return node
        else:
            kept.add(node)
    if not kept:
        return is_all
    return kept.pop() if len(kept) == 1 else (is_all, frozenset(kept))


def _is_condition(node):
    return not isinstance(node[0], bool)


def _own_conditions(node, model) -> set:
    """The sets of cells of the conditions of a model, in a node."""
    if _is_condition(node):
        return {node[1]} if node[0] == model else set()
    return set().union(*(_own_conditions(part, model) for part in node[1]))


def _first_model(node):
    return node[0] if _is_condition(node) else min(map(_first_model, node[1]))


def _substituted(node, model, cell):
    """The node, given the cell in which a model is."""
    if isinstance(node, bool):
        return node
    if _is_condition(node):
        return node if node[0] != model else cell in node[1]
    return _joined(node[0], (_substituted(part, model, cell) for part in node[1]))


class _Expansion:
    """The search for disjoint boxes, which remembers those of the nodes that it has seen."""

    def __init__(self, axes):
        self.axes, self.seen, self.n_steps = axes, {}, 0

    def boxes(self, node):
        if isinstance(node, bool):
            return [{}] if node else []
        if node not in self.seen:
            self.seen[node] = self._expanded(node)
        return self.seen[node]

    def _expanded(self, node):
        model = _first_model(node)
        conditions = sorted(_own_conditions(node, model), key=sorted)
        # Cells that are in the same conditions leave the same node.
        groups: dict[tuple, list[int]] = {}
        for cell in range(self.axes[model].n_cells):
            groups.setdefault(tuple(cell in own for own in conditions), []).append(cell)
        rests: dict = {}
        for cells in groups.values():
            self.n_steps += len(node[1])
            rests.setdefault(_substituted(node, model, cells[0]), []).extend(cells)
        out = []
        for rest, cells in rests.items():
            # A model whose values all lead to the same node is free.
            own = {model: cells} if len(cells) < self.axes[model].n_cells else {}
            out += (own | box for box in self.boxes(rest))
        if len(out) > MOST_BOXES or self.n_steps > MOST_STEPS:
            raise ValueError(
                f"The event falls apart into too many boxes (at most {MOST_BOXES:,} are possible): ask about fewer "
                "columns at once, or with fewer alternatives."
            )
        return out
