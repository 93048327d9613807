"""Does more work help? Held-out log density of CrossCat by the parameter effort, and by longer schedules.

Every model is fitted to 7/8 of the rows of a table, by one chain unless --chains says otherwise. The score is the mean
log density of the other rows in the units of the data, atoms included; printed is its difference from that of the
default, by the same rows and the same seed, with its standard error over the seeds.
"""

import warnings

import numpy as np
from _common import Clock, note, parser, report, split
from _frames import READERS, read
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import Accelerating, SubsampleAnneal, TemperedAccelerating

TABLES = "concrete boston satellites hospitals"
SETTINGS = {
    "full": {
        "default": {},
        "effort=5": {"effort": 5},
        "TemperedAccelerating(300)": {"schedule": TemperedAccelerating(passes=300)},
    },
    "diag": {
        "default": {},
        "effort=3": {"effort": 3},
        "effort=5": {"effort": 5},
        "Accelerating(200)": {"schedule": Accelerating(passes=200)},
        "SubsampleAnneal(200)": {"schedule": SubsampleAnneal(passes=200)},
    },
}


def main() -> None:
    given = parser(__doc__, seeds=4)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", default=TABLES.split(), choices=list(READERS))
    given.add_argument("--covariance", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    given.add_argument("--chains", type=int, default=1, help="chains of a fit; 0: as many as by default")
    arguments = given.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = {}
    for name in arguments.tables:
        frame = read(name, arguments.data, 200 if arguments.quick else None)
        if frame is None:
            note(f"{name}: no file")
            continue
        for covariance in arguments.covariance:
            base = CrossCat(covariance_type=covariance, n_chains=arguments.chains or "auto", n_jobs=1)
            found = {
                setting: fits(clone(base).set_params(**chosen), frame, 1 if arguments.quick else arguments.seeds)
                for setting, chosen in SETTINGS[covariance].items()
            }
            results[f"{name}, {covariance}"] = found
            default = np.array(found["default"]["score"])
            for setting, figures in found.items():
                gain = np.array(figures["score"]) - default
                error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else np.nan
                note(
                    f"{name} {frame.shape}, {covariance}, {setting}: {default.mean() + gain.mean():.2f}, "
                    f"{gain.mean():+.2f} ± {error:.2f}, {np.mean(figures['cpu']):.1f} CPU seconds"
                )
    report("effort", arguments, results)


def fits(estimator: CrossCat, frame, n_seeds: int) -> dict[str, list[float]]:
    """Scores and CPU seconds of the fits with each seed."""
    out: dict[str, list[float]] = {"score": [], "cpu": []}
    for seed in range(n_seeds):
        train, test = split(len(frame), seed)
        with Clock() as clock:
            model = clone(estimator).set_params(random_state=seed).fit(frame.iloc[train])
        out["score"].append(model.score(frame.iloc[test]))
        out["cpu"].append(clock.cpu)
    return out


if __name__ == "__main__":
    main()
