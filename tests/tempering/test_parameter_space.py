"""Constraints: round trips, Jacobians and gradients by finite differences, and references of distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from sklearn_subanneal.tempering import IndependentReference, NormalReference, ParameterSpace

SPACES = {
    "reals": {"x": 3, "y": "real"},
    "positive": {"rate": "positive", "scales": ("positive", 2)},
    "intervals": {"p": (0, 1), "q": ((-2.0, 5.0), 2), "low": (3.0, np.inf), "high": (-np.inf, -1.0)},
    "simplex": {"w": ("simplex", 4), "v": ("simplex", 2), "x": 1},
}


def free(space, values):
    """Values without the last part of each simplex, which the others determine."""
    parts = []
    for name in space.names:
        array = np.ravel(values[name])
        parts.append(array[:-1] if name in ("w", "v") else array)
    return np.concatenate(parts)


def differences(function, z, step=1e-6):
    rows = np.eye(len(z)) * step
    return np.array([(function(z + row) - function(z - row)) / (2.0 * step) for row in rows])


@pytest.mark.parametrize("name", SPACES)
def test_constraints(name):
    space = ParameterSpace(SPACES[name])
    z = np.random.default_rng(0).normal(0.0, 1.5, (5, space.n_parameters))
    values = space.constrained(z)
    assert {one: value.shape[1:] for one, value in values.items()} == space.shapes
    np.testing.assert_allclose(space.unconstrained(values), z, rtol=1e-9, atol=1e-9)
    for point, log_jacobian in zip(z, space.log_jacobian(z), strict=True):
        jacobian = differences(lambda at: free(space, space.constrained(at)), point)
        assert log_jacobian == pytest.approx(np.linalg.slogdet(jacobian)[1], abs=1e-6)


@pytest.mark.parametrize("name", SPACES)
def test_gradients(name):
    space = ParameterSpace(SPACES[name])
    rng = np.random.default_rng(1)
    weights = {one: rng.normal(size=shape) for one, shape in space.shapes.items()}

    def function(z):
        values = space.constrained(z)
        return space.log_jacobian(z) + sum(np.sum(weights[one] * np.sin(values[one])) for one in space.names)

    z = rng.normal(size=space.n_parameters)
    along = {one: weights[one] * np.cos(value) for one, value in space.constrained(z).items()}
    np.testing.assert_allclose(space.gradient(z, along), differences(function, z), rtol=1e-5, atol=1e-6)


def test_centre_of_a_simplex():
    np.testing.assert_allclose(ParameterSpace({"w": ("simplex", 5)}).constrained(np.zeros(4))["w"], 0.2)


def test_values_that_break_constraints():
    space = ParameterSpace({"p": (0, 1), "w": ("simplex", 3)})
    good = {"p": 0.5, "w": [0.2, 0.3, 0.5]}
    for wrong, message in (
        ({"p": 1.5}, r"p must be inside of \(0, 1\)"),
        ({"w": [0.5, 0.5, 0.5]}, "w must be inside of the simplex"),
        ({"w": [0.5, 0.5]}, r"w must have shape \(3,\)"),
        ({"q": 1.0}, "values must be a dict with the names"),
    ):
        with pytest.raises(ValueError, match=message):
            space.unconstrained(good | wrong)


def test_reference_of_distributions():
    """Its density of coordinates integrates to one, and its draws have it."""
    reference = IndependentReference({"rate": stats.gamma(2.0, scale=3.0)})
    total = quad(lambda z: np.exp(reference.log_density(np.array([[z]]))[0]), -30.0, 10.0)[0]
    assert total == pytest.approx(1.0, abs=1e-6)
    draws = reference.sample(np.random.default_rng(0), 4000)
    assert stats.kstest(np.exp(draws[:, 0]), stats.gamma(2.0, scale=3.0).cdf).pvalue > 0.001
    reference = IndependentReference({"p": (stats.beta(0.01, 0.01), 2), "x": stats.norm(1.0, 2.0)})
    draws = reference.sample(np.random.default_rng(0), 2000)
    assert draws.shape == (2000, 3) and np.isfinite(draws).all()
    far = reference.log_density(np.array([[1e6, -1e6, 0.0], [0.0, 0.0, 1.0]]))
    assert far[0] == -np.inf and np.isfinite(far[1])


@pytest.mark.parametrize("low, width", [(0.0, 1.0), (-1.0, 2.0), (3.0, 1e-3), (1e6, 2.0), (-1.0, 1e20)])
def test_values_next_to_the_ends_of_an_interval(low, width):
    space = ParameterSpace({"x": (low, low + width)})
    ends = np.array([low, low + width])
    z = space.unconstrained({"x": np.nextafter(ends, ends[::-1])})
    assert np.isfinite(z).all() and z[0, 0] < z[1, 0]
    np.testing.assert_allclose(space.constrained(z)["x"], ends, rtol=1e-15, atol=1e-300)
    for beyond in (*ends, *np.nextafter(ends, [-np.inf, np.inf]), np.nan):
        with pytest.raises(ValueError, match="x must be inside of"):
            space.unconstrained({"x": beyond})


def test_reference_on_a_shifted_support():
    # Some draws are rounded to an end of the support.
    reference = IndependentReference({"x": stats.beta(0.1, 0.1, -1, 2)})
    z = reference.sample(np.random.default_rng(0), 5000)
    x = reference.space.constrained(z)["x"]
    assert np.isfinite(reference.log_density(z)).all()
    assert np.isfinite(z).all() and (np.abs(x) > 1 - 1e-15).any() and (np.abs(x) <= 1).all()
    # The standard deviation of the distribution.
    assert x.std() == pytest.approx(stats.beta(0.1, 0.1, -1, 2).std(), rel=0.03)


def test_normal_reference():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    reference = NormalReference([1.0, -1.0], covariance)
    points = np.random.default_rng(0).normal(size=(4, 2))
    np.testing.assert_allclose(
        reference.log_density(points), stats.multivariate_normal([1.0, -1.0], covariance).logpdf(points)
    )
    numeric = differences(lambda x: reference.log_density(x[None])[0], points[0])
    np.testing.assert_allclose(reference.gradient(points[0]), numeric, rtol=1e-6)
    np.testing.assert_allclose(np.cov(reference.sample(np.random.default_rng(1), 40_000).T), covariance, atol=0.05)
    with pytest.raises(ValueError, match="positive definite"):
        NormalReference([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="finite mean"):
        NormalReference([0.0, np.nan], np.eye(2))
