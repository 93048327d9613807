"""Are odd rows found? The area under the ROC curve of CrossCatDetector and four other detectors on twelve tables.

Some rows are anomalies: of a rare class, with a cell from another row ("swapped"), with a number ten times as large, or
with a level that no other row has. All detectors are fitted to the table with its anomalies and judge these very rows,
with their defaults. The others see medians for missing numbers, dates as numbers, and other columns in three ways, of
which that is reported with which a detector has the largest mean area: one-hot encoded and standardised ("scaled");
one-hot encoded, without columns of more than 30 levels, and not standardised ("plain"); the logarithm of the frequency
of the level, standardised ("frequent"). ECOD is left out where pyod is not installed. Where a cell was changed: is it
the first reason?
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report
from _frames import read, with_numbers_of_dates
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from sklearn_subanneal import CrossCatDetector

N_ROWS, SHARE = 1000, 0.05
# Columns of text with more levels are left out in the encoding "plain".
MOST_LEVELS = 30


def rare(
    frame: pd.DataFrame, target: str, normal: Callable, rng, n: int = N_ROWS
) -> tuple[pd.DataFrame, np.ndarray, None]:
    """Normal rows and a few of the others, which are the anomalies; the target is left out."""
    is_normal = normal(frame[target]).to_numpy()
    usual = rng.permutation(np.flatnonzero(is_normal))[:n]
    odd = rng.permutation(np.flatnonzero(~is_normal))[: max(int(SHARE * len(usual)), 5)]
    rows = np.concatenate([usual, odd])
    order = rng.permutation(len(rows))
    table = frame.iloc[rows[order]].drop(columns=target).reset_index(drop=True)
    return table.loc[:, table.nunique() > 1], (np.arange(len(rows)) >= len(usual))[order], None


def changed(frame: pd.DataFrame, rng, change: Callable, n: int = N_ROWS):
    """Some rows with one changed cell each, and which cell that is (-1: none)."""
    table = frame.sample(min(n, len(frame)), random_state=int(rng.integers(2**31))).reset_index(drop=True)
    table = table.loc[:, table.nunique() > 1].copy()
    odd = rng.choice(len(table), int(SHARE * len(table)), replace=False)
    where = np.full(len(table), -1)
    for row in odd:
        where[row] = change(table, row, rng)
    return table, where >= 0, where


def swapped(table: pd.DataFrame, row: int, rng) -> int:
    """A cell gets the value of another row, one that is not near its own."""
    while True:
        j = int(rng.integers(table.shape[1]))
        column, own = table.iloc[:, j], table.iloc[row, j]
        if pd.isna(own):
            continue
        values = column.dropna()
        if column.dtype.kind in "fiu" and column.nunique() > 10:
            far = values[(values.rank(pct=True) - (values < own).mean()).abs() > 0.4]
        else:
            far = values[values != own]
        if len(far):
            table.iloc[row, j] = far.iloc[int(rng.integers(len(far)))]
            return j


def tenfold(table: pd.DataFrame, row: int, rng) -> int:
    """A number becomes ten times as large."""
    while True:
        j = int(rng.integers(table.shape[1]))
        if table.iloc[:, j].dtype.kind == "f" and abs(table.iloc[row, j]) > 0.0:
            table.iloc[row, j] *= 10.0
            return j


def unseen(table: pd.DataFrame, row: int, rng) -> int:
    """A category becomes one that no other row has."""
    j = int(rng.choice([j for j, dtype in enumerate(table.dtypes) if dtype.kind not in "fiub"]))
    table.iloc[row, j] = f"level {row}"
    return j


def floats(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(
        {name: float for name in frame if frame[name].dtype.kind in "iu" and frame[name].nunique() > 10}
    )


def without_floods(frame: pd.DataFrame) -> pd.DataFrame:
    """Connections without the two attacks that are more frequent than normal traffic; labels without full stops."""
    label = frame.columns[-1]
    named = frame.assign(**{label: frame[label].str.rstrip(".")})
    return named[~named[label].isin(["smurf", "neptune"])]


def is_in(*values) -> Callable:
    return lambda column: column.isin(values)


TABLES: dict[str, tuple[str, Callable]] = {
    "kdd, rare attacks": ("kdd", lambda f, rng: rare(without_floods(f), f.columns[-1], is_in("normal"), rng)),
    "adult, swapped": ("adult", lambda f, rng: changed(floats(f), rng, swapped)),
    "adult, unseen levels": ("adult", lambda f, rng: changed(floats(f), rng, unseen)),
    "satellites, swapped": ("satellites", lambda f, rng: changed(floats(f), rng, swapped)),
    "titanic, swapped": ("titanic", lambda f, rng: changed(floats(f), rng, swapped)),
    "census, swapped": ("census_income", lambda f, rng: changed(floats(f), rng, swapped)),
    "hospitals, ten times": ("hospitals", lambda f, rng: changed(floats(f.iloc[:, :16]), rng, tenfold)),
    "concrete, swapped": ("concrete", lambda f, rng: changed(floats(f), rng, swapped)),
    "breast cancer, malignant": ("breast_cancer", lambda f, rng: rare(f, "target", is_in(1), rng)),
    "wine, third cultivar": ("wine", lambda f, rng: rare(f, "target", is_in(0, 1), rng)),
    "letter, X among A, B, C": (
        "letter",
        lambda f, rng: rare(floats(f[f.target.isin([1, 2, 3, 24])]), "target", is_in(1, 2, 3), rng),
    ),
    "magic, hadrons": ("magic", lambda f, rng: rare(f, "target", is_in(0), rng)),
}


def encoded(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """What other detectors may see: numbers standardised, with medians for missing ones, and texts in three ways."""
    table = with_numbers_of_dates(table)
    table = table.astype({name: object for name in table if table[name].dtype.kind not in "fiu"})
    numbers = table.select_dtypes("number")
    texts = table.drop(columns=numbers.columns).astype(str).fillna("missing")
    filled = numbers.fillna(numbers.median()).fillna(0.0).astype(float)
    filled = StandardScaler().fit_transform(filled) if numbers.shape[1] else np.zeros((len(table), 0))
    few = texts[[name for name in texts if texts[name].nunique() <= MOST_LEVELS]]
    frequencies = {name: np.log(texts[name].map(texts[name].value_counts())) for name in texts}
    dummies = pd.get_dummies(texts).astype(float) if texts.shape[1] else None
    parts = {
        "scaled": None if dummies is None else StandardScaler().fit_transform(dummies),
        "plain": pd.get_dummies(few).to_numpy(float) if few.shape[1] else None,
        "frequent": StandardScaler().fit_transform(pd.DataFrame(frequencies)) if texts.shape[1] else None,
    }
    out = {name: filled if part is None else np.hstack([filled, part]) for name, part in parts.items()}
    # A table of names alone.
    return {name: X if X.shape[1] else out["frequent"] for name, X in out.items()}


def peers(X: np.ndarray, seed: int) -> dict:
    """Scores by scikit-learn with the defaults of pyod, and by ECOD of pyod if it is installed."""
    found = {
        "IsolationForest": -IsolationForest(random_state=seed).fit(X).score_samples(X),
        "LOF": -LocalOutlierFactor(n_neighbors=20).fit(X).negative_outlier_factor_,
        "KNN": NearestNeighbors(n_neighbors=5).fit(X).kneighbors()[0][:, -1],
    }
    if find_spec("pyod"):
        from pyod.models.ecod import ECOD

        found["ECOD"] = ECOD().fit(X).decision_scores_
    return found


def areas_of_peers(table: pd.DataFrame, is_odd: np.ndarray, seed: int) -> dict[str, float]:
    """Area under the curve of each other detector with each encoding."""
    return {
        f"{peer}, {encoding}": roc_auc_score(is_odd, scores)
        for encoding, X in encoded(table).items()
        for peer, scores in peers(X, seed).items()
    }


def best_encodings(means: dict[str, float]) -> dict[str, str]:
    """For each other detector its key with the largest value, of keys "detector, encoding"."""
    best: dict[str, str] = {}
    for key in means:
        peer, comma, _ = key.partition(", ")
        if comma and means[key] > means.get(best.get(peer, ""), -np.inf):
            best[peer] = key
    return best


def one(name: str, frame: pd.DataFrame, seed: int, with_peers: bool) -> dict:
    """Area under the curve of each detector, seconds, and the share of changed cells that are the first reason."""
    table, is_odd, where = TABLES[name][1](frame, np.random.default_rng(seed))
    with Clock() as clock:
        detector = CrossCatDetector(random_state=seed).fit(table)
        scores = detector.score_samples(table)
    out = {"CrossCatDetector": roc_auc_score(is_odd, -scores), "seconds": clock.cpu}
    if where is not None:
        found = {
            reason.row: reason.column for reason in detector.reasons(table, rows=np.flatnonzero(is_odd), n_reasons=1)
        }
        out["first reason"] = np.mean([found[row] == table.columns[where[row]] for row in np.flatnonzero(is_odd)])
    if with_peers:
        out |= areas_of_peers(table, is_odd, seed)
    return {key: round(float(value), 3) for key, value in out.items()}


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    arguments.add_argument("--no-peers", action="store_true", help="without other detectors")
    arguments.add_argument("--data", help="folder of the data files")
    options = arguments.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)
    results = {}
    for name in options.tables:
        frame = read(TABLES[name][0], options.data, None)
        if frame is None:
            note(f"{name}: its file is missing, skipped")
            continue
        found = [one(name, frame, seed, not options.no_peers) for seed in range(1 if options.quick else options.seeds)]
        results[name] = {key: float(np.median([run[key] for run in found])) for key in found[0]}
        note(f"{name}: {results[name]}")
    best = best_encodings(pd.DataFrame(results).mean(axis=1).to_dict())
    note(f"best encodings, of the mean over tables: {best}")
    report("anomaly_detection", options, results, best_encodings=best)


if __name__ == "__main__":
    main()
