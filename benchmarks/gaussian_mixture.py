"""Planted Gaussian clusters: CPU time, ARI and held-out log density of this package and of scikit-learn's mixtures.

All estimators are fitted to the same 7/8 of the rows in the same process and scored on the other 1/8: "gap" is the mean
log density of the true model minus that of the estimator, in nats per row. This package's estimator has its defaults,
but for what is given.
"""

import warnings

import numpy as np
from _common import Clock, note, parser, report, split, spread
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from threadpoolctl import threadpool_limits

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.datasets import make_gaussian_mixture

BARS = {
    "full": {"ari": 0.99, "gap": 0.03, "share_of_cpu": 1 / 20, "goal": 1 / 40},
    "diag": {"ari": 0.99, "gap": 0.01, "share_of_cpu": 1 / 8, "goal": 1 / 15},
}


def estimators(arguments, seed: int) -> dict:
    """All estimators; those of scikit-learn only for the first ``--competitor-seeds`` seeds."""
    covariance = arguments.covariance
    given = {"schedule": arguments.schedule, "n_chains": arguments.chains, "n_draws": arguments.draws}
    given = {name: value for name, value in given.items() if value is not None}
    out = {"SubsampleAnnealedDPMM": SubsampleAnnealedDPMM(random_state=seed, **given)}
    if seed - arguments.first < arguments.competitor_seeds:
        n_components, n_planted = (12, 6) if arguments.quick else (60, 30)
        out["BayesianGaussianMixture"] = BayesianGaussianMixture(
            n_components=n_components, covariance_type=covariance, max_iter=arguments.max_iter, random_state=seed
        )
        out["GaussianMixture"] = GaussianMixture(n_components=n_planted, covariance_type=covariance, random_state=seed)
    return out


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--covariance", choices=("full", "diag"), default="full")
    given.add_argument("--schedule", help="in place of the default")
    given.add_argument("--chains", type=int, help="in place of the default")
    given.add_argument("--draws", type=int, help="in place of the default")
    given.add_argument("--first", type=int, default=0, help="the first seed")
    given.add_argument("--columns", type=int, default=10)
    given.add_argument("--max-iter", type=int, default=100, help="iterations of BayesianGaussianMixture")
    given.add_argument("--competitor-seeds", type=int, default=None, help="seeds for scikit-learn (default: all)")
    given.add_argument("--rows", type=int, default=50_000)
    arguments = given.parse_args()
    if arguments.competitor_seeds is None:
        arguments.competitor_seeds = arguments.seeds
    if arguments.quick:
        arguments.rows, arguments.max_iter = 2_000, 10
    n_planted = 6 if arguments.quick else 30

    runs: dict[str, list] = {}
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        X, labels, truth = make_gaussian_mixture(
            arguments.rows,
            arguments.columns,
            n_clusters=n_planted,
            covariance_type=arguments.covariance,
            random_state=seed,
        )
        train, test = split(len(X), seed)
        for name, model in estimators(arguments, seed).items():
            # One thread for all estimators, because CPU seconds are compared.
            with Clock() as clock, threadpool_limits(limits=1), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X[train])
            found = {
                "cpu_seconds": clock.cpu,
                "ari": adjusted_rand_score(labels[test], model.predict(X[test])),
                "gap": float(truth[test].mean() - model.score(X[test])),
                "n_clusters": len(np.unique(model.predict(X[test]))),
                "iterations": getattr(model, "n_iter_", len(getattr(model, "trace_", ()))),
            }
            note(f"seed {seed} {name}: " + ", ".join(f"{key} {value:.4g}" for key, value in found.items()))
            runs.setdefault(name, []).append(found)
    results = {name: {key: spread([run[key] for run in found]) for key in found[0]} for name, found in runs.items()}
    ours = [run["cpu_seconds"] for run in runs["SubsampleAnnealedDPMM"]]
    for name, found in runs.items():
        if name != "SubsampleAnnealedDPMM":
            pairs = zip(ours, [run["cpu_seconds"] for run in found], strict=False)
            results["SubsampleAnnealedDPMM"][f"cpu_share_of_{name}"] = spread([one / other for one, other in pairs])
    report("gaussian_mixture", arguments, results, bars=BARS[arguments.covariance])


if __name__ == "__main__":
    main()
