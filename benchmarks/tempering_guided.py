"""Effective draws per CPU second on Gaussian processes with 512 rows, of samplers with and without subsets.

All adapt step sizes and metrics in the same way; "ratio" is relative to Hamiltonian Monte Carlo alone, for each seed.
"""

from _common import note, parser, report, spread
from _tempering import SAMPLERS, gaussian_process, run

from sklearn_subanneal.gaussian_process import TotalAndRatio
from sklearn_subanneal.tempering import GuidedHamiltonianMonteCarlo, HamiltonianMonteCarlo

FIGURES = ("ess_min_a_second", "ess_median_a_second", "ess_min_a_second_with_warmup")


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--rows", type=int, default=512)
    given.add_argument("--features", type=int, nargs="+", default=[3, 8])
    given.add_argument("--draws", type=int, default=250)
    given.add_argument("--samplers", nargs="+", default=["none", "guided", "guided-no-rows", "SPT", "STT"])
    given.add_argument("--coordinates", choices=("total-and-ratio", "own"), default="total-and-ratio")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.rows, arguments.draws, arguments.seeds = 64, 30, 1
    # The moves of TemperedGaussianProcessRegressor.
    moves = {"trajectory": 1.75, "target_acceptance": 0.9}
    results: dict = {}
    for n_features in arguments.features:
        runs: dict = {name: [] for name in arguments.samplers}
        for seed in range(arguments.seeds):
            model = gaussian_process(arguments.rows, n_features, seed)
            if arguments.coordinates == "total-and-ratio":
                model = TotalAndRatio(model)
            for name in arguments.samplers:
                if name.startswith("guided"):
                    share = 0.0 if name == "guided-no-rows" else 0.25
                    sampler = SAMPLERS["none"](inner=GuidedHamiltonianMonteCarlo(share=share, **moves))
                else:
                    sampler = SAMPLERS[name](inner=HamiltonianMonteCarlo(**moves))
                runs[name].append(run(f"D={n_features} seed {seed} {name}", sampler, model, arguments.draws, seed))
        summary = {}
        for name, found in runs.items():
            summary[name] = {key: spread([one[key] for one in found]) for key in ("rhat", "cpu_seconds", *FIGURES)}
            if "none" in runs:
                pairs = list(zip(found, runs["none"], strict=True))
                summary[name]["ratio"] = {
                    key: spread([one[key] / alone[key] for one, alone in pairs]) for key in FIGURES
                }
                medians = {key: round(value["median"], 2) for key, value in summary[name]["ratio"].items()}
                note(f"D={n_features} {name}: ratio {medians}")
        results[f"features_{n_features}"] = {"summary": summary, "runs": runs}
    report("tempering_guided", arguments, results, bars={"ratio": 1.2, "goal": 2.0})


if __name__ == "__main__":
    main()
