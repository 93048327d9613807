"""What happens to fits when workers die, disks are full, files are damaged, or two fits run at a time."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading

import joblib
import numpy as np
import pytest
from support.tables import blobs
from support.tiers import quick_only

from sklearn_subanneal import (
    Checkpoint,
    CrossCat,
    SubsampleAnnealedDPMM,
    TraceMonitor,
    VariationalTemperingFMM,
    VariationalTemperingLDA,
)
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.annealing.saved_chain import SavedChain

X = blobs(60, 3)
COUNTS = np.floor(np.abs(X) * 3.0)
SHORT = {"n_chains": 3, "n_draws": 2, "max_sweeps": 5, "schedule": SubsampleAnneal(passes=5), "random_state": 0}
MODELS = {
    "CrossCat": (CrossCat(**SHORT), X),
    "mixture": (SubsampleAnnealedDPMM(**SHORT), X),
    "LDA": (VariationalTemperingLDA(2, max_iter=6, random_state=0), COUNTS),
    "FMM": (VariationalTemperingFMM(2, n_init=2, random_state=0), X),
}
EVERY = pytest.mark.parametrize("name", MODELS)
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.skipif(sys.platform == "win32", reason="has neither SIGKILL nor locks of folders"),
]


def fitted(name, *callbacks, **params):
    model, table = MODELS[name]
    return type(model)(**model.get_params(deep=False) | params).set_callbacks(*callbacks).fit(table)


def numbers(model):
    names = ("log_joint_", "posterior_labels_", "labels_", "components_", "inverse_temperatures_")
    return [getattr(model, name) for name in names if hasattr(model, name)]


def assert_same(one, two):
    for left, right in zip(numbers(one), numbers(two), strict=True):
        np.testing.assert_array_equal(left, right)


class At:
    """A callback that calls a function at a sweep, or pass, of a chain."""

    def __init__(self, chain, sweep, function):
        self.where, self.function = (chain, sweep), function

    def setup(self, estimator, context):
        pass

    on_fit_task_begin = teardown = setup

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        trace = (metadata or {}).get("trace")
        if trace and (trace["chain"], trace["sweep"]) == self.where:
            self.function()


# --- Workers --------------------------------------------------------------------------------------------------------


class Suicide:
    """Kills the process that calls it, but not that of the test, and only once."""

    def __init__(self, folder):
        self.parent, self.file = os.getpid(), os.fspath(folder / "killed")

    def __call__(self):
        if os.getpid() != self.parent and not os.path.exists(self.file):
            open(self.file, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CrossCat", "mixture"])
def test_a_killed_worker_process_is_told_and_the_fit_resumes(name, tmp_path):
    saved = Checkpoint(tmp_path / "saved", 0.0)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        with pytest.raises(joblib.externals.loky.process_executor.TerminatedWorkerError, match=r"SIGKILL\(-9\)"):
            fitted(name, saved, TraceMonitor(), At(1, 3, Suicide(tmp_path)))
        assert (tmp_path / "killed").exists() and (tmp_path / "saved" / "chain-1.checkpoint").exists()
        assert_same(fitted(name, saved, TraceMonitor()), fitted(name))


@pytest.mark.slow
def test_a_killed_dask_worker_is_replaced(tmp_path):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        model = fitted("CrossCat", Checkpoint(tmp_path / "saved", 0.0), At(1, 3, Suicide(tmp_path)))
    assert (tmp_path / "killed").exists()
    assert_same(model, fitted("CrossCat"))


# --- Disks ----------------------------------------------------------------------------------------------------------

# The operating system allows no file of this process to be longer, as on a full disk.
FULL = """
import resource, signal, sys, warnings
sys.path.insert(0, {folder!r})
from test_faults import At, Checkpoint, SavedChain, assert_same, fitted
from pathlib import Path

class Stop(BaseException):
    pass

def stop():
    raise Stop

