"""TemperedGaussianProcessRegressor: Gaussian-process regression with sampled hyperparameters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from sklearn_subanneal._core.arguments import LARGEST, checked_flag, checked_integer
from sklearn_subanneal._core.constraints import NumberRange, StrOptions
from sklearn_subanneal._core.fit_decorators import fit_context, with_callbacks
from sklearn_subanneal._core.random_states import RANDOM_STATE, checked_random_state
from sklearn_subanneal.annealing.continuation import Continuation
from sklearn_subanneal.annealing.reporter import ChainCallbacksMixin, ProgressReporter
from sklearn_subanneal.annealing.runner import contexts_of_chains, run_chains
from sklearn_subanneal.annealing.saved_fit import is_saved
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._presentation import Presentation
from sklearn_subanneal.gaussian_process import AveragedRegression, Standardization, hyperparameter_sampling
from sklearn_subanneal.tables.unreadable import as_array, refuse_unreadable, within
from sklearn_subanneal.tempering import TemperingResult
from sklearn_subanneal.tempering.tempered_chain import run_tempered_chain

# Variances are squares of these, and sums of as many of them as there are rows are finite.
LARGEST_VALUE = 1e145


class TemperedGaussianProcessRegressor(ChainCallbacksMixin, RegressorMixin, Presentation, BaseEstimator):
    """Gaussian-process regression averaged over hyperparameters that are sampled by tempering.

    An optimiser takes the most probable length scales; this estimator draws them from their posterior. Predictions and
    intervals therefore include the uncertainty of the hyperparameters. The cost is that of some thousand
    factorisations; beyond 1,000 rows, of the inducing points alone.

    Features and target are standardised; the priors are of standardised data. Callbacks receive every draw.

    Parameters
    ----------
    kernel : {"auto", "squared-exponential", "matern-3/2", "matern-5/2"} or sklearn kernel, default="auto"
        Those with a name have a length scale for each feature; "auto" takes the most probable of them. Those of
        scikit-learn are sampled in their ``theta``, with a normal prior around where it stands, of standard deviation
        1.5. Noise is added to any of them: with inducing points, one with a ``WhiteKernel`` is refused.
    sampler : {"spt", "stt", "pt", "tt", "none"}, default="none"
        Subsampled parallel tempering, subsampled tempered transitions, both with powers of the likelihood instead, or
        the inner kernel alone. "none" is the fastest where the posterior has one mode; "spt" goes between several.
    inner : {"hmc", "guided-hmc", "mh"}, default="hmc"
        Hamiltonian Monte Carlo, the same along the gradients of a quarter of the rows with a correction (see
        :class:`~sklearn_subanneal.tempering.GuidedHamiltonianMonteCarlo`), or random-walk Metropolis-Hastings.
    n_levels, min_inverse_temperature : optional
        Number of levels of the ladder, and where it ends, for samplers that have one; None: see
        :class:`~sklearn_subanneal.tempering.ParallelTempering`.
    n_chains : int, default=4
    n_draws : int or None, default=None
        Draws of each chain, after warm-up; None: 250, or 100 of more than 1,000 rows.
    n_warmup : int or None, default=None
        None: 100, or half of ``n_draws`` if that is more.
    n_inducing : int or None, default=None
        Rows by which the function is known at all others (inducing points, by the bound of Titsias); None: up to 1,000
        rows all, which is exact, and 200 of more.
    n_averaged : int, default=40
        Draws, evenly thinned, over which predictions are averaged.
    length_scale_prior : (float, float), default=(2.0, 2.0)
        Mean and standard deviation of the logarithm of a length scale.
    signal_prior, noise_prior : (float, float), default=(1.5, 0.1) and (2.0, 2.0)
        Shape and rate of the gamma distributions of their standard deviations, each from 0.001 to 1e6.
    time_limit : float or None, default=None
        Seconds a chain, up to one more move of all levels; it makes at least one draw. At most half of the time is for
        the warm-up. ``fit`` warns if that was cut, or if the chains disagree. Before the chains, kernel and inducing
        points are chosen by climbs to the most probable hyperparameters, which take a fifth of the time in addition,
        but at least a step for each kernel, and as long as they need with a ``Checkpoint``. None of this bounds what a
        few evaluations of the likelihood take, the choice of points over all rows, and the ``n_averaged`` predictors.
    n_jobs : int or None, default=None
        Chains side by side.
    random_state : int, RandomState instance, Generator or None, default=None

    Attributes
    ----------
    kernel_ : str or sklearn kernel
    posterior_hyperparameters_ : dict of str to ndarray of shape (n_chains, n_draws, ...)
        "length_scale" (for each feature), "signal" and "noise" (standard deviations), in the units of the data; with a
        ``kernel`` "theta", of standardised data, and "noise".
    result_ : TemperingResult
        Draws in the coordinates of the model (logarithms of the hyperparameters, for standardised data), acceptance
        and swap rates, and numbers of evaluations. For R-hat and effective sample sizes of the draws, see
        :mod:`sklearn_subanneal.diagnostics`.
    trace_ : structured ndarray of shape (n_chains * n_draws,)
        A record for each draw: "chain", "sweep", "seconds" and "log_joint", the log prior plus the log likelihood.
    log_marginal_likelihood_value_ : float
        Log marginal likelihood of the training data, the largest among the draws.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

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

    _main_display = "TraceDisplay"
    _parameter_constraints: dict = {
        "kernel": [str, object],
        "sampler": [StrOptions(set(hyperparameter_sampling.SAMPLERS))],
        "inner": [StrOptions(set(hyperparameter_sampling.INNER))],
        "n_levels": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "min_inverse_temperature": [NumberRange(Real, 0, 1, closed="neither"), None],
        "n_chains": [NumberRange(Integral, 1, LARGEST, closed="both")],
        "n_draws": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "n_warmup": [NumberRange(Integral, 0, LARGEST, closed="both"), None],
        "n_inducing": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "n_averaged": [NumberRange(Integral, 1, LARGEST, closed="both")],
        "length_scale_prior": ["array-like"],
        "signal_prior": ["array-like"],
        "noise_prior": ["array-like"],
        "time_limit": [NumberRange(Real, 0, None, closed="neither"), None],
        "n_jobs": [NumberRange(Integral, -LARGEST, LARGEST, closed="both"), None],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernel="auto",
        *,
        sampler: str = "none",
        inner: str = "hmc",
        n_levels: int | None = None,
        min_inverse_temperature: float | None = None,
        n_chains: int = 4,
        n_draws: int | None = None,
        n_warmup: int | None = None,
        n_inducing: int | None = None,
        n_averaged: int = 40,
        length_scale_prior=(2.0, 2.0),
        signal_prior=(1.5, 0.1),
        noise_prior=(2.0, 2.0),
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state=None,
    ):
        self.kernel = kernel
        self.sampler = sampler
        self.inner = inner
        self.n_levels = n_levels
        self.min_inverse_temperature = min_inverse_temperature
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.n_inducing = n_inducing
        self.n_averaged = n_averaged
        self.length_scale_prior = length_scale_prior
        self.signal_prior = signal_prior
        self.noise_prior = noise_prior
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y) -> Self:
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
        refuse_unreadable(X)
        refuse_unreadable(y, "y")
        with unchanged_on_failure(self):
            X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
            y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")  # None has become NaN only now
            return self._fit(within("X", X, LARGEST_VALUE), within("y", y, LARGEST_VALUE))

    def _fit(self, X, y):
        units = Standardization.of(X, y)
        priors = {name: getattr(self, name) for name in ("length_scale_prior", "signal_prior", "noise_prior")}
        data = units.features(X), units.target(y)
        # Chains of an interrupted fit go on with the same kernel and points, which the clock must not decide.
        limits = {} if is_saved(self) else {"time_limit": self.time_limit}
        model = hyperparameter_sampling.make_model(self.kernel, *data, self.n_inducing, **limits, **priors)
        sampler = hyperparameter_sampling.make_sampler(
            self.sampler, self.inner, self.n_levels, self.min_inverse_temperature, self.n_warmup
        )
        target = hyperparameter_sampling.sampled_coordinates(model)
        n_draws = hyperparameter_sampling.number_of_draws(len(y)) if self.n_draws is None else self.n_draws
        # The warm-up that None stands for depends on the number of draws: with another one, chains are others.
        resolved = {
            "n_draws": n_draws,
            "n_warmup": sampler.warmup_length(n_draws),
            "kernel": hyperparameter_sampling.kernel_description(self.kernel),
        }
        continuation = Continuation(self, ["X", "y"], [X, y], resolved=resolved)
        specs = []
        for spec in sampler.chain_specs(
            target, n_draws, self.n_chains, self.random_state, self.n_jobs, self.time_limit
        ):
            previous, ended = continuation.chain(spec.number)
            specs.append(replace(spec, previous=previous, ended=ended))
        fit = ProgressReporter.of_fit(self, X, n_subtasks=self.n_chains, sequential=False)
        attributes = partial(hyperparameter_sampling.attributes_of_one_draw, model, units)
        contexts = contexts_of_chains(fit, specs, attributes, continuation.saved_identity)
        self._keep(model, units, run_chains(run_tempered_chain, specs, contexts, self.n_jobs))
        fit.end()
        return self

    def _keep(self, model, units, chains):
        """Store the draws of the chains and the attributes that follow from them."""
        result = hyperparameter_sampling.result_in_own_coordinates(model, TemperingResult.of(chains))
        draws = result.draws
        self.result_, self.kernel_ = result, model.kernel
        result.warn(stacklevel=6)
        hyperparameter_sampling.warn_of_few_points(model, result, stacklevel=6)
        self.trace_ = np.concatenate([chain.trace[: draws.shape[1]] for chain in chains])
        self.posterior_hyperparameters_ = hyperparameter_sampling.hyperparameters(model, units, draws)
        self._regression = AveragedRegression(model, units, hyperparameter_sampling.thinned(draws, self.n_averaged))
        largest = hyperparameter_sampling.largest_log_likelihood(model, result)
        self.log_marginal_likelihood_value_ = largest - len(model.y) * np.log(units.y_scale)

    def _read(self, X):
        check_is_fitted(self)
        refuse_unreadable(X)
        return within("X", validate_data(self, X, dtype=np.float64, reset=False), LARGEST_VALUE)

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
        return_std, return_cov = checked_flag("return_std", return_std), checked_flag("return_cov", return_cov)
        if return_std and return_cov:
            raise ValueError("return_std and return_cov must not both be True; ask for one of them")
        X = self._read(X)
        if return_cov:
            return self._regression.mean_and_covariance(X)
        return self._regression.mean_and_deviation(X) if return_std else self._regression.mean(X)

    def sample_y(self, X, n_samples: int = 1, random_state=0) -> np.ndarray:
        """Draws of the function, without noise, each under hyperparameters drawn from their posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
        n_samples : int, default=1
        random_state : int, RandomState instance, Generator or None, default=0

        Returns
        -------
        y : ndarray of shape (n_samples_X, n_samples)
        """
        X = self._read(X)
        checked_integer("n_samples", n_samples)
        return self._regression.sample(X, n_samples, checked_random_state(random_state))

    def log_predictive_density(self, X, y) -> np.ndarray:
        """Log density of each target, noise included, averaged over hyperparameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            -inf of a target so far away that the square of its distance is too large for float64.
        """
        X = self._read(X)
        refuse_unreadable(y, "y")
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"))
        check_consistent_length(X, y)
        return self._regression.log_predictive_density(X, y)

    def predict_interval(self, X, coverage: float = 0.9) -> np.ndarray:
        """Central interval of a new target, noise included.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            Probability of the interval.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper end.
        """
        X = self._read(X)
        if not isinstance(coverage, Real) or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be a number between 0 and 1, both excluded, got {coverage!r}; try 0.9")
        return self._regression.interval(X, coverage)

    def log_marginal_likelihood(self, theta=None) -> float:
        """Log marginal likelihood of the training data.

        Parameters
        ----------
        theta : array-like of shape (n_parameters,), default=None
            Hyperparameters in the coordinates of ``result_.draws``; None: the best of the draws.

        Returns
        -------
        log_likelihood : float
            -inf where the noise is too small for float64.
        """
        check_is_fitted(self)
        if theta is None:
            return self.log_marginal_likelihood_value_
        refuse_unreadable(theta, "theta")
        theta = as_array(theta, "theta", float)
        n_parameters = self._regression.model.n_parameters
        if theta.shape != (n_parameters,):
            raise ValueError(f"theta must have shape ({n_parameters},), got {theta.shape}")
        return self._regression.log_marginal_likelihood(theta)
