"""The moves of columns between views against the exact posterior over all states of a table of 4 x 3."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles.enumeration import blocks, canonical, log_eppf
from oracles.reference_chain import noise_floor, total_variation
from support.enumerated_views import COMPLETE, FAST, MOVES, ViewsChain, check_views
from support.view_moves import round_of_moves
from support.view_tables import (
    N_COLUMNS,
    N_ROWS,
    PRIORS,
    ROW_CONCENTRATIONS,
    TABLES,
    Case,
    exact_of,
    hyperparameters,
)

from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.partitions._gibbs_type import PitmanYorPrior
from sklearn_subanneal.views._views import Views

# Where the rows of a table are in a longer one, of which they are the subsample.
PLACES, N_PLACES = np.array([5, 0, 2, 6], np.int32), 7


class TableChain(ViewsChain):
    """Views of one of the tables."""

    def __init__(self, case, subsample=False, seed=0, most_clusters=None):
        places = PLACES if subsample else np.arange(N_ROWS, dtype=np.int32)
        n_rows = N_PLACES if subsample else N_ROWS
        if case.learned:
            grids = [case.column_grid(), case.row_grid()]
            priors = [PitmanYor(concentration_grid=grid["alpha"], discount_grid=grid["d"]) for grid in grids]
        else:
            priors = [PitmanYor(*own) for own in reversed(PRIORS[case.prior])]
        columns = [longer(c, n_rows, places).statistics(learn=case.learned) for c in TABLES[case.table]]
        views = Views(columns, *(prior.bind() for prior in priors), n_rows)
        views.most_clusters = views.most_clusters if most_clusters is None else most_clusters
        super().__init__(views, case, MOVES[case.moves], places, np.random.default_rng(seed))

    def parameters(self):
        views = self.views
        of_view = views.mixtures[views.column_labels[0]].prior.parameters
        return views.prior.parameters, of_view, *(c.parameters for c in views.columns)


def longer(example, n_rows, places):
    """The example with its rows at these places among more rows, which hold cells of their own."""
    cells = np.resize(example.cells[::-1], n_rows)
    cells[places] = example.cells
    return replace(example, cells=cells)


def check(case, n_wanted, **options):
    laws = partial(hyperparameters, case) if case.learned else None
    check_views(TableChain(case, **options), exact_of(case), n_wanted, laws)


# Each kind of moves with both tables, all priors, fixed and learned, cold and heated.
MATRIX = [
    Case(moves, *rest)
    for i, moves in enumerate(MOVES)
    for rest in [
        ("real", ("crp", "negative")[i % 2], False),
        ("boolean", ("negative", "crp")[i % 2], False, 0.4),
        ("boolean", "pitman-yor", True),
        ("real", ("pitman-yor", "crp")[i % 2], True, 0.4),
    ]
]
# Part of the matrix and beyond: every move, priors and temperatures in turn.
PART = [
    Case("prior-2", "real", "pitman-yor", False),
    Case("data-driven-1", "real", "crp", False),
    # Where views are rare the prior odds decide: the case that notices a wrong sign of theirs.
    Case("birth-death", "boolean", "negative", False, 0.4),
    Case("block-2", "real", "pitman-yor", False),
    Case("group", "real", "pitman-yor", False),
    Case("split-merge", "boolean", "pitman-yor", False),
]
# More of these: priors learned, and temperatures, that the matrix does not combine in this way.
FURTHER = [
    Case("data-driven-1", "real", "negative", False),
    Case("split-merge", "boolean", "negative", False),
    Case("data-driven-2", "boolean", "crp", False, 0.4),
    Case("default", "semicontinuous", "pitman-yor", False),
    Case("birth-death", "real", "pitman-yor", False),
    Case("default", "real", "pitman-yor", True),
    Case("default", "semicontinuous", "pitman-yor", True),
    Case("prior-1", "real", "pitman-yor", False),
    Case("prior-2", "boolean", "crp", True),
    Case("data-driven-1", "boolean", "pitman-yor", True, 0.4),
    Case("birth-death", "real", "crp", True),
    Case("block-1", "real", "crp", False),
    Case("block-4", "boolean", "pitman-yor", True, 0.4),
    Case("group", "boolean", "negative", False),
    Case("group", "real", "crp", True, 0.4),
    Case("split-merge", "real", "crp", True, 0.4),
]


@pytest.mark.parametrize("case", [*PART, *(pytest.param(case, marks=pytest.mark.slow) for case in FURTHER)], ids=str)
def test_columns_and_rows_follow_the_posterior(case):
    check(case, FAST)


@pytest.mark.slow
@pytest.mark.parametrize("case", MATRIX, ids=str)
def test_columns_and_rows_follow_the_posterior_complete(case):
    check(case, COMPLETE)


@pytest.mark.parametrize("moves", ["default", pytest.param("block-4", marks=pytest.mark.slow)])
def test_a_subsample_follows_its_own_posterior(moves):
    check(Case(moves, "real", "crp", False), FAST, subsample=True)


@pytest.mark.parametrize(
    "case",
    [
        Case("data-driven-1", "real", "pitman-yor", False),
        # Of the moves, this one alone lets a view of many clusters join another one.
        Case("group", "real", "pitman-yor", False),
        *(
            pytest.param(Case(*case), marks=pytest.mark.slow)
            for case in [
                ("data-driven-2", "boolean", "crp", False, 0.4),
                ("default", "real", "pitman-yor", True),
                ("group", "boolean", "negative", False),
                ("split-merge", "boolean", "pitman-yor", False),
                ("split-merge", "real", "crp", True, 0.4),
            ]
        ),
    ],
    ids=str,
)
def test_partitions_that_are_never_proposed_keep_their_probability(case):
    # Rows move one by one to more than two clusters, and columns may not follow.
    check(case, FAST, most_clusters=2)


@pytest.mark.parametrize(
    "moves",
    [
        pytest.param(
            name, marks=[] if name in {"data-driven-1", "birth-death", "block-2", "group"} else pytest.mark.slow
        )
        for name in MOVES
    ],
)
def test_a_new_view_draws_its_own_prior(moves):
    # Where the cells do not count, draws from the prior stay such, whatever was in the mixtures that become views.
    rng, priors = np.random.default_rng(6), []
    columns = [c.statistics() for c in TABLES["real"]]
    weights = np.array([4.0, 1.0, 2.0])
    row_prior = PitmanYorPrior(1.0, 0.0, ROW_CONCENTRATIONS, [0.0], weights)
    views = Views(columns, PitmanYor(1.0, 0.0).bind(), row_prior, N_ROWS)
    update = round_of_moves(views, MOVES[moves])
    for _ in range(800):
        views.set_state(np.arange(N_COLUMNS), np.zeros((N_COLUMNS, N_ROWS), np.int32))
        for mixture in views.mixtures:
            mixture.prior.parameters = {"concentration": ROW_CONCENTRATIONS[-1], "discount": 0.0}
        views.draw_from_prior(rng)
        for _ in range(3):
            update(0.0, rng)
        priors.append(views.mixtures[views.column_labels[0]].prior.concentration)
    law = dict(zip(ROW_CONCENTRATIONS, weights / weights.sum(), strict=True))
    assert total_variation(law, Counter(priors)) <= noise_floor(law, len(priors), 0.999, rng=rng)


@pytest.mark.parametrize(
    ("moves", "learned"),
    [
        pytest.param(moves, learned, marks=() if learned == (moves in ("default", "block-2")) else pytest.mark.slow)
        for moves in MOVES
        for learned in (False, True)
    ],
)
def test_many_views_come_and_go(moves, learned):
    n_rows, n_columns, rng = 40, 12, np.random.default_rng(5)
    kinds = [*TABLES["real"], *TABLES["boolean"]]
    examples = [replace(c, cells=rng.permutation(np.resize(c.cells, n_rows))) for c in kinds * (n_columns // 6)]
    columns = [example.statistics(learn=learned) for example in examples]
    views = Views(columns, PitmanYor(8.0, 0.2).bind(), PitmanYor(0.8).bind(), n_rows)
    update, numbers = round_of_moves(views, MOVES[moves]), set()
    entering = rng.permutation(n_rows).astype(np.int32)[:30]
    views.churn(np.full(30, -1, np.int32), entering, 1.0, [rng] * views.n_views)
    for _ in range(20):
        before = canonical(views.column_labels)
        moved = update(0.1, rng)
        labels, rows = views.column_labels, views.row_labels
        assert moved or canonical(labels) == before
        assert set(labels) == set(range(views.n_views))
        numbers.add(views.n_views)
        assert np.array_equal(np.flatnonzero(rows[0] >= 0), np.sort(entering))
        exact = log_eppf(np.bincount(labels), *views.prior.parameters.values())
        for v, mixture in enumerate(views.mixtures):
            assert np.array_equal(rows[v] >= 0, rows[0] >= 0)
            exact += log_eppf(np.bincount(rows[v][rows[v] >= 0]), *mixture.prior.parameters.values())
            assert [columns.index(own) for own in mixture.columns] == np.flatnonzero(labels == v).tolist()
            for j in views.members(v):
                params = examples[j].reference_params(columns[j].parameters)
                exact += sum(examples[j].log_marginal(block, params) for block in blocks(rows[v]))
        assert_allclose(views.log_joint(), exact, rtol=1e-9)
        leaving, entering[:10] = entering[:10].copy(), np.flatnonzero(rows[0] < 0)
        views.churn(leaving, entering[:10].copy(), 0.1, [rng] * views.n_views)
        if learned:
            views.learn(rng)
    assert len(numbers) > 2
