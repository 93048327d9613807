"""Stratified subsampling on KDD Cup 1999: whether rare attacks form separate clusters earlier, or better ones.

The type of attack is not a column of the model. The strata are these types, which are unknown without labels, or the
values of a column, by default the service of a connection. An attack is rare if 5 to 200 rows of the table have its
type. The score of a type is the F1 score of the cluster that matches it best, over all training rows, each assigned to
its most probable cluster; in CrossCat, of the best cluster of all views. It is computed when the subsample reaches
given shares of the table, and in the last draw. Held-out log densities are in nats per row, with standardised reals
(F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing, AISTATS,
section 6: future work).
"""

from pathlib import Path

import numpy as np
from _common import find_data, note, pyplot, report, skip, split, spread
from _crosscat import crosscat, crosscat_parser
from _tables import READERS, read
from kdd import load_attacks

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import Accelerating, CyclicSubsampling, StratifiedSubsampling
from sklearn_subanneal.mixtures.predictive import ensemble_of_mixtures
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.views_predictive import ensemble_of_views

RARE = (5, 200)
SERVICE = 2
BALANCES = (0.5, 1.0)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
END = "end"
# F1 score from which a type has a separate cluster.
OWN = 0.8


class Watch:
    """Callback that evaluates the state when the subsample first has a given share of the rows.

    Parameters
    ----------
    shares : sequence of float
        In ascending order.
    n_rows : int
    look : callable
        Function of a fitted estimator with the present state as its only draw.

    Attributes
    ----------
    found : dict
        What ``look`` gave, by shares.
    """

    def __init__(self, shares, n_rows: int, look):
        self.waiting, self.n_rows, self.look = list(shares), n_rows, look
        self.found: dict = {}

    def setup(self, estimator, context) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator, context) -> None:
        """Nothing to clean up."""

    def on_fit_task_begin(self, estimator, context) -> None:
        """The state is available at the end of a sweep."""

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None) -> bool:
        """Evaluate the state if the subsample has reached the next share."""
        if fitted_estimator is None or not metadata or "trace" not in metadata:
            return False
        assigned = metadata["trace"]["n_assigned"]
        while self.waiting and assigned >= self.waiting[0] * self.n_rows:
            self.found[self.waiting.pop(0)] = self.look(fitted_estimator)
        return False


def assignments(model, X) -> list[np.ndarray]:
    """Most probable cluster of each row in the last draw, in each of its views; the one with most columns first."""
    draw, arrays = model._draws[0][-1], model._encode(X)
    of_views = isinstance(draw, ViewsDraw)
    average = (ensemble_of_views if of_views else ensemble_of_mixtures)(model._models, [draw])
    factors = sorted(average.products[0], key=lambda factor: -len(factor.members))
    labels = [np.empty(len(X), np.int64) for _ in factors]
    for rows, cells in average.cells(arrays, average.most_clusters):
        for found, factor in zip(labels, factors, strict=True):
            found[rows] = factor.log_joint(cells)[:, :-1].argmax(axis=1)
    return labels


def best_f1(labels: np.ndarray, of_type: np.ndarray) -> float:
    """F1 score of the cluster that matches a type best."""
    sizes = np.bincount(labels)
    common = np.bincount(labels[of_type], minlength=len(sizes))
    return float((2 * common / (sizes + of_type.sum())).max())


def quality(model, X_train, attacks, rare, X_test, rare_test) -> dict:
    """Scores of the rare types, and the log density of held-out rows."""
    views = assignments(model, X_train)
    of_types = {name: [best_f1(labels, attacks == name) for labels in views] for name in rare}
    f1 = np.array([max(found) for found in of_types.values()])
    scores = model.score_samples(X_test)
    return {
        "f1": float(f1.mean()),
        "f1_first_view": float(np.mean([found[0] for found in of_types.values()])),
        "own_clusters": int((f1 >= OWN).sum()),
        "held_out": float(scores.mean()),
        "held_out_rare": float(scores[rare_test].mean()),
        "f1_of_types": {name: float(value) for name, value in zip(of_types, f1, strict=True)},
    }


def subsamplings(attacks, column: int) -> dict:
    """Ways to churn, by their names; ``attacks`` are the types of the rows that are learned."""
    out = {"cyclic": CyclicSubsampling()}
    for balance in BALANCES:
        out[f"attack, {balance:g}"] = StratifiedSubsampling(labels=attacks, balance=balance)
    for balance in BALANCES:
        out[f"column, {balance:g}"] = StratifiedSubsampling(column=column, balance=balance)
    return out


def run(arguments, rows, attacks, rare, model: str, passes: float, seed: int) -> dict:
    """Run one chain for each subsampling strategy on the same split; results by strategy and share."""
    train, test = split(len(rows), seed)
    X_train, X_test = rows.halves(train, test)
    rare_test = np.isin(attacks[test], rare)
    # Only types with more than one training row are scored.
    rare = [name for name in rare if (attacks[train] == name).sum() > 1]
    out = {}

    def look(fitted):
        return quality(fitted, X_train, attacks[train], rare, X_test, rare_test)

    for name, subsampling in subsamplings(attacks[train], arguments.column).items():
        shared = {"schedule": Accelerating(passes), "feature_types": rows.kinds, "n_draws": 1, "random_state": seed}
        if model == "CrossCat":
            estimator = crosscat(arguments, **shared)
        else:
            estimator = SubsampleAnnealedDPMM(covariance_type="diag", n_chains=1, n_jobs=1, **shared)
        watch = Watch(SHARES, len(train), look)
        estimator.set_params(subsampling=subsampling).set_callbacks(watch).fit(X_train)
        out[name] = watch.found | {END: look(estimator)}
    return out


