"""`weights_`, `means_` and `covariances_` of mixtures, against the textbook formulas of conjugate posteriors."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_subanneal import SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.partitions import PitmanYor

RNG = np.random.default_rng(0)
DISCOUNT = 0.3
REAL = {"mu": 1.0, "kappa": 0.2, "sigma2": 2.0, "nu": 6.0}
PSI = np.array([[4.0, 1.0], [1.0, 3.0]])
PARAMS = {
    "real": REAL,
    "gaussian": {"mu": [1.0, -1.0], "kappa": 0.2, "psi": PSI, "nu": 7.0},
    "count": {"shape": 2.0, "rate": 0.5},
    "boolean": {"alpha": 1.5, "beta": 0.5},
}


def table(n_rows=150):
    """Three clusters of two reals, a count, a boolean, names and dates."""
    group = np.minimum(np.arange(n_rows) % 5, 2)
    return pd.DataFrame(
        {
            "count": RNG.poisson(2.0 + 20.0 * group),
            "x": RNG.normal(size=n_rows) + 20.0 * group,
            "name": np.array(["a", "b", "c"])[group],
            "y": RNG.normal(size=n_rows) - 9.0 * group,
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(900, size=n_rows), "D"),
            "flag": RNG.random(n_rows) < 0.2 + 0.3 * group,
        }
    )


def fit(X, covariance_type):
    # Hyperparameters as given, so that the formulas below are complete.
    unused = "gaussian" if covariance_type == "diag" else "real"
    return SubsampleAnnealedDPMM(
        PitmanYor(1.0, DISCOUNT),
        covariance_type=covariance_type,
        feature_types={"flag": "boolean", "count": "count", "x": "real", "y": "real"},
        feature_params={name: values for name, values in PARAMS.items() if name != unused},
        learn_hyperparameters=False,
        n_chains=2,
        n_draws=6,
        random_state=0,
    ).fit(X)


@pytest.fixture(scope="module", params=["diag", "full"])
def fitted(request):
    # With full covariance the trend of the dates is in the block of the reals.
    X = table() if request.param == "diag" else table().drop(columns="when")
    return X, fit(X, request.param)


def component_labels(model):
    """The components of the training rows in the draw that represents the posterior."""
    ((chain, draw),) = [
        (c, d) for c, draws in enumerate(model._draws) for d, own in enumerate(draws) if own is model._representative
    ]
    return model.posterior_labels_[chain, draw]


def posterior_of_reals(rows, diagonal):
    """Mean and covariance of the predictive t distribution of a normal-inverse-Wishart or -chi-squared posterior."""
    n, d = rows.shape
    if diagonal:
        mu, kappa, nu = np.full(d, REAL["mu"]), REAL["kappa"], REAL["nu"]
        square, free = np.diag(np.full(d, nu * REAL["sigma2"])), nu + n
    else:
        mu, kappa, nu = np.array(PARAMS["gaussian"]["mu"]), 0.2, 7.0
        square, free = PSI.copy(), nu + n - d + 1.0
    centre = rows.mean(axis=0)
    square += (rows - centre).T @ (rows - centre) + kappa * n / (kappa + n) * np.outer(centre - mu, centre - mu)
    covariance = square * (1.0 + 1.0 / (kappa + n)) / free * free / (free - 2.0)
    return (kappa * mu + n * centre) / (kappa + n), np.diag(np.diag(covariance)) if diagonal else covariance


def reference(X, model):
    """Weights, means and covariances of the clusters from the rows of their components."""
    labels, known = component_labels(model), ["count", "x", "y", "flag"]
    sizes = np.bincount(labels)
    means, covariances = np.zeros((len(sizes), 4)), np.zeros((len(sizes), 4, 4))
    for k, n in enumerate(sizes):
        rows = X[labels == k]
        shape, rate = 2.0 + rows["count"].sum(), 0.5 + n
        share = (1.5 + rows["flag"].sum()) / (2.0 + n)
        centre, covariance = posterior_of_reals(rows[["x", "y"]].to_numpy(), model.covariance_type == "diag")
        means[k] = shape / rate, *centre, share
        covariances[k, 0, 0], covariances[k, 3, 3] = shape / rate * (1.0 + 1.0 / rate), share * (1.0 - share)
        covariances[k, 1:3, 1:3] = covariance
    groups, masses = model._groups, sizes - DISCOUNT
    weights = np.array([masses[groups == g].sum() for g in range(model.n_clusters_)])
    centres, spreads = np.zeros((len(weights), 4)), np.zeros((len(weights), 4, 4))
    for g in range(len(weights)):
        of, own = groups == g, masses[groups == g] / weights[g]
        centres[g] = own @ means[of]
        for share, mean, covariance in zip(own, means[of], covariances[of], strict=True):
            spreads[g] += share * (covariance + np.outer(mean - centres[g], mean - centres[g]))
    return weights / weights.sum(), centres, spreads, [list(X.columns).index(name) for name in known]


# Components of one cluster each, two of one, and one that no row belongs to.
@pytest.mark.parametrize("groups", [[0, 1, 2], [0, 1, 0], [1, -1, 0]])
def test_moments_are_those_of_the_posterior(fitted, groups):
    X, model = fitted[0], copy.copy(fitted[1])
    assert len(model._groups) == 3
    model._groups, model.n_clusters_ = np.array(groups), max(groups) + 1
    weights, means, covariances, at = reference(X, model)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-12)
    # Rows are kept in single precision.
    np.testing.assert_allclose(model.means_[:, at], means, rtol=1e-6, atol=1e-6)
    full = model.covariance_type == "full"
    found = model.covariances_[:, at][:, :, at] if full else model.covariances_[:, at]
    expected = covariances if full else np.diagonal(covariances, axis1=1, axis2=2)
    assert model.covariances_.shape == (model.n_clusters_, X.shape[1], X.shape[1])[: 3 if full else 2]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


def test_columns_without_a_mean_have_none(fitted):
    _, model = fitted
    others = np.array([name in ("name", "when") for name in model.feature_names_in_])
    assert np.isnan(model.means_[:, others]).all() and not np.isnan(model.means_[:, ~others]).any()
    missing = np.isnan(model.covariances_[0])
    expected = others if model.covariance_type == "diag" else others[:, None] | others
    np.testing.assert_array_equal(missing, expected)


def test_weights_are_the_probabilities_of_a_row_without_cells(fitted):
    X, model = fitted
    empty = X.iloc[:1].astype(object)
    empty.iloc[0] = None
    np.testing.assert_allclose(model.weights_, model.predict_proba(empty)[0], rtol=1e-12)


def test_indicators_and_streams():
    X = RNG.normal(size=(120, 2)) + 30.0 * (np.arange(120) % 3)[:, None]
    X[::7, 1] = np.nan
    model = SubsampleAnnealedDPMM(missing_indicator=[1], n_chains=2, n_draws=2, random_state=0).fit(X)
    centres = np.array([np.nanmean(X[model.labels_ == k], axis=0) for k in range(3)])
    np.testing.assert_allclose(model.means_, centres, atol=0.5)
    model.partial_fit(X[:40])
    assert len(model.weights_) == model.predict_proba(X).shape[1] == len(model.means_)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)


def test_documents_have_weights_alone():
    X = RNG.poisson(np.kron(np.eye(2), np.full((30, 4), 3.0)))
    model = TreeGuidedNRMM(feature_types="bag-of-words", n_chains=1, n_draws=1, random_state=0).fit(X)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    with pytest.raises(AttributeError, match="means_ are those of tables"):
        _ = model.means_


@pytest.mark.parametrize("name", ["weights_", "means_", "covariances_"])
def test_models_that_are_not_fitted_have_none(name):
    assert not hasattr(SubsampleAnnealedDPMM(), name)
    with pytest.raises(NotFittedError):
        getattr(SubsampleAnnealedDPMM(), name)
