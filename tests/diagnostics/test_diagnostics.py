"""Convergence diagnostics against ArviZ and theory; Geweke's test on correct and on wrong samplers."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import kstest

from sklearn_subanneal.diagnostics import (
    GewekeResult,
    autocorrelation_time,
    effective_sample_size,
    geweke_test,
    monte_carlo_error,
    partition_traces,
    rank_normalized_rhat,
    summary,
)
from sklearn_subanneal.posterior import representative_draw, variation_of_information

DIAGNOSTICS = [rank_normalized_rhat, effective_sample_size, monte_carlo_error]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def autoregressive(n_chains, n_draws, correlation, rng):
    """Stationary chains x_t = correlation * x_{t-1} + noise, of variance 1."""
    noise = rng.normal(size=(n_chains, n_draws)) * np.sqrt(1 - correlation**2)
    draws = np.empty((n_chains, n_draws))
    draws[:, 0] = rng.normal(size=n_chains)
    for t in range(1, n_draws):
        draws[:, t] = correlation * draws[:, t - 1] + noise[:, t]
    return draws


# R-hat and effective sample size

CASES = [(4, 500, 0.0, 0), (2, 333, 0.9, 0), (4, 200, -0.6, 0), (3, 250, 0.5, 1), (8, 64, 0.99, 0)]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("n_chains, n_draws, correlation, shift", CASES)
def test_agrees_with_arviz(n_chains, n_draws, correlation, shift, rng):
    arviz = pytest.importorskip("arviz")
    if not arviz.__version__.startswith("0."):
        pytest.skip("ArviZ 1 takes arrays in another way")
    draws = autoregressive(n_chains, n_draws, correlation, rng) + shift * np.arange(n_chains)[:, None]
    assert rank_normalized_rhat(draws) == pytest.approx(float(arviz.rhat(draws)), rel=1e-8)
    assert monte_carlo_error(draws) == pytest.approx(float(arviz.mcse(draws)), rel=1e-8)
    for kind in ("bulk", "tail", "mean"):
        expected = float(arviz.ess(draws, method=kind))
        assert effective_sample_size(draws, kind=kind) == pytest.approx(expected, rel=1e-8)


def test_agrees_with_recorded_values_of_arviz():
    draws = np.cumsum(np.sin(np.arange(1, 401) ** 2)).reshape(4, 100)
    values = [rank_normalized_rhat(draws), *(effective_sample_size(draws, kind) for kind in ("bulk", "tail", "mean"))]
    expected = [1.3904226166500637, 9.362167099374082, 15.353239786304893, 10.096939830752284, 0.8471218607787923]
    np.testing.assert_allclose([*values, monte_carlo_error(draws)], expected, rtol=1e-9)


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.8, 0.95])
def test_autocorrelation_time_of_an_autoregression(correlation, rng):
    expected = (1 + correlation) / (1 - correlation)
    draws = autoregressive(4, 20_000, correlation, rng)
    assert autocorrelation_time(draws) == pytest.approx(expected, rel=0.15)
    assert autocorrelation_time(draws[0]) == pytest.approx(expected, rel=0.25)
    assert effective_sample_size(draws, kind="mean") == pytest.approx(80_000 / expected, rel=0.15)


def test_rhat_sees_chains_apart_in_place_or_spread(rng):
    draws = rng.normal(size=(4, 500))
    assert rank_normalized_rhat(draws) < 1.01
    assert rank_normalized_rhat(draws + [[0], [0], [0], [2]]) > 1.2
    assert rank_normalized_rhat(draws * [[1], [1], [1], [4]]) > 1.1  # the folded part alone sees it


def test_rhat_of_one_chain_compares_its_halves(rng):
    draws = rng.normal(size=(1, 600))
    assert rank_normalized_rhat(draws) < 1.02
    assert rank_normalized_rhat(draws + np.linspace(0, 4, 600)) > 1.2


def test_trailing_axes_are_diagnosed_one_by_one(rng):
    draws = rng.normal(size=(3, 40, 2, 5)).cumsum(axis=1)
    calls = [*DIAGNOSTICS, autocorrelation_time, lambda draws: effective_sample_size(draws, kind="tail")]
    for diagnostic in calls:
        together = diagnostic(draws)
        assert together.shape == (2, 5)
        np.testing.assert_allclose(together[1, 3], diagnostic(draws[..., 1, 3]), rtol=1e-10)
        assert np.ndim(diagnostic(draws[..., 0, 0])) == 0


def test_constant_and_missing_draws(rng):
    constant = np.full((2, 50), 3.0)
    assert np.isnan(rank_normalized_rhat(constant))
    assert np.isnan(effective_sample_size(constant)) and np.isnan(effective_sample_size(constant, kind="tail"))
    assert np.isnan(autocorrelation_time(constant))
    assert monte_carlo_error(constant) == 0.0
    assert rank_normalized_rhat(constant * [[1], [2]]) == np.inf
    draws = rng.normal(size=(2, 50, 2))
    draws[1, 7, 0] = np.nan
    for diagnostic in (*DIAGNOSTICS, autocorrelation_time):
        assert np.isnan(diagnostic(draws)).tolist() == [True, False]
        assert np.isnan(diagnostic(np.zeros((2, 3))))
    assert np.isnan(effective_sample_size(draws, kind="tail")).tolist() == [True, False]


def test_a_tail_without_draws_is_left_out(rng):
    draws = (rng.random((4, 300)) < 0.5).astype(float)  # no draw is above the 95 % quantile
    assert 600 < effective_sample_size(draws, kind="tail") < 2400


@pytest.mark.parametrize("n_draws", [4, 5, 6, 7])
def test_few_draws_are_enough(n_draws, rng):
    draws = rng.normal(size=(2, n_draws))
    for diagnostic in DIAGNOSTICS:
        assert np.isfinite(diagnostic(draws))


@pytest.mark.parametrize("n_draws", range(4, 14))
def test_few_draws_tell_chains_that_are_apart(n_draws, rng):
    draws = rng.normal(size=(4, n_draws, 200))
    apart = draws + 10 * np.arange(4)[:, None, None]
    for kind in ("bulk", "mean"):
        assert (effective_sample_size(apart, kind) < 2 * n_draws).all()
        assert np.median(effective_sample_size(draws, kind)) > 2.5 * n_draws
    error = apart.std(axis=(0, 1)) / np.sqrt(2 * n_draws)
    assert (monte_carlo_error(apart) > error).all()


def test_few_draws_count_by_the_autocorrelation_of_neighbours():
    # One chain of halves (0, 1) and (6, 7): the covariances at lags 0 and 1 are 1/4 and -1/8, W is 1/2.
    draws = np.array([[0.0, 1.0, 6.0, 7.0]])
    pooled = 1 / 4 + np.var([0.5, 6.5], ddof=1)
    assert effective_sample_size(draws, "mean") == pytest.approx(4 / (1 + 2 * (1 - (1 / 2 + 1 / 8) / pooled)))


# Traces of the partition, and the table


def test_partition_traces(rng):
    labels = rng.integers(4, size=(2, 5, 30))
    traces = partition_traces(labels)
    reference = labels[representative_draw(labels)]
    for chain, draw in np.ndindex(2, 5):
        _, sizes = np.unique(labels[chain, draw], return_counts=True)
        shares = sizes / 30
        assert traces["n_clusters"][chain, draw] == len(sizes)
        assert traces["largest_share"][chain, draw] == shares.max()
        assert traces["entropy"][chain, draw] == pytest.approx(-(shares * np.log(shares)).sum())
        expected = variation_of_information(labels[chain, draw], reference)
        assert traces["distance"][chain, draw] == pytest.approx(expected, abs=1e-12)


def test_partition_traces_ignore_names(rng):
    labels = rng.integers(3, size=(2, 4, 20))
    renamed = np.array([7, 1, 4])[labels]
    reference = labels[0, 0]
    for name, trace in partition_traces(labels, reference).items():
        np.testing.assert_allclose(partition_traces(renamed, reference)[name], trace, atol=1e-12, err_msg=name)


@pytest.fixture
def fitted(rng):
    shape = (4, 100)
    return SimpleNamespace(
        posterior_labels_=rng.integers(3, size=(*shape, 12)),
        log_joint_=rng.normal(size=shape) + 10 * np.arange(4)[:, None],
        hyperparameters_={
            "concentration": rng.gamma(2.0, size=shape),
            "discount": np.zeros(shape),
            "columns": {"age": {"mu": rng.normal(size=shape)}},
        },
    )


def test_summary(fitted):
    table = summary(fitted)
    names = table["name"].tolist()
    assert names == ["n_clusters", "log_joint", "concentration", "discount", "largest_share", "entropy", "distance"]
    rows = {name: {key: values[i] for key, values in table.items()} for i, name in enumerate(names)}
    concentration = fitted.hyperparameters_["concentration"]
    assert rows["concentration"]["mean"] == pytest.approx(concentration.mean())
    assert rows["concentration"]["sd"] == pytest.approx(concentration.std(ddof=1))
    assert rows["concentration"]["ess_tail"] == pytest.approx(effective_sample_size(concentration, kind="tail"))
    assert rows["log_joint"]["rhat"] > 2 > 1.05 > rows["entropy"]["rhat"]
    assert rows["discount"]["mcse"] == 0.0 and np.isnan(rows["discount"]["rhat"])
    assert summary(fitted, columns=True)["name"].tolist().count("age.mu") == 1


def test_summary_as_frame(fitted, monkeypatch):
    pytest.importorskip("pandas")
    frame = summary(fitted, as_frame=True)
    assert frame.index.name == "name" and frame.loc["entropy", "rhat"] < 1.05
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        summary(fitted, as_frame=True)


def test_summary_of_one_short_chain(rng):
    table = summary(SimpleNamespace(posterior_labels_=rng.integers(3, size=(1, 1, 12))))
    assert np.isfinite(table["mean"]).all() and np.isnan(table["rhat"]).all()


def test_summary_of_draws_by_name(rng):
    draws = {"a": rng.normal(size=(2, 50)), "theta": rng.normal(size=(2, 50, 2)) + [0.0, 5.0]}
    table = summary(draws)
    assert table["name"].tolist() == ["a", "theta[0]", "theta[1]"]
    np.testing.assert_allclose(table["mean"], [draws["a"].mean(), *draws["theta"].mean(axis=(0, 1))])
    np.testing.assert_allclose(table["rhat"][1:], rank_normalized_rhat(draws["theta"]))
    with pytest.raises(ValueError, match="draws of 'a' must have shape"):
        summary({"a": np.zeros(5)})
    with pytest.raises(ValueError, match="same number of chains and draws"):
        summary({"a": np.zeros((2, 5)), "b": np.zeros((2, 6))})
    with pytest.raises(ValueError, match="same number of chains and draws"):
        summary({})


# Geweke's test: x_1..x_3 ~ N(mean, 1 / precision), mean ~ N(0, 1 / precision), precision ~ Gamma(3, rate 2)

N_ROWS = 3


class NormalGamma:
    """A Gibbs sampler of the mean and the precision, correct unless a bug is named."""

    def __init__(self, bug=None):
        self.bug = bug

    @staticmethod
    def data(mean, precision, rng):
        return rng.normal(mean, precision**-0.5, size=N_ROWS)

    def draw_prior(self, rng):
        precision = rng.gamma(3.0, 0.5)
        mean = rng.normal(0, precision**-0.5)
        return mean, precision, self.data(mean, precision, rng)

    def transition(self, state, rng):
        mean, precision, x = state
        n_pseudo = N_ROWS if self.bug == "prior forgotten" else N_ROWS + 1
        mean = rng.normal(x.sum() / n_pseudo, (precision * n_pseudo) ** -0.5)
        shape = 3.0 + (N_ROWS if self.bug == "mean's factor forgotten" else N_ROWS + 1) / 2
        rate = 2.0 + (mean**2 + ((x - mean) ** 2).sum()) / (1 if self.bug == "half forgotten" else 2)
        precision = rng.gamma(shape, 1 / rate)
        return mean, precision, self.data(mean, precision, rng)

    @staticmethod
    def statistics(state):
        mean, precision, x = state
        return {"mean": mean, "log_precision": np.log(precision), "mean2": mean**2, "scatter": np.log(x.var())}

    def run(self, **kwargs):
        numbers = {"n_independent": 2000, "n_successive": 125, "n_chains": 16, "random_state": 0, **kwargs}
        return geweke_test(self.draw_prior, self.transition, self.statistics, **numbers)


def test_geweke_passes_a_correct_sampler():
    result = NormalGamma().run()
    assert result.passed(), str(result)
    assert result.names == ("mean", "log_precision", "mean2", "scatter")
    assert (result.effective_sample_size > 300).all()
    assert (np.abs(result.z) < 4).all()


@pytest.mark.parametrize("bug", ["prior forgotten", "mean's factor forgotten", "half forgotten"])
def test_geweke_fails_a_wrong_sampler(bug):
    result = NormalGamma(bug).run()
    assert not result.passed(0.001), str(result)
    assert result.minimum_p_value < 1e-4


def test_geweke_sees_what_the_means_do_not():
    def draw_prior(rng):
        return rng.normal()

    def transition(state, rng):  # right mean, wrong spread
        return rng.uniform(-1, 1)

    numbers = {"n_independent": 500, "n_successive": 100, "random_state": 0}
    result = geweke_test(draw_prior, transition, lambda x: {"x": x}, **numbers)
    assert result.p_values[0] > 0.01 > 1e-6 > result.ks_p_values[0]
    assert not result.passed()


def test_geweke_is_calibrated():
    """p-values of a correct, strongly autocorrelated sampler are nearly uniform."""

    def transition(state, rng):
        return 0.8 * state + 0.6 * rng.normal()

    p_values = []
    for seed in range(60):
        numbers = {"n_independent": 1000, "n_successive": 40, "random_state": seed}
        result = geweke_test(lambda rng: rng.normal(), transition, lambda x: {"x": x}, **numbers)
        p_values.append([result.p_values[0], result.ks_p_values[0]])
    for column in np.transpose(p_values):
        assert kstest(column, "uniform").pvalue > 0.005


def test_geweke_thins_and_repeats():
    calls = []

    def transition(state, rng):
        calls.append(state)
        return rng.normal()

    def run(seed):
        numbers = {"n_independent": 20, "n_successive": 5, "n_chains": 3, "thin": 4, "random_state": seed}
        return geweke_test(lambda rng: rng.normal(), transition, lambda x: {"x": x}, **numbers)

    first = run(1)
    assert len(calls) == 3 * 5 * 4
    assert run(1).z == first.z != run(2).z


def test_geweke_with_constant_statistics():
    def run(value):
        numbers = {"n_independent": 50, "n_successive": 20, "random_state": 0}
        return geweke_test(lambda rng: 0.0, lambda state, rng: value, lambda x: {"x": x}, **numbers)

    assert run(0.0).passed() and run(0.0).z == 0.0
    assert not run(1.0).passed() and run(1.0).z == np.inf


def test_holm_adjustment_and_table():
    zeros = np.zeros(2)
    result = GewekeResult(("a", "b"), zeros, zeros, zeros, zeros, zeros, np.array([0.02, 0.5]), np.array([0.01, 0.02]))
    np.testing.assert_allclose(result.adjusted_p_values, [[0.06, 0.5], [0.04, 0.06]])
    assert result.passed(0.04) and not result.passed(0.05)
    table = str(result).splitlines()
    assert table[1].startswith("a ") and table[2].startswith("b ") and "4 tests: 0.04" in table[-1]


def test_errors_name_the_parameter(rng):
    draws = rng.normal(size=(2, 10))
    with pytest.raises(ValueError, match="kind must be"):
        effective_sample_size(draws, kind="median")
    with pytest.raises(ValueError, match=r"draws\[None\]"):
        rank_normalized_rhat(draws[0])
    with pytest.raises(ValueError, match="n_chains, n_draws, n_samples"):
        partition_traces([[0, 1]])
    with pytest.raises(ValueError, match="thin must be at least 1, got 0"):
        NormalGamma().run(thin=0)
    with pytest.raises(ValueError, match="level must be"):
        NormalGamma().run(n_independent=10, n_successive=4).passed(5)


@pytest.mark.parametrize(
    "statistics, message",
    [
        (lambda state: {}, "at least one"),
        (lambda state: {"x": np.nan}, r"finite, got \{'x': nan\}"),
        (lambda state: {"x": 1.0} if state > 0 else {"y": 1.0}, "same names"),
    ],
)
def test_geweke_checks_statistics(statistics, message):
    with pytest.raises(ValueError, match=message):
        geweke_test(
            lambda rng: rng.normal(),
            lambda state, rng: rng.normal(),
            statistics,
            n_independent=50,
            n_successive=5,
            random_state=0,
        )
