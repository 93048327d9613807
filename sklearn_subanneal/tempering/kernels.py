"""Inner kernels: reversible moves at one level of a ladder."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.tempering.levels import Level, Point, has_gradients
from sklearn_subanneal.tempering.tuning import Tuning

METRICS = ("dense", "diagonal", "unit")


class MetropolisHastings(BaseEstimator):
    """Random-walk Metropolis-Hastings.

    Parameters
    ----------
    step_size : float or None, default=None
        Standard deviation of the proposal, in units of the metric; with the identity it is that of the posterior, and
        at inverse temperature beta divided by its root. None: adapted during warm-up, for each level.
    n_steps : int, default=1
        Proposals in a move.
    metric : {"dense", "diagonal", "unit"}, default="dense"
        Shape of the proposal: the covariance of the points of warm-up, its diagonal, or the identity.
    target_acceptance : float, default=0.3
        What the adapted step size aims at.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import GaussianMean, MetropolisHastings, ParallelTempering
    >>> model = GaussianMean([[0.5], [1.5]], covariance=[[1.0]])
    >>> sampler = ParallelTempering(inner=MetropolisHastings(), betas=[1.0])
    >>> sampler.sample(model, n_draws=500, random_state=0).draws.shape
    (4, 500, 1)
    """

    needs_gradients = False

    def __init__(
        self, step_size: float | None = None, *, n_steps: int = 1, metric: str = "dense", target_acceptance: float = 0.3
    ):
        self.step_size = step_size
        self.n_steps = n_steps
        self.metric = metric
        self.target_acceptance = target_acceptance

    def check(self, model) -> None:
        """Raise ValueError if a parameter has no meaning."""
        _check(self)
        if not isinstance(self.n_steps, Integral) or self.n_steps < 1:
            raise ValueError(f"n_steps must be an integer of at least 1, got {self.n_steps!r}")

    def tuning(self, n_parameters: int, beta: float) -> Tuning:
        """The start of what is adapted at a level."""
        return _tuning(self, n_parameters, beta, 2.4 / np.sqrt(n_parameters) * 0.1)

    def move(self, level: Level, point: Point, tuning: Tuning, generator) -> tuple[Point, float]:
        """Move a point; it, and the mean probability of acceptance."""
        total = 0.0
        for _ in range(self.n_steps):
            step = tuning.step_size * tuning.scaled(generator.standard_normal(len(point.theta)))
            proposal = level.point(point.theta + step)
            log_ratio = level.log_density(proposal) - level.log_density(point)
            total += float(np.exp(min(0.0, log_ratio)))
            if np.log1p(-generator.random()) < log_ratio:
                point = proposal
        return point, total / self.n_steps


class HamiltonianMonteCarlo(BaseEstimator):
    """Hamiltonian Monte Carlo with a fresh momentum for each move.

    Parameters
    ----------
    step_size : float or None, default=None
        Of the integrator, in units of the metric; with the identity it is that of the posterior, and at inverse
        temperature beta divided by its root. None: adapted during warm-up, for each level.
    n_steps : int or None, default=None
        Leapfrog steps of a move. None: as many as make ``trajectory``.
    trajectory : float, default=1.5
        Length of a move in units of the metric; a quarter of the period of a normal density is pi / 2.
    max_steps : int, default=16
        Most steps, if ``n_steps`` is None.
    jitter : float, default=0.2
        Each move draws its step size evenly from within this share of the adapted one.
    metric : {"dense", "diagonal", "unit"}, default="dense"
        Inverse mass: the covariance of the points of warm-up, its diagonal, or the identity.
    target_acceptance : float, default=0.8
        What the adapted step size aims at.

    References
    ----------
    R. Neal (2011), MCMC using Hamiltonian dynamics, Handbook of MCMC, section 5.3.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import GaussianMean, HamiltonianMonteCarlo, ParallelTempering
    >>> model = GaussianMean([[0.5], [1.5]], covariance=[[1.0]])
    >>> sampler = ParallelTempering(inner=HamiltonianMonteCarlo(), betas=[1.0])
    >>> bool(abs(sampler.sample(model, n_draws=500, random_state=0).draws.mean() - 0.67) < 0.1)
    True
    """

    needs_gradients = True

    def __init__(
        self,
        step_size: float | None = None,
        *,
        n_steps: int | None = None,
        trajectory: float = 1.5,
        max_steps: int = 16,
        jitter: float = 0.2,
        metric: str = "dense",
        target_acceptance: float = 0.8,
    ):
        self.step_size = step_size
        self.n_steps = n_steps
        self.trajectory = trajectory
        self.max_steps = max_steps
        self.jitter = jitter
        self.metric = metric
        self.target_acceptance = target_acceptance

    def check(self, model) -> None:
        """Raise ValueError if a parameter has no meaning, or the model has no gradients."""
        _check(self)
        if self.n_steps is not None and (not isinstance(self.n_steps, Integral) or self.n_steps < 1):
            raise ValueError(f"n_steps must be an integer of at least 1 or None, got {self.n_steps!r}")
        if not self.trajectory > 0.0:
            raise ValueError(f"trajectory must be positive, got {self.trajectory!r}")
        if not isinstance(self.max_steps, Integral) or self.max_steps < 1:
            raise ValueError(f"max_steps must be an integer of at least 1, got {self.max_steps!r}")
        if not 0.0 <= self.jitter < 1.0:
            raise ValueError(f"jitter must be in [0, 1), got {self.jitter!r}")
        if not has_gradients(model):
            raise ValueError(
                f"HamiltonianMonteCarlo needs gradients, and {type(model).__name__} has no grad_log_prior, or neither "
                "grad_log_likelihood nor log_likelihood_and_gradient; add them, or take inner=MetropolisHastings()"
            )

    def tuning(self, n_parameters: int, beta: float) -> Tuning:
        """The start of what is adapted at a level."""
        return _tuning(self, n_parameters, beta, 0.1)

    def move(self, level: Level, point: Point, tuning: Tuning, generator) -> tuple[Point, float]:
        """Move a point; it, and the probability of acceptance."""
        moving, kinetic = self.trajectory_from(level, point, tuning, generator)
        if moving is None:
            return point, 0.0
        log_ratio = level.log_density(moving) - level.log_density(point) - kinetic
        accepted = np.log1p(-generator.random()) < log_ratio
        return (moving if accepted else point), float(np.exp(min(0.0, log_ratio)))

    def trajectory_from(self, level: Level, point: Point, tuning: Tuning, generator) -> tuple[Point | None, float]:
        """The end of a trajectory, None if it leaves the density, and what the kinetic energy grew by."""
        step = tuning.step_size * (1.0 + self.jitter * (2.0 * generator.random() - 1.0))
        n_steps = self.n_steps or int(np.clip(np.ceil(self.trajectory / step), 1, self.max_steps))
        velocity = generator.standard_normal(len(point.theta))
        energy = 0.5 * velocity @ velocity
        moving = point
        # A trajectory that diverges is given up, quietly.
        with np.errstate(over="ignore", invalid="ignore"):
            # In coordinates whose metric is the identity; the momentum is a velocity there.
            velocity = velocity + 0.5 * step * tuning.pulled_back(level.gradient(point))
            for number in range(n_steps):
                theta = moving.theta + step * tuning.scaled(velocity)
                if not np.isfinite(theta).all():
                    return None, 0.0
                moving = level.point(theta, gradient=True)
                if level.log_density(moving) == -np.inf or not np.isfinite(level.gradient(moving)).all():
                    return None, 0.0
                share = 1.0 if number < n_steps - 1 else 0.5
                velocity = velocity + share * step * tuning.pulled_back(level.gradient(moving))
            grown = 0.5 * float(velocity @ velocity) - energy
        return (moving, grown) if np.isfinite(grown) else (None, 0.0)


def _check(kernel):
    step_size = kernel.step_size
    if step_size is not None and not (isinstance(step_size, Real) and 0.0 < step_size < np.inf):
        raise ValueError(f"step_size must be a positive number or None, got {step_size!r}")
    if kernel.metric not in METRICS:
        raise ValueError(f"metric must be one of {METRICS}, got {kernel.metric!r}")
    if not 0.0 < kernel.target_acceptance < 1.0:
        raise ValueError(f"target_acceptance must be between 0 and 1, got {kernel.target_acceptance!r}")


def _tuning(kernel, n_parameters, beta, start):
    adapt = kernel.step_size is None
    # A metric that is learned has the width of its level.
    scale = max(beta, 1e-2) ** -0.5 if adapt or kernel.metric == "unit" else 1.0
    step_size = (start if adapt else kernel.step_size) * scale
    return Tuning(n_parameters, step_size, kernel.target_acceptance, kernel.metric, adapt)
