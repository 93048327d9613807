"""Views with Gaussian blocks against the exact posterior over all partitions of three columns and five rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles.enumeration import blocks, draw_partition, log_eppf
from oracles.reference import log_marginal
from oracles.reference_blocks import JointReals, block_prior, block_views, correlation_of_vectors
from oracles.reference_chain import noise_floor, total_variation
from support.enumerated_chains import column
from support.enumerated_views import FAST, MOVES, ViewsChain, check_marginal, check_views
from support.joint_reals import real_table, views_of
from support.view_moves import round_of_moves

from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.partitions import PitmanYor

NAN = np.nan
N_ROWS, N_COLUMNS = 5, 3
# Columns 0 and 1 go together, in two groups of rows; column 2 has groups of its own.
CELLS = np.array(
    [[0.17, 0.33, 0.03], [0.41, -0.02, 0.55], [0.17, 0.39, -0.74], [1.35, 2.49, -0.16], [2.45, 3.12, -0.48]]
)
# In each column, two of them in one row; and all of a row.
GAPS = [(1, 0), (3, 1), (3, 2)]
EMPTY_ROW = [(2, 0), (2, 1), (2, 2), (4, 2)]
VECTORS = np.array([[1.2, 0.3, 0.3], [1.0, -0.1, 0.4], [-0.5, 0.9, 0.2]])
FLAGS = column(
    "boolean",
    np.array([0, -1, 0, 1, 1], np.int8),
    {"alpha": 0.4, "beta": 0.3},
    {"alpha": [0.1, 0.4, 2.0], "beta": [0.05, 0.3, 2.0]},
)
KNOWN = {"mu": [[0.18], [0.01], [-0.09]], "sigma2": [[0.25], [0.28], [0.49]], "kappa": [0.4], "nu": [2.5]}
LEARNED = {
    "mu": [[-0.5, 0.6], [0.0, 1.0], [-0.1, 0.4]],
    "sigma2": [[0.05, 0.5], [0.05, 0.5], [0.1, 0.8]],
    "kappa": [0.1, 1.0],
    "nu": [1.5, 6.0],
}
# Concentration and discount of the rows of a view, and of the columns.
PRIORS = {
    "crp": ((1.1, 0.0), (1.0, 0.0)),
    "pitman-yor": ((0.7, 0.25), (0.6, 0.3)),
    "negative": ((-0.2, 0.5), (-0.2, 0.25)),
}
ROW_GRID, COLUMN_GRID = {"alpha": [0.2, 2.0], "d": [0.0, 0.4]}, {"alpha": [0.3, 2.0], "d": [0.0, 0.3]}
# Of each table: places of its joint reals, missing cells, vectors of the correlations.
TABLES = {
    "diagonal": ((0, 1, 2), [], None),
    "diagonal-missing": ((0, 1, 2), GAPS, None),
    "empty-row": ((0, 1, 2), EMPTY_ROW, None),
    "correlated": ((0, 1, 2), [], VECTORS),
    "correlated-missing": ((0, 1, 2), GAPS, VECTORS),
    "mixed": ((0, 2), [], None),
    "mixed-missing": ((0, 2), [(1, 0), (3, 1)], VECTORS[:2]),
    "mixed-gap": ((0, 2), [(1, 0)], None),
    "limited": ((0, 2), [(1, 0)], None),
}
# The missing cell of the last table is between these, which few of its clusters make likely.
LIMITS = [[1.2, -9.0], [1.6, 9.0]]
N_SHARED = 2


@dataclass(frozen=True)
class Case:
    moves: str
    table: str
    prior: str = "crp"
    learned: bool = False
    beta: float = 1.0

    def __str__(self):
        parts = [self.moves, self.table, self.prior, "learned" if self.learned else "fixed"]
        return "-".join(parts + ([f"heated{self.beta}"] if self.beta != 1.0 else []))

    @property
    def grids(self):
        grids, n = LEARNED if self.learned else KNOWN, len(TABLES[self.table][0])
        return {name: grid[:n] if name in ("mu", "sigma2") else grid for name, grid in grids.items()}

    @property
    def prior_grids(self):
        if self.learned:
            return ROW_GRID, COLUMN_GRID
        return tuple({"alpha": [alpha], "d": [d]} for alpha, d in PRIORS[self.prior])


def cells_of(table):
    places, gaps, _ = TABLES[table]
    cells = CELLS[:, : len(places)].copy()
    for gap in gaps:
        cells[gap] = NAN
    return cells


@cache
def exact_of(table, prior, learned, beta):
    case = Case("", table, prior, learned, beta)
    places, _, vectors = TABLES[table]
    flags = FLAGS.grids if learned else {name: [value] for name, value in FLAGS.params.items()}
    others = {j: (FLAGS.kind, FLAGS.scored, flags) for j in range(N_COLUMNS) if j not in places}
    reals = JointReals(places, cells_of(table), case.grids, vectors, N_SHARED)
    return block_views(others, reals, *case.prior_grids, beta)


def exact_for(case):
    exact = exact_of(case.table, case.prior, case.learned, case.beta)
    return Limited(exact) if case.table == "limited" else exact


class Limited:
    """The posterior given that the missing cell is within the limits, by Gauss-Legendre quadrature over its values."""

    def __init__(self, exact):
        self.n_columns, self.n_rows = exact.n_columns, exact.n_rows
        (low, _), (high, _) = LIMITS
        nodes, weights = np.polynomial.legendre.leggauss(6)
        self.parts = []
        for node, weight in zip(nodes, weights, strict=True):
            cells = exact.reals.cells.copy()
            cells[1, 0] = (low + high + (high - low) * node) / 2
            own = replace(exact, reals=replace(exact.reals, cells=cells))
            self.parts.append((weight * np.exp(own.log_evidence), own))

    def law(self):
        whole, out = sum(weight for weight, _ in self.parts), {}
        for weight, own in self.parts:
            for key, p in own.law().items():
                out[key] = out.get(key, 0.0) + weight / whole * p
        return out


class BlocksChain(ViewsChain):
    """Views of one of the tables."""

    def __init__(self, case, seed=0):
        places, _, vectors = TABLES[case.table]
        params = {name: np.array([line[0] for line in case.grids[name]]) for name in ("mu", "sigma2")}
        params |= {name: case.grids[name][0] for name in ("kappa", "nu")}
        if vectors is not None:
            params |= {"vectors": vectors, "n_shared": N_SHARED, "spread": 1.0}
        limits = LIMITS if case.table == "limited" else None
        self.reals = real_table(places, cells_of(case.table), params, case.grids if case.learned else None, limits)
        others = {j: FLAGS.statistics(learn=case.learned) for j in range(N_COLUMNS) if j not in places}
        if case.learned:
            grids = [PitmanYor(concentration_grid=g["alpha"], discount_grid=g["d"]) for g in case.prior_grids]
            row_prior, column_prior = grids
        else:
            row_prior, column_prior = (PitmanYor(*own) for own in PRIORS[case.prior])
        views = views_of(others, self.reals, column_prior.bind(), row_prior.bind())
        super().__init__(views, case, MOVES[case.moves], np.arange(N_ROWS, dtype=np.int32), np.random.default_rng(seed))

    def parameters(self):
        """mu and sigma2 of each joint real, and kappa and nu of its view."""
        own = self.reals.parameters
        views = np.array(self.views.get_state_of_reals()["views"])[self.views.column_labels[self.reals.places]]
        return np.column_stack([own["mu"], own["sigma2"], views])


def hyperparameters(case, history):
    """Name, law and codes of each hyperparameter of the joint reals."""
    seen, laws = np.array(history), []
    for i in range(seen.shape[1]):
        for k, (name, law) in enumerate(exact_for(case).real_posteriors(i).items()):
            grid = case.grids[name][i] if name in ("mu", "sigma2") else case.grids[name]
            laws.append((f"{name} of column {i}", law, np.searchsorted(grid, seen[:, i, k] - 1e-9)))
    return laws


def check(case, n_wanted):
    check_views(BlocksChain(case), exact_for(case), n_wanted, partial(hyperparameters, case))


# So many draws as the first run of a chain gives.
FEW = 3_000
# Fewer than of the chains over single columns: a move of a block takes ten times as long.
MANY = 20_000
QUICK = [Case("data-driven-2", "correlated"), Case("data-driven-2", "mixed-missing", "pitman-yor")]
FURTHER = [
    Case("prior-2", "diagonal", "pitman-yor"),
    Case("data-driven-1", "diagonal-missing", "negative"),
    Case("birth-death", "correlated-missing"),
    Case("birth-death", "diagonal", "negative"),
    Case("block-2", "diagonal-missing"),
    Case("group", "correlated", "pitman-yor"),
    Case("group", "diagonal-missing"),
    Case("split-merge", "diagonal"),
    Case("split-merge", "correlated-missing", "pitman-yor"),
    Case("default", "diagonal", learned=True),
    Case("default", "mixed-missing", "pitman-yor"),
    Case("default", "empty-row"),
    Case("default", "mixed", learned=True),
    Case("default", "mixed-gap", learned=True),
    Case("default", "correlated", beta=0.4),
]
# Each kind of moves with and without correlations, missing cells and other columns, fixed and learned, cold and heated.
MATRIX = [
    Case(moves, table, **rest)
    for i, moves in enumerate(MOVES)
    for table, rest in [
        (("correlated-missing", "mixed-missing")[i % 2], {"prior": ("negative", "pitman-yor")[i % 2]}),
        (("diagonal-missing", "empty-row", "correlated")[i % 3], {"prior": ("crp", "pitman-yor")[i % 2]}),
        (("mixed-gap", "correlated", "diagonal")[i % 3], {"learned": True}),
        (("diagonal", "correlated")[i % 2], {"beta": 0.4}),
    ]
]


@pytest.mark.parametrize("case", QUICK, ids=str)
def test_views_follow_the_posterior(case):
    check(case, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("case", FURTHER, ids=str)
def test_views_follow_the_posterior_further(case):
    check(case, FAST)


@pytest.mark.slow
@pytest.mark.parametrize("case", MATRIX, ids=str)
def test_views_follow_the_posterior_complete(case):
    check(case, MANY)


def test_limits_matter():
    """By more than the distance that the chains may have."""
    limited, free = (exact_for(Case("default", table)).law() for table in ("limited", "mixed-gap"))
    assert 0.5 * sum(abs(limited[state] - free[state]) for state in free) > 0.15


@pytest.mark.parametrize(
    "moves",
    [
        "data-driven-1",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("prior-2", "birth-death", "block-2", "default")),
    ],
)
def test_missing_cells_have_limits(moves):
    case = Case(moves, "limited")
    chain = BlocksChain(case)
    check_views(chain, exact_for(case), FEW if moves == "data-driven-1" else MANY, thin=8)
    drawn = chain.views.get_state_of_reals()["filled"]
    assert LIMITS[0][0] <= drawn[0] <= LIMITS[1][0]


def bins_of_cell(exact, row, i, edges):
    """Probability of each interval between the edges, and beyond them, of a cell given all the others."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    low, high = np.array(edges[:-1])[:, None], np.array(edges[1:])[:, None]
    values = (low + high + (high - low) * nodes) / 2
    density = np.exp(exact.log_density_of_cell(row, i, values.ravel())).reshape(values.shape)
    inside = (density * weights * (high - low) / 2).sum(axis=1)
    return np.append(inside, 1.0 - inside.sum())


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["data-driven-2", "birth-death", "block-2", "group", "split-merge", "default"])
@pytest.mark.parametrize("table", ["diagonal-missing", "correlated-missing"])
def test_fillings_follow_their_law(table, moves):
    case, edges = Case(moves, table), [-2.0, -1.0, -0.4, 0.0, 0.4, 0.8, 1.4, 2.2, 3.2, 5.0]
    chain = BlocksChain(case)
    _, seen = chain.draws(20_000, 1, observe=lambda: chain.views.get_state_of_reals()["filled"])
    for gap, values in zip(GAPS, np.transpose(seen), strict=True):
        law = bins_of_cell(exact_for(case), *gap, edges)
        codes = np.digitize(values, edges) - 1
        codes[codes < 0] = len(edges) - 1
        check_marginal(f"cell {gap}", law, codes, np.random.default_rng(3))


