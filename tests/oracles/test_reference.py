"""The reference likelihoods against figures computed elsewhere, brute force, and one another."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import reference
from oracles.reference import draw_from_prior, log_marginal, log_predictive, sub_block
from scipy import integrate, stats
from support.tiers import quick_only

ORACLES = json.loads((Path(__file__).parent / "oracles.json").read_text())

REAL = {"mu": 0.3, "kappa": 0.7, "sigma2": 1.4, "nu": 2.5}
GAUSSIAN = {"mu": [0.2, -0.3], "kappa": 0.5, "psi": [[1.0, 0.6], [0.6, 1.3]], "nu": 3.5}
PARAMS = {
    "real": REAL,
    "categorical": {"alpha": [0.4, 1.1, 2.0]},
    "boolean": {"alpha": 0.7, "beta": 1.9},
    "count": {"shape": 1.7, "rate": 0.6},
    "cyclic": {"mu": 0.7, "r": 0.6, "kappa": 2.5},
    "semicontinuous": {"alpha": 0.8, **REAL, "atoms": [0.0]},
    "ordinal": {"location": 1.2, "spread": 1.5, "free": 0.3, "mass": 2.0, "cuts": [0.5, 1.3, 2.5]},
    "gaussian": GAUSSIAN,
    "bag-of-words": {"beta": [0.7, 0.2, 1.5]},
}
NAN = np.nan
DATA = {
    "real": np.array([0.4, -1.2, NAN, 2.2, 0.9]),
    "categorical": np.array([0, 2, 2, -1, 1]),
    "boolean": np.array([1, 0, -1, 1, 1]),
    "count": np.array([3, 0, 7, -1, 2]),
    "cyclic": np.array([0.4, -1.2, NAN, 6.0, 2.5]),
    "semicontinuous": np.array([0.0, -1.2, NAN, 0.0, 0.9]),
    "ordinal": np.array([3, 2, 3, -1, 1]),
    "gaussian": np.array([[0.4, 1.0], [-1.2, 0.1], [2.0, 0.7], [0.3, -0.8], [1.1, 1.2]]),
    "bag-of-words": np.array([[1, 0, 2], [0, 3, 1], [2, 2, 0], [0, 0, 1], [4, 0, 0]]),
}
KINDS = sorted(DATA)


def oracle(name):
    return pytest.mark.parametrize("case", ORACLES[name], ids=range(len(ORACLES[name])))


# --- Likelihoods ------------------------------------------------------------------------------------------------


@oracle("nix2")
def test_oracle_real(case):
    params = {"mu": case["mu0"], "kappa": case["kappa0"], "sigma2": case["sigma2_0"], "nu": case["nu0"]}
    assert_allclose(log_marginal("real", case["x"], params), case["log_marginal"], rtol=1e-12)


@oracle("beta_bernoulli")
def test_oracle_boolean(case):
    params = {"alpha": case["alpha"], "beta": case["beta"]}
    assert_allclose(log_marginal("boolean", case["x"], params), case["log_marginal"], rtol=1e-12)


@oracle("gamma_poisson")
def test_oracle_count(case):
    params = {"shape": case["shape"], "rate": case["rate"]}
    assert_allclose(log_marginal("count", case["x"], params), case["log_marginal"], rtol=1e-12)


@oracle("dirichlet_multinomial")
def test_oracle_tokens(case):
    counts = np.array(case["counts"])
    tokens = np.concatenate([np.repeat(np.arange(counts.shape[1]), row) for row in counts])
    expected = case["log_marginal_tokens"]
    assert_allclose(log_marginal("categorical", tokens, {"alpha": case["beta"]}), expected, rtol=1e-12)
    assert_allclose(log_marginal("bag-of-words", counts, {"beta": case["beta"]}), expected, rtol=1e-12)


@oracle("normal_wishart")
def test_oracle_gaussian(case):
    # A precision ~ Wishart(nu, Psi^-1) is a covariance ~ InvWishart(nu, Psi).
    params = {"mu": case["xi"], "kappa": case["r"], "psi": case["Psi"], "nu": case["nu"]}
    assert_allclose(log_marginal("gaussian", case["X"], params), case["log_marginal"], rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_chain_rule(kind):
    x = DATA[kind]
    total = sum(log_predictive(kind, x[i], x[:i], PARAMS[kind]) for i in range(len(x)))
    assert_allclose(log_marginal(kind, x, PARAMS[kind]), total, rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_predictive_is_a_ratio_of_marginals(kind):
    x = DATA[kind]
    for i in range(len(x)):
        others = np.delete(x, i, axis=0)
        ratio = log_marginal(kind, x, PARAMS[kind]) - log_marginal(kind, others, PARAMS[kind])
        assert_allclose(log_predictive(kind, x[i], others, PARAMS[kind]), ratio, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_exchangeable_and_empty(kind):
    x = DATA[kind]
    assert_allclose(log_marginal(kind, x[[3, 1, 4, 0, 2]], PARAMS[kind]), log_marginal(kind, x, PARAMS[kind]))
    assert log_marginal(kind, x[:0], PARAMS[kind]) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("kind", quick_only(KINDS, "real"))
def test_marginal_is_the_mean_likelihood_under_the_prior(kind):
    rng, params, x = np.random.default_rng(3), PARAMS[kind], DATA[kind]
    x = x[[0, 4]]
    likelihoods = []
    for _ in range(6000 if kind == "gaussian" else 3000):
        theta, _ = draw_from_prior(kind, params, [1] if kind == "bag-of-words" else 1, rng)
        likelihoods.append(np.exp(_log_likelihood(kind, x, theta)))
    error = np.std(likelihoods) / np.sqrt(len(likelihoods))
    assert error < 0.06 * np.mean(likelihoods)
    assert abs(np.mean(likelihoods) - np.exp(log_marginal(kind, x, params))) < 3.5 * error


def _log_likelihood(kind, x, theta):
    if kind == "gaussian":
        residual = x - theta["mean"]
        quadratic = np.sum(residual * np.linalg.solve(theta["covariance"], residual.T).T)
        return -0.5 * (quadratic + len(x) * np.linalg.slogdet(2 * np.pi * theta["covariance"])[1])
    if kind == "bag-of-words":
        return np.sum(x * np.log(theta["probabilities"]))
    x = x[~np.isnan(x)] if kind in {"real", "cyclic", "semicontinuous"} else x[x >= 0]
    if kind == "semicontinuous":
        rest, shares = x[x != 0.0], theta["probabilities"]
        return _log_likelihood("real", rest, theta) + np.sum(np.log(np.where(x != 0.0, shares[0], shares[1])))
    if kind == "cyclic":
        return stats.vonmises.logpdf(x, theta["kappa"], loc=theta["direction"]).sum()
    if kind == "real":
        return -0.5 * np.sum((x - theta["mean"]) ** 2 / theta["variance"] + np.log(2 * np.pi * theta["variance"]))
    if kind == "count":
        return stats.poisson.logpmf(x, theta["rate"]).sum()
    if kind == "boolean":
        return np.log(np.where(x > 0, theta["probability"], 1 - theta["probability"])).sum()
    return np.log(theta["probabilities"][x]).sum()


@pytest.mark.parametrize("kind", quick_only(KINDS, "real"))
def test_values_of_the_prior_follow_the_predictive(kind):
    rng, params, n = np.random.default_rng(5), PARAMS[kind], 1500
    draws = [draw_from_prior(kind, params, [1, 1] if kind == "bag-of-words" else 2, rng)[1] for _ in range(n)]
    if kind in {"real", "gaussian"}:  # the second value's quantile given the first is uniform
        mixed = np.array(draws).reshape(n, 2, -1)[:, :, 0]
        own = REAL if kind == "real" else _first_coordinate(GAUSSIAN)
        quantiles = []
        for first, second in mixed:
            after = reference._update_real(np.array([first]), own)
            scale = np.sqrt(after["sigma2"] * (1 + 1 / after["kappa"]))
            quantiles.append(stats.t.cdf(second, after["nu"], after["mu"], scale))
        assert stats.kstest(quantiles, "uniform").pvalue > 1e-3
        return
    if kind == "semicontinuous":  # whether the two are atoms; the rest is that of "real"
        zeros = np.array(draws) == 0.0
        expected = n * np.exp([log_marginal("boolean", pair, {"alpha": 0.8, "beta": 0.8}) for pair in np.ndindex(2, 2)])
        counts = np.bincount(zeros @ [2, 1], minlength=4)
        assert stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), 3) > 1e-3
        return
    if kind == "cyclic":  # likewise, by the predictive density on a grid
        grid = np.linspace(0.0, 2 * np.pi, 121)
        quantiles = []
        for first, second in np.array(draws)[:200]:
            density = np.exp([log_marginal(kind, [first, x], params) for x in grid])
            mass = integrate.cumulative_trapezoid(density, grid, initial=0)
            quantiles.append(np.interp(second, grid, mass / mass[-1]))
        assert stats.kstest(quantiles, "uniform").pvalue > 1e-3
        return
    values, counts = np.unique(np.array(draws).reshape(n, -1), axis=0, return_counts=True)
    shape = (-1, 2, 3) if kind == "bag-of-words" else (-1, 2)
    values = values.reshape(shape)
    expected = n * np.exp([log_marginal(kind, value, params) for value in values])
    frequent = expected > 5
    pearson = np.sum((counts - expected)[frequent] ** 2 / expected[frequent])
    assert stats.chi2.sf(pearson, frequent.sum() - 1) > 1e-3


def _first_coordinate(params):
    block = sub_block(params, [0])
    return {
        "mu": block["mu"][0], "kappa": block["kappa"], "sigma2": block["psi"][0, 0] / block["nu"], "nu": block["nu"]
    }  # fmt: skip


def test_gaussian_of_one_coordinate_is_real():
    x = DATA["gaussian"][:, :1]
    assert_allclose(
        log_marginal("gaussian", x, sub_block(GAUSSIAN, [0])),
        log_marginal("real", x[:, 0], _first_coordinate(GAUSSIAN)),
        rtol=1e-12,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_hyperparameters_carry_leading_axes(kind):
    x = DATA[kind].astype(float)
    if kind == "gaussian":
        x[0, 0] = x[1, 1] = NAN
    other = {name: np.asarray(value) * 1.1 for name, value in PARAMS[kind].items()}
    stacked = {name: np.stack([np.asarray(PARAMS[kind][name], dtype=float), other[name]]) for name in other}
    expected = [log_marginal(kind, x, PARAMS[kind]), log_marginal(kind, x, other)]
    assert_allclose(log_marginal(kind, x, stacked), expected, rtol=1e-8)


# --- Missing cells of the Gaussian block ------------------------------------------------------------------------


def test_gaussian_row_seen_in_one_coordinate():
    # The example of the mathematics: the row seen in part moves the density from .0186 to .0318.
    params = {"mu": [0.0, 0.0], "kappa": 0.5, "psi": [[1.0, 0.8], [0.8, 1.0]], "nu": 4}
    new, seen = np.array([1.0, -0.5]), np.array([[2.0, NAN]])
    assert np.exp(log_predictive("gaussian", new, seen, params)) == pytest.approx(0.0318, abs=5e-5)
    assert np.exp(log_predictive("gaussian", new, seen[:0], params)) == pytest.approx(0.0186, abs=5e-5)


@pytest.mark.parametrize(
    "x",
    [
        [[0.5, NAN], [1.0, -0.5]],
        [[0.5, NAN], [1.5, NAN], [2.0, 0.3]],
        [[0.5, NAN], [10.0, NAN], [-1.0, NAN], [2.0, 0.3], [NAN, NAN]],
        [[0.5, NAN], [1.5, NAN]],
    ],
)
def test_gaussian_monotone_pattern_has_a_closed_form(x):
    # Where only the second coordinate is missing, p(x) = p(first of all rows) p(both) / p(first), last two of complete
    # rows: the regression of the second coordinate on the first is a priori independent of the first's law.
    x = np.array(x)
    complete, first = x[~np.isnan(x[:, 1])], sub_block(GAUSSIAN, [0])
    expected = (
        log_marginal("gaussian", x[:, :1], first)
        + log_marginal("gaussian", complete, GAUSSIAN)
        - log_marginal("gaussian", complete[:, :1], first)
    )
    assert_allclose(log_marginal("gaussian", x, GAUSSIAN), expected, atol=1e-8)


@pytest.mark.parametrize("outlier", [1.5, 10.0])
def test_gaussian_nested_pattern_has_a_closed_form(outlier):
    # The same factorisation twice, over rows that show coordinates {0}, {0, 1} and all: two axes of quadrature.
    params = {"mu": [0.1, 0.0, -0.2], "kappa": 1.2, "psi": np.eye(3) + 0.4, "nu": 3.0}
    x = np.array([[0.5, NAN, NAN], [-0.7, NAN, NAN], [outlier, -0.5, NAN], [-1.0, 0.4, NAN], [0.2, 0.9, -0.4]])
    expected = 0.0
    for coordinates, rows in [([0], x), ([0, 1], x[2:]), ([0, 1, 2], x[4:])]:
        expected += log_marginal("gaussian", rows[:, coordinates], sub_block(params, coordinates))
        if len(coordinates) > 1:
            fewer = coordinates[:-1]
            expected -= log_marginal("gaussian", rows[:, fewer], sub_block(params, fewer))
    assert_allclose(log_marginal("gaussian", x, params), expected, atol=1e-8)


@pytest.mark.slow
def test_gaussian_two_missing_coordinates_by_adaptive_quadrature():
    x = np.array([[0.5, NAN], [NAN, -0.7], [1.5, 0.4]])

    def density(second, first):
        filled = x.copy()
        filled[0, 1], filled[1, 0] = second, first
        return np.exp(reference._complete_gaussian(filled, {k: np.asarray(v) for k, v in GAUSSIAN.items()}))

    def stretched(v, u):  # tan maps the line to a finite square
        return density(np.tan(v), np.tan(u)) / np.cos(v) ** 2 / np.cos(u) ** 2

    half = np.pi / 2 - 1e-9
    expected, _ = integrate.dblquad(stretched, -half, half, -half, half, epsabs=1e-9, epsrel=1e-6)
    assert_allclose(log_marginal("gaussian", x, GAUSSIAN), np.log(expected), atol=1e-6)


@pytest.mark.slow
def test_gaussian_missing_cells_by_importance_sampling():
    rng = np.random.default_rng(8)
    params = {"mu": [0.1, 0.0, -0.2], "kappa": 1.2, "psi": np.eye(3) + 0.4, "nu": 5.0}
    x = np.array([[0.5, NAN, 0.1], [NAN, -0.7, NAN], [0.2, 0.9, -0.4]])
    likelihoods = []
    for _ in range(3000):
        theta, _ = draw_from_prior("gaussian", params, 1, rng)
        total = 0.0
        for row in x:
            known = ~np.isnan(row)
            residual, block = (row - theta["mean"])[known], theta["covariance"][np.ix_(known, known)]
            total -= 0.5 * (residual @ np.linalg.solve(block, residual) + np.linalg.slogdet(2 * np.pi * block)[1])
        likelihoods.append(np.exp(total))
    error = np.std(likelihoods) / np.sqrt(len(likelihoods)) / np.mean(likelihoods)
    assert error < 0.06
    assert abs(log_marginal("gaussian", x, params) - np.log(np.mean(likelihoods))) < 3.5 * error


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_marginal("real", [1.0], {**REAL, "nu": 0}), "nu=.*positive"),
        (lambda: log_marginal("text", [1.0], {}), "kind='text'"),
        (lambda: log_predictive("text", 1.0, [1.0], {}), "kind='text'"),
        (lambda: draw_from_prior("text", {}, 1, None), "kind='text'"),
        (lambda: log_marginal("categorical", [3], PARAMS["categorical"]), "x=3.*one entry per value"),
        (lambda: log_marginal("gaussian", [[1.0, 2.0]], {**GAUSSIAN, "nu": 1}), "nu=.*exceed"),
        (lambda: log_marginal("gaussian", [[1, NAN], [NAN, 1]] * 3, GAUSSIAN), "quadrature over 3"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_examples():
    result = doctest.testmod(reference)
    assert result.attempted > 0
    assert result.failed == 0
