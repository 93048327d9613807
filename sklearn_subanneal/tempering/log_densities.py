"""Base classes of the models that tempered samplers draw from, and a model whose posterior is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve


class LogDensityModel:
    """Base of the models: a prior and a likelihood of data in rows, by their logarithms.

    Parameters theta are float64 vectors in coordinates without constraints; the prior includes the Jacobian of the
    change to these coordinates. A subclass sets the attributes and overrides ``log_prior``, ``log_likelihood``, and
    ``sample_prior`` or ``initial``.

    Attributes
    ----------
    n_parameters : int
    n_observations : int
        Rows of the likelihood; 1, by default, if it is not that of rows: samplers then take powers, and no subsets.
    has_gradients : bool
        False; see :class:`DifferentiableModel`.
    is_vectorized : bool
        Whether ``log_densities`` takes many points at less than the cost of each alone.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering import LogDensityModel, ParallelTempering
    >>> class Rate(LogDensityModel):
    ...     n_parameters, counts = 1, np.array([3, 5, 2, 4])
    ...     n_observations = len(counts)
    ...
    ...     def log_prior(self, theta):
    ...         return float(theta[0] - np.exp(theta[0]))  # an exponential distribution, by its logarithm
    ...
    ...     def log_likelihood(self, theta, rows=None):
    ...         counts = self.counts if rows is None else self.counts[rows]
    ...         return float((counts * theta[0] - np.exp(theta[0])).sum())
    ...
    ...     def sample_prior(self, rng):
    ...         return np.log(rng.exponential(size=1))
    >>> draws = ParallelTempering().sample(Rate(), n_draws=500, random_state=0).draws
    >>> bool(abs(np.exp(draws).mean() - 3.0) < 0.2)
    True
    """

    n_parameters: int
    n_observations: int = 1
    has_gradients = False
    is_vectorized = False

    @property
    def samples_prior(self) -> bool:
        """Whether ``sample_prior`` is defined: a level of inverse temperature 0 then draws from the prior itself."""
        return type(self).sample_prior is not LogDensityModel.sample_prior

    def log_densities(self, thetas: NDArray) -> tuple[NDArray, NDArray]:
        """Log prior and log likelihood of all rows, at many points.

        Parameters
        ----------
        thetas : ndarray of shape (n_points, n_parameters)

        Returns
        -------
        log_prior, log_likelihood : ndarray of shape (n_points,)
            The log likelihood is -inf where the prior has no mass.
        """
        log_prior = np.array([float(self.log_prior(theta)) for theta in thetas])
        log_likelihood = np.full(len(thetas), -np.inf)
        for i in np.flatnonzero(log_prior != -np.inf):
            log_likelihood[i] = self.log_likelihood(thetas[i])
        return log_prior, log_likelihood

    def log_prior(self, theta: NDArray) -> float:
        """Log density of the prior; -inf where it has no mass."""
        raise NotImplementedError(f"{type(self).__name__} must define log_prior(theta)")

    def log_likelihood(self, theta: NDArray, rows: NDArray | None = None) -> float:
        """Log likelihood of some rows (an array of int), or all; -inf where it is zero.

        Where rows are not independent, it is the marginal likelihood of these rows.
        """
        raise NotImplementedError(f"{type(self).__name__} must define log_likelihood(theta, rows=None)")

    def sample_prior(self, rng: np.random.Generator) -> NDArray:
        """A draw from the prior, shape (n_parameters,)."""
        raise ValueError(f"{type(self).__name__} must have initial(rng) or sample_prior(rng), where chains start")

    def sample_priors(self, rng: np.random.Generator, n: int) -> NDArray:
        """Independent draws from the prior, shape (n, n_parameters)."""
        return np.array([self.sample_prior(rng) for _ in range(n)], dtype=float)

    def constrained(self, thetas: NDArray) -> dict[str, NDArray]:
        """Parameters by their names, as users want them, from points of shape (..., n_parameters)."""
        return {"theta": thetas}

    def initial(self, rng: np.random.Generator) -> NDArray:
        """Where a chain starts, shape (n_parameters,); by default a draw from the prior."""
        return self.sample_prior(rng)


class DifferentiableModel(LogDensityModel):
    """Base of the models with gradients, as Hamiltonian Monte Carlo needs them.

    A subclass overrides ``grad_log_prior``, and ``grad_log_likelihood`` or, where value and gradient together cost less
    than each alone, ``log_likelihood_and_gradient``.
    """

    has_gradients = True

    def grad_log_prior(self, theta: NDArray) -> NDArray:
        """Gradient of ``log_prior``, shape (n_parameters,)."""
        raise NotImplementedError(f"{type(self).__name__} must define grad_log_prior(theta)")

    def grad_log_likelihood(self, theta: NDArray, rows: NDArray | None = None) -> NDArray:
        """Gradient of ``log_likelihood``, shape (n_parameters,)."""
        raise NotImplementedError(f"{type(self).__name__} must define grad_log_likelihood(theta, rows=None)")

    def log_likelihood_and_gradient(self, theta: NDArray, rows: NDArray | None = None) -> tuple[float, NDArray]:
        """``log_likelihood`` and its gradient."""
        return self.log_likelihood(theta, rows), self.grad_log_likelihood(theta, rows)


class GaussianMean(DifferentiableModel):
    """The mean of a multivariate normal distribution of known covariance, with a normal prior around 0.

    Parameters
    ----------
    X : array-like of shape (n_observations, n_parameters)
    covariance : array-like of shape (n_parameters, n_parameters)
    prior_variance : float, default=1.0

    References
    ----------
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, section 4.1.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import GaussianMean
    >>> mean, covariance = GaussianMean([[1.0], [2.0]], covariance=[[1.0]]).posterior()
    >>> mean, covariance.round(3)
    (array([1.]), array([[0.333]]))
    """

    def __init__(self, X: ArrayLike, covariance: ArrayLike, prior_variance: float = 1.0):
        self.X = np.asarray(X, dtype=float)
        self.covariance = np.asarray(covariance, dtype=float)
        self.prior_variance = float(prior_variance)
        self.n_observations, self.n_parameters = self.X.shape
        if self.covariance.shape != (self.n_parameters, self.n_parameters):
            raise ValueError(
                f"covariance must have shape {(self.n_parameters, self.n_parameters)}, got {self.covariance.shape}"
            )
        self._precision = cho_solve(cho_factor(self.covariance), np.eye(self.n_parameters))
        self._log_constant = -0.5 * np.linalg.slogdet(2.0 * np.pi * self.covariance)[1]

    def log_prior(self, theta: NDArray) -> float:
        """Log density of the normal prior at a mean."""
        variance = self.prior_variance
        return -0.5 * float(theta @ theta) / variance - 0.5 * self.n_parameters * np.log(2.0 * np.pi * variance)

    def grad_log_prior(self, theta: NDArray) -> NDArray:
        """Gradient of ``log_prior``."""
        return -theta / self.prior_variance

    def log_likelihood(self, theta: NDArray, rows=None) -> float:
        """Log likelihood of some rows, or all."""
        residuals = (self.X if rows is None else self.X[rows]) - theta
        return len(residuals) * self._log_constant - 0.5 * float(np.sum((residuals @ self._precision) * residuals))

    def grad_log_likelihood(self, theta: NDArray, rows=None) -> NDArray:
        """Gradient of ``log_likelihood``."""
        residuals = (self.X if rows is None else self.X[rows]) - theta
        return self._precision @ residuals.sum(axis=0)

    def sample_prior(self, rng) -> NDArray:
        """A draw from the prior."""
        return rng.normal(0.0, np.sqrt(self.prior_variance), self.n_parameters)

    def posterior(self) -> tuple[NDArray, NDArray]:
        """Mean and covariance of the posterior, in closed form."""
        covariance = np.linalg.inv(
            np.eye(self.n_parameters) / self.prior_variance + self.n_observations * self._precision
        )
        return covariance @ self._precision @ self.X.sum(axis=0), covariance
