"""Adaptation of a transition kernel during warm-up: its step size, and its metric from points and gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.tempering.levels import Level
from sklearn_subanneal.tempering.metrics import metric_factor, scored_metric_factor

# Gradients from which a metric is taken.
FEWEST = 5
# A typical point is half as far below the best, in nats, as there are parameters. Points ten times as far below it are
# where trajectories went astray, or of a chain on its way.
ASTRAY = 5.0


class Adaptation:
    """Step size and metric of one kernel at one level; adapted until it is frozen.

    The step size follows a stochastic approximation to a target acceptance, with steps that are large again when the
    metric has changed. The metric is taken from the gradients at all points that trajectories of the level have passed
    or, of a kernel without gradients, from the covariance of where its moves ended.

    Parameters
    ----------
    n_parameters : int
    step_size : float
        Where to start, or for good if ``adapt`` is False.
    target : float
        Acceptance aimed at.
    metric : {"dense", "diagonal", "unit"}
    adapt : bool
        Whether the step size is adapted.

    Attributes
    ----------
    step_size : float
    factor : ndarray of shape (n_parameters, n_parameters) or None
        Cholesky factor of the metric; None: the identity.
    learning : bool
        True until it is frozen.

    References
    ----------
    C. Andrieu, J. Thoms (2008), A tutorial on adaptive MCMC, Statistics and Computing 18, section 4.2.
    """

    def __init__(self, n_parameters: int, step_size: float, target: float, metric: str, adapt: bool):
        self.step_size, self.target, self.metric, self.adapt = step_size, target, metric, adapt
        self.factor: NDArray | None = None
        self._points: list[NDArray] = []
        self._older: list[NDArray] = []
        self.recent: list[NDArray] = []
        self._passed: list[tuple[NDArray, NDArray, float]] = []
        self.learning = True
        self._n_parameters = n_parameters
        self._restart()

    def _restart(self):
        self._n = 0

    def update(self, theta: NDArray, acceptance: float) -> None:
        """Record that a move ended at ``theta``, and that its probability of acceptance was this."""
        self.update_all([theta], acceptance)

    def look(self, level: Level) -> None:
        """Record the gradients at the points that a move has ``seen`` at its level, which forgets them."""
        for point in level.seen or ():
            gradient = level.gradient(point)
            if np.isfinite(gradient).all():
                self._passed.append((point.theta, gradient, level.log_density(point)))
        level.seen = None

    def update_all(self, thetas, acceptance: float) -> None:
        """Record where the moves of several chains ended, and their mean probability of acceptance."""
        self._points.extend(thetas)
        if not self.adapt:
            return
        self._n += 1
        self.step_size *= float(np.exp((acceptance - self.target) * (self._n + 1.0) ** -0.6))

    def inherit(self, other: Adaptation) -> None:
        """Start from the adaptation of a kernel at a neighbouring level."""
        if self.metric != "unit":
            self.factor = other.factor
            self._older = other.recent
        if self.adapt:
            self.step_size = other.step_size
            self._restart()

    def next_window(self) -> None:
        """Take the metric from the points since the last call, and begin a new window."""
        if self.metric != "unit" and len(self._points) > 1:
            found, fresh = self._scored(), self.factor is None
            if found is None:
                # Few points make a poor metric: those of the window before, or of the level below, count as well.
                self.factor = metric_factor(np.array(self._older + self._points), self.metric)
            else:
                self.factor, fresh = found, True
            self.recent, self._older, self._points = self._points, self._points, []
            if self.adapt and fresh:
                self.step_size = self._first_step()
        if self.adapt:
            self._restart()

    def _scored(self):
        """The metric from the gradients of this window, None if there are too few."""
        passed, self._passed = self._passed, []
        best = max((height for *_, height in passed), default=0.0)
        passed = [seen for seen in passed if seen[2] >= best - ASTRAY * (self._n_parameters + 1)]
        if len(passed) < FEWEST:
            return None
        thetas, gradients, _ = map(np.array, zip(*passed, strict=True))
        return scored_metric_factor(thetas, gradients, self.metric)

    def _first_step(self) -> float:
        """A step size for a metric that has just been found: in its units a good one is near 1."""
        return 0.1 + 0.9 * self._n_parameters**-0.25

    def freeze(self) -> None:
        """End the adaptation."""
        self._points, self._older, self.recent, self._passed = [], [], [], []
        self.adapt = self.learning = False

    def get_state(self) -> dict:
        """Of a frozen adaptation, as arrays and numbers."""
        return {"step_size": self.step_size, "factor": self.factor}

    def set_state(self, state: dict, model) -> None:
        """Restore what ``get_state`` gave, frozen; ``model`` is the one that is sampled."""
        self.freeze()
        self.step_size, self.factor = state["step_size"], state["factor"]

    def scaled(self, vector: NDArray) -> NDArray:
        """The factor times a vector."""
        return vector if self.factor is None else self.factor @ vector

    def pulled_back(self, gradient: NDArray) -> NDArray:
        """The transposed factor times a gradient."""
        return gradient if self.factor is None else self.factor.T @ gradient
