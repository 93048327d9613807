"""Fits to tables in shards: seconds, memory, agreement with the planted clusters, and held-out log densities.

Thirty planted clusters in twenty columns (ten reals, five categories, three counts, two booleans), 5 % of the cells
missing, in Parquet files. ``SubsampleAnnealedDPMM(covariance_type="diag", n_chains=1)`` is fitted to all of them as a
``ShardedTable`` with its cells in files, and to the first rows in memory, which have a file of their own, and which a
fit in one piece visits one by one. Each fit is a process of its own, whose peak memory is reported; that of the sharded
one includes pages of files that the system may drop. With ``--workers`` the table is fitted once more on so many
workers of a Dask cluster, one thread each: their peak memory is beside that of the cells that each of them visits.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _common import note, parser, report, spread
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.shards import ShardedTable

N_CLUSTERS = 30
N_LEVELS, PIECE, N_TEST = 5, 500_000, 5000


class Planted:
    """The planted mixture.

    Parameters
    ----------
    seed : int
    """

    # Of reals, categories, counts and booleans.
    SHAPE = (10, 5, 3, 2)

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        n_reals, n_categorical, n_counts, n_boolean = self.SHAPE
        self.weights = rng.dirichlet(np.full(N_CLUSTERS, 3.0))
        self.means = rng.normal(scale=2.0, size=(N_CLUSTERS, n_reals))
        self.levels = rng.dirichlet(np.full(N_LEVELS, 0.5), size=(N_CLUSTERS, n_categorical))
        self.rates = rng.gamma(2.0, 3.0, size=(N_CLUSTERS, n_counts))
        self.shares = rng.beta(0.7, 0.7, size=(N_CLUSTERS, n_boolean))

    @property
    def bytes_a_row(self) -> int:
        """Of the typed cells: four for a real or a count, one for a category or a boolean."""
        n_reals, n_categorical, n_counts, n_boolean = self.SHAPE
        return 4 * (n_reals + n_counts) + n_categorical + n_boolean

    def rows(self, n_rows: int, rng) -> tuple[pd.DataFrame, np.ndarray]:
        """Rows, and their clusters."""
        group = rng.choice(N_CLUSTERS, n_rows, p=self.weights)
        columns, (n_reals, n_categorical, n_counts, n_boolean) = {}, self.SHAPE
        for j in range(n_reals):
            columns[f"real{j}"] = (self.means[group, j] + rng.normal(size=n_rows)).astype(np.float32)
        for j in range(n_categorical):
            codes = (rng.random(n_rows)[:, None] > self.levels[:, j].cumsum(axis=1)[group]).sum(axis=1)
            columns[f"category{j}"] = pd.Categorical.from_codes(np.minimum(codes, N_LEVELS - 1), list("abcde"))
        for j in range(n_counts):
            columns[f"count{j}"] = rng.poisson(self.rates[group, j]).astype(np.float64)
        for j in range(n_boolean):
            columns[f"boolean{j}"] = pd.array(rng.random(n_rows) < self.shares[group, j], "boolean")
        frame = pd.DataFrame(columns)
        for name in frame:
            frame.loc[rng.random(n_rows) < 0.05, name] = None
        return frame, group

    def log_densities(self, frame: pd.DataFrame) -> np.ndarray:
        """Of rows, under the planted mixture itself."""
        logs = np.log(self.weights) + np.zeros((len(frame), 1))
        n_reals, n_categorical, n_counts, n_boolean = self.SHAPE

        def add(name, values):
            logs[:] += np.where(frame[name].isna().to_numpy()[:, None], 0.0, values)

        for j in range(n_reals):
            x = frame[f"real{j}"].to_numpy(float)[:, None]
            add(f"real{j}", -0.5 * (np.nan_to_num(x) - self.means[:, j]) ** 2 - 0.5 * np.log(2.0 * np.pi))
        for j in range(n_categorical):
            codes = np.maximum(frame[f"category{j}"].cat.codes.to_numpy(), 0)
            add(f"category{j}", np.log(self.levels[:, j]).T[codes])
        for j in range(n_counts):
            x = np.nan_to_num(frame[f"count{j}"].to_numpy(float))[:, None]
            factorial = np.cumsum(np.log(np.maximum(np.arange(x.max() + 1), 1)))[x.astype(int)]
            add(f"count{j}", x * np.log(self.rates[:, j]) - self.rates[:, j] - factorial)
        for j in range(n_boolean):
            x = frame[f"boolean{j}"].fillna(False).to_numpy(bool)[:, None]
            add(f"boolean{j}", np.log(np.where(x, self.shares[:, j], 1.0 - self.shares[:, j])))
        return np.logaddexp.reduce(logs, axis=1)


def write(planted: Planted, folder: Path, n_rows: int, seed: int) -> np.ndarray:
    """Parquet files of the planted mixture; returns the clusters of their rows."""
    rng, groups = np.random.default_rng([seed, 1]), []
    for i, first in enumerate(range(0, n_rows, PIECE)):
        frame, group = planted.rows(min(PIECE, n_rows - first), rng)
        frame.to_parquet(folder / f"part-{i:04d}.parquet")
        groups.append(group)
    return np.concatenate(groups)


def write_first(folder: Path, n_rows: int) -> None:
    """The first rows of the table in a file of their own, so that a fit to these reads no others."""
    paths = sorted((folder / "table").glob("*.parquet"))[: -(-n_rows // PIECE)]
    pd.concat([pd.read_parquet(path) for path in paths])[:n_rows].to_parquet(folder / "first.parquet")


def peak_memory() -> float:
    """Of this process, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def fit_on_workers(model, folder: Path, n_workers: int) -> dict:
    """Fit on the workers of a cluster; their CPU seconds, and peaks of their memory before and after."""
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        before = max(client.run(peak_memory).values())
        model.fit(ShardedTable(folder / "table", folder=folder, client=client))
        after = client.run(peak_memory).values()
        seconds = client.run(time.process_time).values()
    return {"CPU seconds of workers": sum(seconds), "GiB, worker before": before, "GiB, largest worker": max(after)}


