"""Does the default lose to a plain strategy? CrossCat on real tables, whole fits, with equal time limits.

The default chooses the schedules of its chains itself; the four strategies have one of the schedules "prior",
"sequential", "anneal" and "accelerating" in all chains, and are else the same. Every fit has its own number of chains
(two, or four if these disagree), each with this time limit, and is made of 7/8 of the rows. The score is the mean log
density of the other rows in the units of the data, atoms included. The limit is on wall time, so the machine should be
idle otherwise.
"""

import numpy as np
from _common import Clock, note, parser, report, split
from _frames import READERS, read
from joblib import Parallel, delayed

from sklearn_subanneal import CrossCat

TABLES = "hospitals titanic wheat satellites concrete gvhd magic census_income kdd adult"
STRATEGIES = ("prior", "sequential", "anneal", "accelerating")
MOST_ROWS = 10_000
# The default may be worse than the best of the four by so many nats a row.
MARGIN = 0.5


def fitted(frame, strategy: str, limit: float, seed: int) -> dict:
    """The score of one fit, its number of chains, the highest mean log joint density of a chain, and CPU seconds."""
    train, test = (frame.iloc[rows].reset_index(drop=True) for rows in split(len(frame), seed))
    schedule = "auto" if strategy == "default" else strategy
    with Clock() as clock:
        model = CrossCat(schedule=schedule, time_limit=limit, n_jobs=1, random_state=seed).fit(train)
    return {
        "strategy": strategy,
        "seed": seed,
        "score": float(model.score_samples(test).mean()),
        "log_joint": float(model.log_joint_.mean(axis=1).max()),
        "chains": model.n_chains_,
        "cpu_seconds": clock.cpu,
    }


def of_strategies(records: list[dict]) -> dict:
    """Of each strategy its mean score, and how much the default is better: mean of the pairs and standard error."""
    scores = {
        name: np.array([r["score"] for r in records if r["strategy"] == name]) for name in ("default", *STRATEGIES)
    }
    out = {}
    for name, own in scores.items():
        gain = scores["default"] - own
        error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else float("nan")
        out[name] = {"score": float(own.mean()), "default_better_by": float(gain.mean()), "error": float(error)}
    return out


def main() -> None:
    given = parser(__doc__, seeds=5)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", default=TABLES.split(), choices=list(READERS))
    given.add_argument("--bounds", type=float, nargs="+", default=[1.0, 4.0, 16.0], help="seconds of a chain")
    given.add_argument("--jobs", type=int, default=1, help="number of fits made in parallel")
    arguments = given.parse_args()
    bounds, results = [0.3] if arguments.quick else arguments.bounds, {}
    for name in arguments.tables:
        frame = read(name, arguments.data, 200 if arguments.quick else MOST_ROWS)
        if frame is None:
            note(f"{name}: no file")
            continue
        for bound in bounds:
            seeds = range(1 if arguments.quick else arguments.seeds)
            records = Parallel(n_jobs=arguments.jobs)(
                delayed(fitted)(frame, strategy, bound, seed) for seed in seeds for strategy in ("default", *STRATEGIES)
            )
            found = of_strategies(records)
            results[f"{name}, {bound:g} s"] = {"fits": records, "strategies": found}
            lost = -min(own["default_better_by"] for own in found.values())
            scores = ", ".join(f"{s} {own['score']:.2f}" for s, own in found.items())
            note(f"{name} {frame.shape}, {bound:g} s: {scores}; {'lost' if lost > MARGIN else 'kept'} ({-lost:+.2f})")
    report("crosscat_default", arguments, results)


if __name__ == "__main__":
    main()
