"""The paper's three strategies at equal time on the hospitals table and on 10,000 rows of KDD Cup 1999."""

from _common import find_data, note, parser, report
from _strategies import compare, show_progress, summarize, table
from kdd import load_kdd

from sklearn_subanneal.datasets import load_hospitals

BOUNDS = {"hospitals": (0.25, 1.0, 4.0), "kdd": (1.0, 3.0, 10.0)}


def tables(arguments):
    """Name and table of each available data set."""
    yield "hospitals", load_hospitals(as_frame=False).data
    path = find_data(arguments.data, "kdd99", "kdd99_10pct_extract_10000.csv.gz")
    if path is None:
        note("kdd: skipped, no kdd99/kdd99_10pct_extract_10000.csv.gz; pass its folder by --data or SUBANNEAL_DATA")
    else:
        yield "kdd", load_kdd(path, 1_000 if arguments.quick else None, header=0)


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--data", help="folder that holds kdd99/ (default: $SUBANNEAL_DATA)")
    given.add_argument("--only", choices=list(BOUNDS), help="run only this data set")
    given.add_argument("--bounds", type=float, nargs="+", help="seconds of a chain")
    given.add_argument("--jobs", type=int, default=2)
    arguments = given.parse_args()
    results = {}
    for name, X in tables(arguments):
        if arguments.only not in (None, name):
            continue
        bounds = arguments.bounds or ((0.1, 0.2) if arguments.quick else BOUNDS[name])
        seeds = 2 if arguments.quick else arguments.seeds
        records = compare(X, bounds, seeds, n_jobs=arguments.jobs, progress=show_progress)
        summary = summarize(records)
        note(f"{name}\n{table(summary)}")
        results[name] = {"shape": X.shape, "splits": seeds, "summary": summary, "runs": records}
    report("strategies", arguments, results)


if __name__ == "__main__":
    main()
