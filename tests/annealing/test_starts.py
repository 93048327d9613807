"""A chain makes all starts of its schedule and goes on from the best, whatever happens on the way."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from support.tables import blobs

from sklearn_subanneal import CrossCat, TraceMonitor
from sklearn_subanneal.annealing import TemperedAccelerating, clock
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.views.views_chain import ViewsChain

FIELDS = [("chain", "i4"), ("sweep", "i4"), ("seconds", "f8"), ("progress", "f8"), ("n_assigned", "i8"),
          ("inverse_temperature", "f8"), ("log_joint", "f8")]  # fmt: skip
SCHEDULE = TemperedAccelerating(passes=20, n_small=100, n_first=10, initial_powers=(0.25, 0.5, 1.0), start_share=0.2)


class Told(AnnealedChain):
    """A chain whose log joint density is told for each start; its state counts the sweeps that led to it."""

    TRACE = np.dtype(FIELDS)

    def __init__(self, n_rows, log_joints, stop_at=None):
        generator = np.random.default_rng(0)
        super().__init__(n_rows, np.arange(n_rows), Window([0, n_rows], [1.0], True), generator)
        self.log_joints, self.path = log_joints, []

    def cycle(self, step, context):
        self.window.plan(step.size, step.n_moves, self.generator)
        self.path.append(min(self.leg, 3))
        # A start that shines while it is hot, or has few rows, is not the better for it.
        is_cold = step.inverse_temperature == 1.0 and self.window.size >= SCHEDULE.starts(self.n_rows)[0].n_last
        return {"log_joint": self.log_joints[min(self.leg, 2)] if is_cold else 1e6 * self.leg}

    def state(self):
        return list(self.path)

    def labels_of_rows(self):
        return np.zeros(self.n_rows, int)

    def get_state(self):
        return {"path": list(self.path)}

    def set_state(self, state):
        self.path = list(state["path"])


def run(chain, context=None, n_draws=2, time_limit=None):
    return chain.run(SCHEDULE, n_draws, 1, time_limit, context or ChainContext())


@pytest.mark.parametrize("log_joints", [(3.0, 1.0, 2.0), (1.0, 3.0, 2.0), (1.0, 2.0, 3.0), (-5.0, -5.0, -6.0)])
@pytest.mark.parametrize("n_rows", [60, 100])
def test_the_best_start_goes_on(log_joints, n_rows):
    chain, best = Told(n_rows, log_joints), int(np.argmax(log_joints))
    result = run(chain)
    legs = np.array(result.draws[-1])
    assert set(legs) == {best, 3}
    assert (np.diff(legs) >= 0).all()
    # The trace has the sweeps of the state, whose numbers count those of the other starts, too.
    trace = result.trace
    assert len(trace) == len(legs)
    assert (np.diff(trace["sweep"]) > 0).all() and (np.diff(trace["progress"]) >= 0).all()
    n_of_start = (legs == best).sum()
    assert trace["sweep"][0] == best * n_of_start and trace["sweep"][n_of_start] == 3 * n_of_start
    assert result.state.n_sweeps == trace["sweep"][-1] + 1
    np.testing.assert_allclose(trace["progress"][[n_of_start - 1, -1]], [0.2 * (best + 1), 1.0], atol=0.01)
    power = SCHEDULE.initial_powers[best]
    assert (
        power <= trace["inverse_temperature"][0] <= power + 0.2
        and (trace["inverse_temperature"][n_of_start:] == 1).all()
    )


def test_starts_begin_with_the_same_state():
    chain = Told(80, (2.0, 1.0, 0.0))
    chain.path = [7]
    legs = run(chain).draws[0]
    assert legs[:2] == [7, 0] and set(legs[1:]) == {0, 3}


def test_a_large_table_grows_on_from_the_best_start():
    result = run(Told(1000, (1.0, 3.0, 2.0)))
    n_assigned, legs = result.trace["n_assigned"], np.array(result.draws[-1])
    n_last = SCHEDULE.starts(1000)[0].n_last
    assert 60 < n_last < 100
    assert n_assigned[legs == 1][-1] == n_last
    grown = n_assigned[legs == 3]
    assert n_last <= grown[0] < grown[-1] == 1000


class Slow(Told):
    """It makes 1,000 assignments in a second of a clock of its own."""

    def __init__(self, *args, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(clock, "now", lambda: self.now)
        super().__init__(*args)

    def cycle(self, step, context):
        self.now += step.n_moves / 1000.0
        return super().cycle(step, context)


class Stopping(ChainContext):
    """Asks to end the present phase at some sweep."""

    def __init__(self, at):
        super().__init__()
        self.at = at

    def report(self, record, state, result):
        return record["sweep"] == self.at


def test_a_callback_may_end_the_annealing_during_a_start():
    chain = Told(100, (3.0, 2.0, 1.0))
    result = run(chain, Stopping(12))
    legs = np.array(result.draws[0])
    assert set(legs) <= {1, 3} and legs[0] == 1
    assert result.trace["n_assigned"][-1] == 100 and chain.best is None


class Saving(ChainContext):
    """Keeps the state after each sweep."""

    def __init__(self):
        super().__init__()
        self.results = []

    def report(self, record, state, result):
        self.results.append(result())
        return False


@pytest.mark.parametrize("log_joints", [(3.0, 1.0, 2.0), (1.0, 3.0, 2.0)])
def test_a_chain_that_is_interrupted_remembers_its_best_start(log_joints):
    context = Saving()
    whole = run(Told(100, log_joints), context)
    for result in context.results:
        other = run(Told(100, log_joints).restore(result))
        assert other.draws == whole.draws
        np.testing.assert_array_equal(other.trace["sweep"], whole.trace["sweep"])


@pytest.mark.parametrize(("seconds", "legs"), [(0.4, {0, 3}), (1.4, {0, 3}), (2.8, {1, 3})])
def test_a_hasty_start_is_the_only_one(monkeypatch, seconds, legs):
    """A start has 362 assignments and a fifth of the 0.8 of the time, at 1,000 assignments a second."""
    result = run(Slow(100, (1.0, 3.0, 2.0), monkeypatch=monkeypatch), time_limit=seconds, n_draws=10**6)
    assert set(result.draws[0]) == legs
    assert result.trace["seconds"][-1] == pytest.approx(seconds, abs=0.25)


def test_starts_share_the_time(monkeypatch):
    result = run(Slow(100, (1.0, 3.0, 2.0), monkeypatch=monkeypatch), time_limit=5.0, n_draws=10**6)
    trace = result.trace
    own = trace["seconds"][trace["progress"] < 1.0]
    before = own[trace["progress"][trace["progress"] < 1.0] <= 0.4]
    # The schedule has four of the five seconds, a fifth of them for each start, of which the second is kept.
    assert before[0] == pytest.approx(0.8, abs=0.15) and before[-1] == pytest.approx(1.6, abs=0.15)
    assert own[-1] == pytest.approx(4.0, abs=0.3) and trace["seconds"][-1] == pytest.approx(5.0, abs=0.2)


def test_the_first_start_is_the_same_whatever_follows():
    X = np.hstack([blobs(40, 2), blobs(40, 2, seed=3)])
    logs = []
    for powers in ([0.5], [0.5, 1.0]):
        monitor = TraceMonitor()
        schedule = TemperedAccelerating(12, initial_powers=powers, start_share=0.25)
        model = CrossCat(schedule=schedule, n_chains=1, random_state=0).set_callbacks(monitor).fit(X)
        logs.append(monitor.get_logs()["log_joint"])
        # Callbacks see every sweep, the trace those of the start that was kept.
        assert model.n_sweeps_ == len(logs[-1]) and set(model.trace_["log_joint"]) <= set(logs[-1])
    n_of_start = (model.trace_["progress"] <= 0.5).sum()
    assert len(model.trace_) + n_of_start == len(logs[1])
    np.testing.assert_array_equal(logs[0][:n_of_start], logs[1][:n_of_start])


def test_no_more_starts_after_two_that_end_alike(monkeypatch):
    # Two views of three columns; no row is between two clusters.
    rng = np.random.default_rng(0)
    X = 30.0 * np.repeat(rng.integers(4, size=(500, 2)), 3, axis=1) + rng.normal(size=(500, 6))
    given = {"n_chains": 1, "n_draws": 1, "max_sweeps": 0, "random_state": 0}
    two = CrossCat(**given).fit(X)
    n_sweeps, judged = int(two.n_sweeps_[0]), []
    monkeypatch.setattr(ViewsChain, "is_like", lambda self, result: judged.append(result) or False)
    three = CrossCat(**given).fit(X)
    assert len(judged) == 1
    assert three.n_sweeps_[0] > 1.2 * n_sweeps
    assert adjusted_rand_score(two.column_labels_, [0, 0, 0, 1, 1, 1]) == 1.0


def test_starts_are_alike_by_views_and_by_the_clusters_in_each_view():
    halves, thirds = np.repeat([0, 1], 30), np.repeat([0, 1, 2], 20)

    def is_like(columns, rows, n_rows=60):
        views = SimpleNamespace(column_labels=np.array([0, 0, 1]), row_labels=np.array([halves, thirds]))
        chain = SimpleNamespace(views=views, window=SimpleNamespace(positions=lambda: np.arange(n_rows)))
        model = {"column_labels": np.array(columns), "row_labels": np.array(rows)}
        return ViewsChain.is_like(chain, SimpleNamespace(state=SimpleNamespace(model=model)))

    assert is_like([1, 1, 0], [thirds, 1 - halves])
    assert not is_like([0, 1, 1], [halves, thirds])
    assert not is_like([1, 1, 0], [halves, 1 - halves])
    # Rows that are not in count for nothing.
    assert is_like([0, 0, 1], [halves, np.where(np.arange(60) < 20, 0, 1)], n_rows=40)
