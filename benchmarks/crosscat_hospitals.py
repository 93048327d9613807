"""Held-out log density on the hospitals table: CrossCat with and without annealing, single and averaged chains; lace.

307 regions and 63 real columns, standardised on the training rows (7/8). Single chains are scored separately, and then
the chains of a split together. The agreement of the chains of a split on the views is measured by the mean adjusted
Rand index of their pairs, for annealed chains and for chains that start from the prior with all rows and the same
number of passes (F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via
Subsample-Annealing, AISTATS, section 4).
"""

from itertools import combinations

import numpy as np
from _common import Clock, note, report, split, spread
from _crosscat import crosscat, crosscat_parser, described, lace_curves, lace_python, summarize_curves
from _tables import hospitals
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal.annealing import PriorGibbs, TemperedAccelerating
from sklearn_subanneal.posterior import log_mean_exp

BARS = {"held_out_median": -25.0, "cpu_seconds": 5.0, "gain_of_four_chains": 1.5}


def run_chains(arguments, X, train, test, seeds, prior: bool) -> tuple[list[dict], np.ndarray, np.ndarray]:
    """Results of each chain, scores (n_chains, n_test) and views (n_chains, n_columns)."""
    runs, scores, views = [], [], []
    for seed in seeds:
        model = crosscat(arguments, random_state=seed)
        if prior:
            schedule = TemperedAccelerating() if model.schedule == "auto" else model.schedule
            passes = schedule.n_assignments(len(train)) / len(train)
            model.set_params(schedule=PriorGibbs(passes))
        with Clock() as clock:
            model.fit(X[train])
        scores.append(model.score_samples(X[test]))
        views.append(model.column_labels_)
        runs.append(
            {
                "held_out": float(scores[-1].mean()),
                "held_out_median_row": float(np.median(scores[-1])),
                "cpu_seconds": clock.cpu,
                "n_views": len(set(views[-1])),
            }
        )
    return runs, np.array(scores), np.array(views)


def agreement(views: np.ndarray) -> float:
    """Mean adjusted Rand index of the pairs of chains."""
    return float(np.mean([adjusted_rand_score(one, other) for one, other in combinations(views, 2)]))


def quartiles(values) -> dict:
    """Median and interquartile range."""
    low, median, high = np.percentile(values, [25, 50, 75])
    return {"median": float(median), "lower_quartile": float(low), "upper_quartile": float(high)}


def run_split(arguments, X, train, test, number: int, prior: bool) -> dict:
    """The chains of one split."""
    # No two chains share a seed, whatever the split.
    seeds = range(100 * number, 100 * number + arguments.seeds)
    runs, scores, views = run_chains(arguments, X, train, test, seeds, prior)
    averaged, single = float(log_mean_exp(scores, axis=0).mean()), float(np.mean([run["held_out"] for run in runs]))
    found = {
        "held_out": quartiles([run["held_out"] for run in runs]),
        "held_out_averaged": averaged,
        "gain_by_averaging": averaged - single,
        "view_agreement": agreement(views),
        "runs": runs,
    }
    note(
        f"split {number} {'prior' if prior else 'annealed'}: one chain {single:.2f}, averaged {averaged:.2f}, "
        f"agreement {found['view_agreement']:.3f}; {described(runs[-1])}"
    )
    return found


def summarize(splits: list[dict]) -> dict:
    """All chains of all splits, and the splits one by one."""
    runs = [run for found in splits for run in found["runs"]]
    return {
        "chains": {key: spread([run[key] for run in runs]) for key in runs[0]},
        **{
            key: spread([found[key] for found in splits])
            for key in ("held_out_averaged", "gain_by_averaging", "view_agreement")
        },
        "splits": splits,
    }


def main() -> None:
    given = crosscat_parser(
        __doc__, 4, ("annealed", "prior", "lace"), lace_seconds=[1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 18.0, 25.0]
    )
    given.add_argument("--splits", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    given.add_argument("--lace-splits", type=int, nargs="+", default=[0], help="splits on which lace is run, too")
    arguments = given.parse_args()
    table = hospitals()
    if arguments.quick:
        arguments.splits, arguments.lace_splits, arguments.lace_seconds = [0], [0], [0.2, 0.5]
        arguments.seeds = 2
    arguments.seeds = max(arguments.seeds, 2)
    python = lace_python(arguments)
    splits, curves = {"annealed": [], "prior": []}, []
    for number in arguments.splits:
        train, test = split(len(table.values), number)
        X = table.standardised(train).values
        for engine in ("annealed", "prior"):
            if engine in arguments.engines:
                splits[engine].append(run_split(arguments, X, train, test, number, engine == "prior"))
        if python and number in arguments.lace_splits:
            for chain in range(arguments.seeds):
                curves.append(lace_curves(python, arguments, X[train], X[test], table.kinds, 100 * number + chain))
    results = {engine: summarize(found) for engine, found in splits.items() if found}
    if curves:
        results["lace"] = summarize_curves(curves)
    report("crosscat_hospitals", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
