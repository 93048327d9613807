"""Data sets and single chains for the benchmarks of normalized random measure mixtures."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from _common import find_data
from scipy import sparse

from sklearn_subanneal.columns._bag_data import BagOfWordsData
from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.diagnostics import effective_sample_size
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._move_kernel import MoveKernel
from sklearn_subanneal.mixtures._slice import SliceKernel
from sklearn_subanneal.mixtures._split_merge import SplitMergeKernel
from sklearn_subanneal.partitions import CRP, NGGP, PitmanYor
from sklearn_subanneal.trees._tree_guided import TreeGuidedKernel
from sklearn_subanneal.trees._tree_guided_paper import TreeGuidedPaperKernel
from sklearn_subanneal.trees._tree_guided_similar import TreeGuidedSimilarKernel

PROCESSES = {"dp": partial(CRP, 1.0), "nggp": NGGP}
# Proposals of clusters, in addition to Gibbs sampling of a share of the rows; None: Gibbs sampling of all rows alone.
GLOBAL = {
    "gibbs": None,
    "split-merge": SplitMergeKernel,
    "split-merge-scans": partial(SplitMergeKernel, n_scans=3),
    "tree-guided": TreeGuidedKernel,
    "tree-guided-similar": TreeGuidedSimilarKernel,
    "tree-guided-full": partial(TreeGuidedSimilarKernel, subset_size=10**9),
}
# What moves all rows at once.
WHOLE = {"slice": SliceKernel, "tree-guided-paper": TreeGuidedPaperKernel}
SAMPLERS = [*GLOBAL, *WHOLE]


def blobs(n_rows: int = 1300, n_clusters: int = 13, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points in the plane in clusters of equal size, some of which touch."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % n_clusters
    centers = np.empty((0, 2))
    while len(centers) < n_clusters:
        center = rng.uniform(-10, 10, 2)
        if (np.linalg.norm(centers - center, axis=1) > 3.2).all():
            centers = np.vstack([centers, center])
    factors = 0.4 * rng.normal(size=(n_clusters, 2, 2)) + 0.4 * np.eye(2)
    return centers[labels] + np.einsum("nij,nj->ni", factors[labels], rng.normal(size=(n_rows, 2))), labels


def power_law(n_rows: int = 10_000, width: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points in clusters with sizes drawn from a Pitman-Yor process, with full covariances."""
    rng = np.random.default_rng(seed)
    prior = PitmanYor(1.0, 0.3).bind(learn=False)
    labels = prior.draw_partition(n_rows, np.random.Generator(np.random.PCG64(seed + 3)))
    n_clusters = labels.max() + 1
    centers = rng.normal(0, 3, (n_clusters, width))
    factors = 0.35 * rng.normal(size=(n_clusters, width, width)) + 0.6 * np.eye(width)
    return centers[labels] + np.einsum("nij,nj->ni", factors[labels], rng.normal(size=(n_rows, width))), labels


def documents(given: str | None, n_documents: int | None = None):
    """The NIPS corpus, 1,500 documents by the 7,605 words that occur more than 20 times; None if it is missing."""
    path = find_data(given, "nips", "nips_uci_1500x7605.npz")
    if path is None:
        return None
    arrays = np.load(path)
    corpus = sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
    return corpus[:n_documents]


def gaussian_columns(X: np.ndarray) -> list:
    """The prior of the paper: r = 0.1, nu = D + 6, the mean of the data, and their covariance scaled to |Psi| = 0.1."""
    width = X.shape[1]
    covariance = np.cov(X.T)
    psi = covariance / (np.linalg.det(covariance) / 0.1) ** (1 / width)
    parameters = {"mu": np.zeros(width), "kappa": 0.1, "psi": psi, "nu": width + 6.0}
    return [GaussianStatistics(GaussianData(X - X.mean(axis=0)), parameters)]


def multinomial_columns(corpus) -> list:
    """A symmetric Dirichlet prior of 0.1."""
    return [BagOfWordsStatistics(BagOfWordsData(corpus), {"n_words": corpus.shape[1], "beta": 0.1})]


