"""CPU time and memory of an annealed mixture fit to KDD Cup 1999, 10 % set (494,021 rows, 41 mixed columns)."""

from _common import find_data, note, parser, report, skip, spread
from _fit import native_bytes, timed_fit

from sklearn_subanneal import SubsampleAnnealedDPMM

CATEGORICAL = (1, 2, 3, 6, 11, 20, 21)
BARS = {"cpu_seconds": 60.0, "peak_over_typed_data": 4.0}


def load_kdd(path, n_rows: int | None = None, header: int | None = None):
    """The table without its label: seven categorical columns, the others float64."""
    import pandas as pd

    frame = pd.read_csv(path, header=header, nrows=n_rows).iloc[:, :41]
    frame.columns = [f"c{j:02d}" for j in range(41)]
    types = {name: "category" if j in CATEGORICAL else "float64" for j, name in enumerate(frame.columns)}
    return frame.astype(types)


def load_attacks(path, header: int | None = None):
    """The label of each row: "normal.", or the type of the attack."""
    import pandas as pd

    return pd.read_csv(path, header=header, usecols=[41]).iloc[:, 0].to_numpy(str)


def add_arguments(given) -> None:
    """Arguments for the folder and the number of rows of the table."""
    given.add_argument("--data", help="folder that holds kdd99/kddcup.data_10_percent.gz (default: $SUBANNEAL_DATA)")
    given.add_argument("--rows", type=int, default=None, help="only the first rows")


def measure(benchmark: str, arguments, make, bars: dict) -> None:
    """Fit ``make(seed)`` to the table for each seed, and report the results."""
    path = find_data(arguments.data, "kdd99", "kddcup.data_10_percent.gz")
    if path is None:
        reason = "no kdd99/kddcup.data_10_percent.gz; pass its folder by --data or SUBANNEAL_DATA"
        return skip(benchmark, arguments, reason)
    if arguments.quick:
        arguments.rows = 3_000
    X = load_kdd(path, arguments.rows)
    typed, narrow = native_bytes(X), len(X) * (len(CATEGORICAL) + 4 * (41 - len(CATEGORICAL)))
    note(f"{X.shape[0]} rows, {X.shape[1]} columns, {typed / 2**20:.0f} MB in native types")
    held = X.sample(min(len(X), 10_000), random_state=0)
    runs = []
    for seed in range(arguments.seeds):
        runs.append(timed_fit(make(seed), X, typed, held))
        note(f"seed {seed}: " + ", ".join(f"{key} {value:.4g}" for key, value in runs[-1].items() if value is not None))
    results = {key: spread([run[key] for run in runs]) for key in runs[0] if runs[0][key] is not None}
    sizes = {"rows": len(X), "typed_mb": typed / 2**20, "typed_mb_with_float32_reals": narrow / 2**20}
    report(benchmark, arguments, results, table=sizes, bars_at_most=bars)


def main() -> None:
    given = parser(__doc__)
    add_arguments(given)
    given.add_argument("--schedule", default="accelerating")
    given.add_argument("--draws", type=int, default=1)
    arguments = given.parse_args()

    def make(seed):
        return SubsampleAnnealedDPMM(
            schedule=arguments.schedule,
            covariance_type="diag",
            feature_types="from_dtype",
            n_chains=1,
            n_draws=arguments.draws,
            random_state=seed,
        )

    measure("kdd", arguments, make, BARS)


if __name__ == "__main__":
    main()
