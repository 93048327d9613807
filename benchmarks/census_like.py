"""Time and memory of a fit to a planted categorical table of the shape of the 1990 census (10^6 rows, 68 columns).

The numbers of categories follow the 68 columns of the UCI set. The rows come from a mixture with Dirichlet weights and
sparse categories, because the data set itself is not available.
"""

import pandas as pd
from _common import note, parser, report, spread
from _fit import native_bytes, planted_categories, timed_fit

from sklearn_subanneal import SubsampleAnnealedDPMM

# One more than the largest code of each column in 220 rows of the UCI set; at least 2, at most 100.
N_CATEGORIES = (
    8, 12, 13, 5, 5, 10, 6, 3, 3, 5, 2, 8, 10, 6, 6, 11, 5, 2, 2, 2, 2, 2, 2, 2, 13, 2, 3, 3, 5, 2, 12, 5, 3, 3,
    9, 2, 3, 7, 3, 4, 5, 6, 14, 7, 100, 9, 7, 2, 6, 53, 2, 7, 11, 4, 2, 2, 4, 2, 4, 7, 2, 3, 3, 3, 2, 18, 8, 3,
)  # fmt: skip
BARS = {"cpu_seconds": 180.0}


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--rows", type=int, default=1_000_000)
    given.add_argument("--clusters", type=int, default=50, help="planted clusters")
    given.add_argument("--schedule", default="accelerating")
    given.add_argument("--draws", type=int, default=1)
    given.add_argument(
        "--defaults", action="store_true", help="the estimator as it is, and not one chain of --schedule"
    )
    arguments = given.parse_args()
    if arguments.quick:
        arguments.rows, arguments.clusters = 3_000, 5
    runs = []
    for seed in range(arguments.seeds):
        codes = planted_categories(arguments.rows, N_CATEGORIES, arguments.clusters, seed)
        X = pd.DataFrame({f"c{j:02d}": codes[:, j] for j in range(codes.shape[1])}, copy=False)
        held = X.sample(min(len(X), 10_000), random_state=0)
        kinds = ["categorical"] * X.shape[1]
        model = SubsampleAnnealedDPMM(feature_types=kinds, random_state=seed)
        if not arguments.defaults:
            model.set_params(schedule=arguments.schedule, n_chains=1, n_draws=arguments.draws)
        runs.append(timed_fit(model, X, native_bytes(X), held))
        note(f"seed {seed}: " + ", ".join(f"{key} {value:.4g}" for key, value in runs[-1].items() if value is not None))
    results = {key: spread([run[key] for run in runs]) for key in runs[0] if runs[0][key] is not None}
    report("census_like", arguments, results, bars_at_most=BARS)


if __name__ == "__main__":
    main()