# --- Views as they are ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moves", ["prior-2", "data-driven-2", "block-2"])
def test_missing_cells_are_drawn_with_the_view_of_their_column(moves):
    chain = BlocksChain(Case(moves, "empty-row"))
    for _ in range(5):
        before = chain.views.get_state_of_reals()["filled"]
        chain.update(1.0, chain.rng)
        assert np.all(chain.views.get_state_of_reals()["filled"] != before)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
def test_a_view_with_one_joint_real_is_a_real_column(missing):
    rng, params = np.random.default_rng(0), {"mu": 0.25, "kappa": 0.5, "sigma2": 0.75, "nu": 3.0}
    # Their sums must be the same in float32 and float64.
    x = rng.normal(size=40).astype(np.float32).astype(float)
    labels = rng.integers(0, 4, 40).astype(np.int32)
    shown = np.where(np.isin(np.arange(40), [3, 17]), NAN, x) if missing else x
    reals = real_table([0], shown[:, None], params | {name: np.array([params[name]]) for name in ("mu", "sigma2")})
    views = views_of({}, reals, PitmanYor(1.0, 0.0).bind(), PitmanYor(0.8, 0.0).bind())
    # Missing cells of the block are part of the state, and so of its density.
    if missing:
        state = views.get_state_of_reals()
        views.set_state([0], labels[None], state | {"filled": x[np.isnan(shown)]})
    else:
        views.set_state([0], labels[None])
    alone = NormalStatistics(NormalData(x.astype(np.float32)), params)
    alone.rebuild(labels)
    of_rows = log_eppf(np.bincount(labels), 0.8, 0.0)
    assert_allclose(views.log_joint() - of_rows, alone.log_marginals(4).sum(), rtol=1e-9)
    exact = sum(log_marginal("real", x[list(block)], params) for block in blocks(labels))
    assert_allclose(views.log_joint() - of_rows, exact, rtol=1e-9)


