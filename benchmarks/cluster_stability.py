"""Are clusters that are certified found again? Certificates of eight tables against fits with other random states.

Each table is fitted with every seed. The clusters of each fit, and the groups of ``merge_components``, have a
certificate, ``cluster_stability(X).recurrence_``, and a frequency: the share of all other fits that find them, by the
criterion of the certificate. Reported are the frequencies of those that are certified with at least 0.9, and those of
all by classes of the certificate.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _common import Clock, find_data, note, parser, report
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.datasets import load_hospitals, make_gaussian_mixture, make_planted_views
from sklearn_subanneal.posterior import jaccard_indices

EDGES = (0.1, 0.3, 0.5, 0.7, 0.9)
RECOVERED = 0.75


def stored(name: str, *parts: str, **how) -> pd.DataFrame | None:
    path = find_data(None, *parts)
    if path is None:
        note(f"{name}: left out, its file {'/'.join(parts)} is not here")
    return None if path is None else pd.read_csv(path, **how)


def skewed_groups() -> np.ndarray:
    rng = np.random.default_rng(20)
    centres, group = 5.0 * rng.normal(size=(6, 3)), rng.integers(6, size=900)
    return centres[group] + rng.gamma(1.5, 1.0, size=(900, 3))


def tables() -> dict:
    """Of each table: its cells, or None, and the estimator."""
    satellites = stored("satellites", "satellites", "satellites_lace.csv.gz", index_col=0)
    gvhd = stored("flow cytometry", "gvhd", "GvHD.control.csv.gz")
    seeds = stored("wheat seeds", "classics", "wheat-seeds.csv", header=None)
    planted = make_planted_views(500, 12, (3, 5), random_state=20, as_frame=True)
    mixture = make_gaussian_mixture(1000, 3, 10, separation=2.0, random_state=20)
    return {
        "titanic": (stored("titanic", "titanic", "titanic_raw.csv"), CrossCat()),
        "hospitals": (load_hospitals().data.iloc[:, 30:], CrossCat()),
        "satellites": (None if satellites is None else satellites.iloc[::3], CrossCat()),
        "planted views": (planted.data, CrossCat()),
        "flow cytometry": (None if gvhd is None else gvhd.iloc[::7], SubsampleAnnealedDPMM(covariance_type="full")),
        "skewed groups": (skewed_groups(), SubsampleAnnealedDPMM(covariance_type="diag")),
        "wheat seeds": (None if seeds is None else seeds.iloc[:, :7], SubsampleAnnealedDPMM(covariance_type="full")),
        "planted mixture": (mixture[0], TreeGuidedNRMM(covariance_type="full")),
    }


def certified(model, X, kind: str) -> list:
    """Of each view: a mask of its columns, and the certificates of its clusters or groups."""
    found = []
    for view in range(getattr(model, "n_views_", 1)):
        if kind == "clusters":
            stability = model.cluster_stability(X, view=view)
        else:
            merged = model.merge_components(view=view, random_state=0)
            stability = merged.cluster_stability(X, random_state=0)
        columns = getattr(model, "column_labels_", np.zeros(1, int)) == view
        found.append((columns, stability))
    return found


def frequencies(columns: np.ndarray, labels: np.ndarray, others: list) -> np.ndarray:
    """Share of the other fits that have each cluster, in the view with the most similar columns."""
    hits = []
    for views in others:
        same = [(columns & theirs).sum() / (columns | theirs).sum() for theirs, _ in views]
        best = jaccard_indices(labels, views[int(np.argmax(same))][1].labels_).max(axis=1)
        hits.append(best >= RECOVERED)
    return np.mean(hits, axis=0)


def one(X, kind: str, models: list) -> tuple[np.ndarray, np.ndarray, float]:
    """Certificates and frequencies of the clusters of all fits, and CPU seconds of the certificates of a fit."""
    with Clock() as clock:
        fits = [certified(model, X, kind) for model in models]
    certificates, shares = [], []
    for i, views in enumerate(fits):
        others = fits[:i] + fits[i + 1 :]
        for columns, stability in views:
            occupied = np.unique(stability.labels_)
            frequency = frequencies(columns, stability.labels_, others)
            certificates.append(stability.recurrence_[occupied])
            shares.append(frequency[occupied])
    return np.concatenate(certificates), np.concatenate(shares), clock.cpu / len(fits)


def summary(certificates: np.ndarray, shares: np.ndarray) -> dict:
    marked = certificates >= EDGES[-1]
    classes = np.digitize(certificates, EDGES)
    return {
        "clusters": len(shares),
        "marked": int(marked.sum()),
        "found again at least 0.9": int((shares >= 0.9).sum()),
        "frequency of marked": float(shares[marked].mean()) if marked.any() else None,
        "share of marked found again at least 0.9": float((shares[marked] >= 0.9).mean()) if marked.any() else None,
        "least frequency of marked": float(shares[marked].min()) if marked.any() else None,
        "by classes: number, certificate, frequency": [
            [int(own.sum()), round(float(certificates[own].mean()), 3), round(float(shares[own].mean()), 3)]
            for own in (classes == k for k in range(len(EDGES) + 1))
            if own.any()
        ],
    }


def main() -> None:
    options = parser(__doc__, seeds=51).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)
    n_seeds = 3 if options.quick else options.seeds
    results, all_of = {}, {"clusters": [], "groups": []}
    for name, (X, estimator) in tables().items():
        if X is None:
            continue
        with Clock() as clock:
            models = [type(estimator)(**estimator.get_params() | {"random_state": s}).fit(X) for s in range(n_seeds)]
        results[name] = {"cpu seconds of a fit": clock.cpu / n_seeds}
        for kind, found in all_of.items():
            *judged, cpu = one(X, kind, models)
            found.append(judged)
            results[name][kind] = summary(*judged) | {"cpu seconds of a certificate": cpu}
        note(f"{name}: {results[name]}")
    for kind, found in all_of.items():
        results[f"all, {kind}"] = summary(*(np.concatenate(part) for part in zip(*found, strict=True)))
        note(f"all, {kind}: {results[f'all, {kind}']}")
    report("cluster_stability", options, results)


if __name__ == "__main__":
    main()
