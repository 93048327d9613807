"""The scale matrix that clusters of a full block share: its conditional given the data, and Geweke's test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import reference
from oracles.reference_chain import effective_draws, noise_floor, total_variation

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns.gaussian import SHRINKAGE, correlation_of
from sklearn_subanneal.diagnostics import geweke_test

LABELS = np.array([0, 0, 0, 1, 1, 1, 2])
CELLS = np.array([[0.1, 0.2], [1.0, 1.3], [-0.9, -0.8], [2.0, 2.5], [3.0, 3.2], [2.4, 2.2], [-2.0, 0.4]])
NU, SIGMA2 = 4.0, np.array([0.4, 0.7])


def block(cells, vectors, n_shared, spread, nu=NU, sigma2=SIGMA2, grids=None):
    """Statistics whose psi is that of the vectors."""
    unit = np.sqrt((nu - len(sigma2) + 1) * sigma2)
    psi = correlation_of(vectors, n_shared) * np.outer(unit, unit)
    parameters = {"mu": np.linspace(0.2, 0.1, len(sigma2)), "kappa": 0.5, "psi": psi, "nu": nu}
    parameters |= {"vectors": vectors, "n_shared": n_shared, "spread": spread}
    return GaussianStatistics(GaussianData(cells), parameters, grids)


def test_correlations_of_two_columns_follow_their_conditional():
    """One coordinate is shared, one is the column's own: the direction of each vector is uniform on a circle."""
    rng, n_draws, edges = np.random.default_rng(0), 40_000, np.linspace(-1.0, 1.0, 13)
    statistics = block(CELLS, np.ones((2, 2)), 1, 1.0)
    statistics.rebuild(LABELS)
    statistics.settled = True
    drawn = np.empty(n_draws)
    for i in range(n_draws):
        statistics.learn(3, rng)
        psi = statistics.parameters["psi"]
        drawn[i] = psi[0, 1] / np.sqrt(psi[0, 0] * psi[1, 1])
    assert_allclose(np.diag(psi), (NU - 1) * SIGMA2)
    # Midpoints of a fine grid of the two directions.
    angles = (np.arange(400) + 0.5) * np.pi / 400
    correlation = SHRINKAGE * np.outer(np.cos(angles), np.cos(angles)).ravel()
    unit = np.sqrt((NU - 1) * SIGMA2)
    psi = np.ones((len(correlation), 2, 2))
    psi[:, 0, 1] = psi[:, 1, 0] = correlation
    psi *= np.outer(unit, unit)
    params = {"mu": np.tile([0.2, 0.1], (len(psi), 1)), "kappa": np.full(len(psi), 0.5), "psi": psi}
    params["nu"] = np.full(len(psi), NU)
    logs = sum(reference.log_marginal("gaussian", CELLS[LABELS == k], params) for k in range(3))
    weights = np.exp(logs - logs.max())
    law = np.histogram(correlation, edges, weights=weights)[0] / weights.sum()
    codes = np.digitize(drawn, edges[1:-1])
    counts = dict(enumerate(np.bincount(codes, minlength=len(law))))
    floor = noise_floor(dict(enumerate(law)), effective_draws(codes), 0.999, rng=rng)
    # The exact law is far from that without data.
    empty = np.histogram(correlation, edges)[0] / len(correlation)
    assert np.abs(law - empty).sum() > 8 * floor
    assert total_variation(dict(enumerate(law)), counts) <= 1.2 * floor


@pytest.mark.parametrize("n_shared", [1, 3])
def test_psi_stays_that_of_the_vectors(n_shared):
    rng = np.random.default_rng(1)
    cells = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4))
    grids = {
        "sigma2": np.tile([0.01, 0.1, 1.0, 4.0], (4, 1)),
        "nu": 3.0 + np.geomspace(0.5, 40.0, 6),
        "spread": np.array([0.3, 1.0, 4.0]),
    }
    vectors = rng.normal(size=(4, n_shared + 2))
    statistics = block(cells, vectors, n_shared, 1.0, nu=3.5, sigma2=np.full(4, 0.1), grids=grids)
    statistics.rebuild(np.arange(30) % 3)
    statistics.settled = True
    for _ in range(200):
        statistics.learn(3, rng)
    state = statistics.get_prior_state()
    psi = state["parameters"]["psi"]
    unit = np.sqrt(np.diag(psi))
    assert_allclose(psi / np.outer(unit, unit), correlation_of(state["vectors"], n_shared), atol=1e-10)
    assert_allclose(psi, psi.T, rtol=0)
    sigma2 = np.diag(psi) / (state["parameters"]["nu"] - 3)
    assert np.abs(sigma2[:, None] / grids["sigma2"] - 1.0).min(axis=1).max() < 1e-10
    # The statistics are those of the matrix that was drawn last.
    other = GaussianStatistics(GaussianData(cells), state["parameters"])
    other.rebuild(np.arange(30) % 3)
    assert_allclose(statistics.log_marginals(3), other.log_marginals(3), rtol=1e-9)
    other.set_prior_state(state)
    assert_allclose(other.get_prior_state()["vectors"], state["vectors"], rtol=0)


