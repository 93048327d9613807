"""An interrupt from outside ends all chains of a fit, and their threads."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
from interrupted_jobs import JOBS, interrupted

LONG_JOB = """
import os, sys, threading
import numpy as np
from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import runner

run_one = runner._quietly

def announced(*arguments):
    # In one piece, since two threads may come at once.
    os.write(1, b"running\\n")
    return run_one(*arguments)

runner._quietly = announced
X = np.random.default_rng(0).normal(size=(20_000, 8))
chains = {"n_chains": 3, "n_draws": 10**6, "n_jobs": int(sys.argv[1])}
if sys.argv[2] == "views":
    model = CrossCat(schedule=sys.argv[3], **chains)
else:
    model = SubsampleAnnealedDPMM(covariance_type=sys.argv[2], schedule=sys.argv[3], **chains)
try:
    model.fit(X)
except KeyboardInterrupt:
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    print("interrupted", len(others), flush=True)
    for thread in others:
        thread.join()
    print("threads ended", not hasattr(model, "labels_"), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT that a parent could send")
@pytest.mark.parametrize(
    ("model", "schedule", "n_jobs"),
    [
        ("views", "anneal", 2),
        pytest.param("views", "anneal", 1, marks=pytest.mark.slow),
        *(pytest.param("views", "sequential", n_jobs, marks=pytest.mark.slow) for n_jobs in (1, 2)),
        *(pytest.param("diag", "anneal", n_jobs, marks=pytest.mark.slow) for n_jobs in (1, 2)),
        *(pytest.param("full", "anneal", n_jobs, marks=pytest.mark.slow) for n_jobs in (1, 2)),
    ],
)
def test_an_interrupt_ends_all_chains(model, schedule, n_jobs):
    """The chains would take days; that they look at the cancel flag soon is tested in tests/annealing."""
    job = [sys.executable, "-c", LONG_JOB, str(n_jobs), model, schedule]
    with subprocess.Popen(job, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "running\n"
            time.sleep(0.5)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            left, _ = process.communicate(timeout=60)
            # Other chains may have begun after the first.
            interrupted, ended = left.splitlines()[-2:]
            word, n_threads = interrupted.split()
            assert word == "interrupted" and (int(n_threads) > 0) == (n_jobs > 1)
            assert ended == "threads ended True"
            assert process.returncode == 0
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT that a parent could send")
@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_an_interrupt_ends_every_job(name):
    """Within a minute, on any machine; a fit leaves no thread, and the model as it was."""
    assert interrupted(name, 0.5) < 60.0
