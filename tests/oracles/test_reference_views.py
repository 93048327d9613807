"""Every move of columns in plain Python against the exact posterior, most of them without any Monte Carlo error."""

from __future__ import annotations

import doctest
import itertools
import math
from collections import defaultdict
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from oracles import choices, reference_views
from oracles.choices import sampler, shuffled, step_law
from oracles.enumeration import fixed_mixture, log_eppf
from oracles.reference_chain import effective_draws, noise_floor, total_variation
from oracles.reference_views import ReferenceViews, in_order
from oracles.tiny_table import COLUMN_PRIOR, ROW_PRIOR, TABLE
from oracles.views_enumeration import fixed_views
from scipy.special import logsumexp
from support.tiers import quick_only

# --- Choices ----------------------------------------------------------------------------------------------------


def test_choices_are_drawn_as_they_are_enumerated():
    def step(choose):
        return tuple(shuffled("abc", choose)[: 1 + choose([0.0, 2.0, 1.0])])

    law = step_law(step)
    assert math.fsum(law.values()) == pytest.approx(1.0)
    assert len(law) == 12
    assert law["a", "b"] == pytest.approx(1 / 9)
    choose = sampler(np.random.default_rng(0))
    counts = defaultdict(int)
    for _ in range(4000):
        counts[step(choose)] += 1
    assert total_variation(law, counts) < noise_floor(law, 4000, 0.999, rng=np.random.default_rng(1))


# --- Sequential allocation --------------------------------------------------------------------------------------


def small(n_rows, columns, row_priors=(ROW_PRIOR,), beta=1.0, column_prior=COLUMN_PRIOR):
    table = [(kind, x[:n_rows], params) for kind, x, params in (TABLE[j] for j in columns)]
    return ReferenceViews(table, row_priors, column_prior, beta)


GROUPS = [(0,), (1,), (0, 2), (0, 1, 2)]


@pytest.mark.parametrize("beta", [1.0, 0.4])
@pytest.mark.parametrize("columns", GROUPS, ids=str)
def test_weight_of_an_allocation_is_exact_for_every_order(columns, beta):
    model = small(3, range(3), beta=beta)
    evidence = math.exp(fixed_mixture([model.columns[j] for j in columns], *ROW_PRIOR, beta).log_evidence)
    weights = set()
    for order in itertools.permutations(range(3)):
        law = step_law(lambda choose, order=order: model.allocate(columns, 0, order, choose))
        assert len(law) == 5
        assert math.fsum(law.values()) == pytest.approx(1.0)
        assert sum(q * math.exp(log_weight) for (_, log_weight), q in law.items()) == pytest.approx(evidence)
        for (rows, log_weight), q in law.items():
            view = reference_views.View(frozenset(columns), rows, 0)
            log_joint = log_eppf(np.bincount(rows), *ROW_PRIOR) + model.score(columns, view)
            assert log_weight + math.log(q) == pytest.approx(log_joint)
            assert model.allocate(columns, 0, order, None, forced=rows) == (rows, pytest.approx(log_weight))
            weights.add(round(log_weight, 9))
    # Were W the same for all partitions, an order that is wrong for a forced one would not show.
    assert len(weights) > 2


# --- Every move leaves the posterior as it is: exactly, by going through all of its choices --------------------------


def extended_law(model):
    states = model.states()
    logs = np.array([model.log_joint(state) for state in states])
    return dict(zip(states, np.exp(logs - logsumexp(logs)), strict=True))


def largest_error(law, step):
    """The largest relative error of the law after a step; ``step(state, choose)``."""
    after = defaultdict(float)
    for state, p in law.items():
        for target, q in step_law(lambda choose, state=state: step(state, choose)).items():
            after[target] += p * q
    assert set(after) <= set(law)
    return max(abs(after[state] / p - 1.0) for state, p in law.items())


# Two rows have little to allocate, three columns much to group: both small tables are needed.
TWO_PRIORS = (ROW_PRIOR, (2.0, 0.1))
TABLES_OF_MOVES = {
    "tall": lambda beta: small(3, (0, 1), beta=beta),
    # So few views that their births are not always accepted: the whole ratio shows.
    "wide": lambda beta: small(2, (0, 1, 2), TWO_PRIORS, beta, (-0.25, 0.3)),
}
tables = pytest.mark.parametrize("table", TABLES_OF_MOVES)


@tables
@pytest.mark.parametrize("beta", [1.0, 0.4])
def test_states_follow_the_oracle(table, beta):
    model = TABLES_OF_MOVES[table](beta)
    law = defaultdict(float)
    for state, p in extended_law(model).items():
        law[as_oracle(state)] += p
    assert law == pytest.approx(oracle_of(model).posterior())


