"""VariationalTemperingFMM: factorial mixtures, learned by annealed or tempered variational inference."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Self

import numpy as np

from sklearn_subanneal._core.arguments import LARGEST
from sklearn_subanneal._core.blas import one_blas_thread
from sklearn_subanneal._core.constraints import NumberRange, StrOptions
from sklearn_subanneal._core.fit_decorators import fit_context, with_callbacks
from sklearn_subanneal._core.random_states import RANDOM_STATE
from sklearn_subanneal.annealing.reporter import ProgressReporter
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._fmm_convergence import has_converged
from sklearn_subanneal.estimators._fmm_queries import FactorialModel, rows_to_learn
from sklearn_subanneal.estimators._fmm_starts import Starts
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings, temperature_factory
from sklearn_subanneal.factorial.factorial_stream import FactorialStream
from sklearn_subanneal.variational import CoolingSchedule, PassFraction, StepSize

# Step sizes of minibatches in ``fit`` and in ``partial_fit``. That of a stream is nearly twice the share of the rows
# among all so far: few rows after many change little, and the first ones, with poor components, count less.
FIT_STEPS, STREAM_STEPS = PassFraction(10.0, 2.0), PassFraction(2.0, 2.0)
DEFAULT_PASSES = {"ica": 500, "random": 200}

# Of given parameters: squares of cells divided by them, and their logarithms, are finite.
VARIANCES, PROBABILITIES = (1e-100, 1e100), (1e-100, 1.0 - 2.0**-53)


class VariationalTemperingFMM(FactorialModel):
    """Factorial mixture: each row is the sum of the components that are active in it, with Gaussian noise.

    Any number of components may be active in a row, so that K components stand for 2^K clusters. The bound of
    variational inference has many local optima, in which components are mixed up; a temperature that falls from above
    1 leads past most of them. Data are not centred: a constant part of the rows takes a component of its own. Where
    it is large, as in years or prices, subtract the means of the columns first: the least noise that is learned is a
    millionth of the mean square of the data.

    :class:`~sklearn_subanneal.annealing.Checkpoint` saves ``fit``, so that a killed one resumes from its last pass over
    all rows, search of the activations, or proposal of other components.

    Parameters
    ----------
    n_components : int, default=10
        Number of components.
    tempering : {"annealed", "global", "none"}, default="annealed"
        "annealed": the temperature follows ``temperature_schedule`` (AVI); "global": it is inferred with the model
        (VT); "none": it is 1 (VI). Whatever the choice, the fitted model is that of temperature 1.
    temperature_schedule : CoolingSchedule or None, default=None
        For "annealed", such as :class:`~sklearn_subanneal.variational.LinearCooling`; None:
        ``LinearCooling(start=3.0, share=0.5)``.
    temperatures : array-like of float or None, default=None
        For "global", the grid of temperatures, increasing from 1; None: 100 from 1 to 6 by equal factors. The fit
        starts at the highest.
    init : {"ica", "random"}, default="ica"
        How components start. "ica": from the independent components of the rows, and from random activations, with
        tempering, in a fifth of the passes; the start with the higher bound goes on. At temperature 1 the activations
        of single rows are searched, and components that seem to be mixed up are fitted anew, as long as the bound
        rises. "random": from random activations alone, by coordinate ascent alone, also in ``transform``, as published.
    temperature_step : float, default=0.05
        For "global", the step of the factor of the temperature in an iteration over all rows; 1 is coordinate ascent,
        which leaves the highest temperature at once. Minibatches take the step of the other factors.
    activation_probability : float or "learn", default="learn"
        Prior probability that a component is active in a row.
    noise_variance : float or "learn", default="learn"
        Variance of the noise in every feature. A learned noise variance is large while the fit is poor, which anneals,
        too; "global" then cools early, and works best if the noise is given.
    component_variance : float or None, default=None
        Prior variance of every cell of a component. None: such that the components account for the mean square of the
        data.
    component_update : {"joint", "cyclic"}, default="joint"
        Whether all components are updated jointly, or one given the others, as published. Both are coordinate ascent
        on the same bound; "joint" finds better optima.
    batch_size : int or None, default=None
        Rows after which the components are updated in passes from a random start. None: all.
    step_size : StepSize or None, default=None
        Weight of a minibatch, such as :class:`~sklearn_subanneal.variational.RobbinsMonro`. None:
        ``PassFraction(10.0, 2.0)`` in ``fit`` and ``PassFraction(2.0, 2.0)`` in ``partial_fit``: nearly twice the share
        of the rows among all so far, so that few rows after many change little, and early ones count less than later.
    max_iter : int or None, default=None
        Most passes through the rows. None: 500, or 200 with ``init="random"``. The schedule extends over a fifth, or
        with ``init="random"`` over all.
    n_sweeps : int, default=2
        Sweeps through the components of a row at each visit of ``fit``.
    tol : float, default=1e-5
        ``fit`` ends when an iteration at temperature 1 gains less than this in the bound of a row.
    n_init : int, default=1
        Fits, of which the one with the highest bound is kept.
    verbose : int, default=0
        Whether to print a line for each iteration.
    random_state : int, RandomState instance, Generator or None, default=None
        Starts, and the order of rows in minibatches.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Posterior means of the components.
    component_variances_ : ndarray of shape (n_components,)
        Posterior variances of the cells of each component.
    activation_probability_, noise_variance_, component_variance_ : float
        The parameters, as given or learned.
    bound_ : float
        Lower bound of the log evidence of the training rows, at temperature 1.
    bounds_ : ndarray of shape (n_iter,)
        The same divided by the number of rows, after each iteration; with ``init="ica"``, after tempering, that of the
        best state so far. Those of minibatches are estimated by running statistics.
    inverse_temperatures_ : ndarray of shape (n_iter,)
        E[1/T] in each iteration.
    n_iter_ : int
        Passes of ``fit``, and calls of ``partial_fit`` since.
    converged_ : bool
        Whether ``fit`` ended by ``tol``, and no component is dead, that is, could be left out without a lower bound, or
        doubled: two could be replaced by a single one.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, section 4.
    Z. Ghahramani (1995), Factorial learning and the EM algorithm, NIPS 7.
    P. Comon (1994), Independent component analysis, a new concept?, Signal Processing 36.
    F. Glover (1989), Tabu search, part I, ORSA Journal on Computing 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingFMM
    >>> rng = np.random.default_rng(0)
    >>> components = np.kron(np.eye(3), [[1.0, 1.0]])
    >>> active = rng.random((500, 3)) < 0.3
    >>> X = active @ components + 0.1 * rng.normal(size=(500, 6))
    >>> model = VariationalTemperingFMM(n_components=3, random_state=0).fit(X)
    >>> order = np.argsort(model.components_ @ np.arange(6))
    >>> np.abs(model.components_[order].round(1))
    array([[1., 1., 0., 0., 0., 0.],
           [0., 0., 1., 1., 0., 0.],
           [0., 0., 0., 0., 1., 1.]])
    >>> bool((model.predict(X)[:, order] == active).all())
    True
    """

    _parameter_constraints: dict = {
        "n_components": [NumberRange(Integral, 1, LARGEST, closed="both")],
        "tempering": [StrOptions({"annealed", "global", "none"})],
        "temperature_schedule": [CoolingSchedule, None],
        "temperatures": ["array-like", None],
        "init": [StrOptions({"ica", "random"})],
        "temperature_step": [NumberRange(Real, 0, 1, closed="right")],
        "activation_probability": [StrOptions({"learn"}), NumberRange(Real, *PROBABILITIES, closed="both")],
        "noise_variance": [StrOptions({"learn"}), NumberRange(Real, *VARIANCES, closed="both")],
        "component_variance": [NumberRange(Real, *VARIANCES, closed="both"), None],
        "component_update": [StrOptions({"joint", "cyclic"})],
        "batch_size": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "step_size": [StepSize, None],
        "max_iter": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "n_sweeps": [NumberRange(Integral, 1, LARGEST, closed="both")],
        "tol": [NumberRange(Real, 0, None, closed="left")],
        "n_init": [NumberRange(Integral, 1, LARGEST, closed="both")],
        "verbose": ["verbose"],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        tempering: str = "annealed",
        temperature_schedule=None,
        temperatures=None,
        init: str = "ica",
        temperature_step: float = 0.05,
        activation_probability="learn",
        noise_variance="learn",
        component_variance: float | None = None,
        component_update: str = "joint",
        batch_size: int | None = None,
        step_size=None,
        max_iter: int | None = None,
        n_sweeps: int = 2,
        tol: float = 1e-5,
        n_init: int = 1,
        verbose: int = 0,
        random_state=None,
    ):
        self.n_components = n_components
        self.tempering = tempering
        self.temperature_schedule = temperature_schedule
        self.temperatures = temperatures
        self.init = init
        self.temperature_step = temperature_step
        self.activation_probability = activation_probability
        self.noise_variance = noise_variance
        self.component_variance = component_variance
        self.component_update = component_update
        self.batch_size = batch_size
        self.step_size = step_size
        self.max_iter = max_iter
        self.n_sweeps = n_sweeps
        self.tol = tol
        self.n_init = n_init
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> Self:
        """Learn the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X has missing or infinite cells, or a parameter is not as described. The message names the remedy.
        """
        make_temperature, step_size = self._temperatures(), self._steps(FIT_STEPS)
        with unchanged_on_failure(self):
            X = rows_to_learn(self, X, reset=True)
            with ProgressReporter.of_fit(self, X, n_subtasks=self.n_init * self._most_passes()) as fit:
                self._fit(X, make_temperature, step_size, fit)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None) -> Self:
        """Learn from more rows, at temperature 1; the first call fits its rows as ``fit`` does, with tempering.

        The first minibatch should therefore be large enough to show all components. ``bound_`` is that of all rows so
        far, estimated by the running statistics. A ``Checkpoint`` saves nothing here: save the model between
        minibatches, by :func:`sklearn_subanneal.save`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X has another width than before, or a parameter is not as described.
        """
        make_temperature, step_size = self._temperatures(), self._steps(STREAM_STEPS)
        first = not hasattr(self, "_stream")
        with unchanged_on_failure(self):
            X = rows_to_learn(self, X, reset=first)
            if first:
                self._fit(X, make_temperature, self._steps(FIT_STEPS))
                return self
            with one_blas_thread():
                stream, bound = self._stream.after(X, step_size)
            vars(self).update(
                self._attributes(stream.components, X.dtype),
                _stream=stream,
                bound_=bound,
                bounds_=np.append(self.bounds_, bound / stream.statistics.n_rows),
                inverse_temperatures_=np.append(self.inverse_temperatures_, 1.0),
                n_iter_=self.n_iter_ + 1,
            )
        return self

    def _fit(self, X, make_temperature, step_size, fit=None):
        starts = Starts(self, X, fit)
        with one_blas_thread():
            best = starts.best(make_temperature, step_size)
            self.converged_ = has_converged(X, starts.settings, best, self._most_passes())
        vars(self).update(self._attributes(best.components, X.dtype))
        self._stream = FactorialStream(starts.settings, best.components, best.statistics)
        self.bound_, self.bounds_ = best.bound, best.trace["bound"].copy()
        self.inverse_temperatures_ = best.trace["inverse_temperature"].copy()
        self.n_iter_ = len(best.trace)

    def _most_passes(self) -> int:
        return self.max_iter or DEFAULT_PASSES[self.init]

    def _settings(self):
        def given(value):
            # Numbers of half precision would overflow in the formulas.
            return None if value == "learn" else float(value)

        return FactorialSettings(
            self.n_components,
            given(self.activation_probability),
            given(self.noise_variance),
            None if self.component_variance is None else float(self.component_variance),
            self.component_update == "cyclic",
            search=self.init != "random",
        )

    def _temperatures(self):
        return temperature_factory(self.tempering, self.temperature_schedule, self.temperatures)

    def _steps(self, default):
        step_size = default if self.step_size is None else self.step_size
        step_size.check()
        return step_size

    def _attributes(self, components, dtype):
        return {
            "_components": components,
            "_search": self.init != "random",
            "components_": components.means.astype(dtype),
            "component_variances_": components.variances.astype(dtype),
            "activation_probability_": components.activation_probability,
            "noise_variance_": components.noise_variance,
            "component_variance_": components.component_variance,
        }
