"""Two unit normals of weights 0.3 and 0.7, far apart: shares, log evidence and effective draws per second of samplers.

The samplers are `tempering.sample` with its defaults, emcee with differential-evolution moves, dynesty, and tempered
sequential Monte Carlo of blackjax; peers that are not installed are left out (pip install emcee dynesty blackjax). All
start from, or have as their prior, a normal density whose standard deviation is the distance of the modes. "visits" are
the independent draws that would have the squared error of the share over the seeds; "effective" is the smallest
rank-normalised effective number of draws of coordinates and of the indicator of the mode, for samplers with chains, and
that of the weights for dynesty. Seconds are CPU seconds of the whole process, without imports and, for blackjax,
without the compilation of its step, which is "seconds of compilation".
"""

from __future__ import annotations

import warnings

import numpy as np
from _common import Clock, note, parser, report, spread

from sklearn_subanneal.diagnostics import effective_sample_size, rank_normalized_rhat
from sklearn_subanneal.tempering import sample

WEIGHT = 0.3
SIZES = (1, 2, 5, 10)
SEPARATIONS = (10.0, 20.0)


class TwoModes:
    """The density, and the reference from which samplers start."""

    def __init__(self, n_parameters: int, separation: float):
        self.n_parameters, self.separation = n_parameters, separation
        self._constant = -0.5 * n_parameters * np.log(2.0 * np.pi)

    def log_density(self, x, np=np):
        """Log density at points, by NumPy or by the namespace of JAX."""
        rest = (x[..., 1:] ** 2).sum(axis=-1)
        low, high = (x[..., 0] + self.separation / 2.0) ** 2, (x[..., 0] - self.separation / 2.0) ** 2
        modes = np.logaddexp(np.log(WEIGHT) - 0.5 * low, np.log(1.0 - WEIGHT) - 0.5 * high)
        return self._constant - 0.5 * rest + modes

    def log_reference(self, x, np=np):
        """Log density of the reference."""
        constant = self._constant - self.n_parameters * np.log(self.separation)
        return constant - 0.5 * ((x / self.separation) ** 2).sum(axis=-1)

    def start(self, seed: int, n: int) -> np.ndarray:
        """Draws from the reference."""
        return np.random.default_rng(seed).normal(0.0, self.separation, (n, self.n_parameters))


def of_chains(draws: np.ndarray) -> dict:
    """Share of the lighter mode, and what chains of draws say of themselves."""
    first = draws[:, :, :1] < 0.0
    both = np.concatenate([draws, first], axis=2)
    with np.errstate(all="ignore"):
        effective = np.nan_to_num(effective_sample_size(both, "bulk"), nan=1.0).min()
    return {
        "share": float(first.mean()),
        "effective": float(effective),
        "rhat": float(np.nan_to_num(rank_normalized_rhat(draws), nan=np.inf).max()),
        "stuck": int((first.all(axis=1) | ~first.any(axis=1)).sum()),
    }


def this_package(target: TwoModes, seed: int) -> dict:
    with Clock() as clock:
        result = sample(
            target.log_density,
            reference=(0.0, target.separation),
            n_parameters=target.n_parameters,
            vectorized=True,
            random_state=seed,
        )
    return of_chains(result.draws) | {
        "cpu_seconds": clock.cpu,
        "log_evidence": result.log_evidence,
        "log_evidence_error": result.log_evidence_error,
        "thermodynamic_log_evidence": result.thermodynamic_log_evidence,
        "barrier": float(result.barriers.mean()),
        "n_levels": int(result.inverse_temperatures.shape[1]),
        "round_trips": int(result.round_trips.sum()),
        "round_trips_of_theory": float(result.best_round_trips.sum()),
        "evaluations": int(result.n_values.sum()),
    }


