"""Recovery of planted views and held-out log density against CPU seconds, for CrossCat and lace.

The table has 10,000 rows and 40 columns of mixed types in four views of 4, 7, 12 and 20 row clusters; 7/8 of the rows
are for training. Held-out log densities are relative to those of the true model, in nats per row.
"""

import numpy as np
from _common import Clock, note, report, split, spread
from _crosscat import crosscat, crosscat_parser, described, lace_curves, lace_python, summarize_curves
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal.datasets import make_planted_views

BARS = {"views_exact": "20 of 20", "held_out_within_0.1": "19 of 20", "cpu_seconds_median": 0.9}


def run_ours(arguments, views, train, test, seed: int) -> dict:
    """One chain on the rows ``train``."""
    model = crosscat(arguments, feature_types=views.feature_types, random_state=seed)
    with Clock() as clock:
        model.fit(views.data[train])
    last = model.posterior_column_labels_[0, -1]
    return {
        "cpu_seconds": clock.cpu,
        "wall_seconds": clock.wall,
        "held_out": float(model.score(views.data[test]) - np.mean(views.log_density[test])),
        "views_exact": float(adjusted_rand_score(views.column_labels, model.column_labels_) == 1.0),
        "last_views_exact": float(adjusted_rand_score(views.column_labels, last) == 1.0),
        "view_ari": adjusted_rand_score(views.column_labels, model.column_labels_),
        "n_views": len(set(model.column_labels_)),
    }


def summarize(runs: list[dict]) -> dict:
    """Spread over seeds, and how many runs pass."""
    found = {key: spread([run[key] for run in runs]) for key in runs[0]}
    passed = {
        "runs": len(runs),
        "views_exact": int(sum(run["views_exact"] for run in runs)),
        "last_views_exact": int(sum(run["last_views_exact"] for run in runs)),
        "held_out_within_0.1": int(sum(run["held_out"] >= -0.1 for run in runs)),
        "cpu_seconds_median": found["cpu_seconds"]["median"],
    }
    return {"passed": passed} | found


def main() -> None:
    given = crosscat_parser(__doc__, 20, ("ours", "lace"), lace_seconds=[1.0, 3.0, 6.0, 12.0, 18.0, 30.0, 45.0])
    given.add_argument("--first-seed", type=int, default=0)
    given.add_argument("--lace-seeds", type=int, default=3, help="seeds on which lace is run, too (default 3)")
    arguments = given.parse_args()
    shape = {"n_samples": 10_000, "n_features": 40, "n_clusters": (4, 7, 12, 20)}
    if arguments.quick:
        shape = {"n_samples": 800, "n_features": 12, "n_clusters": (2, 3)}
        arguments.seeds, arguments.lace_seeds, arguments.lace_seconds = min(arguments.seeds, 2), 1, [0.2, 0.5]
    python = lace_python(arguments)
    runs, curves = [], []
    for number in range(arguments.seeds):
        seed = arguments.first_seed + number
        views = make_planted_views(**shape, random_state=seed)
        train, test = split(shape["n_samples"], seed)
        if "ours" in arguments.engines:
            runs.append(run_ours(arguments, views, train, test, seed))
            note(f"seed {seed}: {described(runs[-1])}")
        if python and number < arguments.lace_seeds:
            truth = float(np.mean(views.log_density[test]))
            curve = lace_curves(
                python, arguments, views.data[train], views.data[test], views.feature_types, seed,
                columns=views.column_labels, origin=truth,
            )  # fmt: skip
            curves.append(curve)
    results = {"sklearn_subanneal": summarize(runs) if runs else None}
    if curves:
        results["lace"] = summarize_curves(curves)
    report("crosscat_planted", arguments, results, shape=shape, bars=BARS)


if __name__ == "__main__":
    main()
