"""Events as disjoint boxes: against the truth of the event at points, and planted ways to have too many."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.mixtures.events import AllOf, AnyOf, Complement, Condition, disjoint_boxes

# Models 0 and 1 are numbers, 2 and 3 have so many codes.
N_VALUES = {2: 3, 3: 4}
POINTS = list(product(np.arange(-1.0, 4.0, 0.5), np.arange(-1.0, 4.0, 0.5), range(3), range(4)))


def random_event(rng, depth=3):
    choice = rng.integers(4) if depth else 3
    if choice < 2:
        parts = tuple(random_event(rng, depth - 1) for _ in range(rng.integers(0, 4)))
        return (AllOf, AnyOf)[choice](parts)
    if choice == 2:
        return Complement(random_event(rng, depth - 1))
    model = int(rng.integers(4))
    if model in N_VALUES:
        return Condition(model, frozenset(np.flatnonzero(rng.random(N_VALUES[model]) < 0.5).tolist()))
    low, high = np.sort(rng.integers(0, 4, 2)).astype(float)
    closed = bool(rng.random() < 0.5)
    return rng.choice(
        [
            Condition(model, Interval(float(low), float(high), closed or low == high, bool(low == high))),
            Condition(model, Interval(low=float(low), has_low=closed)),
            Condition(model, Interval(high=float(high), has_high=closed)),
        ]
    )


def is_true(event, point):
    if isinstance(event, Complement):
        return not is_true(event.event, point)
    if isinstance(event, Condition):
        return has(event.values, point[event.model])
    return (all if isinstance(event, AllOf) else any)([is_true(part, point) for part in event.events])


def has(values, value):
    return value in values if isinstance(values, frozenset) else bool(values.contains(value))


def boxes_at(boxes, point):
    """How many boxes have the point."""
    return sum(
        all(has(v, point[m]) if isinstance(v, frozenset) else any(has(i, point[m]) for i in v) for m, v in box.items())
        for box in boxes
    )


@pytest.mark.parametrize("seed", range(25))
def test_each_point_of_the_event_is_in_one_box(seed):
    rng = np.random.default_rng(seed)
    event = random_event(rng)
    boxes = disjoint_boxes(event, N_VALUES)
    for at in rng.choice(len(POINTS), 300, replace=False):
        assert boxes_at(boxes, POINTS[at]) == is_true(event, POINTS[at]), (event, POINTS[at])


@pytest.mark.parametrize("seed", range(10))
def test_known_cells(seed):
    rng = np.random.default_rng(seed)
    event, known = random_event(rng), {0: float(rng.integers(0, 7)) / 2.0, 2: 1.0}
    boxes = disjoint_boxes(event, N_VALUES, known)
    assert all(known.keys().isdisjoint(box) for box in boxes)
    for point in POINTS:
        if point[0] == known[0] and point[2] == known[2]:
            assert boxes_at(boxes, point) == is_true(event, point)


def test_sure_and_impossible_events():
    some = Condition(2, frozenset([0]))
    assert disjoint_boxes(AnyOf((some, Complement(some))), N_VALUES) == [{}]
    assert disjoint_boxes(AllOf((some, Condition(2, frozenset([1, 2])))), N_VALUES) == []
    assert disjoint_boxes(Condition(0, Interval()), {}) == [{}]


def test_intervals_that_touch_are_joined():
    event = AnyOf(
        (Condition(0, Interval(0.0, 1.0)), Condition(0, Interval(1.0, 2.0, True)), Condition(0, Interval(3.0)))
    )
    assert disjoint_boxes(event, {}) == [{0: (Interval(0.0, 2.0), Interval(3.0))}]


def test_too_many_boxes_and_columns():
    # Pairs of conditions of which at least one is true: 2^20 boxes that have nothing in common.
    codes = frozenset([0])
    odd = Condition(0, codes)
    for m in range(1, 40):
        one = Condition(m, codes)
        odd = AnyOf((AllOf((odd, Complement(one))), AllOf((Complement(odd), one)))) if m < 12 else AllOf((odd, one))
    # The parity of twelve models has 2^11 boxes, and that of fourteen is refused only beyond the limit.
    assert len(disjoint_boxes(odd, dict.fromkeys(range(40), 2))) == 2**11
    pairs = AllOf(tuple(AnyOf((Condition(m, codes), Condition(m + 20, codes))) for m in range(20)))
    with pytest.raises(ValueError, match="too many boxes"):
        disjoint_boxes(pairs, dict.fromkeys(range(40), 2))
    with pytest.raises(ValueError, match="about 201 columns"):
        disjoint_boxes(AnyOf(tuple(Condition(m, codes) for m in range(201))), dict.fromkeys(range(201), 2))
    assert (
        len(disjoint_boxes(AnyOf(tuple(Condition(m, codes) for m in range(200))), dict.fromkeys(range(200), 2))) == 200
    )