def run(
    columns: list,
    n_rows: int,
    sampler: str,
    *,
    process: str,
    seconds: float,
    seed: int,
    start: str = "entering",
    n_global: int = 20,
    n_local: int = 2,
    share: float = 0.1,
) -> dict:
    """Run one chain for the given CPU seconds; returns its trace and the counters of its moves.

    Parameters
    ----------
    columns : list of ColumnStatistics
    n_rows : int
    sampler : {"gibbs", "split-merge", "tree-guided", ...}
    process : {"dp", "nggp"}
        Concentration 1; mass and sigma of the NGGP are learned.
    seconds : float
    seed : int
    start : {"entering", "one"}
        "entering": rows are assigned in random order by their conditionals; "one": all rows are in one cluster.
    n_global, n_local : int
        Proposals per iteration; depth to which the printed sampler descends for the rows to move.
    share : float
        Fraction of the rows that Gibbs sampling moves per iteration, for the samplers with proposals.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    mixture = Mixture(columns, PROCESSES[process]().bind(), n_rows)
    rows = np.arange(n_rows, dtype=np.int32)
    if start == "one":
        mixture.set_labels(np.zeros(n_rows, np.int32), generator)
    else:
        mixture.set_labels(np.full(n_rows, -1, np.int32), generator)
        order = generator.permutation(n_rows).astype(np.int32)
        churn(mixture, np.full(n_rows, -1, np.int32), order, 1.0, generator)
    moves = whole = None
    if sampler in WHOLE:
        options = {"n_proposals": n_global, "n_local": n_local} if sampler == "tree-guided-paper" else {}
        whole = WHOLE[sampler](columns, n_rows, **options)
    elif GLOBAL[sampler] is not None:
        moves = GLOBAL[sampler](columns, n_rows)
    n_moved = n_rows if moves is None else max(int(share * n_rows), 1)
    trace, begin = [], time.process_time()
    while not trace or trace[-1][0] < seconds:
        mixture.redraw_auxiliary(generator)
        if whole is not None:
            whole.sweep(mixture, 1.0, generator)
        else:
            if moves is not None:
                moves.propose(mixture, n_global, 1.0, generator, rows)
            some = generator.permutation(n_rows)[:n_moved].astype(np.int32)
            churn(mixture, some, some, 1.0, generator)
        if len(trace) % 20 == 19:
            mixture.rebuild(rows)
        if process == "nggp":
            mixture.prior.learn(mixture.sizes, generator)
            mixture.set_prior(mixture.prior.parameters)
        trace.append((time.process_time() - begin, mixture.log_joint(), mixture.n_clusters))
    kernels = [kernel for kernel in (moves, whole, MoveKernel()) if kernel is not None]
    return {"trace": np.array(trace), **kernels[0].take_counts()}


def summary(found: dict) -> dict:
    """The results of one chain."""
    seconds, log_joint, n_clusters = found["trace"].T
    later = slice(len(seconds) // 2, None)
    n_proposed = max(found["n_proposed"], 1)
    draws = n_clusters[later]
    size = float(effective_sample_size(draws[None])) if len(draws) > 7 and np.ptp(draws) else 1.0
    return {
        "max_log_joint": float(log_joint.max()),
        "mean_log_joint": float(log_joint[later].mean()),
        "mean_n_clusters": float(draws.mean()),
        "ess_n_clusters": size,
        "ess_a_second": size / float(seconds[-1] - seconds[later][0] + 1e-9),
        "acceptance": found["n_accepted"] / n_proposed,
        "mean_log_ratio": found["sum_log_ratio"] / n_proposed,
        "seconds_an_iteration": float(seconds[-1] / len(seconds)),
    }


def curve(chains: list[dict], seconds: float, n_points: int = 50) -> dict:
    """Mean log joint of some chains against CPU seconds, at points evenly spaced on the logarithmic scale."""
    at = np.geomspace(seconds / 1000, seconds, n_points)
    means = np.zeros(n_points)
    for found in chains:
        stamps, log_joint, _ = found["trace"].T
        means += log_joint[np.maximum(np.searchsorted(stamps, at, side="right") - 1, 0)]
    return {"seconds": at.round(5).tolist(), "log_joint": (means / len(chains)).round(3).tolist()}


def seconds_to(found: dict, level: float) -> float:
    """CPU seconds until the log joint first reaches a level; infinite if it never does."""
    seconds, log_joint, _ = found["trace"].T
    return float(seconds[np.argmax(log_joint >= level)]) if (log_joint >= level).any() else np.inf
