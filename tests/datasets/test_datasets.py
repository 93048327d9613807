"""Data sets: the bundled table, and generators whose stated truth is the truth of their tables."""

import builtins

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from sklearn_subanneal.columns.binding import KINDS
from sklearn_subanneal.datasets import load_hospitals, make_gaussian_mixture, make_planted_views
from sklearn_subanneal.tables.schema import read_table


@pytest.fixture
def without_pandas(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_hospitals():
    hospitals = load_hospitals(as_frame=False)
    assert hospitals.data.shape == (307, 63)
    assert hospitals.data.dtype == np.float64
    assert np.isfinite(hospitals.data).all()
    assert len(set(hospitals.names.tolist())) == 307
    assert list(hospitals.descriptions) == hospitals.feature_names
    assert all(hospitals.descriptions.values())
    quality = hospitals.data[:, hospitals.feature_names.index("QUAL_SCORE")]
    assert (quality.min(), quality.max()) == (69.5, 95.6)
    akron = hospitals.data[hospitals.names.tolist().index("Akron OH")]
    assert (akron[0], akron[-1]) == (3510, 76.9)
    assert "Dartmouth Atlas of Health Care 2008" in hospitals.DESCR


def test_hospitals_as_a_frame():
    pd = pytest.importorskip("pandas")
    hospitals, arrays = load_hospitals(), load_hospitals(as_frame=False)
    assert isinstance(hospitals.data, pd.DataFrame)
    assert hospitals.data.columns.tolist() == hospitals.feature_names
    assert hospitals.data.index.tolist() == hospitals.names.tolist()
    np.testing.assert_array_equal(hospitals.data.to_numpy(), arrays.data)


def test_without_pandas(without_pandas):
    assert isinstance(load_hospitals().data, np.ndarray)
    assert isinstance(make_planted_views(10, 4, (2,)).data, np.ndarray)
    with pytest.raises(ImportError, match="as_frame=True needs pandas"):
        make_planted_views(10, 4, (2,), as_frame=True)


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_gaussian_mixture_has_the_density_it_states(covariance_type):
    X, labels, log_density = make_gaussian_mixture(
        40_000, 2, 3, covariance_type=covariance_type, separation=20.0, random_state=0
    )
    assert X.shape == (40_000, 2)
    # Far apart, each cluster's own moments give the truth back.
    scores = []
    for k in range(3):
        members = X[labels == k]
        normal = stats.multivariate_normal(members.mean(axis=0), np.cov(members.T))
        scores.append(np.log(np.mean(labels == k)) + normal.logpdf(X))
        correlation = np.corrcoef(members.T)[0, 1]
        assert (abs(correlation) < 0.05) == (covariance_type == "diag")
    assert np.abs(logsumexp(scores, axis=0) - log_density).mean() < 0.02


def test_gaussian_mixture_is_a_density():
    # Importance sampling from a wide normal integrates the stated density at the planted rows' own scale.
    X, _, log_density = make_gaussian_mixture(50_000, 1, 4, random_state=3)
    order = np.argsort(X[:, 0])
    integral = np.trapezoid(np.exp(log_density[order]), X[order, 0])
    assert integral == pytest.approx(1, abs=0.01)


def test_generators_are_reproducible():
    for seed in (5, np.random.SeedSequence(5)):
        for first, second in zip(
            make_gaussian_mixture(50, 3, 2, random_state=seed),
            make_gaussian_mixture(50, 3, 2, random_state=5),
            strict=True,
        ):
            np.testing.assert_array_equal(first, second)
    first = make_planted_views(50, 8, (2, 3), missing=0.2, random_state=np.random.default_rng(5))
    second = make_planted_views(50, 8, (2, 3), missing=0.2, random_state=5)
    np.testing.assert_array_equal(first.data, second.data)
    other = make_planted_views(50, 8, (2, 3), missing=0.2, random_state=6)
    assert not np.array_equal(first.data, other.data, equal_nan=True)


def test_generators_give_the_numbers_they_always_gave():
    X, labels, log_density = make_gaussian_mixture(6, 2, 3, random_state=1)
    np.testing.assert_array_equal(labels, [2, 2, 1, 0, 0, 2])
    np.testing.assert_allclose(X[0], [0.05388443770883875, 4.787441457019742], rtol=1e-12)
    np.testing.assert_allclose(log_density.sum(), -20.849040603071526, rtol=1e-12)
    views = make_planted_views(6, 8, (2, 3), random_state=1)
    np.testing.assert_allclose(
        views.data[0],
        [3.6771558094634798, -1.0444413615950943, 0.3150412960100115, 2.6977288522904783, 3.0, 1.0, 1.0, 1.0],
        rtol=1e-12,
    )
    np.testing.assert_allclose(views.log_density.sum(), -55.9995529967314, rtol=1e-12)


def test_gaussian_mixture_refuses_other_covariances():
    with pytest.raises(ValueError, match='covariance_type must be "full" or "diag", got \'tied\''):
        make_gaussian_mixture(10, covariance_type="tied")


def test_planted_views_have_the_density_they_state():
    views = make_planted_views(60_000, 4, (3,), random_state=2)
    assert views.feature_types == ["real", "real", "categorical", "boolean"]
    data, labels = views.data, views.row_labels[:, 0]
    scores = np.zeros((3, len(data)))
    for k in range(3):
        members = data[labels == k]
        scores[k] = np.log(np.mean(labels == k))
        for j in (0, 1):
            scores[k] += stats.norm(members[:, j].mean(), members[:, j].std()).logpdf(data[:, j])
        for j in (2, 3):
            frequencies = np.bincount(members[:, j].astype(int), minlength=5) / len(members)
            scores[k] += np.log(np.maximum(frequencies, 1e-6))[data[:, j].astype(int)]
    assert np.abs(logsumexp(scores, axis=0) - views.log_density).mean() < 0.02


def test_planted_views_are_independent_clusterings():
    views = make_planted_views(5000, 16, (2, 3), random_state=0)
    np.testing.assert_array_equal(views.column_labels, np.arange(16) % 2)
    assert views.feature_types == ["real"] * 4 + ["categorical"] * 2 + ["boolean"] * 2 + (
        ["real"] * 4 + ["categorical"] * 2 + ["boolean"] * 2
    )
    assert views.row_labels.max(axis=0).tolist() == [1, 2]
    for j in range(16):
        own, other = views.column_labels[j], 1 - views.column_labels[j]
        explained = [_between(views.data[:, j], views.row_labels[:, view]) for view in (own, other)]
        assert explained[1] < 0.005
        if views.feature_types[j] == "real":
            assert explained[0] > 0.05


def _between(values, labels):
    """Share of the variance that lies between clusters."""
    means = np.array([values[labels == k].mean() for k in range(labels.max() + 1)])
    return means[labels].var() / values.var()


def test_planted_views_with_missing_cells():
    pd = pytest.importorskip("pandas")
    complete = make_planted_views(2000, 12, (2, 3), random_state=4)
    views = make_planted_views(2000, 12, (2, 3), missing=0.25, random_state=4)
    hidden = np.isnan(views.data)
    assert hidden.mean() == pytest.approx(0.25, abs=0.02)
    np.testing.assert_array_equal(views.data[~hidden], complete.data[~hidden])
    np.testing.assert_array_equal(views.log_density, complete.log_density)
    framed = make_planted_views(2000, 12, (2, 3), missing=0.25, as_frame=True, random_state=4)
    assert isinstance(framed.data, pd.DataFrame)
    assert framed.data.columns[:2].tolist() == ["c000", "c001"]
    np.testing.assert_array_equal(framed.data.to_numpy(dtype=float), views.data)


def test_planted_views_read_as_they_say():
    from sklearn.base import BaseEstimator

    views = make_planted_views(300, 12, (2, 3), missing=0.1, random_state=0)
    table, _ = read_table(BaseEstimator(), views.data, views.feature_types, types=KINDS)
    assert table.kinds == views.feature_types
