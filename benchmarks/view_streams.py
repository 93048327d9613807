"""Streams of rows with views: CPU seconds, peak memory, views and held-out log densities of ``CrossCat.partial_fit``.

Planted views: 20,000 rows of twelve columns of mixed types in three views of four, seven and twelve clusters, by
``make_planted_views``, in chunks of 500 with a window of 2,000. And the adult census table, its rows in random order,
in chunks of 1,000 with a window of 5,000. A tenth of the rows, the last ones, are held out. Beside each stream a
``fit`` to all its rows, with the same diagonal covariance and the types of columns of the stream. Each run is a process
of its own, of which the peak memory is reported, the table included.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

from _common import note, parser, report, spread
from _frames import read
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import CrossCat
from sklearn_subanneal.datasets import make_planted_views

# Rows of a chunk, and the window.
SIZES = {"planted": (500, 2000), "adult": (1000, 5000)}
HELD_OUT, N_CLUSTERS = 0.1, (4, 7, 12)


def table_of(name: str, data: str | None, n_rows: int, seed: int):
    """The table, types of its columns, and the views of these, if they are known."""
    if name == "planted":
        views = make_planted_views(n_rows, 12, N_CLUSTERS, as_frame=True, random_state=seed)
        return views.data, views.feature_types, views.column_labels
    frame = read(name, data, None)
    return frame.sample(frac=1.0, random_state=seed)[:n_rows].reset_index(drop=True), "auto", None


def run(name: str, how: str, data: str | None, n_rows: int, n_chains: int, seed: int) -> dict:
    """One stream, or one fit, in this process."""
    frame, types, truth = table_of(name, data, n_rows, seed)
    last = len(frame) - int(HELD_OUT * len(frame))
    rows, new = frame[:last], frame[last:]
    size, window = SIZES[name]
    settings = {"n_chains": n_chains, "window": window, "feature_types": types, "random_state": seed}
    model, start = CrossCat(covariance_type="diag", **settings), time.process_time()
    if how == "fit":
        model.fit(rows)
    else:
        for at in range(0, last, size):
            model.partial_fit(rows[at : at + size])
    cpu = time.process_time() - start
    found = {
        "CPU seconds": cpu,
        "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "views": model.n_views_,
        "nats per row": model.score(new),
    }
    if truth is not None:
        found["ARI of the views"] = adjusted_rand_score(truth, model.column_labels_)
    return found


def main() -> None:
    options = parser(__doc__.splitlines()[0], seeds=3)
    options.add_argument("--tables", nargs="+", default=list(SIZES), choices=list(SIZES))
    options.add_argument("--data", help="folder of adult/ (default: $SUBANNEAL_DATA)")
    options.add_argument("--chains", type=int, default=2)
    options.add_argument("--run", nargs=5, help="one run in this process, with its arguments")
    chosen = options.parse_args()
    if chosen.run:
        name, how, *numbers = chosen.run
        print(json.dumps(run(name, how, chosen.data, *map(int, numbers))))
        return
    rows: dict[str, dict] = {}
    for name in chosen.tables:
        if name != "planted" and read(name, chosen.data, 1) is None:
            note(f"{name}: skipped, its file was not found; pass its folder by --data or SUBANNEAL_DATA")
            continue
        n_rows = 3000 if chosen.quick else {"planted": 20_000, "adult": 48_842}[name]
        for how in ("stream", "fit"):
            found = []
            for seed in range(1 if chosen.quick else chosen.seeds):
                given = [str(value) for value in (name, how, n_rows, chosen.chains, seed)]
                more = [] if chosen.data is None else ["--data", chosen.data]
                done = subprocess.run(
                    [sys.executable, __file__, *more, "--run", *given], capture_output=True, text=True
                )
                if done.returncode:
                    raise SystemExit(done.stderr[-2000:])
                found.append(json.loads(done.stdout.splitlines()[-1]))
                note(f"{name}, {how}, seed {seed}: {found[-1]}")
            rows[f"{name}, {how}"] = {key: spread([one[key] for one in found]) for key in found[0]}
    report("view_streams", chosen, rows)


if __name__ == "__main__":
    main()
