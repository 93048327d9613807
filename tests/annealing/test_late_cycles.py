"""The end of the schedule's time cuts a cycle short; what remains is a valid state, and draws are of whole cycles."""

from __future__ import annotations

import numpy as np
import pytest
from support.clocks import tick_at_each_look
from support.tables import blobs

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import EnergyAnneal, SubsampleAnneal, TemperedAccelerating, clock
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.annealing.chain import AnnealedChain
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.mixtures import mixture_chain
from sklearn_subanneal.views import views_chain

FIELDS = [("chain", "i4"), ("sweep", "i4"), ("seconds", "f8"), ("progress", "f8"), ("n_assigned", "i8"),
          ("inverse_temperature", "f8"), ("n_made", "i8"), ("log_joint", "f8")]  # fmt: skip
N_ROWS = 1000


class Slowing(AnnealedChain):
    """Its assignments take time in proportion to the rows that are in; it looks at the clock at every tenth."""

    TRACE = np.dtype(FIELDS)

    def __init__(self, monkeypatch, cyclic=True, slow_leg=None, growth=1.0):
        self.now, self.inside, self.all_sizes = 0.0, set(), []
        self.slow_leg, self.cost, self.growth = slow_leg, 1e-6, growth
        monkeypatch.setattr(clock, "now", lambda: self.now)
        window = Window([0, 300, N_ROWS], [0.3, 0.7], cyclic)
        super().__init__(N_ROWS, np.arange(N_ROWS), window, np.random.default_rng(0))

    def cycle(self, step, context):
        n_made = 0
        for leaving, entering in self.moves_of_rows(step, 10, context):
            for one, other in zip(leaving, entering, strict=True):
                self.inside -= {one}
                self.inside |= {other} - {-1}
            n_made += len(leaving)
            self.now += (1e-1 if self.leg == self.slow_leg else self.cost) * len(leaving) * len(self.inside)
        assert self.inside == set(self.window.positions()) and len(self.inside) == self.window.size
        self.all_sizes.append(self.window.size)
        self.cost *= self.growth
        return {"n_made": n_made, "log_joint": float(self.leg)}

    def start_from_prior(self):
        self.inside = set(range(N_ROWS))

    def state(self):
        return len(self.trace)

    def labels_of_rows(self):
        return np.zeros(self.n_rows, int)

    def get_state(self):
        return {"inside": set(self.inside)}

    def set_state(self, state):
        self.inside = set(state["inside"])


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("limit", [0.1, 0.3, 1.0, 2.0, 3.0, 7.0])
def test_a_cycle_ends_with_the_time(monkeypatch, limit, cyclic):
    """A whole cycle takes a second at the end, and the rows that are out need no more than half of one to enter."""
    chain = Slowing(monkeypatch, cyclic)
    trace = chain.run(SubsampleAnneal(40), 3, 1, limit, ChainContext()).trace
    first = chain.draws[0] - 1
    assert 0.8 * limit <= trace["seconds"][first - 1] < 0.8 * limit + 0.5 + 0.02
    assert (np.diff(chain.all_sizes) >= 0).all() and chain.all_sizes[first - 1] == N_ROWS
    # Draws are made after whole cycles alone, however late it is.
    assert (trace["n_made"][first:] == N_ROWS).all()


def test_without_a_limit_no_cycle_is_cut(monkeypatch):
    chain = Slowing(monkeypatch)
    trace = chain.run(SubsampleAnneal(3), 1, 1, None, ChainContext()).trace
    assert (trace["n_made"][1:] >= trace["n_assigned"][:-1]).all()


def test_of_starts_the_complete_one_goes_on(monkeypatch):
    """Time ends in the second start, so that nobody knows whether it is better."""
    chain = Slowing(monkeypatch, slow_leg=1)
    schedule = TemperedAccelerating(20, n_small=100, n_first=10, initial_powers=(0.5, 1.0), start_share=0.4)
    trace = chain.run(schedule, 1, 1, 10.0, ChainContext()).trace
    # The log joint density is the leg: 0 and 1 for the starts.
    assert set(trace["log_joint"]) == {0.0, 2.0} and trace["sweep"][-1] == len(trace)
    assert chain.best is None and (trace["n_assigned"][trace["log_joint"] == 2.0] == N_ROWS).all()


def test_a_chain_that_is_hot_when_time_ends_cools_down(monkeypatch):
    # Cycles of 1, 1.5, 2.25, and 3.375 seconds, the last of which was expected to end in time.
    chain = Slowing(monkeypatch, growth=1.5)
    trace = chain.run(EnergyAnneal(passes=20), 1, 1, 10.0, ChainContext()).trace
    first = chain.draws[0] - 1
    assert trace["inverse_temperature"][first - 2] < 1.0 and 8.0 <= trace["seconds"][first - 2] < 8.04
    assert (trace["inverse_temperature"][first - 1 :] == 1.0).all() and (trace["n_made"][first - 1 :] == N_ROWS).all()


@pytest.mark.parametrize("seconds", [1e-4, 1e-3, 2.3e-3, 7e-3, 2e-2])
@pytest.mark.parametrize("subsampling", ["cyclic", "random"])
@pytest.mark.parametrize("estimator", [CrossCat, SubsampleAnnealedDPMM])
def test_a_fit_that_is_cut_anywhere_has_all_rows(monkeypatch, estimator, subsampling, seconds):
    monkeypatch.setattr(mixture_chain, "CELLS_PER_BATCH", 64)
    monkeypatch.setattr(views_chain, "CELLS_PER_BATCH", 64)
    tick_at_each_look(monkeypatch, seconds)
    model = estimator(time_limit=0.1, n_chains=1, n_draws=2, random_state=0, subsampling=subsampling)
    model.fit(blobs(600, 4))
    assert model.trace_["n_assigned"][-1] == 600
    assert (np.diff(model.trace_["n_assigned"]) >= 0).all()
    labels = model.view_labels_ if estimator is CrossCat else model.posterior_labels_
    assert labels.min() == 0
    assert np.isfinite(model.log_joint_).all()


def test_views_are_cut_at_the_same_row(monkeypatch):
    """Threads, each of which sweeps a view, stop with the same batch."""
    X = np.tile(np.random.default_rng(0).integers(4, size=(6000, 6)), (1, 4))
    X[:, 12:] = X[::-1, 12:]
    logs = []
    for n_jobs in (1, 2):
        tick_at_each_look(monkeypatch, 2e-3)
        model = CrossCat(
            feature_types=["categorical"] * 24, n_chains=1, n_draws=1, time_limit=0.5, random_state=0, n_jobs=n_jobs
        )
        logs.append(model.fit(X).trace_["log_joint"])
    np.testing.assert_array_equal(*logs)
