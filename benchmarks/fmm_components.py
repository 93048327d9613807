"""Are all planted components found, by the default and by scikit-learn? Fresh tables; and faces, if there are any.

Rows are sums of 4 to 20 components, each of them active with a probability of its own, with Gaussian noise. Number of
components, features, rows, probabilities and noise are drawn anew for each table. The kinds of components: "normal"
cells; "parts", gamma cells, which are not negative; "sparse", a quarter of the cells; "similar", with a part in common;
"bars" and "spots" of images, which overlap. No two components are closer than four standard deviations of the noise.

A component is found if one of the estimator has a cosine above 0.95 with it; for others than FMM, of either sign.
"""

from __future__ import annotations

import warnings

import numpy as np
from _common import Clock, find_data, note, parser, report, spread
from fmm_faces import faces
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF, DictionaryLearning, FactorAnalysis, FastICA
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import VariationalTemperingFMM

FOUND = 0.95
KINDS = ("normal", "parts", "sparse", "similar", "bars", "spots")
N_FACES = 30
# Of faces: means with a larger cosine count as doubled; components active in fewer rows than this share count as dead.
ALIKE, RARE = 0.9, 0.005
BARS = {"FMM: share of seeds in which all components are found": 1.0}


def components_of(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Components (n_components, n_features) of one kind."""
    n_components = int(rng.integers(4, 21))
    n_features = int(rng.integers(n_components + 8, 150))
    if kind == "bars":
        side = int(rng.integers(4, 10))
        lines = np.kron(np.eye(side), np.ones(side))
        return np.concatenate([lines, lines.reshape(side, side, side).transpose(0, 2, 1).reshape(side, -1)])
    if kind == "spots":
        side, width = int(rng.integers(10, 21)), rng.uniform(1.0, 2.0)
        pixels = np.stack(np.meshgrid(*2 * [np.arange(side)]), axis=-1).reshape(-1, 2)
        # Centres have a distance of a width and a half.
        centres: list[np.ndarray] = []
        while len(centres) < n_components // 2 + 2:
            centre = rng.uniform(0.0, side - 1.0, 2)
            if all(np.linalg.norm(centre - other) > 1.5 * width for other in centres):
                centres.append(centre)
        return np.exp(-((pixels - np.array(centres)[:, None]) ** 2).sum(axis=-1) / (2.0 * width**2))
    if kind == "parts":
        return rng.gamma(1.0, size=(n_components, n_features))
    components = rng.normal(size=(n_components, n_features))
    if kind == "sparse":
        return components * (rng.random((n_components, n_features)) < 0.25)
    if kind == "similar":
        return 0.7 * rng.normal(size=n_features) + 0.7 * components
    return components


def planted(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, n_features) and the components that they are sums of."""
    rng = np.random.default_rng([2026, seed, KINDS.index(kind)])
    components = components_of(kind, rng)
    n = int(rng.integers(1000, 4001))
    least, largest = np.sort(rng.uniform(0.08, 0.25 if kind == "bars" else 0.5, 2))
    active = rng.random((n, len(components))) < rng.permutation(np.linspace(least, largest, len(components)))
    every = np.concatenate([components, np.zeros((1, components.shape[1]))])
    gaps = np.linalg.norm(every[:, None] - every, axis=-1)[np.triu_indices(len(every), 1)]
    noise = gaps.min() / rng.uniform(4.0, 8.0)
    return active @ components + noise * rng.normal(size=(n, components.shape[1])), components


def estimators(n_components: int, seed: int, nonnegative: bool) -> dict:
    """Estimators of as many components."""
    out = {
        "FMM": VariationalTemperingFMM(n_components, random_state=seed),
        "FactorAnalysis": FactorAnalysis(n_components, rotation="varimax", random_state=seed),
        "FastICA": FastICA(n_components, random_state=seed, max_iter=1000),
        "DictionaryLearning": DictionaryLearning(n_components, fit_algorithm="cd", max_iter=30, random_state=seed),
    }
    if nonnegative:
        out["NMF"] = NMF(n_components, init="nndsvda", max_iter=1000, random_state=seed)
    return out


def n_found(components: np.ndarray, truth: np.ndarray, either_sign: bool) -> int:
    """True components that a component of their own resembles."""
    lengths = np.linalg.norm(components, axis=1)[:, None] * np.linalg.norm(truth, axis=1)
    cosines = components @ truth.T / np.maximum(lengths, 1e-12)
    alike = (np.abs(cosines) if either_sign else cosines) > FOUND
    return int(alike[linear_sum_assignment(~alike)].sum())


def fitted(name: str, model, X: np.ndarray) -> tuple[np.ndarray, float]:
    """Components of a fit, and its CPU seconds."""
    with Clock() as clock, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.maximum(X, 0.0) if name == "NMF" else X)
    return model.mixing_.T if name == "FastICA" else model.components_, clock.cpu