def by_emcee(target: TwoModes, seed: int, n_walkers: int = 64, n_steps: int = 10_000) -> dict:
    import emcee

    with Clock() as clock:
        moves = [(emcee.moves.DEMove(), 0.8), (emcee.moves.DESnookerMove(), 0.2)]
        sampler = emcee.EnsembleSampler(n_walkers, target.n_parameters, target.log_density, moves=moves, vectorize=True)
        sampler.random_state = np.random.RandomState(seed).get_state()
        sampler.run_mcmc(target.start(seed, n_walkers), n_steps)
    draws = sampler.get_chain(discard=n_steps // 5).transpose(1, 0, 2)
    return of_chains(draws) | {"cpu_seconds": clock.cpu, "evaluations": n_walkers * n_steps}


def by_dynesty(target: TwoModes, seed: int) -> dict:
    import dynesty
    from scipy.special import ndtri

    def from_cube(u):
        return target.separation * ndtri(u)

    # The posterior of this likelihood, with the reference as its prior, is the target.
    def log_likelihood(x):
        return float(target.log_density(x) - target.log_reference(x))

    with Clock() as clock:
        sampler = dynesty.NestedSampler(
            log_likelihood, from_cube, target.n_parameters, nlive=500, rstate=np.random.default_rng(seed)
        )
        sampler.run_nested(print_progress=False)
    found = sampler.results
    weights = np.exp(found.logwt - found.logz[-1])
    weights /= weights.sum()
    return {
        "cpu_seconds": clock.cpu,
        "share": float(weights[found.samples[:, 0] < 0.0].sum()),
        "effective": float(1.0 / (weights @ weights)),
        "log_evidence": float(found.logz[-1]),
        "log_evidence_error": float(found.logzerr[-1]),
        "evaluations": int(np.sum(found.ncall)),
    }


def by_blackjax(target: TwoModes, seed: int, n_particles: int = 4000, n_steps: int = 20) -> dict:
    import blackjax
    import jax
    import jax.numpy as jnp

    d = target.n_parameters
    walk = blackjax.additive_step_random_walk.build_kernel()

    def log_ratio(x):
        return target.log_density(x, jnp) - target.log_reference(x, jnp)

    def step(key, state, log_density, scale):
        return walk(key, state, log_density, blackjax.mcmc.random_walk.normal(scale))

    def tuned(key, state, info):
        return {"scale": 2.4 / np.sqrt(d) * state.particles.std(axis=0)[None]}

    algorithm = blackjax.inner_kernel_tuning(
        blackjax.adaptive_tempered_smc,
        lambda x: target.log_reference(x, jnp),
        log_ratio,
        step,
        blackjax.additive_step_random_walk.init,
        blackjax.smc.resampling.systematic,
        tuned,
        {"scale": jnp.full((1, d), 2.4 / np.sqrt(d) * target.separation)},
        target_ess=0.5,
        num_mcmc_steps=n_steps,
    )
    start = algorithm.init(jnp.asarray(target.start(seed, n_particles)))
    advance = jax.jit(algorithm.step)

    def run() -> tuple:
        state, key, log_evidence, n_rounds = start, jax.random.key(seed), 0.0, 0
        while state.sampler_state.tempering_param < 1.0:
            key, one = jax.random.split(key)
            state, info = advance(one, state)
            log_evidence += float(info.log_likelihood_increment)
            n_rounds += 1
        return np.asarray(state.sampler_state.particles)[:, 0] < 0.0, log_evidence, n_rounds

    # The same run twice: the first one compiles.
    with Clock() as with_compilation:
        run()
    with Clock() as clock:
        first, log_evidence, n_rounds = run()
    return {
        "cpu_seconds": clock.cpu,
        "seconds of compilation": with_compilation.cpu - clock.cpu,
        "share": float(first.mean()),
        "log_evidence": log_evidence,
        "evaluations": n_particles * n_steps * n_rounds,
    }


SAMPLERS = {
    "sample": this_package,
    "emcee, differential evolution": by_emcee,
    "dynesty": by_dynesty,
    "blackjax, tempered SMC": by_blackjax,
}


def summary(runs: list[dict]) -> dict:
    """Over seeds, with the visits that the error of the share is worth."""
    names = {name for run in runs for name in run}
    out = {name: spread([run[name] for run in runs if name in run]) for name in sorted(names)}
    squared = np.mean([(run["share"] - WEIGHT) ** 2 for run in runs])
    visits = WEIGHT * (1.0 - WEIGHT) / max(squared, 1e-12)
    out["visits"] = float(visits)
    out["visits_per_second"] = float(visits / out["cpu_seconds"]["mean"])
    out["largest_error_of_share"] = float(max(abs(run["share"] - WEIGHT) for run in runs))
    if "log_evidence" in out:
        out["largest_error_of_log_evidence"] = float(max(abs(run["log_evidence"]) for run in runs))
    if "effective" in out:
        out["effective_per_second"] = spread([run["effective"] / run["cpu_seconds"] for run in runs])
    return out


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    given.add_argument("--separations", type=float, nargs="+", default=SEPARATIONS)
    given.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=list(SAMPLERS))
    given.add_argument("--peer-seeds", type=int, default=None, help="seeds of the peers, if fewer")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.sizes, arguments.separations, arguments.seeds = [1], [10.0], 1
    results = {}
    warnings.simplefilter("ignore")
    for n_parameters in arguments.sizes:
        for separation in arguments.separations:
            target = TwoModes(n_parameters, separation)
            for name in arguments.samplers:
                n_seeds = arguments.seeds
                if name != "sample" and arguments.peer_seeds is not None:
                    n_seeds = arguments.peer_seeds
                runs = []
                for seed in range(n_seeds):
                    try:
                        runs.append(SAMPLERS[name](target, seed))
                    except ImportError as error:
                        note(f"{name} is left out: {error}")
                        break
                if not runs:
                    continue
                case = f"{n_parameters} parameters, {separation:g} apart"
                found = results.setdefault(case, {})[name] = summary(runs)
                note(
                    f"{case}, {name}: share {found['share']['mean']:.3f} (error at most "
                    f"{found['largest_error_of_share']:.3f}), log evidence off by at most "
                    f"{found.get('largest_error_of_log_evidence', np.nan):.3f}, {found['cpu_seconds']['mean']:.1f} s, "
                    f"{found['visits_per_second']:.0f} visits and "
                    f"{found.get('effective_per_second', {'mean': np.nan})['mean']:.0f} effective draws a second"
                )
    report("two_modes", arguments, results)


if __name__ == "__main__":
    main()
