"""Do 95 % intervals from multiple imputation cover the coefficients of a regression? Five real tables, 200 times each.

Rows are drawn from a large table, whose own regression is the truth. Cells are hidden at random (MCAR), or depending on
a column that is always observed (MAR). Intervals have robust (HC3) standard errors and are pooled by Rubin's rules over
20 imputations, by ``BayesianImputer`` with its defaults and by scikit-learn's ``IterativeImputer`` with
``sample_posterior=True``, which sees categories one-hot encoded. Intervals from complete data stand beside them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report
from _frames import read
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from sklearn_subanneal import BayesianImputer
from sklearn_subanneal.posterior import pool_fits

SHARE, N_IMPUTATIONS = 0.2, 20


@dataclass(frozen=True)
class Regression:
    """A target, its predictors, of which strings are categories, and the column that is always observed."""

    target: str
    predictors: tuple[str, ...]
    observed: str


REGRESSIONS = {
    "adult": Regression("hours_per_week", ("age", "education_num", "sex", "income"), "age"),
    "census_income": Regression("weeks_worked_in_year", ("age", "num_persons_worked_for_employer", "sex"), "age"),
    "magic": Regression("FAlpha", ("FLength", "FSize", "FConc", "FDist", "target"), "FDist"),
    "gvhd": Regression("CD4", ("CD8b", "CD3", "CD8"), "CD8b"),
    "letter": Regression("x-bar", ("y-bar", "x2bar", "width", "high"), "width"),
}


def design(table: pd.DataFrame, levels: dict) -> np.ndarray:
    """Intercept, numbers, and an indicator of each level of a category but the first."""
    columns = [np.ones(len(table))]
    for name in table:
        if name in levels:
            columns += [(table[name] == level).to_numpy(float) for level in levels[name][1:]]
        else:
            columns.append(table[name].to_numpy(float))
    return np.column_stack(columns)


def regression(table: pd.DataFrame, target: str, levels: dict) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients by least squares, and their HC3 variances."""
    X, y = design(table.drop(columns=target), levels), table[target].to_numpy(float)
    inverse = np.linalg.pinv(X.T @ X)
    beta = inverse @ X.T @ y
    leverage = np.einsum("ij,jk,ik->i", X, inverse, X).clip(max=0.999)
    weighted = X * ((y - X @ beta) / (1.0 - leverage))[:, None]
    return beta, np.diag(inverse @ weighted.T @ weighted @ inverse)


def hidden(table: pd.DataFrame, always: str, at_random: bool, rng: np.random.Generator) -> pd.DataFrame:
    """The table without a share of the cells of all columns but one, by which they are hidden if not at random."""
    order = table[always].rank(pct=True).to_numpy()
    share = np.full(len(table), SHARE) if at_random else 2.0 * SHARE * order
    mask = rng.random(table.shape) < share[:, None]
    mask[:, table.columns.get_loc(always)] = False
    return table.mask(mask)


def iterative(table: pd.DataFrame, levels: dict, seed: int) -> list[pd.DataFrame]:
    """Imputations by chained equations: of a category, the level with the largest imputed indicator."""
    coded = table.drop(columns=list(levels)).astype(float)
    for name, own in levels.items():
        for level in own:
            coded[f"{name}={level}"] = np.where(table[name].isna(), np.nan, table[name] == level)
    out = []
    for number in range(N_IMPUTATIONS):
        imputer = IterativeImputer(sample_posterior=True, random_state=1000 * seed + number)
        filled = pd.DataFrame(imputer.fit_transform(coded), columns=coded.columns)
        whole = filled[[name for name in table if name not in levels]].copy()
        for name, own in levels.items():
            shares = filled[[f"{name}={level}" for level in own]].to_numpy()
            whole[name] = np.array(own)[shares.argmax(axis=1)]
        out.append(whole[list(table)])
    return out


def one(population: pd.DataFrame, name: str, at_random: bool, seed: int, n_rows: int) -> dict:
    """Whether each interval covers the truth, its width, and the CPU seconds of the imputations."""
    task, rng = REGRESSIONS[name], np.random.default_rng([seed, at_random])
    levels = {c: sorted(population[c].unique()) for c in population if population[c].dtype.kind not in "fiu"}
    truth, _ = regression(population, task.target, levels)
    table = population.iloc[rng.choice(len(population), n_rows, replace=False)].reset_index(drop=True)
    free = n_rows - len(truth)

    def fit(filled):
        return regression(filled, task.target, levels)

    def judged(pooled_interval):
        inside = (pooled_interval[:, 0] <= truth) & (truth <= pooled_interval[:, 1])
        return inside, pooled_interval[:, 1] - pooled_interval[:, 0]

    gaps = hidden(table, task.observed, at_random, rng)
    beta, variance = fit(table)
    half = 1.96 * np.sqrt(variance)
    found = {"complete": (*judged(np.column_stack([beta - half, beta + half])), 0.0)}
    with Clock() as clock:
        tables = BayesianImputer(n_imputations=N_IMPUTATIONS, random_state=seed).fit(gaps).sample_imputations(gaps)
    found["BayesianImputer"] = (*judged(pool_fits(fit, tables, free).interval()), clock.cpu)
    with Clock() as clock:
        tables = iterative(gaps, levels, seed)
    found["IterativeImputer"] = (*judged(pool_fits(fit, tables, free).interval()), clock.cpu)
    return found


def main() -> None:
    arguments = parser(__doc__, seeds=200)
    arguments.add_argument("--tables", nargs="+", choices=list(REGRESSIONS), default=list(REGRESSIONS))
    arguments.add_argument("--rows", type=int, default=400)
    arguments.add_argument("--data", help="folder of the data files")
    options = arguments.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)
    results = {}
    for name in options.tables:
        task = REGRESSIONS[name]
        whole = read(name, options.data, None)
        if whole is None:
            note(f"{name}: its file is missing, skipped")
            continue
        population = whole[[task.target, *task.predictors]].dropna()
        for at_random in (True, False):
            seeds = range(2 if options.quick else options.seeds)
            found = [one(population, name, at_random, seed, options.rows) for seed in seeds]
            key = f"{name}, {'MCAR' if at_random else 'MAR'}"
            results[key] = {}
            for method in found[0]:
                inside = np.array([run[method][0] for run in found])
                widths = np.median([run[method][1] / run["complete"][1] for run in found], axis=0)
                results[key][method] = {
                    "coverage": round(float(inside.mean()), 4),
                    "coverage of each": inside.mean(axis=0).round(3).tolist(),
                    "width, divided by that of complete data": widths.round(2).tolist(),
                    "cpu seconds": round(float(np.median([run[method][2] for run in found])), 2),
                }
            note(f"{key}: {results[key]}")
    report("multiple_imputation", options, results)


if __name__ == "__main__":
    main()
