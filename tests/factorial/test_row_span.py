"""Rows in the span of few singular vectors: bounds and updates are those of all features."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal.factorial import row_span
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.row_span import Rows, singular_vectors


def wide(n=60, n_features=40, n_components=4, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, n_components)) < 0.4) @ rng.normal(size=(n_components, n_features)) + 0.3 * rng.normal(
        size=(n, n_features)
    )
    return X, rng.random((n_components, n))


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (700, 600)])
def test_singular_vectors(shape):
    X = wide(*shape)[0]
    found = singular_vectors(X, 4)
    expected = np.linalg.svd(X, full_matrices=False)[2][:4]
    np.testing.assert_allclose(np.abs(found @ expected.T), np.eye(4), atol=1e-3 if shape[0] == 700 else 1e-8)
    np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-10)
    assert singular_vectors(X[:3], 4).shape == (3, shape[1])


@pytest.mark.parametrize("rho", [1.0, 0.4])
def test_bounds_in_the_span_are_those_of_all_features(rho):
    """Of components with means in the span: after any update, and with learned parameters."""
    X, q = wide()
    rows, settings = Rows.in_span(X, 4), FactorialSettings(4)
    inside, statistics = settings.start(rows, q)
    for _ in range(3):
        lifted, of_all = rows.lift(inside), Rows.of(X).statistics(q)
        assert lifted.means.shape == (4, 40) and inside.means.shape == (4, 4)
        assert inside.bound(statistics, rho) == pytest.approx(lifted.bound(of_all, rho), rel=1e-12)
        assert inside.squared_error(statistics) == pytest.approx(lifted.squared_error(of_all), rel=1e-12)
        np.testing.assert_allclose(inside.activate(rows.values, q, rho), lifted.activate(X, q, rho), rtol=1e-9)
        np.testing.assert_allclose(inside.log_partition([1.0, 2.0]), lifted.log_partition([1.0, 2.0]))
        settings.improve(inside, statistics, rho)
    # The optimum of all features is at least as high.
    best = rows.lift(inside)
    settings.improve(best, Rows.of(X).statistics(q), rho)
    assert best.bound(Rows.of(X).statistics(q), rho) > inside.bound(statistics, rho)


def test_all_features_are_a_span():
    X, q = wide(n_features=4)
    settings = FactorialSettings(4)
    plain, statistics = settings.start(X, q)
    turned, of_turned = settings.start(Rows.in_span(X, 4), q)
    assert plain.bound(statistics) == pytest.approx(turned.bound(of_turned), rel=1e-12)
    assert Rows.in_span(X, 4).unexplained() == pytest.approx(0.0, abs=1e-9)


def test_rows_can_be_chosen():
    X, q = wide()
    rows = Rows.in_span(X, 4)
    some = rows[::7]
    assert len(some) == 9 and some.n_features == 40
    assert some.statistics(q[:, ::7]).square == pytest.approx((X[::7] ** 2).sum())
    outside = X - X @ rows.basis.T @ rows.basis
    assert rows.unexplained() == pytest.approx((outside**2).sum())
    assert Rows.of(rows) is rows and Rows.of(X).unexplained() == 0.0


def test_float32_stays(monkeypatch):
    X = wide()[0].astype(np.float32)
    rows = Rows.in_span(X, 4)
    assert rows.values.dtype == np.float32 and rows.squares.dtype == np.float64
    monkeypatch.setattr(row_span, "MOST_EXACT", 10)
    again = Rows.in_span(X, 4)
    np.testing.assert_allclose(again.unexplained(), rows.unexplained(), rtol=1e-3)
