"""The kernel that "auto" takes, and where chains start."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import TemperedGaussianProcessRegressor
from sklearn_subanneal.gaussian_process import SparseRegression, StationaryModel
from sklearn_subanneal.gaussian_process.hyperparameter_sampling import make_model, most_probable, number_of_draws

PRIORS = {"length_scale_prior": (2.0, 2.0), "signal_prior": (1.5, 0.1), "noise_prior": (2.0, 2.0)}


def function_of(kernel, n=200, seed=0):
    """A draw of the function, with little noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 1))
    model = StationaryModel(X, np.zeros(n), kernel=kernel)
    K = model.covariance(np.log([0.5, 2.0, 0.01]), X)
    return X, np.linalg.cholesky(K + 1e-4 * np.eye(n)) @ rng.normal(size=n)


@pytest.mark.parametrize(
    ("kernel", "n_inducing"), [("squared-exponential", None), ("squared-exponential", 60), ("matern-3/2", None)]
)
def test_auto_finds_the_kernel_of_the_data(kernel, n_inducing):
    X, y = function_of(kernel)
    model = make_model("auto", X, y - y.mean(), n_inducing, **PRIORS)
    assert model.kernel == kernel and isinstance(model, SparseRegression) == (n_inducing is not None)
    assert make_model("matern-5/2", X, y, **PRIORS).kernel == "matern-5/2"


def test_one_model_needs_no_climb():
    model = StationaryModel([[0.0]], [1.0])
    model.summit = None
    assert most_probable([model]) is model


def test_the_estimator_says_which():
    X, y = function_of("matern-3/2")
    short = {"n_chains": 1, "n_draws": 5, "n_warmup": 10, "random_state": 0}
    assert TemperedGaussianProcessRegressor(**short).fit(X, y).kernel_ == "matern-3/2"
    model = TemperedGaussianProcessRegressor("squared-exponential", **short).fit(X, y)
    assert model.kernel_ == "squared-exponential"
    with pytest.raises(ValueError, match=r"kernel must be one of 'auto', 'squared-exponential'.*got 'rbf'"):
        TemperedGaussianProcessRegressor("rbf", **short).fit(X, y)


def test_a_chain_starts_at_the_best_of_several_maxima(monkeypatch):
    X, y = function_of("squared-exponential", 40)
    model = StationaryModel(X, y)
    heights = iter([1.0, 3.0, 2.0])
    climbed = [np.full(3, k) for k in range(3)]
    tops = iter(climbed)
    monkeypatch.setattr(model, "climbed", lambda start, rows: (next(tops), next(heights)))
    assert model.initial(np.random.default_rng(0)) is climbed[1]


def test_the_number_of_draws_depends_on_the_rows(monkeypatch):
    X, y = function_of("squared-exponential", 30)
    assert number_of_draws(1000) == 250 and number_of_draws(1001) == 100
    monkeypatch.setattr("sklearn_subanneal.gaussian_process.hyperparameter_sampling.DRAWS_OF_FEW_ROWS", 7)
    model = TemperedGaussianProcessRegressor("squared-exponential", n_chains=2, n_warmup=5, random_state=0)
    assert model.fit(X, y).result_.draws.shape[:2] == (2, 7)
    assert model.set_params(n_draws=3).fit(X, y).result_.draws.shape[:2] == (2, 3)