def fit(folder: Path, kind: str, n_rows: int, n_jobs: int, seed: int) -> dict:
    """One fit, in this process."""
    planted, workers = Planted(seed), {}
    model = SubsampleAnnealedDPMM(covariance_type="diag", n_chains=1, n_jobs=n_jobs, random_state=seed)
    start, cpu = time.perf_counter(), time.process_time()
    if kind == "shards":
        model.fit(ShardedTable(folder / "table", folder=folder))
    elif kind == "workers":
        workers = fit_on_workers(model, folder, n_jobs)
        workers["GiB of cells, each worker"] = n_rows * planted.bytes_a_row / n_jobs / 2**30
    else:
        model.fit(pd.read_parquet(folder / "first.parquet"))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_memory()
    groups = np.load(folder / "groups.npy")[: len(model.labels_)]
    new, _ = planted.rows(N_TEST, np.random.default_rng([seed, 2]))
    return {
        "wall seconds": seconds,
        "CPU seconds": cpu,
        "peak GiB": peak,
        "clusters": model.n_clusters_,
        "ARI": adjusted_rand_score(groups, model.labels_),
        "gap, nats per row": float(planted.log_densities(new).mean() - model.score(new)),
        "sweeps": int(model.n_sweeps_[0]),
        **workers,
    }


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--sample", type=int, default=100_000, help="rows of the fit in one piece")
    options.add_argument("--jobs", type=int, default=1, help="threads of the fit to shards")
    options.add_argument("--workers", type=int, default=0, help="workers of one more fit; 0: none")
    options.add_argument("--folder", help="where the files are written")
    options.add_argument("--fit", nargs=5, help="one fit in this process, with its arguments")
    chosen = options.parse_args()
    if chosen.fit:
        folder, kind, *numbers = chosen.fit
        print(json.dumps(fit(Path(folder), kind, *map(int, numbers))))
        return
    n_rows = 200_000 if chosen.quick else chosen.rows
    kinds = {
        "shards": ("shards", n_rows, chosen.jobs),
        f"{chosen.sample} rows in one piece": ("memory", chosen.sample, chosen.jobs),
    }
    if chosen.workers:
        kinds[f"{chosen.workers} workers"] = "workers", n_rows, chosen.workers
    rows: dict[str, list] = {label: [] for label in kinds}
    for seed in range(1 if chosen.quick else chosen.seeds):
        with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
            folder = Path(name)
            (folder / "table").mkdir()
            np.save(folder / "groups.npy", write(Planted(seed), folder / "table", n_rows, seed))
            write_first(folder, chosen.sample)
            for label, (kind, *numbers) in kinds.items():
                given = [str(value) for value in (folder, kind, *numbers, seed)]
                done = subprocess.run([sys.executable, __file__, "--fit", *given], capture_output=True, text=True)
                if done.returncode:
                    raise SystemExit(done.stderr[-2000:])
                rows[label].append(json.loads(done.stdout.splitlines()[-1]))
                note(f"seed {seed}, {label}: {rows[label][-1]}")
    report(
        "shards",
        chosen,
        {label: {name: spread([one[name] for one in found]) for name in found[0]} for label, found in rows.items()},
        rows=n_rows,
    )


if __name__ == "__main__":
    main()
