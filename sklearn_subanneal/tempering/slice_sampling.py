"""Slice sampling along coordinates and along the axes of the level's covariance, of many points at once."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sklearn_subanneal.tempering.adaptation import Adaptation
from sklearn_subanneal.tempering.levels import Level, Point, log_tempered
from sklearn_subanneal.tempering.transition_kernels import TransitionKernel

# An interval this short, in units of the first, holds no other point than its own.
SHORTEST = 1e-13
# Of the interval, in standard deviations; it is adapted from there.
FIRST_LENGTH = 4.0
DIRECTIONS = ("both", "coordinates", "metric", "random")


class SliceSampling(TransitionKernel):
    """Slice sampling along lines, by an interval that is placed at random around the point and shrinks towards it.

    It needs no gradients, and takes far and near modes alike. An update draws a height below the density, places an
    interval on a line through the point, draws from it until a point is above the height, and cuts the interval at each
    point that is not. Lines are along single coordinates, and along the columns of the Cholesky factor of the level's
    covariance, half of the time each.

    Parameters
    ----------
    step_size : float or None, default=None
        Length of the interval, in standard deviations given the other coordinates. None: adapted during warm-up.
    n_updates : int or None, default=None
        Updates in a move, each along another line until all have been taken. None: as many as there are parameters.
    directions : {"both", "coordinates", "metric", "random"}, default="both"
        "metric" takes columns of the factor alone; "random" takes lines of any direction in the metric's coordinates,
        which is called hit and run.
    metric : {"dense", "diagonal", "unit"}, default="dense"
        The covariance: that of the points of warm-up, its diagonal, or the identity.
    target_acceptance : float, default=0.4
        Share of the points evaluated that are taken, which the adapted interval aims at.

    References
    ----------
    R. Neal (2003), Slice sampling, Annals of Statistics 31, sections 4 and 5.1.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import GaussianMean, ParallelTempering, SliceSampling
    >>> model = GaussianMean([[0.5], [1.5]], covariance=[[1.0]])
    >>> sampler = ParallelTempering(inner=SliceSampling(), inverse_temperatures=[1.0])
    >>> bool(abs(sampler.sample(model, n_draws=500, random_state=0).draws.mean() - 0.67) < 0.1)
    True
    """

    def __init__(
        self,
        step_size: float | None = None,
        *,
        n_updates: int | None = None,
        directions: str = "both",
        metric: str = "dense",
        target_acceptance: float = 0.4,
    ):
        self.step_size = step_size
        self.n_updates = n_updates
        self.directions = directions
        self.metric = metric
        self.target_acceptance = target_acceptance

    def check(self, model) -> None:
        """Raise ValueError if a parameter is out of range."""
        super().check(model)
        if self.n_updates is not None and (not isinstance(self.n_updates, Integral) or self.n_updates < 1):
            raise ValueError(f"n_updates must be an integer of at least 1 or None, got {self.n_updates!r}")
        if self.directions not in DIRECTIONS:
            raise ValueError(f"directions must be one of {DIRECTIONS}, got {self.directions!r}")

    def initial_step(self, n_parameters: int) -> float:
        """Standard deviations."""
        return FIRST_LENGTH

    def start_adaptation(self, n_parameters: int, beta: float) -> SliceAdaptation:
        """The adaptation of this kernel at a level of inverse temperature ``beta``, at its start."""
        return SliceAdaptation(super().start_adaptation(n_parameters, beta))

    def move(self, level: Level, point: Point, adaptation: SliceAdaptation, generator) -> tuple[Point, float]:
        """Make the updates of one point; see :meth:`TransitionKernel.move`."""

        def evaluate(thetas, numbers):
            found = level.point(thetas[0])
            return np.array([found.log_prior]), np.array([found.log_likelihood])

        theta = point.theta[None].copy()
        prior, likelihood = np.array([point.log_prior]), np.array([point.log_likelihood])
        n = self._update(
            evaluate, theta, prior, likelihood, np.array([level.power]), np.zeros(1, dtype=int), [adaptation], generator
        )
        return Point(theta[0], float(prior[0]), float(likelihood[0])), float(n[0])

    def move_all(self, ensemble) -> NDArray:
        """Make the updates of all points together; see :meth:`TransitionKernel.move_all`."""
        n_chains, n_moving = ensemble.n_chains, ensemble.n_moving
        n_parameters = ensemble.theta.shape[2]
        theta = ensemble.theta[:, :n_moving].reshape(-1, n_parameters)
        prior = ensemble.log_prior[:, :n_moving].reshape(-1)
        likelihood = ensemble.log_likelihood[:, :n_moving].reshape(-1)
        levels = np.tile(np.arange(n_moving), n_chains)
        acceptance = self._update(
            ensemble.evaluate_some,
            theta,
            prior,
            likelihood,
            ensemble.inverse_temperatures[levels],
            levels,
            ensemble.adaptations,
            ensemble.generator,
        )
        ensemble.theta[:, :n_moving] = theta.reshape(n_chains, n_moving, n_parameters)
        ensemble.log_prior[:, :n_moving] = prior.reshape(n_chains, n_moving)
        ensemble.log_likelihood[:, :n_moving] = likelihood.reshape(n_chains, n_moving)
        return acceptance.reshape(n_chains, n_moving)

    def _update(self, evaluate: Callable, theta, prior, likelihood, beta, levels, adaptations, generator) -> NDArray:
        """Update points in place, each at its own pace: all that are not done are evaluated by one call.

        ``evaluate(thetas, numbers)`` gives log prior and log likelihood of points with these numbers. Returns updates
        per evaluation of each point.
        """
        n, n_parameters = theta.shape
        n_updates = self.n_updates or n_parameters
        lines = np.stack([adaptation.lines(n_parameters) for adaptation in adaptations[: levels.max() + 1]])
        lengths = np.array([adaptation.step_size for adaptation in adaptations])[levels]
        order = _orders(generator, n, n_parameters, n_updates)
        if self.directions == "both":
            order += n_parameters * (generator.random(order.shape) < 0.5)
        elif self.directions != "coordinates":
            order += n_parameters
        density = log_tempered(prior, likelihood, beta)
        is_prior = (beta == 0.0).any()
        height, low, high = np.empty(n), np.empty(n), np.empty(n)
        line = np.empty_like(theta)
        done, evaluated = np.zeros(n, dtype=int), np.zeros(n, dtype=int)

        def begin(some):
            height[some] = density[some] - generator.standard_exponential(len(some))
            low[some] = -generator.random(len(some))
            high[some] = low[some] + 1.0
            if self.directions == "random":
                z = generator.standard_normal((len(some), n_parameters))
                z /= np.sqrt(np.einsum("ij,ij->i", z, z))[:, None]
                along = np.einsum("ik,ikj->ij", z, lines[levels[some], n_parameters:])
            else:
                along = lines[levels[some], order[some, done[some]]]
            line[some] = along * lengths[some, None]

        active = np.arange(n)
        begin(active)
        while len(active):
            bottom, top = low[active], high[active]
            at = bottom + (top - bottom) * generator.random(len(active))
            offered = theta[active] + at[:, None] * line[active]
            new_prior, new_likelihood = evaluate(offered, active)
            evaluated[active] += 1
            # The height is below the density of the point itself, so densities of 0 are never taken.
            power = beta[active]
            if is_prior:
                new_density = log_tempered(new_prior, new_likelihood, power)
            else:
                new_density = new_prior + power * new_likelihood
            taken = new_density >= height[active]
            stuck = ~taken & (top - bottom < SHORTEST)
            left = active[taken]
            theta[left], density[left] = offered[taken], new_density[taken]
            prior[left], likelihood[left] = new_prior[taken], new_likelihood[taken]
            below = at < 0.0
            low[active] = np.where(below, at, bottom)
            high[active] = np.where(below, top, at)
            ended = active[taken | stuck]
            done[ended] += 1
            more = ended[done[ended] < n_updates]
            if len(more):
                begin(more)
            if len(more) < len(ended):
                active = active[done[active] < n_updates]
        return n_updates / evaluated


class SliceAdaptation(Adaptation):
    """Adaptation of a slice sampler: length of the interval, and metric; it gives the lines."""

    def __init__(self, start: Adaptation):
        super().__init__(start._n_parameters, start.step_size, start.target, start.metric, start.adapt)
        self._lines = (None, None)

    def lines(self, n_parameters: int) -> NDArray:
        """Directions, shape (2 n_parameters, n_parameters): single coordinates, and columns of the factor.

        Each is as long as a standard deviation given the others.
        """
        known, lines = self._lines
        if lines is None or known is not self.factor:
            factor = np.eye(n_parameters) if self.factor is None else self.factor
            inverse = solve_triangular(factor, np.eye(n_parameters), lower=True)
            alone = np.diag((inverse * inverse).sum(axis=0) ** -0.5)
            lines = np.concatenate([alone, factor.T])
            self._lines = (self.factor, lines)
        return lines

    def _first_step(self):
        return FIRST_LENGTH


def _orders(generator, n, n_parameters, n_updates):
    """Numbers of coordinates, shape (n, n_updates): all of them in random order, again and again."""
    rounds = -(-n_updates // n_parameters)
    every = np.tile(np.arange(n_parameters), (n * rounds, 1))
    return generator.permuted(every, axis=1).reshape(n, -1)[:, :n_updates]
