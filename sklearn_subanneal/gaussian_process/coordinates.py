"""TotalAndRatio: a model in coordinates (total variance, signal-to-noise ratio) with a posterior nearer to a normal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sklearn_subanneal.tempering.log_densities import DifferentiableModel


class TotalAndRatio(DifferentiableModel):
    """A model of signal and noise, in coordinates of the variance of both together and of their ratio.

    Data determine the sum of the two variances better than either of them. In their logarithms the region of
    high posterior density is then L-shaped, and only short steps stay in it; here it lies along one axis. The Jacobian
    is 1.

    Parameters
    ----------
    model : GaussianProcessModel
        Its last two parameters are the logarithms a and b of the standard deviations of signal and noise; here they are
        log(exp(2a) + exp(2b)) / 2 and a - b, the others are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.gaussian_process.coordinates import TotalAndRatio
    >>> TotalAndRatio.of(np.log([7.0, 3.0, 4.0])).round(3), np.log([7.0, 5.0, 0.75]).round(3)
    (array([ 1.946,  1.609, -0.288]), array([ 1.946,  1.609, -0.288]))
    """

    def __init__(self, model):
        self.model = model
        self.n_parameters, self.n_observations = model.n_parameters, model.n_observations

    @staticmethod
    def of(theta: NDArray) -> NDArray:
        """These coordinates of the model's own, shape (..., n_parameters)."""
        out = np.array(theta)
        out[..., -2] = 0.5 * np.logaddexp(2.0 * theta[..., -2], 2.0 * theta[..., -1])
        out[..., -1] = theta[..., -2] - theta[..., -1]
        return out

    @staticmethod
    def back(point: NDArray) -> NDArray:
        """The model's own coordinates of these, shape (..., n_parameters)."""
        out = np.array(point)
        total, ratio = point[..., -2], point[..., -1]
        out[..., -2] = total - 0.5 * np.logaddexp(0.0, -2.0 * ratio)
        out[..., -1] = total - 0.5 * np.logaddexp(0.0, 2.0 * ratio)
        return out

    @staticmethod
    def _pulled_back(point, gradient):
        signal, noise = gradient[-2:]
        share = expit(2.0 * point[-1])
        out = np.array(gradient)
        out[-2] = signal + noise
        out[-1] = (1.0 - share) * signal - share * noise
        return out

    def log_prior(self, point: NDArray) -> float:
        """Log density of the prior in these coordinates."""
        return self.model.log_prior(self.back(point))

    def grad_log_prior(self, point: NDArray) -> NDArray:
        """Gradient of ``log_prior``."""
        return self._pulled_back(point, self.model.grad_log_prior(self.back(point)))

    def log_likelihood(self, point: NDArray, rows=None) -> float:
        """Log likelihood of some rows, or all."""
        return self.model.log_likelihood(self.back(point), rows)

    def log_likelihood_and_gradient(self, point: NDArray, rows=None) -> tuple[float, NDArray]:
        """``log_likelihood`` and its gradient."""
        value, gradient = self.model.log_likelihood_and_gradient(self.back(point), rows)
        return value, self._pulled_back(point, gradient)

    def initial(self, rng) -> NDArray:
        """Where a chain starts."""
        return self.of(self.model.initial(rng))

    def sample_prior(self, rng) -> NDArray:
        """A draw from the prior."""
        return self.of(self.model.sample_prior(rng))
