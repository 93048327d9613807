"""Figures 1 to 3 and tables 1 and 2 of the paper on tempering by subsampling, at its own setting and adapted.

A cell is a model (the mean of a normal distribution, or the hyperparameters of a Gaussian process), its rows and
parameters, and a kind of moves. "paper": three chains from the prior's mean, half and twice of it; fixed steps (HMC
0.01 at all levels, five or ten leapfrogs; MH 0.1 over the root of the inverse temperature), the unit metric, the ladder
of seven levels to 1/8, and no warm-up; the first half of the draws is left out. All samplers have the same work,
counted in gradients of all rows, so those with dearer draws have fewer. "adapted": the defaults, three chains, after a
warm-up that does not count. "ablation": what of the transitions by subsets makes the difference, at the paper's
setting.
"""

from __future__ import annotations

import copy
import time
import warnings
from dataclasses import replace

import numpy as np
from _common import note, parser, report, spread
from _tempering import INNER, PAPER, SAMPLERS, Stopwatch, gaussian_mean, gaussian_process
from reproduction.printed_transitions import PrintedTransitions
from threadpoolctl import threadpool_limits

from sklearn_subanneal.diagnostics import effective_sample_size, rank_normalized_rhat
from sklearn_subanneal.gaussian_process import StationaryModel
from sklearn_subanneal.tempering import (
    GaussianMean,
    HamiltonianMonteCarlo,
    MetropolisHastings,
    ParallelTempering,
    TemperedTransitions,
)

# Rows of the largest tables; smaller ones are their first rows.
MOST = {"mean": 2048, "gp": 1024}
# Leapfrogs, the power of the rows in the cost of an evaluation, and that of the likelihood alone in gradients.
STEPS, EXPONENT, VALUE = {"mean": 10, "gp": 5}, {"mean": 1.0, "gp": 3.0}, {"mean": 0.5, "gp": 0.4}
FIXED = 0.01
# Draws that are made to find out what a draw costs.
PILOT, FEWEST = 4, 8
ADAPTED = ("none", "STT", "SPT")


class Repeated(HamiltonianMonteCarlo):
    """As many moves for each draw as tempered transitions make on seven levels."""

    def move(self, level, point, adaptation, generator):
        for _ in range(2 * len(PAPER) - 1):
            point, acceptance = super().move(level, point, adaptation, generator)
        return point, acceptance


class Rejected(TemperedTransitions):
    """Tempered transitions that are never accepted: what is left are the moves at the posterior."""

    def _iterate(self, replicas, number):
        replicas.points[0] = self._moved(replicas, 0, replicas.points[0])
        moved = replicas.points[0]
        super()._iterate(replicas, number)
        replicas.points[0] = moved


def hmc(kind: str, kernel=HamiltonianMonteCarlo, step: float = FIXED, metric: str = "dense"):
    """Fixed steps. A "dense" metric that is not adapted is the identity, and as wide at all levels; "unit" widens."""
    return kernel(step, n_steps=STEPS[kind], metric=metric, jitter=0.0)


def plain(inner):
    return ParallelTempering(inner=inner, inverse_temperatures=[1.0], n_warmup=0)


def arms(setting: str, kind: str, inner: str) -> dict:
    """Samplers by name."""
    if setting == "adapted":
        return {name: SAMPLERS[name](inner=INNER[inner]()) for name in ADAPTED}
    ladder = {"inverse_temperatures": PAPER, "n_warmup": 0}
    if setting == "ablation":
        wide = FIXED * PAPER[-1] ** -0.5
        return {
            "none": plain(hmc(kind)),
            "none, 13 moves a draw": plain(hmc(kind, Repeated)),
            "none, steps of the lowest level": plain(hmc(kind, step=wide)),
            "STT": TemperedTransitions(inner=hmc(kind), **ladder),
            "STT, never accepted": Rejected(inner=hmc(kind), **ladder),
            "STT, steps widen": TemperedTransitions(inner=hmc(kind, metric="unit"), **ladder),
            "STT, printed": PrintedTransitions(inner=hmc(kind), **ladder),
            "TT": TemperedTransitions(False, inner=hmc(kind), **ladder),
            "TT, printed": PrintedTransitions(False, inner=hmc(kind), **ladder),
        }
    kernel = hmc(kind) if inner == "HMC" else MetropolisHastings(0.1, metric="unit")
    # Of parallel tempering, swaps as in algorithm 1, and subsets that stay.
    swaps = {"PT": {"swaps": "systematic"}, "SPT": {"swaps": "systematic", "refresh": False}}
    found = {name: make(inner=kernel, **ladder, **swaps.get(name, {})) for name, make in SAMPLERS.items()}
    return found | {"STT, printed": PrintedTransitions(inner=kernel, **ladder)}


def model_of(kind: str, n_rows: int, n_parameters: int, seed: int):
    """The first rows of a table, and where the three chains start."""
    if kind == "mean":
        full = gaussian_mean(max(MOST[kind], n_rows), n_parameters, seed)
        model = GaussianMean(full.X[:n_rows], full.covariance, full.prior_variance)
        return model, [np.zeros(n_parameters)] * 3
    n_features = n_parameters - 2
    full = gaussian_process(max(MOST[kind], n_rows), n_features, seed)
    # Means of the priors: of log-normal length scales, and of the standard deviations of signal and noise.
    mean = np.log([*[np.exp(1.0)] * n_features, 4.0, 1.0])
    return StationaryModel(full.X[:n_rows], full.y[:n_rows]), [mean + np.log(scale) for scale in (1.0, 0.5, 2.0)]