for name in ("CrossCat", "LDA"):
    folder = Path({saved!r}, name)
    try:
        fitted(name, Checkpoint(folder, 0.0), At(0, 4, stop))
    except Stop:
        pass
    before = {{file: file.read_bytes() for file in folder.iterdir()}}
    assert before, name
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = fitted(name, Checkpoint(folder, 0.0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    messages = {{str(one.message) for one in told}}
    assert any(str(folder) in one and "File too large" in one and "The fit continues" in one for one in messages)
    assert_same(model, fitted(name))
    # What was there is there still, and can be read; nothing is left of what could not be written.
    assert before == {{file: file.read_bytes() for file in folder.iterdir()}}
    assert SavedChain.read(folder / "chain-0.checkpoint").number == 0
    assert_same(fitted(name, Checkpoint(folder, 0.0)), model)
print("continued")
"""


@pytest.mark.slow
def test_fits_continue_on_a_full_disk(tmp_path):
    job = FULL.format(folder=os.path.dirname(__file__), saved=os.fspath(tmp_path))
    tests = os.path.dirname(os.path.dirname(__file__))
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", job], capture_output=True, text=True, timeout=200, env=os.environ | {"PYTHONPATH": path}
    )
    assert done.stdout == "continued\n", done.stderr


@EVERY
@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_folder_that_cannot_be_written_to_is_told_at_once(name, number, tmp_path, monkeypatch):
    def refused(dir):
        raise OSError(number, os.strerror(number), str(dir))

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    with pytest.raises(OSError, match=rf"No checkpoints can be written to {tmp_path}: {os.strerror(number)}. Give"):
        fitted(name, Checkpoint(tmp_path), At(0, 0, lambda: pytest.fail("the fit has begun")))


def test_a_folder_that_cannot_be_made_is_told():
    with pytest.raises(OSError, match="No checkpoints can be written to /proc/nowhere/at/all: No such file"):
        fitted("mixture", Checkpoint("/proc/nowhere/at/all"))


# --- Files ----------------------------------------------------------------------------------------------------------


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """A copy with some bytes changed, lost, repeated or moved."""
    cut, end = sorted(rng.integers(0, len(data) + 1, 2).tolist())
    other = bytes(rng.integers(0, 256, int(rng.integers(1, 20)), np.uint8))
    at = int(rng.integers(len(data)))
    ways = [
        data[:cut],
        data[:at] + other + data[at + len(other) :],
        data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :],
        data[:cut] + data[end:],
        data[:end] + data[cut:],
        data[:at] + other + data[at:],
        data[:cut] + bytes(end - cut) + data[end:],
        data[end:] + data[cut:end] + data[:cut],
    ]
    return ways[int(rng.integers(len(ways)))]


@EVERY
def test_mutated_files_are_refused(name, tmp_path):
    fitted(name, Checkpoint(tmp_path))
    file, rng = tmp_path / "chain-0.checkpoint", np.random.default_rng(0)
    right, n_refused = file.read_bytes(), 0
    for _ in range(250):
        data = mutated(right, rng)
        if data == right:
            continue
        file.write_bytes(data)
        with pytest.raises(ValueError, match=r"chain-0.checkpoint is damaged.*Restore it.*or delete it"):
            SavedChain.read(file)
        n_refused += 1
    assert n_refused > 200
    with pytest.raises(ValueError, match=r"chain-0.checkpoint is damaged.*Restore it.*or delete it"):
        fitted(name, Checkpoint(tmp_path))
    file.unlink()
    assert_same(fitted(name, Checkpoint(tmp_path)), fitted(name))


# --- Two fits at a time ---------------------------------------------------------------------------------------------


def in_threads(*functions):
    """Results of functions that run at a time, or the exceptions that they raised."""
    out = [None] * len(functions)

    def run(number):
        try:
            out[number] = functions[number]()
        except Exception as error:
            out[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out


@EVERY
def test_fits_in_threads_are_those_of_one_after_the_other(name):
    one, two = in_threads(lambda: fitted(name), lambda: fitted(name, random_state=1))
    assert_same(one, fitted(name))
    assert_same(two, fitted(name, random_state=1))


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_fits_in_workers_are_those_of_this_process(backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(fitted)(name, n_jobs=2) for name in MODELS if name != "FMM")
    for name, model in zip([name for name in MODELS if name != "FMM"], found, strict=True):
        assert_same(model, fitted(name))


FORK = """
import os, sys
sys.path.insert(0, {folder!r})
from test_faults import MODELS, assert_same, fitted

jobs = {{name: {{}} if name == "FMM" else {{"n_jobs": 2}} for name in MODELS}}
whole = {{name: fitted(name, **own) for name, own in jobs.items()}}
if child := os.fork():
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
else:
    for name, own in jobs.items():
        assert_same(fitted(name, **own), whole[name])
    os._exit(0)
"""


def test_fits_in_a_forked_process_are_those_of_its_parent():
    """Though the parent had threads of its own, which a fork does not copy."""
    tests = os.path.dirname(os.path.dirname(__file__))
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    job = [sys.executable, "-c", FORK.format(folder=os.path.dirname(__file__))]
    done = subprocess.run(job, capture_output=True, text=True, timeout=100, env=os.environ | {"PYTHONPATH": path})
    assert done.stdout == "0\n", done.stderr


@pytest.mark.parametrize("name", quick_only(MODELS, "mixture", "LDA"))
@pytest.mark.parametrize("shared", [False, True], ids=["two checkpoints", "one checkpoint"])
def test_only_one_fit_at_a_time_writes_to_a_folder(name, shared, tmp_path):
    begun, refused = threading.Event(), threading.Event()
    first, second = Checkpoint(tmp_path, 0.0), Checkpoint(tmp_path, 0.0)

    def long():
        begun.set()
        assert refused.wait(60)

    def other():
        assert begun.wait(60)
        try:
            return fitted(name, first if shared else second, random_state=0)
        finally:
            refused.set()

    whole, error = in_threads(lambda: fitted(name, first, At(0, 2, long)), other)
    assert isinstance(error, ValueError), error
    assert f"Another fit is writing its checkpoints to {tmp_path}. Wait until it has ended, or give" in str(error)
    assert_same(whole, fitted(name))
    # Then it is free, and has what the first fit wrote.
    assert_same(fitted(name, second), whole)


def test_a_killed_fit_leaves_no_lock(tmp_path):
    child = os.fork()
    if not child:
        fitted("mixture", Checkpoint(tmp_path, 0.0), At(1, 3, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert_same(fitted("mixture", Checkpoint(tmp_path, 0.0)), fitted("mixture"))
