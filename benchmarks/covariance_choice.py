"""The covariance that a mixture chooses by trial, against both: density of held-out rows of real tables.

Each table is divided several times into training rows and an eighth that is held out, and fitted with the defaults but
for ``covariance_type``. "gain" is the mean log density by the chosen covariance less that by another, in nats per
held-out row.
"""

from __future__ import annotations

import warnings

import numpy as np
from _common import Clock, note, parser, report, split, spread
from _frames import read
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import SubsampleAnnealedDPMM, TreeGuidedNRMM

# Tables with at least two real columns.
TABLES = (
    "wheat", "wine", "breast_cancer", "diabetes", "concrete", "energy", "boston", "yacht", "hospitals", "satellites",
    "adult", "magic", "gvhd", "census_income", "kdd",
)  # fmt: skip
ESTIMATORS = {"mixture": SubsampleAnnealedDPMM, "measures": TreeGuidedNRMM}


def run(estimator, X, seed: int) -> dict:
    """Scores and CPU seconds by the chosen covariance and by both, for one division of a table."""
    train, test = split(len(X), seed)
    out = {}
    for covariance_type in ("auto", "diag", "full"):
        model = estimator(covariance_type=covariance_type, random_state=seed)
        with Clock() as clock, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X.iloc[train].reset_index(drop=True))
        out[f"{covariance_type}_score"] = model.score(X.iloc[test].reset_index(drop=True))
        out[f"{covariance_type}_cpu_seconds"] = clock.cpu
        if covariance_type == "auto":
            out["chosen_full"] = float(model.covariance_type_ == "full")
    for other in ("diag", "full"):
        out[f"gain_over_{other}"] = out["auto_score"] - out[f"{other}_score"]
    return out


def main() -> None:
    given = parser(__doc__, seeds=5)
    given.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    given.add_argument("--estimator", choices=tuple(ESTIMATORS), default="mixture")
    given.add_argument("--first", type=int, default=0, help="the first seed")
    given.add_argument("--rows", type=int, default=5_000, help="maximum number of rows")
    given.add_argument("--data", help="folder of the tables")
    arguments = given.parse_args()
    results = {}
    for name in arguments.tables:
        X = read(name, arguments.data, 300 if arguments.quick else arguments.rows)
        if X is None:
            note(f"{name}: no such file")
            continue
        seeds = range(arguments.first, arguments.first + arguments.seeds)
        runs = [run(ESTIMATORS[arguments.estimator], X, seed) for seed in seeds]
        results[name] = {key: spread([one[key] for one in runs]) for key in runs[0]}
        gains = {key: np.array([one[f"gain_over_{key}"] for one in runs]) for key in ("diag", "full")}
        errors = {key: gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else np.nan for key, gain in gains.items()}
        shown = ", ".join(f"{key} {gain.mean():.2f} +- {errors[key]:.2f}" for key, gain in gains.items())
        seconds = "/".join(f"{results[name][f'{key}_cpu_seconds']['median']:.1f}" for key in ("auto", "diag", "full"))
        n_full = sum(one["chosen_full"] for one in runs)
        note(f"{name}: full in {n_full:.0f} of {len(runs)}, gain over {shown}; CPU seconds {seconds}")
    report("covariance_choice", arguments, results)


if __name__ == "__main__":
    main()
