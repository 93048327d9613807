"""TemperedGaussianProcessRegressor: Gaussian-process regression with sampled hyperparameters."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp, ndtr
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.tempering import (
    GuidedHamiltonianMonteCarlo,
    HamiltonianMonteCarlo,
    MetropolisHastings,
    ParallelTempering,
    TemperedTransitions,
)
from sklearn_subanneal.tempering.coordinates import TotalAndRatio
from sklearn_subanneal.tempering.gaussian_process import KernelModel, SquaredExponentialModel

SAMPLERS = ("spt", "stt", "pt", "tt", "none")
# Longer trajectories mix means faster but squares more slowly: after half a period a point returns to its mirror image.
# A high acceptance rate means small steps, with which the length of a trajectory is close to the requested one.
HMC = {"trajectory": 1.75, "target_acceptance": 0.9}
INNER = {
    "hmc": lambda: HamiltonianMonteCarlo(**HMC),
    "guided-hmc": lambda: GuidedHamiltonianMonteCarlo(**HMC),
    "mh": lambda: MetropolisHastings(n_steps=5),
}


class TemperedGaussianProcessRegressor(RegressorMixin, BaseEstimator):
    """Gaussian-process regression averaged over hyperparameters that are sampled by tempering.

    Where an optimiser takes the most probable length scales, this draws them from their posterior: intervals are
    honest where there are few rows, and none of several explanations of the data is forgotten. The cost is that of some
    thousand factorisations: up to about 1,000 rows.

    Features and target are standardised internally; the priors are of the standardised data.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel or None, default=None
        None: squared exponential with a length scale for each feature. Other kernels are sampled in their ``theta``, on
        which there is a normal prior around where it stands, of standard deviation 1.5; noise is added to them.
    sampler : {"spt", "stt", "pt", "tt", "none"}, default="none"
        Subsampled parallel tempering, subsampled tempered transitions, both with powers of the likelihood instead, or
        the inner kernel alone. "none" is the fastest where the posterior has one mode; "spt" goes between several.
    inner : {"hmc", "guided-hmc", "mh"}, default="hmc"
        Hamiltonian Monte Carlo, the same along the gradients of a quarter of the rows with a correction (see
        :class:`~sklearn_subanneal.tempering.GuidedHamiltonianMonteCarlo`), or random-walk Metropolis-Hastings.
    n_levels, min_beta : optional
        Number of levels of the ladder; None: see :class:`~sklearn_subanneal.tempering.ParallelTempering`.
    n_chains : int, default=4
    n_draws : int, default=250
        Draws of each chain, after warm-up.
    n_warmup : int or None, default=None
        None: 100, or half of ``n_draws`` if that is more.
    n_averaged : int, default=40
        Draws, evenly thinned, over which predictions are averaged.
    length_scale_prior : (float, float), default=(0.5, 1.0)
        Mean and standard deviation of the logarithm of a length scale.
    signal_prior, noise_prior : (float, float), default=(4.0, 1.0) and (2.0, 2.0)
        Shape and rate of the gamma distributions of their standard deviations.
    time_limit : float or None, default=None
        Seconds a chain.
    n_jobs : int or None, default=None
        Chains side by side.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    posterior_hyperparameters_ : dict of str to ndarray of shape (n_chains, n_draws, ...)
        "length_scale" (for each feature), "signal" and "noise" (standard deviations), in the units of the data; with a
        ``kernel`` "theta", of standardised data, and "noise".
    result_ : TemperingResult
        Draws in the sampler's coordinates, R-hat, effective sizes, rates.
    log_marginal_likelihood_value_ : float
        Log marginal likelihood of the training data, the largest among the draws.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import TemperedGaussianProcessRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3.0, 3.0, (40, 1))
    >>> y = np.sin(2.0 * X[:, 0]) + rng.normal(scale=0.1, size=40)
    >>> model = TemperedGaussianProcessRegressor(n_chains=2, n_draws=50, random_state=0).fit(X, y)
    >>> mean, deviation = model.predict([[0.5], [9.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.0)) < 0.15), bool(deviation[1] > 3.0 * deviation[0])
    (True, True)
    """

    _parameter_constraints: dict = {
        "kernel": [None, object],
        "sampler": [StrOptions(set(SAMPLERS))],
        "inner": [StrOptions(set(INNER))],
        "n_levels": [Interval(Integral, 1, None, closed="left"), None],
        "min_beta": [Interval(Real, 0, 1, closed="neither"), None],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_warmup": [Interval(Integral, 0, None, closed="left"), None],
        "n_averaged": [Interval(Integral, 1, None, closed="left")],
        "length_scale_prior": ["array-like"],
        "signal_prior": ["array-like"],
        "noise_prior": ["array-like"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel=None,
        *,
        sampler: str = "none",
        inner: str = "hmc",
        n_levels: int | None = None,
        min_beta: float | None = None,
        n_chains: int = 4,
        n_draws: int = 250,
        n_warmup: int | None = None,
        n_averaged: int = 40,
        length_scale_prior=(0.5, 1.0),
        signal_prior=(4.0, 1.0),
        noise_prior=(2.0, 2.0),
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state=None,
    ):
        self.kernel = kernel
        self.sampler = sampler
        self.inner = inner
        self.n_levels = n_levels
        self.min_beta = min_beta
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.n_averaged = n_averaged
        self.length_scale_prior = length_scale_prior
        self.signal_prior = signal_prior
        self.noise_prior = noise_prior
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y):
        """Draw the hyperparameters given the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows may be duplicates.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If data are missing or not finite, or a parameter is not as described.
        """
        with unchanged_on_failure(self):
            X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
            self._center, self._scale = X.mean(axis=0), _spread(X)
            self._y_center, self._y_scale = float(y.mean()), float(_spread(y[:, None])[0])
            self._model = self._make_model((X - self._center) / self._scale, (y - self._y_center) / self._y_scale)
            self.result_ = self._sample()
            self._keep_draws()
        return self

    def _sample(self):
        arguments = self.n_draws, self.n_chains, self.random_state, self.n_jobs, self.time_limit
        if self.kernel is not None:
            return self._make_sampler().sample(self._model, *arguments)
        result = self._make_sampler().sample(TotalAndRatio(self._model), *arguments)
        return replace(result, draws=TotalAndRatio.back(result.draws))

    def _make_model(self, X, y):
        priors = {}
        for name in ("length_scale_prior", "signal_prior", "noise_prior"):
            values = np.asarray(getattr(self, name), dtype=float)
            lowest = -np.inf if name == "length_scale_prior" else 0.0
            if values.shape != (2,) or not np.isfinite(values).all() or values[0] <= lowest or values[1] <= 0.0:
                raise ValueError(f"{name} must be two numbers, the second positive, got {getattr(self, name)!r}")
            priors[name] = (float(values[0]), float(values[1]))
        if self.kernel is None:
            return SquaredExponentialModel(X, y, **priors)
        if isinstance(self.kernel, type) or not hasattr(self.kernel, "clone_with_theta"):
            raise ValueError(f"kernel must be a kernel object of scikit-learn, or None, got {self.kernel!r}")
        return KernelModel(self.kernel, X, y, noise_prior=priors["noise_prior"])

    def _make_sampler(self):
        inner = INNER[self.inner]()
        if self.sampler == "none":
            return ParallelTempering(inner=inner, betas=[1.0], n_warmup=self.n_warmup)
        kind = ParallelTempering if self.sampler in ("spt", "pt") else TemperedTransitions
        return kind(
            self.sampler in ("spt", "stt"),
            inner=inner,
            n_levels=self.n_levels,
            min_beta=self.min_beta,
            n_warmup=self.n_warmup,
        )

    def _keep_draws(self):
        draws = self.result_.draws
        flat = draws.reshape(-1, draws.shape[-1])
        values = self.result_.log_density.ravel() - [self._model.log_prior(theta) for theta in flat]
        self.log_marginal_likelihood_value_ = float(values.max()) - len(self._model.y) * np.log(self._y_scale)
        noise = np.exp(draws[..., -1]) * self._y_scale
        if self.kernel is None:
            self.posterior_hyperparameters_ = {
                "length_scale": np.exp(draws[..., :-2]) * self._scale,
                "signal": np.exp(draws[..., -2]) * self._y_scale,
                "noise": noise,
            }
        else:
            self.posterior_hyperparameters_ = {"theta": draws[..., :-1], "noise": noise}
        n = min(self.n_averaged, len(flat))
        with threadpool_limits(limits=1, user_api="blas"):
            self._averaged = [
                (theta, *self._model.condition(theta)) for theta in flat[np.linspace(0, len(flat) - 1, n).astype(int)]
            ]

    def _moments(self, X, full):
        """(means, variances or covariances) of the function under each averaged draw, in the units of y."""
        means, spreads = [], []
        for theta, factor, weights in self._averaged:
            cross = self._model.covariance(theta, self._model.X, X)
            means.append(cross.T @ weights * self._y_scale + self._y_center)
            half = solve_triangular(factor, cross, lower=True, check_finite=False)
            if full:
                spread = self._model.covariance(theta, X) - half.T @ half
            else:
                spread = np.maximum(self._model.variance(theta, X) - np.einsum("ij,ij->j", half, half), 0.0)
            spreads.append(spread * self._y_scale**2)
        return np.array(means), np.array(spreads)

    def _read(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self._center) / self._scale

    def predict(self, X, return_std: bool = False, return_cov: bool = False):
        """Mean of the function at some rows, averaged over hyperparameters, and how uncertain it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to give the standard deviation of the function, without noise, in the units of y.
        return_cov : bool, default=False
            Whether to give its covariance; not both.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,), or cov of shape (n_samples, n_samples)
            Only if requested. It includes the variation of the means over the hyperparameters.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        X = self._read(X)
        if not (return_std or return_cov):
            return (
                np.mean(
                    [
                        self._model.covariance(theta, self._model.X, X).T @ weights
                        for theta, _, weights in self._averaged
                    ],
                    axis=0,
                )
                * self._y_scale
                + self._y_center
            )
        means, spreads = self._moments(X, return_cov)
        mean = means.mean(axis=0)
        if return_cov:
            away = means - mean
            return mean, spreads.mean(axis=0) + away.T @ away / len(means)
        return mean, np.sqrt(spreads.mean(axis=0) + means.var(axis=0))

    def sample_y(self, X, n_samples: int = 1, random_state=0) -> np.ndarray:
        """Draws of the function, without noise, each under hyperparameters drawn from their posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0

        Returns
        -------
        y : ndarray of shape (n_samples_X, n_samples)
        """
        rng = check_random_state(random_state)
        means, covariances = self._moments(self._read(X), True)
        which = rng.randint(len(means), size=n_samples)
        return np.array([rng.multivariate_normal(means[k], covariances[k]) for k in which]).T

    def log_predictive_density(self, X, y) -> np.ndarray:
        """Log density of each target, noise included, averaged over hyperparameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        X = self._read(X)
        y = check_array(y, ensure_2d=False, dtype=np.float64)
        means, variances = self._moments(X, False)
        variances = variances + np.array([self._noise(theta) for theta, _, _ in self._averaged])[:, None]
        log_densities = -0.5 * ((y - means) ** 2 / variances + np.log(2.0 * np.pi * variances))
        return logsumexp(log_densities, axis=0) - np.log(len(means))

    def predict_interval(self, X, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Central interval of a new target, noise included.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        level : float, default=0.9
            Probability of the interval.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,)
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be between 0 and 1, got {level!r}")
        means, variances = self._moments(self._read(X), False)
        deviations = np.sqrt(variances + np.array([self._noise(theta) for theta, _, _ in self._averaged])[:, None])
        return tuple(_mixture_quantile(means, deviations, p) for p in (0.5 - level / 2.0, 0.5 + level / 2.0))

    def _noise(self, theta):
        return self._model.noise_variance(theta) * self._y_scale**2

    def log_marginal_likelihood(self, theta=None) -> float:
        """Log marginal likelihood of the training data.

        Parameters
        ----------
        theta : array-like of shape (n_parameters,), default=None
            Hyperparameters in the coordinates of ``result_.draws``; None: the best of the draws.

        Returns
        -------
        log_likelihood : float
        """
        check_is_fitted(self)
        if theta is None:
            return self.log_marginal_likelihood_value_
        theta = np.asarray(theta, dtype=float)
        if theta.shape != (self._model.n_parameters,):
            raise ValueError(f"theta must have shape ({self._model.n_parameters},), got {theta.shape}")
        return self._model.log_likelihood(theta) - len(self._model.y) * np.log(self._y_scale)


def _spread(X):
    """Standard deviations of columns; 1 where they are constant."""
    deviations = X.std(axis=0)
    return np.where(deviations > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300), deviations, 1.0)


def _mixture_quantile(means, deviations, p):
    """Quantile of an even mixture of normals, for each column, by bisection."""
    lower, upper = (means - 9.0 * deviations).min(axis=0), (means + 9.0 * deviations).max(axis=0)
    for _ in range(60):
        middle = 0.5 * (lower + upper)
        below = ndtr((middle - means) / deviations).mean(axis=0) < p
        lower, upper = np.where(below, middle, lower), np.where(below, upper, middle)
    return 0.5 * (lower + upper)
