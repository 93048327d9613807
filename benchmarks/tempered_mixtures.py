"""Parallel tempering of mixtures: swap rates, and held-out log density at equal time, against one chain.

Hyperparameters are fixed at the end of an annealed fit, so that all methods sample the same posterior over partitions.
"one" has Gibbs sweeps and split-merge proposals. "powers" has levels with powers of the likelihood, and "subsets" has
levels with the likelihood of a part of the rows and the prior of all labels, each with the same moves. Rows outside a
subset have labels from the prior, drawn when a swap needs them, because the prior of partitions is consistent.
"""

from __future__ import annotations

import time

import numpy as np
from _common import note, parser, report, split, spread

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.datasets import load_hospitals, make_gaussian_mixture
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._split_merge import SplitMergeKernel
from sklearn_subanneal.mixtures.mixture_chain import mixture_state
from sklearn_subanneal.mixtures.predictive import ensemble_of_mixtures
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.posterior import log_mean_exp
from sklearn_subanneal.tempering.ladders import adapted_ladder

TABLES = {
    "planted, 400 x 4": lambda: make_gaussian_mixture(400, 4, 12, separation=2.0, random_state=0)[0],
    "hospitals": lambda: load_hospitals(as_frame=False).data,
}
# Sweeps of each level between swaps, and split-merge proposals after each of them.
N_PROPOSALS = 4
# Fraction of the time used for warm-up.
WARM_UP = 0.5


class Level:
    """Labels of the rows of a subset, or of all rows with their likelihood to a power."""

    def __init__(self, fixed: dict, labels: np.ndarray, power: float, rows: np.ndarray):
        columns = [model.statistics(model.data(fixed["arrays"])) for model in fixed["models"]]
        for column, state in zip(columns, fixed["columns"], strict=True):
            column.set_prior_state(state)
        self.prior = PitmanYor(**fixed["prior"]).bind(learn=False)
        self.mixture = Mixture(columns, self.prior, len(labels))
        self.moves = SplitMergeKernel(columns, len(labels))
        self.rows, self.power = np.sort(rows).astype(np.int32), power
        self.hold(labels, fixed["generator"])

    def hold(self, labels: np.ndarray, generator) -> None:
        """Take over the labels of the rows that this level has."""
        own = np.full(len(labels), -1, np.int32)
        own[self.rows] = np.unique(labels[self.rows], return_inverse=True)[1]
        self.mixture.set_labels(own, generator)

    def move(self, generator) -> None:
        rows = generator.permutation(self.rows)
        churn(self.mixture, rows, rows, self.power, generator)
        self.moves.propose(self.mixture, N_PROPOSALS, self.power, generator)
        self.mixture.rebuild()

    def log_likelihood(self) -> float:
        return self.mixture.log_joint() - self.prior.log_eppf(np.asarray(self.mixture.sizes, np.int32))

    def labels(self, generator) -> np.ndarray:
        """Labels of all rows; those outside the subset are drawn sequentially from the prior given the others."""
        labels = self.mixture.labels.copy()
        missing = np.flatnonzero(labels < 0)
        if len(missing):
            # Labels are slots of the mixture or arbitrary; in both cases empty clusters get the next numbers.
            used, labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)
            sizes = np.bincount(labels[labels >= 0], minlength=len(used)).tolist()
            for row in missing:
                offset, base, slope = self.prior.predictive_weights(np.asarray(sizes, np.int32))
                weights = np.append(np.asarray(sizes) + offset, base + slope * len(sizes)).cumsum()
                k = int(np.searchsorted(weights, generator.random() * weights[-1], side="right"))
                sizes[k:] = [sizes[k] + 1, *sizes[k + 1 :]] if k < len(sizes) else [1]
                labels[row] = k
        return labels


def log_likelihood_of(level: Level, labels, generator) -> float:
    """Log likelihood of other labels at this level, which then holds them."""
    level.hold(labels, generator)
    return level.log_likelihood()


def offer_swap(high: Level, low: Level, generator) -> float:
    """Propose to swap the labels of two levels; returns the acceptance probability."""
    if len(high.rows) == len(low.rows):
        log_ratio = (high.power - low.power) * (low.log_likelihood() - high.log_likelihood())
        if np.log1p(-generator.random()) < log_ratio:
            high.mixture, low.mixture, high.moves, low.moves = low.mixture, high.mixture, low.moves, high.moves
            high.prior, low.prior = low.prior, high.prior
        return float(np.exp(min(0.0, log_ratio)))
    ours, theirs = high.labels(generator), low.labels(generator)
    before = high.power * high.log_likelihood() + low.power * low.log_likelihood()
    after = high.power * log_likelihood_of(high, theirs, generator)
    after += low.power * log_likelihood_of(low, ours, generator)
    if np.log1p(-generator.random()) >= after - before:
        high.hold(ours, generator)
        low.hold(theirs, generator)
    return float(np.exp(min(0.0, after - before)))


