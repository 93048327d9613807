"""Subsample annealing of normalized random measure mixtures against other starts, with equal numbers of passes.

Points in 6 dimensions in clusters with sizes drawn from a Pitman-Yor process. The result of a run is the highest log
joint of its draws, relative to the highest of all runs.
"""

import numpy as np
from _common import Clock, note, parser, report, spread
from _nrmm import power_law

from sklearn_subanneal import TreeGuidedNRMM
from sklearn_subanneal.annealing import PriorGibbs, SequentialGibbs, SubsampleAnneal
from sklearn_subanneal.partitions import CRP


def fitted(X: np.ndarray, sampler: str, schedule, seed: int) -> tuple[float, float]:
    """Highest log joint of ten draws, and CPU seconds; hyperparameters are those of the paper."""
    width, covariance = X.shape[1], np.cov(X.T)
    psi = covariance / (np.linalg.det(covariance) / 0.1) ** (1 / width)
    params = {"gaussian": {"mu": X.mean(axis=0), "kappa": 0.1, "nu": width + 6.0, "psi": psi}}
    model = TreeGuidedNRMM(
        CRP(1.0),
        moves=["gibbs"] if sampler == "gibbs" else ["gibbs", sampler],
        schedule=schedule,
        feature_params=params,
        learn_hyperparameters=False,
        n_chains=1,
        random_state=seed,
    )
    with Clock() as clock:
        model.fit(X)
    return float(model.log_joint_.max()), clock.cpu


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--rows", type=int, default=5000)
    given.add_argument("--passes", type=float, nargs="+", default=[5.0, 40.0])
    given.add_argument("--samplers", nargs="+", default=["tree-guided", "split-merge", "gibbs"])
    given = given.parse_args()
    X, _ = power_law(400 if given.quick else given.rows)
    runs = {}
    for passes in given.passes:
        for sampler in given.samplers:
            for kind in (SubsampleAnneal, SequentialGibbs, PriorGibbs):
                key = (passes, sampler, kind.__name__)
                runs[key] = [fitted(X, sampler, kind(passes=passes), seed) for seed in range(given.seeds)]
                note(f"{passes:g} passes, {sampler}, {kind.__name__}: {np.median([r[0] for r in runs[key]]):.1f}")
    best = max(value for run in runs.values() for value, _ in run)
    results = [
        {
            "passes": passes,
            "sampler": sampler,
            "schedule": schedule,
            "short_of_best": spread([best - value for value, _ in run]),
            "cpu_seconds": float(np.median([seconds for _, seconds in run])),
        }
        for (passes, sampler, schedule), run in runs.items()
    ]
    report("nrmm_annealing", given, results, best_log_joint=best)


if __name__ == "__main__":
    main()
