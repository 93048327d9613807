"""Views whose rows are in blocks: moves of columns and rows against the exact posterior of tables of 4 x 3."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from oracles.enumeration import canonical, partitions
from support.enumerated_chains import check_distance
from support.enumerated_views import check_views, joined
from support.sharded_views import MOVES, ShardedViewsExample
from support.tiers import quick_only
from support.view_tables import Case, exact_of, hyperparameters

from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.shards.sharded_views import _Candidate

FAST, COMPLETE = 3000, 20_000


def check_invariance(case, n_draws):
    """Draws of the posterior are draws of the posterior after a move."""
    exact, example = exact_of(case), ShardedViewsExample(case)
    law = {canonical(joined(*key)): p for key, p in exact.law().items()}
    own = np.empty((n_draws, exact.n_columns + exact.n_rows), np.int32)
    moved = np.zeros(n_draws, bool)
    states, shares = list(exact.posterior()), list(exact.posterior().values())
    for i, k in enumerate(np.random.default_rng(5).choice(len(states), n_draws, p=shares / np.sum(shares))):
        columns, rows = states[k]
        example.start(columns, np.array(rows))
        example.cycle()
        own[i] = example.state()
        moved[i] = not np.array_equal(own[i], joined(columns, rows[0]))
    # The moves do something.
    assert moved.mean() > 0.02
    every = {canonical(state): k for k, state in enumerate(partitions(own.shape[1]))}
    codes = np.array([every[canonical(state)] for state in own.tolist()])
    check_distance({state: law.get(state, 0.0) for state in partitions(own.shape[1])}, codes, n_draws)


def cases(moves, prior="crp", learned=False):
    return [Case(moves, table, prior, learned) for table in ("real", "boolean", "semicontinuous")]


@pytest.mark.parametrize(
    "case",
    quick_only(
        [Case("columns", "real", "crp", False), Case("columns", "boolean", "pitman-yor", False)],
        Case("columns", "boolean", "pitman-yor", False),
    ),
    ids=str,
)
def test_moves_leave_the_posterior_as_it_is(case):
    check_invariance(case, FAST // 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [own for i, moves in enumerate(MOVES) for own in cases(moves, ("crp", "pitman-yor")[i % 2])], ids=str
)
def test_moves_leave_the_posterior_as_it_is_complete(case):
    check_invariance(case, COMPLETE)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("all", learned=True), ids=str)
def test_the_whole_chain_follows_the_posterior(case):
    laws = partial(hyperparameters, case) if case.learned else None
    check_views(ShardedViewsExample(case), exact_of(case), FAST, laws)


class HeldAllButTheThird:
    """A generator by which column 2 of four is the one that is not held."""

    def __init__(self):
        self.rng = np.random.default_rng(4)
        self.permutation, self.choice = self.rng.permutation, self.rng.choice

    def random(self, n):
        return np.array([0.0, 0.0, 1.0, 0.0])


def test_weights_of_views_have_the_discount():
    """Of a view with two other columns and one with one, a column chooses the first by (2 - d) / (3 - 2 d)."""
    views, discount = ShardedViewsExample(Case("columns", "real", "crp", False)).views, 0.5
    views.prior, views.generator = PitmanYor(1.0, discount).bind(), HeldAllButTheThird()
    chosen = []
    for _ in range(4000):
        one, other = (_Candidate(None, size, np.zeros(4), []) for size in (3, 1))
        home = {0: one, 1: one, 2: one, 3: other}
        views._choose_among_held(home)
        chosen.append(home[2] is one)
        assert [home[j] for j in (0, 1, 3)] == [one, one, other] and one.size + other.size == 4
    expected = (2.0 - discount) / (3.0 - 2.0 * discount)
    assert abs(np.mean(chosen) - expected) < 4.5 * np.sqrt(expected * (1.0 - expected) / len(chosen))
