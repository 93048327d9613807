"""Gaussian processes with sampled hyperparameters against scikit-learn's optimised ones, on regression tables.

On tables scikit-learn has the best of three kernels (squared exponential, Matern with smoothness 3/2 and 5/2), each
with a length scale for each feature, by the marginal likelihood of the training rows; its time is that of all three.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _common import Clock, find_data, note, parser, report, spread
from scipy import stats
from sklearn.datasets import load_diabetes, load_wine, make_friedman1, make_friedman2, make_friedman3
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, Matern, RationalQuadratic, WhiteKernel
from threadpoolctl import threadpool_limits

from sklearn_subanneal import TemperedGaussianProcessRegressor
from sklearn_subanneal.diagnostics import rank_normalized_rhat

FILES = {
    "concrete": ("gp_uci", "concrete.txt.gz"),
    "energy": ("gp_uci", "energy.txt.gz"),
    "yacht": ("gp_uci", "yacht.txt.gz"),
    "Boston": ("gp_uci", "bostonHousing.txt.gz"),
    "magic": ("pmlb", "magic.csv.gz"),
    "CO2": ("co2", "mauna_loa_weekly_statsmodels.csv.gz"),
}
# Rows of the functions with noise, beyond those to train on.
MORE = 700
LEVEL = 0.9
BARS = {"gain_in_nats_a_row": 0.0, "coverage_of_90_percent": (0.85, 0.95)}


def of_file(name: str, path) -> tuple:
    """Features and target of a file."""
    table = np.loadtxt(path) if name != "magic" else pd.read_csv(path).iloc[:3000, :-1].to_numpy(dtype=float)
    return table[:, :-1], table[:, -1]


def of_scikit_learn(name: str, n_rows: int, seed: int) -> tuple:
    """Features and target of a data set of scikit-learn; of wine the last column, proline."""
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    if name == "wine":
        columns = load_wine().data
        return columns[:, :-1], columns[:, -1]
    make, noise = {
        "Friedman 1": (make_friedman1, 1.0),
        "Friedman 2": (make_friedman2, 100.0),
        "Friedman 3": (make_friedman3, 0.1),
    }[name]
    return make(n_samples=n_rows + MORE, noise=noise, random_state=seed)


MADE = ("diabetes", "wine", "Friedman 1", "Friedman 2", "Friedman 3")
TABLES = [name for name in FILES if name != "CO2"] + list(MADE)


def divided(X, y, n_train: int, seed: int) -> tuple:
    """Training rows, at most nine tenths, and all other rows."""
    order = np.random.default_rng(seed).permutation(len(y))
    n = min(n_train, 9 * len(y) // 10)
    return X[order[:n]], y[order[:n]], X[order[n:]], y[order[n:]]


def carbon_dioxide(path, n_months: int, seed: int) -> tuple:
    """Months since 1958 in years, and their mean concentrations; the five years that follow are held out."""
    months = pd.read_csv(path, parse_dates=["date"]).set_index("date")["co2"].resample("MS").mean().dropna()
    years = (months.index.year + (months.index.month - 1) / 12).to_numpy()[:, None]
    begin = 24 * (seed % 7)
    end = begin + n_months
    values = months.to_numpy()
    return years[begin:end], values[begin:end], years[end : end + 60], values[end : end + 60]


def seasons(x_scale: float, y_scale: float):
    """The kernel of scikit-learn's example of this series, in other units: trend, seasons, irregularities."""
    trend = ConstantKernel((50.0 / y_scale) ** 2) * RBF(50.0 / x_scale)
    seasonal = ConstantKernel((2.0 / y_scale) ** 2) * RBF(100.0 / x_scale)
    seasonal *= ExpSineSquared(1.0, 1.0 / x_scale, periodicity_bounds="fixed")
    irregular = ConstantKernel((0.5 / y_scale) ** 2) * RationalQuadratic(1.0 / x_scale, 1.0)
    return trend + seasonal + irregular


def measures(log_density, y, mean, lower, upper, clock) -> dict:
    return {
        "log_density": float(np.mean(log_density)),
        "coverage": float(np.mean((lower <= y) & (y <= upper))),
        "rmse": float(np.sqrt(np.mean((y - mean) ** 2))),
        "cpu_seconds": clock.cpu,
    }


