"""Blocks on the workers of Dask: bits of threads, whatever dies; nothing is left behind; traffic without rows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from support.mixed_rows import mixed_rows

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal._core.dask_tasks import Tasks
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.shards import ShardedTable, predict_shards
from sklearn_subanneal.shards.dask_blocks import DaskBlocks
from sklearn_subanneal.shards.dask_workers import DaskWorkers
from sklearn_subanneal.shards.row_source import source_of
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture

distributed = pytest.importorskip("dask.distributed")
frames = pytest.importorskip("dask.dataframe")

N_ROWS, BLOCK_ROWS = 2500, 250
# The draw is that after the second sweep of all rows, however soon the chain is thought to have arrived.
SETTINGS = {"n_chains": 1, "n_draws": 1, "thin": 2, "max_sweeps": 0, "random_state": 0}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(ShardedTable, "BLOCK_ROWS", BLOCK_ROWS)


@pytest.fixture(scope="module")
def table():
    frame, _ = mixed_rows(N_ROWS, 0)
    return frame


def cluster_of(n_workers, **settings):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", **settings
    )


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as cluster, distributed.Client(cluster) as own:
        yield own


def fitted(X, covariance_type="full", **where):
    model = SubsampleAnnealedDPMM(covariance_type=covariance_type, **SETTINGS)
    return model.fit(ShardedTable(X, n_start_rows=400, **where))


@pytest.fixture(scope="module")
def expected(table):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ShardedTable, "BLOCK_ROWS", BLOCK_ROWS)
        model = SubsampleAnnealedDPMM(covariance_type="full", n_jobs=2, **SETTINGS)
        return model.fit(ShardedTable(table, n_start_rows=400))


def assert_same_bits(one, two):
    assert_array_equal(one.trace_["log_joint"], two.trace_["log_joint"])
    for name in ("labels_", "probabilities_", "posterior_labels_", "posterior_rows_", "log_joint_"):
        assert_array_equal(getattr(one, name), getattr(two, name))


def assert_nothing_is_left(client):
    """Results are deleted some time after they are released."""
    end = time.monotonic() + 5.0
    while client.who_has() and time.monotonic() < end:
        time.sleep(0.05)
    assert not client.who_has()


@pytest.fixture
def killed_at(monkeypatch):
    """Kills a worker before the n-th piece of work."""

    def kill_at(client, n):
        client.wait_for_workers(2, timeout=60)
        todo, update = [n], DaskWorkers._update

        def updated(self, *work):
            todo[0] -= 1
            if todo[0] == 0:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            return update(self, *work)

        monkeypatch.setattr(DaskWorkers, "_update", updated)
        return todo

    return kill_at


def test_threads_give_the_same_bits(table, expected):
    assert_same_bits(fitted(table), expected)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_a_worker_is_killed(table, expected, client, killed_at, tmp_path, monkeypatch):
    """Cells and labels are in files; the collection has partitions of all sizes, one of them empty."""
    monkeypatch.setattr(DaskWorkers, "PIECES", 4)
    X = frames.concat([frames.from_pandas(table[:900], npartitions=7), frames.from_pandas(table[900:], npartitions=1)])
    X = frames.concat([X.partitions[:3], X.partitions[3][X.partitions[3]["a"] > 1e9], X.partitions[3:]])
    # Sweeps since the start have to be made again, and blocks are kept in files after it.
    todo = killed_at(client, 3)
    assert_same_bits(fitted(X, folder=tmp_path, client=client), expected)
    assert todo[0] < -4
    assert_nothing_is_left(client)
    assert not list(tmp_path.iterdir())


def test_parquet_files(table, expected, client, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(DaskWorkers, "PIECES", 7)
    (tmp_path / "in").mkdir()
    table[:1700].to_parquet(tmp_path / "in" / "0.parquet", row_group_size=600)
    table[1700:].to_parquet(tmp_path / "in" / "1.parquet")
    model = fitted(tmp_path / "in", client=client)
    assert_same_bits(model, expected)
    written = predict_shards(model, tmp_path / "in", folder=tmp_path / "out", client=client)
    assert_array_equal(pd.read_parquet(written)["label"], model.predict(table))
    assert_nothing_is_left(client)


def test_errors_on_workers_are_those_of_this_process(table, client):
    X = table[["a", "b"]].to_numpy(float, copy=True)
    X[-1, 1] = np.inf
    for where in ({}, {"client": client}):
        with pytest.raises(ValueError, match="contains infinity"):
            fitted(X, **where)
    assert_nothing_is_left(client)


def test_a_folder_that_workers_do_not_share(client, expected, table, tmp_path):
    encode = partial(expected._table.encode, expected)
    with pytest.raises(ValueError, match=r"folder must be one that all workers share, and '.*nowhere' is not there"):
        with Tasks(client) as tasks:
            DaskBlocks(tasks, source_of(table), expected._models, encode, tmp_path / "nowhere", BLOCK_ROWS)
    assert_nothing_is_left(client)


def test_an_error_in_this_process_leaves_nothing(table, client, monkeypatch):
    def ended(self, *work):
        raise KeyboardInterrupt

    monkeypatch.setattr(DaskWorkers, "_update", ended)
    with pytest.raises(KeyboardInterrupt) as caught:
        fitted(table, client=client)
    # The traceback, which holds what the fit had, is still there.
    assert caught.tb is not None
    assert_nothing_is_left(client)


def test_traffic_does_not_depend_on_the_number_of_rows(client, expected):
    """Shards of both tables have the same number of branches."""
    found = []
    for n_rows in (2000, 16_000):
        frame, _ = mixed_rows(n_rows, 0)
        table = ShardedTable(frame[["a", "b"]].assign(c="red", d=1, e=True), client=client)
        with table.blocks(expected._models, partial(expected._table.encode, expected)) as blocks:
            mixture = ShardedMixture(DaskWorkers(blocks), PitmanYor(1.0, 0.0).bind(), np.random.default_rng(0))
            mixture.blocks.start([np.arange(BLOCK_ROWS) % 5] * blocks.n_blocks)
            mixture.recount()
            before = blocks.bytes_sent, blocks.bytes_received
            mixture.sweep()
            found.append(np.subtract([blocks.bytes_sent, blocks.bytes_received], before))
            assert blocks.bytes_listed == 0
    # Numbers may have some more digits.
    assert np.all(np.abs(found[1] - found[0]) <= 0.01 * found[0] + 16)
    assert np.all(found[0] > 500)


@pytest.mark.parametrize("client", [3, "tcp://127.0.0.1:8786"])
def test_no_clients(table, client):
    with pytest.raises(ValueError, match=r"client must be a dask\.distributed\.Client or None, got"):
        ShardedTable(table, client=client)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 4])
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_any_number_of_workers(table, n_workers, covariance_type, tmp_path):
    np.save(tmp_path / "table.npy", table[["a", "b", "d"]].to_numpy(float))
    here = fitted(np.load(tmp_path / "table.npy"), covariance_type)
    with cluster_of(n_workers) as cluster, distributed.Client(cluster) as client:
        assert_same_bits(fitted(tmp_path / "table.npy", covariance_type, client=client), here)
        assert_same_bits(fitted(np.load(tmp_path / "table.npy"), covariance_type, client=client), here)


@pytest.mark.slow
@pytest.mark.parametrize("in_files", [False, True])
def test_views(table, client, in_files, tmp_path, monkeypatch):
    monkeypatch.setattr(DaskWorkers, "PIECES", 7)
    model = CrossCat(covariance_type="diag", **SETTINGS)
    here = model.fit(ShardedTable(table, n_start_rows=400)).view_labels_, model.trace_["log_joint"]
    where = {"folder": tmp_path} if in_files else {}
    model.fit(ShardedTable(frames.from_pandas(table, npartitions=3), n_start_rows=400, client=client, **where))
    assert_array_equal(model.view_labels_, here[0])
    assert_array_equal(model.trace_["log_joint"], here[1])
    assert_nothing_is_left(client)


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 2, 3, 5, 8, 10])
@pytest.mark.parametrize("in_files", [False, True])
def test_a_worker_is_killed_at_any_time(table, expected, killed_at, at, in_files, tmp_path, monkeypatch):
    monkeypatch.setattr(DaskWorkers, "PIECES", 4)
    where = {"folder": tmp_path} if in_files else {}
    # A cluster for each: a nanny may fail to restart a worker that is killed soon after it has been restarted.
    with cluster_of(2) as cluster, distributed.Client(cluster) as client:
        todo = killed_at(client, at)
        assert_same_bits(fitted(frames.from_pandas(table, npartitions=6), client=client, **where), expected)
        assert todo[0] <= 0
        assert_nothing_is_left(client)


class Cluster:
    """A scheduler and workers without nannies, in processes of their own."""

    def __init__(self, n_workers, port):
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._started("scheduler", "--port", str(port), "--host", "127.0.0.1")
        self.workers = [
            self._started("worker", self.address, "--no-nanny", "--nthreads", "1") for _ in range(n_workers)
        ]

    def _started(self, what, *arguments):
        job = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments, "--no-dashboard"]
        return subprocess.Popen(job, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def port():
    import socket

    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return own.getsockname()[1]


@pytest.mark.slow
def test_a_worker_that_does_not_come_back(table, expected, port, monkeypatch):
    monkeypatch.setattr(DaskWorkers, "PIECES", 7)
    with Cluster(2, port) as cluster, distributed.Client(cluster.address) as client:
        client.wait_for_workers(2)
        todo, update = [10], DaskWorkers._update

        def updated(self, *work):
            todo[0] -= 1
            if todo[0] == 0:
                cluster.workers[0].kill()
            return update(self, *work)

        monkeypatch.setattr(DaskWorkers, "_update", updated)
        assert_same_bits(fitted(frames.from_pandas(table, npartitions=6), client=client), expected)
        assert len(client.nthreads()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("at", ["start", "sweeps"])
def test_a_scheduler_that_goes_away(table, port, at, monkeypatch):
    with Cluster(1, port) as cluster, distributed.Client(cluster.address) as client:
        client.wait_for_workers(1)
        killed = []

        def then_killed(name):
            own = getattr(DaskWorkers, name)

            def work(self, *arguments):
                if not killed:
                    cluster.scheduler.kill()
                    killed.append(time.monotonic())
                return own(self, *arguments)

            monkeypatch.setattr(DaskWorkers, name, work)

        then_killed("start" if at == "start" else "_update")
        with pytest.raises(ConnectionError, match=r"the Dask scheduler at tcp://.* is gone, .*fit again"):
            fitted(table, client=client)
        assert time.monotonic() - killed[0] < 10.0


INTERRUPTED = """
import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.shards import ShardedTable
from sklearn_subanneal.shards.dask_workers import DaskWorkers
import time

if __name__ == "__main__":
    ShardedTable.BLOCK_ROWS = 1000
    X = np.random.default_rng(0).normal(size=(5000, 3))
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        update = DaskWorkers._update

        def updated(self, *work):
            print("running", flush=True)
            return update(self, *work)

        DaskWorkers._update = updated
        try:
            SubsampleAnnealedDPMM(n_draws=10**6, n_chains=1).fit(ShardedTable(X, n_start_rows=500, client=client))
        except KeyboardInterrupt:
            time.sleep(1.0)
            print("left", len(client.who_has()), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT that a parent could send")
def test_an_interrupt_leaves_nothing(tmp_path):
    (tmp_path / "job.py").write_text(INTERRUPTED)
    job = [sys.executable, str(tmp_path / "job.py")]
    with subprocess.Popen(job, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        lines = (line.strip() for line in process.stdout)
        for _ in range(20):
            assert next(lines) == "running"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        last = next(line for line in lines if line != "running")
        assert last == "left 0" and time.monotonic() - began < 10.0
