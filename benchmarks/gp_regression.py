"""Gaussian processes with sampled hyperparameters against scikit-learn's optimised ones, on regression tables."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _common import Clock, find_data, note, parser, report, skip, spread
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, RationalQuadratic, WhiteKernel
from threadpoolctl import threadpool_limits

from sklearn_subanneal import TemperedGaussianProcessRegressor
from sklearn_subanneal.diagnostics import rank_normalized_rhat

TABLES = {"concrete": "concrete", "energy": "energy", "yacht": "yacht", "Boston": "bostonHousing"}
LEVEL = 0.9
BARS = {"gain_in_nats_a_row": 0.0, "coverage_of_90_percent": (0.85, 0.95)}


def tabulated(path, n_train: int, seed: int) -> tuple:
    """Training rows, at most nine tenths, and all other rows."""
    table = np.loadtxt(path)
    order = np.random.default_rng(seed).permutation(len(table))
    n = min(n_train, 9 * len(table) // 10)
    X, y = table[:, :-1], table[:, -1]
    return X[order[:n]], y[order[:n]], X[order[n:]], y[order[n:]]


def carbon_dioxide(path, n_months: int, seed: int) -> tuple:
    """Months since 1958 in years, and their mean concentrations; the five years that follow are held out."""
    months = pd.read_csv(path, parse_dates=["date"]).set_index("date")["co2"].resample("MS").mean().dropna()
    years = (months.index.year + (months.index.month - 1) / 12).to_numpy()[:, None]
    begin, end = 24 * seed, 24 * seed + n_months
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


def ours(split: tuple, seed: int, kernel=None, **parameters) -> dict:
    X, y, X_out, y_out = split
    model = TemperedGaussianProcessRegressor(kernel, random_state=seed, **parameters)
    with Clock() as clock:
        model.fit(X, y)
    lower, upper = model.predict_interval(X_out, LEVEL).T
    out = measures(model.log_predictive_density(X_out, y_out), y_out, model.predict(X_out), lower, upper, clock)
    return out | {"rhat": float(rank_normalized_rhat(model.result_.draws).max())}


def theirs(split: tuple, seed: int, kernel=None, n_restarts: int = 5) -> dict:
    X, y, X_out, y_out = split
    center, scale = X.mean(axis=0), np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)
    kernel = (ConstantKernel() * RBF(np.ones(X.shape[1])) if kernel is None else kernel) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=n_restarts, random_state=seed)
    with warnings.catch_warnings(), Clock() as clock:
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit((X - center) / scale, y)
    mean, deviation = model.predict((X_out - center) / scale, return_std=True)
    half = stats.norm.ppf(0.5 + LEVEL / 2.0) * deviation
    return measures(stats.norm(mean, deviation).logpdf(y_out), y_out, mean, mean - half, mean + half, clock)


def compare(name: str, path, arguments) -> dict:
    """Both models on the same splits; ``gain`` is the difference of their log densities per row."""
    runs = {"ours": [], "scikit-learn": []}
    for seed in range(arguments.seeds):
        kernel, short, restarts = None, {}, arguments.restarts
        if name == "CO2":
            split = carbon_dioxide(path, 60 if arguments.quick else 300, seed)
            kernel, short, restarts = seasons(split[0].std(), split[1].std()), {"n_draws": 100}, 2
        else:
            split = tabulated(path, 50 if arguments.quick else arguments.rows, seed)
        if arguments.quick:
            short, restarts = {"n_draws": 20, "n_warmup": 20, "n_chains": 2}, 0
        runs["ours"].append(ours(split, seed, kernel, **short))
        runs["scikit-learn"].append(theirs(split, seed, kernel, restarts))
        note(f"{name}, split {seed}: " + ", ".join(f"{kind} {rounded(values[-1])}" for kind, values in runs.items()))
    out = {
        kind: {measure: spread([run[measure] for run in values]) for measure in values[0]}
        for kind, values in runs.items()
    }
    pairs = zip(runs["ours"], runs["scikit-learn"], strict=True)
    out["gain"] = spread([one["log_density"] - other["log_density"] for one, other in pairs])
    return out | {"rows": {"training": len(split[1]), "held_out": len(split[3]), "features": split[0].shape[1]}}


def rounded(measured: dict) -> dict:
    return {name: round(value, 3) for name, value in measured.items()}


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--data", help="folder with gp_uci/ and co2/")
    given.add_argument("--rows", type=int, default=300, help="rows to train on, nine tenths at most (default 300)")
    given.add_argument("--restarts", type=int, default=5, help="restarts of the optimiser (default 5; CO2: 2)")
    given.add_argument("--tables", nargs="+", choices=[*TABLES, "CO2"], default=[*TABLES, "CO2"])
    arguments = given.parse_args()
    files = {name: ("gp_uci", f"{file}.txt.gz") for name, file in TABLES.items()}
    files["CO2"] = ("co2", "mauna_loa_weekly_statsmodels.csv.gz")
    paths = {name: find_data(arguments.data, *files[name]) for name in arguments.tables}
    if None in paths.values():
        skip("gp_regression", arguments, "gp_uci/ or co2/ was not found below --data or $SUBANNEAL_DATA")
        return
    with threadpool_limits(1):
        results = {name: compare(name, path, arguments) for name, path in paths.items()}
    gains = [results[name]["gain"]["mean"] for name in TABLES if name in results]
    report("gp_regression", arguments, results, mean_gain_on_tables=float(np.mean(gains)) if gains else None, bars=BARS)


if __name__ == "__main__":
    main()
