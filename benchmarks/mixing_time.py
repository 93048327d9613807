"""Theorem 2 of the subsample-annealing paper: the two-urn model mixes in N^2 steps, and in N steps with annealing.

"cold" (without annealing): relaxation times 1 / (1 - second eigenvalue) of the exact transition matrix of single-ball
Gibbs steps. "annealed": assignments until the total variation from the exact posterior is below ``--target``, by
interpolation between numbers of passes, by Monte Carlo on the grid of 20 x 20 shares. The bars: slopes of the
logarithms against the logarithm of the size of 2.0 +- 0.1 and 1.0 +- 0.2. "reversible" is the largest deviation of the
transition matrix from detailed balance, which checks the matrix and the posterior against each other.
"""

from __future__ import annotations

import numpy as np
from _common import Clock, note, parser, report
from _two_urn import binned, colours, log_posterior, noise_floor, run, total_variation, transition
from scipy import sparse
from scipy.sparse.linalg import eigsh


def relaxation(n_balls: int) -> dict:
    """Relaxation time in steps, and the largest difference of the probability flows between two states."""
    matrix, log_p = transition(*colours(n_balls)), log_posterior(*colours(n_balls)).ravel()
    # By a diagonal similarity a reversible matrix is symmetric; its logarithms keep it from underflow.
    pairs = matrix.tocoo()
    from_, to = pairs.coords
    values = pairs.data * np.exp(0.5 * (log_p[from_] - log_p[to]))
    symmetric = sparse.csc_array((values, (from_, to)), shape=matrix.shape)
    unequal = abs(symmetric - symmetric.T).max()
    # Of 1 - P: the least is 0. Just below it, so that the factorisation is not singular.
    gaps = eigsh(
        sparse.eye_array(len(log_p), format="csc") - 0.5 * (symmetric + symmetric.T),
        k=2,
        sigma=-1e-3 / n_balls**2,
        which="LM",
        return_eigenvectors=False,
    )
    return {"steps": float(1.0 / gaps.max()), "reversible": float(unequal), "least": float(gaps.min())}


def passes_needed(n_balls: int, n_runs: int, passes: list[float], target: float, seed: int) -> dict:
    """Number of passes at which annealing reaches the target."""
    posterior = binned(np.exp(log_posterior(*colours(n_balls))))
    errors = []
    for number, of in enumerate(passes):
        rng = np.random.default_rng([seed, number, n_balls])
        errors.append(total_variation(run("anneal subsample", n_balls, n_runs, of, rng), posterior))
    needed = np.exp(np.interp(-np.log(target), -np.log(errors), np.log(passes)))
    return {
        "errors": errors,
        "passes": float(needed),
        "reached": errors[-1] < target < errors[0],
        "floor": noise_floor(posterior, n_runs),
    }


def slope(sizes, steps) -> float:
    return float(np.polyfit(np.log(sizes), np.log(steps), 1)[0])


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--cold-sizes", type=int, nargs="+", default=[80, 160, 320, 640], help="multiples of 5")
    given.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 400, 800, 1600])
    given.add_argument("--runs", type=int, default=20_000)
    given.add_argument("--passes", type=float, nargs="+", default=[3, 5, 8])
    given.add_argument("--target", type=float, default=0.12, help="total variation")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.cold_sizes, arguments.sizes, arguments.runs = [40, 80], [50, 100], 4000
    with Clock() as clock:
        cold = {n: relaxation(n) for n in arguments.cold_sizes}
    note(f"relaxation times: {[round(found['steps']) for found in cold.values()]}, {clock.cpu:.1f} s")
    annealed = {}
    for n in arguments.sizes:
        with Clock() as clock:
            found = [
                passes_needed(n, arguments.runs, arguments.passes, arguments.target, seed)
                for seed in range(arguments.seeds)
            ]
        annealed[n] = {"passes": float(np.mean([of["passes"] for of in found])), "by_seed": found}
        errors = ", ".join(f"{error:.3f}" for error in found[0]["errors"])
        note(f"{n} annealed: {annealed[n]['passes']:.2f} passes ({errors}), {clock.cpu:.1f} s")
    lines = [
        (list(cold), [found["steps"] for found in cold.values()]),
        (list(annealed), [n * found["passes"] for n, found in annealed.items()]),
    ]
    exponents = {"cold": slope(*lines[0]), "annealed": slope(*lines[1])}
    note(f"exponents: {exponents}")
    met = {
        "cold": abs(exponents["cold"] - 2.0) <= 0.1,
        "annealed": abs(exponents["annealed"] - 1.0) <= 0.2
        and all(of["reached"] for found in annealed.values() for of in found["by_seed"]),
    }
    report("mixing_time", arguments, {"cold": cold, "annealed": annealed, "exponents": exponents}, bars=met)


if __name__ == "__main__":
    main()
