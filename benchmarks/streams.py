"""Streams of rows: CPU seconds, peak memory, and held-out log densities of ``partial_fit``.

The planted clusters of ``shards.py`` (thirty, in twenty columns of mixed types, 5 % of the cells missing); rows are
made chunk by chunk, and never held together. ``SubsampleAnnealedDPMM(covariance_type="diag")`` is given them by
``partial_fit`` in chunks of 1,000 and of 50,000 rows, as one particle and as four. In a second stream the clusters
appear one after the other: cluster k of thirty is there from the share 0.6 k / 30 of the stream on. Each stream is a
process of its own, whose peak memory is reported; the seconds are those of ``partial_fit`` alone.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
from _common import note, parser, report, spread
from shards import N_CLUSTERS, N_TEST, Planted
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import SubsampleAnnealedDPMM

CHUNKS, PARTICLES = (1000, 50_000), (1, 4)
# Share of a stream after which all clusters have appeared.
ALL_APPEARED = 0.6


def weights_of_chunks(planted: Planted, kind: str, n_chunks: int) -> np.ndarray:
    """Weights of the clusters in each chunk; in an "emerging" stream they appear one after the other."""
    weights = np.tile(planted.weights, (n_chunks, 1))
    if kind == "emerging":
        firsts = np.arange(N_CLUSTERS) / N_CLUSTERS * ALL_APPEARED
        weights *= firsts <= (np.arange(n_chunks)[:, None] + 1.0) / n_chunks
    return weights / weights.sum(axis=1, keepdims=True)


def run(kind: str, n_rows: int, size: int, n_chains: int, seed: int) -> dict:
    """One stream, in this process."""
    planted, cpu, rng = Planted(seed), 0.0, np.random.default_rng([seed, 3])
    model = SubsampleAnnealedDPMM(covariance_type="diag", n_chains=n_chains, random_state=seed)
    weights = weights_of_chunks(planted, kind, n_rows // size)
    for planted.weights in weights:
        frame, _ = planted.rows(size, rng)
        start = time.process_time()
        model.partial_fit(frame)
        cpu += time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    # New rows are like those of the whole stream.
    planted.weights = weights.mean(axis=0)
    new, groups = planted.rows(N_TEST, np.random.default_rng([seed, 2]))
    return {
        "CPU seconds": cpu,
        "peak GiB": peak,
        "clusters": model.n_clusters_,
        "ARI of new rows": adjusted_rand_score(groups, model.predict(new)),
        "gap, nats per row": float(planted.log_densities(new).mean() - model.score(new)),
    }


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--run", nargs=5, help="one stream in this process, with its arguments")
    chosen = options.parse_args()
    if chosen.run:
        kind, *numbers = chosen.run
        print(json.dumps(run(kind, *map(int, numbers))))
        return
    n_rows = 100_000 if chosen.quick else chosen.rows
    cases = [("planted", size, n_chains) for size in CHUNKS for n_chains in PARTICLES]
    cases.append(("emerging", CHUNKS[0], PARTICLES[0]))
    rows: dict[str, dict] = {}
    for case in cases:
        found = []
        for seed in range(1 if chosen.quick else chosen.seeds):
            kind, size, n_chains = case
            given = [str(value) for value in (kind, n_rows, size, n_chains, seed)]
            done = subprocess.run([sys.executable, __file__, "--run", *given], capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr[-2000:])
            found.append(json.loads(done.stdout.splitlines()[-1]))
            note(f"{case}, seed {seed}: {found[-1]}")
        label = f"{kind}, chunks of {size}, {n_chains} particle(s)"
        rows[label] = {name: spread([one[name] for one in found]) for name in found[0]}
    report("streams", chosen, rows, rows=n_rows)


if __name__ == "__main__":
    main()
