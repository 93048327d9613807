"""Cycles of a chain over a table in shards by one thread and by two, in pairs one after the other, on an idle machine.

Thirty planted clusters in real columns. A cycle is what a chain of ``SubsampleAnnealedDPMM`` does for each draw: a
sweep with anchors, one of slice sampling, a thousand single rows, four proposals to split and merge, hyperparameters.
"""

from __future__ import annotations

import time

import numpy as np
from _common import note, parser, report, spread

from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.partitions import CRP
from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.sharded_chain import PAIRS, SINGLE_ROWS
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture
from sklearn_subanneal.shards.split_merge import split_and_merge
from sklearn_subanneal.shards.table_blocks import typed_blocks

N_CLUSTERS = 30
MOVES = {
    "sweep": ShardedMixture.sweep,
    "slice": ShardedMixture.slice_rows,
    "single rows": lambda mixture: mixture.move_single_rows(SINGLE_ROWS),
    "split and merge": lambda mixture: split_and_merge(mixture, PAIRS),
    "hyperparameters": ShardedMixture.learn,
}


def mixtures(n_rows: int, n_columns: int, seed: int) -> dict[int, ShardedMixture]:
    """The same chain with one thread and with two, from the planted clusters."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(N_CLUSTERS, size=n_rows).astype(np.int32)
    X = 2.0 * rng.normal(size=(N_CLUSTERS, n_columns))[labels] + rng.normal(size=(n_rows, n_columns))
    models = [
        Real.bind(f"x{j}", (j,), X[:1000, j], {}, n_categories=0, learn=True, grids="data") for j in range(n_columns)
    ]
    table = typed_blocks(models, [list(X.T)], n_rows)
    out = {}
    for n_threads in (1, 2):
        blocks = Threads(table, n_threads)
        blocks.start([labels[table.rows(i)] for i in range(table.n_blocks)])
        out[n_threads] = ShardedMixture(blocks, CRP(1.0).bind(), np.random.default_rng(seed))
        out[n_threads].recount()
    return out


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--columns", type=int, default=32)
    options.add_argument("--cycles", type=int, default=5)
    chosen = options.parse_args()
    n_rows = 100_000 if chosen.quick else chosen.rows
    ratios: dict[str, list] = {name: [] for name in (*MOVES, "cycle")}
    for seed in range(1 if chosen.quick else chosen.seeds):
        pair = mixtures(n_rows, chosen.columns, seed)
        for _ in range(chosen.cycles):
            seconds = {n_threads: {} for n_threads in pair}
            for n_threads, mixture in pair.items():
                for name, move in MOVES.items():
                    start = time.perf_counter()
                    move(mixture)
                    seconds[n_threads][name] = time.perf_counter() - start
                seconds[n_threads]["cycle"] = sum(seconds[n_threads].values())
            for name, own in ratios.items():
                own.append(seconds[1][name] / seconds[2][name])
        note(f"seed {seed}: {ratios['cycle'][-1]:.2f}, one thread {seconds[1]['cycle']:.2f} s")
    report("shards_threads", chosen, {name: spread(own) for name, own in ratios.items()})


if __name__ == "__main__":
    main()
