"""The three strategies of the subsample-annealing paper under equal time bounds: runs, table and figure."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from _common import split
from joblib import Parallel, delayed

from sklearn_subanneal import SubsampleAnnealedDPMM

STRATEGIES = {"prior": "prior + Gibbs", "sequential": "sequential + Gibbs", "anneal": "subsample annealing"}
COLORS = {"prior": "#D55E00", "sequential": "#009E73", "anneal": "#0072B2"}
MARKERS = {"prior": "s", "sequential": "^", "anneal": "o"}
# As many draws as the time bound admits.
ALL_DRAWS = 1_000_000


def run(X, strategy: str, bound: float, seed: int, estimator: dict) -> dict:
    """One chain on 7/8 of the rows within ``bound`` seconds, scored on the other 1/8."""
    train, test = split(X.shape[0], seed)
    rows = X.iloc if hasattr(X, "iloc") else X
    model = SubsampleAnnealedDPMM(
        schedule=strategy, n_chains=1, n_draws=ALL_DRAWS, time_limit=bound, random_state=seed, **estimator
    )
    started = time.perf_counter()
    model.fit(rows[train])
    seconds = time.perf_counter() - started
    return {
        "strategy": strategy,
        "bound": bound,
        "seed": seed,
        "score": model.score(rows[test]),
        "seconds": seconds,
        "sweeps": len(model.trace_),
        "draws": model.posterior_labels_.shape[1],
        "n_clusters": model.n_clusters_,
    }


def compare(
    X,
    bounds: Sequence[float],
    n_seeds: int,
    *,
    n_jobs: int = 2,
    estimator: dict | None = None,
    progress: Callable[[Iterable, int], Iterable] | None = None,
) -> list[dict]:
    """Every strategy under every bound with every seed; a seed has one split and the same for all strategies.

    Chains run in processes of their own, side by side, so that none waits for the interpreter of another.
    """
    estimator = estimator or {}
    # Neighbours in this list share bound and split, so that a disturbance of the machine hits all strategies.
    tasks = [(strategy, bound, seed) for bound in bounds for seed in range(n_seeds) for strategy in STRATEGIES]
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=n_jobs)
    with pool:
        # The first fit of a process pays for its imports.
        for _ in pool(delayed(run)(X, "sequential", bounds[0], seed, estimator) for seed in range(n_jobs)):
            pass
        records = pool(delayed(run)(X, *task, estimator) for task in tasks)
        records = list(progress(records, len(tasks)) if progress else records)
    order = {task: i for i, task in enumerate(tasks)}
    return sorted(records, key=lambda r: order[r["strategy"], r["bound"], r["seed"]])


def show_progress(records: Iterable, total: int) -> Iterable:
    """Pass records on, with a bar on the terminal, or a line for each tenth where there is none."""
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

    "sd_same_split" is the spread without the part that is due to easy and difficult splits: a split's difficulty is
    the median score of all runs on it.
    """
    difficulty = {
        seed: np.median([record["score"] for record in records if record["seed"] == seed])
        for seed in {record["seed"] for record in records}
    }
    out = []
    for bound in sorted({record["bound"] for record in records}):
        for strategy in STRATEGIES:
            cell = [r for r in records if r["bound"] == bound and r["strategy"] == strategy]
            scores = np.array([r["score"] for r in cell])
            relative = scores - np.array([difficulty[r["seed"]] for r in cell])
            out.append(
                {
                    "bound": bound,
                    "strategy": strategy,
                    "mean": float(scores.mean()),
                    "median": float(np.median(scores)),
                    "sd": float(scores.std(ddof=1)) if len(scores) > 1 else 0.0,
                    "sd_same_split": float(relative.std(ddof=1)) if len(scores) > 1 else 0.0,
                    "worst": float(scores.min()),
                    "seconds": float(np.mean([r["seconds"] for r in cell])),
                    "sweeps": float(np.mean([r["sweeps"] for r in cell])),
                    "n_clusters": float(np.mean([r["n_clusters"] for r in cell])),
                }
            )
    return out


def table(summary: list[dict]) -> str:
    """The summary as aligned text."""
    head = ("time bound", "strategy", "mean", "median", "sd", "sd, split", "worst", "sweeps", "clusters")
    lines = ["{:>10}  {:<20}{:>9}{:>9}{:>7}{:>11}{:>9}{:>8}{:>10}".format(*head)]
    previous = None
    for row in summary:
        bound = f"{row['bound']:g} s" if row["bound"] != previous else ""
        previous = row["bound"]
        lines.append(
            f"{bound:>10}  {STRATEGIES[row['strategy']]:<20}{row['mean']:9.2f}{row['median']:9.2f}{row['sd']:7.2f}"
            f"{row['sd_same_split']:11.2f}{row['worst']:9.2f}{row['sweeps']:8.0f}{row['n_clusters']:10.1f}"
        )
    return "\n".join(lines)


def plot(records: list[dict], path: Path, title: str) -> None:
    """Score against time bound: single runs, and their means, for each strategy."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("The figure needs matplotlib: pip install matplotlib") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bounds = sorted({record["bound"] for record in records})
    figure, ax = plt.subplots(figsize=(7.0, 4.4), layout="constrained")
    for number, (strategy, name) in enumerate(STRATEGIES.items()):
        color, marker = COLORS[strategy], MARKERS[strategy]
        # Side by side on the logarithmic axis, so that runs do not hide one another.
        shift = 1.07 ** (number - 1)
        runs = [r for r in records if r["strategy"] == strategy]
        ax.scatter(
            [r["bound"] * shift for r in runs],
            [r["score"] for r in runs],
            s=16,
            marker=marker,
            color=color,
            alpha=0.35,
            linewidths=0,
            zorder=2,
        )
        means = [np.mean([r["score"] for r in runs if r["bound"] == bound]) for bound in bounds]
        ax.plot(
            [bound * shift for bound in bounds],
            means,
            color=color,
            marker=marker,
            markersize=6,
            markeredgecolor="white",
            linewidth=1.8,
            label=name,
            zorder=3,
        )
    ax.set_xscale("log")
    ax.set_xticks(bounds, [f"{bound:g}" for bound in bounds])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("time bound of a chain (seconds)")
    ax.set_ylabel("held-out log density per row (nats)")
    ax.set_title(f"{title} (points; lines: their means)", loc="left", fontsize=11)
    ax.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    figure.legend(frameon=False, loc="outside lower center", ncols=len(STRATEGIES))
    figure.savefig(path, dpi=150)
    plt.close(figure)
