"""Parallel tempering by subsets: nested or independent, fixed or refreshed.

"swaps": the share of swaps that are accepted on the paper's ladder (all pairs of levels; the lowest pair), what theory
says of fixed subsets if kernels forget and the posterior is normal, 2 Phi(-sqrt(J / 2)) with J = D (1 / r - 1) for
nested subsets and J = D (r + 1 / r - a - b) for independent ones, whose two levels have shares a and b = r a of the
rows; and round trips of a chain in 1,000 iterations. "evidence": on ladders to the prior, whose levels have the given
numbers of rows, the log evidence less the exact one, and its standard error.
"""

from __future__ import annotations

import numpy as np
from _common import Clock, note, parser, report, spread
from _tempering import PAPER, gaussian_mean
from scipy.stats import norm

from sklearn_subanneal.tempering import GaussianMean, ParallelTempering

KINDS = [(subsets, refresh) for subsets in ("nested", "independent") for refresh in (False, True)]


def predicted(n_parameters: int, is_nested: bool) -> np.ndarray:
    """Acceptance of the swaps of all pairs of the paper's ladder."""
    high, low = PAPER[:-1], PAPER[1:]
    ratio = low / high
    gap = 1.0 / ratio - 1.0 if is_nested else ratio + 1.0 / ratio - high - low
    return 2.0 * norm.cdf(-np.sqrt(n_parameters * gap / 2.0))


def name_of(subsets: str, refresh: bool) -> str:
    return f"{subsets}, {'refreshed' if refresh else 'fixed'}"


def swaps(n_rows: int, n_parameters: int, n_draws: int, n_seeds: int) -> dict:
    out = {}
    for subsets, refresh in KINDS:
        rates, trips, errors = [], [], []
        for seed in range(n_seeds):
            model = gaussian_mean(n_rows, n_parameters, seed)
            sampler = ParallelTempering(subsets=subsets, refresh=refresh, inverse_temperatures=PAPER)
            result = sampler.sample(model, n_draws, random_state=seed)
            mean, covariance = model.posterior()
            rates.append(result.swap_rates.mean(axis=0))
            trips.append(1000.0 * result.round_trips.mean() / n_draws)
            errors.append(np.abs((result.draws.mean(axis=(0, 1)) - mean) / np.sqrt(np.diag(covariance))).max())
        expected = predicted(n_parameters, subsets == "nested")
        out[name_of(subsets, refresh)] = {
            "swap_rate": spread(np.mean(rates, axis=1)),
            "lowest_pair": spread([rate[-1] for rate in rates]),
            "round_trips": spread(trips),
            "error_of_the_mean": spread(errors),
            **({} if refresh else {"predicted": float(expected.mean()), "predicted_lowest": float(expected[-1])}),
        }
        found = out[name_of(subsets, refresh)]
        note(
            f"N={n_rows} D={n_parameters} {name_of(subsets, refresh)}: "
            + ", ".join(
                f"{key} {value['mean'] if isinstance(value, dict) else value:.3f}" for key, value in found.items()
            )
        )
    return out


def log_evidence(model: GaussianMean) -> float:
    """By the density of the data at any mean: likelihood times prior over posterior."""
    mean, covariance = model.posterior()
    log_posterior = -0.5 * np.linalg.slogdet(2.0 * np.pi * covariance)[1]
    return model.log_likelihood(mean) + model.log_prior(mean) - log_posterior


def evidence(sizes: list[int], n_parameters: int, n_draws: int, n_seeds: int) -> dict:
    out = {}
    for subsets, refresh in KINDS:
        if (subsets, refresh) == ("nested", True):
            continue
        errors, standard, seconds = [], [], []
        for seed in range(n_seeds):
            model = gaussian_mean(sizes[0], n_parameters, seed)
            sampler = ParallelTempering(
                subsets=subsets, refresh=refresh, inverse_temperatures=[size / sizes[0] for size in sizes]
            )
            with Clock() as clock:
                result = sampler.sample(model, n_draws, random_state=seed)
            errors.append(result.log_evidence - log_evidence(model))
            standard.append(result.log_evidence_error)
            seconds.append(clock.cpu)
        found = {"error": spread(errors), "standard_error": spread(standard), "cpu_seconds": spread(seconds)}
        out[name_of(subsets, refresh)] = found
        note(
            f"{sizes} D={n_parameters} {name_of(subsets, refresh)}: errors {np.round(errors, 2)}, "
            f"standard errors {np.round(standard, 2)}, {np.mean(seconds):.1f} CPU-s"
        )
    return out


def main() -> None:
    given = parser(__doc__, seeds=3)
    given.add_argument("--rows", type=int, default=256)
    given.add_argument("--parameters", type=int, nargs="+", default=[1, 2, 5])
    given.add_argument("--draws", type=int, default=1000)
    arguments = given.parse_args()
    if arguments.quick:
        arguments.rows, arguments.parameters, arguments.draws, arguments.seeds = 32, [1], 30, 1
    rest = arguments.draws, arguments.seeds
    results: dict = {"swaps": {d: swaps(arguments.rows, d, *rest) for d in arguments.parameters}}
    n = arguments.rows // 4
    coarse = [*(n * share // 16 for share in (16, 12, 8, 4, 2)), *([4, 2] if n > 32 else []), 0]
    fine = [*range(n, n // 4, -4), *range(n // 4, -1, -2)]
    results["evidence"] = {
        f"{len(sizes)} levels": {d: evidence(sizes, d, *rest) for d in arguments.parameters[:2]}
        for sizes in (coarse, fine)
    }
    report("tempering_subsets", arguments, results)


if __name__ == "__main__":
    main()