def oracle_of(model):
    concentrations, discounts = np.array(model.row_priors).T
    views = fixed_views(model.columns, ROW_PRIOR, model.column_prior, model.beta)
    return replace(views, concentrations=concentrations, discounts=discounts)


def as_oracle(state):
    labels = {j: v for v, view in enumerate(state) for j in view.columns}
    return tuple(labels[j] for j in sorted(labels)), tuple(view.rows for view in state)


MOVES = {
    "prior-1": lambda model, state, choose: model.algorithm_8(state, 0, choose, n_auxiliary=1),
    "prior-2": lambda model, state, choose: model.algorithm_8(state, 1, choose, n_auxiliary=2),
    "data-driven-1": lambda model, state, choose: model.algorithm_8(state, 1, choose, n_auxiliary=1, data_driven=True),
    "birth-death": lambda model, state, choose: model.birth_death(state, choose),
    "group": lambda model, state, choose: model.group(state, choose),
}


@pytest.mark.parametrize("table, beta", [("tall", 0.4), ("wide", 1.0)])
@pytest.mark.parametrize("move", quick_only(MOVES, *(move for move in MOVES if move != "group")))
def test_move_is_exact(move, table, beta):
    model = TABLES_OF_MOVES[table](beta)
    step = MOVES[move]
    assert largest_error(extended_law(model), lambda state, choose: step(model, state, choose)) < 1e-10


def test_rows_are_exact():
    model = small(3, (0,), TWO_PRIORS)
    assert largest_error(extended_law(model), model.gibbs_rows) < 1e-10


@pytest.mark.parametrize("columns", [(0, 1), (1, 2)], ids=str)
def test_two_data_driven_views_are_exact(columns):
    model = small(2, columns, TWO_PRIORS)
    error = largest_error(
        extended_law(model),
        lambda state, choose: model.algorithm_8(state, 0, choose, n_auxiliary=2, data_driven=True),
    )
    assert error < 1e-10


@tables
@pytest.mark.parametrize("n_auxiliary", quick_only([1, 2], 1))
def test_block_is_exact_with_its_pool(table, n_auxiliary):
    # State and pool are independent before, and after every column: any number of sweeps follows.
    model = TABLES_OF_MOVES[table](1.0)
    pools = step_law(lambda choose: model.pool(n_auxiliary, choose))
    law = {(state, pool): p * q for state, p in extended_law(model).items() for pool, q in pools.items()}
    for column in (0, len(model.columns) - 1):
        error = largest_error(law, lambda both, choose, column=column: model.block_step(*both, column, choose))
        assert error < 1e-10


# --- The same moves as a Markov chain on the large table ----------------------------------------------------------


def columns_by_algorithm_8(model, state, choose, **options):
    for column in range(3):
        state = model.algorithm_8(state, column, choose, **options)
    return state


CHAINS = {
    "prior": partial(columns_by_algorithm_8, n_auxiliary=2),
    "data-driven": partial(columns_by_algorithm_8, n_auxiliary=1, data_driven=True),
    "birth-death": ReferenceViews.birth_death,
    "block": partial(ReferenceViews.block, n_auxiliary=4),
    "group": ReferenceViews.group,
}


def check_chain(move, n_draws, thin):
    model = small(4, range(3), TWO_PRIORS)
    law = oracle_of(model).law()
    place = {key: code for code, key in enumerate(law)}
    choose, codes = sampler(np.random.default_rng(0)), np.empty(n_draws, int)
    state = in_order([model.prior_view(frozenset(range(3)), choose)])
    for i in range(n_draws):
        for _ in range(thin):
            state = model.gibbs_rows(CHAINS[move](model, state, choose), choose)
        columns, rows = as_oracle(state)
        codes[i] = place[columns, rows[0]]
    counts = dict(zip(law, np.bincount(codes, minlength=len(law)), strict=True))
    floor = noise_floor(law, effective_draws(codes), rng=np.random.default_rng(1))
    assert total_variation(law, counts) <= 1.5 * floor


@pytest.mark.parametrize("move", ["birth-death"])
def test_chain_follows_the_posterior(move):
    check_chain(move, n_draws=1000, thin=2)


@pytest.mark.slow
@pytest.mark.parametrize("move", CHAINS)
def test_chain_follows_the_posterior_complete(move):
    check_chain(move, n_draws=20_000, thin=4)


@pytest.mark.parametrize("module", [choices, reference_views])
def test_examples(module):
    assert doctest.testmod(module).failed == 0