@pytest.mark.parametrize(
    "moves",
    ["birth-death", *(pytest.param(name, marks=pytest.mark.slow) for name in MOVES if name != "birth-death")],
)
def test_a_new_view_draws_the_prior_of_its_block(moves):
    # Where the cells do not count, draws from the prior stay such, whatever was in the mixtures that become views.
    rng, grid, seen, empty = np.random.default_rng(6), [0.1, 0.5, 2.0], [], []
    start = {"mu": np.zeros(2), "sigma2": np.full(2, 0.3), "kappa": grid[-1], "nu": 2.5}
    reals = real_table((0, 2), CELLS[:, :2], start, {"kappa": grid})
    views = views_of({1: FLAGS.statistics()}, reals, PitmanYor(1.0, 0.0).bind(), PitmanYor(0.8, 0.0).bind())
    update = round_of_moves(views, MOVES[moves])
    for _ in range(400):
        views.set_state(np.arange(N_COLUMNS), np.zeros((N_COLUMNS, N_ROWS), np.int32))
        labels = np.array(draw_partition(N_COLUMNS, 1.0, 0.0, rng))
        rows = [draw_partition(N_ROWS, 0.8, 0.0, rng) for _ in range(labels.max() + 1)]
        state = views.get_state_of_reals() | {"views": [(rng.choice(grid), 2.5) for _ in rows]}
        views.set_state(labels, np.array(rows, np.int32), state)
        for _ in range(2):
            update(0.0, rng)
        own = views.get_state_of_reals()["views"]
        seen.append(own[views.column_labels[0]][0])
        empty.append(own[views.column_labels[1]][0])
    for values in (seen, empty):
        law = dict.fromkeys(grid, 1 / 3)
        assert total_variation(law, Counter(values)) <= noise_floor(law, len(values), 0.999, rng=rng)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("moves", MOVES)
