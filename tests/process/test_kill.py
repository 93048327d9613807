"""A fit that the system kills goes on from its checkpoints, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

JOB = """
import os, signal, sys
import numpy as np
from sklearn_subanneal import (
    Checkpoint, CrossCat, SubsampleAnnealedDPMM, TemperedGaussianProcessRegressor, TreeGuidedNRMM
)
from sklearn_subanneal.annealing import SubsampleAnneal


class Suicide:
    def __init__(self, chain, sweep):
        self.where = chain, sweep

    def setup(self, estimator, context):
        pass

    on_fit_task_begin = teardown = setup

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        trace = (metadata or {}).get("trace")
        if trace and (trace["chain"], trace["sweep"]) == self.where:
            os.kill(os.getpid(), signal.SIGKILL)


def make(kind):
    if kind is TemperedGaussianProcessRegressor:
        return kind(n_chains=2, n_draws=40, n_warmup=20, n_jobs=n_jobs, random_state=0)
    return kind(n_chains=2, n_draws=4, thin=5, n_jobs=n_jobs, schedule=SubsampleAnneal(6), random_state=0)


folder, name, n_jobs, kills = sys.argv[1], sys.argv[2], int(sys.argv[3]), eval(sys.argv[4])
kind = globals()[name]
X = np.random.default_rng(0).normal(size=(60, 4))
data = (X[:30], X[:30, 0] ** 2) if kind is TemperedGaussianProcessRegressor else (X,)
for kill in kills:
    if child := os.fork():
        status = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, kill
    else:
        make(kind).set_callbacks(Checkpoint(folder, seconds=0.0), Suicide(*kill)).fit(*data)
        os._exit(0)
found = make(kind).set_callbacks(Checkpoint(folder)).fit(*data)
whole = make(kind).fit(*data)
if kind is TemperedGaussianProcessRegressor:
    assert np.array_equal(found.result_.draws, whole.result_.draws)
    assert np.array_equal(found.predict(X), whole.predict(X))
else:
    for name in ("log_joint_", "posterior_labels_", "labels_"):
        assert np.array_equal(getattr(found, name), getattr(whole, name)), name
    assert np.array_equal(found.score_samples(X), whole.score_samples(X))
for name in found.trace_.dtype.names:
    # A prior has not all of the parameters that the trace has fields for.
    assert name.startswith("seconds") or np.array_equal(found.trace_[name], whole.trace_[name], equal_nan=True), name
print("the same", len(whole.trace_))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills copies of a process")
@pytest.mark.parametrize(
    ("name", "n_jobs", "kills"),
    [
        ("SubsampleAnnealedDPMM", 1, [(1, 5)]),
        ("TemperedGaussianProcessRegressor", 1, [(0, 10), (1, 3)]),
        pytest.param("TreeGuidedNRMM", 1, [(0, 3), (0, 20), (1, 2)], marks=pytest.mark.slow),
        # In the schedule, between two draws, before the second chain began, and in it.
        pytest.param("CrossCat", 1, [(0, 3), (0, 20), (0, 26), (1, 0), (1, 22)], marks=pytest.mark.slow),
        pytest.param("SubsampleAnnealedDPMM", 2, [(1, 5), (0, 20)], marks=pytest.mark.slow),
    ],
)
def test_killed_by_the_system(name, n_jobs, kills, tmp_path):
    job = [sys.executable, "-c", JOB, str(tmp_path), name, str(n_jobs), repr(kills)]
    done = subprocess.run(job, capture_output=True, text=True, timeout=100)
    assert done.stdout.startswith("the same"), done.stderr
