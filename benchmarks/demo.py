"""The demo: a table of two hundred clusters learned by subsample annealing and by its two baselines, at equal CPU time.

The baselines are those of F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via
Subsample-Annealing, AISTATS, section 4: Gibbs sampling of all rows, from a partition that is drawn from the prior, and
from one that is built row by row.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from _common import Clock, machine
from _strategies import NAMES, show_progress
from figures.strategies import COLORS, MARKERS
from figures.style import legend_below, log_scale, subplots, title
from joblib import Parallel, delayed
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import PriorGibbs, SequentialGibbs, SubsampleAnneal

SCHEDULES = {"prior": PriorGibbs, "sequential": SequentialGibbs, "anneal": SubsampleAnneal}
# Row assignments divided by the number of rows. Those of annealing take more time, since rows are exchanged and there
# are more clusters: the baselines get more of them.
PASSES = {"prior": (2, 5, 10, 20, 40), "sequential": (2, 5, 10, 20, 40), "anneal": (2, 5, 10, 20)}
# Passes of annealing in the sentence that says what was seen: a quarter of the default.
FEW_PASSES = 5
# A mean that is less than this below the best of all is as good, in nats a row.
AS_GOOD = 0.05
N_ROWS, N_HELD_OUT, N_COLUMNS, N_CLUSTERS, N_CATEGORIES = 20_000, 2_000, 20, 200, 4


class Planted:
    """A table of categories drawn from a mixture whose parameters are known.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.weights = rng.dirichlet(np.full(N_CLUSTERS, 5.0))
        self.frequencies = rng.dirichlet(np.full(N_CATEGORIES, 0.5), (N_CLUSTERS, N_COLUMNS))
        clusters = rng.choice(N_CLUSTERS, N_ROWS + N_HELD_OUT, p=self.weights)
        below = self.frequencies[clusters].cumsum(axis=2) < rng.random((len(clusters), N_COLUMNS, 1))
        X = below.sum(axis=2).clip(0, N_CATEGORIES - 1)
        self.train, self.test = X[:N_ROWS], X[N_ROWS:]

    def score(self) -> float:
        """Held-out log density in nats per row, by the parameters themselves: no model has more on average."""
        logs = np.log(self.weights) + sum(np.log(self.frequencies[:, j, self.test[:, j]]).T for j in range(N_COLUMNS))
        return float(logsumexp(logs, axis=1).mean())


def run(strategy: str, passes: int, seed: int) -> dict:
    """One chain by one strategy, scored on the held-out rows."""
    table = Planted(seed)
    model = SubsampleAnnealedDPMM(
        schedule=SCHEDULES[strategy](passes=passes),
        feature_types=["categorical"] * N_COLUMNS,
        n_chains=1,
        n_draws=1,
        # The work is that of the schedule, also where the log joint density still rises.
        max_sweeps=0,
        random_state=seed,
    )
    with Clock() as clock, warnings.catch_warnings():
        # Chains that were given little work are not expected to have arrived.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(table.train)
    return {
        "strategy": strategy,
        "passes": passes,
        "seed": seed,
        "cpu_seconds": clock.cpu,
        "score": model.score(table.test),
        "n_clusters": model.n_clusters_,
        "truth": table.score(),
    }


def compare(n_seeds: int, n_jobs: int) -> list[dict]:
    """All fits; those of one seed follow one another, so that a disturbance of the machine affects all strategies."""
    tasks = [(name, passes, seed) for seed in range(n_seeds) for name in PASSES for passes in PASSES[name]]
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=n_jobs)
    with pool:
        # The first fit of a process pays for its imports.
        for _ in pool(delayed(run)("prior", 1, seed) for seed in range(n_jobs)):
            pass
        records = list(show_progress(pool(delayed(run)(*task) for task in tasks), len(tasks)))
    return sorted(records, key=lambda record: tasks.index((record["strategy"], record["passes"], record["seed"])))


class Cell:
    """The fits by one strategy with one number of passes.

    Parameters
    ----------
    records : list of dict
        All fits.
    strategy : str
    passes : int
    """

    def __init__(self, records: list[dict], strategy: str, passes: int):
        own = [r for r in records if r["strategy"] == strategy and r["passes"] == passes]
        self.strategy, self.passes = strategy, passes
        # Below the density of the true model, the best possible, seed by seed.
        self.gaps = np.array([r["truth"] - r["score"] for r in own])
        self.cpu = float(np.mean([r["cpu_seconds"] for r in own]))
        self.n_clusters = float(np.mean([r["n_clusters"] for r in own]))


def cells_of(records: list[dict]) -> list[Cell]:
    """The fits by strategy and passes."""
    return [Cell(records, strategy, passes) for strategy in PASSES for passes in PASSES[strategy]]