def test_many_views_with_blocks_come_and_go(moves, missing):
    n_rows, n_reals, rng = 40, 6, np.random.default_rng(5)
    cells = rng.normal(size=(n_rows, 2)) @ rng.normal(size=(2, n_reals)) + 0.3 * rng.normal(size=(n_rows, n_reals))
    if missing:
        cells[rng.random(cells.shape) < 0.1] = NAN
    places = [0, 1, 3, 4, 6, 7]
    params = {"mu": rng.normal(size=n_reals), "sigma2": rng.uniform(0.1, 1.0, n_reals), "kappa": 0.3, "nu": 2.5}
    params |= {"vectors": rng.normal(size=(n_reals, 4)), "n_shared": 3, "spread": 1.3}
    grids = {"mu": np.tile([-0.5, 0.5], (n_reals, 1)), "sigma2": np.tile([0.1, 0.5, 1.0], (n_reals, 1))}
    grids |= {"kappa": [0.1, 1.0], "nu": [1.5, 4.0], "spread": [0.5, 1.3, 3.0]}
    reals = real_table(places, cells, params, grids)
    example = column("boolean", rng.integers(0, 2, n_rows).astype(np.int8), FLAGS.params, FLAGS.grids)
    flags = {place: example.statistics(learn=True) for place in (2, 5)}
    views = views_of(flags, reals, PitmanYor(2.0, 0.2).bind(), PitmanYor(0.8).bind())
    chain = ViewsChain(views, Case(moves, "correlated"), MOVES[moves], np.arange(30, dtype=np.int32), rng)
    seen = ~reals.missing
    for _ in range(8):
        chain.update(0.3, rng)
        rows = np.arange(n_rows, dtype=np.int32)[:30]
        views.churn(rows, rows, 0.3, [rng] * views.n_views)
        views.learn(rng)
        state = views.get_state_of_reals()
        assert_allclose(reals.filled[seen], cells[seen], rtol=0)
        assert_allclose(reals.filled[~seen], state["filled"], rtol=0)
        assert np.isfinite(state["filled"]).all()
        labels, row_labels, own = views.column_labels, views.row_labels, reals.parameters
        exact = log_eppf(np.bincount(labels), *views.prior.parameters.values())
        for v, mixture in enumerate(views.mixtures):
            exact += log_eppf(np.bincount(row_labels[v][:30]), *mixture.prior.parameters.values())
            block = [i for i, place in enumerate(places) if labels[place] == v]
            of_flags = [place for place in flags if labels[place] == v]
            assert len(mixture.columns) == len(of_flags) + (len(block) > 0)
            clusters = list(blocks(row_labels[v]))
            for place in of_flags:
                prior = example.reference_params(flags[place].parameters)
                exact += sum(example.log_marginal(rows, prior) for rows in clusters)
            if block:
                kappa, nu = state["views"][v]
                prior = {"mu": own["mu"][block], "sigma2": own["sigma2"][block], "kappa": kappa, "nu": nu}
                prior = block_prior(prior, correlation_of_vectors(own["vectors"][block], 3))
                for name, value in mixture.columns[-1].parameters.items():
                    assert_allclose(value, prior[name], rtol=1e-9)
                filled = reals.filled[:, block]
                exact += sum(log_marginal("gaussian", filled[list(rows)], prior) for rows in clusters)
        assert_allclose(views.log_joint(), exact, rtol=1e-7)
