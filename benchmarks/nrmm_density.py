"""Held-out log density and ARI of normalized random measure mixtures, against other mixtures.

Flow cytometry (10,000 of 65,016 events, asinh(x / 150), without the time column), GvHD (the 9,083 cells of the
patient), wheat seeds and iris. All estimators are fitted to the same 7/8 of the rows, standardised, on one thread, with
full covariances but for scikit-learn's ``GaussianMixture``, whose covariance and number of components are chosen by
cross-validation within these rows. CPU seconds include this choice. They are scored on the other 1/8, in nats per row
in the units of the data.
"""

import warnings

import numpy as np
import pandas as pd
from _common import Clock, find_data, note, parser, report, skip, split, spread
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sklearn_subanneal import SubsampleAnnealedDPMM, TreeGuidedNRMM

# Number of components of scikit-learn's variational mixture, and what is tried of the other one.
N_COMPONENTS = {"flow": 60, "gvhd": 60, "wheat": 15, "iris": 15}
SMALL = {"n_components": [1, 2, 3, 4, 6, 9], "covariance_type": ["full", "tied", "diag", "spherical"]}
LARGE = {"n_components": [10, 15, 20, 30, 45, 60], "covariance_type": ["full"]}
SHAPES = {"flow": LARGE, "gvhd": LARGE, "wheat": SMALL, "iris": SMALL}


def tables(given: str | None) -> dict:
    """Values and labels (or None) of the tables whose files are available."""
    found = {}
    if path := find_data(given, "flow", "flowkit_100715.npz"):
        arrays = np.load(path, allow_pickle=True)
        kept = np.array(["time" not in str(name).lower() for name in arrays["columns"]])
        rows = np.random.default_rng(0).choice(len(arrays["X"]), 10_000, replace=False)
        found["flow"] = np.arcsinh(arrays["X"][rows][:, kept].astype(float) / 150.0), None
    if path := find_data(given, "gvhd", "GvHD.pos.csv.gz"):
        found["gvhd"] = pd.read_csv(path).select_dtypes("number").to_numpy(float), None
    if path := find_data(given, "classics", "wheat-seeds.csv"):
        values = pd.read_csv(path, header=None).to_numpy(float)
        found["wheat"] = values[:, :-1], values[:, -1]
    if path := find_data(given, "classics", "iris.csv"):
        frame = pd.read_csv(path, header=None)
        found["iris"] = frame.iloc[:, :4].to_numpy(float), frame.iloc[:, 4].to_numpy()
    return found


def estimators(name: str, seed: int) -> dict:
    """Ours with full covariance and two chains and the defaults else, and scikit-learn's."""
    ours = {"covariance_type": "full", "n_chains": 2, "random_state": seed}
    return {
        **{f"TreeGuidedNRMM, {partition}": TreeGuidedNRMM(partition, **ours) for partition in ("dp", "nggp", "nig")},
        "TreeGuidedNRMM, trees": TreeGuidedNRMM(moves=["incremental-hierarchy"], **ours),
        "SubsampleAnnealedDPMM": SubsampleAnnealedDPMM(**ours),
        "BayesianGaussianMixture": BayesianGaussianMixture(
            n_components=N_COMPONENTS[name], max_iter=300, random_state=seed
        ),
        "GaussianMixture, by cross-validation": GridSearchCV(
            GaussianMixture(random_state=seed), SHAPES[name], cv=3 if SHAPES[name] is LARGE else 5
        ),
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--data-home", default=None, help="folder of the development data")
    given.add_argument("--tables", nargs="*", default=list(N_COMPONENTS))
    arguments = given.parse_args()
    found = {name: table for name, table in tables(arguments.data_home).items() if name in arguments.tables}
    if not found:
        return skip("nrmm_density", arguments, "none of the tables is there")
    results = {}
    for name, (values, labels) in found.items():
        runs: dict[str, list] = {}
        for seed in range(1 if arguments.quick else arguments.seeds):
            train, test = split(len(values), seed)
            train = train[:: max(len(train) // 300, 1)] if arguments.quick else train
            scaler = StandardScaler().fit(values[train])
            units = np.log(scaler.scale_).sum()
            for kind, model in estimators(name, seed).items():
                with Clock() as clock, threadpool_limits(limits=1), warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    model.fit(scaler.transform(values[train]))
                one = {
                    "log_density": float(model.score(scaler.transform(values[test])) - units),
                    "cpu_seconds": clock.cpu,
                    "n_clusters": len(np.unique(model.predict(scaler.transform(values[train])))),
                }
                if isinstance(model, GridSearchCV):
                    note(f"{name} seed {seed}: {model.best_params_}")
                if labels is not None:
                    one["ari"] = adjusted_rand_score(labels, model.predict(scaler.transform(values)))
                note(f"{name} seed {seed} {kind}: " + ", ".join(f"{key} {value:.4g}" for key, value in one.items()))
                runs.setdefault(kind, []).append(one)
        results[name] = {
            kind: {key: spread([one[key] for one in ones]) for key in ones[0]} for kind, ones in runs.items()
        }
        # Over the better one of scikit-learn's.
        peers = [own["log_density"] for kind, own in results[name].items() if "GaussianMixture" in kind]
        best = max(peers, key=lambda own: own["median"])["values"]
        for figures in results[name].values():
            figures["log_density_ahead"] = spread(np.subtract(figures["log_density"]["values"], best))
    report("nrmm_density", arguments, results)


if __name__ == "__main__":
    main()
