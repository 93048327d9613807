"""Adaptation of a transition kernel during warm-up: its step size, and its metric from the covariance of the points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky


class Adaptation:
    """Step size and metric of one kernel at one level; adapted until it is frozen.

    The step size follows a stochastic approximation to a target acceptance, with steps that are large again when the
    metric has changed. The metric is the covariance of the level's own points, shrunk towards a multiple of the
    identity while they are few.

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
        self._n_parameters = n_parameters
        self._restart()

    def _restart(self):
        self._n = 0

    def update(self, theta: NDArray, acceptance: float) -> None:
        """Record that a move ended at ``theta``, and that its probability of acceptance was this."""
        self.update_all([theta], acceptance)

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
            # Few points would make a poor metric: those of the window before, or of the level below, count as well.
            fresh = self.factor is None
            self.factor = metric_factor(np.array(self._older + self._points), self.metric)
            self.recent, self._older, self._points = self._points, self._points, []
            if self.adapt and fresh:
                self.step_size = self._first_step()
        if self.adapt:
            self._restart()

    def _first_step(self) -> float:
        """A step size for a metric that has just been found: in its units a good one is near 1."""
        return 0.1 + 0.9 * self._n_parameters**-0.25

    def freeze(self) -> None:
        """End the adaptation."""
        self._points, self._older, self.recent, self.adapt = [], [], [], False

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


def metric_factor(points: NDArray, metric: str, weights: NDArray | None = None) -> NDArray:
    """Cholesky factor of the covariance of points, shrunk towards the mean variance while few of them count.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.adaptation import metric_factor
    >>> points = np.random.default_rng(0).normal(size=(5000, 2)) * [1.0, 3.0]
    >>> metric_factor(points, "diagonal").round(1)
    array([[1., 0.],
           [0., 3.]])
    """
    n, n_parameters = points.shape
    if weights is not None:
        n = weights.sum() ** 2 / (weights @ weights)
    covariance = np.atleast_2d(np.cov(points, rowvar=False, aweights=weights))
    variances = np.diagonal(covariance)
    # The points of a chain that has not moved have no variance.
    variances = np.where(variances > 0.0, variances, 1e-6)
    if metric == "diagonal":
        share = n / (n + 5.0)
        return np.diag(np.sqrt(share * variances + (1.0 - share) * variances.mean()))
    share = n / (n + n_parameters + 5.0)
    return cholesky(share * covariance + (1.0 - share) * np.diag(variances) + 1e-12 * np.eye(n_parameters), lower=True)
