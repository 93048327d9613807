"""How fast are predictions of a fitted model? Rows scored and questions answered for each CPU second.

Planted mixtures of 30 clusters in 10 columns, and 100 columns in ten views, our estimators with their defaults: the
number of their draws is "draws". Rows are new. ``BayesianGaussianMixture`` has 60 components, and is told the type of
the covariance. "distilled": ``distill()`` with its default loss of 0.01 nats a
row, whose loss on the new rows is "loss". The best of three passes counts, since other processes take turns.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report, spread
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.datasets import make_gaussian_mixture

N_COLUMNS_OF_KIND, N_VIEWS = 5, 10


def per_second(count: int, answer) -> float:
    """``count`` over the CPU seconds of the fastest of three calls."""
    answer()
    seconds = []
    for _ in range(3):
        with Clock() as clock:
            answer()
        seconds.append(clock.cpu)
    return count / min(seconds)


def speedup(model, X) -> float:
    """Wall time of one thread over that of two, medians of five turns each."""
    seconds: dict[int, list] = {1: [], 2: []}
    for n_jobs in (1, 2) * 6:
        model.n_jobs = n_jobs
        with Clock() as clock:
            model.score_samples(X)
        seconds[n_jobs].append(clock.wall)
    model.n_jobs = None
    return float(np.median(seconds[1][1:]) / np.median(seconds[2][1:]))


def of_mixture(covariance: str, seed: int, n_rows: int) -> dict:
    X, *_ = make_gaussian_mixture(2 * n_rows, n_clusters=30, covariance_type=covariance, random_state=seed)
    train, new = X[:n_rows], X[n_rows:]
    model = SubsampleAnnealedDPMM(random_state=seed).fit(train)
    fast = model.distill(random_state=seed)
    peer = BayesianGaussianMixture(n_components=60, covariance_type=covariance, random_state=seed).fit(train)
    gaps = np.array(new)
    gaps[np.random.default_rng(seed).random(gaps.shape) < 0.05] = np.nan
    return {
        "draws": model.log_joint_.size,
        "covariance found": float(model.covariance_type_ == covariance),
        "rows": per_second(n_rows, lambda: model.score_samples(new)),
        "rows, 5 % of cells missing": per_second(n_rows, lambda: model.score_samples(gaps)),
        "rows, distilled": per_second(n_rows, lambda: fast.score_samples(new)),
        "loss": float((model.score_samples(new) - fast.score_samples(new)).mean()),
        "draws, distilled": fast.log_joint_.size,
        "rows, BayesianGaussianMixture": per_second(n_rows, lambda: peer.score_samples(new)),
        "two threads": speedup(model, np.tile(new, (4, 1))),
    }


def mixed_table(seed: int, n_rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {}
    for view in range(N_VIEWS):
        group = rng.integers(5, size=n_rows)
        for i in range(N_COLUMNS_OF_KIND):
            columns[f"real{view}{i}"] = 3.0 * rng.normal(size=5)[group] + rng.normal(size=n_rows)
            shares = rng.dirichlet(np.full(4, 0.5), size=5)
            at = (rng.random((n_rows, 1)) > np.cumsum(shares, axis=1)[group, :3]).sum(axis=1)
            columns[f"word{view}{i}"] = np.array(list("abcd"))[at]
    return pd.DataFrame(columns)


def events(rng: np.random.Generator, n_events: int, prefixes) -> list[str]:
    found = []
    for _ in range(n_events):
        name = f"{rng.choice(prefixes)}{rng.integers(N_VIEWS)}{rng.integers(N_COLUMNS_OF_KIND)}"
        found.append(f"{name} == '{rng.choice(list('abcd'))}'" if name[0] == "w" else f"{name} > {rng.normal():.3f}")
    return found


def of_table(seed: int, n_rows: int) -> dict:
    X = mixed_table(seed, 2 * n_rows)
    train, new = X[:n_rows], X[n_rows:]
    model = CrossCat(random_state=seed).fit(train)
    fast, rng = model.distill(random_state=seed), np.random.default_rng(seed)
    # One asked cell in each row, and two given ones.
    order = np.argsort(rng.random(new.shape), axis=1)
    asked, given = new.where(order == 0), new.where((order == 1) | (order == 2))
    both = events(rng, 20_000, ["word", "real"])
    return {
        "draws": model.log_joint_.size,
        "rows": per_second(n_rows, lambda: model.score_samples(new)),
        "rows, distilled": per_second(n_rows, lambda: fast.score_samples(new)),
        "loss": float((model.score_samples(new) - fast.score_samples(new)).mean()),
        "draws, distilled": fast.log_joint_.size,
        "cells given two others": per_second(n_rows, lambda: model.score_samples(asked, given)),
        "cells given two others, distilled": per_second(n_rows, lambda: fast.score_samples(asked, given)),
        "events in a list": per_second(len(both), lambda: model.probability(both)),
        "events in a list, distilled": per_second(len(both), lambda: fast.probability(both)),
        "events one by one": per_second(50, lambda: [model.probability(one) for one in both[:50]]),
        "events one by one, distilled": per_second(50, lambda: [fast.probability(one) for one in both[:50]]),
    }


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    n_rows = 500 if options.quick else 20_000
    kinds = {
        "diag": lambda seed: of_mixture("diag", seed, n_rows),
        "full": lambda seed: of_mixture("full", seed, n_rows),
        "CrossCat, 100 columns": lambda seed: of_table(seed, n_rows // 4),
    }
    results = {}
    with threadpool_limits(limits=1):
        for name, measure in kinds.items():
            runs = [measure(seed) for seed in range(options.seeds)]
            results[name] = {field: spread([run[field] for run in runs]) for field in runs[0]}
            for field, values in results[name].items():
                note(f"{name:22}{field:36}{values['median']:14,.4g}")
    report("scoring", options, results)


if __name__ == "__main__":
    main()
