"""Does the default lose to a plain strategy? CrossCat on ten real tables, one chain, under equal time bounds.

The default chooses its schedule, start and pace itself; the four strategies have one of the schedules "prior",
"sequential", "anneal" and "accelerating", and are else the same. Every chain is fitted to 7/8 of the rows within the
time bound. The score is the mean log density of the other rows in the units of the data, atoms included; the log joint
density, that of the last draw, is conditional on the hyperparameters of the chain. The bound is on wall time, so the
machine should be idle otherwise.
"""

from _common import note, parser, report
from _frames import READERS, read
from _strategies import compare

from sklearn_subanneal import CrossCat

TABLES = "hospitals titanic wheat satellites concrete gvhd magic census_income kdd adult"
STRATEGIES = ("prior", "sequential", "anneal", "accelerating")
# The default may be worse than the best of the four by so many nats a row.
MARGIN = 0.5


def main() -> None:
    given = parser(__doc__, seeds=2)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", default=TABLES.split(), choices=list(READERS))
    given.add_argument("--bounds", type=float, nargs="+", default=[1.0, 4.0, 16.0], help="seconds of a chain")
    given.add_argument("--jobs", type=int, default=1, help="number of chains run in parallel")
    arguments = given.parse_args()
    estimators = {"default": CrossCat(n_jobs=1)} | {name: CrossCat(schedule=name, n_jobs=1) for name in STRATEGIES}
    bounds, results = [0.3] if arguments.quick else arguments.bounds, {}
    for name in arguments.tables:
        frame = read(name, arguments.data, 200 if arguments.quick else None)
        if frame is None:
            note(f"{name}: no file")
            continue
        n_seeds = 1 if arguments.quick else arguments.seeds
        records = compare(frame, bounds, n_seeds, n_jobs=arguments.jobs, estimators=estimators)
        results[name] = [{key: value for key, value in record.items() if key != "scores"} for record in records]
        for bound in bounds:
            means = {
                strategy: sum(r["score"] for r in records if (r["strategy"], r["bound"]) == (strategy, bound)) / n_seeds
                for strategy in estimators
            }
            lost = max(means[strategy] for strategy in STRATEGIES) - means["default"]
            scores = ", ".join(f"{strategy} {mean:.2f}" for strategy, mean in means.items())
            note(f"{name} {frame.shape}, {bound:g} s: {scores}; {'lost' if lost > MARGIN else 'kept'} ({-lost:+.2f})")
    report("crosscat_default", arguments, results)


if __name__ == "__main__":
    main()
