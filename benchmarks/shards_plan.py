"""A plan, not a measurement: time, traffic and memory of tables in shards on many workers, from the figures of few.

A cycle of sweeps takes each worker thread its share of the cells, and the process of the fit some time for each piece
of work and each thread, since it makes plans and adds sums up while the threads wait. The constants are those that
``shards_dask.py`` gives for a table of a million rows, 32 columns and 30 clusters on one and two workers; what is sent
and added up is taken to be proportional to the number of columns. The first lines are to be compared with measurements.
"""

from __future__ import annotations

import argparse

# Seconds of a worker for a cell in a cycle, and of the process of the fit in a cycle, with 32 columns: for all threads
# together, and for each of them.
A_CELL, FIXED, A_THREAD = 37e-9, 0.09, 0.03
# Kilobytes in a cycle to each thread, from the first one, and from each further one, with 32 columns.
SENT, RECEIVED, RECEIVED_MORE = 182.0, 761.0, 155.0
COLUMNS, BYTES_A_CELL, CYCLES = 32, 4.0, 60


def plan(n_rows: float, n_columns: int, n_threads: int) -> dict[str, float]:
    """What a cycle takes, and a fit of ``CYCLES`` of them."""
    wider = n_columns / COLUMNS
    workers = A_CELL * n_rows * n_columns / n_threads
    fit = wider * (FIXED + A_THREAD * n_threads)
    return {
        "s of workers": workers,
        "s of the process of the fit": fit,
        "share of waiting": fit / (workers + fit),
        "hours of a fit": CYCLES * (workers + fit) / 3600.0,
        "MB a cycle": wider * (SENT * n_threads + RECEIVED + RECEIVED_MORE * (n_threads - 1)) / 1e3,
        "GB of cells a thread": BYTES_A_CELL * n_rows * n_columns / n_threads / 1e9,
        "GB of labels and probabilities here": 16.0 * n_rows / 1e9,
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e8, 1e9])
    options.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 16, 64, 256])
    chosen = options.parse_args()
    for n_rows in chosen.rows:
        n_columns = 100 if n_rows > 1e6 else COLUMNS
        for n_threads in chosen.threads:
            found = ", ".join(f"{name} {value:.3g}" for name, value in plan(n_rows, n_columns, n_threads).items())
            print(f"{n_rows:.0e} x {n_columns}, {n_threads} threads: {found}")


if __name__ == "__main__":
    main()
