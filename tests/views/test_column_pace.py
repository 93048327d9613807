"""Each move of columns has its own pace: rarer while it moves none, and fixed once draws are made."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import SequentialGibbs
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.views import ColumnPacing
from sklearn_subanneal.views.column_moves import ColumnMove

# Sweeps of the schedule, and of the draws.
N_SWEEPS, N_DRAWS = 24, 21


class CountedKernel(MoveKernel):
    """Moves nothing; notes the cycles in which it is called, and says in those after ``moves_after`` that it moved."""

    calls: list

    def propose(self, views, n_proposals, inverse_temperature, generator, rows=None):
        self.calls.append(len(EVERY_CYCLE))
        return int(len(EVERY_CYCLE) > self.moves_after)


class Counted(ColumnMove):
    def __init__(self, calls=None, moves_after=0):
        self.calls = calls
        self.moves_after = moves_after

    def bind(self, columns, n_rows, twins=None):
        kernel = CountedKernel()
        kernel.calls, kernel.moves_after = self.calls, self.moves_after
        return kernel


EVERY_CYCLE: list = []


def cycles_of(moves_after: int, n_burn_in: int = 0) -> list:
    """The cycles, from 1, in which a move is made that moves columns in the cycles after this one only."""
    EVERY_CYCLE.clear()
    calls: list = []
    CrossCat(
        feature_types=["categorical"] * 2,
        moves=[Gibbs(), Counted(EVERY_CYCLE, -1), Counted(calls, moves_after)],
        column_pacing=ColumnPacing(patience=2),
        schedule=SequentialGibbs(passes=N_SWEEPS),
        n_chains=1,
        n_draws=N_DRAWS,
        thin=1,
        max_sweeps=n_burn_in,
        learn_from=1,
        random_state=0,
    ).fit(np.random.default_rng(0).integers(3, size=(30, 2)))
    return calls


@pytest.mark.parametrize("n_burn_in", [0, 10])
def test_a_move_that_moves_nothing_is_made_ever_more_rarely(n_burn_in):
    calls, before_draws = cycles_of(10**6, n_burn_in), len(EVERY_CYCLE) - N_DRAWS
    expected = [cycle for cycle in (1, 2, 4, 6, 10, 14, 22, 30) if cycle <= before_draws]
    assert [cycle for cycle in calls if cycle <= before_draws] == expected
    # Draws: every fourth cycle at least.
    later = np.diff([cycle for cycle in calls if cycle > before_draws])
    assert len(later) >= 3 and (later == 4).all()


@pytest.mark.parametrize("moves_after", [-1, 6])
def test_a_move_that_moves_columns_is_made_in_every_cycle(moves_after):
    calls = cycles_of(moves_after)
    first = next(cycle for cycle in calls if cycle > moves_after)
    assert [cycle for cycle in calls if cycle > first] == list(range(first + 1, len(EVERY_CYCLE) + 1))


def test_the_pace_of_draws_does_not_follow_the_chain():
    calls = cycles_of(10**6)
    before_draws = len(EVERY_CYCLE) - N_DRAWS
    assert cycles_of(before_draws) == calls