def chain(sampler, model, start, n_draws: int, seed):
    """One chain from a given start: its result, and the CPU time after each draw."""
    if start is not None:
        model = copy.copy(model)
        model.initial = lambda rng: start
    watch = Stopwatch(copy.copy(sampler))
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = watch.sampler.sample(model, n_draws, n_chains=1, random_state=seed)
    return result, np.array(watch.stamps[0]) - watch.stamps[0][0]


def figures(kind: str, model, chains: list, burned: bool) -> dict:
    """Rates and efficiencies of chains, from the second half of their draws if ``burned``, and R-hat on the way."""
    results, stamps = zip(*chains, strict=True)
    draws, stamps = np.concatenate([result.draws for result in results]), np.mean(stamps, axis=0)
    n_draws = draws.shape[1]
    work = np.mean([result.cost(EXPONENT[kind], VALUE[kind])[0] for result in results]) / n_draws
    first = n_draws // 2 if burned else 0

    def scale_reduction(part):
        return replace(results[0], draws=part).potential_scale_reduction()

    kept, seconds = draws[:, first:], len(draws) * (stamps[-1] - stamps[first])
    rhat, size = scale_reduction(kept)
    with np.errstate(invalid="ignore"):
        ranked, ess = rank_normalized_rhat(kept), effective_sample_size(kept)
    at = np.unique(np.geomspace(FEWEST, n_draws, 16).astype(int)) if n_draws > FEWEST else np.array([n_draws])
    out = {
        "n_draws": n_draws,
        "seconds_a_draw": float(stamps[-1] / n_draws),
        "work_a_draw": float(work),
        "rhat": float(np.median(rhat)),
        "largest_rhat": float(ranked.max()),
        "ess_a_second": float(np.median(size) / seconds),
        "ranked_ess_a_second": float(np.median(ess) / seconds),
        "ranked_ess_a_draw": float(np.median(ess) / kept.shape[0] / kept.shape[1]),
        "transition_rate": float(np.mean([result.transition_rate for result in results])),
        "acceptance": float(np.mean([result.acceptance[0, 0] for result in results])),
        "swap_rate": float(np.mean([result.swap_rates for result in results])) if results[0].swap_rates.size else 0.0,
        "trace": {
            "draws": at.tolist(),
            "work": (at * work).round(1).tolist(),
            "seconds": stamps[at].round(3).tolist(),
            "rhat": [round(float(np.median(scale_reduction(draws[:, n // 2 : n])[0])), 4) for n in at],
        },
    }
    if kind == "mean":
        mean, covariance = model.posterior()
        out["variance_ratio"] = float(np.median(((kept - mean) ** 2).mean(axis=(0, 1)) / np.diag(covariance)))
    return out


def run(kind: str, setting: str, sampler, n_rows: int, n_parameters: int, work: float, n_draws: int, seed: int) -> dict:
    """One sampler on one table."""
    model, starts = model_of(kind, n_rows, n_parameters, seed)
    burned = setting != "adapted"
    if burned:
        pilot, _ = chain(sampler, model, starts[0], PILOT, 10 * seed)
        n_draws = max(FEWEST, round(work * PILOT / pilot.cost(EXPONENT[kind], VALUE[kind])[0]))
    else:
        starts = [None] * 3
    chains = [chain(sampler, model, start, n_draws, 10 * seed + 1 + c) for c, start in enumerate(starts)]
    return figures(kind, model, chains, burned)


def cell(kind: str, inner: str, settings: list, n_rows: int, n_parameters: int, arguments) -> dict:
    """All samplers on as many tables as there are seeds."""
    out: dict = {}
    for setting in settings:
        out[setting] = {}
        for name, sampler in arms(setting, kind, inner).items():
            started, found = time.process_time(), []
            for seed in range(arguments.seeds):
                found.append(run(kind, setting, sampler, n_rows, n_parameters, arguments.work, arguments.draws, seed))
            out[setting][name] = {key: spread([one[key] for one in found]) for key in found[0] if key != "trace"}
            out[setting][name]["traces"] = [one["trace"] for one in found]
            note(
                f"{kind} {inner} N={n_rows} D={n_parameters} {setting} {name}: "
                f"{time.process_time() - started:.0f} s, "
                + ", ".join(
                    f"{key} {[round(one[key], 4) for one in found]}"
                    for key in ("n_draws", "seconds_a_draw", "rhat", "ess_a_second", "transition_rate")
                )
            )
    return out


def main() -> None:
    given = parser(__doc__, seeds=2)
    given.add_argument("--model", choices=MOST, default="gp")
    given.add_argument("--inner", choices=INNER, default="HMC")
    given.add_argument("--rows", type=int, nargs="+", default=[512])
    given.add_argument("--parameters", type=int, nargs="+", default=[5, 10, 15, 20])
    given.add_argument("--settings", nargs="+", choices=("paper", "adapted", "ablation"), default=["paper"])
    given.add_argument("--work", type=float, default=2500.0, help="gradients of all rows, of a chain with fixed steps")
    given.add_argument("--draws", type=int, default=100, help="of an adapted chain")
    arguments = given.parse_args()
    most_rows, most_parameters = max(arguments.rows), max(arguments.parameters)
    if arguments.quick:
        # Small tables under the names of the large ones, so that a trial draws all figures, too.
        arguments.seeds, arguments.work, arguments.draws, most_rows, most_parameters = 1, 60.0, 10, 32, 4
    kind, inner = arguments.model, arguments.inner
    cells = {
        f"{kind} {inner} {n} {d}": cell(
            kind, inner, arguments.settings, min(n, most_rows), min(d, most_parameters), arguments
        )
        for n in arguments.rows
        for d in arguments.parameters
    }
    report("tempering_figures", arguments, {"cells": cells})


if __name__ == "__main__":
    main()
