"""Tree-guided moves, split-merge moves and Gibbs sampling alone under the default annealing, at equal CPU time.

One chain a fit, otherwise the defaults of TreeGuidedNRMM. Split-merge moves are made with their default number of
proposals and with 60 after each cycle, the largest number of tree-guided ones. The passes of the other samplers are
chosen so that a fit takes as long as that with tree-guided moves does with 20 passes. The result of a run is the mean
log joint density of its draws, relative to the best draw of all runs, in nats; smaller is better.

Tables: 100 clusters far apart, 10,000 x 6; clusters whose sizes are drawn from a Pitman-Yor process, 10,000 x 6; 60
clusters in groups of three with one center and different covariances, 9,000 x 8; 20 clusters of 20,000 x 16; 120
clusters of 24 booleans, 6,000 rows; the table GvHD; documents of KOS and NIPS.
"""

import warnings

import numpy as np
import pandas as pd
from _common import Clock, find_data, note, parser, report, spread
from _lda import FILES, read
from _nrmm import power_law
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import TreeGuidedNRMM
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.mixtures import SplitMerge

PASSES = 20.0
MOVES = {
    "tree-guided": "default",
    "split-merge": ["gibbs", "split-merge"],
    "split-merge, 60": ["gibbs", SplitMerge(n_proposals=60)],
    "gibbs": ["gibbs"],
}
DOCUMENTS = ("kos", "nips")
TABLES = ("separated", "power law", "one center", "16 columns", "booleans", "gvhd", *DOCUMENTS)


def table(name: str, data: str | None, quick: bool):
    """The table and parameters of the estimator; None if its file is missing."""
    rng, scale = np.random.default_rng(1), 20 if quick else 1
    if name == "power law":
        return power_law(10_000 // scale, seed=1)[0], {}
    if name == "separated":
        labels = np.arange(10_000 // scale) % 100
        return rng.normal(0, 4, (100, 6))[labels] + 0.6 * rng.normal(size=(len(labels), 6)), {}
    if name == "one center":
        labels = np.arange(9_000 // scale) % 60
        centers, factors = rng.normal(0, 3, (20, 8))[np.arange(60) // 3], 0.5 * rng.normal(size=(60, 8, 8))
        return centers[labels] + np.einsum("nij,nj->ni", factors[labels], rng.normal(size=(len(labels), 8))), {}
    if name == "16 columns":
        labels = np.arange(20_000 // scale) % 20
        return rng.normal(0, 2, (20, 16))[labels] + rng.normal(size=(len(labels), 16)), {}
    if name == "booleans":
        shares = rng.beta(0.4, 0.4, (120, 24))[np.arange(6_000 // scale) % 120]
        return (rng.random(shares.shape) < shares).astype(int), {"feature_types": ["boolean"] * 24}
    if name == "gvhd":
        path = find_data(data, "gvhd", "GvHD.pos.csv.gz")
        return None if path is None else (pd.read_csv(path).select_dtypes("number").to_numpy(float)[::scale], {})
    if find_data(data, *FILES[name]) is None:
        return None
    return read(name, data)[::scale].astype(int), {"feature_types": "bag-of-words"}


def fitted(X, settings: dict, moves, passes: float, seed: int):
    """The log joint densities of the draws, the number of clusters, and CPU seconds."""
    model = TreeGuidedNRMM(
        moves=moves,
        covariance_type="full",
        schedule=SubsampleAnneal(passes=passes),
        n_chains=1,
        random_state=seed,
        **settings,
    )
    with Clock() as clock:
        model.fit(X)
    return model.log_joint_[0], model.n_clusters_, clock.cpu


def passes_of(X, settings: dict, moves, seconds: float) -> float:
    """Passes with which a fit takes so many CPU seconds, by two trials with another seed."""
    passes = PASSES
    for trial in range(2):
        passes *= float(np.clip(seconds / fitted(X, settings, moves, passes, 1000 + trial)[2], 0.2, 5.0))
    return passes


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--data", default=None, help="folder of the development data")
    given.add_argument("--tables", nargs="*", default=list(TABLES), help=f"some of {', '.join(TABLES)}")
    arguments = given.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = {}
    for name in arguments.tables:
        found = table(name, arguments.data, arguments.quick)
        if found is None:
            note(f"{name}: its file is missing")
            continue
        runs, passes = {}, {}
        for kind, moves in MOVES.items():
            seconds = np.median([run[2] for run in runs["tree-guided"]]) if runs else None
            passes[kind] = PASSES if seconds is None else passes_of(*found, moves, seconds)
            runs[kind] = [fitted(*found, moves, passes[kind], seed) for seed in range(arguments.seeds)]
        best = max(run[0].max() for own in runs.values() for run in own)
        results[name] = {
            kind: {
                "short_of_best": spread([best - run[0].mean() for run in own]),
                "n_clusters": spread([run[1] for run in own]),
                "cpu_seconds": spread([run[2] for run in own]),
                "passes": passes[kind],
            }
            for kind, own in runs.items()
        }
        for kind, own in results[name].items():
            short = own["short_of_best"]
            note(
                f"{name}, {kind}: short of the best by {short['median']:.1f} ({short['min']:.1f} to "
                f"{short['max']:.1f}), sd {short['sd']:.1f}; {own['cpu_seconds']['median']:.2f} s, "
                f"{own['passes']:.1f} passes, {own['n_clusters']['median']:.0f} clusters"
            )
    report("nrmm_moves", arguments, results)


if __name__ == "__main__":
    main()