def ours(split: tuple, seed: int, kernel="auto", **parameters) -> dict:
    X, y, X_out, y_out = split
    model = TemperedGaussianProcessRegressor(kernel, random_state=seed, **parameters)
    with Clock() as clock:
        model.fit(X, y)
    lower, upper = model.predict_interval(X_out, LEVEL).T
    out = measures(model.log_predictive_density(X_out, y_out), y_out, model.predict(X_out), lower, upper, clock)
    return out | {"rhat": float(rank_normalized_rhat(model.result_.draws).max())}


def theirs(split: tuple, seed: int, kernels: list, n_restarts: int) -> dict:
    """The best of some kernels by the marginal likelihood of the training rows."""
    X, y, X_out, y_out = split
    center, scale = X.mean(axis=0), np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)
    models = [
        GaussianProcessRegressor(
            kernel + WhiteKernel(0.1), normalize_y=True, n_restarts_optimizer=n_restarts, random_state=seed
        )
        for kernel in kernels
    ]
    with warnings.catch_warnings(), Clock() as clock:
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in models:
            model.fit((X - center) / scale, y)
    model = max(models, key=lambda model: model.log_marginal_likelihood_value_)
    mean, deviation = model.predict((X_out - center) / scale, return_std=True)
    half = stats.norm.ppf(0.5 + LEVEL / 2.0) * deviation
    return measures(stats.norm(mean, deviation).logpdf(y_out), y_out, mean, mean - half, mean + half, clock)


def compare(name: str, path, arguments) -> dict:
    """Both models on the same splits; ``gain`` is the difference of their log densities per row."""
    runs = {"ours": [], "scikit-learn": []}
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        kernel, short, restarts = "auto", {}, arguments.restarts
        n_rows = 50 if arguments.quick else arguments.rows
        if name == "CO2":
            split = carbon_dioxide(path, 60 if arguments.quick else 300, seed)
            kernel, restarts = seasons(split[0].std(), split[1].std()), 2
            kernels = [kernel]
        else:
            split = divided(*(of_file(name, path) if path else of_scikit_learn(name, n_rows, seed)), n_rows, seed)
            width = np.ones(split[0].shape[1])
            kernels = [ConstantKernel() * own for own in (RBF(width), Matern(width, nu=1.5), Matern(width, nu=2.5))]
        if arguments.quick:
            short, restarts = {"n_draws": 20, "n_warmup": 20, "n_chains": 2}, 0
        runs["ours"].append(ours(split, seed, kernel, **short))
        runs["scikit-learn"].append(theirs(split, seed, kernels, restarts))
        note(f"{name}, split {seed}: " + ", ".join(f"{kind} {rounded(values[-1])}" for kind, values in runs.items()))
    out = {
        kind: {measure: spread([run[measure] for run in values]) for measure in values[0]}
        for kind, values in runs.items()
    }
    pairs = zip(runs["ours"], runs["scikit-learn"], strict=True)
    out["gain"] = spread([one["log_density"] - other["log_density"] for one, other in pairs])
    out["time_ratio"] = out["ours"]["cpu_seconds"]["mean"] / out["scikit-learn"]["cpu_seconds"]["mean"]
    return out | {"rows": {"training": len(split[1]), "held_out": len(split[3]), "features": split[0].shape[1]}}


def rounded(measured: dict) -> dict:
    return {name: round(value, 3) for name, value in measured.items()}


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--data", help="folder with gp_uci/, pmlb/ and co2/")
    given.add_argument("--rows", type=int, default=300, help="rows to train on, nine tenths at most (default 300)")
    given.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    given.add_argument("--restarts", type=int, default=4, help="restarts of the optimiser (default 4; CO2: 2)")
    given.add_argument("--tables", nargs="+", choices=[*TABLES, "CO2"], default=[*TABLES, "CO2"])
    arguments = given.parse_args()
    paths = {name: find_data(arguments.data, *FILES[name]) if name in FILES else None for name in arguments.tables}
    for name in [name for name in paths if name in FILES and paths[name] is None]:
        note(f"{name}: left out, its file was not found below --data or $SUBANNEAL_DATA")
        del paths[name]
    with threadpool_limits(1):
        results = {name: compare(name, path, arguments) for name, path in paths.items()}
    gains = [results[name]["gain"]["mean"] for name in TABLES if name in results]
    report("gp_regression", arguments, results, mean_gain_on_tables=float(np.mean(gains)) if gains else None, bars=BARS)


if __name__ == "__main__":
    main()
