"""Figure 3 of the subsample-annealing paper for CrossCat: held-out density of three strategies at equal time.

Every chain is fitted to 7/8 of the rows within the time bound. The score is the mean log density of the other rows,
with reals standardised by the training rows. "prior" and "sequential" start with all rows and then make Gibbs sweeps,
each followed by moves of columns. "anneal" is linear annealing, and "accelerating" the package's shorter schedule for
many rows, omitted if it is the same because the table is small; the default, "auto", is none of these, as it gives the
chains of a fit different schedules. The bound is on wall time, so the machine should be idle otherwise; the
strategies take turns, so that a disturbance affects all of them (F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling
Nonparametric Bayesian Inference via Subsample-Annealing, AISTATS, section 4).

By --paper, CrossCat is that of the paper: columns are proposed into views whose rows are drawn from the prior, views
start from the prior and the hyperparameters at random values of their grids, rows leave the subsample at random,
clusters are not split or merged, and the columns of a view are independent within a cluster.
"""

import numpy as np
from _common import note, report
from _crosscat import crosscat, crosscat_parser
from _strategies import NAMES, SCHEDULES, compare, show_progress, summarize, table
from _tables import READERS, read
from sklearn.base import clone

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import Accelerating, RandomSubsampling, SequentialGibbs
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.views import ColumnBirthDeath

# Seconds of a chain.
BOUNDS = {
    "hospitals": (1.0, 3.0, 10.0),
    "kdd_10000": (1.0, 3.0, 10.0),
    "census_income_10000": (1.0, 3.0, 10.0),
    "kdd_100000": (10.0, 30.0),
    "census_income": (10.0, 30.0),
    "kdd": (60.0, 180.0),
    "kdd_1000000": (60.0, 180.0),
    "census_income_1000000": (60.0, 180.0),
}
DEFAULT_TABLES = ("hospitals", "kdd_10000", "census_income_10000")


class StartedAtRandom:
    """A function of training rows and a seed: the estimator with hyperparameters at random values of their grids."""

    def __init__(self, estimator: CrossCat):
        self.estimator = estimator

    def __call__(self, train, seed: int) -> CrossCat:
        model, generator = clone(self.estimator), np.random.default_rng(seed)
        # The grids are those of the training rows.
        bound = clone(model).set_params(schedule=SequentialGibbs(passes=1), n_chains=1, n_draws=1, max_sweeps=0)
        models = bound.fit(train)._models
        return model.set_params(feature_params={m.name: m.report(m.draw_parameters(generator)) for m in models})


def as_in_the_paper(estimator: CrossCat) -> StartedAtRandom:
    """CrossCat with the moves and starts of the paper."""
    return StartedAtRandom(
        estimator.set_params(
            covariance_type="diag",
            moves=[Gibbs(), ColumnBirthDeath()],
            column_start="prior",
            subsampling=RandomSubsampling(),
        )
    )


def estimators(arguments, rows) -> dict:
    """CrossCat by each strategy, with the parameters of the command line."""
    out = {}
    for name in arguments.strategies:
        if name == "accelerating" and "anneal" in out and len(rows) * 7 // 8 <= Accelerating().n_small:
            continue
        out[name] = crosscat(arguments, schedule=SCHEDULES.get(name, name), feature_types=rows.kinds)
        if name in ("prior", "sequential"):
            # These have all rows from the start: columns that rest while rows are many would never move.
            out[name].set_params(column_pacing__rest_above=None)
    return {name: as_in_the_paper(model) for name, model in out.items()} if arguments.paper else out


def main() -> None:
    given = crosscat_parser(__doc__, seeds=5)
    given.add_argument("--data", help="folder of the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", choices=list(READERS), default=DEFAULT_TABLES)
    given.add_argument("--strategies", nargs="+", choices=list(NAMES), default=list(NAMES))
    given.add_argument("--bounds", type=float, nargs="+", help="seconds of a chain")
    given.add_argument("--paper", action="store_true", help="moves and starts as in the paper")
    given.add_argument("--chains", type=int, default=2, help="chains on each split, scored separately and averaged")
    given.add_argument("--jobs", type=int, default=1, help="number of chains run in parallel")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.seeds, arguments.bounds = min(arguments.seeds, 2), arguments.bounds or [0.2, 0.5]
    results = {}
    for name in arguments.tables:
        rows = read(name, arguments.data)
        if rows is None:
            note(f"{name}: skipped, its file was not found; pass its folder by --data or SUBANNEAL_DATA")
            continue
        if arguments.quick:
            rows = rows.sample(600)
        records = compare(
            rows,
            arguments.bounds or BOUNDS.get(name, BOUNDS["hospitals"]),
            arguments.seeds,
            n_chains=arguments.chains,
            n_jobs=arguments.jobs,
            estimators=estimators(arguments, rows),
            progress=show_progress,
        )
        summary = summarize(records)
        note(f"{name}\n{table(summary)}")
        results[name] = {"shape": rows.shape, "splits": arguments.seeds, "summary": summary, "runs": records}
    report("crosscat_strategies", arguments, results)


if __name__ == "__main__":
    main()
