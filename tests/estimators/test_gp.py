"""TemperedGaussianProcessRegressor: its posterior, predictions, and bad input."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator
from support.regression_tables import table

from sklearn_subanneal import TemperedGaussianProcessRegressor
from sklearn_subanneal.annealing import clock
from sklearn_subanneal.diagnostics import effective_sample_size
from sklearn_subanneal.gaussian_process import StationaryModel, averaged_regression
from sklearn_subanneal.gaussian_process.regression_model import JITTER

# The priors of the paper, which are those of StationaryModel.
PAPER = {"kernel": "squared-exponential", "length_scale_prior": (0.5, 1.0), "signal_prior": (4.0, 1.0)}
SHORT = {"n_chains": 2, "n_draws": 20, "n_warmup": 20, "random_state": 0}


def test_a_draw_predicts_as_scikit_learn_does():
    X, y = table()
    model = TemperedGaussianProcessRegressor(n_averaged=1, **SHORT).fit(X, y)
    theta, _ = model._regression.components[0]
    scale, y_scale = X.std(axis=0), y.std()
    kernel = ConstantKernel(np.exp(2 * theta[-2]) * y_scale**2) * RBF(np.exp(theta[:-2]) * scale)
    noise = (np.exp(2 * theta[-1]) + JITTER) * y_scale**2
    other = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, y - y.mean())
    rows = table(7, seed=1)[0]
    mean, deviation = model.predict(rows, return_std=True)
    expected, expected_deviation = other.predict(rows, return_std=True)
    np.testing.assert_allclose(mean, expected + y.mean(), rtol=1e-6)
    np.testing.assert_allclose(deviation, expected_deviation, rtol=1e-5)
    np.testing.assert_allclose(
        model.predict(rows, return_cov=True)[1], other.predict(rows, return_cov=True)[1], atol=1e-6
    )
    assert model.log_marginal_likelihood(theta) == pytest.approx(other.log_marginal_likelihood(kernel.theta))
    densities = stats.norm(mean, np.sqrt(deviation**2 + noise)).logpdf(y[:7])
    np.testing.assert_allclose(model.log_predictive_density(rows, y[:7]), densities, rtol=1e-8)
    lower, upper = model.predict_interval(rows, 0.8).T
    np.testing.assert_allclose(upper, mean + stats.norm.ppf(0.9) * np.sqrt(deviation**2 + noise), rtol=1e-6)
    assert (lower < upper).all()


def test_averages_over_draws_have_the_spread_of_their_means():
    X, y = table(12)
    model = TemperedGaussianProcessRegressor(n_averaged=6, **SHORT).fit(X, y)
    rows = table(5, seed=1)[0]
    means, covariances = model._regression.moments(rows, True)
    second = (covariances + means[:, :, None] * means[:, None, :]).mean(axis=0)
    expected = second - np.outer(means.mean(axis=0), means.mean(axis=0))
    expected *= model._regression.standardization.y_scale**2
    # Large against the tolerance below.
    assert means.std(axis=0).min() > 1e-3
    np.testing.assert_allclose(model.predict(rows, return_cov=True)[1], expected, atol=1e-9)
    np.testing.assert_allclose(model.predict(rows, return_std=True)[1], np.sqrt(np.diag(expected)), rtol=1e-6)


@pytest.mark.parametrize(
    ("sampler", "inner"),
    [
        ("none", "guided-hmc"),
        ("none", "hmc"),
        *((sampler, "mh") for sampler in ("spt", "tt")),
        *(pytest.param(sampler, "mh", marks=pytest.mark.slow) for sampler in ("none", "stt", "pt")),
        *(pytest.param(sampler, "hmc", marks=pytest.mark.slow) for sampler in ("spt", "stt", "pt", "tt")),
    ],
)
def test_samplers_agree(sampler, inner):
    """A pilot of each: predictions are near the truth, and near one another's."""
    X, y = table(40)
    model = TemperedGaussianProcessRegressor(sampler=sampler, inner=inner, n_chains=2, n_draws=60, random_state=0)
    model.fit(X, y)
    rows = np.column_stack([np.linspace(-2.5, 2.5, 9), np.zeros(9)])
    np.testing.assert_allclose(model.predict(rows), 10.0 + 3.0 * np.sin(rows[:, 0]), atol=0.5)
    assert model.result_.draws.shape == (2, 60, 4)
    assert set(model.posterior_hyperparameters_) == {"length_scale", "signal", "noise"}
    assert model.posterior_hyperparameters_["length_scale"].shape == (2, 60, 2)


