"""Hidden cells of real tables: log density and imputation by CrossCat, by lace, and by IterativeImputer.

A tenth of the observed cells is hidden at random; the models are fitted to the others. Reals are standardised by the
remaining cells. Density: mean of log p(hidden cell | observed cells of its row); lace is evaluated after a few CPU
seconds and after as many as CrossCat took. Imputation: root mean squared error of reals and accuracy of categories, for
each column; those of BayesianImputer, with the same fit inside, differ in its categories. scikit-learn's
IterativeImputer with its default estimator gets one-hot categories, and the imputed
category is the one with the largest value. It makes 10 rounds, but 3 for tables with many categories: one round on the
satellites, with 423 one-hot columns, takes half a minute.
"""

import warnings

import numpy as np
from _common import Clock, note, report, spread
from _crosscat import LACE_TRANSITIONS, crosscat, crosscat_parser, described, lace_python
from _lace_runner import run_lace
from _tables import read
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator

from sklearn_subanneal import BayesianImputer

ROWS = {"satellites": None, "adult": 10_000, "gapminder": None, "census_income_10000": 2_000}
ROUNDS = {"satellites": 3, "adult": 10, "gapminder": 10, "census_income_10000": 3}


def one_hot(table):
    """Floats with as many columns as there are reals and categories, and the columns of each original one."""
    blocks, places = [], []
    for values, real in zip(table.values.T, table.real, strict=True):
        if real:
            block = values[:, np.newaxis]
        else:
            categories = np.arange(np.nanmax(values) + 1)
            block = (values[:, np.newaxis] == categories).astype(np.float64)
            block[np.isnan(values)] = np.nan
        places.append(sum(other.shape[1] for other in blocks) + np.arange(block.shape[1]))
        blocks.append(block)
    return np.hstack(blocks), places