def lead(cells: list[Cell], annealed: Cell) -> tuple[str, float, float]:
    """The better baseline after the same CPU time; the mean lead of annealing over it, and its standard error.

    What a baseline has after this time is interpolated, seed by seed, between its fits with less and with more work.
    """
    gaps = {}
    for strategy in ("prior", "sequential"):
        own = [cell for cell in cells if cell.strategy == strategy]
        seconds = [cell.cpu for cell in own]
        gaps[strategy] = np.array(
            [np.interp(annealed.cpu, seconds, of) for of in zip(*(c.gaps for c in own), strict=True)]
        )
    best = min(gaps, key=lambda strategy: gaps[strategy].mean())
    leads = gaps[best] - annealed.gaps
    return best, float(leads.mean()), float(leads.std(ddof=1) / np.sqrt(len(leads)))


def table(cells: list[Cell]) -> str:
    """Aligned text."""
    lines = [f"  {'strategy':<22}{'passes':>7}{'CPU s':>8}{'below the true model':>22}{'clusters':>10}"]
    for cell in cells:
        spread = cell.gaps.std(ddof=1) / np.sqrt(len(cell.gaps))
        gap = f"{cell.gaps.mean():.2f} ± {spread:.2f}"
        lines.append(f"  {NAMES[cell.strategy]:<22}{cell.passes:>7}{cell.cpu:>8.2f}{gap:>22}{cell.n_clusters:>10.0f}")
    return "\n".join(lines)


def sentence(cells: list[Cell]) -> str:
    """What was seen, in words."""
    annealed = next(cell for cell in cells if (cell.strategy, cell.passes) == ("anneal", FEW_PASSES))
    rival, mean, error = lead(cells, annealed)
    if mean > 2.0 * error:
        seen = (
            f"ahead of both baselines at that time\n(interpolated), by {mean:.2f} ± {error:.2f} nats per held-out row "
            f"over the better one, {NAMES[rival]}.\nThese begin with few clusters, each of several true ones, and part "
            "them one by one among all rows;\nannealing finds the clusters while the subsample is small, and rows "
            "cost little"
        )
    else:
        seen = (
            f"not ahead of both baselines at that time\n(interpolated): its lead over the better one, {NAMES[rival]}, "
            f"is {mean:+.2f} ± {error:.2f} nats per held-out row"
        )
    best = min(cell.gaps.mean() for cell in cells)
    arrivals = []
    for strategy in PASSES:
        good = [c.cpu for c in cells if c.strategy == strategy and c.gaps.mean() < best + AS_GOOD]
        arrivals.append(f"{NAMES[strategy]} {f'after {min(good):.1f} CPU seconds' if good else 'not yet'}")
    return (
        f"After {annealed.cpu:.1f} CPU seconds ({FEW_PASSES} passes; the default has 20) annealing is {seen}.\n"
        f"The best density is reached by {', '.join(arrivals)}."
    )


def draw(cells: list[Cell]):
    """Distance to the true model against CPU seconds."""
    figure, axes = subplots(1, 1, (7.0, 4.4))
    ax, handles = axes[0, 0], {}
    for strategy in PASSES:
        own = [cell for cell in cells if cell.strategy == strategy]
        errors = [cell.gaps.std(ddof=1) / np.sqrt(len(cell.gaps)) for cell in own]
        x, y = [cell.cpu for cell in own], [cell.gaps.mean() for cell in own]
        style = {"color": COLORS[strategy], "marker": MARKERS[strategy], "linewidth": 1.8, "capsize": 3}
        handles[NAMES[strategy]] = ax.errorbar(x, y, errors, **style)
    log_scale(ax, "x", "y")
    ax.set_xlabel("CPU seconds of a chain")
    ax.set_ylabel("nats per held-out row below the true model")
    title(ax, f"{N_ROWS:,} rows, {N_COLUMNS} columns of categories, {N_CLUSTERS} clusters")
    legend_below(figure, handles)
    return figure


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seeds", type=int, default=5, help="tables, at least 2")
    arguments.add_argument("--jobs", type=int, default=2, help="chains run at once")
    arguments.add_argument("--output", type=Path, default=Path("output"), help="folder of figure and JSON")
    given = arguments.parse_args()
    if given.seeds < 2:
        arguments.error(f"--seeds must be at least 2, for standard errors, got {given.seeds}")

    n_fits = given.seeds * sum(map(len, PASSES.values()))
    print(
        f"{given.seeds} tables of {N_ROWS:,} rows in {N_CLUSTERS} clusters are generated, {N_COLUMNS} columns of "
        f"{N_CATEGORIES} categories. Each is learned by three strategies with more and more work: {n_fits} fits of one "
        "chain, in half a minute to a minute."
    )
    started = time.perf_counter()
    records = compare(given.seeds, given.jobs)
    cells = cells_of(records)
    print(
        f"\nHeld-out log density, in nats per row below that of the true model\n\n{table(cells)}\n\n{sentence(cells)}"
    )
    given.output.mkdir(parents=True, exist_ok=True)
    figure, data = given.output / "demo.png", given.output / "demo.json"
    draw(cells).savefig(figure, dpi=150)
    data.write_text(json.dumps({"machine": machine(), "runs": records}, indent=1))
    print(f"\nFigure: {figure}   data: {data}   {time.perf_counter() - started:.0f} s")
    print("Next, on a table of your own: .venv/bin/sklearn-subanneal report table.csv, or the tour in doc/tour.md")


if __name__ == "__main__":
    main()
