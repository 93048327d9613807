"""Schedules are pure and complete, their pace keeps to work or to the clock, and windows never hold a row twice."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import (
    Accelerating,
    CyclicSubsampling,
    EnergyAnneal,
    PriorGibbs,
    RandomSubsampling,
    SequentialGibbs,
    StratifiedSubsampling,
    SubsampleAnneal,
    TemperedAccelerating,
    clock,
    schedules,
    subsampling,
)
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.pace import LEAST_CYCLE, Course, Pace, own_work

SCHEDULES = [
    SubsampleAnneal(passes=7.5),
    Accelerating(passes=64, n_small=30),
    Accelerating(passes=1),
    TemperedAccelerating(passes=8, n_small=30),
    TemperedAccelerating(passes=1, initial_powers=[1.0], start_share=1.0),
    SequentialGibbs(passes=3),
    PriorGibbs(passes=3),
    EnergyAnneal(passes=3),
]
PROGRESS = np.linspace(0.0, 1.0, 2001)


def each_schedule(test):
    return pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)(test)


# --- Functions of progress --------------------------------------------------------------------------------------


@each_schedule
@pytest.mark.parametrize("n_rows", [1, 2, 17, 300, 301, 5000])
def test_sizes_rise_to_the_whole_table(schedule, n_rows):
    sizes = schedule.subsample_size(PROGRESS, n_rows)
    assert sizes.dtype.kind == "i"
    assert sizes.shape == PROGRESS.shape
    assert (np.diff(sizes) >= 0).all()
    assert sizes.min() >= 0
    assert sizes[-1] == n_rows
    assert schedule.n_assignments(n_rows) >= n_rows
    heat = schedule.inverse_temperature(PROGRESS, n_rows)
    assert (np.diff(heat) >= 0).all()
    assert heat.min() >= 0
    assert heat[-1] == 1.0


@each_schedule
def test_progress_may_be_a_number_and_may_overshoot(schedule):
    assert int(schedule.subsample_size(1.5, 40)) == 40
    assert float(schedule.inverse_temperature(1.5, 40)) == 1.0
    assert np.shape(schedule.subsample_size(0.5, 40)) == ()


def test_linear_annealing_has_constant_work_a_row():
    schedule = SubsampleAnneal(passes=10)
    assert schedule.n_assignments(300) == 3000
    np.testing.assert_array_equal(schedule.subsample_size(np.arange(3001) / 3000, 300), -(-np.arange(3001) // 10))


@pytest.mark.parametrize("n_rows", [20, 100, 1000, 64 * 30, 20_000])
@pytest.mark.parametrize("n_first", [1, 8, 1000])
def test_accelerating_spends_what_its_rate_says(n_rows, n_first):
    schedule = Accelerating(passes=64, n_small=30, n_first=n_first)
    exponent = np.log(64) / np.log(n_rows / 30) if n_rows > 30 else 0.0
    first = min(n_first, n_rows // 2, 15)
    # The first rows enter at once; the k-th is accompanied by `passes` assignments up to n_small, by
    # passes (k / n_small)^-exponent beyond.
    k = np.arange(1, n_rows + 1) - 0.5
    rate = np.where(k < first, 1.0, 64 * np.minimum(1.0, (k / 30) ** -exponent))
    assert schedule.n_assignments(n_rows) == pytest.approx(rate.sum(), rel=2e-3)
    work = np.cumsum(rate)
    sizes = schedule.subsample_size(work / work[-1], n_rows)
    np.testing.assert_allclose(sizes, np.maximum(np.arange(1, n_rows + 1), first), atol=1.5, rtol=2e-3)


def test_accelerating_costs_less_a_row_on_larger_tables():
    costs = [Accelerating().n_assignments(n) / n for n in (300, 3000, 30_000, 300_000, 3_000_000)]
    assert costs[0] == pytest.approx((32 + 64 * 268) / 300)
    assert all(np.diff(costs) < 0)
    assert costs[-1] < 2.5


def test_energy_is_cold_at_the_end_and_hot_at_the_start():
    np.testing.assert_allclose(EnergyAnneal().inverse_temperature([0.0, 0.25, 1.0], 50), [0.0, 0.25, 1.0])
    untempered = [s for s in SCHEDULES if not isinstance(s, EnergyAnneal | TemperedAccelerating)]
    assert all((s.inverse_temperature(PROGRESS, 50) == 1).all() for s in untempered)


@pytest.mark.parametrize("n_rows", [1, 7, 200, 1000, 4000, 100_000])
def test_the_tempered_schedule_starts_several_times(n_rows):
    schedule, plain = TemperedAccelerating(initial_powers=(0.4, 0.8, 1.0), start_share=0.2), Accelerating(60, 1000)
    small = min(n_rows, 1000)
    first = min(32, small / 2)
    early = first + 60 * (small - first)
    # The larger the table, the nearer is the end of the starts to the size whose annealing would cost as much as they.
    share = plain.n_assignments(n_rows) / n_rows / (plain.n_assignments(1000) / 1000) if n_rows > 1000 else 1.0
    few = first + 0.6 * (small - first)
    n_last = np.ceil(few + share * (small - few) - 1e-9)
    assert share < 0.1 or n_rows <= 4000
    starts = schedule.starts(n_rows)
    assert [start.initial_power for start in starts] == [0.4, 0.8, 1.0]
    for start in starts:
        assert start.n_assignments(n_rows) == np.ceil(0.2 * early)
        np.testing.assert_array_equal(
            start.subsample_size([0.0, 0.375, 0.75, 1.0], n_rows),
            np.ceil([first, (first + n_last) / 2, n_last, n_last]),
        )
        own = start.initial_power
        np.testing.assert_allclose(
            start.inverse_temperature([0.0, 0.375, 0.75, 1.0], n_rows), [own, (1 + own) / 2, 1.0, 1.0]
        )
    # It begins where they end, at power 1.
    assert abs(schedule.subsample_size(0.0, n_rows) - n_last) <= 1
    assert (schedule.inverse_temperature(PROGRESS, n_rows) == 1.0).all()


@pytest.mark.parametrize("n_rows", [600, 1000, 1001, 4000, 100_000])
def test_after_its_starts_the_tempered_schedule_grows_as_the_accelerating_one_and_then_rests(n_rows):
    schedule, plain = TemperedAccelerating(initial_powers=(0.5, 1.0), start_share=0.3), Accelerating(60, n_small=1000)
    whole, early = plain.n_assignments(n_rows), plain.n_assignments(min(n_rows, 1000))
    assert schedule.n_assignments(n_rows) == whole
    rest = own_work(schedule, n_rows)
    assert rest == pytest.approx(whole - 0.6 * early, abs=4)
    sizes = schedule.subsample_size(PROGRESS, n_rows)
    grown = sizes < n_rows
    n_last = schedule.starts(n_rows)[0].n_last
    done = 32 + 60 * (n_last - 32)
    np.testing.assert_allclose(
        sizes[grown], plain.subsample_size((done + PROGRESS[grown] * rest) / whole, n_rows), atol=1.0, rtol=1e-2
    )
    # What the starts were ahead, those of small tables most, is left for sweeps of all rows.
    at_rest = 1.0 - grown.mean()
    assert at_rest == pytest.approx((done - 0.6 * early) / rest, abs=2e-3)


@pytest.mark.parametrize("powers", [(), 0.5, None, "half", ("half",), (0.0,), (1.5, 1.0), (np.nan,), [0.5, -1.0]])
def test_bad_initial_powers_are_refused(powers):
    with pytest.raises(ValueError, match="initial_powers must be one or more numbers above 0 and at most 1"):
        TemperedAccelerating(initial_powers=powers).n_assignments(100)


class HalfOfIt:
    """No schedule, but with some of its methods."""

    def subsample_size(self, progress, n_rows):
        return n_rows

    n_assignments = bind = subsample_size


def test_objects_with_some_methods_of_a_schedule_are_refused():
    X = np.zeros((10, 1))
    with pytest.raises(ValueError, match=r"schedule must be a Schedule, got .*HalfOfIt.* derive its class from"):
        CrossCat(schedule=HalfOfIt()).fit(X)
    with pytest.raises(ValueError, match=r"subsampling must be a Subsampling, got .*HalfOfIt.* derive its class from"):
        CrossCat(subsampling=HalfOfIt()).fit(X)


@pytest.mark.parametrize("share", [0.0, 0.34, -0.1, np.nan, "half"])
def test_a_share_of_the_starts_above_the_whole_is_refused(share):
    with pytest.raises(ValueError, match=r"start_share must be above 0 and, for 3 initial_powers, at most 0\.333, got"):
        TemperedAccelerating(start_share=share).n_assignments(100)


@pytest.mark.parametrize("passes", [0, 0.5, -3, np.nan, np.inf, "7", None])
@pytest.mark.parametrize(
    "kind", [SubsampleAnneal, Accelerating, TemperedAccelerating, SequentialGibbs, PriorGibbs, EnergyAnneal]
)
def test_passes_below_one_are_refused(kind, passes):
    with pytest.raises(ValueError, match=r"passes must be a number (of at least 1|from 1 to 2.14748e\+09), got"):
        kind(passes=passes).n_assignments(100)


@pytest.mark.parametrize("name", ["n_small", "n_first"])
@pytest.mark.parametrize("value", [0, -1, np.nan, "all"])
def test_numbers_of_rows_below_one_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a number of at least 1, got"):
        Accelerating(**{name: value}).n_assignments(100)


# --- Pace -------------------------------------------------------------------------------------------------------


def sizes_at_the_beginning(course):
    """Rows in the subsample when each leg of a course begins."""
    n_rows = course.n_rows
    if not course.n_starts:
        return [n_rows * (course.legs[0].start == "prior")]
    return [0] * course.n_starts + [int(course.legs[0].subsample_size(1.0, n_rows))]


@each_schedule
@pytest.mark.parametrize("n_rows", [1, 5, 16, 333])
def test_pace_by_work(schedule, n_rows):
    course = Course(schedule, n_rows)
    total, n_steps, before = 0, 0, 0.0
    for number, (leg, size) in enumerate(zip(course.legs, sizes_at_the_beginning(course), strict=True)):
        pace, moves = course.pace(number), 0
        for step in pace.steps(size):
            assert step.n_moves >= abs(step.size - size)
            assert step.size == leg.subsample_size(step.progress, n_rows)
            assert step.inverse_temperature == leg.inverse_temperature(step.progress, n_rows)
            moves, size, n_steps = moves + step.n_moves, step.size, n_steps + 1
            assert before < course.progress(number, step.progress)
            before = course.progress(number, step.progress)
        assert step.progress == 1.0
        assert size == leg.subsample_size(1.0, n_rows)
        assert pace.done == moves
        # The last cycle may be longer than what was left of the work, and all rows enter.
        assert own_work(leg, n_rows) <= moves <= own_work(leg, n_rows) + max(n_rows, LEAST_CYCLE)
        total += moves
    assert size == n_rows
    assert before == pytest.approx(1.0)
    assert total >= schedule.n_assignments(n_rows)
    assert course.n_steps() == n_steps


def test_steps_to_go_from_the_middle_of_a_start():
    course = Course(TemperedAccelerating(20, initial_powers=(0.5, 1.0), start_share=0.25), 100)
    pace = course.pace(1)
    steps = pace.steps(0)
    step = [next(steps) for _ in range(4)][-1]
    done, progress = pace.done + step.n_moves, step.progress
    rest = course.pace(1, done, progress).n_steps(step.size) + course.pace(2).n_steps(100)
    assert course.n_steps(1, done, progress, step.size) == rest < course.n_steps()


def test_pace_goes_on_where_another_ended():
    schedule = SubsampleAnneal(passes=10)
    steps = list(Pace(schedule, 200).steps(0))
    half = len(steps) // 2
    done = sum(step.n_moves for step in steps[:half])
    assert list(Pace(schedule, 200, done=done).steps(steps[half - 1].size)) == steps[half:]


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize(("before", "target"), [(0, 20), (20, 20), (15, 32), (40, 40), (30, 10), (39, 40)])
def test_moves_that_are_not_made_are_taken_back(cyclic, before, target):
    window, rng = Window([0, 25, 40], [1.0, 1.0], cyclic), np.random.default_rng(1)
    window.plan(before, before, rng)
    inside = set(window.positions())
    leaving, entering = window.plan(target, 60, rng)
    for own, other in zip(leaving[:37], entering[:37], strict=True):
        inside = inside - {own} | {other} - {-1}
    window.take_back(leaving[37:], entering[37:])
    assert set(window.positions()) == inside and len(window.positions()) == window.size == len(inside)
    # And so on.
    for own, other in zip(*window.plan(40, 50, rng), strict=True):
        assert (own < 0 or own in inside) and (other < 0 or other not in inside - {own})
        inside = inside - {own} | {other} - {-1}
    assert inside == set(range(40)) == set(window.positions())


class Clock:
    """Time that passes only when told to."""

    def __init__(self, monkeypatch):
        self.now = 50.0
        monkeypatch.setattr(clock, "now", lambda: self.now)


@each_schedule
@pytest.mark.parametrize("speed", [100.0, 700.0, 20_000.0])
def test_pace_by_the_clock_is_as_long_as_asked_or_makes_three_times_the_work(monkeypatch, schedule, speed):
    clock = Clock(monkeypatch)
    expected = min(3.0, 3 * schedule.n_assignments(100) / speed)
    begin, course = clock.now, Course(schedule, 100, seconds=3.0)
    for leg, size in enumerate(sizes_at_the_beginning(course)):
        for step in course.pace(leg, elapsed=clock.now - begin).steps(size):
            clock.now += step.n_moves / speed
        assert step.progress == 1.0
        # Off by no more than one cycle a leg.
        late = (leg + 1.5) * 100 / speed
        assert clock.now - begin == pytest.approx(expected * course.progress(leg, 1.0), abs=late)
    assert step.size == 100


def test_pace_by_the_clock_follows_the_schedule_in_time(monkeypatch):
    clock = Clock(monkeypatch)
    pace = Pace(SubsampleAnneal(), 1000, seconds=10.0)
    for step in pace.steps(0):
        clock.now += step.n_moves / 5000.0
        assert step.size == pytest.approx(1000 * min(pace.elapsed / 10, 1), abs=30)
    assert pace.done == pytest.approx(50_000, rel=0.03)


@each_schedule
@pytest.mark.parametrize("seconds", [0.0, 1e-9])
def test_all_rows_enter_though_there_is_no_time(schedule, seconds):
    course = Course(schedule, 250, seconds)
    for leg, size in enumerate(sizes_at_the_beginning(course)):
        steps = list(course.pace(leg).steps(size))
        assert not steps or steps[-1].size == course.legs[leg].subsample_size(1.0, 250)
        assert sum(step.n_moves for step in steps) <= 600


# --- Windows ----------------------------------------------------------------------------------------------------


def members(moves, inside):
    """Play the moves on a set, checking each one; yields the members after each."""
    inside = set(inside)
    for left, entered in zip(*(array.tolist() for array in moves), strict=True):
        if left >= 0:
            assert left in inside
            inside.remove(left)
        if entered >= 0:
            assert entered not in inside
            inside.add(entered)
        yield sorted(inside)


WINDOWS = {
    "one stratum": ([0, 40], [1.0]),
    "equal strata": ([0, 25, 35, 40], [1.0, 1.0, 1.0]),
    "proportional strata": ([0, 25, 35, 40], [25.0, 10.0, 5.0]),
    "single rows": ([0, 1, 2, 40], [1.0, 1.0, 1.0]),
}


@pytest.mark.parametrize("cyclic", [True, False])
@pytest.mark.parametrize(("bounds", "weights"), WINDOWS.values(), ids=WINDOWS)
def test_a_window_never_holds_a_row_twice(bounds, weights, cyclic):
    window, rng, inside = Window(bounds, weights, cyclic), np.random.default_rng(0), []
    for target, n_moves in [(1, 1), (3, 9), (3, 30), (20, 17), (12, 50), (40, 60), (40, 100), (0, 3), (40, 0), (7, 5)]:
        before, moves = window.size, window.plan(target, n_moves, rng)
        states = list(members(moves, inside))
        inside, sizes = states[-1], [before, *map(len, states)]
        assert len(moves[0]) == len(moves[1]) == max(n_moves, abs(target - before))
        assert window.size == target == len(inside)
        assert set(inside) <= set(range(40))
        # On the way the subsample goes straight from one size to the other.
        assert (np.sign(target - before) * np.diff(sizes) >= 0).all()
        assert sizes[-1] == target


@pytest.mark.parametrize("cyclic", [True, False])
def test_lone_moves_are_spread_among_the_others(cyclic):
    window, rng = Window([0, 100], [1.0], cyclic), np.random.default_rng(0)
    window.plan(10, 10, rng)
    leaving, _ = window.plan(30, 100, rng)
    np.testing.assert_array_equal(np.flatnonzero(leaving < 0), np.arange(4, 100, 5))


@pytest.mark.parametrize("target", [-1, 41])
def test_a_subsample_larger_than_the_table_is_refused(target):
    with pytest.raises(ValueError, match=f"{target} rows"):
        Window([0, 40], [1.0], True).plan(target, 1, np.random.default_rng(0))


def test_cyclic_churn_serves_every_row_in_turn():
    window, rng = Window([0, 40], [1.0], True), np.random.default_rng(0)
    window.plan(10, 10, rng)
    leaving, entering = window.plan(10, 80, rng)
    np.testing.assert_array_equal(leaving, np.arange(80) % 40)
    np.testing.assert_array_equal(entering, np.arange(10, 90) % 40)
    window.plan(40, 30, rng)
    leaving, entering = window.plan(40, 40, rng)
    np.testing.assert_array_equal(leaving, entering)  # at full size churn is Gibbs sampling
    assert set(leaving.tolist()) == set(range(40))


def test_random_churn_is_uniform():
    window, rng = Window([0, 20], [1.0], False), np.random.default_rng(0)
    *_, inside = members(window.plan(5, 5, rng), ())
    moves = window.plan(5, 20_000, rng)
    present = np.bincount(np.concatenate(list(members(moves, inside))), minlength=20)
    # A quarter of the time each; about 4,000 effective observations.
    np.testing.assert_allclose(present / 20_000, 0.25, atol=0.04)
    counts = np.bincount(moves[1], minlength=20)
    assert abs(counts - 1000).max() < 5 * np.sqrt(1000)
    # The row that leaves may come back: it is one of the 16 that are out.
    assert np.mean(moves[0] == moves[1]) == pytest.approx(1 / 16, abs=0.008)


@pytest.mark.parametrize("cyclic", [True, False])
def test_state_of_a_window(cyclic):
    rng = np.random.default_rng(0)
    window, other = (Window([0, 25, 40], [1.0, 1.0], cyclic) for _ in range(2))
    window.plan(13, 40, rng)
    other.set_state(window.get_state())
    state = rng.bit_generator.state
    moves = window.plan(20, 30, rng)
    rng.bit_generator.state = state
    np.testing.assert_array_equal(moves, other.plan(20, 30, rng))
    assert other.size == 20


def test_fill():
    window = Window([0, 25, 40], [1.0, 1.0], True)
    window.fill()
    assert window.size == window.n_rows == 40
    leaving, entering = window.plan(40, 400, np.random.default_rng(0))
    np.testing.assert_array_equal(leaving, entering)
    assert set(leaving.tolist()) == set(range(40))


# --- Subsamplings -----------------------------------------------------------------------------------------------

RARE = np.repeat([0, 1, 2], [900, 90, 10])


def early(chooser, size, column=None, n_rows=1000, seed=0):
    """Rows of the table in a subsample of the given size, after some churn."""
    rng = np.random.default_rng(seed)
    order, window = chooser.bind(n_rows, rng, column)
    assert sorted(order) == list(range(n_rows))
    *_, inside = members(window.plan(size, 5 * size, rng), ())
    return order[inside]


@pytest.mark.parametrize("churn", ["cyclic", "random"])
def test_rare_strata_come_early_and_are_complete(churn):
    chooser = StratifiedSubsampling(labels=RARE, churn=churn)
    np.testing.assert_array_equal(np.bincount(RARE[early(chooser, 24)], minlength=3), [8, 8, 8])
    np.testing.assert_array_equal(np.bincount(RARE[early(chooser, 60)], minlength=3), [25, 25, 10])
    np.testing.assert_array_equal(np.bincount(RARE[early(chooser, 300)], minlength=3), [200, 90, 10])
    np.testing.assert_array_equal(np.sort(early(chooser, 1000)), np.arange(1000))


def test_balance():
    counts = np.bincount(RARE[early(StratifiedSubsampling(labels=RARE, balance=0.0), 100)], minlength=3)
    np.testing.assert_array_equal(counts, [90, 9, 1])
    counts = np.bincount(RARE[early(StratifiedSubsampling(labels=RARE, balance=0.5), 60)], minlength=3)
    weights = np.sqrt([900, 90, 10])
    np.testing.assert_allclose(counts, 60 * weights / weights.sum(), atol=1)


@pytest.mark.parametrize("chooser", [CyclicSubsampling(), RandomSubsampling(), StratifiedSubsampling(labels=RARE)])
def test_churn_visits_all_rows(chooser):
    rng = np.random.default_rng(0)
    order, window = chooser.bind(1000, rng)
    window.plan(100, 100, rng)
    _, entering = window.plan(100, 40_000, rng)
    assert len(np.unique(order[entering])) == 1000


def test_the_subsample_is_no_function_of_the_order_of_the_table():
    rows = np.concatenate([early(CyclicSubsampling(), 50, seed=seed) for seed in range(40)])
    # 2,000 rows drawn: their mean is 500 with a standard error of 6.5.
    assert abs(rows.mean() - 499.5) < 30


def test_strata_of_columns():
    reals = np.r_[np.arange(99.0), np.nan]
    strata = StratifiedSubsampling(column=0, n_bins=3).strata(100, reals)
    np.testing.assert_array_equal(np.bincount(strata), [33, 33, 33, 1])
    np.testing.assert_array_equal(
        StratifiedSubsampling(column="c").strata(4, np.array([1, -1, 0, 1], np.int8)), [2, 0, 1, 2]
    )
    np.testing.assert_array_equal(StratifiedSubsampling(column=0).strata(3, np.full(3, 2.5)), [0, 0, 0])
    np.testing.assert_array_equal(
        np.bincount(StratifiedSubsampling(column=0).strata(1000, np.arange(1000.0))), np.full(10, 100)
    )


@pytest.mark.parametrize(
    ("chooser", "message"),
    [
        (StratifiedSubsampling(), "either column= or labels="),
        (StratifiedSubsampling("a", labels=[1, 2, 3]), "either column= or labels="),
        (StratifiedSubsampling(labels=[0, 1]), r"one entry for each of the 3 rows, got shape \(2,\)"),
        (StratifiedSubsampling(labels=[0, 1, 1], balance=2.0), r"balance must lie in \[0, 1\], got 2.0"),
        (StratifiedSubsampling(labels=[0, 1, 1], balance="all"), r"balance must lie in \[0, 1\], got 'all'"),
        (StratifiedSubsampling(labels=[0, 1, 1], n_bins=0), "n_bins must be an integer of at least 1, got 0"),
        (StratifiedSubsampling(labels=[0, 1, 1], churn="linear"), 'churn must be "cyclic" or "random", got \'linear\''),
    ],
)
def test_bad_strata(chooser, message):
    with pytest.raises(ValueError, match=message):
        chooser.bind(3, np.random.default_rng(0))


# --- Parameter objects ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [*SCHEDULES, CyclicSubsampling(), RandomSubsampling(), StratifiedSubsampling("a", balance=0.5)],
    ids=repr,
)
def test_parameter_objects(parameters):
    copy = clone(parameters)
    assert copy is not parameters
    assert copy.get_params() == parameters.get_params()
    assert repr(copy) == repr(parameters)
    assert eval(repr(parameters)).get_params() == parameters.get_params()
    for name, value in parameters.get_params().items():
        assert getattr(copy.set_params(**{name: value}), name) is value


def test_names():
    assert {name: type(schedules.resolve_schedule(name)) for name in schedules.NAMED} == schedules.NAMED
    assert {name: type(subsampling.resolve_subsampling(name)) for name in subsampling.NAMED} == subsampling.NAMED
    mine = SubsampleAnneal(passes=2)
    assert schedules.resolve_schedule(mine) is mine
    assert repr(SubsampleAnneal(passes=50)) == "SubsampleAnneal(passes=50)"
    assert repr(Accelerating(n_small=10)) == "Accelerating(n_small=10)"


@pytest.mark.parametrize("module", [schedules, subsampling])
def test_examples(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
