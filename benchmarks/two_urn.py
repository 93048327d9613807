"""Figure 2 of the subsample-annealing paper: seven strategies in the two-urn model against the exact posterior.

All have ten assignments per ball (the sequential start without Gibbs sampling has one, the prior none). The total
variation from the exact posterior is computed on a grid of 20 x 20 shares of red and of blue balls on the left. "floor"
is the mean total variation of as many independent draws from the posterior, and "shares" are those of the runs with the
last size. The bars: prior > sequential > sequential + Gibbs > anneal subsample, with differences above twice the floor,
at every size; and the error of annealing does not depend on the size.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from _common import Clock, note, parser, report
from _two_urn import binned, colours, log_posterior, noise_floor, prior, run, total_variation, transition

STRATEGIES = (
    "prior", "anneal energy", "prior + Gibbs", "sequential", "sequential + Gibbs", "anneal stepsize", "anneal subsample"
)  # fmt: skip
ORDER = ("prior", "sequential", "sequential + Gibbs", "anneal subsample")
# Strategies whose exact distribution is computed, too, up to this size.
CARRIED = 400


def exact_error(strategy, n_balls, passes, posterior):
    """The total variation without Monte Carlo, if the transition matrix is small."""
    law = prior(*colours(n_balls))
    if strategy == "prior":
        return total_variation(binned(law), posterior)
    if strategy != "prior + Gibbs" or n_balls > CARRIED:
        return None
    step, state = transition(*colours(n_balls)).T.tocsr(), law.ravel()
    for _ in range((passes - 1) * n_balls):
        state = step @ state
    return total_variation(binned(state.reshape(law.shape)), posterior)


def bars(results) -> dict:
    """Which bars are reached."""
    gaps = {
        n: [(found[a]["total_variation"] - found[b]["total_variation"]) / found[b]["floor"] for a, b in pairwise(ORDER)]
        for n, found in results.items()
    }
    annealed = [found["anneal subsample"] for found in results.values()]
    errors = [found["total_variation"] for found in annealed]
    return {
        "gaps_in_floors": gaps,
        "order_met": all(gap > 2 for of in gaps.values() for gap in of),
        "annealed_errors": errors,
        "annealed_stable": max(errors) - min(errors) <= 2 * max(found["floor"] for found in annealed),
    }


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--sizes", type=int, nargs="+", default=[200, 2000], help="numbers of balls, multiples of 5")
    given.add_argument("--runs", type=int, nargs="+", default=[80_000, 20_000], help="runs of each size")
    given.add_argument("--passes", type=int, default=10)
    arguments = given.parse_args()
    if arguments.quick:
        arguments.sizes, arguments.runs = [100, 200], [4000, 4000]
    results: dict[int, dict] = {}
    panels = {}
    for n_balls, n_runs in zip(arguments.sizes, arguments.runs, strict=True):
        posterior = binned(np.exp(log_posterior(*colours(n_balls))))
        floor, panels = noise_floor(posterior, n_runs), {}
        for number, strategy in enumerate(STRATEGIES):
            with Clock() as clock:
                errors = []
                for seed in range(arguments.seeds):
                    rng = np.random.default_rng([seed, number, n_balls])
                    panels[strategy] = run(strategy, n_balls, n_runs, arguments.passes, rng)
                    errors.append(total_variation(panels[strategy], posterior))
            found = {"total_variation": float(np.mean(errors)), "by_seed": errors, "floor": floor, "cpu": clock.cpu}
            if (exact := exact_error(strategy, n_balls, arguments.passes, posterior)) is not None:
                found["exact"] = exact
            note(f"{n_balls} {strategy}: {found['total_variation']:.4f} (floor {floor:.4f}), {clock.cpu:.1f} s")
            results.setdefault(n_balls, {})[strategy] = found
        panels["posterior"] = posterior
    shares = {name: panel.round(7).tolist() for name, panel in panels.items()}
    report("two_urn", arguments, results, bars=bars(results), n_balls=arguments.sizes[-1], shares=shares)


if __name__ == "__main__":
    main()
