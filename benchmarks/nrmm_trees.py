"""Trees over the rows of labelled tables: dendrogram purity, against agglomerative clustering; time for many rows.

The purity of a dendrogram (Heller and Ghahramani, 2005) is the probability that a row below the lowest node above two
random rows of one class is of this class, too. Trees: ``hierarchy(X)`` after a fit with the defaults and two chains;
incremental hierarchical clustering (IBHC), and the best of 17 forests; Ward's method of SciPy on standardised and on
raw columns, and average linkage; scikit-learn's AgglomerativeClustering and BIRCH (its subclusters joined by Ward's
method); genieclust, if it is installed. The rows of larger tables are 1,500 at random.
"""

import warnings

import numpy as np
import pandas as pd
from _common import Clock, find_data, note, parser, report, spread
from _nrmm import power_law
from scipy.cluster.hierarchy import linkage
from sklearn import datasets
from sklearn.cluster import AgglomerativeClustering, Birch
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from sklearn_subanneal import TreeGuidedNRMM
from sklearn_subanneal.trees import IncrementalHierarchy

BUNDLED = ("iris", "wine", "breast_cancer", "digits")
PMLB = ("letter", "magic")
N_REBUILDS = 16


def table(name: str, data: str | None):
    """Columns and classes; None if the file is missing."""
    if name in BUNDLED:
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    path = find_data(data, "pmlb", f"{name}.csv.gz")
    if path is None:
        return None
    frame = pd.read_csv(path)
    frame = frame.iloc[np.sort(np.random.default_rng(0).choice(len(frame), 1500, replace=False))]
    return frame.drop(columns="target").to_numpy(float), frame["target"].to_numpy()


def dendrogram_purity(children: np.ndarray, classes: np.ndarray) -> float:
    """Mean, over pairs of rows of one class, of the share of this class below their lowest common node."""
    classes = np.unique(classes, return_inverse=True)[1]
    n = len(classes)
    counts = np.zeros((2 * n - 1, classes.max() + 1))
    counts[np.arange(n), classes] = 1.0
    total = 0.0
    for merge, (a, b) in enumerate(np.asarray(children)[:, :2].astype(int)):
        counts[n + merge] = counts[a] + counts[b]
        total += np.sum(counts[a] * counts[b] * counts[n + merge]) / counts[n + merge].sum()
    sizes = np.bincount(classes)
    return float(total / np.sum(sizes * (sizes - 1) / 2))


def birch_tree(Z: np.ndarray) -> np.ndarray:
    """The subclusters of BIRCH, each as a chain of its rows, joined by Ward's method."""
    labels = np.unique(Birch(n_clusters=None).fit_predict(Z), return_inverse=True)[1]
    children, tops, n = [], [], len(Z)
    for k in range(labels.max() + 1):
        first, *rest = np.flatnonzero(labels == k)
        for row in rest:
            children.append((first, row))
            first = n + len(children) - 1
        tops.append(first)
    if len(tops) > 1:
        for a, b in linkage([Z[labels == k].mean(axis=0) for k in range(len(tops))], "ward")[:, :2].astype(int):
            children.append((tops[a], tops[b]))
            tops.append(n + len(children) - 1)
    return np.array(children)


def incremental(seed: int, n_rebuilds: int = 0) -> TreeGuidedNRMM:
    """One chain of incremental hierarchical clustering."""
    return TreeGuidedNRMM(moves=[IncrementalHierarchy(n_rebuilds=n_rebuilds)], n_chains=1, random_state=seed)


def peers(X: np.ndarray) -> dict:
    """Trees that do not depend on chance."""
    Z = scale(X)
    out = {
        "Ward": lambda: linkage(Z, "ward"),
        "Ward, raw columns": lambda: linkage(X, "ward"),
        "average linkage": lambda: linkage(Z, "average"),
        "AgglomerativeClustering": lambda: AgglomerativeClustering(1, compute_full_tree=True).fit(Z).children_,
        "Birch": lambda: birch_tree(Z),
    }
    try:
        from genieclust import Genie
    except ImportError:
        note("genieclust is not installed")
        return out
    return out | {"genieclust": lambda: Genie(n_clusters=1, compute_full_tree=True).fit(Z).children_}


def ours(X: np.ndarray, seed: int) -> dict:
    """Trees of this package."""
    return {
        "hierarchy(X)": lambda: TreeGuidedNRMM(n_chains=2, random_state=seed).fit(X).hierarchy(X).children,
        "IBHC": lambda: incremental(seed).fit(X).hierarchy_.children,
        "IBHC, best of 17": lambda: incremental(seed, N_REBUILDS).fit(X).hierarchy_.children,
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--data", default=None, help="folder of the development data")
    given.add_argument("--tables", nargs="*", default=[*BUNDLED, *PMLB])
    given.add_argument("--rows", type=int, default=100_000, help="rows of the table of six columns that is timed")
    arguments = given.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = {}
    for name in arguments.tables:
        found = table(name, arguments.data)
        if found is None:
            note(f"{name}: its file is missing")
            continue
        X, classes = found
        if arguments.quick:
            X, classes = X[::10], classes[::10]
        runs: dict[str, list] = {}
        for seed in range(arguments.seeds):
            for kind, tree in ((peers(X) if seed == 0 else {}) | ours(X, seed)).items():
                with Clock() as clock:
                    children = tree()
                runs.setdefault(kind, []).append((dendrogram_purity(children, classes), clock.cpu))
        results[name] = {
            kind: {"purity": spread([run[0] for run in own]), "cpu_seconds": spread([run[1] for run in own])}
            for kind, own in runs.items()
        }
        for kind, own in results[name].items():
            note(f"{name}, {kind}: {own['purity']['mean']:.3f}, {own['cpu_seconds']['median']:.2f} s")
    X, _ = power_law(1000 if arguments.quick else arguments.rows)
    seconds = []
    for seed in range(min(arguments.seeds, 3)):
        with Clock() as clock:
            n_clusters = incremental(seed).fit(X).hierarchy_.n_clusters
        seconds.append(clock.cpu)
        note(f"{len(X)} rows: {clock.cpu:.2f} s, {n_clusters} clusters")
    report("nrmm_trees", arguments, results, many_rows=spread(seconds))


if __name__ == "__main__":
    main()
