"""Simulation-based calibration: the test of ranks is exact, right posteriors pass, and planted errors are found."""

from __future__ import annotations

import itertools

import joblib
import numpy as np
import pytest
from scipy.stats import binom
from support.tiers import quick_only

from sklearn_subanneal.diagnostics import CalibrationResult, calibrate
from sklearn_subanneal.diagnostics.rank_uniformity import simultaneous_bands, uniformity_p_value

N_DRAWS, N_ROWS = 19, 3


def least_tail(ranks, n_ranks):
    """The statistic of the test, from its definition."""
    n, out = len(ranks), 1.0
    for place in range(n_ranks - 1):
        count, share = sum(rank <= place for rank in ranks), (place + 1) / n_ranks
        out = min(out, 2 * min(binom.cdf(count, n, share), binom.sf(count - 1, n, share)))
    return out


@pytest.mark.parametrize("n, n_ranks", [(5, 3), (4, 4), (6, 2)])
def test_p_values_are_those_of_all_possible_ranks(n, n_ranks):
    everything = list(itertools.product(range(n_ranks), repeat=n))
    statistics = np.array([least_tail(ranks, n_ranks) for ranks in everything])
    for i in range(0, len(everything), 7):
        exact = np.mean(statistics <= statistics[i] * (1 + 1e-9))
        assert uniformity_p_value(np.array(everything[i]), n_ranks) == pytest.approx(exact, abs=1e-12)


def test_bands_hold_what_they_promise():
    rng = np.random.default_rng(0)
    lower, upper = simultaneous_bands(60, n_ranks=8, level=0.9)
    ranks = rng.integers(8, size=(4000, 60))
    counts = (ranks[:, :, None] <= np.arange(7)).sum(axis=1)
    share = np.mean(((lower <= counts) & (counts <= upper)).all(axis=1))
    assert 0.9 - 0.015 < share < 0.95
    # One more count outside of a band is beyond the level.
    outside = np.concatenate([np.zeros(upper[0] + 1, int), np.arange(60 - upper[0] - 1) % 7 + 1])
    assert uniformity_p_value(outside, 8) < 0.1


# x_1..x_3 ~ N(mean, 1), mean ~ N(0, 1).


def draw_prior(rng):
    mean = rng.normal()
    return mean, rng.normal(mean, size=N_ROWS)


def draw_posterior(x, rng):
    return rng.normal(x.sum() / (len(x) + 1), (len(x) + 1) ** -0.5, size=N_DRAWS)


def statistics(mean, x):
    return {"mean": mean, "square": mean**2, "log likelihood": -0.5 * np.sum((x - mean) ** 2)}


WRONG = {
    "the prior again": lambda x, rng: rng.normal(size=N_DRAWS),
    "a row forgotten": lambda x, rng: draw_posterior(x[1:], rng),
    "too narrow": lambda x, rng: rng.normal(x.sum() / (N_ROWS + 1), 0.3, size=N_DRAWS),
    "biased": lambda x, rng: draw_posterior(x, rng) + 0.15,
    "one draw, repeated": lambda x, rng: np.repeat(draw_posterior(x, rng)[:1], N_DRAWS),
}


def test_a_right_posterior_passes():
    result = calibrate(draw_prior, draw_posterior, statistics, random_state=0)
    assert result.passed(), str(result)
    assert result.names == ("mean", "square", "log likelihood") and result.ranks.shape == (500, 3)
    assert result.n_draws == N_DRAWS and 0 <= result.ranks.min() and result.ranks.max() == N_DRAWS
    table = str(result).splitlines()
    assert len(table) == 5 and "500 replications of 19 draws" in table[-1]


@pytest.mark.parametrize("error", quick_only(WRONG, "a row forgotten", "one draw, repeated"))
def test_a_wrong_posterior_is_found(error):
    result = calibrate(draw_prior, WRONG[error], statistics, random_state=0)
    assert not result.passed(1e-3), str(result)


def test_only_statistics_of_the_data_see_that_the_data_are_ignored():
    """The ranks of the parameters alone are uniform when the posterior is the prior."""
    result = calibrate(draw_prior, WRONG["the prior again"], statistics, random_state=1)
    p_values = dict(zip(result.names, result.p_values, strict=True))
    assert p_values["mean"] > 0.01 and p_values["square"] > 0.01
    assert p_values["log likelihood"] < 1e-6


def test_ties_are_broken_at_random():
    """A statistic of few values has uniform ranks, too."""

    def draws(_, rng):
        return rng.integers(2, size=9)

    result = calibrate(lambda rng: (rng.integers(2), None), draws, lambda x, _: {"x": x, "constant": 1}, random_state=1)
    assert result.passed(), str(result)
    assert len(np.unique(result.ranks[:, 1])) == 10


def test_values_that_are_equal_but_for_rounding_are_ties():
    def draws(_, rng):
        return rng.integers(2, size=9) + 1e-15

    result = calibrate(lambda rng: (rng.integers(2), None), draws, lambda x, _: {"x": x}, random_state=1)
    assert result.passed(), str(result)


def test_p_values_of_right_posteriors_are_not_too_small():
    p_values = [
        calibrate(draw_prior, draw_posterior, statistics, n_replications=60, random_state=seed).p_values
        for seed in range(40)
    ]
    for column in np.transpose(p_values):
        for level in (0.05, 0.25, 0.5):
            assert binom.sf(np.sum(column <= level) - 1, len(column), level) > 0.001


def test_replications_are_the_same_for_every_number_of_jobs():
    few = {"n_replications": 6, "random_state": 3}
    one = calibrate(draw_prior, draw_posterior, statistics, **few)
    with joblib.parallel_config(backend="threading"):
        two = calibrate(draw_prior, draw_posterior, statistics, n_jobs=2, **few)
    assert np.array_equal(one.ranks, two.ranks)


def test_holm_adjustment():
    result = CalibrationResult(("a", "b"), np.array([[0, 0], [0, 1], [0, 2], [0, 3]] * 10), 3)
    assert result.adjusted_p_values[0] == pytest.approx(2 * result.p_values[0]) and not result.passed()


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"n_replications": 0}, "n_replications must be at least 1, got 0"),
        ({"statistics": lambda mean, x: {}}, "at least one"),
        ({"statistics": lambda mean, x: {"x": np.inf}}, r"finite, got \{'x': inf\}"),
        ({"statistics": lambda mean, x: {"x": 1} if mean > 0 else {"y": 1}}, "same names"),
        ({"draw_posterior": lambda x, rng: []}, "at least one draw"),
        ({"draw_posterior": lambda x, rng: [0.0] * rng.integers(1, 9)}, "same number of draws"),
    ],
)
def test_errors_name_the_parameter(changed, message):
    arguments = {"draw_prior": draw_prior, "draw_posterior": draw_posterior, "statistics": statistics}
    with pytest.raises(ValueError, match=message):
        calibrate(**{**arguments, "n_replications": 20, "random_state": 0, **changed})
