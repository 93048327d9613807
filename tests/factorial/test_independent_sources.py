"""Independent components of rows: scaling without noise, the rotation, the two levels of a source."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal.factorial.independent_sources import (
    MOST_EXACT,
    independent_activations,
    principal_directions,
    rotate,
    scaled_directions,
    switched_on,
)


def sums(n=3000, n_components=5, n_features=12, probability=0.3, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    active = rng.random((n, n_components)) < probability
    components = rng.normal(size=(n_components, n_features))
    return active @ components + noise * rng.normal(size=(n, n_features)), components, active


def agreement(activations, active):
    """For each true component, the largest share of rows in which an activation is right."""
    on = activations > 0.5
    return (on[:, None, :] == active.T[None]).mean(axis=2).max(axis=0)


# At 0.21 the excess kurtosis of a source vanishes, at 0.5 its skewness.
@pytest.mark.parametrize("probability", [0.1, 0.2113, 0.35, 0.5, 0.8])
def test_sources_of_sums_are_found(probability):
    X, _, active = sums(probability=probability)
    q = independent_activations(X, 5, np.random.default_rng(0))
    assert q.shape == (5, 3000)
    assert agreement(q, active).min() > 0.97


def test_noise_is_not_a_source():
    """Three sources in twelve dimensions: of five components two start at random."""
    X, _, active = sums(n_components=3, seed=1)
    q = independent_activations(X, 5, np.random.default_rng(0))
    assert agreement(q, active).min() > 0.97
    random = ((q > 0.3) & (q < 0.7)).all(axis=1)
    assert random.sum() == 2


def test_more_components_than_dimensions():
    X, _, _ = sums(n_components=5, n_features=3)
    q = independent_activations(X, 5, np.random.default_rng(0))
    assert ((q > 0.3) & (q < 0.7)).all(axis=1).sum() == 2


def test_scaling_leaves_the_noise_out():
    """Coordinates of rows without noise have a covariance of one, although it is computed from rows with noise."""
    X, components, active = sums(n=200_000, noise=0.6)
    centered = X - X.mean(axis=0)
    signal = active @ components
    scaling = scaled_directions(centered, 5)
    np.testing.assert_allclose(np.cov(scaling @ signal.T), np.eye(5), atol=0.03)


@pytest.mark.parametrize("n_features", [MOST_EXACT - 10, MOST_EXACT + 10])
def test_principal_directions_equal_singular_vectors(n_features):
    X, _, _ = sums(n=600, n_features=n_features)
    centered = X - X.mean(axis=0)
    _, lengths, vectors = np.linalg.svd(centered, full_matrices=False)
    variances, directions = principal_directions(centered, 5)
    np.testing.assert_allclose(variances, lengths[:5] ** 2 / 600, rtol=1e-6)
    np.testing.assert_allclose(np.abs((directions * vectors[:5]).sum(axis=1)), 1.0, atol=1e-6)


def test_rotations_are_orthogonal_and_maximise_the_cumulants():
    X, _, _ = sums()
    centered = X - X.mean(axis=0)
    scaled = scaled_directions(centered, 5) @ centered.T

    def contrast(rotation):
        y = rotation @ scaled
        third, fourth = (y**3).mean(axis=1), (y**4).mean(axis=1) - 3.0 * (y**2).mean(axis=1) ** 2
        return (third**2 / 12.0 + fourth**2 / 48.0).sum()

    rotation = rotate(scaled, np.random.default_rng(0))
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(5), atol=1e-12)
    for j in range(5):
        for k in range(j):
            for angle in (0.05, -0.05):
                turn = np.eye(5)
                turn[[j, k], [j, k]] = np.cos(angle)
                turn[j, k], turn[k, j] = np.sin(angle), -np.sin(angle)
                assert contrast(turn @ rotation) < contrast(rotation)


@pytest.mark.parametrize(("off", "on"), [(0.1, 1.2), (-0.2, -3.0), (0.0, 5.0)])
def test_a_source_is_on_where_it_is_far_from_zero(off, on):
    rng = np.random.default_rng(0)
    active = rng.random(500) < 0.3
    source = np.where(active, on, off) + 0.1 * abs(on) * rng.normal(size=500)
    np.testing.assert_array_equal(switched_on(source), active)
    assert len(switched_on(np.full(4, 2.0))) == 4


def test_rows_without_variance_start_at_random():
    q = independent_activations(np.ones((6, 3)), 2, np.random.default_rng(0))
    assert ((q >= 0.3) & (q <= 0.7)).all()
