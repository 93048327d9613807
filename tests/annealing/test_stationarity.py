"""Chains whose log joint density still rises go on, within limits, before they make their draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.callback import ProgressBar
from support.clocks import tick_at_each_look
from support.tables import blobs

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import CyclicSubsampling, SequentialGibbs, TraceMonitor
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.spec import ChainSpec
from sklearn_subanneal.annealing.stationarity import FEWEST, RISING, full_sweeps, may_rise, rise_score, trend_score

TRACE = np.dtype(
    [
        ("n_assigned", "i8"),
        ("inverse_temperature", "f8"),
        ("log_joint", "f8"),
        ("progress", "f8"),
        ("seconds", "f8"),
    ]
)
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


def test_a_short_series_that_alternates_has_a_score():
    # The corrected correlation of its residuals would be below -1, and the error the root of a negative number.
    series = np.array([-4.4, 0.3, -5.2, 2.8, -7.1, 3.3, 0.4, 2.9, -0.1, 4.6, 2.7])
    assert np.isfinite(trend_score(series)) and trend_score(series) > 0.0


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


def judged(judge, log_joint):
    """The judgement of a chain whose sweeps are all of all rows."""
    trace = np.zeros(len(log_joint), TRACE)
    trace["n_assigned"], trace["inverse_temperature"], trace["log_joint"] = N_ROWS, 1.0, log_joint
    return judge(trace, N_ROWS)


def test_which_sweeps_are_judged():
    noise = autoregressive(0.0, 1, 100)[0]
    for n, n_judged in ((30, 20), (37, 20), (41, 21), (100, 50)):
        early = np.maximum(n - n_judged - np.arange(n), 0)
        late = np.maximum(np.arange(n) - n + n_judged, 0)
        for judge in (still_rises, may_rise):
            assert judged(judge, noise[:n] + 0.5 * np.arange(n)) and judged(judge, noise[:n] + 2.0 * late)
        assert not judged(still_rises, noise[:n] - 5.0 * early)


def test_few_sweeps_are_not_enough_to_tell_but_enough_to_go_on():
    noise = autoregressive(0.0, 1)[0]
    for n in (10, 20, 29):
        assert not judged(still_rises, 5.0 * np.arange(n) + noise[:n])
        assert judged(may_rise, 5.0 * np.arange(n) + noise[:n])
        assert not judged(may_rise, noise[:n] - 0.1 * np.arange(n))
    assert not judged(may_rise, 5.0 * np.arange(9))
    # A slight rise is one only while there are few sweeps.
    for n, expected in ((28, True), (56, True), (60, False)):
        slight = np.tile([0.0, 1.0, 1.0, 0.0], 15)[:n] + 0.04 * np.arange(n) * 20 / max(n / 2, 20)
        assert judged(may_rise, slight) == expected and not judged(still_rises, slight)


def still_rises(trace, n_rows):
    return rise_score(trace, n_rows) > RISING


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


def level(n):
    return (7 * n) % 10


SCHEDULE = SequentialGibbs(passes=30)


def run(chain, n_draws=10, thin=1, max_sweeps=60, time_limit=None, context=None, schedule=SCHEDULE):
    return chain.run(schedule, n_draws, thin, time_limit, context or ChainContext(), max_sweeps)


# Sweeps of the schedule, which are of all rows, but for the first.
N_SCHEDULE = len(run(Scripted(level), n_draws=1, max_sweeps=0).trace) - 1


@pytest.mark.parametrize(("max_sweeps", "n_burn_in"), [(0, 0), (1, 1), (9, 9), (10, 10), (60, 10)])
def test_a_chain_that_does_not_rise_makes_ten_sweeps_and_its_draws(max_sweeps, n_burn_in):
    result = run(Scripted(level), max_sweeps=max_sweeps)
    assert result.draws == [N_SCHEDULE + n_burn_in + i for i in range(1, 11)] and result.state.n_burn_in == n_burn_in
    assert not still_rises(result.trace, N_ROWS)


@pytest.mark.parametrize("thin", [1, 3])
def test_a_chain_that_rises_goes_on_and_then_makes_its_draws(thin):
    result = run(Scripted(rising), max_sweeps=1000, thin=thin)
    assert result.state.n_burn_in == 1000
    assert result.draws == [N_SCHEDULE + 1000 + thin * i for i in range(1, 11)]
    assert len(result.trace) == result.draws[-1] and [int(own[0]) for own in result.labels] == result.draws


@pytest.mark.parametrize(("max_sweeps", "n_burn_in"), [(0, 0), (1, 1), (9, 9), (10, 10), (19, 19), (35, 35)])
@pytest.mark.parametrize("schedule", [SCHEDULE, SequentialGibbs(passes=1)])
def test_there_is_a_limit_of_the_sweeps(schedule, max_sweeps, n_burn_in):
    result = run(Scripted(rising), schedule=schedule, max_sweeps=max_sweeps)
    assert result.state.n_burn_in == n_burn_in and len(result.draws) == 10


def test_it_ends_once_the_density_is_level():
    n_up = N_SCHEDULE + 5
    result = run(Scripted(lambda n: rising(min(n, n_up)) + level(n)), max_sweeps=1000)
    assert 10 < result.state.n_burn_in < 200
    # By then the sweeps that are judged are level, half of them or more.
    assert result.draws[0] - n_up > len(full_sweeps(result.trace, N_ROWS)[:-10]) / 4
    assert not still_rises(result.trace, N_ROWS)


@pytest.mark.parametrize("values", [level, rising])
def test_a_time_limit_is_the_only_limit_then(monkeypatch, values):
    """Three times the work of the schedule, then sweeps until four fifths of the time are over, then draws."""
    tick_at_each_look(monkeypatch, 1e-3)
    result = run(Scripted(values), time_limit=2.0, max_sweeps=7, n_draws=10**6)
    state, trace = result.state, result.trace
    annealing = trace["progress"] < 1.0
    assert len(trace) == annealing.sum() + 1 + state.n_burn_in + len(result.draws)
    assert annealing.sum() == pytest.approx(3 * N_SCHEDULE, abs=2)
    assert trace["seconds"][annealing][-1] < 1.0
    assert trace["seconds"][-len(result.draws)] == pytest.approx(1.6, abs=0.02)
    assert trace["seconds"][-1] == pytest.approx(2.0, abs=0.02)


def test_a_time_limit_shorter_than_a_sweep():
    result = run(Scripted(rising), time_limit=1e-9)
    assert len(result.draws) == 1 and result.state.n_burn_in == 0


def test_a_callback_ends_the_sweeps_before_the_draws(monkeypatch):
    tick_at_each_look(monkeypatch, 1e-3)
    result = run(Scripted(level), time_limit=2.0, context=Stops(3 * N_SCHEDULE + 20), n_draws=3)
    assert result.trace["seconds"][-1] < 1.0 and 10 < result.state.n_burn_in < 25 and len(result.draws) == 3


class Stops(ChainContext):
    """Asks the chain to end its phase after so many sweeps."""

    def __init__(self, after):
        super().__init__()
        self.left = after

    def report(self, record, state, result):
        self.left -= 1
        self.result = result() if self.left == 0 else None
        return self.left == 0


def test_a_callback_ends_the_burn_in_and_the_draws_are_made():
    result = run(Scripted(rising), context=Stops(N_SCHEDULE + 7))
    assert result.state.n_burn_in == 7 and result.draws == [N_SCHEDULE + 7 + i for i in range(1, 11)]
    # Who ends the schedule wants no more sweeps either.
    result = run(Scripted(rising), context=Stops(12))
    assert result.state.n_burn_in == 0 and result.draws == [12 + i for i in range(1, 11)]


@pytest.mark.parametrize("n_made", [12, N_SCHEDULE, N_SCHEDULE + 7, N_SCHEDULE + 60, N_SCHEDULE + 64])
def test_a_chain_saved_on_its_way_goes_on_as_if_it_had_not_been_interrupted(n_made):
    class Saves(Stops):
        def report(self, record, state, result):
            if self.left == 1:
                self.saved = result()
            self.left -= 1
            return False

    context = Saves(n_made)
    whole = run(Scripted(rising), context=context)
    other = run(Scripted(rising).restore(context.saved))
    assert other.draws == whole.draws
    for name in set(TRACE.names) - {"seconds"}:
        np.testing.assert_array_equal(other.trace[name], whole.trace[name])


@pytest.mark.parametrize("estimator", [CrossCat, SubsampleAnnealedDPMM])
def test_estimators_pass_the_limit_on(estimator, monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.annealing.chain.may_rise", lambda trace, n_rows: True)
    X = blobs(60, 3)
    settings = {"n_chains": 2, "n_draws": 4, "schedule": SequentialGibbs(passes=10), "random_state": 0}
    short = estimator(max_sweeps=0, **settings).fit(X)
    long = estimator(max_sweeps=25, **settings).fit(X)
    default = estimator(**settings).fit(X)
    np.testing.assert_array_equal(short.n_sweeps_, np.bincount(short.trace_["chain"]))
    assert (long.n_sweeps_ == short.n_sweeps_ + 25).all()
    # As much work again as the schedule's.
    assert (default.n_sweeps_ == short.n_sweeps_ + 10).all()
    for model in (short, long, default):
        assert model.log_joint_.shape == (2, 4)
    with pytest.raises(ValueError, match="max_sweeps"):
        estimator(max_sweeps=-1).fit(X)


@pytest.mark.parametrize("effort", [1.0, pytest.param(2.0, marks=pytest.mark.slow)])
def test_chains_of_views_go_on_for_longer_by_default(effort, monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.annealing.chain.may_rise", lambda trace, n_rows: True)
    X = blobs(60, 3)
    settings = {"n_chains": 4, "n_draws": 1, "effort": effort, "random_state": 0}
    short, default = CrossCat(max_sweeps=0, **settings).fit(X), CrossCat(**settings).fit(X)
    # Four times the work of the schedule of the first chain, whatever that of a chain is.
    n_more = 4 * np.ceil(default.schedule_.n_assignments(60) / 60)
    assert (default.n_sweeps_ == short.n_sweeps_ + n_more).all()


@pytest.mark.parametrize("settings", [{}, {"max_sweeps": 25}, {"max_sweeps": 3}, {"thin": 3}])
def test_callbacks_hear_of_the_sweeps_of_chains_that_go_on(settings, monkeypatch):
    """Scikit-learn refuses more reports than were announced."""
    monkeypatch.setattr("sklearn_subanneal.annealing.chain.may_rise", lambda trace, n_rows: True)
    settings = {"n_chains": 2, "n_draws": 4, "schedule": SequentialGibbs(passes=10), "random_state": 0, **settings}
    monitor = TraceMonitor()
    model = SubsampleAnnealedDPMM(**settings).set_callbacks(ProgressBar(), monitor).fit(blobs(60, 3))
    assert len(monitor.get_logs()) == len(model.trace_) == model.n_sweeps_.sum()
    again = SubsampleAnnealedDPMM(**settings).fit(blobs(60, 3))
    np.testing.assert_array_equal(again.log_joint_, model.log_joint_)
    # Continued, too.
    model.set_params(warm_start=True, n_draws=9).fit(blobs(60, 3))
    assert model.log_joint_.shape == (2, 9)


def test_the_sweeps_to_go_are_known():
    spec = ChainSpec(n_rows=N_ROWS, schedule=SCHEDULE, n_draws=10)
    assert spec.most_sweeps == 30

    class Counts(ChainContext):
        """Checks before each sweep how many are to go, by the result after the one before."""

        def report(self, record, state, result):
            to_go.append(replace(spec, previous=result()).n_sweeps())
            return False

    to_go = [spec.n_sweeps()]
    run(Scripted(rising), max_sweeps=30, context=Counts())
    assert to_go == list(range(N_SCHEDULE + 40, -1, -1))
