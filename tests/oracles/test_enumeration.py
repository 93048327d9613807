"""The enumerated posterior against figures computed elsewhere, loops over grids, and mixtures of predictives."""

from __future__ import annotations

import doctest
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import enumeration, reference
from oracles.enumeration import (
    canonical,
    draw_partition,
    exact_posterior,
    exact_posterior_grid,
    exact_predictive,
    fixed_mixture,
    grid_mixture,
    log_eppf,
    partitions,
)
from oracles.reference import log_predictive
from oracles.reference_chain import noise_floor, partition_counts, total_variation
from scipy.special import logsumexp

ORACLES = json.loads((Path(__file__).parent / "oracles.json").read_text())

REAL = {"mu": 0.3, "kappa": 0.7, "sigma2": 1.4, "nu": 2.5}
GAUSSIAN = {"mu": [0.2, -0.3], "kappa": 0.5, "psi": [[1.0, 0.6], [0.6, 1.3]], "nu": 3.5}
CATEGORICAL, COUNT, BOOLEAN = {"alpha": [0.4, 1.1, 2.0]}, {"shape": 1.7, "rate": 0.6}, {"alpha": 0.7, "beta": 1.9}
ROWS = [
    ("real", np.array([0.4, -1.2, 2.2, np.nan]), REAL),
    ("categorical", np.array([0, 2, 2, 1]), CATEGORICAL),
    ("count", np.array([3, 0, -1, 6]), COUNT),
]


def oracle(name):
    return pytest.mark.parametrize("case", ORACLES[name], ids=range(len(ORACLES[name])))


# --- Partitions -------------------------------------------------------------------------------------------------


@oracle("eppf_py")
def test_oracle_pitman_yor(case):
    assert_allclose(log_eppf(case["sizes"], case["alpha"], case["d"]), case["log_eppf"], rtol=1e-12, atol=1e-14)


@oracle("eppf_dp")
def test_oracle_dirichlet_process(case):
    assert_allclose(log_eppf(case["sizes"], case["alpha"]), case["log_eppf"], rtol=1e-12, atol=1e-14)


@oracle("crp_prior")
def test_oracle_number_of_clusters(case):
    opens = [np.exp(log_eppf([n, 1], case["alpha"]) - log_eppf([n], case["alpha"])) for n in range(1, case["N"])]
    law = np.array([1.0])
    for p in opens:
        law = np.append(law * (1 - p), 0) + np.append(0, law * p)
    k = 1 + np.arange(case["N"])
    assert_allclose(law @ k, case["E_K"], rtol=1e-12)
    assert_allclose(law @ k**2 - (law @ k) ** 2, case["Var_K"], rtol=1e-10)


@pytest.mark.parametrize("n", range(8))
def test_partitions_are_all_there(n):
    bell = [1, 1, 2, 5, 15, 52, 203, 877]
    states = list(partitions(n))
    assert len(states) == len(set(states)) == bell[n]
    assert states == sorted(states)
    assert all(canonical(state) == state for state in states)
    if n:
        for alpha, d in [(1.0, 0.0), (0.3, 0.6), (-0.2, 0.5)]:
            logs = [log_eppf(np.bincount(state), alpha, d) for state in states]
            assert logsumexp(logs) == pytest.approx(0, abs=1e-12)


def test_drawn_partitions_follow_the_prior():
    rng = np.random.default_rng(2)
    law = {state: np.exp(log_eppf(np.bincount(state), 0.8, 0.4)) for state in partitions(4)}
    draws = np.array([draw_partition(4, 0.8, 0.4, rng) for _ in range(3000)])
    assert total_variation(law, partition_counts(draws)) < noise_floor(law, 3000, 0.999, rng=rng)


# --- Exact posteriors -------------------------------------------------------------------------------------------


@oracle("posterior_partitions")
def test_oracle_posterior(case):
    x, raw = np.array(case["X"]), case["params"]
    if case["likelihood"] == "normal_wishart":
        column = ("gaussian", x, {"mu": raw["xi"], "kappa": raw["r"], "psi": raw["Psi"], "nu": raw["nu"]})
    else:
        column = ("bag-of-words", x, {"beta": raw["beta"]})
    mixture = fixed_mixture([column], case["alpha"])
    posterior = mixture.posterior()
    assert_allclose([posterior[tuple(state)] for state in case["partitions"]], case["probs"], rtol=1e-9)
    assert_allclose(mixture.log_evidence, case["log_evidence"], rtol=1e-11)
    labels, weights = np.array(list(posterior)), np.array(list(posterior.values()))
    together = np.einsum("s,sij->ij", weights, labels[:, :, None] == labels[:, None, :])
    assert_allclose(together, case["coclustering"], atol=1e-10)
    assert_allclose(weights @ (labels.max(1) + 1), case["E_K"], rtol=1e-10)