def summarize(runs: list[dict]) -> dict:
    """Spread over seeds of all results, and of their differences from cyclic subsampling with the same seed."""
    out: dict = {}
    for name in runs[0]:
        out[name] = {}
        for share in (*SHARES, END):
            cells, cyclic = [run[name][share] for run in runs], [run["cyclic"][share] for run in runs]
            keys = [key for key in cells[0] if key != "f1_of_types"]
            types = sorted({kind for cell in cells for kind in cell["f1_of_types"]})
            out[name][str(share)] = {
                "figures": {key: spread([cell[key] for cell in cells]) for key in keys},
                "gains": {key: spread(np.subtract(*([c[key] for c in cs] for cs in (cells, cyclic)))) for key in keys},
                "f1_of_types": {
                    kind: spread([cell["f1_of_types"][kind] for cell in cells if kind in cell["f1_of_types"]])
                    for kind in types
                },
            }
    return out


def table(summary: dict) -> str:
    """Mean F1 by share and at the end, with the standard error of the gain over cyclic subsampling."""
    heads = [f"{share:g}" for share in SHARES]
    lines = [f"{'subsampling':<14}" + "".join(f"{head:>13}" for head in [*heads, END])]
    lines[0] += f"{'own':>6}{'rare rows':>18}{'all rows':>18}"
    for name, shares in summary.items():
        line = f"{name:<14}"
        for found in shares.values():
            line += f"{found['figures']['f1']['mean']:8.3f}" + _error(found["gains"]["f1"], 5, 2)
        last = shares[END]
        line += f"{last['figures']['own_clusters']['mean']:6.1f}"
        for key in ("held_out_rare", "held_out"):
            line += f"{last['figures'][key]['mean']:10.1f}" + _error(last["gains"][key], 8, 1)
        lines.append(line)
    return "\n".join(lines)


def _error(gain: dict, width: int, digits: int) -> str:
    """Standard error of a gain over seeds."""
    error = gain["sd"] / np.sqrt(len(gain["values"]))
    return " " * width if not error else f"±{error:<{width - 1}.{digits}f}"


def plot(results: dict, path: Path) -> None:
    """Plot mean F1 against the share of rows in the subsample, one panel for each model and table."""
    plt = pyplot()
    figure, axes = plt.subplots(
        1, len(results), figsize=(1.0 + 4.0 * len(results), 4.0), layout="constrained", squeeze=False, sharey=True
    )
    x = [*SHARES, 1.0]
    for ax, (title, summary) in zip(axes.flat, results.items(), strict=True):
        for name, shares in summary.items():
            figures = [found["figures"]["f1"] for found in shares.values()]
            means = np.array([figure["mean"] for figure in figures])
            error = np.array([figure["sd"] / np.sqrt(len(figure["values"])) for figure in figures])
            color = "#000000" if name == "cyclic" else {"a": "#0072B2", "c": "#D55E00"}[name[0]]
            (line,) = ax.plot(x, means, label=name, color=color, linestyle="--" if name.endswith("0.5") else "-")
            ax.fill_between(x, means - error, means + error, color=line.get_color(), alpha=0.12, linewidth=0)
        ax.set_xscale("log")
        ax.set_xlabel("share of the rows in the subsample")
        ax.set_title(title, loc="left", fontsize=10)
    axes[0, 0].set_ylabel("F1 of the best cluster, mean over rare types")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, frameon=False, loc="outside lower center", ncols=len(names))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    given = crosscat_parser(__doc__, seeds=8)
    given.add_argument("--data", help="folder that holds kdd99/ (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", choices=("kdd_10000", "kdd_100000"), default=["kdd_10000"])
    given.add_argument("--models", nargs="+", choices=("DPMM", "CrossCat"), default=["DPMM", "CrossCat"])
    given.add_argument(
        "--passes", type=float, nargs="+", default=[8.0, 64.0], help="passes of the accelerating schedule"
    )
    given.add_argument("--column", type=int, default=SERVICE, help="the column whose values are strata")
    given.add_argument("--first-seed", type=int, default=0)
    given.add_argument("--figure", type=Path, help="file for a figure")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.seeds, arguments.passes = min(arguments.seeds, 2), [1.0]
    results, details = {}, {}
    for number in arguments.tables:
        rows = read(number, arguments.data)
        if rows is None:
            return skip("stratified_kdd", arguments, f"the file of {number} was not found; pass its folder by --data")
        attacks = load_attacks(find_data(arguments.data, *READERS[number][1]), header=0)
        names, counts = np.unique(attacks, return_counts=True)
        rare = list(names[(counts >= RARE[0]) & (counts <= RARE[1])])
        details[number] = dict(zip(names.tolist(), counts.tolist(), strict=True))
        for model in arguments.models:
            for passes in arguments.passes:
                seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
                runs = [run(arguments, rows, attacks, rare, model, passes, seed) for seed in seeds]
                title = f"{number}, {model}, {passes:g} passes"
                results[title] = summarize(runs)
                note(f"{title}, {arguments.seeds} seeds\n{table(results[title])}")
    if arguments.figure:
        arguments.figure.parent.mkdir(parents=True, exist_ok=True)
        plot(results, arguments.figure)
    report("stratified_kdd", arguments, results, rows_of_types=details)


if __name__ == "__main__":
    main()
