"""KDD Cup 1999, the 10 % set (494,021 rows, 41 mixed columns): CPU minutes and memory of an annealed CrossCat fit.

One chain, views and hyperparameters learned. Memory is what the fit holds at its peak above the process that holds the
table, also as a multiple of the table in its native types.
"""

from _common import Clock, PeakMemory, find_data, note, report, skip, spread
from _crosscat import crosscat, crosscat_parser, described
from _fit import native_bytes
from kdd import load_kdd

BARS = {"cpu_minutes": 5.0, "peak_over_typed_data": 4.0}


def run(arguments, X, typed_bytes: int, score_rows, seed: int) -> dict:
    """One fit; ``score_rows`` are rows to score by the model, after the clock has stopped."""
    model = crosscat(arguments, random_state=seed)
    with PeakMemory() as memory, Clock() as clock:
        model.fit(X)
    return {
        "cpu_minutes": clock.cpu / 60,
        "wall_minutes": clock.wall / 60,
        "peak_above_table_mb": None if memory.bytes is None else memory.bytes / 2**20,
        "peak_over_typed_data": None if memory.bytes is None else memory.bytes / typed_bytes,
        "n_views": len(set(model.column_labels_)),
        "sweeps": len(model.trace_),
        "score": model.score(score_rows),
    }


def main() -> None:
    given = crosscat_parser(__doc__, seeds=3)
    given.add_argument("--data", help="folder that holds kdd99/kddcup.data_10_percent.gz (default: $SUBANNEAL_DATA)")
    given.add_argument("--rows", type=int, default=None, help="only the first rows")
    arguments = given.parse_args()
    path = find_data(arguments.data, "kdd99", "kddcup.data_10_percent.gz")
    if path is None:
        reason = "no kdd99/kddcup.data_10_percent.gz; name its folder by --data or SUBANNEAL_DATA"
        return skip("crosscat_kdd", arguments, reason)
    if arguments.quick:
        arguments.rows, arguments.seeds = 3_000, 1
    X = load_kdd(path, arguments.rows)
    typed = native_bytes(X)
    note(f"{X.shape[0]} rows, {X.shape[1]} columns, {typed / 2**20:.0f} MB in native types")
    score_rows = X.sample(min(len(X), 10_000), random_state=0)
    runs = []
    for seed in range(arguments.seeds):
        runs.append(run(arguments, X, typed, score_rows, seed))
        note(f"seed {seed}: {described(runs[-1])}")
    results = {key: spread([found[key] for found in runs]) for key in runs[0] if runs[0][key] is not None}
    report("crosscat_kdd", arguments, results, table={"rows": len(X), "typed_mb": typed / 2**20}, bars_at_most=BARS)


if __name__ == "__main__":
    main()
