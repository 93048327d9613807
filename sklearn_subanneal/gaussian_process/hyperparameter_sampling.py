"""Sampling of Gaussian-process hyperparameters: the model of a kernel, samplers by name, draws in data units."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import CompoundKernel, Kernel, WhiteKernel

from sklearn_subanneal.gaussian_process.averaged_regression import AveragedRegression, Standardization
from sklearn_subanneal.gaussian_process.coordinates import TotalAndRatio
from sklearn_subanneal.gaussian_process.kernel_model import KernelModel
from sklearn_subanneal.gaussian_process.regression_model import GaussianProcessModel
from sklearn_subanneal.gaussian_process.sparse_regression import SparseRegression, explaining_rows
from sklearn_subanneal.gaussian_process.stationary_model import STATIONARY, StationaryModel
from sklearn_subanneal.tempering import (
    GuidedHamiltonianMonteCarlo,
    HamiltonianMonteCarlo,
    LogDensityModel,
    MetropolisHastings,
    ParallelTempering,
    TemperedSampler,
    TemperedTransitions,
    TemperingResult,
)

# Trajectories at which means mix fastest. Longer ones mix squares more slowly: after half a period a point is at its
# mirror image. Small steps keep the length of a trajectory near to its nominal one.
HMC = {"trajectory": 1.75, "target_acceptance": 0.9}
INNER = {
    "hmc": lambda: HamiltonianMonteCarlo(**HMC),
    "guided-hmc": lambda: GuidedHamiltonianMonteCarlo(**HMC),
    "mh": lambda: MetropolisHastings(n_steps=5),
}
# Whether a sampler is by tempered transitions, and whether by subsets of the rows.
TEMPERED = {"spt": (False, True), "stt": (True, True), "pt": (False, False), "tt": (True, False)}
SAMPLERS = (*TEMPERED, "none")

# Rows up to which the likelihood is that of all of them by default, and the number of inducing points beyond.
MOST_EXACT, DEFAULT_INDUCING = 1000, 200
# Draws of a chain by default. Few rows leave posteriors wide and skewed.
DRAWS_OF_FEW_ROWS, DRAWS_OF_MANY_ROWS = 250, 100

# Shares of a time limit: of all climbs by which kernel and inducing points are chosen, and of those to one start of a
# chain, or to see what the inducing points cost.
CHOICE_SHARE, START_SHARE = 0.2, 0.1

# Nats a row that inducing points may cost without a warning.
MOST_LOST = 0.05

# A logarithm of this size is that of a number within the range of floating point, and so are those that lie around it.
FARTHEST_LOG = 300.0
# Beyond these shapes and rates nearly all standard deviations are zero, or infinite, to floating point.
SMALLEST, LARGEST = 1e-3, 1e6


def make_model(
    kernel: str | Kernel,
    X: NDArray,
    y: NDArray,
    n_inducing: int | None = None,
    time_limit: float | None = None,
    **priors,
) -> GaussianProcessModel:
    """The model of standardised data.

    Parameters
    ----------
    kernel : {"auto", "squared-exponential", "matern-3/2", "matern-5/2"} or sklearn.gaussian_process.kernels.Kernel
        "auto": the most probable of those with a name.
    X, y : ndarray
    n_inducing : int or None
        Inducing points; None: every row is one up to ``MOST_EXACT`` rows, and beyond there are ``DEFAULT_INDUCING``.
    time_limit : float or None
        Seconds, of which the climbs take a share; None: they take their time.
    **priors : (float, float)
        ``length_scale_prior``, ``signal_prior`` and ``noise_prior``.

    Raises
    ------
    ValueError
        If a prior is not two numbers in their range, or the kernel is none, or has a part that does not suit.
    """
    priors = {name: _checked_prior(name, given) for name, given in priors.items()}
    if n_inducing is None:
        n_inducing = DEFAULT_INDUCING if len(y) > MOST_EXACT else len(y)
    is_sparse = n_inducing < len(y)
    if isinstance(kernel, Kernel):
        _check_parts(kernel, is_sparse)
        models = [KernelModel(kernel, X, y, noise_prior=priors["noise_prior"])]
    elif isinstance(kernel, str) and (kernel in STATIONARY or kernel == "auto"):
        names = STATIONARY if kernel == "auto" else [kernel]
        models = [StationaryModel(X, y, kernel=name, **priors) for name in names]
    else:
        names = ", ".join(map(repr, ["auto", *STATIONARY]))
        raise ValueError(f"kernel must be one of {names}, or a kernel object of scikit-learn, got {kernel!r}")
    if time_limit is not None:
        for model in models:
            model.limit_climbs(CHOICE_SHARE * time_limit / (len(models) * (1 + is_sparse)))
    if is_sparse:
        models = [SparseRegression(model, explaining_rows(model, n_inducing)) for model in models]
    chosen = most_probable(models)
    if time_limit is not None:
        chosen.limit_climbs(START_SHARE * time_limit)
    return chosen


def _check_parts(kernel: Kernel, is_sparse: bool) -> None:
    """Raise ValueError if a kernel, or one of its parts, is no covariance of a function, or is none at other rows."""
    parts = [kernel] if isinstance(kernel, CompoundKernel) else [kernel, *kernel.get_params(deep=True).values()]
    if any(isinstance(part, CompoundKernel) for part in parts):
        raise ValueError(
            f"kernel={kernel!r} has a CompoundKernel, which is several covariances and not one; give one of them, or "
            "their sum or product"
        )
    if is_sparse and any(isinstance(part, WhiteKernel) for part in parts):
        raise ValueError(
            f"kernel={kernel!r} has a WhiteKernel, of which inducing points know nothing; leave it out, since noise is "
            "added to every kernel, or set n_inducing to the number of rows"
        )


def _checked_prior(name, given):
    """The two numbers of a prior; raises ValueError if they are out of range."""
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0)
    lowest = -np.inf if name == "length_scale_prior" else 0.0
    if values.shape != (2,) or not np.isfinite(values).all() or values[0] <= lowest or values[1] <= 0.0:
        raise ValueError(f"{name} must be two numbers, the second positive, got {given!r}")
    if name != "length_scale_prior" and not all(SMALLEST <= value <= LARGEST for value in values):
        raise ValueError(
            f"{name} must be the shape and the rate of a gamma distribution, from {SMALLEST:g} to {LARGEST:g} "
            f"each, got {given!r}"
        )
    if name == "length_scale_prior" and (abs(values[0]) > FARTHEST_LOG or values[1] > FARTHEST_LOG / 10.0):
        raise ValueError(
            f"{name} must be the mean, from {-FARTHEST_LOG:g} to {FARTHEST_LOG:g}, and the standard deviation, up "
            f"to {FARTHEST_LOG / 10.0:g}, of the logarithm of a length scale, got {given!r}"
        )
    return float(values[0]), float(values[1])


def most_probable(models: list[GaussianProcessModel]) -> GaussianProcessModel:
    """The model with the highest summit of its posterior; all have equal priors."""
    return models[0] if len(models) == 1 else max(models, key=lambda model: model.summit()[1])


def number_of_draws(n_rows: int) -> int:
    """Draws of a chain by default."""
    return DRAWS_OF_MANY_ROWS if n_rows > MOST_EXACT else DRAWS_OF_FEW_ROWS


def make_sampler(
    name: str, inner: str, n_levels: int | None, min_inverse_temperature: float | None, n_warmup: int | None
) -> TemperedSampler:
    """The sampler of a name in ``SAMPLERS``, with the transition kernel of a name in ``INNER``.

    Raises
    ------
    ValueError
        If a ladder is described for "none", which has none.
    """
    kernel = INNER[inner]()
    if name == "none":
        if n_levels is not None or min_inverse_temperature is not None:
            raise ValueError(
                "n_levels and min_inverse_temperature have no effect with sampler='none', which has no ladder; leave "
                "them out, or choose sampler='pt' or 'spt'"
            )
        return ParallelTempering(inner=kernel, inverse_temperatures=[1.0], n_warmup=n_warmup)
    by_transitions, by_subsets = TEMPERED[name]
    kind = TemperedTransitions if by_transitions else ParallelTempering
    return kind(
        by_subsets,
        inner=kernel,
        n_levels=n_levels,
        min_inverse_temperature=min_inverse_temperature,
        n_warmup=n_warmup,
    )


def kernel_description(kernel: str | Kernel) -> str | list:
    """Classes and parameters of a kernel and its parts: equal for kernels that are equal."""
    if not isinstance(kernel, Kernel):
        return kernel
    parts = {"": kernel} | kernel.get_params(deep=True)
    return [
        (name, f"{type(part).__module__}.{type(part).__qualname__}" if isinstance(part, Kernel) else part)
        for name, part in sorted(parts.items())
    ]


def sampled_coordinates(model: GaussianProcessModel) -> LogDensityModel:
    """The model in the coordinates in which it is sampled: for the squared-exponential kernel, total and ratio."""
    return TotalAndRatio(model) if model.has_signal else model


def own_coordinates(model: GaussianProcessModel, draws: NDArray) -> NDArray:
    """Draws in the coordinates of the model."""
    return TotalAndRatio.back(draws) if model.has_signal else draws


def result_in_own_coordinates(model: GaussianProcessModel, result: TemperingResult) -> TemperingResult:
    """A result with its draws in the coordinates of the model."""
    return replace(result, draws=own_coordinates(model, result.draws))


def largest_log_likelihood(model: GaussianProcessModel, result: TemperingResult) -> float:
    """The largest log marginal likelihood among the draws."""
    flat = result.draws.reshape(-1, result.draws.shape[-1])
    values = result.log_density.ravel() - [model.log_prior(theta) for theta in flat]
    return float(values.max())


def hyperparameters(model: GaussianProcessModel, units: Standardization, draws: NDArray) -> dict[str, NDArray]:
    """Hyperparameters in the units of the data, by their names, from draws of shape (..., n_parameters)."""
    noise = np.exp(draws[..., -1]) * units.y_scale
    if not model.has_signal:
        return {"theta": draws[..., :-1], "noise": noise}
    return {
        "length_scale": np.exp(draws[..., :-2]) * units.scale,
        "signal": np.exp(draws[..., -2]) * units.y_scale,
        "noise": noise,
    }


def attributes_of_one_draw(model: GaussianProcessModel, units: Standardization, draw: NDArray, record: dict) -> dict:
    """Attributes of an estimator that is fitted with this draw alone; ``record`` is that of the trace."""
    theta = own_coordinates(model, draw)
    value = record["log_joint"] - model.log_prior(theta) - len(model.y) * np.log(units.y_scale)
    regression = AveragedRegression(model, units, theta[None])
    return {"_regression": regression, "log_marginal_likelihood_value_": float(value)}


def warn_of_few_points(model: GaussianProcessModel, result: TemperingResult, stacklevel: int) -> None:
    """Issue a ``ConvergenceWarning`` if inducing points cost much of the likelihood."""
    if not isinstance(model, SparseRegression):
        return
    lost = model.lost(result.draws.reshape(-1, model.n_parameters)[np.argmax(result.log_density)])
    if lost > MOST_LOST:
        warnings.warn(
            f"{len(model.points)} inducing points are few: at the best hyperparameters without them the log density is "
            f"{lost:.2g} nats a row higher, on some of the rows. Predictions are smoother than they should be; raise "
            "n_inducing.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def thinned(draws: NDArray, n: int) -> NDArray:
    """At most ``n`` of the draws of all chains, evenly thinned, shape (n, n_parameters)."""
    flat = draws.reshape(-1, draws.shape[-1])
    return flat[np.linspace(0, len(flat) - 1, min(n, len(flat))).astype(int)]