def run_planted(kind: str, seeds: int) -> dict:
    """Share of components found, and of tables with all of them, for each estimator."""
    runs: dict = {}
    for seed in range(seeds):
        X, truth = planted(kind, seed)
        for name, model in estimators(len(truth), seed, kind in ("parts", "bars", "spots")).items():
            components, seconds = fitted(name, model, X)
            run = {"share": n_found(components, truth, name != "FMM") / len(truth), "cpu_seconds": seconds}
            if name == "FMM":
                run["converged"] = model.converged_
            runs.setdefault(name, []).append(run)
            if run["share"] < 1.0 and name == "FMM":
                note(f"{kind}, seed {seed}: {run['share'] * len(truth):.0f} of {len(truth)}, n_iter {model.n_iter_}")
    return {
        name: {"all_found": float(np.mean([run["share"] == 1.0 for run in of]))}
        | {key: spread([float(run[key]) for run in of]) for key in of[0]}
        for name, of in runs.items()
    }


def run_faces(X: np.ndarray, seed: int) -> dict:
    """Error of reconstruction of held-out faces, as share of their variance; dead and doubled components."""
    order = np.random.default_rng(seed).permutation(len(X))
    held_out, train = X[order[: len(X) // 4]], X[order[len(X) // 4 :]]
    out = {}
    shift = X.min()
    for name, model in estimators(N_FACES, seed, nonnegative=True).items():
        rows, test = (train - shift, held_out - shift) if name == "NMF" else (train, held_out)
        components, seconds = fitted(name, model, rows)
        codes = model.transform(test)
        if name == "FMM":
            codes = model.predict(test)
        centre = model.mean_ if name in ("FactorAnalysis", "FastICA") else 0.0
        error = np.square(test - codes @ components - centre).sum() / np.square(held_out - train.mean(axis=0)).sum()
        lengths = np.maximum(np.linalg.norm(components, axis=1, keepdims=True), 1e-12)
        cosines = np.abs((components / lengths) @ (components / lengths).T) - np.eye(len(components))
        out[name] = {
            "held_out_error": float(error),
            "dead": int((np.mean(np.abs(codes) > 1e-12, axis=0) < RARE).sum()),
            "doubled": int((cosines.max(axis=1) > ALIKE).sum()),
            "cpu_seconds": seconds,
        }
    return out


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--data", help="folder that holds yaleb/YaleB_32x32.mat")
    arguments = given.parse_args()
    results = {}
    for kind in KINDS[:2] if arguments.quick else KINDS:
        results[kind] = run_planted(kind, arguments.seeds)
        note(
            f"{kind}: "
            + "; ".join(
                f"{name}: all found in {of['all_found']:.0%} of tables, {of['share']['mean']:.1%} of components, "
                f"{of['cpu_seconds']['median']:.2f} CPU-s"
                for name, of in results[kind].items()
            )
        )
    path = find_data(arguments.data, "yaleb", "YaleB_32x32.mat")
    if path is None:
        note("faces: yaleb/YaleB_32x32.mat was not found, left out; pass its folder by --data")
    else:
        X = faces(path)
        runs = [run_faces(X[::8] if arguments.quick else X, seed) for seed in range(min(3, arguments.seeds))]
        results["faces"] = {
            name: {key: spread([run[name][key] for run in runs]) for key in runs[0][name]} for name in runs[0]
        }
        for name, of in results["faces"].items():
            note(f"faces, {name}: " + ", ".join(f"{key} {value['mean']:.3g}" for key, value in of.items()))
    report("fmm_components", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
