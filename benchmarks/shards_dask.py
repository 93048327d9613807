"""Fits to a table in shards on Dask workers: seconds of a sweep by the number of workers, and bytes of traffic.

Planted clusters in 32 columns (sixteen reals, eight categories, five counts, three booleans), 5 % of the cells missing,
in Parquet files, which the workers of a ``LocalCluster`` read, one thread each. A sweep is a cycle of
``SubsampleAnnealedDPMM(covariance_type="diag")``: two sweeps over all rows, moves of single rows, four proposals of
splits and merges, and hyperparameters. The first line is that of one thread without Dask. Bytes are those of pickled
plans and replies; labels are kept in a folder. CPU seconds are of the whole fit; this process has the scheduler, too.
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
from sklearn_subanneal.shards.dask_blocks import DaskBlocks

N_CYCLES = 10


class Wide(Planted):
    """The planted mixture of thirty-two columns."""

    SHAPE = (16, 8, 5, 3)


class Counted(DaskBlocks):
    """Blocks that remember their traffic after they are gone."""

    seen: list = []

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.seen.append(self)


def fit(folder: Path, n_workers: int, n_rows: int) -> dict:
    """One fit, in this process and on ``n_workers``; 0: without Dask."""
    model = SubsampleAnnealedDPMM(
        covariance_type="diag", n_chains=1, n_jobs=1, n_draws=N_CYCLES, max_sweeps=2, random_state=0
    )
    if n_workers == 0:
        return measured(model, ShardedTable(folder / "table", folder=folder), n_rows)
    from dask.distributed import Client, LocalCluster

    from sklearn_subanneal.shards import sharded_table

    sharded_table.DaskBlocks = Counted
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        before = client.run(time.process_time)
        out = measured(model, ShardedTable(folder / "table", folder=folder, client=client), n_rows)
        after = client.run(time.process_time)
    out["CPU seconds of the busiest worker"] = max(after[address] - before[address] for address in after)
    (blocks,) = Counted.seen
    n_cycles = N_CYCLES + 2
    out["kB sent a sweep"] = blocks.bytes_sent / n_cycles / 1000.0
    out["kB received a sweep"] = blocks.bytes_received / n_cycles / 1000.0
    return out


def measured(model, table, n_rows: int) -> dict:
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(table)
    whole, cpu = time.perf_counter() - start, time.process_time() - cpu
    seconds = model.trace_["seconds"][model.trace_["n_assigned"] == n_rows]
    return {
        "seconds a sweep": float(np.median(np.diff(seconds[-N_CYCLES:]))),
        "seconds in all": whole,
        "CPU seconds of this process": cpu,
        "clusters": model.n_clusters_,
        "log joint": float(model.log_joint_[0, -1]),
    }


def main() -> None:
    options = parser(__doc__.splitlines()[0], seeds=3)
    options.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    options.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    options.add_argument("--folder", help="where the files are written")
    options.add_argument("--fit", nargs=3, help="one fit in this process, with its arguments")
    chosen = options.parse_args()
    if chosen.fit:
        print(json.dumps(fit(Path(chosen.fit[0]), int(chosen.fit[1]), int(chosen.fit[2]))))
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
                    given = [str(value) for value in (folder, n_workers, n_rows)]
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
