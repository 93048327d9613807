"""The mixture's Markov chain against the exact posterior over all partitions of a few rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles.enumeration import canonical, exact_posterior, log_eppf
from oracles.reference import line_quadrature
from oracles.reference_chain import (
    churn_stationary,
    effective_draws,
    integrated_autocorrelation_time,
    partition_codes,
)
from support.enumerated_chains import (
    CODES,
    CORRELATION,
    COUNTS,
    N_ROWS,
    NAN,
    PRIOR_GRIDS,
    PRIORS,
    REAL,
    REALS,
    TABLES,
    Chain,
    check_distance,
    column,
)
from support.exact_mixtures import check_hyperparameters, exact_law, exact_mixture

from sklearn_subanneal.annealing import CyclicSubsampling, SubsampleAnneal
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.columns.binding import bind_columns
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures.mixture_chain import MixtureChain
from sklearn_subanneal.partitions import CRP, PitmanYor

FAST, COMPLETE = 20_000, 100_000


@dataclass(frozen=True)
class Case:
    table: str
    prior: str
    cyclic: bool
    learned: bool
    beta: float = 1.0

    def __str__(self):
        parts = [self.table, self.prior, "cyclic" if self.cyclic else "random", "learned" if self.learned else "fixed"]
        return "-".join(parts + ([f"heated{self.beta}"] if self.beta != 1.0 else []))


def check(case, n_wanted):
    codes, n_effective, history = Chain(case).independent_draws(n_wanted)
    assert n_effective >= n_wanted
    assert len(codes) <= CORRELATION * n_effective
    check_distance(exact_law(case.table, case.prior, case.learned, case.beta), codes, n_effective)
    if case.learned and TABLES[case.table]:
        check_hyperparameters(case, history)


MATRIX = [
    Case(table, prior, cyclic, learned)
    for table in TABLES
    for prior in PRIOR_GRIDS
    for cyclic in (False, True)
    for learned in (False, True)
]
# Part of the matrix: each table once, and every pair of (prior, churn), (prior, learned) and (churn, learned).
PART = [
    Case("none", "pitman-yor", False, True),
    Case("real", "pitman-yor", True, False),
    Case("categorical", "crp", True, True),
    Case("reserved", "crp", False, True),
    Case("boolean", "pitman-yor", False, True),
    Case("count", "crp", True, True),
    Case("cyclic", "pitman-yor", False, True),
    Case("semicontinuous", "crp", True, True),
    Case("ordinal", "crp", False, True),
    Case("gaussian", "crp", False, False),
    Case("gaussian-missing", "pitman-yor", True, False),
]
# The heated chain of a block with missing cells has no posterior to be compared with: its missing cells are drawn cold.
HEATED = [
    Case(table, prior, cyclic, learned, 0.4)
    for table, prior, cyclic, learned in [
        ("real", "crp", False, False),
        ("real", "pitman-yor", True, True),
        ("categorical", "pitman-yor", False, True),
        ("reserved", "crp", False, True),
        ("count", "crp", True, True),
        ("cyclic", "crp", True, True),
        ("semicontinuous", "pitman-yor", False, True),
        ("ordinal", "pitman-yor", False, True),
        ("boolean", "pitman-yor", True, False),
        ("gaussian", "crp", False, True),
        ("gaussian", "pitman-yor", True, False),
    ]
]


@pytest.mark.parametrize(
    "case", [*PART, Case("none", "negative", False, False), Case("real", "negative", True, False)], ids=str
)
def test_partitions_follow_the_posterior(case):
    check(case, FAST)


@pytest.mark.slow
@pytest.mark.parametrize("case", MATRIX, ids=str)
def test_partitions_follow_the_posterior_complete(case):
    check(case, COMPLETE)


@pytest.mark.parametrize("case", [case for case in HEATED if case.learned and case.table == "gaussian"], ids=str)
def test_heated_partitions_follow_the_heated_posterior(case):
    check(case, FAST // 2)


@pytest.mark.slow
@pytest.mark.parametrize("case", HEATED, ids=str)
def test_heated_partitions_follow_the_heated_posterior_complete(case):
    check(case, COMPLETE)


SUBSAMPLES = [
    (n, table, prior) for n in (2, 4) for table in ("real", "categorical", "gaussian") for prior in PRIOR_GRIDS
]
SOME_SUBSAMPLES = [(2, "real", "pitman-yor"), (4, "categorical", "crp"), (4, "gaussian", "pitman-yor")]


@pytest.mark.parametrize(
    ("n_assigned", "table", "prior"),
    [pytest.param(*case, marks=[] if case in SOME_SUBSAMPLES else pytest.mark.slow) for case in SUBSAMPLES],
)
def test_random_churn_of_a_subsample_follows_its_stationary_law(n_assigned, table, prior):
    columns = [(c.kind, c.scored, c.params) for c in TABLES[table]]
    law = churn_stationary(columns, *PRIORS[prior], n_assigned=n_assigned)
    place = {state: i for i, state in enumerate(law)}
    labels, _ = Chain(Case(table, prior, False, False), n_assigned).draws(FAST, 8)
    unique, inverse = np.unique(labels, axis=0, return_inverse=True)
    codes = np.array([place[canonical(state)] for state in unique])[inverse.ravel()]
    check_distance(law, codes, effective_draws(codes))


def test_missing_cells_of_a_block_follow_their_posterior():
    case = Case("gaussian-missing", "pitman-yor", False, False)
    chain, exact = Chain(case), exact_mixture(case.table, case.prior, False, 1.0)
    column = chain.mixture.columns[0]
    n_draws = FAST // 2
    seen = chain.draws(n_draws, 4, lambda: column.get_prior_state()["completed"].diagonal())[1]
    line, log_weights = line_quadrature()
    for values, row, j in [(np.array(seen)[:, 0], 1, 0), (np.array(seen)[:, 1], 3, 1)]:
        mass = np.exp(exact.cell_log_density(row, 0, line, j) + log_weights)
        assert_allclose(mass.sum(), 1.0, rtol=1e-6)
        for function in (np.tanh, lambda x: np.tanh(x) ** 2, lambda x: np.tanh(x - 2.0)):
            drawn = function(values)
            error = drawn.std() * np.sqrt(integrated_autocorrelation_time(drawn) / n_draws)
            assert abs(drawn.mean() - mass @ function(line)) < 4.0 * error


def test_many_clusters_come_and_go():
    n_rows, rng = 200, np.random.default_rng(3)
    example = column("real", rng.normal(size=n_rows).astype(np.float32), *REAL)
    mixture = Mixture([example.statistics()], CRP(150.0).bind(), n_rows)
    window = Window([0, n_rows], [1.0], False)
    for size in (50, 200, 120, 200, 3, 200):
        churn(mixture, *window.plan(size, 3000, rng), 1.0, rng)
        labels = mixture.labels
        assert mixture.n_assigned == size == np.sum(labels >= 0)
        assert np.array_equal(mixture.sizes, np.bincount(labels[labels >= 0]))
        assert mixture.sizes.min() > 0
        exact = log_eppf(mixture.sizes, 150.0) + sum(
            example.log_marginal(np.flatnonzero(labels == k)) for k in range(mixture.n_clusters)
        )
        assert_allclose(mixture.log_joint(), exact, rtol=1e-11)
    assert mixture.capacity > 64


@pytest.mark.slow
@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_the_whole_chain_follows_the_posterior_in_the_units_of_the_data(covariance_type):
    # Annealed, standardised, stored in another order: none of it may show.
    kinds = ["real", "categorical", "count", "real"]
    arrays = [
        10.0 + 4.0 * np.array([0.4, -1.2, 2.2, NAN, 0.7]),
        CODES.cells.astype(np.int32),
        COUNTS.cells,
        np.array([0.1, NAN, 1.4, -0.5, 1.1]),
    ]
    first = {"mu": 11.0, "kappa": 0.7, "sigma2": 8.0, "nu": 2.5}
    block = {"mu": np.array([11.0, 0.2]), "kappa": 0.5, "psi": np.array([[9.0, 1.0], [1.0, 0.6]]), "nu": 3.5}
    codes = {"alpha": np.array(CODES.params["alpha"]), "unseen": 0.15}
    given = {"b": codes, "count": COUNTS.params}
    given |= {"gaussian": block} if covariance_type == "full" else {"a": first, "d": REALS.params}
    models = bind_columns(
        ["a", "b", "c", "d"],
        kinds,
        [0, 3, 0, 0],
        arrays,
        covariance_type=covariance_type,
        feature_params=given,
        learn=False,
    )
    exact = [("categorical", CODES.scored, codes), ("count", COUNTS.scored, COUNTS.params)]
    if covariance_type == "full":
        exact.append(("gaussian", np.column_stack([arrays[0], arrays[3]]), block))
    else:
        exact += [("real", arrays[0], first), ("real", arrays[3], REALS.params)]
    rng = np.random.default_rng(4)
    order, window = CyclicSubsampling().bind(N_ROWS, rng)
    chain = MixtureChain(models, arrays, PitmanYor(0.6, 0.4).bind(), order, window, rng, moves=[Gibbs()], learn=False)
    result = chain.run(SubsampleAnneal(passes=5), n_draws=FAST, thin=8, time_limit=None, context=ChainContext())
    codes = partition_codes(result.labels)
    check_distance(exact_posterior(exact, 0.6, 0.4), codes, effective_draws(codes))