def test_variances_stay_where_only_the_degrees_of_freedom_are_learned():
    rng, seen = np.random.default_rng(2), set()
    statistics = block(CELLS, rng.normal(size=(2, 3)), 2, 1.0, grids={"nu": np.array([1.8, 2.5, NU, 9.0])})
    statistics.rebuild(LABELS)
    for _ in range(30):
        statistics.learn(3, rng)
        own = statistics.parameters
        assert_allclose(np.diag(own["psi"]) / (own["nu"] - 1), SIGMA2, rtol=1e-10)
        seen.add(own["nu"])
    assert len(seen) > 2


# --- Geweke's test of all that the prior learns ------------------------------------------------------------------

GRIDS = {
    "mu": np.array([[-0.5, 0.3], [0.0, 0.6], [-0.2, 0.2]]),
    "kappa": np.array([0.3, 1.5]),
    "sigma2": np.tile([0.3, 0.8, 2.0], (3, 1)),
    "nu": np.array([2.8, 4.0, 9.0]),
    "spread": np.array([0.4, 1.0, 3.0]),
}
N_SHARED, N_OWN = 2, 1


@dataclass(frozen=True)
class Joint:
    """A prior of three columns, and cells of three clusters."""

    parameters: dict
    cells: np.ndarray


def draw_prior(rng):
    spread = rng.choice(GRIDS["spread"])
    vectors = rng.normal(size=(3, N_SHARED + N_OWN)) * np.r_[np.ones(N_SHARED), np.full(N_OWN, spread)]
    mu, sigma2 = (np.array([rng.choice(line) for line in GRIDS[name]]) for name in ("mu", "sigma2"))
    nu = rng.choice(GRIDS["nu"])
    unit = np.sqrt((nu - 2) * sigma2)
    psi = correlation_of(vectors, N_SHARED) * np.outer(unit, unit)
    parameters = {"mu": mu, "kappa": rng.choice(GRIDS["kappa"]), "psi": psi, "nu": nu}
    parameters |= {"vectors": vectors, "n_shared": N_SHARED, "spread": spread}
    cells = np.empty((len(LABELS), 3))
    for k in range(3):
        cells[LABELS == k] = reference.draw_from_prior("gaussian", parameters, int(np.sum(LABELS == k)), rng)[1]
    return Joint(parameters, cells)


def transition(state, rng):
    statistics = GaussianStatistics(GaussianData(state.cells), state.parameters, GRIDS)
    statistics.rebuild(LABELS)
    statistics.settled = True
    statistics.learn(3, rng)
    own = statistics.get_prior_state()
    parameters = own["parameters"] | {name: own[name] for name in ("vectors", "n_shared", "spread")}
    cells = np.zeros_like(state.cells)
    fresh = GaussianStatistics(GaussianData(cells), own["parameters"])
    for row, k in enumerate(LABELS):
        cells[row] = fresh.draws(np.array([k], np.int32), np.full((1, 3), np.nan), rng)[0]
        filled = GaussianStatistics(GaussianData(cells), own["parameters"])
        filled.rebuild(np.where(np.arange(len(LABELS)) <= row, LABELS, -1))
        fresh = filled
    return Joint(parameters, cells)


def statistics(state):
    p, x = state.parameters, np.arctan(state.cells / 2.0)
    unit = np.sqrt(np.diag(p["psi"]))
    correlation = p["psi"] / np.outer(unit, unit)
    pairs = np.triu_indices(3, 1)
    # They are values of a grid up to rounding, and the test of distributions compares values as they are.
    variances = np.log(unit**2 / (p["nu"] - 2)).round(9)
    out = {f"correlation {i}{j}": correlation[i, j] for i, j in zip(*pairs, strict=True)}
    out |= {f"sigma2 {i}": value for i, value in enumerate(variances)}
    out |= {f"mu {i}": value for i, value in enumerate(p["mu"])}
    out |= {"kappa": np.log(p["kappa"]), "nu": np.log(p["nu"] - 2), "spread": np.log(p["spread"])}
    out["squared correlations"] = np.mean(correlation[pairs] ** 2)
    out["product of correlations"] = np.prod(correlation[pairs])
    out["nu and variances"] = (out["nu"] * variances.mean()).round(9)
    out["cells"] = np.mean(x**2)
    products = np.mean([np.outer(row, row) for row in x], axis=0)
    out |= {f"product {i}{j}": products[i, j] for i, j in zip(*pairs, strict=True)}
    out["cells and correlations"] = np.sum(products[pairs] * correlation[pairs])
    out["length"] = np.log(np.linalg.norm(p["vectors"], axis=1)).mean()
    return out


@pytest.mark.parametrize(
    ("n_independent", "n_successive"), [(1500, 100), pytest.param(20_000, 2500, marks=pytest.mark.slow)]
)
def test_geweke(n_independent, n_successive):
    result = geweke_test(
        draw_prior,
        transition,
        statistics,
        n_independent=n_independent,
        n_successive=n_successive,
        n_chains=16,
        random_state=0,
    )
    assert result.passed(0.01), str(result)
