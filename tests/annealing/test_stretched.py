"""Schedules with more work, or less: their row assignments, those of their starts, and the growth of the subsample."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_subanneal.annealing import (
    Accelerating,
    EnergyAnneal,
    PriorGibbs,
    Schedule,
    SequentialGibbs,
    SubsampleAnneal,
    TemperedAccelerating,
)
from sklearn_subanneal.annealing.pace import Course, Pace, own_work
from sklearn_subanneal.annealing.stretched import Stretched

PROGRESS = np.linspace(0.0, 1.0, 101)


class Own(Schedule):
    """What somebody else may write: a size and the work."""

    def __init__(self):
        pass

    def subsample_size(self, progress, n_rows):
        return np.ceil(np.clip(progress, 0.0, 1.0) ** 2 * n_rows).astype(int)

    def n_assignments(self, n_rows):
        return 7 * n_rows


SCHEDULES = [
    SubsampleAnneal(),
    Accelerating(),
    Accelerating(passes=20, n_small=3000),
    TemperedAccelerating(),
    TemperedAccelerating(initial_powers=(0.2, 1.0), start_share=0.25),
    SequentialGibbs(),
    PriorGibbs(passes=5),
    EnergyAnneal(),
    Own(),
]


@pytest.mark.parametrize("times", [0.4, 2, 5.5])
@pytest.mark.parametrize("n_rows", [40, 900, 50_000])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_so_many_times_the_assignments_and_the_same_growth(schedule, n_rows, times):
    stretched = Stretched(schedule, times)
    wanted = max(times * schedule.n_assignments(n_rows), n_rows)
    assert wanted <= stretched.n_assignments(n_rows) < wanted + 1
    assert stretched.start == schedule.start
    starts = schedule.starts(n_rows)
    assert len(stretched.starts(n_rows)) == len(starts)
    for before, after in [(schedule, stretched), *zip(starts, stretched.starts(n_rows), strict=True)]:
        for name in ("subsample_size", "inverse_temperature"):
            ours, theirs = (getattr(of, name)(PROGRESS, n_rows) for of in (after, before))
            np.testing.assert_array_equal(ours, theirs)
        if times * schedule.n_assignments(n_rows) > n_rows:
            # Each leg has the same share of the work as before.
            assert own_work(after, n_rows) == pytest.approx(times * own_work(before, n_rows), abs=4)


@pytest.mark.parametrize("n_rows", [40, 900, 20_000])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_chains_make_so_many_moves(schedule, n_rows):
    """On each leg of a chain that cycles through its subsample."""
    for leg, other in zip(Course(schedule, n_rows).legs, Course(Stretched(schedule, 3), n_rows).legs, strict=True):
        n_moves = []
        for one in (leg, other):
            size = 0 if one.start == "empty" else n_rows
            steps = list(Pace(one, n_rows).steps(size))
            assert steps[-1].size == one.subsample_size(1.0, n_rows) and steps[-1].progress == 1.0
            assert [step.size for step in steps] == list(one.subsample_size([step.progress for step in steps], n_rows))
            n_moves.append(sum(step.n_moves for step in steps))
        # Up to one cycle more at the end, and what the first leap takes.
        assert abs(n_moves[1] - 3 * n_moves[0]) <= 5 * n_rows


@pytest.mark.parametrize("times", [1e-9, 5e-324, 0.01])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_at_least_one_assignment_for_each_row(schedule, times):
    n_rows = 50
    stretched = Stretched(schedule, times)
    least = sum(start.subsample_size(1.0, n_rows) for start in stretched.starts(n_rows))
    assert stretched.n_assignments(n_rows) == max(n_rows, least)
    course = Course(stretched, n_rows)
    assert course.n_steps() >= 1
    assert [start.n_assignments(n_rows) for start in course.legs[:-1]] == [n_rows] * course.n_starts


def test_the_schedule_can_be_read_copied_and_stretched_again():
    stretched = Stretched(TemperedAccelerating(passes=30), 2.0)
    assert repr(stretched) == "Stretched(schedule=TemperedAccelerating(passes=30), times=2.0)"
    for copy in (clone(stretched), pickle.loads(pickle.dumps(stretched))):
        assert repr(copy) == repr(stretched) and copy.n_assignments(500) == stretched.n_assignments(500)
    assert Stretched(stretched, 3).n_assignments(500) == 6 * TemperedAccelerating(passes=30).n_assignments(500)


def test_wrong_schedules_say_so_as_before():
    with pytest.raises(ValueError, match="passes must be"):
        Stretched(SubsampleAnneal(passes=0), 3).n_assignments(10)
