"""Fits to a table in shards on Dask workers: seconds of a sweep by the number of workers, and bytes of traffic.

Planted clusters in 32 columns (sixteen reals, eight categories, five counts, three booleans), 5 % of the cells missing,
in Parquet files, which the workers of a ``LocalCluster`` read, one thread each. A sweep is a cycle of
``SubsampleAnnealedDPMM(covariance_type="diag")``: two sweeps over all rows, moves of single rows, four proposals of
splits and merges, and hyperparameters. The first line is that of one thread without Dask. Bytes are those of pickled
plans and replies; labels are kept in a folder. Seconds of this process are those of Dask's scheduler, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _common import note, parser, report, spread
from shards import Planted, write

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.shards import ShardedTable
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture

N_CYCLES = 10


class Wide(Planted):
    """The planted mixture of thirty-two columns."""

    SHAPE = (16, 8, 5, 3)


class Cycles:
    """CPU seconds of this process and of each worker, and bytes of traffic, after each cycle of a chain."""

    def __init__(self):
        self.client, self.seen = None, []
        learn = ShardedMixture.learn

        def learned(mixture, *arguments):
            learn(mixture, *arguments)
            self._look(mixture.blocks.table)

        ShardedMixture.learn = learned

    def _look(self, table) -> None:
        one = {"wall": time.perf_counter(), "this process": time.process_time()}
        if self.client is not None:
            one |= self.client.run(time.process_time)
            one |= {"sent": table.bytes_sent, "received": table.bytes_received}
        self.seen.append(one)

    def medians(self) -> dict:
        """Of the last cycles."""
        last = self.seen[-N_CYCLES - 1 :]
        rises = {name: float(np.median(np.diff([one[name] for one in last]))) for name in last[0]}
        out = {"seconds a sweep": rises.pop("wall"), "CPU seconds a sweep, this process": rises.pop("this process")}
        if self.client is not None:
            out |= {f"kB a sweep, {name}": rises.pop(name) / 1000.0 for name in ("sent", "received")}
            out["CPU seconds a sweep, busiest worker"] = max(rises.values())
        return out


def fit(folder: Path, n_workers: int) -> dict:
    """One fit, in this process and on ``n_workers``; 0: without Dask."""
    model = SubsampleAnnealedDPMM(
        covariance_type="diag", n_chains=1, n_jobs=1, n_draws=N_CYCLES, max_sweeps=2, random_state=0
    )
    cycles = Cycles()
    if n_workers == 0:
        return measured(model, ShardedTable(folder / "table", folder=folder), cycles)
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        cycles.client = client
        return measured(model, ShardedTable(folder / "table", folder=folder, client=client), cycles)


def measured(model, table, cycles: Cycles) -> dict:
    start = time.perf_counter()
    model.fit(table)
    whole = time.perf_counter() - start
    found = {"clusters": model.n_clusters_, "log joint": float(model.log_joint_[0, -1])}
    return {"seconds in all": whole, **cycles.medians(), **found}


def main() -> None:
    options = parser(__doc__.splitlines()[0], seeds=3)
    options.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    options.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    options.add_argument("--folder", help="where the files are written")
    options.add_argument("--fit", nargs=2, help="one fit in this process, with its arguments")
    chosen = options.parse_args()
    if chosen.fit:
        print(json.dumps(fit(Path(chosen.fit[0]), int(chosen.fit[1]))))
        return
    found: dict[str, list] = {}
    for n_rows in [20_000] if chosen.quick else chosen.rows:
        for seed in range(1 if chosen.quick else chosen.seeds):
            with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
                folder = Path(name)
                (folder / "table").mkdir()
                write(Wide(seed), folder / "table", n_rows, seed)
                for n_workers in chosen.workers:
                    label = f"{n_rows} rows, {n_workers or 'no'} workers"
                    given = [str(folder), str(n_workers)]
                    done = subprocess.run([sys.executable, __file__, "--fit", *given], capture_output=True, text=True)
                    if done.returncode:
                        raise SystemExit(done.stderr[-2000:])
                    found.setdefault(label, []).append(json.loads(done.stdout.splitlines()[-1]))
                    note(f"seed {seed}, {label}: {found[label][-1]}")
    report(
        "shards_dask",
        chosen,
        {label: {name: spread([one[name] for one in own]) for name in own[0]} for label, own in found.items()},
    )


if __name__ == "__main__":
    main()