def run_sklearn(table, rows, columns, seed: int, rounds: int) -> dict:
    """Imputation by IterativeImputer with one-hot categories."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    X, places = one_hot(table)
    with Clock() as clock, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = IterativeImputer(max_iter=rounds, random_state=seed).fit_transform(X)
    decoded = [filled[:, place[0]] if len(place) == 1 else filled[:, place].argmax(axis=1) for place in places]
    imputed = np.array([decoded[column][row] for row, column in zip(rows, columns, strict=True)])
    return {"cpu_seconds": clock.cpu, "imputed": imputed, "one_hot_columns": X.shape[1]}


def run_ours(arguments, table, rows, columns, truth, seed: int) -> tuple[dict, dict]:
    """Log density and imputation by one fit of CrossCat, and imputation by a BayesianImputer that has it."""
    model = crosscat(arguments, feature_types=table.kinds, n_chains=arguments.chains, random_state=seed)
    with Clock() as learning:
        model.fit(table.values)
    cells = np.full((len(rows), len(table.kinds)), np.nan)
    cells[np.arange(len(rows)), columns] = truth
    with Clock() as asking:
        scores = model.score_samples(cells, given=table.values[rows])
        imputed = model.impute(table.values, seen=True)[rows, columns]
    with Clock() as pooling:
        by_pools = BayesianImputer(FrozenEstimator(model)).fit_transform(table.values)[rows, columns]
    return {
        "cpu_seconds": learning.cpu,
        "query_cpu_seconds": asking.cpu,
        "n_views": len(set(model.column_labels_)),
        **cell_density(scores),
        "imputed": imputed,
    }, {"cpu_seconds": learning.cpu + pooling.cpu, "imputed": by_pools}


def run_lace_on(python, arguments, table, cells, seed: int, equal: float | None) -> dict:
    """Results of lace at each checkpoint and set of transitions; ``equal`` are the CPU seconds of CrossCat."""
    checkpoints = sorted({*arguments.lace_seconds, *([] if equal is None else [equal])})
    out = {}
    for name in arguments.lace_transitions:
        found = run_lace(
            python, table.values, table.kinds, checkpoints, cells=cells,
            transitions=LACE_TRANSITIONS[name], n_states=arguments.chains, seed=seed,
        )  # fmt: skip
        out[name] = [
            {
                "cpu_seconds": record["cpu"],
                "sweeps": record["sweeps"],
                **cell_density(record["cell_scores"]),
                "at_equal_cpu_seconds": target == equal,
                "imputed": np.array(record["imputed"]),
            }
            for target, record in zip(checkpoints, found, strict=True)
        ]
    return out


def cell_density(scores) -> dict:
    """Mean and median of the log densities of the hidden cells."""
    return {"cell_density": float(np.mean(scores)), "cell_density_median": float(np.median(scores))}


def column_errors(table, columns, truth, imputed) -> dict[str, float]:
    """Root mean squared error of each real column, fraction of wrong categories of each other column."""
    out = {}
    for column in np.unique(columns):
        here = columns == column
        if table.real[column]:
            out[table.names[column]] = float(np.sqrt(np.mean((imputed[here] - truth[here]) ** 2)))
        else:
            out[table.names[column]] = float(np.mean(imputed[here] != truth[here]))
    return out


def compared(ours: dict[str, float], theirs: dict[str, float]) -> dict[str, int]:
    """Number of columns on which the first has the smaller error."""
    differences = np.array([ours[name] - theirs[name] for name in ours])
    return {
        "better": int((differences < 0).sum()),
        "equal": int((differences == 0).sum()),
        "worse": int((differences > 0).sum()),
    }


def error_summary(table, errors: dict[str, float]) -> dict:
    """Mean and median error of the reals and of the categories, and the columns."""
    reals = {name for name, real in zip(table.names, table.real, strict=True) if real}
    groups = {
        "rmse": [error for name, error in errors.items() if name in reals],
        "error_rate": [error for name, error in errors.items() if name not in reals],
    }
    means = {key: float(np.mean(values)) for key, values in groups.items() if values}
    medians = {f"{key}_median": float(np.median(values)) for key, values in groups.items() if values}
    return means | medians | {"columns": errors}


def run_table(arguments, python, name: str, table, seed: int) -> dict:
    """All engines on one table with one set of hidden cells."""
    table, rows, columns, truth = table.hide(0.1, seed)
    note(f"{name}, seed {seed}: {table.values.shape[0]} x {table.values.shape[1]}, {len(rows)} cells hidden")
    found, errors = {"hidden_cells": len(rows)}, {}

    def keep(engine: str, figures: dict) -> dict:
        errors[engine] = column_errors(table, columns, truth, figures.pop("imputed"))
        figures |= error_summary(table, errors[engine])
        note(f"  {engine}: " + described({key: value for key, value in figures.items() if key != "columns"}))
        return figures

    if "ours" in arguments.engines:
        ours, by_pools = run_ours(arguments, table, rows, columns, truth, seed)
        found["sklearn_subanneal"], found["bayesian_imputer"] = keep("ours", ours), keep("imputer", by_pools)
    if "sklearn" in arguments.engines:
        found["iterative_imputer"] = keep(
            "iterative_imputer", run_sklearn(table, rows, columns, seed, arguments.rounds or ROUNDS[name])
        )
    if python:
        equal = found["sklearn_subanneal"]["cpu_seconds"] if "ours" in arguments.engines else None
        curves = run_lace_on(python, arguments, table, (rows, columns, truth), seed, equal)
        found["lace"] = {
            transitions: [keep(_lace_name(transitions, figures), figures) for figures in curve]
            for transitions, curve in curves.items()
        }
    if "ours" in errors:
        for own in ("ours", "imputer"):
            found[f"{own}_against"] = {
                engine: compared(errors[own], theirs) for engine, theirs in errors.items() if engine != own
            }
            note(f"  columns, {own}: {found[f'{own}_against']}")
    return found


def _lace_name(transitions: str, figures: dict) -> str:
    """Name of the results of a checkpoint."""
    when = "equal CPU seconds" if figures["at_equal_cpu_seconds"] else f"{figures['cpu_seconds']:.0f} CPU seconds"
    return f"lace {transitions}, {when}"


def summarize(runs: list[dict]) -> dict:
    """Spread of the headline figures over seeds, with the runs."""
    out = {}
    for engine in ("sklearn_subanneal", "bayesian_imputer", "iterative_imputer"):
        if engine in runs[0]:
            keys = [key for key, value in runs[0][engine].items() if key != "columns"]
            out[engine] = {key: spread([run[engine][key] for run in runs]) for key in keys}
    return out | {"runs": runs}


def main() -> None:
    given = crosscat_parser(__doc__, 1, ("ours", "sklearn", "lace"), lace_seconds=[2.0, 5.0, 10.0])
    given.add_argument("--data", help="folder that holds the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", choices=list(ROWS), default=["satellites", "adult", "gapminder"])
    given.add_argument("--rows", type=int, help="rows drawn of each table (default: all, but 10,000 of adult)")
    given.add_argument("--chains", type=int, default=1, help="chains of CrossCat, states of lace (default 1)")
    given.add_argument("--rounds", type=int, help="rounds of IterativeImputer (default: 10, but 3 on satellites)")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.rows, arguments.rounds, arguments.lace_seconds, arguments.seeds = 150, 1, [0.3], 1
        arguments.tables = [name for name in arguments.tables if name != "gapminder"] or arguments.tables
    python = lace_python(arguments)
    results = {}
    for name in arguments.tables:
        table = read(name, arguments.data)
        if table is None:
            note(f"{name}: skipped, its file was not found; pass its folder by --data or SUBANNEAL_DATA")
            continue
        table = table.sample(arguments.rows or ROWS[name] or len(table.values))
        results[name] = summarize([run_table(arguments, python, name, table, seed) for seed in range(arguments.seeds)])
    report("crosscat_imputation", arguments, results)


if __name__ == "__main__":
    main()
