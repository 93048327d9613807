"""Moves of rows in shards on five rows in three blocks, against the exact posterior over all partitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from oracles.reference_chain import partition_codes
from support.enumerated_chains import N_ROWS, PRIOR_GRIDS, PRIORS, TABLES, check_distance
from support.exact_mixtures import check_hyperparameters, exact_law
from support.sharded_tables import ShardedExample

from sklearn_subanneal.shards._row_sweep import first_uniforms
from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.row_block import RowBlock

SWEEP, SLICE, SINGLE, DIVISION = ("sweep",), ("slice",), ("single",), ("split-merge",)
ALL = ("sweep", "single", "split-merge")
FAST, COMPLETE, CHAIN = 3000, 20_000, 5000


@dataclass(frozen=True)
class Case:
    table: str
    prior: str
    learned: bool
    moves: tuple
    beta: float = 1.0

    def __str__(self):
        return "-".join([self.table, self.prior, "learned" if self.learned else "fixed", *sorted(set(self.moves))])


def check_invariance(case, n_draws):
    """Draws of the posterior are draws of the posterior after a move."""
    law = exact_law(case.table, case.prior, case.learned)
    chain, states = ShardedExample(case), [np.array(state) for state in law]
    starts = np.random.default_rng(5).choice(len(states), n_draws, p=np.array(list(law.values())))
    labels = np.empty((n_draws, N_ROWS), np.int32)
    for i, start in enumerate(starts):
        chain.start(states[start])
        chain.cycle()
        labels[i] = chain.mixture.labels()
    codes = partition_codes(labels)
    # The moves do something.
    assert np.mean(codes != starts) > 0.02
    check_distance(law, codes, n_draws)


# Moves and priors in turn; the slice sampler is for the CRP alone. Geweke's test has all moves of all tables, and of
# all types together.
IN_TURN = [
    (table, (SWEEP, SLICE, SINGLE, DIVISION)[i % 4], list(PRIOR_GRIDS)[i % len(PRIOR_GRIDS)])
    for i, table in enumerate(own for own in TABLES if own not in ("gaussian-missing", "mixed"))
]
CASES = [Case(table, "crp" if moves == SLICE else prior, False, moves) for table, moves, prior in IN_TURN]
# Without columns all depends on the prior, whose mistakes the likelihood may hide.
QUICK = [
    *(Case("none", "pitman-yor", False, moves) for moves in (SWEEP, SINGLE, DIVISION)),
    Case("real", "pitman-yor", False, SWEEP),
    Case("real", "crp", False, SLICE),
]


@pytest.mark.parametrize("case", QUICK, ids=str)
def test_moves_leave_the_posterior_as_it_is(case):
    check_invariance(case, FAST)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_moves_leave_the_posterior_as_it_is_complete(case):
    check_invariance(case, COMPLETE)


def test_weights_of_clusters_have_the_discount():
    """Of four rows and one, a row chooses the one with probability (1 - d) / (5 - 2 d)."""
    example = ShardedExample(Case("none", "pitman-yor", False, SWEEP))
    mixture, discount = example.mixture, PRIORS["pitman-yor"][1]
    moved = []
    for _ in range(8000):
        example.start(np.array([0, 0, 0, 0, 1]))
        mixture.sweep()
        held = first_uniforms(N_ROWS, 0, mixture.key, mixture._stage) < mixture.anchor_share
        if held[4] and held[:4].any():
            moved += (mixture.labels()[:4][~held[:4]] == 1).tolist()
    expected = (1.0 - discount) / (5.0 - 2.0 * discount)
    # Rows of one sweep share the weights: the error is that of as many sweeps.
    assert abs(np.mean(moved) - expected) < 4.5 * np.sqrt(expected * (1.0 - expected) / (len(moved) / 3.0))


# Missing cells of blocks, and hyperparameters, are state as well.
@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        *(Case("gaussian-missing", prior, False, ALL) for prior in PRIOR_GRIDS),
        Case("real", "pitman-yor", True, ALL),
        Case("ordinal", "crp", True, ALL),
        Case("gaussian", "crp", True, ALL),
    ],
    ids=str,
)
def test_the_whole_chain_follows_the_posterior(case):
    codes, n_effective, history = ShardedExample(case).independent_draws(CHAIN)
    check_distance(exact_law(case.table, case.prior, case.learned), codes, n_effective)
    if case.learned:
        check_hyperparameters(case, history)


def test_proposals_that_are_divided_together_have_random_numbers_of_their_own(monkeypatch):
    """One of them is decided given that the one before, divided by its own numbers, was rejected."""
    chain, update, streams = ShardedExample(Case("real", "crp", False, DIVISION)), Threads.update, []

    def updated(blocks, work, *arguments):
        if work is RowBlock.divided:
            streams.append([division.streams for division in arguments[0]])
        return update(blocks, work, *arguments)

    monkeypatch.setattr(Threads, "update", updated)
    for _ in range(20):
        chain.cycle()
    assert max(map(len, streams)) == 2
    flat = [own for together in streams for own in together]
    assert len(set(flat)) == len(flat)


def test_blocks_do_not_matter():
    """Labels and statistics bit for bit for blocks in any number of threads."""
    case = Case("mixed", "pitman-yor", True, ALL)
    one, two = (ShardedExample(case, seed=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.draws(30, 1)[0], two.draws(30, 1)[0])
    for a, b in zip(one.mixture.columns, two.mixture.columns, strict=True):
        for x, y in zip(a.get_state(2).values(), b.get_state(2).values(), strict=True):
            assert str(x) == str(y)