@pytest.mark.parametrize(("n_draws", "n_grid"), [(300, 19), pytest.param(400, 31, marks=pytest.mark.slow)])
def test_posterior_of_hyperparameters_is_right(n_draws, n_grid):
    """One feature, three parameters: moments by a grid."""
    X, y = table(8, 1)
    # Narrow priors: with wide ones there is a second mode, in which all is noise, that few draws visit.
    model = TemperedGaussianProcessRegressor(n_draws=n_draws, **PAPER, random_state=0).fit(X, y)
    target = model._regression.model
    axes = [np.linspace(-3.0, 4.5, n_grid), np.linspace(-1.5, 3.0, n_grid), np.linspace(-6.0, 1.5, n_grid)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    log_weights = np.array([target.log_prior(theta) + target.log_likelihood(theta) for theta in grid])
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ grid
    deviation = np.sqrt(weights @ (grid - mean) ** 2)
    error = (
        (model.result_.draws.mean(axis=(0, 1)) - mean) / deviation * np.sqrt(effective_sample_size(model.result_.draws))
    )
    assert np.abs(error).max() < 4.5
    np.testing.assert_allclose(model.result_.draws.std(axis=(0, 1)), deviation, rtol=0.15)


def two_explanations():
    """A slow wave with a ripple, which a short length scale follows and a long one takes for noise."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0.0, 1.0, 30))
    y = np.sin(1.4 * np.pi * x) + 0.3 * np.sin(12.0 * np.pi * x) + 0.1 * rng.normal(size=30)
    return ((x - x.mean()) / x.std())[:, None], (y - y.mean()) / y.std()


def short_scales(**parameters):
    """Whether draws are in the mode of short length scales, and how often each chain goes from one to the other."""
    model = TemperedGaussianProcessRegressor(random_state=0, **PAPER, **parameters)
    result = model.fit(*two_explanations()).result_
    short = result.draws[..., 0] < -1.0
    return short, np.abs(np.diff(short.astype(int), axis=1)).sum(axis=1)


TEMPERED = {"sampler": "pt", "inner": "mh", "n_levels": 6, "min_inverse_temperature": 0.05}


@pytest.mark.slow
def test_tempering_goes_between_two_explanations():
    _, crossings = short_scales(n_draws=150)
    assert (crossings == 0).sum() >= 3
    _, crossings = short_scales(n_chains=2, n_draws=400, n_warmup=150, **TEMPERED)
    assert crossings.min() >= 4


@pytest.mark.slow
def test_two_explanations_have_their_share():
    """By the sum over a grid."""
    model = StationaryModel(*two_explanations())
    axes = [np.linspace(-4.0, 2.5, 40), np.linspace(-1.5, 2.0, 13), np.linspace(-5.0, 1.0, 20)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    log_weights = np.array([model.log_prior(theta) + model.log_likelihood(theta) for theta in grid])
    weights = np.exp(log_weights - log_weights.max())
    share = weights[grid[:, 0] < -1.0].sum() / weights.sum()
    assert 0.7 < share < 0.9
    short, crossings = short_scales(n_draws=3000, **TEMPERED)
    # Some 100 visits a chain to the rarer mode: the standard error is about 0.02.
    assert abs(short.mean() - share) < 0.08 and crossings.min() >= 50


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "squared-exponential", "n_warmup": 5, "n_draws": 3, "n_averaged": 3},
        pytest.param({"n_warmup": 15, "n_draws": 15}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_checks_of_scikit_learn(params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for result in check_estimator(TemperedGaussianProcessRegressor(n_chains=1, **params), on_fail=None):
            assert result["status"] in ("passed", "skipped"), (result["check_name"], result["exception"])
            assert result["status"] == "passed" or "array_api" in result["check_name"]


def test_same_for_any_number_of_jobs_and_pickled():
    X, y = table()
    one, two = (TemperedGaussianProcessRegressor(n_jobs=n, **SHORT).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.result_.draws, two.result_.draws)
    assert np.array_equal(pickle.loads(pickle.dumps(one)).predict(X), two.predict(X))
    assert one.sample_y(X[:3], 4).shape == (3, 4)


def test_draws_of_the_function_have_its_moments_and_agree_at_equal_rows():
    X, y = table()
    model = TemperedGaussianProcessRegressor(**SHORT).fit(X, y)
    # At some rows twice: then the covariance is singular.
    rows = np.concatenate([X[:4], X[:4] + 0.1, X[:4]])
    mean, covariance = model.predict(rows, return_cov=True)
    draws, n = model.sample_y(rows, 20_000), 20_000
    assert np.allclose(draws[:4], draws[8:], atol=1e-5 * np.sqrt(covariance.max()))
    variances = covariance.diagonal()
    assert (np.abs(draws.mean(axis=1) - mean) < 5 * np.sqrt(variances / n)).all()
    # Fourth moments of a mixture of normals are above those of a normal.
    noise = np.sqrt(3.0 * np.outer(variances, variances) / n)
    assert (np.abs(np.cov(draws) - covariance) < 5 * noise).all()


def test_kernels_of_scikit_learn():
    X, y = table(40)
    model = TemperedGaussianProcessRegressor(Matern([1.0, 1.0], nu=2.5), n_chains=2, n_draws=40, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.9
    assert model.posterior_hyperparameters_["theta"].shape == (2, 40, 2)


@pytest.mark.slow
def test_grid_search():
    X, y = table()
    search = GridSearchCV(TemperedGaussianProcessRegressor(**SHORT), {"sampler": ["none", "spt"]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.5


def test_duplicates_and_constants():
    X, y = table(12)
    doubled = TemperedGaussianProcessRegressor(**SHORT).fit(np.vstack([X, X]), np.append(y, y))
    assert np.isfinite(doubled.predict(X)).all()
    constant = TemperedGaussianProcessRegressor(**SHORT).fit(X, np.full(12, 5.0))
    mean, deviation = constant.predict(X, return_std=True)
    np.testing.assert_allclose(mean, 5.0, atol=1e-6)
    assert np.isfinite(deviation).all()
    flat = TemperedGaussianProcessRegressor(**SHORT).fit(np.column_stack([X, np.ones(12)]), y)
    assert np.isfinite(flat.predict(np.ones((1, 3)))).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise_prior": (0.0, 1.0)}, "noise_prior"),
        ({"signal_prior": (1.0,)}, "signal_prior"),
        ({"length_scale_prior": (0.0, 0.0)}, "length_scale_prior"),
        ({"kernel": "rbf"}, "kernel must be"),
        ({"sampler": "gibbs"}, "sampler"),
        ({"min_inverse_temperature": 2.0}, "min_inverse_temperature"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"sampler": "none", "n_levels": 5}, "have no effect with sampler='none'"),
        ({"sampler": "none", "min_inverse_temperature": 0.1}, "choose sampler='pt' or 'spt'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TemperedGaussianProcessRegressor(**SHORT).set_params(**parameters).fit(*table(10))


def test_a_time_limit_leaves_a_usable_model():
    X, y = table(30)
    model = TemperedGaussianProcessRegressor(n_chains=2, time_limit=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"ended the warm-up of 2 of 2 chains, after 0% of it"):
        model.fit(X, y)
    assert model.result_.draws.shape[1] == 1
    mean, deviation = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert (deviation > 0.0).all()


def test_the_trace_has_the_draws_that_are_kept(monkeypatch):
    X, y = table(30)
    # Chains run one after the other by one clock, and get slower.
    looks = itertools.count()
    monkeypatch.setattr(clock, "now", lambda: 1e-4 * next(looks) ** 2)
    model = TemperedGaussianProcessRegressor("matern-3/2", n_chains=3, n_draws=500, time_limit=2.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    n_draws = model.result_.draws.shape[1]
    assert n_draws < 500 and model.trace_.shape == (3 * n_draws,)
    np.testing.assert_array_equal(model.trace_["chain"], np.repeat([0, 1, 2], n_draws))
    np.testing.assert_array_equal(model.trace_["sweep"], np.tile(np.arange(n_draws), 3))
    np.testing.assert_array_equal(model.trace_["log_joint"], model.result_.log_density.ravel())


@pytest.mark.parametrize(
    "question", ["predict", "sample_y", "predict_interval", "log_predictive_density", "log_marginal_likelihood"]
)
def test_an_unfitted_model_says_so(question):
    X, y = table(10)
    given = {"log_predictive_density": (X, y), "log_marginal_likelihood": ()}.get(question, (X,))
    with pytest.raises(NotFittedError):
        getattr(TemperedGaussianProcessRegressor(), question)(*given)


@pytest.mark.parametrize("power", [-478, -560, -990])
def test_numbers_too_small_for_their_squares(power):
    """The answers are the same in other units, that of which variances are zero, too."""
    X, y = table(20)
    expected, small = TemperedGaussianProcessRegressor(**SHORT).fit(X, y), 2.0**power
    densities = expected.log_predictive_density(X, y) - power * np.log(2.0)
    model = TemperedGaussianProcessRegressor(**SHORT).fit(X * small, y * small)
    np.testing.assert_allclose(model.log_predictive_density(X * small, y * small), densities, rtol=1e-9)
    np.testing.assert_allclose(model.predict_interval(X * small), expected.predict_interval(X) * small, rtol=1e-6)
    for ours, theirs in zip(
        model.predict(X * small, return_std=True), expected.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(ours, theirs * small, rtol=1e-6)
    ours, theirs = (own.sample_y(rows, 5, random_state=0) for own, rows in ((model, X * small), (expected, X)))
    np.testing.assert_allclose(ours, theirs * small, rtol=1e-6)


@pytest.mark.parametrize("kernel", ["matern-3/2", RBF()], ids=["own", "of scikit-learn"])
def test_many_rows_are_predicted_some_at_a_time(monkeypatch, kernel):
    X, y = table(30)
    model = TemperedGaussianProcessRegressor(kernel, **SHORT).fit(X, y)
    new = np.random.default_rng(0).uniform(-3.0, 3.0, (23, 2))
    targets = np.linspace(-1.0, 1.0, 23)

    def answers():
        means, deviations = model.predict(new, return_std=True)
        return (
            model.predict(new),
            means,
            deviations,
            model.predict_interval(new),
            model.log_predictive_density(new, targets),
        )

    expected, rows, covariance = answers(), [], model._regression.model.covariance
    monkeypatch.setattr(averaged_regression, "PIECE", 5)

    def watched(theta, X, Y=None):
        rows.append(len(X if Y is None else Y))
        return covariance(theta, X, Y)

    monkeypatch.setattr(model._regression.model, "covariance", watched)
    for ours, theirs in zip(answers(), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    assert max(rows) == 5
    np.testing.assert_allclose(model.predict(new, return_cov=True)[0], expected[0], rtol=1e-9, atol=1e-9)
    assert max(rows) == 23


def test_bad_data():
    X, y = table(10)
    model = TemperedGaussianProcessRegressor(**SHORT)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.append(y[:-1], np.nan))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2.0, np.nan, X), y)
    assert not hasattr(model, "result_")
    model.fit(X, y)
    with pytest.raises(ValueError, match="return_std and return_cov must not both be True"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(X, 1.5)
    with pytest.raises(ValueError, match="theta"):
        model.log_marginal_likelihood([0.0])


def test_a_kernel_that_is_not_positive_definite_is_never_accepted():
    class Indefinite(WhiteKernel):
        def __call__(self, X, Y=None, eval_gradient=False):
            K = -np.ones((len(X), len(X if Y is None else Y)))
            return (K, np.zeros((*K.shape, 1))) if eval_gradient else K

    with pytest.raises(ValueError, match="no mass"):
        TemperedGaussianProcessRegressor(Indefinite(), noise_prior=(2.0, 2000.0), **SHORT).fit(*table(10))
