"""Convergence of the Gaussian-process regressor with its defaults, and of several samplers on a bimodal posterior."""

from __future__ import annotations

import numpy as np
from _common import Clock, note, parser, report, spread
from threadpoolctl import threadpool_limits

from sklearn_subanneal import TemperedGaussianProcessRegressor
from sklearn_subanneal.diagnostics import effective_sample_size, rank_normalized_rhat
from sklearn_subanneal.gaussian_process import StationaryModel

# At 512 x 8 the posterior has two modes of many parameters each.
SIZES = ("64x3", "64x8", "128x3", "128x18", "256x3", "256x8", "256x18", "512x3", "512x8")
BARS = {"rhat": 1.05, "cpu_seconds": {256: 60.0, 512: 300.0}, "stuck_chains": 3}
# Inverse temperatures that reach where both modes are one.
FLAT = {"n_levels": 6, "min_inverse_temperature": 0.05, "inner": "mh"}
SAMPLERS = {
    "none": {"sampler": "none"},
    "none, as long": {"sampler": "none", "n_draws": 2000},
    "pt": {"sampler": "pt", "n_draws": 2000, **FLAT},
    "spt": {"sampler": "spt", "n_draws": 2000, "inner": "mh"},
}
# The priors of the paper, under which there are two modes.
MODES = {"kernel": "squared-exponential", "length_scale_prior": (0.5, 1.0), "signal_prior": (4.0, 1.0)}
# Length scale, in units of the feature's standard deviation, between the modes.
BETWEEN = 0.37


def problem(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """A table drawn from the model of the paper; its rows are about as far apart as the length scales."""
    rng = np.random.default_rng(n_rows + n_features)
    theta = StationaryModel(np.zeros((1, n_features)), np.zeros(1)).sample_prior(rng)
    X = rng.normal(size=(n_rows, n_features)) * np.exp(theta[:-2]).mean()
    model = StationaryModel(X, np.zeros(n_rows))
    K = model.covariance(theta, X) + model.noise_variance(theta) * np.eye(n_rows)
    return X, np.linalg.cholesky(K) @ rng.normal(size=n_rows)


def two_explanations() -> tuple[np.ndarray, np.ndarray]:
    """A slow wave with a ripple, at 30 places: the ripple is followed, by a short length scale, or taken for noise."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0.0, 1.0, 30))
    y = np.sin(1.4 * np.pi * x) + 0.3 * np.sin(12.0 * np.pi * x) + 0.1 * rng.normal(size=30)
    return ((x - x.mean()) / x.std())[:, None], (y - y.mean()) / y.std()


def share_of_the_short(X, y, n: int = 60) -> float:
    """Posterior probability of length scales below ``BETWEEN``, by the sum over a grid."""
    model = StationaryModel(X, y)
    axes = [np.linspace(-4.0, 4.5, n), np.linspace(-1.5, 2.0, n // 3), np.linspace(-5.0, 1.0, n // 2)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    log_weights = np.array([model.log_prior(theta) + model.log_likelihood(theta) for theta in grid])
    weights = np.exp(log_weights - log_weights.max())
    return float(weights[grid[:, 0] < np.log(BETWEEN)].sum() / weights.sum())


def converge(n_rows: int, n_features: int, seeds: range, parameters: dict) -> dict:
    X, y = problem(n_rows, n_features)
    figures = {"rhat": [], "least_ess": [], "cpu_seconds": [], "gradients": [], "acceptance": []}
    for seed in seeds:
        with Clock() as clock:
            result = TemperedGaussianProcessRegressor(random_state=seed, **parameters).fit(X, y).result_
        figures["rhat"].append(rank_normalized_rhat(result.draws).max())
        figures["least_ess"].append(effective_sample_size(result.draws).min())
        figures["cpu_seconds"].append(clock.cpu)
        figures["gradients"].append(result.n_gradients.sum())
        figures["acceptance"].append(result.acceptance.mean())
        note(f"{n_rows} x {n_features}, seed {seed}: R-hat {figures['rhat'][-1]:.3f}, {clock.cpu:.1f} CPU-s")
    return {name: spread(values) for name, values in figures.items()}


def cross(name: str, X, y, seeds: range, quick: bool) -> dict:
    figures = {"share_of_the_short": [], "chains_in_one_mode": [], "crossings": [], "rhat": [], "cpu_seconds": []}
    parameters = SAMPLERS[name] | MODES | ({"n_draws": 20, "n_warmup": 20} if quick else {})
    for seed in seeds:
        with Clock() as clock:
            result = TemperedGaussianProcessRegressor(random_state=seed, **parameters).fit(X, y).result_
        short = result.draws[..., 0] < np.log(BETWEEN)
        crossings = np.abs(np.diff(short.astype(int), axis=1)).sum(axis=1)
        figures["share_of_the_short"].append(short.mean())
        figures["chains_in_one_mode"].append((crossings == 0).sum())
        figures["crossings"].append(crossings.mean())
        figures["rhat"].append(rank_normalized_rhat(result.draws).max())
        figures["cpu_seconds"].append(clock.cpu)
        note(f"{name}, seed {seed}: share {short.mean(axis=1)}, crossings {crossings}, {clock.cpu:.1f} CPU-s")
    return {measure: spread(values) for measure, values in figures.items()}


def main() -> None:
    given = parser(__doc__, seeds=3)
    given.add_argument("--sizes", nargs="*", choices=SIZES, default=SIZES, help="rows x features; none: the modes only")
    given.add_argument("--no-modes", action="store_true", help="without the posterior of two modes")
    arguments = given.parse_args()
    seeds, results = range(arguments.seeds), {}
    parameters = {"n_draws": 20, "n_warmup": 20} if arguments.quick else {}
    with threadpool_limits(1):
        sizes = ("32x2", "40x3") if arguments.quick else arguments.sizes
        results["sizes"] = {size: converge(*map(int, size.split("x")), seeds, parameters) for size in sizes}
        if not arguments.no_modes:
            X, y = two_explanations()
            results["modes"] = {name: cross(name, X, y, seeds, arguments.quick) for name in SAMPLERS}
            results["modes"]["share_of_the_short_by_a_grid"] = share_of_the_short(X, y, 10 if arguments.quick else 60)
    report("gp_convergence", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
