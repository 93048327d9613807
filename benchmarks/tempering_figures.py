"""Figures 1 to 3 and tables 1 and 2 of the paper on tempering by subsampling, reproduced with exact samplers.

"run_time": CPU time of a draw against the number of rows, relative to no tempering, on the paper's ladder with fixed
step sizes. "convergence": R-hat against draws and CPU time. "rows", "parameters": effective draws (minimum and median
over parameters) per CPU second of the sampling phase, with adapted step sizes and ladders. HMC and MH, alone and in PT,
TT, SPT and STT, on the mean of a normal distribution and on hyperparameters of a Gaussian process.
"""

import numpy as np
from _common import note, parser, report, spread
from _tempering import INNER, PAPER, SAMPLERS, Stopwatch, gaussian_mean, gaussian_process, run

from sklearn_subanneal.diagnostics import rank_normalized_rhat
from sklearn_subanneal.tempering import HamiltonianMonteCarlo

MODELS = {"mean": gaussian_mean, "gp": gaussian_process}
# Of the Gaussian process "parameters" are features; it has two more. "timed" are rows of figure 1.
SIZES = {
    "mean": {
        "timed": [64, 256, 1024, 4096],
        "rows": [64, 256, 1024],
        "at": 50,
        "parameters": [5, 10, 50],
        "of": 256,
        "steps": 10,
    },
    "gp": {"timed": [64, 128, 256], "rows": [64, 128, 256], "at": 8, "parameters": [3, 8, 13], "of": 256, "steps": 5},
}
QUICK = {
    "mean": {"timed": [32], "rows": [32], "at": 3, "parameters": [2], "of": 32, "steps": 10},
    "gp": {"timed": [32], "rows": [32], "at": 2, "parameters": [2], "of": 32, "steps": 5},
}


def run_time(kind: str, sizes: dict, n_draws: int) -> dict:
    """Figure 1: fixed step sizes and no warm-up, so that only the work counts."""
    out: dict = {}
    for n_rows in sizes["timed"]:
        model = MODELS[kind](n_rows, sizes["at"], 0)
        inner = HamiltonianMonteCarlo(0.01, n_steps=sizes["steps"], metric="unit", jitter=0.0)
        seconds = {}
        for name, make in SAMPLERS.items():
            sampler = make(inner=inner, inverse_temperatures=PAPER, n_warmup=0)
            found = run(f"{kind} N={n_rows} {name}", sampler, model, n_draws, 0, n_chains=1)
            seconds[name] = found["seconds_a_draw"]
        out[n_rows] = {"seconds": seconds, "ratio": {name: value / seconds["none"] for name, value in seconds.items()}}
    return out


def convergence(n_rows: int, n_features: int, n_draws: int) -> dict:
    """Figure 2: largest R-hat, because the smallest and the median would hide a parameter that has not converged."""
    model, out = gaussian_process(n_rows, n_features, 0), {}
    for name, make in SAMPLERS.items():
        watch = Stopwatch(make(inner=HamiltonianMonteCarlo()))
        result = watch.sampler.sample(model, n_draws, random_state=0)
        stamps = np.mean([np.array(stamps) - stamps[0] for stamps in watch.stamps], axis=0)
        at = np.unique(np.geomspace(8, n_draws, 12).astype(int))
        # As in the paper, from the second half of the draws so far.
        rhats = [float(rank_normalized_rhat(result.draws[:, n // 2 : n]).max()) for n in at]
        out[name] = {"draws": at.tolist(), "seconds": stamps[at].round(3).tolist(), "rhat": rhats}
        note(f"convergence {name}: " + ", ".join(f"{n}: {rhat:.2f}" for n, rhat in zip(at, rhats, strict=True)))
    return out


def efficiency(kind: str, inner: str, n_rows: int, n_parameters: int, n_draws: int, n_seeds: int) -> dict:
    """Figure 3 and the tables: one cell, all samplers."""
    out = {}
    for name, make in SAMPLERS.items():
        found = []
        for seed in range(n_seeds):
            model = MODELS[kind](n_rows, n_parameters, seed)
            label = f"{kind} {inner} N={n_rows} D={n_parameters} {name}"
            found.append(run(label, make(inner=INNER[inner]()), model, n_draws, seed))
        keys = ("ess_min_a_second", "ess_median_a_second", "seconds_a_draw", "rhat", "transition_rate")
        out[name] = {key: spread([one[key] for one in found]) for key in keys}
        out[name]["converged"] = sum(one["converged"] for one in found)
        out[name]["swap_rates"] = [one["swap_rates"] for one in found]
        out[name]["acceptance"] = [one["acceptance"] for one in found]
    return out


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--draws", type=int, default=300)
    given.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    given.add_argument("--inner", nargs="+", choices=INNER, default=list(INNER))
    arguments = given.parse_args()
    sizes = QUICK if arguments.quick else SIZES
    if arguments.quick:
        arguments.draws, arguments.seeds = 20, 1
    results: dict = {"run_time": {}, "rows": {}, "parameters": {}}
    for kind in arguments.models:
        size = sizes[kind]
        results["run_time"][kind] = run_time(kind, size, max(5, arguments.draws // 20))
        for inner in arguments.inner:
            cell = f"{kind} {inner}"
            rest = inner, arguments.draws, arguments.seeds
            results["rows"][cell] = {n: efficiency(kind, rest[0], n, size["at"], *rest[1:]) for n in size["rows"]}
            results["parameters"][cell] = {
                d: efficiency(kind, rest[0], size["of"], d, *rest[1:]) for d in size["parameters"]
            }
    if "gp" in arguments.models:
        results["convergence"] = convergence(sizes["gp"]["of"], sizes["gp"]["at"], arguments.draws)
    report("tempering_figures", arguments, results)


if __name__ == "__main__":
    main()