def test_posterior_permutes_with_rows():
    order = [2, 0, 3, 1]
    posterior = exact_posterior(ROWS, 0.8, 0.3)
    permuted = exact_posterior([(kind, x[order], params) for kind, x, params in ROWS], 0.8, 0.3)
    for state, probability in posterior.items():
        assert permuted[canonical(np.array(state)[order])] == pytest.approx(probability, rel=1e-10)


def test_heat():
    law = {state: np.exp(log_eppf(np.bincount(state), 0.8, 0.3)) for state in partitions(4)}
    cold, half = exact_posterior(ROWS, 0.8, 0.3), exact_posterior(ROWS, 0.8, 0.3, beta=0.5)
    assert exact_posterior(ROWS, 0.8, 0.3, beta=0) == pytest.approx(law)
    tempered = np.array([np.sqrt(law[state] * cold[state]) for state in law])
    assert_allclose(list(half.values()), tempered / tempered.sum())


GRIDS = {
    "real": {"mu": [0.0, 1.0], "kappa": [0.2, 1.0], "sigma2": [0.5, 4.0], "nu": [3.0]},
    "categorical": {"alpha": [[0.3], [0.5], [0.2, 0.6, 1.5]]},
    "gaussian": {"mu": [[0.0, 1.0], [-0.5]], "kappa": [0.3, 1.0], "sigma2": [[0.25, 1.0], [0.5]], "nu": [3.0]},
}
PRIOR_GRID = {"alpha": [0.3, 3.0], "d": [0.0, 0.4]}


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1.0, 0.4])
def test_grid_is_the_average_of_fixed_posteriors(beta):
    block = np.array([[0.4, 1.0], [-1.2, np.nan], [2.0, 0.7]])
    columns = [("categorical", np.array([0, 2, 2]), GRIDS["categorical"]), ("gaussian", block, GRIDS["gaussian"])]
    law, concentrations, marginals = exact_posterior_grid(columns, PRIOR_GRID, beta)
    alpha_lines, gauss = GRIDS["categorical"]["alpha"], GRIDS["gaussian"]
    total = dict.fromkeys(partitions(3), 0.0)
    by_alpha, by_value, by_kappa, by_variance = np.zeros(2), np.zeros(3), np.zeros(2), np.zeros(2)
    every = itertools.product(range(2), range(2), itertools.product(*alpha_lines), itertools.product(
        *gauss["mu"], gauss["kappa"], *gauss["sigma2"], gauss["nu"]))  # fmt: skip
    for a, b, value, (mu0, mu1, kappa, first, second, nu) in every:
        fixed = [
            ("categorical", columns[0][1], {"alpha": value}),
            ("gaussian", block, {"mu": [mu0, mu1], "kappa": kappa, "sigma2": [first, second], "nu": nu}),
        ]
        mixture = fixed_mixture(fixed, PRIOR_GRID["alpha"][a], PRIOR_GRID["d"][b], beta)
        evidence = np.exp(mixture.log_evidence)
        for state, probability in mixture.posterior().items():
            total[state] += evidence * probability
        by_alpha[a] += evidence
        by_value[alpha_lines[2].index(value[2])] += evidence
        by_kappa[gauss["kappa"].index(kappa)] += evidence
        by_variance[gauss["sigma2"][0].index(first)] += evidence
    scale = sum(total.values())
    assert law == pytest.approx({state: mass / scale for state, mass in total.items()}, rel=1e-8)
    n_points = len(PRIOR_GRID["alpha"]) * len(PRIOR_GRID["d"]) * 3 * 2**3
    assert_allclose(grid_mixture(columns, PRIOR_GRID, beta).log_evidence, np.log(scale / n_points), rtol=1e-9)
    assert_allclose(concentrations.sum(1), by_alpha / scale, rtol=1e-8)
    assert_allclose(marginals[0]["alpha"][2], by_value / scale, rtol=1e-8)
    assert_allclose(marginals[1]["kappa"][0], by_kappa / scale, rtol=1e-8)
    assert_allclose(marginals[1]["sigma2"][0], by_variance / scale, rtol=1e-8)


NEW_ROWS = [np.array([0.1, np.nan, np.nan, 3.0]), np.array([2, 0, -1, -1]), np.array([4, -1, -1, 0])]


