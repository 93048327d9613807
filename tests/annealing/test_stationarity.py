"""Chains whose log joint density still rises go on, within limits, and make their draws later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.callback import ProgressBar
from support.tables import blobs

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import CyclicSubsampling, SequentialGibbs, TraceMonitor
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.spec import ChainSpec
from sklearn_subanneal.annealing.stationarity import FEWEST, full_sweeps, still_rises, trend_score

TRACE = np.dtype([("n_assigned", "i8"), ("inverse_temperature", "f8"), ("log_joint", "f8")])
N_ROWS = 30


def autoregressive(correlation, n_series=1000, n=40, seed=0):
    """Stationary series, after a burn-in."""
    noise = np.random.default_rng(seed).normal(size=(n_series, 300))
    return lfilter([1.0], [1.0, -correlation], noise, axis=1)[:, -n:]


def test_the_score_is_about_standard_normal_without_a_trend():
    independent = [trend_score(series) for series in autoregressive(0.0)]
    assert abs(np.mean(independent)) < 0.1 and 0.9 < np.std(independent) < 1.15
    rises = [[trend_score(series) > 3.0 for series in autoregressive(r)] for r in (0.0, 0.5, 0.9)]
    # Counts are binomial; these bounds are four standard deviations above 5, 10 and 60 in a thousand.
    assert (np.sum(rises, axis=1) <= [14, 23, 90]).all()


def test_a_trend_is_found():
    series = autoregressive(0.5, 200) + 0.2 * np.arange(40)
    assert np.mean([trend_score(one) > 3.0 for one in series]) > 0.9
    assert np.mean([trend_score(-one) < -3.0 for one in series]) > 0.9
    assert trend_score(np.arange(30.0)) == np.inf and trend_score(np.full(30, 7.0)) == 0.0
    assert np.isnan(trend_score(np.arange(FEWEST - 1)))


def test_large_log_densities_have_the_same_score():
    series = autoregressive(0.5, 1)[0]
    assert trend_score(series - 1e8) == pytest.approx(trend_score(series), abs=1e-5)


def test_full_sweeps_are_the_last_in_which_all_rows_are_in_at_power_one():
    trace = np.zeros(6, TRACE)
    trace["n_assigned"], trace["inverse_temperature"] = [9, 30, 20, 30, 30, 30], [1, 1, 1, 0.5, 1, 1]
    assert len(full_sweeps(trace, N_ROWS)) == 2
    assert len(full_sweeps(trace[:4], N_ROWS)) == 0
    trace["n_assigned"], trace["inverse_temperature"] = N_ROWS, 1.0
    assert len(full_sweeps(trace, N_ROWS)) == 6


def test_which_sweeps_are_judged():
    def rises(log_joint):
        trace = np.zeros(len(log_joint), TRACE)
        trace["n_assigned"], trace["inverse_temperature"], trace["log_joint"] = N_ROWS, 1.0, log_joint
        return still_rises(trace, N_ROWS)

    noise = autoregressive(0.0, 1, 100)[0]
    for n, n_judged in ((30, 20), (37, 20), (41, 21), (100, 50)):
        assert rises(noise[:n] + 0.5 * np.arange(n))
        early = np.maximum(n - n_judged - np.arange(n), 0)
        assert not rises(noise[:n] - 5.0 * early)
        assert rises(noise[:n] + 2.0 * np.maximum(np.arange(n) - n + n_judged, 0))
    assert not rises(5.0 * np.arange(29) + noise[:29])


class Scripted(AnnealedChain):
    """A chain whose log joint density is a given function of the number of its sweep, which is its whole state."""

    TRACE = TRACE

    def __init__(self, log_joint):
        generator = np.random.default_rng(0)
        super().__init__(N_ROWS, *CyclicSubsampling().bind(N_ROWS, generator, None), generator)
        self.log_joint, self.n = log_joint, 0

    def cycle(self, step, context):
        self.window.fill()
        self.n += 1
        return {"log_joint": self.log_joint(self.n)}

    def state(self):
        return self.n

    def labels_of_rows(self):
        return np.full(N_ROWS, self.n)

    def get_state(self):
        return {"n": self.n}

    def set_state(self, state):
        self.n = state["n"]


def rising(n):
    return 5.0 * n + (7 * n) % 10


def run(chain, n_draws=10, thin=1, max_sweeps=60, time_limit=None, context=None):
    return chain.run(SequentialGibbs(passes=30), n_draws, thin, time_limit, context or ChainContext(), max_sweeps)


def level(n):
    return (7 * n) % 10


def test_a_chain_that_does_not_rise_makes_the_draws_it_was_asked_for():
    result = run(Scripted(level))
    n_schedule = len(result.trace) - 10
    assert result.draws == [n_schedule + i for i in range(1, 11)]
    assert not still_rises(result.trace, N_ROWS)


def test_a_chain_that_rises_goes_on_and_makes_its_draws_later():
    n_schedule = len(run(Scripted(level)).trace) - 10
    result = run(Scripted(rising), max_sweeps=1000)
    n_first = n_schedule + 10
    # As many sweeps again, at each judgement, until the most are made; the draws are spaced over the last ones.
    sizes = [n_first * 2**k for k in range(10) if n_first * 2**k <= n_schedule + 1000]
    assert len(result.trace) > sizes[-1] - 10 * len(sizes) and len(result.trace) <= n_schedule + 1000
    spacing = np.unique(np.diff(result.draws))
    assert len(result.draws) == len(result.labels) == 10 and len(spacing) == 1 and spacing[0] > 1
    assert result.draws[-1] == len(result.trace) and [int(own[0]) for own in result.labels] == result.draws
    assert result.state.n_superseded == 0


@pytest.mark.parametrize(("max_sweeps", "most"), [(0, 10), (19, 10), (20, 20), (35, 30)])
def test_there_is_a_limit_of_the_sweeps(max_sweeps, most):
    n_schedule = len(run(Scripted(level)).trace) - 10
    assert len(run(Scripted(rising), max_sweeps=max_sweeps).trace) == n_schedule + most


def test_it_ends_once_the_density_is_level():
    n_first = len(run(Scripted(level)).trace)
    result = run(Scripted(lambda n: rising(min(n, n_first + 5)) + level(n)), max_sweeps=1000)
    assert n_first < len(result.trace) < 5 * n_first
    assert not still_rises(result.trace, N_ROWS)


def test_a_time_limit_is_the_only_limit_then():
    result = run(Scripted(rising), time_limit=0.05, max_sweeps=10**6)
    assert 1 <= len(result.draws) <= 10 and np.unique(np.diff(result.draws)).tolist() in ([], [1])
    assert len(run(Scripted(rising), time_limit=1e-9).draws) == 1


class Stops(ChainContext):
    """Asks the chain to end its phase after so many sweeps."""

    def __init__(self, after):
        super().__init__()
        self.left = after

    def report(self, record, state, result):
        self.left -= 1
        return self.left == 0


def test_where_it_is_stopped_on_its_way_the_old_draws_are_replaced_as_far_as_there_are_new_ones():
    n_first = len(run(Scripted(level)).trace)
    result = run(Scripted(rising), context=Stops(n_first + 7))
    assert len(result.draws) == 10 and result.draws[-1] > n_first
    assert result.draws == sorted(result.draws) and len(set(result.draws)) == 10
    assert 0 < result.state.n_superseded < 10
    # It goes on from there as if it had not been stopped.
    other = run(Scripted(rising).restore(result))
    whole = run(Scripted(rising))
    assert other.draws == whole.draws
    np.testing.assert_array_equal(other.trace, whole.trace)


@pytest.mark.parametrize("estimator", [CrossCat, SubsampleAnnealedDPMM])
def test_estimators_pass_the_limit_on(estimator, monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.annealing.chain.still_rises", lambda trace, n_rows: True)
    X = blobs(60, 3)
    settings = {"n_chains": 2, "n_draws": 4, "schedule": SequentialGibbs(passes=10), "random_state": 0}
    short = estimator(max_sweeps=0, **settings).fit(X)
    long = estimator(max_sweeps=25, **settings).fit(X)
    default = estimator(**settings).fit(X)
    np.testing.assert_array_equal(short.n_sweeps_, np.bincount(short.trace_["chain"]))
    assert (long.n_sweeps_ > short.n_sweeps_).all() and (long.n_sweeps_ <= short.n_sweeps_ + 21).all()
    # As much work again as the schedule's.
    assert (default.n_sweeps_ > short.n_sweeps_).all() and (default.n_sweeps_ <= short.n_sweeps_ + 10).all()
    for model in (short, long, default):
        assert model.log_joint_.shape == (2, 4)
    with pytest.raises(ValueError, match="max_sweeps"):
        estimator(max_sweeps=-1).fit(X)


@pytest.mark.parametrize("settings", [{}, {"max_sweeps": 25}, {"max_sweeps": 3}, {"thin": 3}])
def test_callbacks_hear_of_the_sweeps_of_chains_that_go_on(settings, monkeypatch):
    """Scikit-learn refuses more reports than were announced."""
    monkeypatch.setattr("sklearn_subanneal.annealing.chain.still_rises", lambda trace, n_rows: True)
    settings = {"n_chains": 2, "n_draws": 4, "schedule": SequentialGibbs(passes=10), "random_state": 0, **settings}
    monitor = TraceMonitor()
    model = SubsampleAnnealedDPMM(**settings).set_callbacks(ProgressBar(), monitor).fit(blobs(60, 3))
    assert len(monitor.get_logs()) == len(model.trace_) == model.n_sweeps_.sum()
    again = SubsampleAnnealedDPMM(**settings).fit(blobs(60, 3))
    np.testing.assert_array_equal(again.log_joint_, model.log_joint_)
    # Continued, too.
    model.set_params(warm_start=True, n_draws=9).fit(blobs(60, 3))
    assert model.log_joint_.shape == (2, 9)


def test_the_sweeps_to_go_are_bounded():
    spec = ChainSpec(n_rows=N_ROWS, schedule=SequentialGibbs(passes=30), n_draws=10)
    assert spec.most_sweeps == 40
    n_schedule = len(run(Scripted(level)).trace) - 10
    assert spec.n_sweeps() == n_schedule + 40 >= len(run(Scripted(rising), max_sweeps=40).trace)
    halfway = run(Scripted(rising), max_sweeps=40, context=Stops(n_schedule + 10 + 7))
    to_go = replace(spec, previous=halfway).n_sweeps()
    assert len(run(Scripted(rising).restore(halfway), max_sweeps=40).trace) - len(halfway.trace) <= to_go <= 40
