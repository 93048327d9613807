"""Hamiltonian Monte Carlo with a dense, diagonal or unit metric."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from sklearn_subanneal.tempering.adaptation import Adaptation
from sklearn_subanneal.tempering.levels import Level, Point
from sklearn_subanneal.tempering.transition_kernels import TransitionKernel


class HamiltonianMonteCarlo(TransitionKernel):
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
        Acceptance that the adapted step size aims at.

    References
    ----------
    R. Neal (2011), MCMC using Hamiltonian dynamics, Handbook of MCMC, section 5.3.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import GaussianMean, HamiltonianMonteCarlo, ParallelTempering
    >>> model = GaussianMean([[0.5], [1.5]], covariance=[[1.0]])
    >>> sampler = ParallelTempering(inner=HamiltonianMonteCarlo(), inverse_temperatures=[1.0])
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
        """Raise ValueError if a parameter is out of range, or the model has no gradients."""
        super().check(model)
        if self.n_steps is not None and (not isinstance(self.n_steps, Integral) or self.n_steps < 1):
            raise ValueError(f"n_steps must be an integer of at least 1 or None, got {self.n_steps!r}")
        if not self.trajectory > 0.0:
            raise ValueError(f"trajectory must be positive, got {self.trajectory!r}")
        if not isinstance(self.max_steps, Integral) or self.max_steps < 1:
            raise ValueError(f"max_steps must be an integer of at least 1, got {self.max_steps!r}")
        if not 0.0 <= self.jitter < 1.0:
            raise ValueError(f"jitter must be in [0, 1), got {self.jitter!r}")

    def move(self, level: Level, point: Point, adaptation: Adaptation, generator) -> tuple[Point, float]:
        """Follow one trajectory and accept its end or not; see :meth:`TransitionKernel.move`."""
        moving, kinetic = self.trajectory_from(level, point, adaptation, generator)
        if moving is None:
            return point, 0.0
        log_ratio = level.log_density(moving) - level.log_density(point) - kinetic
        accepted = np.log1p(-generator.random()) < log_ratio
        return (moving if accepted else point), float(np.exp(min(0.0, log_ratio)))

    def trajectory_from(
        self, level: Level, point: Point, adaptation: Adaptation, generator
    ) -> tuple[Point | None, float]:
        """The end of a trajectory, None if it leaves the support, and the increase of the kinetic energy."""
        step = adaptation.step_size * (1.0 + self.jitter * (2.0 * generator.random() - 1.0))
        n_steps = self.n_steps or int(np.clip(np.ceil(self.trajectory / step), 1, self.max_steps))
        velocity = generator.standard_normal(len(point.theta))
        energy = 0.5 * velocity @ velocity
        moving = point
        # A trajectory that diverges is rejected without a warning.
        with np.errstate(over="ignore", invalid="ignore"):
            # In coordinates whose metric is the identity; the momentum is a velocity there.
            velocity = velocity + 0.5 * step * adaptation.pulled_back(level.gradient(point))
            for number in range(n_steps):
                theta = moving.theta + step * adaptation.scaled(velocity)
                if not np.isfinite(theta).all():
                    return None, 0.0
                moving = level.point(theta, gradient=True)
                if level.log_density(moving) == -np.inf or not np.isfinite(level.gradient(moving)).all():
                    return None, 0.0
                share = 1.0 if number < n_steps - 1 else 0.5
                velocity = velocity + share * step * adaptation.pulled_back(level.gradient(moving))
            grown = 0.5 * float(velocity @ velocity) - energy
        return (moving, grown) if np.isfinite(grown) else (None, 0.0)
