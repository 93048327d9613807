"""The kernel that "auto" takes, and where chains start."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, Matern, WhiteKernel

from sklearn_subanneal import Checkpoint, TemperedGaussianProcessRegressor
from sklearn_subanneal.annealing import clock
from sklearn_subanneal.gaussian_process import SparseRegression, StationaryModel, regression_model
from sklearn_subanneal.gaussian_process.hyperparameter_sampling import (
    CHOICE_SHARE,
    make_model,
    most_probable,
    number_of_draws,
)

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
    monkeypatch.setattr(model, "climbed", lambda start, rows, deadline: (next(tops), next(heights)))
    assert model.initial(np.random.default_rng(0)) is climbed[1]


@pytest.fixture
def climbs(monkeypatch):
    """The evaluations of each climb."""
    found, climbed = [], regression_model.GaussianProcessModel.climbed

    class Counted:
        def __init__(self, model):
            self.model = model

        def __getattr__(self, name):
            return getattr(self.model, name)

        def log_likelihood_and_gradient(self, theta, rows=None):
            found[-1] += 1
            return self.model.log_likelihood_and_gradient(theta, rows)

    def counted(model, *arguments):
        found.append(0)
        return climbed(Counted(model), *arguments)

    monkeypatch.setattr(regression_model.GaussianProcessModel, "climbed", counted)
    return found


# Of three kernels: to the summit of each, exact and by points; to the start of a chain; and with points, to see what
# they cost, from the best draw. The summits are known then.
@pytest.mark.parametrize(("n_inducing", "n_least", "n_all"), [(None, 3 + 1, 9 + 3), (10, 6 + 1 + 2, 9 + 12 + 3 + 2)])
def test_climbs_take_a_share_of_the_time(monkeypatch, climbs, n_inducing, n_least, n_all):
    X, y = function_of("matern-3/2", 60)
    model = TemperedGaussianProcessRegressor(n_inducing=n_inducing, n_chains=1, n_draws=2, n_warmup=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = model.fit(X, y).kernel_
        assert len(climbs) == n_all
        climbs.clear()
        assert model.set_params(time_limit=1e6).fit(X, y).kernel_ == kernel and len(climbs) == n_all
        climbs.clear()
        model.set_params(time_limit=1e-9).fit(X, y)
    assert len(climbs) == n_least and max(climbs) < 20
    mean, deviation = model.predict(X, return_std=True)
    assert np.isfinite(mean).all() and (deviation > 0.0).all()
    assert model.score(X, y) > 0.0


@pytest.mark.parametrize("n_inducing", [None, 10])
def test_each_kernel_has_its_part_of_the_time(monkeypatch, climbs, n_inducing):
    X, y = function_of("matern-3/2", 60)
    looks = itertools.count()
    monkeypatch.setattr(clock, "now", lambda: next(looks))
    chosen = make_model("auto", X, y - y.mean(), n_inducing, **PRIORS)
    assert next(looks) == 0 and chosen.climbing_time is None
    # A step takes one second, and so does the look before the first climb, and after each.
    part = CHOICE_SHARE * 300.0 / (3 if n_inducing is None else 6)
    before = next(looks)
    make_model("auto", X, y - y.mean(), n_inducing, time_limit=300.0, **PRIORS)
    n_parts = 3 if n_inducing is None else 6
    assert n_parts * part - n_parts <= next(looks) - before <= n_parts * (part + 3)


def test_what_was_interrupted_finds_its_kernel_again(climbs, tmp_path):
    X, y = function_of("matern-3/2", 60)
    settings = {"n_chains": 1, "n_draws": 2, "n_warmup": 2, "time_limit": 1e-9, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="warm-up"):
        TemperedGaussianProcessRegressor(**settings).set_callbacks(Checkpoint(tmp_path)).fit(X, y)
    assert len(climbs) == 9 + 3


def test_the_kernel_is_a_copy():
    X, y = function_of("matern-3/2", 30)
    kernel = Matern(nu=1.5)
    model = TemperedGaussianProcessRegressor(kernel, n_chains=1, n_draws=3, n_warmup=5, random_state=0).fit(X, y)
    before = model.predict(X + 0.1, return_std=True)
    kernel.nu, kernel.length_scale = 0.5, 100.0
    assert model.kernel_.nu == 1.5
    np.testing.assert_array_equal(model.predict(X + 0.1, return_std=True), before)


@pytest.mark.parametrize("wrap", [lambda kernel: kernel, lambda kernel: kernel + RBF(), lambda kernel: 2.0 * kernel**2])
def test_parts_that_do_not_suit_are_refused(wrap):
    X, y = function_of("matern-3/2", 30)
    short = {"n_chains": 1, "n_draws": 3, "n_warmup": 5, "random_state": 0}
    with pytest.raises(ValueError, match=r"kernel=.* has a CompoundKernel, .* give one of them"):
        TemperedGaussianProcessRegressor(wrap(CompoundKernel([RBF(), RBF(2.0)])), **short).fit(X, y)
    model = TemperedGaussianProcessRegressor(wrap(WhiteKernel()), **short)
    assert np.isfinite(model.fit(X, y).predict(X)).all()
    with pytest.raises(ValueError, match=r"kernel=.* has a WhiteKernel, .* leave it out"):
        model.set_params(n_inducing=10).fit(X, y)


def test_the_number_of_draws_depends_on_the_rows(monkeypatch):
    X, y = function_of("squared-exponential", 30)
    assert number_of_draws(1000) == 250 and number_of_draws(1001) == 100
    monkeypatch.setattr("sklearn_subanneal.gaussian_process.hyperparameter_sampling.DRAWS_OF_FEW_ROWS", 7)
    model = TemperedGaussianProcessRegressor("squared-exponential", n_chains=2, n_warmup=5, random_state=0)
    assert model.fit(X, y).result_.draws.shape[:2] == (2, 7)
    assert model.set_params(n_draws=3).fit(X, y).result_.draws.shape[:2] == (2, 3)
