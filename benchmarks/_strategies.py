"""The three strategies of the subsample-annealing paper under equal time bounds: runs and their table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from _common import Clock, split
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.posterior import log_mean_exp

NAMES = {
    "prior": "prior + Gibbs",
    "sequential": "sequential + Gibbs",
    "anneal": "subsample annealing",
    "accelerating": "accelerating annealing",
}
# The strategies of the paper.
STRATEGIES = ("prior", "sequential", "anneal")
# As many draws as the time bound allows.
ALL_DRAWS = 1_000_000
# As in the paper, annealing takes all the time that there is; a schedule of few passes would be stretched thrice only.
SCHEDULES = {"anneal": SubsampleAnneal(passes=1e6)}


def run(X, strategy: str, bound: float, seed: int, chain: int, estimator: BaseEstimator | Callable) -> dict:
    """One chain on 7/8 of the rows within ``bound`` seconds, scored on the other 1/8.

    ``estimator`` may be a function of the training rows and a seed that returns one.
    """
    train, test = split(len(X), seed)
    train, test = X.halves(train, test) if hasattr(X, "halves") else _halves(X, train, test)
    own = seed + 1000 * chain
    model = estimator(train, own) if callable(estimator) else clone(estimator)
    model.set_params(n_chains=1, n_draws=ALL_DRAWS, time_limit=bound, random_state=own)
    with Clock() as clock:
        model.fit(train)
    scores = model.score_samples(test)
    return {
        "strategy": strategy,
        "bound": bound,
        "seed": seed,
        "chain": chain,
        "score": float(scores.mean()),
        "score_median_row": float(np.median(scores)),
        "seconds": clock.wall,
        "cpu_seconds": clock.cpu,
        "sweeps": len(model.trace_),
        "draws": model.log_joint_.shape[1],
        "log_joint": float(model.log_joint_[0, -1]),
        "n_clusters": int(model.trace_["n_clusters"][-1]),
        **_of_views(model),
        "scores": scores,
    }


def _halves(X, train, test):
    """Two parts of an array or a DataFrame."""
    rows = X.iloc if hasattr(X, "iloc") else X
    return rows[train], rows[test]


def _of_views(model) -> dict:
    """Results from the trace that concern views; empty for models without views."""
    trace = model.trace_
    if "n_views" not in trace.dtype.names:
        return {}
    kinds = ("rows", "views", "hyperparameters")
    seconds = [float(trace[f"seconds_{kind}"].sum()) for kind in kinds]
    return {
        "n_views": int(trace["n_views"][-1]),
        "columns_moved": int(trace["n_columns_moved"].sum()),
        **{f"share_{kind}": part / sum(seconds) for kind, part in zip(kinds, seconds, strict=True)},
    }


def compare(
    X,
    bounds: Sequence[float],
    n_seeds: int,
    *,
    n_chains: int = 1,
    n_jobs: int = 2,
    estimators: dict[str, BaseEstimator | Callable] | None = None,
    progress: Callable[[Iterable, int], Iterable] | None = None,
) -> list[dict]:
    """Run every strategy under every bound with every seed; a seed has one split, the same for all strategies.

    Chains run in parallel processes, so that none waits for the GIL of another.

    Parameters
    ----------
    X : array, DataFrame or MixedTable
        The real columns of a MixedTable are standardised by the training rows.
    bounds : sequence of float
        Seconds of a chain.
    n_seeds : int
    n_chains : int, default=1
        Chains on each split, each of them for itself within the bound.
    n_jobs : int, default=2
    estimators : dict of str to estimator, default=None
        By the names of their strategies, or functions of training rows and seed that return them; None: a mixture by
        each of the paper's strategies.
    progress : callable, default=None
        Yields the records and shows the progress, such as :func:`show_progress`.

    Returns
    -------
    records : list of dict
        Without "scores" of the rows, but with "averaged" in the record of the last chain of a split: the score of the
        average of all its chains.
    """
    estimators = estimators or {
        name: SubsampleAnnealedDPMM(
            schedule=SCHEDULES.get(name, name), covariance_type="diag", feature_types="from_dtype"
        )
        for name in STRATEGIES
    }
    # Neighbours in this list share bound and split, so that a disturbance of the machine affects all strategies.
    tasks = [
        (strategy, bound, seed, chain)
        for bound in bounds
        for seed in range(n_seeds)
        for chain in range(n_chains)
        for strategy in estimators
    ]
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=n_jobs)
    with pool:
        # The first fit of a process pays for its imports.
        first = next(iter(estimators))
        for _ in pool(delayed(run)(X, first, bounds[0], seed, 0, estimators[first]) for seed in range(n_jobs)):
            pass
        records = pool(delayed(run)(X, *task, estimators[task[0]]) for task in tasks)
        records = list(progress(records, len(tasks)) if progress else records)
    order = {task: i for i, task in enumerate(tasks)}
    records.sort(key=lambda r: order[r["strategy"], r["bound"], r["seed"], r["chain"]])
    _average(records, n_chains)
    return records


def _average(records: list[dict], n_chains: int) -> None:
    """Replace the scores of rows by that of the average of the chains of a split, where there are several."""
    found: dict[tuple, list] = {}
    for record in records:
        chains = found.setdefault((record["strategy"], record["bound"], record["seed"]), [])
        chains.append(record.pop("scores"))
        if len(chains) == n_chains > 1:
            record["averaged"] = float(log_mean_exp(np.array(chains), axis=0).mean())


def show_progress(records: Iterable, total: int) -> Iterable:
    """Yield the records and show a progress bar, or a line for each tenth if there is no terminal."""
    started, width = time.perf_counter(), 30
    for done, record in enumerate(records, 1):
        yield record
        seconds = time.perf_counter() - started
        if sys.stderr.isatty():
            bar = "#" * (width * done // total)
            end = "\n" if done == total else ""
            print(f"\r  [{bar:<{width}}] {done}/{total} fits, {seconds:.0f} s", end=end, file=sys.stderr, flush=True)
        elif 10 * done // total > 10 * (done - 1) // total:
            print(f"  {done}/{total} fits, {seconds:.0f} s", file=sys.stderr, flush=True)


def summarize(records: list[dict]) -> list[dict]:
    """Mean, median and spread of the scores of each strategy under each bound.

    "sd_same_split" is the spread without the part that is due to easy and difficult splits. The difficulty of a split
    is the median score of all runs on it.
    """
    difficulty = {
        seed: np.median([record["score"] for record in records if record["seed"] == seed])
        for seed in {record["seed"] for record in records}
    }
    out = []
    for bound in sorted({record["bound"] for record in records}):
        for strategy in strategies_of(records):
            cell = [r for r in records if r["bound"] == bound and r["strategy"] == strategy]
            scores = np.array([r["score"] for r in cell])
            relative = scores - np.array([difficulty[r["seed"]] for r in cell])
            averaged = [r["averaged"] for r in cell if "averaged" in r]
            measured = ("seconds", "cpu_seconds", "sweeps", "draws", "n_clusters", *_VIEWS)
            out.append(
                {
                    "bound": bound,
                    "strategy": strategy,
                    "mean": float(scores.mean()),
                    "median": float(np.median(scores)),
                    "sd": float(scores.std(ddof=1)) if len(scores) > 1 else 0.0,
                    "sd_same_split": float(relative.std(ddof=1)) if len(scores) > 1 else 0.0,
                    "worst": float(scores.min()),
                    **({"averaged": float(np.mean(averaged))} if averaged else {}),
                    **{name: float(np.mean([r[name] for r in cell])) for name in measured if name in cell[0]},
                }
            )
    return out


# Figures of models with views.
_VIEWS = ("n_views", "columns_moved", "share_rows", "share_views", "share_hyperparameters")


def strategies_of(records: list[dict]) -> list[str]:
    """Strategies in the order in which they were run."""
    return list(dict.fromkeys(record["strategy"] for record in records))


def table(summary: list[dict]) -> str:
    """The summary as aligned text; views and averages of chains only where there are some."""
    columns = [
        ("mean", "mean", 9, 2),
        ("averaged", "averaged", 10, 2),
        ("median", "median", 9, 2),
        ("sd", "sd", 7, 2),
        ("sd, split", "sd_same_split", 11, 2),
        ("worst", "worst", 9, 2),
        ("CPU s", "cpu_seconds", 8, 1),
        ("sweeps", "sweeps", 8, 0),
        ("views", "n_views", 7, 1),
        ("clusters", "n_clusters", 10, 1),
    ]
    columns = [column for column in columns if column[1] in summary[0]]
    lines = [f"{'time bound':>10}  {'strategy':<22}" + "".join(f"{head:>{width}}" for head, _, width, _ in columns)]
    previous = None
    for row in summary:
        bound = f"{row['bound']:g} s" if row["bound"] != previous else ""
        previous = row["bound"]
        cells = "".join(f"{row[key]:{width}.{digits}f}" for _, key, width, digits in columns)
        lines.append(f"{bound:>10}  {NAMES[row['strategy']]:<22}{cells}")
    return "\n".join(lines)
