"""The two Gaussians of the variational-tempering paper: the bound loses its local optimum as the temperature rises."""

import doctest
import sys
from pathlib import Path

import numpy as np
import pytest

MODELS = Path(__file__).resolve().parents[2] / "benchmarks" / "reproduction"
if not MODELS.exists():
    pytest.skip("the benchmarks are not beside the tests", allow_module_level=True)
sys.path.insert(0, str(MODELS))

import two_gaussians_model  # noqa: E402
from two_gaussians_model import TwoGaussians, n_maxima  # noqa: E402

MODEL = TwoGaussians()
X = MODEL.sample(200, (-3.0, 3.0), np.random.default_rng(0))
GRID = np.linspace(-6.0, 6.0, 41)


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [(20.0, 1), pytest.param(13.0, 1, marks=pytest.mark.slow), pytest.param(8.5, 2, marks=pytest.mark.slow)],
)
def test_the_bound_loses_its_local_optimum(temperature, expected):
    """Figure 1 of the paper, at its temperatures above 1."""
    assert n_maxima(MODEL.surface(X, GRID, temperature)) == expected


def test_the_bound_has_two_optima_at_temperature_one():
    surface = MODEL.surface(X, GRID, 1.0)
    assert n_maxima(surface) == 2
    best = np.unravel_index(surface.argmax(), surface.shape)
    np.testing.assert_allclose(GRID[list(best)], [-3.0, 3.0], atol=0.3)


@pytest.mark.parametrize("start", [(3.0, -3.0), (2.0, -2.0), (0.5, -0.5), (5.0, 0.0)])
def test_annealing_finds_the_better_optimum(start):
    cold, bounds = MODEL.ascend(X, start, np.ones(60))
    annealed, annealed_bounds = MODEL.ascend(X, start, 1.0 / np.r_[np.linspace(20.0, 1.0, 50), np.ones(10)])
    assert cold[-1][0] > cold[-1][1]
    np.testing.assert_allclose(annealed[-1], (-3.0, 3.0), atol=0.3)
    assert annealed_bounds[-1] > bounds[-1] + 10.0


@pytest.mark.parametrize("temperature", [1.0, 3.0, 12.0])
def test_bound_never_falls_at_a_fixed_temperature(temperature):
    for start in ((3.0, -3.0), (0.1, 0.0), (-5.0, 5.0)):
        _, bounds = MODEL.ascend(X, start, np.full(40, 1.0 / temperature))
        assert np.diff(bounds).min() > -1e-9


def test_bound_is_below_the_evidence():
    """Against the evidence by quadrature over both means; and near it, since one label order dominates."""
    x = X[:6]
    grid = np.linspace(-40.0, 40.0, 1201)
    normal = np.exp(-0.5 * (x[:, None] - grid) ** 2) / np.sqrt(2 * np.pi)
    prior = np.exp(-0.005 * grid**2) / np.sqrt(2 * np.pi * 100.0)
    joint = prior[:, None] * prior
    for n in range(len(x)):
        joint = joint * (0.7 * normal[n][:, None] + 0.3 * normal[n])
    evidence = np.log(joint.sum() * (grid[1] - grid[0]) ** 2)
    best = max(MODEL.ascend(x, start, np.ones(200))[1][-1] for start in ((-3, 3), (3, -3), (0, 1)))
    assert evidence - 2.0 < best < evidence


def test_surface_is_the_best_over_what_is_not_shown():
    means = np.array([-2.0, 1.5])
    for rho in (1.0, 0.1):
        grid_bound = MODEL.surface(X, means, 1.0 / rho)[0, 1]
        for scale in (0.3, 0.9, 1.1, 3.0):
            base = MODEL.noise_variance / (rho * len(X) * np.array([0.7, 0.3]))
            assert MODEL.bound(X, means, scale * base, rho) <= grid_bound + 1e-9


def test_example():
    found = doctest.testmod(two_gaussians_model)
    assert found.attempted and not found.failed