def test_predictive_is_the_mixture_of_predictives():
    # log p(x) = log sum_partition p(partition | data) [sum_k w_k prod_j p(x_j | cluster k)]
    alpha, d = 0.8, 0.3
    expected = np.zeros(4)
    for state, probability in exact_posterior(ROWS, alpha, d).items():
        clusters = [*(np.flatnonzero(np.array(state) == k) for k in range(max(state) + 1)), np.zeros(0, dtype=int)]
        for k, rows in enumerate(clusters):
            weight = (len(rows) - d if k <= max(state) else alpha + d * (max(state) + 1)) / (alpha + 4)
            for i in range(4):
                scores = [
                    log_predictive(kind, new[i], x[rows], params)
                    for (kind, x, params), new in zip(ROWS, NEW_ROWS, strict=True)
                ]
                expected[i] += probability * weight * np.exp(sum(scores))
    assert_allclose(exact_predictive(ROWS, NEW_ROWS, alpha, d), np.log(expected), atol=1e-11)
    assert exact_predictive(ROWS, NEW_ROWS, alpha, d)[2] == pytest.approx(0, abs=1e-12)


def test_predictive_with_grids_sums_to_one():
    columns = [("real", ROWS[0][1], GRIDS["real"]), ("categorical", ROWS[1][1], GRIDS["categorical"])]
    mixture = grid_mixture(columns, PRIOR_GRID)
    pairs = mixture.log_predictive([np.array([0.7] * 4), np.array([0, 1, 2, -1])])
    assert_allclose(np.exp(pairs[:3]).sum(), np.exp(pairs[3]), rtol=1e-11)


def test_imputation_is_the_mixture_of_cluster_means():
    alpha, d = 0.8, 0.3
    first = second = 0.0
    for state, probability in exact_posterior(ROWS, alpha, d).items():
        rows = [i for i in range(3) if state[i] == state[3]]
        after = reference._update_real(ROWS[0][1][rows], REAL)
        variance = after["sigma2"] * (1 + 1 / after["kappa"]) * after["nu"] / (after["nu"] - 2)
        first += probability * after["mu"]
        second += probability * (variance + after["mu"] ** 2)
    mean, variance = fixed_mixture(ROWS, alpha, d).cell_moments(3, 0)
    assert_allclose([mean, variance], [first, second - first**2], rtol=1e-4)  # the tail decays like x^-2.5 at nu = 2.5
    assert mean == pytest.approx(first, rel=1e-7)


@pytest.mark.slow
def test_imputed_cells_have_proper_laws():
    block = np.array([[0.4, 1.0], [-1.2, np.nan], [2.0, 0.7]])
    columns = [
        ("gaussian", block, {**GAUSSIAN, "nu": 6.0}),
        ("count", np.array([1, -1, 4]), COUNT),
        ("categorical", np.array([0, 2, -1]), CATEGORICAL),
        ("boolean", np.array([1, 0, -1]), BOOLEAN),
    ]
    mixture = fixed_mixture(columns, 1.0, 0.2)
    line, log_weights = reference.line_quadrature()
    mass = np.exp(mixture.cell_log_density(1, 0, line, coordinate=1) + log_weights)
    assert mass.sum() == pytest.approx(1, abs=1e-8)
    assert_allclose(mixture.cell_moments(1, 0, coordinate=1)[0], np.sum(mass * line), rtol=1e-12)
    assert np.exp(mixture.cell_log_density(2, 2, [0, 1, 2])).sum() == pytest.approx(1, abs=1e-12)
    p = np.exp(mixture.cell_log_density(2, 3, [1]))[0]
    assert_allclose(mixture.cell_moments(2, 3), [p, p * (1 - p)], rtol=1e-10)
    slow = np.arange(400)
    probabilities = np.exp(mixture.cell_log_density(1, 1, slow))
    assert probabilities.sum() == pytest.approx(1, abs=1e-9)
    assert mixture.cell_moments(1, 1)[0] == pytest.approx(probabilities @ slow, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_eppf([1], 1.0, 1.0), "d=1.0"),
        (lambda: log_eppf([1], -0.5, 0.3), "alpha=-0.5"),
        (lambda: fixed_mixture(ROWS, 1.0, beta=0.5).log_predictive(NEW_ROWS), "beta=0.5"),
        (lambda: fixed_mixture(ROWS, 1.0).cell_moments(0, 1), "no moments"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_examples():
    result = doctest.testmod(enumeration)
    assert result.attempted > 0
    assert result.failed == 0