def run(fixed: dict, kind: str, betas: np.ndarray, seconds: float, held_out: list, seed: int) -> dict:
    """Run one chain, or one per level, from the prior; the average of the later draws scores the held-out rows."""
    generator = fixed["generator"] = np.random.default_rng(seed)
    n_rows = len(fixed["arrays"][0])
    start, order = PitmanYor(**fixed["prior"]).bind(learn=False).draw_partition(n_rows, generator), None
    order = generator.permutation(n_rows)
    sizes = np.round(betas * n_rows).astype(int) if kind == "subsets" else np.full(len(betas), n_rows)
    powers = betas if kind == "powers" else np.ones(len(betas))

    def levels_of(sizes, powers, labels):
        return [Level(fixed, own, power, order[:size]) for size, power, own in zip(sizes, powers, labels, strict=True)]

    levels = levels_of(sizes, powers, [start] * len(betas))
    rates, n_swaps = np.zeros((2, len(betas) - 1))
    draws, n_sweeps, adapted = [], 0, kind != "powers"
    begun = time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        for level in levels:
            level.move(generator)
        n_sweeps += 1
        for m in range(1 + n_sweeps % 2, len(levels), 2):
            rates[m - 1] += offer_swap(levels[m - 1], levels[m], generator)
            n_swaps[m - 1] += 1
        if not adapted and spent > 0.25 * seconds:
            # More closely spaced powers where swaps are rejected.
            powers = adapted_ladder(powers, 1.0 - rates / np.maximum(n_swaps, 1))
            levels = levels_of(sizes, powers, [level.labels(generator) for level in levels])
            rates, n_swaps, adapted = np.zeros(len(rates)), np.zeros(len(rates)), True
        if spent > WARM_UP * seconds:
            draws.append(mixture_state(levels[0].mixture))
    kept = [draws[i] for i in np.unique(np.linspace(0, len(draws) - 1, 20).astype(int))]
    scores = [ensemble_of_mixtures(fixed["models"], [draw]).score(held_out) for draw in kept]
    return {
        "held_out": float(log_mean_exp(np.array(scores), axis=0).mean()),
        "log_joint": float(np.mean([draw.log_joint for draw in draws])),
        "n_sweeps": n_sweeps,
        "betas": np.round(powers if kind == "powers" else sizes / n_rows, 3).tolist(),
        "swap_rates": np.round(rates / np.maximum(n_swaps, 1), 3).tolist(),
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--seconds", type=float, default=10.0, help="CPU seconds of a run")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.seconds, arguments.seeds = 0.3, 1
    samplers = {
        "one": ("one", np.ones(1)),
        "powers": ("powers", np.geomspace(1.0, 0.25, 8)),
        "subsets": ("subsets", np.geomspace(1.0, 0.25, 8)),
        "subsets, near": ("subsets", np.array([1.0, 0.99, 0.98, 0.96])),
    }
    results: dict = {}
    for name, make in TABLES.items():
        X, runs = make(), {sampler: [] for sampler in samplers}
        for seed in range(arguments.seeds):
            train, test = split(len(X), seed)
            model = SubsampleAnnealedDPMM(
                covariance_type="diag", feature_types="from_dtype", n_chains=1, n_draws=1, random_state=seed
            ).fit(X[train])
            state = model._results[0].state.model
            fixed = {
                "models": model._models,
                "arrays": model._encode(X[train]),
                "prior": {key: state["prior"][key] for key in ("concentration", "discount")},
                "columns": state["columns"],
            }
            for sampler, (kind, betas) in samplers.items():
                found = run(fixed, kind, betas, arguments.seconds, model._encode(X[test]), seed)
                runs[sampler].append(found)
                note(
                    f"{name}, seed {seed}, {sampler}: held-out {found['held_out']:.3f}, {found['n_sweeps']} sweeps, "
                    f"swaps {found['swap_rates']}"
                )
        results[name] = {
            sampler: {
                "runs": found,
                "held_out": spread([one["held_out"] for one in found]),
                "less_one": spread([a["held_out"] - b["held_out"] for a, b in zip(found, runs["one"], strict=True)]),
            }
            for sampler, found in runs.items()
        }
    report("tempered_mixtures", arguments, results)


if __name__ == "__main__":
    main()
