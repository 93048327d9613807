"""Do the chains of one fit agree? CrossCat with its defaults, and with other schedules, on real tables of mixed types.

For each table and schedule: the highest and the lowest mean log joint density of the chains of a fit, in nats, the mean
adjusted Rand index of the views of pairs of chains, CPU seconds, whether the fit warned, and the held-out log density,
in nats per row, of the fit, whose chains are stacked, of the chains with equal weights, and of the chain that is best
on the held-out rows, which nobody knows. Titanic: also P(survived | class), which the table itself gives.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report, split, spread
from _frames import READERS, read
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import CrossCat
from sklearn_subanneal.posterior import log_mean_exp

SCHEDULES = ("auto", "accelerating", "anneal", "sequential")
TABLES = "hospitals titanic satellites magic adult census_income"


def run(frame: pd.DataFrame, schedule: str, seed: int, n_chains: int) -> dict:
    """One fit to seven eighths of the rows."""
    train, test = split(len(frame), seed)
    model = CrossCat(schedule=schedule, n_chains=n_chains, random_state=seed)
    with Clock() as clock:
        model.fit(frame.iloc[train].reset_index(drop=True))
    rows = model._encode(frame.iloc[test].reset_index(drop=True), scored=True)
    own = np.repeat(np.eye(n_chains), model.log_joint_.shape[1], axis=1)
    with model._average() as average, np.errstate(divide="ignore"):
        # A weight of 0 leaves a draw out.
        single = np.array([average.with_weights(weights).score(rows) for weights in own])
    log_joint, views = model.log_joint_.mean(axis=1), [draws[-1] for draws in model.posterior_column_labels_]
    return {
        "log_joint_highest": float(log_joint.max()),
        "log_joint_lowest": float(log_joint.min()),
        "view_ari": float(np.mean([adjusted_rand_score(a, b) for a, b in combinations(views, 2)])),
        "held_out": model.score(frame.iloc[test]),
        "held_out_equal_weights": float(log_mean_exp(single, axis=0).mean()),
        "held_out_best_chain": float(single.mean(axis=1).max()),
        "largest_weight": float(model.chain_weights_.max()),
        "has_warned": float(not model.convergence_.converged),
        "n_views": model.n_views_,
        "n_clusters": model.n_clusters_,
        "cpu_seconds": clock.cpu,
    }


def survival_by_class(frame: pd.DataFrame, schedule: str, seed: int) -> list[float]:
    """P(survived | class) by a fit to all rows."""
    model = CrossCat(schedule=schedule, random_state=seed).fit(frame)
    asked = pd.DataFrame({name: [None] * 3 for name in frame}, dtype=object).assign(pclass=[1, 2, 3])
    return model.predict_column_proba("survived", asked)[:, 1].tolist()


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", default=TABLES.split(), choices=list(READERS))
    given.add_argument("--rows", type=int, default=5000, help="of larger tables, so many rows (default 5,000)")
    given.add_argument("--schedules", nargs="+", default=list(SCHEDULES))
    given.add_argument("--chains", type=int, default=4)
    arguments = given.parse_args()
    seeds, results = range(1 if arguments.quick else arguments.seeds), {}
    for name in arguments.tables:
        frame = read(name, arguments.data, 100 if arguments.quick else arguments.rows)
        if frame is None:
            note(f"{name}: no file")
            continue
        for schedule in arguments.schedules:
            runs = [run(frame, schedule, seed, arguments.chains) for seed in seeds]
            found = {key: spread([own[key] for own in runs]) for key in runs[0]}
            if name == "titanic":
                found["survival_by_class"] = [survival_by_class(frame, schedule, seed) for seed in seeds]
            medians = ", ".join(f"{key} {found[key]['median']:.4g}" for key in runs[0])
            note(f"{name} {schedule}: {medians}; {found.get('survival_by_class', '')}")
            found["stacked_beats_best_chain"] = sum(own["held_out"] >= own["held_out_best_chain"] for own in runs)
            found["stacked_beats_equal_weights"] = sum(own["held_out"] >= own["held_out_equal_weights"] for own in runs)
            results[f"{name}, {schedule}"] = found
    report("crosscat_agreement", arguments, results)


if __name__ == "__main__":
    main()
