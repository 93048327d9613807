"""Total variation of every sampler from the exact posterior over all partitions of a few rows, with its noise floor.

The floor is the 95 % quantile of the total variation of the same number of independent draws as effective draws. The
cases are those of `tests/mixtures/test_nrmm_enumeration.py`, so the folder `tests` must be next to this folder.
"""

import sys
from pathlib import Path

import numpy as np
from _common import Clock, parser, report

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "mixtures"))

from oracles.reference_chain import (
    noise_floor,
    partition_autocorrelation_time,
    partition_codes,
    partition_counts,
    total_variation,
)
from oracles.reference_nrmm import posterior
from test_nrmm_enumeration import BIASED, LIKELIHOODS, PROCESSES, SAMPLERS, sample

# Draws from which the autocorrelation time is estimated.
N_TRIAL = 2**14


def measure(likelihood: str, process: str, sampler: str, n_draws: int, n_rows: int) -> dict:
    """Measure one case with a chain that is long enough for ``n_draws`` effective draws."""
    _, mass, sigma = PROCESSES[process]
    law = posterior([LIKELIHOODS[likelihood](n_rows)[1]], mass, sigma)
    trial = sample(likelihood, process, sampler, N_TRIAL, n_rows, seed=1)
    time = partition_autocorrelation_time(partition_codes(trial))
    with Clock() as clock:
        draws = sample(likelihood, process, sampler, int(1.05 * n_draws * time), n_rows)
    n_effective = int(len(draws) / time)
    floor = noise_floor(law, n_effective, rng=np.random.default_rng(0))
    distance = total_variation(law, partition_counts(draws))
    return {
        "likelihood": likelihood,
        "process": process,
        "sampler": sampler,
        "autocorrelation_time": time,
        "effective_draws": n_effective,
        "total_variation": distance,
        "noise_floor": floor,
        "ratio": distance / floor,
        "expected_clusters": float(sum(p * (max(state) + 1) for state, p in law.items())),
        "mean_clusters": float(draws.max(axis=1).mean() + 1),
        "cpu_seconds": clock.cpu,
    }


def main() -> None:
    arguments = parser(__doc__, seeds=1)
    arguments.add_argument(
        "--draws", type=int, default=100_000, help="minimum number of effective draws (default 100000)"
    )
    arguments.add_argument("--rows", type=int, default=6, help="rows of the table (default 6, at most 7)")
    arguments.add_argument("--likelihoods", nargs="*", default=list(LIKELIHOODS))
    arguments.add_argument("--processes", nargs="*", default=list(PROCESSES))
    arguments.add_argument("--samplers", nargs="*", default=[*SAMPLERS, *BIASED])
    given = arguments.parse_args()
    results = []
    for likelihood in given.likelihoods:
        for process in given.processes:
            for sampler in given.samplers:
                result = measure(likelihood, process, sampler, 2000 if given.quick else given.draws, given.rows)
                results.append(result)
                print(
                    f"{likelihood:12} {process:9} {sampler:20} {result['effective_draws']:7d} TV "
                    f"{result['total_variation']:.4f} floor {result['noise_floor']:.4f} ratio {result['ratio']:.2f} "
                    f"K {result['mean_clusters']:.3f} ({result['expected_clusters']:.3f})",
                    file=sys.stderr,
                    flush=True,
                )
    report("nrmm_exactness", given, results)


if __name__ == "__main__":
    main()
