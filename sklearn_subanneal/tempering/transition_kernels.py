"""Transition kernels within one level of the ladder: their base class, and random-walk Metropolis-Hastings."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.tempering.adaptation import Adaptation
from sklearn_subanneal.tempering.levels import Level, Point
from sklearn_subanneal.tempering.log_densities import LogDensityModel

METRICS = ("dense", "diagonal", "unit")


class TransitionKernel(BaseEstimator):
    """Base of the kernels: reversible moves that leave the density of a level invariant.

    A subclass overrides ``move``, and has the parameters ``step_size``, ``metric`` and ``target_acceptance``, or
    overrides ``check`` and ``start_adaptation`` as well.

    Attributes
    ----------
    needs_gradients : bool
        Whether it is for a :class:`~sklearn_subanneal.tempering.DifferentiableModel` only.
    """

    needs_gradients = False

    def check(self, model: LogDensityModel) -> None:
        """Raise ValueError if a parameter is out of range, or the model has no gradients and they are needed."""
        step_size = self.step_size
        if step_size is not None and not (isinstance(step_size, Real) and 0.0 < step_size < np.inf):
            raise ValueError(f"step_size must be a positive number or None, got {step_size!r}")
        if self.metric not in METRICS:
            raise ValueError(f"metric must be one of {METRICS}, got {self.metric!r}")
        if not 0.0 < self.target_acceptance < 1.0:
            raise ValueError(f"target_acceptance must be between 0 and 1, got {self.target_acceptance!r}")
        if self.needs_gradients and not model.has_gradients:
            raise ValueError(
                f"{type(self).__name__} needs gradients, and {type(model).__name__} has none; give gradient= beside a "
                "function, derive a model from DifferentiableModel, or take MetropolisHastings()"
            )

    def initial_step(self, n_parameters: int) -> float:
        """Step size from which the adaptation starts at the posterior."""
        return 0.1

    def start_adaptation(self, n_parameters: int, beta: float) -> Adaptation:
        """The adaptation of this kernel at a level of inverse temperature ``beta``, at its start."""
        adapt = self.step_size is None
        # A metric that is adapted has the width of its level.
        scale = max(beta, 1e-2) ** -0.5 if adapt or self.metric == "unit" else 1.0
        step_size = (self.initial_step(n_parameters) if adapt else self.step_size) * scale
        return Adaptation(n_parameters, step_size, self.target_acceptance, self.metric, adapt)

    def move(self, level: Level, point: Point, adaptation: Adaptation, generator) -> tuple[Point, float]:
        """Move a point.

        Parameters
        ----------
        level : Level
        point : Point
            Of this level.
        adaptation : Adaptation
            Step size and metric.
        generator : numpy.random.Generator

        Returns
        -------
        point : Point
        acceptance : float
            Mean probability of acceptance.
        """
        raise NotImplementedError(f"{type(self).__name__} must define move")

    def move_all(self, ensemble) -> NDArray:
        """Move the points of all levels and chains, one by one or in threads; a kernel may do it by fewer evaluations.

        Parameters
        ----------
        ensemble : TemperedEnsemble
            Its first ``n_moving`` levels move.

        Returns
        -------
        acceptance : ndarray of shape (n_chains, n_moving)
        """

        def one(place):
            level = Level(ensemble.model, float(ensemble.inverse_temperatures[place[1]]))
            adaptation = ensemble.adaptations[place[1]]
            if self.needs_gradients and adaptation.learning:
                level.seen = []
            return level, *self.move(level, ensemble.point(*place), adaptation, ensemble.streams[place])

        places = list(np.ndindex(ensemble.n_chains, ensemble.n_moving))
        acceptance = np.empty((ensemble.n_chains, ensemble.n_moving))
        for place, (level, point, accepted) in zip(places, ensemble.map(one, places), strict=True):
            ensemble.put(*place, point)
            ensemble.adaptations[place[1]].look(level)
            ensemble.n_values[place] += level.n_values
            ensemble.n_gradients[place] += level.n_gradients
            acceptance[place] = accepted
        return acceptance


class MetropolisHastings(TransitionKernel):
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
        Acceptance that the adapted step size aims at.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import GaussianMean, MetropolisHastings, ParallelTempering
    >>> model = GaussianMean([[0.5], [1.5]], covariance=[[1.0]])
    >>> sampler = ParallelTempering(inner=MetropolisHastings(), inverse_temperatures=[1.0])
    >>> sampler.sample(model, n_draws=500, random_state=0).draws.shape
    (4, 500, 1)
    """

    def __init__(
        self, step_size: float | None = None, *, n_steps: int = 1, metric: str = "dense", target_acceptance: float = 0.3
    ):
        self.step_size = step_size
        self.n_steps = n_steps
        self.metric = metric
        self.target_acceptance = target_acceptance

    def check(self, model) -> None:
        """Raise ValueError if a parameter is out of range."""
        super().check(model)
        if not isinstance(self.n_steps, Integral) or self.n_steps < 1:
            raise ValueError(f"n_steps must be an integer of at least 1, got {self.n_steps!r}")

    def initial_step(self, n_parameters: int) -> float:
        """A tenth of the optimal scale of a random walk on a normal density."""
        return 2.4 / np.sqrt(n_parameters) * 0.1

    def move(self, level: Level, point: Point, adaptation: Adaptation, generator) -> tuple[Point, float]:
        """Make ``n_steps`` proposals; see :meth:`TransitionKernel.move`."""
        total = 0.0
        for _ in range(self.n_steps):
            step = adaptation.step_size * adaptation.scaled(generator.standard_normal(len(point.theta)))
            proposal = level.point(point.theta + step)
            log_ratio = level.log_density(proposal) - level.log_density(point)
            total += float(np.exp(min(0.0, log_ratio)))
            if np.log1p(-generator.random()) < log_ratio:
                point = proposal
        return point, total / self.n_steps
